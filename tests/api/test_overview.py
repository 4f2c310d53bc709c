"""The morning of a project."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
STEADY = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4


@pytest.fixture
def project():
    return make_project("amber", public=True)


def nights(project, values, **fields):
    start = timezone.now() - (len(values) - 1) * DAY - timedelta(hours=5)
    make_series(values, project=project, branch="main", start=start, **fields)


def ask(client, **query):
    answer = client.get("/api/v1/overview/", {"project": "amber", **query})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_morning_has_what_ran_what_is_new_and_a_row_for_each_thread_count(project, anonymous):
    nights(project, [*STEADY, *(value * 0.8 for value in STEADY[:6])], threads=4)
    nights(project, [10 * value for value in [*STEADY, *STEADY[:6]]], threads=64)
    analyse_touched()
    answer = ask(anonymous)
    assert {"night", "ran", "expected", "missing", "new", "open", "rows"} <= set(answer)
    assert ": 1 of 1 workload ran on box; 1 new: oltp_read_only −20." in answer["sentence"]
    assert (answer["ran"], answer["expected"], answer["missing"], answer["open"]) == (1, 1, [], [])
    [incident] = answer["new"]
    assert incident["id"] == Incident.objects.get().pk
    assert [(row["workload"], row["threads"], row["verdict"]) for row in answer["rows"]] == [
        ("oltp_read_only", 4, "same"),
        ("oltp_read_only", 64, "same"),
    ]
    assert [row["incident"] for row in answer["rows"]] == [incident["id"], None]
    assert answer["rows"][0]["of_level"] == pytest.approx(1, abs=0.01)


def test_what_happened_since_a_day_can_be_asked_for(project, anonymous):
    nights(project, STEADY)
    since = (timezone.now() - 14 * DAY).isoformat()
    assert ask(anonymous, since=since)["sentence"].startswith("Since ")
    assert anonymous.get("/api/v1/overview/", {"project": "amber", "since": "soon"}).status_code == 400


def test_an_empty_project_has_no_results_yet(project, anonymous):
    answer = ask(anonymous)
    assert (answer["sentence"], answer["rows"], answer["new"]) == ("No results yet.", [], [])


def test_any_number_of_series_takes_the_same_statements(project, anonymous, django_assert_max_num_queries):
    nights(project, [*STEADY, *(value * 0.8 for value in STEADY[:6])])
    analyse_touched()
    with django_assert_max_num_queries(16):
        ask(anonymous)
    for workload in ("a", "b", "c"):
        nights(project, [*STEADY, *(value * 0.8 for value in STEADY[:6])], workload=workload)
    nights(project, STEADY, workload="d", hardware="bench-03")
    analyse_touched()
    with django_assert_max_num_queries(16):
        ask(anonymous)
