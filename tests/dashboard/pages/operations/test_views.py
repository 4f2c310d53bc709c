"""The page of who runs the installation."""

import pytest

from benchdash.accounts.models import AuditEntry
from benchdash.regressions.models import FailingPlace, PlaceOrder
from benchdash.regressions.services import analyse_touched, recompute
from tests.builders import make_project, make_series, make_user

pytestmark = pytest.mark.django_db

PAGE = "/operations/"


@pytest.fixture
def failing(settings):
    """Two places that were set aside: a branch, and a line of releases."""
    settings.PLACE_MAX_TRIES = 1
    project = make_project("nightly", name="Nightly")
    make_series([100, 101], project=project, branch="main", hardware="box")
    make_series([100, 101], project=project, hardware="box", build="debug")
    analyse_touched()
    PlaceOrder.objects.update(groups="no JSON")
    list(recompute())
    return FailingPlace.objects.all()


@pytest.fixture
def operator(client):
    client.force_login(make_user("root", is_superuser=True))
    return client


def test_each_failing_place_stands_there_with_its_reason(operator, failing, django_assert_num_queries):
    with django_assert_num_queries(4):
        page = operator.get(PAGE).content.decode()
    assert "MariaDB on box, branch main" in page
    assert "MariaDB debug on box, releases of 10.6" in page
    assert "json.decoder.JSONDecodeError: Expecting value" in page
    assert "Traceback (most recent call last):" in page
    assert page.count("set aside") == 3  # once in the text above


def test_where_nothing_fails_the_page_says_so(operator):
    assert "Every place can be analysed" in operator.get(PAGE).content.decode()


def test_an_operator_may_try_a_place_again(operator, failing):
    PlaceOrder.objects.update(groups="[]")
    some = failing.first()
    answer = operator.post(f"{PAGE}places/{some.pk}/try-again/", follow=True)
    assert "will be looked at within seconds" in answer.content.decode()
    analyse_touched()
    assert not FailingPlace.objects.filter(pk=some.pk).exists()
    assert AuditEntry.objects.get(action="analysis tried again").user.is_superuser
    assert operator.post(f"{PAGE}places/{some.pk}/try-again/").status_code == 404


def test_the_account_menu_leads_to_it(operator):
    assert f'href="{PAGE}"' in operator.get("/").content.decode()


def test_it_exists_for_superusers_only(client, failing):
    address = f"{PAGE}places/{failing.first().pk}/try-again/"
    assert client.get(PAGE)["Location"] == f"/sign-in/?next={PAGE}"
    assert client.post(address)["Location"] == f"/sign-in/?next={PAGE}"
    client.force_login(make_user("alice", is_staff=True))
    assert client.get(PAGE).status_code == 404
    assert client.post(address).status_code == 404
    assert PAGE not in client.get("/").content.decode()
    assert failing.filter(set_aside_at=None).count() == 0
