"""The list of projects."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.models import Membership, Project
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

STEADY = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4


def test_each_project_says_its_morning_in_one_line(client):
    project = make_project("bench", public=True)
    make_project("empty", public=True)
    values = [*STEADY, *(0.7 * value for value in STEADY[:7])]
    start = timezone.now() - timedelta(days=len(values) - 1, hours=5)
    make_series(values, project=project, branch="main", start=start)
    analyse_touched()
    text = text_of(client.get("/"))
    assert ": 1 workload ran on box; 1 new: oltp_read_only −30." in text
    assert "empty 0 0 – No results yet." in text


def test_who_is_not_signed_in_reads_what_benchdash_is(client):
    make_project("bench", public=True)
    assert "benchdash keeps the results of database benchmarks" in text_of(client.get("/"))
    client.force_login(make_user())
    assert "benchdash keeps" not in text_of(client.get("/"))


# --- making a project ---------------------------------------------------------------------------------------


@pytest.fixture
def root(client):
    user = make_user("root", is_superuser=True)
    client.force_login(user)
    return user


def make(client, **said):
    return client.post("/", {"name": "Nightly runs", "slug": "", "visibility": "private", **said})


def test_a_project_is_made_with_the_name_that_its_address_gets_from_its_own(client, root):
    answer = make(client, name="Läufe: Nacht & Tag")
    assert answer["Location"] == "/p/laufe-nacht-tag/"
    project = Project.objects.get()
    assert (project.name, project.visibility) == ("Läufe: Nacht & Tag", "private")
    assert Membership.objects.get(project=project).user == root
    assert make(client, slug="n2", visibility="public")["Location"] == "/p/n2/"
    assert Project.objects.get(slug="n2").is_public


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"slug": "two words"}, "An address takes letters from a to z, digits, - and _ alone."),
        ({"slug": "taken"}, "'taken' is taken by another project: choose another name here."),
        ({"name": "Taken"}, "'taken' is taken by another project: choose another name here."),
        ({"name": "夜間"}, "The name has no letters that an address could have: choose one here."),
        ({"name": "x" * 101}, "Ensure this value has at most 100 characters"),
        ({"visibility": "secret"}, "Select a valid choice."),
        ({"name": "a\0b"}, "Null characters are not allowed."),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_made(client, root, said, sentence):
    make_project("taken")
    answer = make(client, **said)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert Project.objects.count() == 1


def test_projects_are_made_by_those_who_may(client, settings):
    assert make(client)["Location"] == "/sign-in/?next=/"
    client.force_login(make_user())
    assert make(client).status_code == 403
    assert "New project" not in text_of(client.get("/"))
    assert not Project.objects.exists()
    settings.PROJECTS_MADE_BY = "everyone"
    assert "New project" in text_of(client.get("/"))
    assert make(client)["Location"] == "/p/nightly-runs/"
    assert client.get("/p/nightly-runs/settings/").status_code == 200
