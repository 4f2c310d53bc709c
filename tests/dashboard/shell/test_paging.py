"""Pages of long lists."""

import pytest

from benchdash.dashboard.shell import paging
from benchdash.dashboard.shell.paging import LongList, total
from benchdash.results.models import Workload
from tests.builders import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def ten(monkeypatch):
    """A list of ten, of which six are counted."""
    monkeypatch.setattr(paging, "MAX_COUNTED", 6)
    project = make_project()
    Workload.objects.bulk_create(Workload(project=project, name=f"w{number}") for number in range(10))
    return Workload.objects.filter(project=project).order_by("name")


def test_no_more_is_counted_than_a_page_needs(ten, django_assert_num_queries):
    pages = LongList(ten, 2, None)
    with django_assert_num_queries(1) as asked:
        assert total(pages, "run") == "more than 6 runs"
    assert "LIMIT 7" in asked.captured_queries[0]["sql"]


def test_every_page_is_reached_from_the_one_before(ten):
    page = LongList(ten, 2, None).page_asked_for()
    names = [one.name for one in page]
    while page.has_next():
        page = LongList(ten, 2, str(page.next_page_number())).page_asked_for()
        names += [one.name for one in page]
    assert names == [f"w{number}" for number in range(10)]


def test_a_short_list_says_how_long_it_is(ten):
    assert total(LongList(ten.filter(name__lt="w6"), 2, None), "run") == "6 runs"


@pytest.mark.parametrize(
    ("asked", "number"), [("5", 5), ("99", 5), ("0", 4), ("x", 1), ("", 1), (None, 1), ("9" * 30, 4)]
)
def test_any_page_can_be_asked_for(ten, asked, number):
    assert LongList(ten, 2, asked).page_asked_for().number == number
