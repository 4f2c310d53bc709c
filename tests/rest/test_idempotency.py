"""A request that is sent twice is carried out once."""

import json
import threading
import urllib.error
import urllib.request
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from benchdash.accounts.models import Membership, Project, Role, Scope, Token
from benchdash.rest import tasks
from benchdash.rest.models import StoredAnswer
from benchdash.results.models import Annotation, Run
from ingest.models import Upload
from tests.alerts.incidents import make_incident
from tests.api.conftest import client_of
from tests.builders import make_project, make_token, make_user, make_webhook
from tests.sysbench_text import sysbench_report

ADDRESS = "/api/v1/annotations/"
SAID = {"at": "2026-11-01T00:00:00Z", "text": "the disks were replaced"}


@pytest.fixture
def client(db):
    return client_of(make_token(make_project("amber"), Scope.TRIAGE, Scope.UPLOAD))


def annotate(client, key="one", **more):
    return client.post(ADDRESS, {**SAID, **more}, headers={"idempotency-key": key})


def test_the_same_again_is_the_same_answer_and_not_done_again(client):
    first, again, quoted = annotate(client), annotate(client), annotate(client, key='"one"')
    assert (first.status_code, again.status_code, quoted.status_code) == (201, 201, 201)
    assert first.json() == again.json() == quoted.json()
    assert not first.has_header("Idempotent-Replayed")
    assert again["Idempotent-Replayed"] == "true"
    assert Annotation.objects.count() == 1
    assert annotate(client, key="two").json()["id"] != first.json()["id"]
    assert client.post(ADDRESS, SAID).status_code == 201
    assert Annotation.objects.count() == 3


def test_a_key_is_for_one_request_of_one_sender(client):
    annotate(client)
    other = annotate(client, text="the memory was replaced")
    assert (other.status_code, other.json()["code"]) == (422, "key_used_otherwise")
    elsewhere = client.post("/api/v1/metrics/", SAID, headers={"idempotency-key": "one"})
    assert elsewhere.status_code == 422
    somebody = client_of(make_token(make_project("other"), Scope.TRIAGE))
    assert annotate(somebody).status_code == 201
    assert Annotation.objects.count() == 2


@pytest.mark.parametrize("key", ["", " ", '""', "a b", "x" * 256, "\u00e4"])
def test_what_is_no_key_is_refused(client, key):
    assert annotate(client, key=key.encode().decode("latin-1")).status_code == 400
    assert Annotation.objects.count() == 0


def test_what_failed_is_not_stored_and_may_be_sent_again(client):
    assert annotate(client, hardware="box").status_code == 400
    assert annotate(client).status_code == 201
    assert client_of().post(ADDRESS, SAID, headers={"idempotency-key": "one"}).status_code == 401


def test_answers_are_forgotten_after_a_day(client):
    annotate(client)
    tasks.delete_old_answers()
    assert StoredAnswer.objects.count() == 1
    StoredAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert annotate(client, text="the memory was replaced").status_code == 201
    StoredAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    tasks.delete_old_answers()
    assert StoredAnswer.objects.count() == 0


def upload(client, key, text):
    form = {"file": SimpleUploadedFile("run.txt", text.encode()), "product": "MariaDB", "version": "10.6.1"}
    form |= {"hardware": "box", "workload": "oltp_read_only"}
    return client.post("/api/v1/uploads/", form, format="multipart", headers={"idempotency-key": key})


def test_an_upload_is_answered_again_whatever_the_boundary_of_its_form(client):
    text = sysbench_report(100)
    first, again = upload(client, "night", text), upload(client, "night", text)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again["Idempotent-Replayed"] == "true"
    assert again["Location"] == first["Location"]
    assert again.json()["duplicate"] is False
    assert upload(client, "night", f"{text}\n").status_code == 422
    # A process died before it stored the answer: the file is known.
    StoredAnswer.objects.all().delete()
    assert upload(client, "night", text).json()["duplicate"] is True
    assert Upload.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_carried_out(live_server):
    secret = make_token(make_project("amber"), Scope.TRIAGE)
    start, answers = threading.Barrier(6), []

    def send():
        request = urllib.request.Request(f"{live_server.url}{ADDRESS}", json.dumps(SAID).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {secret}")
        request.add_header("Idempotency-Key", "race")
        start.wait(10)
        try:
            with urllib.request.urlopen(request) as answer:
                answers.append((answer.status, answer.headers.get("Idempotent-Replayed")))
        except urllib.error.HTTPError as error:
            answers.append((error.code, error.headers.get("Retry-After")))

    senders = [threading.Thread(target=send) for _ in range(6)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert Annotation.objects.count() == 1
    assert answers.count((201, None)) == 1
    assert set(answers) <= {(201, None), (201, "true"), (409, "1")}


# --- the rights of now --------------------------------------------------------------------------------------


def lose_membership(project, _user, _token):
    Membership.objects.all().delete()


def become_reader(project, _user, _token):
    Membership.objects.update(role=Role.READER)


def leave_a_private_project(project, user, token):
    project.visibility = Project.Visibility.PRIVATE
    project.save()
    lose_membership(project, user, token)


def the_project_goes(project, _user, _token):
    Project.objects.update(deleting_since=timezone.now())


def an_account_is_closed(_project, user, _token):
    user.is_active = False
    user.save()


@pytest.mark.parametrize(
    ("what_happens", "status"),
    [
        (lose_membership, 403),
        (become_reader, 403),
        (leave_a_private_project, 404),
        (the_project_goes, 409),
        (an_account_is_closed, 401),
    ],
)
@pytest.mark.django_db
def test_who_could_not_do_it_today_does_not_get_the_stored_answer(what_happens, status):
    project = make_project("amber", public=True)
    user = make_user(member_of=project)
    client = client_of(user)
    assert annotate(client, project="amber").status_code == 201
    assert annotate(client, project="amber")["Idempotent-Replayed"] == "true"
    what_happens(project, user, None)
    again = annotate(client, project="amber")
    assert again.status_code == status
    assert "the disks" not in again.content.decode()
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"scopes": [Scope.READ]}, 403),
        ({"revoked_at": timezone.now()}, 401),
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, 401),
    ],
)
def test_a_token_that_lost_its_right_does_not_get_the_stored_answer(client, changed, status):
    assert annotate(client).status_code == 201
    Token.objects.update(**changed)
    assert annotate(client).status_code == status
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize(("scopes", "status"), [([Scope.UPLOAD], 201), ([Scope.READ], 403)])
def test_an_upload_is_answered_again_to_who_may_send_it_still(client, scopes, status):
    text = sysbench_report(100)
    assert upload(client, "night", text).status_code == 201
    Token.objects.update(scopes=scopes)
    assert upload(client, "night", text).status_code == status


def test_the_answer_of_an_upload_that_is_gone_is_that_it_is_gone(client):
    text = sysbench_report(100)
    upload(client, "night", text)
    Run.objects.all().delete()
    Upload.objects.all().delete()
    again = upload(client, "night", text)
    assert again.status_code == 404
    assert Upload.objects.count() == 0


def test_after_a_new_secret_key_nothing_is_done_twice_and_the_answer_is_said_to_be_lost(client, settings):
    annotate(client)
    settings.SECRET_KEY = "another key " * 6
    again = annotate(client)
    assert (again.status_code, again.json()["code"]) == (409, "answer_lost")
    assert Annotation.objects.count() == 1


@pytest.mark.django_db
def test_every_answer_that_is_stored_names_a_right(webhook_server):
    """The others of the addresses that take POST ask for their rights in the same two ways."""
    project = make_project("amber")
    hook = make_webhook(project, webhook_server.url)
    incident = make_incident(project)
    admin = client_of(make_user(is_superuser=True))
    posts = {
        "annotations/": {"project": "amber", **SAID},
        "projects/": {"slug": "beryl"},
        "webhooks/": {"project": "amber", "url": f"{webhook_server.url}/2"},
        f"webhooks/{hook.pk}/test/": {},
        "subscriptions/": {"project": "amber", "address": "a@example.org"},
        "metrics/": {"project": "amber", "name": "rss_mb", "direction": "lower"},
        "articles/": {"project": "amber", "title": "All of it"},
        f"incidents/{incident.pk}/comments/": {"text": "seen"},
        "incidents/triage/": {"ids": [incident.pk], "state": "acknowledged"},
    }
    for address, body in posts.items():
        answer = admin.post(f"/api/v1/{address}", body, headers={"idempotency-key": address})
        assert answer.status_code in {200, 201}, (address, answer.content)
        assert StoredAnswer.objects.get(key=address).rights, address
