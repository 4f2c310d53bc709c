"""Comparisons: selectors, and the table as the contract has it."""

import csv
import io
import json

import pytest

from benchdash.accounts.access import Viewer
from benchdash.results.corrections import rename
from benchdash.results.models import Hardware, ServerVersion, Workload
from benchdash.results.readings import LOWER, Reading
from tests.builders import in_sessions, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def compare(anonymous):
    def compare(**query):
        query = {
            name: json.dumps(value) if isinstance(value, dict) else value for name, value in query.items()
        }
        answer = anonymous.get("/api/v1/compare/", {"project": "amber", "metric": "tps", **query})
        assert answer.status_code == 200, answer.content
        return answer.json()

    return compare


@pytest.fixture
def refused(anonymous):
    def refused(**query):
        answer = anonymous.get("/api/v1/compare/", {"project": "amber", "metric": "tps", **query})
        assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
        [error] = answer.json()["errors"]
        return error

    return refused


def id_of(version):
    return ServerVersion.objects.get(version=version).pk


def test_a_version_is_compared_with_all_others_of_its_product(project, compare):
    make_series([[100, 100.8, 99.2], [100, 100.8, 99.2], [80, 81, 79]], project=project)
    table = compare(base=id_of("10.6.1"))
    assert list(table)[:4] == ["metric", "unit", "direction", "base"]
    assert list(table)[4:] == ["columns", "rows", "geomean", "geomean_rows", "margin", "groups"]
    assert (table["metric"], table["unit"], table["direction"]) == ("tps", "1/s", "higher")
    assert table["base"] == {
        "id": id_of("10.6.1"),
        "product": "MariaDB",
        "version": "10.6.1",
        "build": "",
        "commit": None,
        "branch": "",
        "hardware": "box",
        "configuration": "default",
        "counterpart": "",
    }
    assert [column["version"] for column in table["columns"]] == ["10.6.2", "10.6.3"]
    [row] = table["rows"]
    assert (row["workload"], row["threads"], row["group"]) == (
        "oltp_read_only",
        4,
        "range queries with aggregation",
    )
    assert (row["base"]["value"], row["base"]["n"]) == (100, 3)
    assert row["base"]["low"] < 100 < row["base"]["high"]
    same, worse = row["cells"]
    figures = ["value", "n", "sessions", "ratio", "low", "high", "p", "verdict", "more_runs", "basis"]
    assert list(worse) == figures
    assert (worse["more_runs"], worse["basis"]) == (None, "table")
    assert (same["ratio"], same["verdict"]) == (1, "same")
    assert (worse["value"], worse["ratio"], worse["verdict"]) == (80, 0.8, "worse")
    assert worse["low"] < 0.8 < worse["high"] < 1
    assert worse["p"] < 0.001
    assert table["geomean"] == [1, pytest.approx(0.8)]


def test_the_verdict_respects_the_direction(project, compare):
    slower = [Reading("latency_p95", value, "ms", LOWER) for value in (20.0, 20.1, 19.9)]
    faster = [Reading("latency_p95", value, "ms", LOWER) for value in (10.0, 10.1, 9.9)]
    for version, readings in (("10.6.1", slower), ("10.6.2", faster)):
        records = [make_record(version=version, readings=[one]) for one in readings]
        make_runs(in_sessions(records), project=project)
    [row] = compare(base=id_of("10.6.1"), metric="latency_p95")["rows"]
    assert (row["direction"], row["cells"][0]["ratio"], row["cells"][0]["verdict"]) == (
        "lower",
        0.5,
        "better",
    )


def test_an_unknown_verdict_says_how_many_runs_would_settle_it(project, compare):
    make_series([[100, 104, 96], [103, 107, 99]], project=project)
    [cell] = compare(base=id_of("10.6.1"))["rows"][0]["cells"]
    assert (cell["verdict"], cell["basis"]) == ("unknown", "sessions")
    assert 1 < cell["more_runs"] < 30


def test_what_does_not_matter_is_asked_for_or_set_for_the_project(project, compare, refused):
    make_series([[100, 100.1, 99.9], [103, 103.1, 102.9]], project=project)

    def found(**query):
        table = compare(base=id_of("10.6.1"), **query)
        return table["margin"], table["rows"][0]["cells"][0]["verdict"]

    assert found() == (0.02, "better")
    assert found(margin="0.05") == (0.05, "same")
    project.options = {"equivalence_margin": 0.04}
    project.save()
    assert found() == (0.04, "same")
    assert found(margin="0") == (0, "better")
    for margin in ("-0.1", "1.1", "nan", "2%"):
        assert refused(base=id_of("10.6.1"), margin=margin)["field"] == "margin"


def test_a_cell_that_nobody_measured_is_null(project, compare):
    make_run(100, project=project, version="10.6.1", threads=1)
    make_run(200, project=project, version="10.6.1", threads=4)
    make_run(90, project=project, version="10.6.2", threads=4)
    make_run(300, project=project, version="10.6.2", threads=16)
    first, second, third = compare(base=id_of("10.6.1"))["rows"]
    assert (first["threads"], first["base"]["value"], first["cells"]) == (1, 100, [None])
    assert (second["threads"], second["cells"][0]["ratio"], second["cells"][0]["n"]) == (4, 0.45, 1)
    assert (third["threads"], third["base"], third["cells"][0]["ratio"]) == (16, None, None)
    assert third["cells"][0]["verdict"] == "unknown"


def test_selectors_are_ids_or_objects_and_the_query_completes_them(project, compare):
    for hardware, value in (("box", 100), ("new box", 200)):
        for version in ("10.6.1", "10.6.2"):
            make_run(value, project=project, version=version, hardware=hardware)
    by_id = compare(base=id_of("10.6.1"), against=id_of("10.6.2"), hardware="new box")
    assert by_id["rows"][0]["base"]["value"] == 200
    objects = compare(
        base={"version": "10.6.1", "hardware": "box"}, against={"hardware": "new box"}, version="10.6.1"
    )
    assert objects["rows"][0]["cells"][0]["ratio"] == 2
    assert objects["columns"][0]["hardware"] == "new box"


def test_controls_are_compared_only_where_they_are_asked_for(project, compare):
    make_series([100, 90], project=project)
    make_run(project=project, version="10.6.3", build="control")
    assert [column["version"] for column in compare(base=id_of("10.6.1"))["columns"]] == ["10.6.2"]
    asked = compare(base=id_of("10.6.1"), against=id_of("10.6.3"))
    assert [column["build"] for column in asked["columns"]] == ["control"]


def test_base_and_cells_say_in_how_many_sessions_they_were_measured(project, compare):
    for version, sessions in (("10.6.1", "aab"), ("10.6.2", "ccc")):
        for number, session in enumerate(sessions):
            make_run(
                100.0 + number,
                project=project,
                version=version,
                tags=(f"session:{session}",),
                repetition=number,
            )
    [row] = compare(base=id_of("10.6.1"))["rows"]
    assert (row["base"]["n"], row["base"]["sessions"]) == (3, 2)
    assert [(cell["n"], cell["sessions"]) for cell in row["cells"]] == [(3, 1)]


def test_an_unknown_metric_is_answered_with_those_that_were_measured(project, refused):
    make_run(project=project, version="10.6.1", readings={"tps": 100.0, "latency_avg": 1.0})
    error = refused(base=id_of("10.6.1"), metric="zzz")
    assert error["field"] == "metric"
    assert error["message"] == (
        "nothing of these versions has the metric 'zzz'; measured are latency_avg, tps"
    )


def test_several_columns_keep_the_order_of_the_query(project, compare):
    make_series([100, 90, 80], project=project)
    table = compare(base=id_of("10.6.1"), against=[id_of("10.6.3"), id_of("10.6.2")])
    assert [column["version"] for column in table["columns"]] == ["10.6.3", "10.6.2"]
    assert [cell["ratio"] for cell in table["rows"][0]["cells"]] == [0.8, 0.9]


def test_rows_can_be_chosen(project, compare):
    for workload in ("reads", "writes", "mix"):
        for threads in (1, 4, None):
            make_run(project=project, workload=workload, threads=threads)
    base = id_of("10.6.23")

    def rows(**query):
        return [(row["workload"], row["threads"]) for row in compare(base=base, **query)["rows"]]

    assert len(rows()) == 9
    assert rows(workload="reads") == [("reads", None), ("reads", 1), ("reads", 4)]
    assert rows(workload=["reads", "mix"], threads=4) == [("mix", 4), ("reads", 4)]
    assert rows(workload="reads", threads=["null", "1"]) == [("reads", None), ("reads", 1)]


def test_an_ambiguous_selector_lists_what_it_could_mean(project, refused):
    for hardware in ("box", "new box"):
        make_run(project=project, version="10.6.1", hardware=hardware)
    error = refused(base=id_of("10.6.1"))
    assert error["field"] == "base"
    assert "2 columns" in error["message"]
    assert [candidate["hardware"] for candidate in error["candidates"]] == ["box", "new box"]
    against = refused(base='{"hardware": "box"}', against=id_of("10.6.1"))
    assert (against["field"], len(against["candidates"])) == ("against", 2)


def test_what_an_ambiguous_selector_could_mean_is_a_selector_itself(project, compare, refused):
    for hardware in ("box", "new box"):
        make_run(project=project, version="10.6.1", hardware=hardware)
    candidate = refused(base=id_of("10.6.1"))["candidates"][1]
    assert candidate["commit"] is None
    assert compare(base=candidate)["base"] == candidate


def test_old_names_and_packaged_versions_select_what_they_mean(project, compare):
    for version in ("10.6.1", "10.6.2"):
        make_run(project=project, version=version, hardware="bench-3", workload="reads")
    for thing, name in ((Hardware, "bench-03"), (Workload, "point reads")):
        rename(thing.objects.get(), name, by=Viewer())
    table = compare(
        base={"version": "10.6.1-MariaDB-log", "hardware": "bench-3"}, hardware="bench-03", workload="reads"
    )
    assert (table["base"]["version"], table["base"]["hardware"]) == ("10.6.1", "bench-03")
    assert [column["version"] for column in table["columns"]] == ["10.6.2"]
    assert [row["workload"] for row in table["rows"]] == ["point reads"]


def test_nothing_of_other_projects_is_compared_or_offered(project, refused):
    hidden = make_run(project=make_project("quartz"), version="9.9.9")
    make_run(project=project)
    error = refused(base=hidden.version_id)
    assert (error["field"], error["candidates"]) == ("base", [])
    assert refused(base='{"version": "9.9.9"}')["candidates"] == []


@pytest.mark.parametrize(
    "selector",
    [
        "{",
        "[]",
        '"10.6.1"',
        "10.6.1",
        "-1",
        "0",
        "9" * 30,
        "9" * 5000,
        '{"id": "x"}',
        '{"id": 1e400}',
        '{"colour": "red"}',
        '{"version": 3.5, "commit": "xyz"}',
        '{"version": "a\\u0000b"}',
        '{"version": "\\ud800"}',
        '{"version": {"a": 1}}',
        "[" * 100_000,
        '{"id": 999999}',
    ],
)
def test_a_selector_that_makes_no_sense_is_an_error_of_its_field(project, refused, selector):
    make_run(project=project)
    assert refused(base=selector)["field"] == "base"
    assert refused(base='{"product": "MariaDB"}', against=selector)["field"] == "against"


def test_what_is_missing_is_named(project, refused, anonymous):
    make_run(project=project)
    assert refused(base="")["field"] == "base"
    assert refused(base="1", metric="")["field"] == "metric"
    assert refused(base=id_of("10.6.23"), metric="nothing")["field"] == "metric"
    answer = anonymous.get("/api/v1/compare/?metric=tps&base=1")
    assert answer.json()["errors"] == [{"field": "project", "message": "this is required"}]


def test_a_token_need_not_name_its_project(make_world):
    world = make_world(public=False)
    answer = world.clients["read token"].get(
        "/api/v1/compare/",
        {"metric": "tps", "base": world.run.version_id, "workload": "quartz_reads", "hardware": "quartz-box"},
    )
    assert answer.json()["base"]["hardware"] == "quartz-box"


def test_csv_has_one_line_for_each_cell(project, anonymous):
    make_series([100, 80], project=project, workload="=HYPERLINK(1)")
    query = {"project": "amber", "metric": "tps", "base": id_of("10.6.1"), "format": "csv"}
    answer = anonymous.get("/api/v1/compare/", query)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    base, other = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (base["version"], base["value"], base["ratio"]) == ("10.6.1", "100.0", "")
    assert (other["version"], other["value"], other["ratio"], other["n"]) == ("10.6.2", "80.0", "0.8", "1")
    assert (other["metric"], other["unit"], other["commit"]) == ("tps", "1/s", "")
    assert (other["verdict"], other["more_runs"], other["basis"]) == ("unknown", "2", "none")
    # A spreadsheet would follow it.
    assert other["workload"] == "'=HYPERLINK(1)"


def test_more_versions_take_no_more_statements(project, anonymous, django_assert_max_num_queries):
    make_series(range(100, 120), project=project)
    query = {"project": "amber", "metric": "tps", "base": id_of("10.6.1")}
    with django_assert_max_num_queries(12):
        assert len(anonymous.get("/api/v1/compare/", query).json()["columns"]) == 19


def test_groups_have_their_means(project, compare):
    for workload, values in (("hot-points", [100, 50]), ("point-query", [100, 200]), ("SELECT 1", [10, 9])):
        make_series(values, project=project, workload=workload)
    assert compare(base=id_of("10.6.1"))["groups"] == [
        {
            "group": "point queries",
            "rows": 2,
            "geomean": [pytest.approx(1.0)],
            "geomean_rows": [2],
            "lowest": [0.5],
            "highest": [2.0],
        },
        {
            "group": None,
            "rows": 1,
            "geomean": [pytest.approx(0.9)],
            "geomean_rows": [1],
            "lowest": [0.9],
            "highest": [0.9],
        },
    ]


def test_each_column_can_be_held_against_the_one_before(project, compare, refused):
    make_series([100, 50, 75], project=project)
    table = compare(base=id_of("10.6.1"), relative_to="previous")
    assert [cell["ratio"] for cell in table["rows"][0]["cells"]] == [0.5, 1.5]
    assert compare(base=id_of("10.6.1"), relative_to="base")["rows"][0]["cells"][1]["ratio"] == 0.75
    error = refused(base=id_of("10.6.1"), relative_to="next")
    assert (error["field"], error["message"]) == ("relative_to", "'next' is none of base, previous")
