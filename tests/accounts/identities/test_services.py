"""Jobs of CI that no secret is stored for: who gets in, and who does not, through the public door."""

import base64
import hashlib
import hmac
import json
import logging
import time

import pytest
from cryptography.hazmat.primitives import serialization
from django.core.exceptions import ImproperlyConfigured, ValidationError

from benchdash.accounts.access import Viewer
from benchdash.accounts.identities import key_sets
from benchdash.accounts.identities.services import Conditions, trust_repository
from benchdash.accounts.models import AuditEntry, Scope, Trust
from benchdash.accounts.services import revoke_token
from benchdash.oidc_issuers import USUAL_ISSUERS, issuers_of
from ingest.models import Upload
from tests.builders import make_project
from tests.ingest.sending import SAID, client_of, send
from tests.issuer_server import AUDIENCE, IssuerServer, rsa_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def issuer(settings, monkeypatch):
    server = IssuerServer()
    settings.OIDC_ISSUERS = issuers_of(server.settings())
    settings.OIDC_AUDIENCE = AUDIENCE
    monkeypatch.setattr(key_sets, "_known", {})
    yield server
    server.stop()


@pytest.fixture
def project():
    return make_project("mine")


def trust(issuer, project, *, scopes=(Scope.UPLOAD,), repository="org/name", hardware="", **conditions):
    wanted = Conditions(issuer=issuer.url, repository=repository, **conditions)
    return trust_repository(project, wanted, scopes=scopes, hardware=hardware)


def refusal(token, status=401):
    answer = send(client_of(token), **SAID)
    assert answer.status_code == status, answer.content
    return answer.json()["detail"]


def test_a_job_uploads_without_a_stored_secret_and_the_upload_says_whose_it_is(issuer, project):
    trusted = trust(issuer, project)
    for kid in ("rsa", "ec"):
        assert send(client_of(issuer.token(kid=kid)), **SAID).status_code in (200, 201)
    upload = Upload.objects.get()
    assert upload.token == trusted.token
    assert str(upload.token) == "GitHub org/name"
    trusted.token.refresh_from_db()
    assert trusted.token.last_used_at
    told = client_of(issuer.token()).get("/api/v1/token/").json()
    assert (told["project"], told["scopes"]) == ("mine", ["upload"])
    assert told["identity"] == "GitHub org/name, run 123"
    # A job may use its token several times, and its keys are fetched once.
    assert issuer.requests == ["/jwks"]


def test_what_a_job_does_is_logged_with_its_run(issuer, project):
    trust(issuer, project)
    client = client_of(issuer.token())
    upload = send(client, **SAID).json()["id"]
    assert client.patch(f"/api/v1/uploads/{upload}/", {"notes": "x"}, format="json").status_code == 200
    assert AuditEntry.objects.get().detail["identity"] == "GitHub org/name, run 123"


def test_a_job_of_gitlab_uploads_where_its_branch_is_protected(issuer, project, settings):
    settings.OIDC_ISSUERS = issuers_of(issuer.settings(claims="gitlab"))
    trust(issuer, project, repository="group/name", protected_only=True, workflow=".gitlab-ci.yml")
    assert send(client_of(issuer.sign(issuer.gitlab())), **SAID).status_code == 201
    for other in ({"ref_protected": "false"}, {"project_path": "group/other"}, {"ci_config_ref_uri": "x"}):
        assert "no project trusts GitLab" in refusal(issuer.sign(issuer.gitlab(**other)))


def encoded(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def hs256(issuer):
    """Sign with the public key as if it were a shared secret."""
    public = issuer.keys["rsa"].public_key()
    secret = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "HS256", "typ": "JWT", "kid": "rsa"}
    unsigned = ".".join(encoded(json.dumps(part).encode()) for part in (header, issuer.github()))
    return f"{unsigned}.{encoded(hmac.new(secret, unsigned.encode(), hashlib.sha256).digest())}"


FORBIDDEN = {
    "another issuer": (lambda i: i.token(iss="https://ci.example.org"), "not one of OIDC_ISSUERS"),
    "no issuer": (lambda i: i.token(iss=None), "not one of OIDC_ISSUERS"),
    "another audience": (lambda i: i.token(aud="https://other.example.org"), "its audience must be"),
    "no audience": (lambda i: i.token(aud=None), "lacks the claim 'aud'"),
    "expired": (lambda i: i.token(exp=int(time.time()) - 60), "has expired"),
    "not valid yet": (lambda i: i.token(nbf=int(time.time()) + 600), "not valid yet"),
    "signed in the future": (lambda i: i.token(iat=int(time.time()) + 600), "not valid yet"),
    "no end": (lambda i: i.token(exp=None), "lacks the claim 'exp'"),
    "an end that is no number": (lambda i: i.token(exp=float("inf")), "malformed"),
    "a year long": (lambda i: i.token(exp=int(time.time()) + 31_536_000), "longer than 24 hours"),
    "no algorithm": (lambda i: i.token(key="", algorithm="none"), "must be signed by one of"),
    "the public key as a secret": (hs256, "must be signed by one of"),
    "a key of another": (lambda i: i.token(key=rsa_key(1)), "signature of the token is wrong"),
    "an algorithm of another key": (
        lambda i: i.token(kid="ec", key=rsa_key(), algorithm="RS256"),
        "malformed",
    ),
    "an unknown key": (lambda i: i.token(headers={"kid": "other"}), "no key that the token names"),
    "a key that is a path": (lambda i: i.token(headers={"kid": "../../etc/passwd"}), "no key that the token"),
    "keys of its own": (
        lambda i: i.token(
            key=rsa_key(1), headers={"jku": "http://127.0.0.1:1/", "jwk": {"kty": "oct", "k": "eA"}}
        ),
        "signature of the token is wrong",
    ),
    "another repository": (lambda i: i.token(repository="org/other"), "no project trusts GitHub org/other"),
    "a longer name": (lambda i: i.token(repository="org/name-evil"), "no project trusts"),
    "a longer owner": (lambda i: i.token(repository="evil-org/name"), "no project trusts"),
    "other letters": (lambda i: i.token(repository="Org/Name"), "no project trusts"),
    "the name of a repository that was renamed": (lambda i: i.token(repository_id="99"), "no project trusts"),
    "no repository": (lambda i: i.token(repository=None), "lacks the claim 'repository'"),
    "a repository that is a list": (lambda i: i.token(repository=["org/name"]), "malformed"),
    "a repository with a zero": (lambda i: i.token(repository="org/name\0"), "malformed"),
    "another branch": (lambda i: i.token(ref="refs/heads/feature"), "no project trusts"),
    "a tag of this name": (lambda i: i.token(ref="refs/tags/main", ref_type="tag"), "no project trusts"),
    "a pull request": (lambda i: i.token(ref="refs/pull/1/merge"), "no project trusts"),
    "a pull request on its target": (
        lambda i: i.token(event_name="pull_request_target"),
        "no project trusts",
    ),
    "another workflow": (
        lambda i: i.token(workflow_ref="org/name/.github/workflows/other.yml@refs/heads/main"),
        "no project trusts",
    ),
    "huge": (lambda i: i.token(sub="x" * 20_000), "longer than"),
    "no JSON": (lambda i: "eyJhbGciOiJSUzI1NiJ9.eyJh.c2ln", "malformed"),
    "deep": (
        lambda i: f"eyJhbGciOiJSUzI1NiJ9.{encoded(b'[' * 11_000)}.c2ln",
        "malformed",
    ),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_token_that_is_not_right_is_refused_with_its_reason(issuer, project, name, caplog):
    caplog.set_level(logging.DEBUG)
    trust(issuer, project, branch="main", workflow=".github/workflows/bench.yml", repository_id="74")
    forge, reason = FORBIDDEN[name]
    token = forge(issuer)
    assert reason in refusal(token)
    assert not Upload.objects.exists()
    assert set(issuer.requests) <= {"/jwks"}
    assert token not in caplog.text
    assert token.split(".")[1] not in caplog.text


def test_a_revoked_trust_is_refused_at_once(issuer, project):
    trusted = trust(issuer, project)
    client = client_of(issuer.token())
    assert send(client, **SAID).status_code == 201
    revoke_token(trusted.token, by=Viewer())
    assert client.get("/api/v1/token/").status_code == 401


def test_whose_ci_nobody_trusts_makes_nobody_fetch_keys(issuer, project):
    assert "no project trusts a repository" in refusal(issuer.token())
    assert issuer.requests == []


def test_without_the_keys_of_a_ci_the_answer_is_to_try_again(issuer, project):
    trust(issuer, project)
    issuer.is_down = True
    for _ in range(3):
        assert "cannot be read now: Internal Server Error" in refusal(issuer.token(), status=503)
    assert len(issuer.requests) == 1


@pytest.mark.parametrize("answer", [b"x", b"[]", b'{"keys": 1}', b"[" * 100_000, b" " * 300_000])
def test_what_is_no_jwks_is_no_keys(issuer, project, answer):
    trust(issuer, project)
    issuer.answer = answer
    assert "cannot be read now" in refusal(issuer.token(), status=503)


def test_a_new_key_is_fetched_at_most_once_a_minute_and_the_old_ones_hold(issuer, project, monkeypatch):
    trust(issuer, project)
    assert send(client_of(issuer.token()), **SAID).status_code == 201
    issuer.keys["rotated"] = rsa_key(1)
    for _ in range(3):
        assert "no key that the token names" in refusal(issuer.token(kid="rotated"))
    assert len(issuer.requests) == 1
    monkeypatch.setattr(key_sets, "FETCH_EVERY_SECONDS", 0.0)
    assert send(client_of(issuer.token(kid="rotated")), **SAID).status_code == 200
    issuer.is_down = True
    monkeypatch.setattr(key_sets, "FRESH_SECONDS", 0.0)
    assert send(client_of(issuer.token()), **SAID).status_code == 200


def test_the_first_job_tells_the_number_of_its_repository_and_no_other_takes_its_name(issuer, project):
    trusted = trust(issuer, project)
    assert send(client_of(issuer.token()), **SAID).status_code == 201
    trusted.refresh_from_db()
    assert trusted.repository_id == "74"
    assert "number 75" in refusal(issuer.token(repository_id="75"))


def test_where_several_projects_trust_a_job_it_names_one(issuer, project):
    other = make_project("other")
    trust(issuer, project)
    trust(issuer, other)
    client = client_of(issuer.token())
    answer = send(client, **SAID)
    assert answer.json()["errors"] == [
        {"field": "project", "message": "is required: mine and other trust this repository"}
    ]
    assert send(client, project="other", **SAID).status_code == 201
    assert Upload.objects.get().project == other
    assert client.get("/api/v1/token/?project=mine").json()["project"] == "mine"
    # A body that is too large for strangers is not read before somebody knows who sends it.
    assert send(client, data=b"x" * 100_000, project="mine", **SAID).status_code == 422


def test_of_the_trusts_of_a_project_the_most_exact_one_counts(issuer, project):
    trust(issuer, project, hardware="bench-01")
    trust(issuer, project, hardware="bench-02", branch="main")
    token = client_of(issuer.token()).get("/api/v1/token/").json()
    assert token["hardware"] == "bench-02"
    assert client_of(issuer.token(ref="refs/heads/x")).get("/api/v1/token/").json()["hardware"] == "bench-01"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"repository": "name"}, "written as org/name"),
        ({"repository": "https://github.com/org/name"}, "written as org/name"),
        ({"scopes": ["admin"], "hardware": "box"}, "uploads and reads"),
        ({"scopes": []}, "cannot be blank"),
    ],
)
def test_a_trust_that_cannot_be_meant_is_refused(issuer, project, wrong, sentence):
    with pytest.raises(ValidationError, match=sentence):
        trust(issuer, project, **wrong)
    assert not Trust.objects.exists()


def test_the_same_trust_twice_is_refused(issuer, project):
    trust(issuer, project)
    with pytest.raises(ValidationError, match="trusts these jobs already"):
        trust(issuer, project, hardware="box")
    with pytest.raises(ValidationError, match="No such issuer"):
        trust_repository(project, Conditions("https://x.example.org", "a/b"), scopes=["upload"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x", "no JSON"),
        ("[]", "JSON object"),
        ('{"http://ci.example.org": "https://ci.example.org/keys"}', "the issuer must begin with https://"),
        ('{"https://ci.example.org": "http://ci.example.org/keys"}', "must begin with https:// or file:///"),
        ('{"https://ci.example.org": "ftp://ci.example.org/keys"}', "must begin with https://"),
        (
            '{"https://ci.example.org": {"jwks": "https://x.example.org", "claims": "jenkins"}}',
            "github or gitlab",
        ),
        ('{"https://ci.example.org": 1}', "needs the address of its JWKS"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(text, sentence):
    with pytest.raises(ImproperlyConfigured, match=sentence):
        issuers_of(text)


def test_keys_come_from_a_file_or_from_the_settings_too(issuer, project, settings, tmp_path):
    (tmp_path / "keys.json").write_text(json.dumps(issuer.jwks()))
    for keys in (f"file://{tmp_path}/keys.json", issuer.jwks()):
        settings.OIDC_ISSUERS = issuers_of(json.dumps({issuer.url: {"jwks": keys, "claims": "github"}}))
        Trust.objects.all().delete()
        trust(issuer, project)
        assert client_of(issuer.token()).get("/api/v1/token/").status_code == 200
    assert issuer.requests == []


def test_github_and_gitlab_are_known_unless_the_settings_say_otherwise():
    known = issuers_of(USUAL_ISSUERS)
    assert [(one.host, one.url) for one in known.values()] == [
        ("github", "https://token.actions.githubusercontent.com"),
        ("gitlab", "https://gitlab.com"),
    ]
