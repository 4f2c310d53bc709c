"""An empty project: the token, the commands, and the wait for the first upload."""

import re
import time

import pytest
from django.utils import timezone

from benchdash.accounts.models import Role, Token
from benchdash.accounts.services import find_token
from benchdash.dashboard.pages.uploads.first_upload import MAX_WAIT_S
from ingest.models import Upload
from tests.builders import make_project, make_record, make_runs, make_upload, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def project():
    return make_project("bench", public=True)


@pytest.fixture
def admin(client, project):
    user = make_user("root", member_of=project, role=Role.ADMIN)
    client.force_login(user)
    return user


def overview(client):
    return text_of(client.get("/p/bench/", follow=True))


def ask(client, *, since=None, seen="nothing", headers=HTMX):
    query = {"since": since or int(time.time()), "seen": seen}
    return client.get("/p/bench/first-upload/", query, headers=headers)


def imported(project, *records, **fields):
    upload = make_upload(project, finished_at=timezone.now(), **fields)
    make_runs(records, project=project, upload=upload)
    return upload


# --- the token and the commands -----------------------------------------------------------------------------


def test_a_token_is_made_by_one_button_and_stands_in_the_command(client, project, admin, settings):
    settings.SITE_URL = "https://bench.example.org"
    assert "Bearer TOKEN'" in overview(client)
    answer = client.post("/p/bench/first-token/")
    assert answer.status_code == 201
    assert "no-store" in answer["Cache-Control"]
    text = text_of(answer)
    secret = re.search(r"Bearer (bd_\S+)'", text)[1]
    assert "https://bench.example.org/api/v1/uploads/" in text
    token = find_token(secret)
    assert (token.project, token.scopes, token.created_by) == (project, ["upload"], admin)
    # It is shown once.
    assert secret not in overview(client)


def test_the_secret_is_shown_even_where_results_came_meanwhile(client, project, admin):
    imported(project, make_record())
    assert "Bearer bd_" in text_of(client.post("/p/bench/first-token/"))


def test_members_strangers_and_readers_are_helped_without_a_token(client, project):
    stranger = overview(client)
    assert "Charts appear here with the first results" in stranger
    assert "curl" not in stranger
    reader, member = make_user("reader", member_of=project, role=Role.READER), make_user(member_of=project)
    client.force_login(reader)
    assert overview(client).count("curl") == 0
    client.force_login(member)
    text = overview(client)
    assert "Its admins make one on this page" in text
    assert "Make a token" not in text
    assert client.post("/p/bench/first-token/").status_code == 403
    assert not Token.objects.exists()


def test_only_a_superuser_reads_where_the_installation_lies(client, project, admin, settings):
    assert str(settings.BASE_DIR) not in overview(client)
    admin.is_superuser = True
    admin.save()
    assert f"{settings.BASE_DIR}/manage.py import_folder --project bench" in overview(client)


# --- the wait -----------------------------------------------------------------------------------------------


def test_nothing_new_is_no_answer_in_few_statements(client, project, admin, django_assert_num_queries):
    with django_assert_num_queries(6):
        assert ask(client).status_code == 204


def test_the_first_import_leads_to_its_chart(client, project, admin):
    imported(project, *(make_record(threads=threads) for threads in (1, 4)))
    address = ask(client)["HX-Redirect"]
    assert address.startswith("/p/bench/compare/matrix/?v=")
    assert "transactions per second against threads" in text_of(client.get(address))
    # Without scripts a reload does the same.
    assert ask(client, headers={})["Location"] == address


def test_what_came_before_is_not_what_was_waited_for(client, project, admin):
    imported(project, make_record())
    assert ask(client, since=int(time.time()) + 3600).status_code == 200
    Upload.objects.update(finished_at=None)
    assert "HX-Redirect" not in ask(client)


def test_an_upload_on_its_way_and_a_refused_one_are_told_once(client, project, admin):
    upload = make_upload(project, name="nights.tgz", state="importing")
    answer = ask(client)
    assert "nights.tgz came in (importing): its chart opens as soon as it is read" in text_of(answer)
    seen = re.search(r"seen=([\w-]+)", answer.content.decode())[1]
    assert ask(client, seen=seen).status_code == 204
    error = {"line": 3, "message": "no 'transactions:' line"}
    Upload.objects.filter(pk=upload.pk).update(state="refused", errors=[error])
    answer = text_of(ask(client, seen=seen))
    assert "was refused. Still waiting for results." in answer
    assert "line 3: no 'transactions:' line" in answer


def test_after_a_while_the_page_stops_asking_and_says_so(client, project, admin):
    answer = ask(client, since=int(time.time()) - MAX_WAIT_S - 1)
    assert answer.status_code == 286
    page = answer.content.decode()
    assert "hx-get" not in page
    assert "this page stopped looking" in page
    # What is no time counts as now.
    assert ask(client, since="9" * 30).status_code == 204


def test_only_those_who_may_upload_wait(client, project):
    assert ask(client)["Location"].startswith("/sign-in/")
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert ask(client).status_code == 403
    assert "hx-get" not in overview(client)
