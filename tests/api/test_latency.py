"""Distributions of response times: buckets and percentiles, version by version."""

import csv
import io
import json

import pytest

from benchdash.regressions.comparison import latency
from benchdash.results.records import SampleTable
from tests.builders import make_project, make_record, make_run, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def ask(anonymous):
    def ask(status=200, **query):
        query = {
            name: json.dumps(value) if isinstance(value, dict) else value for name, value in query.items()
        }
        asked = {"project": "amber", "workload": "oltp_read_only", "base": '{"version": "10.6.1"}', **query}
        answer = anonymous.get("/api/v1/latency/", asked)
        assert answer.status_code == status, answer.content
        return answer

    return ask


def measure(project, version, *rows, runs=1, **fields):
    table = SampleTable("histogram", ("from_ms", "to_ms", "count"), rows)
    make_runs([make_record(version=version, samples=(table,), **fields)] * runs, project=project)


def test_buckets_of_repeats_are_summed_and_percentiles_have_their_bounds(project, ask):
    measure(project, "10.6.1", (1.0, 2.0, 90.0), (2.0, 4.0, 10.0), runs=3)
    measure(project, "10.6.2", (1.0, 2.0, 10.0), (2.0, None, 90.0))
    answer = ask().json()
    assert list(answer) == ["base", "columns", "margin", "warnings", "rows"]
    assert (answer["margin"], answer["warnings"]) == (0.02, [])
    assert answer["base"]["version"] == "10.6.1"
    assert [column["version"] for column in answer["columns"]] == ["10.6.2"]
    [row] = answer["rows"]
    assert (row["workload"], row["threads"], row["operation"], row["unit"]) == (
        "oltp_read_only",
        4,
        "",
        "ms",
    )
    base, [other] = row["base"], row["cells"]
    assert (base["operations"], base["runs"], base["measured"], base["sessions"]) == (300, 3, 3, 1)
    assert base["buckets"] == {"columns": ["from_ms", "to_ms", "count"], "rows": [[1, 2, 270], [2, 4, 30]]}
    assert base["percentiles"][0] == {
        "percentile": 50,
        "low": 1,
        "high": 2,
        "ratio": None,
        "ratio_low": None,
        "ratio_high": None,
        "p": None,
        "verdict": "unknown",
    }
    assert [one["percentile"] for one in base["percentiles"]] == [50, 90, 95, 99, 99.9, 100]
    assert [one["high"] for one in base["percentiles"]] == [2, 2, 4, 4, None, 4]
    assert (other["percentiles"][0]["low"], other["percentiles"][0]["high"]) == (2, None)
    assert other["percentiles"][0]["ratio"] == 2
    assert other["buckets"]["rows"][-1] == [2, None, 90]


def test_the_table_is_a_line_for_each_percentile(project, ask):
    measure(project, "10.6.1", (1.0, 2.0, 9.0))
    measure(project, "10.6.2", (2.0, 4.0, 9.0))
    answer = ask(format="csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(line["version"], line["percentile"], line["low"], line["high"]) for line in lines] == [
        ("10.6.1", "50.0", "1.0", "2.0"),
        *(("10.6.1", share, "", "") for share in ("90.0", "95.0", "99.0", "99.9")),
        ("10.6.1", "100.0", "1.0", "2.0"),
        ("10.6.2", "50.0", "2.0", "4.0"),
        *(("10.6.2", share, "", "") for share in ("90.0", "95.0", "99.0", "99.9")),
        ("10.6.2", "100.0", "2.0", "4.0"),
    ]
    assert lines[6]["ratio"] == "2.0"


def test_thread_counts_are_rows_and_can_be_chosen(project, ask):
    for threads in (1, 64, None):
        measure(project, "10.6.1", (1.0, 2.0, 9.0), threads=threads)
    assert [row["threads"] for row in ask().json()["rows"]] == [None, 1, 64]
    assert [row["threads"] for row in ask(threads=["64", "null"]).json()["rows"]] == [None, 64]


def test_what_cannot_be_answered_is_refused_with_a_reason(project, ask, monkeypatch):
    measure(project, "10.6.1", (1.0, 2.0, 9.0))
    measure(project, "10.6.2", (1.0, 2.0, 9.0))
    make_run(project=project, version="10.6.3")

    def reason(**query):
        [error] = ask(400, **query).json()["errors"]
        return error["field"], error["message"]

    assert reason(workload="") == ("workload", "this is required")
    assert reason(base="x")[0] == "base"
    assert reason(base={"version": "10.6.3"})[1].startswith("no run fits")
    assert reason(threads="many")[0] == "threads"
    monkeypatch.setattr(latency, "MAX_CELLS", 1)
    assert reason()[1].startswith("these are 2 distributions")


def test_what_nobody_may_see_does_not_exist(anonymous):
    measure(make_project("private"), "10.6.1", (1.0, 2.0, 9.0))
    query = {"project": "private", "workload": "oltp_read_only", "base": '{"version": "10.6.1"}'}
    assert anonymous.get("/api/v1/latency/", query).status_code == 404


def test_a_very_fine_histogram_is_told_with_a_thousand_buckets(project, ask):
    rows = [(1 + n / 1000, 1 + (n + 1) / 1000, 1.0) for n in range(1800)]
    measure(project, "10.6.1", *rows)
    base = ask().json()["rows"][0]["base"]
    assert base["operations"] == 1800
    assert len(base["buckets"]["rows"]) <= 1000
    assert sum(count for *_, count in base["buckets"]["rows"]) == 1800
