"""What is private does not exist for others, at any address: a new one that wants an example fails."""

import json
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.html import escape

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Membership, Project, Role, Scope, Token, User
from benchdash.accounts.services import remove_member, revoke_token
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.regressions.triage import comment, triage
from benchdash.results.corrections import exclude_run
from benchdash.results.models import ConfigurationContent, Run
from ingest.models import ArchiveFile, Upload
from tests.addresses import OF_NOBODY, addresses, make_world, without_random_words
from tests.builders import make_project, make_token, make_upload, make_user

pytestmark = pytest.mark.django_db

# The private project is called so, and so is all that is in it.
SECRET = "quartz"
# Neither has ever existed.
NO_SLUG, NO_ID = "nothing", 999_999_999
SAMPLE = Path(__file__).parent / "ingest/fixtures/sysbench/oltp_read_only-histogram.txt"


@pytest.fixture
def world():
    return make_world(SECRET)


@pytest.fixture
def outsider(request, world):
    own = make_project("own")
    match request.param:
        case "nobody":
            return Client()
        case "a token of another project":
            return with_token(make_token(own, *Scope.values))
        case "a token that was revoked":
            secret = make_token(world.project, *Scope.values, name="revoked")
            revoke_token(Token.objects.get(name="revoked"), by=Viewer())
            return with_token(secret)
    charlie, client = make_user("charlie", member_of=own, role=Role.ADMIN), Client()
    client.force_login(charlie)
    if request.param.startswith("a member"):
        member = Membership.objects.create(project=world.project, user=charlie, role=Role.ADMIN)
        assert client.get(f"/p/{SECRET}/").status_code == 200
    if request.param == "a member who was removed":
        remove_member(member, by=Viewer())
    if request.param == "a member whose account was closed":
        User.objects.filter(pk=charlie.pk).update(is_active=False)
    return client


def with_token(secret):
    return Client(headers={"authorization": f"Bearer {secret}"})


def ask(client, method, address, slug):
    """A write says what any of them may want; where files are sent, it is a form."""
    if method == "GET":
        return client.get(address)
    if address.startswith("/api/") and "/uploads/" not in address:
        said = {"project": slug, "address": "new@example.org", "reason": "why", "name": "new", "into": NO_ID}
        said |= {"title": "new", "url": "https://192.0.2.1/", "at": "2026-11-01T00:00:00Z", "text": "new"}
        said |= {"runs": [NO_ID], "excluded": True}
        return client.generic(method, address, json.dumps(said), "application/json")
    if method != "POST":
        return client.generic(method, address, "{}", "application/json")
    return client.post(address, {"project": slug, "file": SimpleUploadedFile("result.txt", b"no result")})


def body_of(answer):
    # Pictures are among them.
    return b"".join(answer).decode(errors="replace")


def without_echo(answer, address):
    """The body without what repeats the address that was asked for, and without marks of its session."""
    body = body_of(answer)
    for written in (address, quote(address), escape(address)):
        body = body.replace(written, "ADDRESS")
    return without_random_words(body)


# --- from outside -----------------------------------------------------------------------------------------


# It is of no project: who may not is refused, whatever they say of any.
MAKES_PROJECTS = ("POST", "api:project-list")


def wrong_answers(world, client, *, writes):
    for address in addresses():
        if address.is_page and not address.wants:
            continue
        examples = address.examples(world)
        missing = {name: NO_ID if isinstance(value, int) else value for name, value in examples.items()}
        there, nowhere = address.of(SECRET, **examples), address.of(NO_SLUG, **missing)
        changes = (["POST"] if address.is_page else ["POST", "PATCH", "DELETE"]) if writes else []
        for method in ("GET", *changes):
            more = OF_NOBODY.get(address.name, "") if method == "DELETE" else ""
            hidden = ask(client, method, there + more, SECRET)
            absent = ask(client, method, nowhere + more, NO_SLUG)
            refused = {401, 404, 405} | ({403} if (method, address.name) == MAKES_PROJECTS else set())
            if hidden.status_code not in refused or hidden.status_code != absent.status_code:
                yield method, there, hidden.status_code, absent.status_code
            elif without_echo(hidden, there) != without_echo(absent, nowhere):
                yield method, there, body_of(hidden), body_of(absent)


@pytest.mark.parametrize("outsider", ["nobody", "somebody else", "a token of another project"], indirect=True)
def test_a_private_project_is_for_others_like_one_that_never_was(world, outsider):
    assert list(wrong_answers(world, outsider, writes=True)) == []
    assert not AuditEntry.objects.filter(project=world.project).exclude(user=world.admin).exists()


@pytest.mark.parametrize(
    "outsider",
    ["a member who was removed", "a member whose account was closed", "a token that was revoked"],
    indirect=True,
)
def test_who_could_see_it_once_sees_it_no_more(world, outsider):
    assert list(wrong_answers(world, outsider, writes=False)) == []


@pytest.mark.parametrize("outsider", ["nobody", "somebody else"], indirect=True)
def test_a_private_project_is_in_no_list(world, outsider):
    lists = [address.of(SECRET).partition("?")[0] for address in addresses() if not address.wants]
    assert "/" in lists
    assert "/api/v1/runs/" in lists
    assert [one for one in lists if SECRET in body_of(outsider.get(one))] == []


def test_what_is_for_members_is_nowhere_in_a_public_project(world):
    word = "topaz"
    project, run, incident = world.project, world.run, world.incident
    project.visibility = Project.Visibility.PUBLIC
    project.save()
    world.admin.name = word
    world.admin.save()
    project.tokens.update(name=word)
    exclude_run(run, by=Viewer(user=world.admin), reason=word)
    triage(incident, by=Viewer(user=world.admin), state="fixed", assignee=world.admin, reason=word)
    comment(incident, by=Viewer(user=world.admin), text=word)
    project.uploads.filter(state="refused").update(name=word, errors=[{"line": 1, "message": word}])
    project.uploads.exclude(state="refused").update(user=world.admin, token=world.token)
    project.subscriptions.filter(pk=world.subscription.pk).update(address=f"{word}@example.org")
    project.alerts.update(error=word, address=f"{word}@example.org")
    asked = [address.of(SECRET, **address.examples(world)) for address in addresses()]
    somebody, alice = Client(), Client()
    somebody.force_login(make_user("charlie"))
    alice.force_login(world.admin)
    words = (word, world.admin.email)
    bodies = [(one, body_of(client.get(one))) for client in (Client(), somebody) for one in asked]
    assert [one for one, body in bodies if any(said in body for said in words)] == []
    # To a member it is told.
    assert len([one for one in asked if word in body_of(alice.get(one))]) > 15


def test_a_member_finds_what_others_do_not(world):
    client = Client()
    client.force_login(world.admin)
    found = {
        address.name: client.get(address.of(SECRET, **address.examples(world))).status_code
        for address in addresses()
    }
    # The others want more of a query, or nothing but a form.
    assert {name for name, status in found.items() if status not in (200, 301, 405)} == {
        "api:compare",
        "api:curves",
        "api:difference",
        "api:gate",
        "api:latency",
        "api:nights",
        "api:sweep",
        # They ask for a signature, whoever asks.
        "dashboard:badge",
        "dashboard:curate",
        "dashboard:embed",
        "dashboard:embed_png",
        "dashboard:embed_svg",
        "dashboard:metric_change",
    }
    assert set(found.values()) == {200, 301, 400, 404, 405}


# --- a token that sends -------------------------------------------------------------------------------------

# All that answers 200 to an upload token of a private project; the rest of the API is hidden or refused.
ABOUT_WHAT_IT_SENT = {
    "api:gate",
    "api:run-detail",
    "api:run-intervals",
    "api:run-list",
    "ingest:companion-raw",
    "ingest:upload-detail",
    "ingest:upload-list",
    "ingest:upload-raw",
}
_GATE = {"product": f"{SECRET} product", "branch": f"{SECRET}-branch"}


def answers_of_the_api(world, client, run):
    """By name: every address of the API in the project, with and without naming the project."""
    commit = run.version.commit
    for address in addresses():
        if address.is_page:
            continue
        asked = address.of(SECRET, **address.examples(world))
        if address.name == "api:gate":
            asked = f"{asked}&{urlencode({**_GATE, 'commit': commit})}"
        yield address.name, client.get(asked)
        if "?project=" in asked:
            yield address.name, client.get(asked.replace("?project=quartz&", "?"))


def tells(name, answer):
    """Whether an answer of 200 tells something; a list may be empty, or of other projects."""
    return not name.endswith("-list") or SECRET in body_of(answer)


@pytest.fixture
def sender(world):
    """A token that sends, and its client."""
    secret = make_token(world.project, Scope.UPLOAD, name="sender")
    return Token.objects.get(name="sender"), with_token(secret)


@pytest.fixture
def run_on_branch(world):
    return Run.objects.filter(project=world.project, branch=f"{SECRET}-branch").latest("pk")


def test_an_upload_token_reads_nothing_of_what_others_sent(world, sender, run_on_branch):
    _, client = sender
    seen = {
        (name, answer.status_code)
        for name, answer in answers_of_the_api(world, client, run_on_branch)
        if answer.status_code == 200 and tells(name, answer)
    }
    assert seen == set()


def test_an_upload_token_follows_what_it_sent_and_its_gate_and_no_more(world, sender, run_on_branch):
    token, client = sender
    sent = (world.upload.pk, run_on_branch.upload_id)
    Upload.objects.filter(pk__in=sent).update(token=token)
    answers = list(answers_of_the_api(world, client, run_on_branch))
    told = {name for name, answer in answers if answer.status_code == 200 and tells(name, answer)}
    assert told == ABOUT_WHAT_IT_SENT
    statuses = {answer.status_code for name, answer in answers if name not in ABOUT_WHAT_IT_SENT}
    assert statuses <= {200, 403, 404, 405}  # 200 is a list of other projects, or of none


def test_of_lists_an_upload_token_gets_its_own_rows_alone(world, sender):
    token, client = sender
    Upload.objects.filter(pk=world.upload.pk).update(token=token)
    own = set(Run.objects.filter(upload_id=world.upload.pk).values_list("pk", flat=True))
    assert own
    for query in ("", f"?project={SECRET}", f"?project={SECRET}&limit=5&threads=4"):
        runs = client.get(f"/api/v1/runs/{query}").json()["results"]
        assert {run["id"] for run in runs} == own
        uploads = client.get(f"/api/v1/uploads/{query.partition('&')[0]}").json()["results"]
        assert [upload["id"] for upload in uploads] == [world.upload.pk]


def test_a_gate_is_told_to_the_token_that_sent_runs_of_its_commit(world, sender, run_on_branch):
    token, client = sender
    asked = f"/api/v1/gate/?project={SECRET}&{urlencode({**_GATE, 'commit': run_on_branch.version.commit})}"
    refused = client.get(asked)
    assert refused.status_code == 403
    assert "this token sent no runs of the commit" in refused.json()["detail"]
    Upload.objects.filter(pk=run_on_branch.upload_id).update(token=token)
    assert client.get(asked).json()["rows"] != []
    assert client.get(f"{asked}&project={SECRET}".replace(f"project={SECRET}&", "", 1)).status_code == 200


def test_a_token_that_sends_the_same_again_follows_it_too(world, sender):
    _, client = sender
    content = SAMPLE.read_bytes()
    said = {"product": "MariaDB", "version": "10.6.23", "hardware": "box", "workload": "ro"}
    first = with_token(make_token(world.project, Scope.UPLOAD, name="first"))

    def send(client):
        return client.post("/api/v1/uploads/", {"file": SimpleUploadedFile("a.txt", content), **said}).json()

    sent, again = send(first), send(client)
    assert (again["id"], again["duplicate"]) == (sent["id"], True)
    for client_of_it in (first, client):
        for answer in (sent, again):
            links = [answer["url"], f"{answer['url']}raw/", *(run["url"] for run in answer["runs"])]
            assert len(links) == 3
            assert {client_of_it.get(urlsplit(link).path).status_code for link in links} == {200}
    assert client.get(f"/api/v1/uploads/{world.upload.pk}/").status_code == 404


def test_the_files_of_an_archive_belong_to_the_token_that_sent_it(world, sender):
    token, client = sender
    # Another token sent the same file before, alone.
    file, other = make_upload(world.project), make_upload(world.project)
    archive = make_upload(world.project, name="all.zip", is_archive=True, token=token)
    ArchiveFile.objects.create(archive=archive, number=1, name="a.txt", upload=file, state="imported")
    statuses = [client.get(f"/api/v1/uploads/{one.pk}/").status_code for one in (archive, file, other)]
    assert statuses == [200, 200, 404]
    [listed] = client.get(f"/api/v1/uploads/?archive={archive.pk}").json()["results"]
    assert listed["id"] == file.pk


def test_an_upload_token_changes_and_deletes_only_what_it_sent(world, sender):
    token, client = sender
    own, other = make_upload(world.project, token=token), make_upload(world.project)
    for public in (False, True):
        Project.objects.filter(pk=world.project.pk).update(visibility="public" if public else "private")
        refusal = 403 if public else 404
        change = {"notes": "x", "preview": True}
        address = f"/api/v1/uploads/{other.pk}/"
        assert client.patch(address, change, content_type="application/json").status_code == refusal
        assert client.delete(address).status_code == refusal
    assert client.delete(f"/api/v1/uploads/{own.pk}/").status_code == 204


# --- through another project --------------------------------------------------------------------------------


@pytest.fixture
def own():
    return make_world("granite", admin="charlie")


@pytest.fixture
def charlie(own):
    client = Client()
    client.force_login(own.admin)
    return client


def test_ids_of_one_project_lead_nowhere_under_the_address_of_another(world, own, charlie):
    wrong = []
    for address in addresses():
        if "slug" in address.wants and (examples := address.examples(world)):
            asked = address.of(own.project.slug, **examples)
            answers = [ask(charlie, method, asked, own.project.slug) for method in ("GET", "POST")]
            if {answer.status_code for answer in answers} - {404, 405}:
                wrong.append((asked, [answer.status_code for answer in answers]))
    assert wrong == []
    assert not AuditEntry.objects.filter(project=world.project).exclude(user=world.admin).exists()


def test_ids_of_another_project_in_a_query_find_nothing(world, own, charlie):
    run, column = world.run, columns_of(world.project, Selector(branch=""))[-1]
    digest = ConfigurationContent.objects.get(project=world.project).digest
    # Together stands what no address looks for at once.
    queries = [
        {"series": world.series.pk, "from": digest, "to": digest},
        {"v": [short_id(column), run.version_id], "upload": run.upload_id},
        {"base": short_id(column), "by": [f"token-{world.token.pk}", f"user-{world.admin.pk}"]},
        {"version_id": run.version_id, "open": run.workload_id},
        {"workload": run.workload_id},
    ]
    found = []
    for asked in [one.of(own.project.slug) for one in addresses() if one.wants <= {"slug"}]:
        for query in queries:
            answer = charlie.get(f"{asked}{'&' if '?' in asked else '?'}{urlencode(query, doseq=True)}")
            if answer.status_code >= 500 or SECRET in body_of(answer):
                found.append((asked, query, answer.status_code))
    assert found == []


_COMPARE = "/api/v1/compare/?project=granite&metric=tps"


@pytest.mark.parametrize("selector", ["base", "against"])
def test_a_version_of_another_project_cannot_be_compared(world, own, charlie, selector):
    sides = {"base": own.run.version_id, "against": own.run.version_id, selector: world.run.version_id}
    answer = charlie.get(f"{_COMPARE}&{urlencode(sides)}")
    assert answer.status_code == 400
    assert SECRET not in body_of(answer)


def test_things_of_another_project_cannot_be_named_in_a_change(world, own, charlie):
    run, foreign = own.run, world.run
    page, api = "/p/granite", "/api/v1"
    changes = [
        (f"{page}/incidents/{own.incident.pk}/triage/", {"assignee": world.admin.pk, "reason": "why"}),
        (f"{page}/notifications/", {"address": "a@example.org", "product": foreign.version.product_id}),
        (f"{page}/notifications/", {"address": "a@example.org", "hardware": foreign.hardware_id}),
        (
            f"{page}/workloads/{run.workload_id}/correct/",
            {"correction": "merge", "merge-into": foreign.workload_id, "confirmed": "yes"},
        ),
        (f"{api}/workloads/{run.workload_id}/merge/", {"into": foreign.workload_id}),
        (f"{api}/versions/{run.version_id}/merge/", {"into": foreign.version_id}),
        (f"{api}/workloads/{foreign.workload_id}/merge/", {"into": run.workload_id}),
    ]
    answers = []
    for address, said in changes:
        kind = {"content_type": "application/json"} if address.startswith(api) else {}
        answers.append(charlie.post(address, said, **kind))
    assert [answer.status_code for answer in answers] == [422, 422, 422, 422, 400, 400, 404]
    assert [answer for answer in answers if SECRET in body_of(answer)] == []
    to_alice = {"assignee": world.admin.email}
    answer = charlie.patch(f"{api}/incidents/{own.incident.pk}/", to_alice, content_type="application/json")
    assert answer.status_code == 400
