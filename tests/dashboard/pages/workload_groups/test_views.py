"""The page of the groups of workloads."""

import pytest

from benchdash.results.workload_groups import AUTOMATIC, PatternGroup, grouping_of
from tests.builders import make_project, make_record, make_runs, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

URL = "/p/bench/workloads/groups/"


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    make_runs([make_record(workload=name) for name in ("hot-points", "scan", "SELECT 1")], project=project)
    return project


@pytest.fixture
def alice(client, project):
    alice = make_user(member_of=project)
    client.force_login(alice)
    return alice


def send(client, *groups, do="save", **fields):
    """``groups`` are (order, name, patterns)."""
    orders, names, patterns = zip(*groups, strict=True) if groups else ((), (), ())
    said = {"order": orders, "name": names, "patterns": patterns, "do": do, **fields}
    return client.post(URL, said, follow=True)


def test_everybody_sees_what_the_groups_hold_and_only_members_change_them(client, project):
    text = text_of(client.get(URL))
    assert "Point queries hot-points *point*" in text
    assert "No group SELECT 1" in text
    assert "found by well-known names" in text
    assert "Save the groups" not in text
    assert client.post(URL, {"do": "save"}).status_code == 302
    client.force_login(make_user("reader", member_of=project, role="reader"))
    assert client.post(URL, {"do": "save"}).status_code == 403


def test_a_preview_shows_what_groups_would_hold_and_saves_nothing(client, project, alice):
    text = text_of(send(client, ("1", "Statements", "select *\nDO *"), do="preview"))
    assert "Nothing is saved yet" in text
    assert "Statements SELECT 1 select *, DO *" in text
    assert "No group hot-points, scan" in text
    assert grouping_of(project) == AUTOMATIC


def test_groups_are_saved_in_the_order_of_their_numbers(client, project, alice):
    answer = send(client, ("2", "b", "scan"), ("1", "a", "hot*\r\n\r\n*point*"), ("3", "", ""), reason="why")
    assert "The groups are saved." in text_of(answer)
    assert grouping_of(project).groups == (
        PatternGroup("a", ("hot*", "*point*")),
        PatternGroup("b", ("scan",)),
    )
    assert project.audit_entries.get().reason == "why"
    # The matrix has them, and so has the API.
    assert b"hot-points" in client.get("/p/bench/compare/matrix/").content


def test_they_can_be_automatic_again(client, project, alice):
    send(client, ("1", "a", "*"))
    assert "Back to automatic groups" in text_of(client.get(URL))
    send(client, ("1", "a", "*"), do="automatic")
    assert grouping_of(project) == AUTOMATIC
    assert "Back to automatic groups" not in text_of(client.get(URL))


@pytest.mark.parametrize("do", ["save", "preview"])
def test_groups_that_cannot_be_are_refused_and_the_form_keeps_what_was_typed(client, project, alice, do):
    answer = send(client, ("1", "a", "*"), ("2", "a", "scan"), do=do)
    assert answer.status_code == 422
    assert "Two groups are called 'a'." in text_of(answer)
    assert 'value="a"' in answer.content.decode()
    assert "needs a pattern" in text_of(send(client, ("1", "a", ""), do=do))


@pytest.mark.parametrize("order", ["", "x", "-1", "9" * 5000, "\0"])
def test_nonsense_is_no_error(client, project, alice, order):
    answer = send(client, (order, "a\0b", "*\0" + "*?" * 100))
    assert answer.status_code == 200
    assert grouping_of(project).names == ["ab"]


def test_names_are_text_and_no_markup(client, project, alice):
    page = send(client, ("1", "<b>a</b>", "<i>*")).content.decode()
    assert "<b>a</b>" not in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page


def test_any_number_of_workloads_takes_the_same_statements(client, project, django_assert_num_queries):
    with django_assert_num_queries(3):
        client.get(URL)
    make_runs([make_record(workload=f"scan {number}") for number in range(100)], project=project)
    with django_assert_num_queries(3):
        assert "and 41 more" in text_of(client.get(URL))
