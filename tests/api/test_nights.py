"""The groups of a branch against its baseline."""

import csv
import io
import json
from datetime import date, timedelta

import pytest

from benchdash.accounts.access import Viewer
from benchdash.regressions.comparison.branch_table import place_of
from benchdash.regressions.comparison.columns import Selector, columns_of
from benchdash.results.baselines import Target, set_baseline
from benchdash.results.models import ServerVersion
from tests.builders import START, make_project, make_record, make_runs, make_series, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def ask(anonymous):
    def ask(status=200, **query):
        asked = {"project": "amber", "branch": "main", "metric": "tps", **query}
        answer = anonymous.get("/api/v1/nights/", asked)
        assert answer.status_code == status, answer.content
        return answer

    return ask


def nights(project, values, **fields):
    fields = {"version": "unknown", "branch": "main", **fields}
    records = [
        make_record(value, started_at=START + timedelta(days=day), **fields)
        for day, value in enumerate(values)
    ]
    return make_runs(records, project=project)


def ratios(answer):
    [row] = answer["rows"]
    return [round(cell["ratio"], 3) for cell in row["cells"]]


def test_without_anything_else_the_nights_stand_against_the_oldest(project, ask):
    nights(project, [100.0, 110.0, 90.0])
    answer = ask().json()
    assert (answer["metric"], answer["unit"], answer["direction"]) == ("tps", "1/s", "higher")
    assert ratios(answer) == [1.1, 0.9]
    assert answer["base_time"].startswith("2026-03-02T")
    assert [time[:10] for time in answer["times"]] == ["2026-03-03", "2026-03-04"]
    assert (answer["earlier"], answer["later"]) == (None, None)
    assert answer["rows"][0]["base"]["value"] == 100
    assert answer["groups"][0]["group"] == answer["rows"][0]["group"]


def test_the_newest_release_at_the_same_place_is_the_baseline_before_that(project, ask):
    nights(project, [100.0, 110.0])
    make_runs([make_record(50.0, version="10.6.1"), make_record(200.0, version="10.6.2")], project=project)
    answer = ask().json()
    assert (answer["base"]["version"], answer["base_time"]) == ("10.6.2", None)
    assert ratios(answer) == [0.5, 0.55]
    assert ratios(ask(base="oldest").json()) == [1.1]
    assert ratios(ask(base='{"version": "10.6.1"}').json()) == [2, 2.2]
    assert ratios(ask(relative_to="previous").json()) == [1.1]


def test_what_members_set_is_the_baseline_before_all(project, ask):
    nights(project, [100.0, 200.0, 50.0])
    make_runs([make_record(50.0, version="10.6.1")], project=project)
    [branch, *_] = columns_of(project, Selector(branch="main"))
    version = ServerVersion.objects.get(pk=branch.version.pk)
    target = Target(version, branch_group=True, day=date(2026, 3, 3))
    alice = Viewer(user=make_user(member_of=project))
    set_baseline(place_of(branch), target, by=alice, reason="new disk")
    answer = ask().json()
    assert answer["rows"][0]["base"]["value"] == 200
    assert ratios(answer) == [0.5, 0.25]


def test_a_commit_can_be_the_baseline_and_a_night_without_one_cannot(project, ask):
    make_series([100.0, 80.0, 60.0], project=project, branch="main")
    commit = "2".rjust(40, "0")
    assert ratios(ask(base=json.dumps({"commit": commit, "branch": "main"})).json()) == [1.25, 0.75]
    nights(project, [100.0, 50.0], branch="other")
    answer = ask(400, branch="other", base='{"version": "unknown", "branch": "other", "commit": ""}')
    assert answer.json()["errors"][0]["field"] == "base"


def test_the_history_is_read_page_by_page(project, ask):
    nights(project, [100.0, 101.0, 102.0, 103.0, 104.0])
    newest = ask(last=2, base="oldest").json()
    assert newest["later"] is None
    before = ask(last=2, base="oldest", until=newest["earlier"]).json()
    assert (before["base_time"][:10], before["times"][0][:10]) == ("2026-03-03", "2026-03-04")
    assert ask(last=2, base="oldest", until="2026-03-04").json()["times"] == before["times"]
    first = ask(last=2, base="oldest", until=before["earlier"]).json()
    assert (first["base_time"][:10], first["times"], first["earlier"]) == ("2026-03-02", [], None)
    assert ask(last=2, base="oldest", until=first["later"]).json()["times"] == before["times"]
    assert ask(400, until="2020-01-01").json()["errors"][0]["field"] == "metric"


def test_a_branch_in_several_places_is_an_error_that_lists_them(project, ask):
    nights(project, [100.0, 110.0])
    nights(project, [10.0, 20.0], hardware="other")
    [error] = ask(400).json()["errors"]
    assert (error["field"], [one["hardware"] for one in error["candidates"]]) == ("branch", ["box", "other"])
    assert ratios(ask(hardware="other").json()) == [2]
    assert ask(400, branch="nothing").json()["errors"][0]["field"] == "branch"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"last": "0"}, "last"),
        ({"last": "101"}, "last"),
        ({"until": "soon"}, "until"),
        ({"relative_to": "next"}, "relative_to"),
        ({"metric": ""}, "metric"),
        ({"metric": "score"}, "metric"),
        ({"base": "[1]"}, "base"),
        ({"base": "999"}, "base"),
    ],
)
def test_what_is_asked_wrongly_is_named(project, ask, query, field):
    nights(project, [100.0, 110.0])
    assert ask(400, **query).json()["errors"][0]["field"] == field


def test_the_table_has_a_line_for_each_night_and_row(project, ask):
    nights(project, [100.0, 110.0])
    lines = list(csv.DictReader(io.StringIO(ask(format="csv").content.decode())))
    assert [(line["time"][:10], line["branch"], line["value"], line["ratio"]) for line in lines] == [
        ("2026-03-02", "main", "100.0", ""),
        ("2026-03-03", "main", "110.0", "1.1"),
    ]


def test_more_nights_and_workloads_take_no_more_statements(project, ask, django_assert_num_queries):
    nights(project, [100.0, 110.0])
    with django_assert_num_queries(STATEMENTS):
        ask()
    for workload in ("a", "b", "c"):
        nights(project, [100.0] * 12, workload=workload)
    with django_assert_num_queries(STATEMENTS):
        ask()


STATEMENTS = 14
