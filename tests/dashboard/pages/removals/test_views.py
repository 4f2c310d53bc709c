import pytest

from benchdash.accounts.access import NOBODY, Viewer
from ingest.models import Removal
from ingest.removal import begin_removal, carry_on
from tests.builders import make_project, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

PAGE = "/deleted-projects/"


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def member(client, project):
    alice = make_user(member_of=project)
    client.force_login(alice)
    return alice


def test_members_see_how_far_the_deletion_of_their_project_is(client, project, member):
    begin_removal(project, by=NOBODY)
    Removal.objects.update(done=40, total=100)
    answer = client.get(PAGE)
    assert "nightly ( nightly ) is being deleted, 40 %; this page follows." in text_of(answer)
    assert 'hx-trigger="every 1s"' in answer.content.decode()
    assert "nightly is being deleted, 40 %" in text_of(client.get("/"))


def test_who_asked_for_it_is_told_that_it_is_done(client, project, member):
    carry_on(begin_removal(project, by=Viewer(user=member)))
    answer = client.get(PAGE)
    assert "nightly ( nightly ) is deleted, " in text_of(answer)
    assert "hx-trigger" not in answer.content.decode().split('id="removals"')[1]
    assert "is being deleted" not in text_of(client.get("/"))


def test_pages_of_the_project_lead_its_members_there_and_do_not_exist_for_others(client, project, member):
    begin_removal(project, by=NOBODY)
    assert client.get("/p/nightly/runs/")["Location"] == PAGE
    assert client.post("/p/nightly/uploads/new/")["Location"] == PAGE
    client.logout()
    assert client.get("/p/nightly/runs/").status_code == 404


def test_others_do_not_see_it(client, project, member):
    begin_removal(make_project("secret"), by=NOBODY)
    assert "secret" not in text_of(client.get(PAGE))
    assert "No project of yours was deleted." in text_of(client.get(PAGE))
    client.logout()
    assert client.get(PAGE)["Location"] == f"/sign-in/?next={PAGE}"
