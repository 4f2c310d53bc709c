"""Who sees and does what, for every address of the API: an address without a row here fails."""

import json
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import User
from benchdash.accounts.services import revoke_token
from benchdash.alerts.models import Subscription
from benchdash.api.urls import urlpatterns
from benchdash.results.models import Annotation, Configuration, Hardware, Product, ProjectMetric, Workload
from tests.api.conftest import OUTSIDERS, READERS, WRITERS, client_of
from tests.builders import START


@dataclass(frozen=True)
class Endpoint:
    """``of`` gives the id of its row in a world, ``query`` what must be asked, ``body`` what is sent."""

    of: object = None
    query: object = lambda world: {}
    body: object = None


def run(world):
    return world.run.pk


def incident(world):
    return world.incident.pk


def version(world):
    return world.run.version_id


def webhook(world):
    place = {"project": world.project, "address": WEBHOOK}
    return Subscription.objects.get_or_create(**place, defaults={"secret": "x"})[0].pk


def annotation(world):
    place = {"project": world.project, "at": START, "text": "a quartz disk"}
    return Annotation.objects.get_or_create(**place)[0].pk


def metric(world):
    return ProjectMetric.objects.get_or_create(project=world.project, name="quartz_mb")[0].pk


def product(world):
    return world.run.version.product_id


def two_versions(world):
    return {"base": '{"version": "10.6.2", "hardware": "quartz-box"}', "against": version(world)}


def baseline(world):
    return world.baseline.pk


def of_run(kind):
    return lambda world: getattr(world.run, f"{kind}_id")


def merge_into_another(model):
    return lambda world: {
        "into": model.objects.get_or_create(project=world.project, name="another")[0].pk,
        "reason": "the same under two names",
    }


def merge_into_another_version(world):
    return {"into": world.project.versions.exclude(pk=version(world)).first().pk}


WEBHOOK = "http://127.0.0.1:9/quartz"
ENDPOINTS = {
    ("GET", "project-list"): Endpoint(),
    ("GET", "project-detail"): Endpoint(of=lambda world: world.project.slug),
    ("PATCH", "project-detail"): Endpoint(of=lambda world: world.project.slug, body={"notice": "noted"}),
    ("GET", "compare"): Endpoint(query=lambda world: {"metric": "tps", "base": version(world)}),
    ("GET", "curves"): Endpoint(query=lambda world: {"metric": "tps", "base": version(world)}),
    ("GET", "latency"): Endpoint(query=lambda world: {"workload": "quartz_reads", "base": version(world)}),
    ("GET", "difference"): Endpoint(query=two_versions),
    ("GET", "gate"): Endpoint(query=lambda world: {"product": "MariaDB", "commit": "0000001"}),
    ("GET", "matrix"): Endpoint(query=lambda world: {"metric": "tps"}),
    ("GET", "nights"): Endpoint(query=lambda world: {"metric": "tps", "branch": "quartz-branch"}),
    ("GET", "sweep"): Endpoint(query=lambda world: {"metric": "tps", "setting": "quartz_pool"}),
    ("GET", "run-list"): Endpoint(),
    ("GET", "run-detail"): Endpoint(of=run),
    ("PATCH", "run-detail"): Endpoint(of=run, body={"excluded": True, "reason": "the machine was busy"}),
    ("GET", "run-intervals"): Endpoint(of=run),
    ("GET", "series-list"): Endpoint(),
    ("GET", "series-detail"): Endpoint(of=lambda world: world.series.pk),
    ("GET", "series-points"): Endpoint(of=lambda world: world.series.pk),
    ("GET", "incident-list"): Endpoint(),
    ("GET", "incident-detail"): Endpoint(of=incident),
    ("PATCH", "incident-detail"): Endpoint(of=incident, body={"state": "acknowledged"}),
    ("POST", "incident-comments"): Endpoint(of=incident, body={"text": "a new kernel"}),
    ("GET", "subscription-list"): Endpoint(),
    ("POST", "subscription-list"): Endpoint(body={"address": "new@example.org"}),
    ("DELETE", "subscription-list"): Endpoint(query=lambda world: {"address": "quartz@example.org"}),
    ("GET", "subscription-detail"): Endpoint(of=lambda world: world.subscription.pk),
    ("PATCH", "subscription-detail"): Endpoint(
        of=lambda world: world.subscription.pk, body={"rhythm": "daily"}
    ),
    ("DELETE", "subscription-detail"): Endpoint(of=lambda world: world.subscription.pk),
    ("GET", "webhook-list"): Endpoint(),
    ("POST", "webhook-list"): Endpoint(body={"url": "https://hooks.example.org/new"}),
    ("DELETE", "webhook-list"): Endpoint(query=lambda world: {"url": WEBHOOK}),
    ("GET", "webhook-detail"): Endpoint(of=webhook),
    ("DELETE", "webhook-detail"): Endpoint(of=webhook),
    ("POST", "webhook-test"): Endpoint(of=webhook),
    ("GET", "annotation-list"): Endpoint(),
    ("POST", "annotation-list"): Endpoint(body={"at": "2026-11-01T00:00:00Z", "text": "a new disk"}),
    ("GET", "annotation-detail"): Endpoint(of=annotation),
    ("DELETE", "annotation-detail"): Endpoint(of=annotation),
    ("GET", "baseline-list"): Endpoint(),
    ("POST", "baseline-list"): Endpoint(
        body={"branch": "quartz-branch", "commit": f"{2:040x}", "reason": "a new start"}
    ),
    ("GET", "baseline-detail"): Endpoint(of=baseline),
    ("PATCH", "baseline-detail"): Endpoint(
        of=baseline, body={"commit": f"{2:040x}", "reason": "a new start"}
    ),
    ("DELETE", "baseline-detail"): Endpoint(of=baseline, query=lambda world: {"reason": "no longer"}),
    ("POST", "exclusions"): Endpoint(
        body=lambda world: {"runs": [run(world)], "excluded": True, "reason": "busy"}
    ),
    ("GET", "metrics"): Endpoint(),
    ("POST", "metrics"): Endpoint(body={"name": "recall", "direction": "higher"}),
    ("PATCH", "metrics"): Endpoint(body={"name": "tps", "watched": False}),
    ("GET", "metric-detail"): Endpoint(of=metric),
    ("PATCH", "metric-detail"): Endpoint(of=metric, body={"direction": "lower"}),
    ("GET", "overview"): Endpoint(),
    ("POST", "incident-together"): Endpoint(
        body=lambda world: {"ids": [incident(world)], "state": "acknowledged"}
    ),
    ("GET", "audit-list"): Endpoint(),
    ("GET", "article-list"): Endpoint(),
    ("POST", "article-list"): Endpoint(body={"title": "Topaz in words"}),
    ("GET", "article-detail"): Endpoint(of=lambda world: world.article.pk),
    ("PATCH", "article-detail"): Endpoint(of=lambda world: world.article.pk, body={"title": "Topaz"}),
    ("DELETE", "article-detail"): Endpoint(of=lambda world: world.article.pk),
    ("GET", "version-list"): Endpoint(),
    ("GET", "version-detail"): Endpoint(of=version),
    ("PATCH", "version-detail"): Endpoint(of=version, body={"version": "10.6.33"}),
    ("POST", "version-merge"): Endpoint(of=version, body=merge_into_another_version),
}
for kind, model, of in [
    ("product", Product, product),
    ("hardware", Hardware, of_run("hardware")),
    ("configuration", Configuration, of_run("configuration")),
    ("workload", Workload, of_run("workload")),
]:
    ENDPOINTS |= {
        ("GET", f"{kind}-list"): Endpoint(),
        ("GET", f"{kind}-detail"): Endpoint(of=of),
        ("PATCH", f"{kind}-detail"): Endpoint(of=of, body={"name": "new", "reason": "a typing mistake"}),
        ("POST", f"{kind}-merge"): Endpoint(of=of, body=merge_into_another(model)),
    }

# Every test asks for all of them and lists the answers that are wrong, by address and asker.
READS = [key for key in ENDPOINTS if key[0] == "GET"]
WRITES = [key for key in ENDPOINTS if key[0] != "GET"]
# Without ``project`` in the query these are about all that one may see.
LISTS = [key for key in READS if key[1].endswith("-list")]
FOR_TRIAGE = [("GET", "subscription-list"), ("GET", "webhook-list"), ("GET", "audit-list")]
FOR_ADMINS = ("PATCH", "project-detail")
ADMINS = ("alice", "admin token")
CREATED = (
    "metrics",
    "incident-comments",
    "subscription-list",
    "webhook-list",
    "annotation-list",
    "article-list",
    "baseline-list",
)
# Rows that do not exist for those who may not triage.
HIDDEN = ("subscription-detail", "webhook-detail", "webhook-test")
OF_A_PROJECT = [key for key in ENDPOINTS if ENDPOINTS[key].of is None and key not in LISTS]
OF_A_ROW = [key for key in ENDPOINTS if ENDPOINTS[key].of]


def ask(world, who, key, *, missing=False, **query):
    """The answer to who asks for a row of the world, or for one that never existed; nothing stays written."""
    method, name = key
    endpoint = ENDPOINTS[key]
    arguments = []
    if endpoint.of:
        arguments = [endpoint.of(world)]
        if missing:
            arguments = ["nothing" if isinstance(arguments[0], str) else 999_999_999]
    elif key not in LISTS:
        query = {**query, "project": "nothing" if missing else world.project.slug}
    body = endpoint.body(world) if callable(endpoint.body) else endpoint.body
    address = f"{reverse(f'api:{name}', args=arguments)}?{urlencode({**endpoint.query(world), **query})}"
    with transaction.atomic():
        answer = getattr(world.clients[who], method.lower())(address, body)
        transaction.set_rollback(True)
    return answer


@pytest.fixture
def private_world(make_world):
    return make_world(public=False)


@pytest.fixture
def public_world(make_world):
    return make_world(public=True)


def methods_of(view):
    return [method for method in view.http_method_names if method != "options" and hasattr(view, method)]


def test_every_address_of_the_api_has_a_row_here():
    found = {
        (method.upper(), pattern.name)
        for pattern in urlpatterns
        for method in getattr(pattern.callback, "actions", None) or methods_of(pattern.callback.cls)
    }
    # tests/api/test_token.py, tests/api/test_projects.py
    of_nobody_s_rows = {("GET", "token"), ("POST", "project-list")}
    assert found - {("HEAD", name) for _, name in ENDPOINTS} - of_nobody_s_rows == set(ENDPOINTS)


def wrong(world, keys, askers, expected):
    """``expected(key, who)`` is a status."""
    answers = {(key, who): ask(world, who, key) for key in keys for who in askers}
    return {
        place: (answer.status_code, answer.content[:200])
        for place, answer in answers.items()
        if answer.status_code != expected(*place)
    }


def test_those_who_triage_read_all_of_their_private_project(private_world):
    assert wrong(private_world, READS, WRITERS, lambda key, who: 200) == {}


def test_those_who_only_read_see_neither_the_audit_log_nor_the_subscriptions_of_others(private_world):
    def expected(key, who):
        # Rows of others are left out of lists; one that is asked for does not exist.
        return 404 if key[1] in HIDDEN else 200

    assert wrong(private_world, READS, READERS, expected) == {}
    for who in READERS:
        for key in FOR_TRIAGE:
            assert ask(private_world, who, key).json()["results"] == []
        assert ask(private_world, who, ("GET", "audit-list"), project="quartz").status_code == 403
    # A token is nobody who could have subscriptions of their own.
    lists = {who: ask(private_world, who, ("GET", "subscription-list"), project="quartz") for who in READERS}
    assert {who: answer.status_code for who, answer in lists.items()} == {"rita": 200, "read token": 403}


def test_an_upload_token_that_sent_nothing_reads_nothing_of_its_private_project(private_world):
    def expected(key, who):
        if key in LISTS:
            return 200
        return 404 if ENDPOINTS[key].of else 403

    assert wrong(private_world, READS, ["upload token"], expected) == {}
    for key in LISTS:
        assert ask(private_world, "upload token", key).json()["results"] == [], key
        named = ask(private_world, "upload token", key, project="quartz")
        # Its own runs could be listed.
        assert named.status_code == (200 if key[1] == "run-list" else 403), key
        assert b"quartz_" not in named.content


def test_an_upload_token_changes_nothing_but_uploads(private_world):
    def expected(key, who):
        return 404 if ENDPOINTS[key].of else 403

    assert wrong(private_world, WRITES, ["upload token"], expected) == {}


def test_an_upload_token_reads_of_a_public_project_what_anyone_reads(public_world):
    for_all = [key for key in READS if key not in FOR_TRIAGE and key[1] not in HIDDEN]
    assert wrong(public_world, for_all, ["upload token"], lambda key, who: 200) == {}
    for key in FOR_TRIAGE:
        assert ask(public_world, "upload token", key, project="quartz").status_code == 403
    added = [("POST", "subscription-list"), ("POST", "webhook-list")]
    assert wrong(public_world, added, ["upload token"], lambda *_: 403) == {}


def test_a_private_project_is_in_no_list_of_others(private_world):
    seen = {}
    for key in LISTS:
        for who in OUTSIDERS:
            answer = ask(private_world, who, key)
            expected = 401 if key in FOR_TRIAGE and who == "anonymous" else 200
            if answer.status_code != expected or "quartz" in answer.content.decode().lower():
                seen[key, who] = answer.content
    assert seen == {}


def test_a_list_of_a_private_project_is_that_of_a_project_that_does_not_exist(private_world):
    seen = {}
    for key in LISTS:
        for who in OUTSIDERS:
            hidden = ask(private_world, who, key, project="quartz")
            missing = ask(private_world, who, key, project="nothing")
            expected = 401 if key in FOR_TRIAGE and who == "anonymous" else 404
            if hidden.status_code != expected or hidden.content != missing.content:
                seen[key, who] = hidden.content
    assert seen == {}


def test_what_is_of_a_private_project_does_not_exist_for_others(private_world):
    seen = {}
    for key in [*OF_A_ROW, *OF_A_PROJECT]:
        for who in OUTSIDERS:
            hidden, missing = ask(private_world, who, key), ask(private_world, who, key, missing=True)
            asks_first = who == "anonymous" and (key[0] != "GET" or key[1] in HIDDEN)
            expected = 401 if asks_first else 404
            if hidden.status_code != expected or hidden.content != missing.content:
                seen[key, who] = hidden.content
    assert seen == {}


def test_anyone_reads_a_public_project(public_world):
    for_all = [key for key in READS if key not in FOR_TRIAGE and key[1] not in HIDDEN]
    assert wrong(public_world, for_all, OUTSIDERS, lambda key, who: 200) == {}


def test_what_is_for_those_who_triage_is_hidden_in_a_public_project_too(public_world):
    for key in FOR_TRIAGE:
        for who in ("charlie", "token of another project"):
            assert ask(public_world, who, key).json()["results"] == []
            assert ask(public_world, who, key, project="quartz").status_code == 403
        assert ask(public_world, "anonymous", key, project="quartz").status_code == 401
    for who in OUTSIDERS:
        for name in ("subscription-detail", "webhook-detail"):
            expected = 401 if who == "anonymous" else 404
            assert ask(public_world, who, ("GET", name)).status_code == expected


def test_those_who_triage_write(private_world):
    created = [("POST", name) for name in CREATED]

    def expected(key, who):
        if key == FOR_ADMINS and who not in ADMINS:
            return 403
        return 201 if key in created else 204 if key[0] == "DELETE" else 200

    assert wrong(private_world, WRITES, WRITERS, expected) == {}


def test_those_who_only_read_do_not_write(private_world):
    def expected(key, who):
        return 404 if key[1] in HIDDEN else 403

    assert wrong(private_world, WRITES, READERS, expected) == {}


def test_nobody_from_outside_writes_to_a_public_project(public_world):
    def expected(key, who):
        if who == "anonymous":
            return 401
        return 404 if key[1] in HIDDEN else 403

    assert wrong(public_world, WRITES, OUTSIDERS, expected) == {}


def test_a_token_that_is_not_known_is_refused_even_where_anyone_reads(public_world):
    public_world.clients["stranger"] = client_of("bd_nothing")
    assert wrong(public_world, ENDPOINTS, ["stranger"], lambda key, who: 401) == {}
    assert ask(public_world, "stranger", READS[0]).headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_reads_nothing(private_world):
    revoke_token(private_world.project.tokens.get(scopes=["read"]), by=Viewer())
    assert wrong(private_world, READS, ["read token"], lambda key, who: 401) == {}


def test_the_session_of_a_person_writes_only_with_the_secret_of_its_form(private_world):
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(email="bob@example.org"))
    answer = browser.patch(f"/api/v1/runs/{private_world.run.pk}/", {"excluded": False}, format="json")
    assert answer.status_code == 403


# --- nothing that is sent is a fault of ours --------------------------------------------------------------

_BAD_VALUES = {
    "threads": "abc",
    "limit": "0",
    "cursor": "made-up",
    "product": "a\0b",
    "project": "a\0b",
    "workload": "\0",
    "commit": "xyz",
    "state": "broken",
    "status": "broken",
    "kind": "broken",
    "historical": "perhaps",
    "included": "perhaps",
    "upload": "99999999999999999999",
    "version_id": "one",
    "since": "yesterday",
    "max_points": "1",
    "format": "xml",
    "against": "[1]",
    "metric": "a\0b",
    "action": "a\0b",
    "name": "a\0b",
    "last": "0",
    "until": "tomorrow",
    "margin": "2",
}
_REQUIRED = {
    "compare": {"metric": "tps", "base": '{"version": "10.6.1"}'},
    "curves": {"metric": "tps", "base": '{"version": "10.6.1"}'},
    "difference": {"base": '{"version": "10.6.3"}', "against": '{"version": "10.6.3"}'},
    "gate": {"product": "MariaDB", "commit": "0000001"},
    "latency": {"workload": "quartz_reads", "base": '{"version": "10.6.1"}'},
    "nights": {"metric": "tps", "branch": "quartz-branch"},
    "sweep": {"metric": "tps"},
}


def test_a_malformed_parameter_is_named(public_world):
    client = public_world.clients["alice"]
    rows = {"runs": public_world.run.pk, "series": public_world.series.pk}
    tried, unnamed = 0, []
    for path, methods in client.get("/api/schema/").json()["paths"].items():
        kind = path.split("/")[3]
        for parameter in methods.get("get", {}).get("parameters", []):
            name = parameter["name"]
            if kind == "uploads" or name not in _BAD_VALUES:
                continue
            query = {"project": "quartz", **_REQUIRED.get(kind, {}), name: _BAD_VALUES[name]}
            answer = client.get(path.replace("{id}", str(rows.get(kind))), query)
            tried += 1
            if answer.status_code != 400 or answer.json()["errors"][0]["field"] != name:
                unnamed.append((path, name, answer.content))
    assert unnamed == []
    assert tried > 60


def test_an_id_that_no_row_can_have_is_not_found(public_world):
    found = {}
    for method, name in OF_A_ROW:
        template = reverse(f"api:{name}", args=["0" if name.startswith("project") else 0])
        for nonsense in ("abc", "-1", "1.5", "9" * 30, "9" * 5000, "%00", "%D9%A1"):
            address = template.replace("/0/", f"/{nonsense}/")
            answer = getattr(public_world.clients["alice"], method.lower())(address, {})
            if answer.status_code != 404 or answer.headers["Content-Type"] != "application/problem+json":
                found[method, address[:100]] = answer.content[:200]
    assert found == {}


def test_a_body_that_makes_no_sense_is_a_bad_request(public_world):
    client = public_world.clients["alice"]
    senseless = [
        None,
        [],
        "text",
        3,
        {},
        {"name": "a\0b"},
        {"name": "\ud800"},
        {"name": []},
        {"into": 10**400},
    ]
    bodies = [*(json.dumps(body).encode() for body in senseless), b"{", b"\xff\xfe", b"[" * 100_000]
    taken = []
    for key in WRITES:
        # The first ask nothing of a body; a change of nothing is none.
        if key[0] == "DELETE" or key in [("POST", "webhook-test"), ("PATCH", "subscription-detail")]:
            continue
        endpoint = ENDPOINTS[key]
        address = reverse(f"api:{key[1]}", args=[endpoint.of(public_world)] if endpoint.of else [])
        for body in bodies:
            answer = client.generic(key[0], address, body, "application/json")
            if answer.status_code != 400:
                taken.append((key, body[:20], answer.content))
        assert client.generic(key[0], address, b"a=b", "text/plain").status_code == 415
    assert taken == []


def test_what_an_address_takes_can_be_asked_by_anyone(public_world):
    for method, name in ENDPOINTS:
        endpoint = ENDPOINTS[method, name]
        address = reverse(f"api:{name}", args=[endpoint.of(public_world)] if endpoint.of else [])
        answer = public_world.clients["anonymous"].options(address)
        assert (answer.status_code, "quartz" in answer.content.decode()) == (200, False), name
        assert method in answer.headers["Allow"]


def test_what_an_address_does_not_take_is_said_so(public_world):
    answer = public_world.clients["alice"].put("/api/v1/runs/", {})
    assert (answer.status_code, answer.headers["Content-Type"]) == (405, "application/problem+json")


@pytest.mark.parametrize("accepted", ["text/csv", "text/html", "application/problem+json", "nonsense"])
def test_whatever_is_accepted_the_answer_is_json(public_world, accepted):
    answer = public_world.clients["anonymous"].get("/api/v1/runs/", HTTP_ACCEPT=accepted)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")


def test_a_body_that_is_too_large_is_said_so(public_world, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    address = f"/api/v1/incidents/{public_world.incident.pk}/comments/"
    answer = public_world.clients["alice"].post(address, {"text": "x" * 1000})
    assert answer.status_code == 413
