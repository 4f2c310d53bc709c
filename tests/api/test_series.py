"""The points of a series."""

import csv
import io

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.corrections import exclude_run
from benchdash.results.models import Run
from benchdash.results.readings import HIGHER, Reading
from tests.api.conftest import make_incident
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


def points(client, series, **query):
    answer = client.get(f"/api/v1/series/{series.pk}/points/", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def values(answer):
    return [row[3] for row in answer["rows"]]


def test_a_row_is_a_group_with_its_median_and_its_latest_run(project, anonymous):
    series = make_series([100, [100, 104, 102]], project=project)
    runs = list(Run.objects.order_by("started_at", "pk").values_list("pk", flat=True))
    answer = points(anonymous, series)
    assert list(answer) == ["series", "columns", "rows", "change_points", "drift"]
    assert answer["series"]["id"] == series.pk
    assert answer["columns"] == ["version", "commit", "time", "value", "low", "high", "n", "run"]
    start = START.timestamp()
    assert answer["rows"][0] == ["10.6.1", None, start, 100, None, None, 1, runs[0]]
    version, commit, time, value, low, high, n, run = answer["rows"][1]
    assert (version, commit, time, value, n, run) == ("10.6.2", None, start + 86400, 102, 3, runs[3])
    assert low < 102 < high


def test_the_interval_of_a_single_run_is_the_tools_own(project, anonymous):
    score = Reading("score", 50.0, "ops/s", HIGHER, low=48.0, high=52.0)
    run = make_run(project=project, readings=[score])
    assert points(anonymous, run.measurements.get().series)["rows"][0][3:7] == [50, 48, 52, 1]


def test_a_branch_is_in_the_order_of_its_commits(project, anonymous):
    series = make_series([1, 2, 3], project=project, branch="main")
    rows = points(anonymous, series)["rows"]
    assert [row[1] for row in rows] == [f"{number:040x}" for number in (1, 2, 3)]


def test_a_derived_series_says_so_and_is_no_reading_of_a_run(project, anonymous):
    runs = make_runs([make_record(100.0 * n, threads=n) for n in (1, 2, 4, 8)], project=project)
    analyse_touched()
    query = {"project": "amber", "metric": "curve_peak_threads"}
    [series] = anonymous.get("/api/v1/series/", query).json()["results"]
    assert (series["is_derived"], series["threads"], series["unit"]) == (True, None, "threads")
    [row] = anonymous.get(f"/api/v1/series/{series['id']}/points/").json()["rows"]
    assert (row[3], row[7]) == (8, runs[3].pk)
    run = anonymous.get(f"/api/v1/runs/{runs[3].pk}/").json()
    assert [one["metric"] for one in run["readings"]] == ["tps"]
    printed = anonymous.get("/api/v1/series/", {"project": "amber", "metric": "tps"}).json()["results"]
    assert {one["is_derived"] for one in printed} == {False}


def test_an_excluded_run_is_in_no_point(project, anonymous):
    series = make_series([100, [100, 200]], project=project)
    exclude_run(Run.objects.latest("started_at"), by=NOBODY, reason="the machine was busy")
    assert values(points(anonymous, series)) == [100, 100]


def test_a_change_point_says_at_which_row_the_new_level_begins(project, anonymous):
    series = make_series([100, 101, 80, 81], project=project)
    incident = make_incident(series, Run.objects.get(version__version="10.6.3"))
    assert points(anonymous, series)["change_points"] == [
        {
            "index": 2,
            "state": "confirmed",
            "before": 100.5,
            "after": 80,
            "change": pytest.approx(-0.204, abs=0.001),
            "confidence": 0.99,
            "incident": incident.pk,
        }
    ]


def test_withdrawn_change_points_and_those_of_excluded_runs_are_not_there(project, anonymous):
    series = make_series([100, 101, 80, 81], project=project)
    run = Run.objects.get(version__version="10.6.3")
    make_incident(series, run)
    exclude_run(run, by=NOBODY, reason="the machine was busy")
    assert points(anonymous, series)["change_points"] == []
    ChangePoint.objects.update(state="withdrawn", run=Run.objects.get(version__version="10.6.4"))
    assert points(anonymous, series)["change_points"] == []


def test_since_leaves_out_what_began_before(project, anonymous):
    series = make_series([100, 101, 80, 81], project=project)
    make_incident(series, Run.objects.get(version__version="10.6.3"))
    day = points(anonymous, series, since="2026-03-03")
    assert (values(day), day["change_points"][0]["index"]) == ([101, 80, 81], 1)
    assert values(points(anonymous, series, since="2026-03-03T04:00:00Z")) == [101, 80, 81]
    assert values(points(anonymous, series, since="2026-03-03T06:00:00+02:00")) == [101, 80, 81]
    assert values(points(anonymous, series, since="2026-03-03T04:00:01")) == [80, 81]
    last = points(anonymous, series, since="2026-03-05")
    assert (values(last), last["change_points"]) == ([81], [])


def test_fewer_points_keep_the_sides_of_a_change_and_its_place(project, anonymous):
    series = make_series([100, 101, 99, 130, 100, 101, 80, 81, 79, 60, 80, 81, 80], project=project)
    make_incident(series, Run.objects.get(version__version="10.6.7"))
    answer = points(anonymous, series, max_points=6)
    assert len(answer["rows"]) <= 6
    [change_point] = answer["change_points"]
    at = change_point["index"]
    assert values(answer)[at - 1 : at + 1] == [101, 80]
    assert {100, 130, 60} <= set(values(answer))


def test_csv_holds_the_same_rows(project, anonymous):
    series = make_series([100, [100, 104, 102]], project=project)
    expected = points(anonymous, series)
    answer = anonymous.get(f"/api/v1/series/{series.pk}/points/?format=csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="series-{series.pk}.csv"'
    columns, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert columns == expected["columns"]
    assert rows == [["" if cell is None else str(cell) for cell in row] for row in expected["rows"]]


def test_only_the_columns_that_are_asked_for(project, anonymous):
    series = make_series([100, [100, 104, 102]], project=project)
    answer = points(anonymous, series, columns="value,time")
    start = START.timestamp()
    assert (answer["columns"], answer["rows"]) == (["time", "value"], [[start, 100], [start + 86400, 102]])
    assert points(anonymous, series, columns="value", max_points=2)["rows"] == [[100], [102]]
    refused = anonymous.get(f"/api/v1/series/{series.pk}/points/?columns=value,secret")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "columns")


def test_an_answer_that_did_not_change_is_not_sent_again(project, anonymous):
    series = make_series([100, 101], project=project)
    address = f"/api/v1/series/{series.pk}/points/"
    tag = anonymous.get(address).headers["ETag"]
    again = anonymous.get(address, HTTP_IF_NONE_MATCH=tag)
    assert (again.status_code, again.content) == (304, b"")
    make_run(102, project=project, version="10.6.3")
    assert anonymous.get(address, HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_only_the_one_who_asked_may_keep_an_answer_and_asks_whether_it_still_holds(project, anonymous):
    series = make_series([100], project=project)
    headers = anonymous.get(f"/api/v1/series/{series.pk}/points/").headers
    assert set(headers["Cache-Control"].split(", ")) == {"private", "no-cache"}
    assert {"Authorization", "Cookie"} <= set(headers["Vary"].split(", "))


def test_a_long_series_takes_no_more_statements(project, anonymous, django_assert_max_num_queries):
    series = make_series(range(100, 160), project=project)
    with django_assert_max_num_queries(6):
        assert len(points(anonymous, series)["rows"]) == 60


def test_the_steps_of_a_series_between_two_levels_are_taken_back(project, anonymous):
    levels = ([1.0] * 6 + [0.9] * 6) * 4
    first = 31 - len(levels)
    record_nights(project, [1.0] * len(levels), first=first, workloads=("a", "b"))
    record_nights(project, levels[:30], first=first, workloads=("w",))
    analyse_touched()
    told = Incident.objects.filter(status="confirmed")
    assert told.exists()
    record_nights(project, levels[30:], first=first + 30, workloads=("w",))
    analyse_touched()
    assert not told.exists()
