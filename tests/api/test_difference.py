"""Two versions or two runs against each other: all metrics, and all that differs."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.results.models import ServerVersion
from tests.builders import in_sessions, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

URL = "/api/v1/difference/"


@pytest.fixture
def project():
    return make_project("amber", public=True)


def measure(project, version, tps, **fields):
    records = [
        make_record(
            readings={"tps": tps * factor, "cs_per_op": 1000 * factor / tps},
            version=version,
            repetition=repetition,
            **fields,
        )
        for repetition, factor in enumerate((0.999, 1.0, 1.001))
    ]
    return make_runs(in_sessions(records), project=project)


@pytest.fixture
def measured(project):
    known = {"configuration_text": "x", "environment": {"kernel": "6.1"}}
    measure(project, "10.6.1", 100, settings={"a": "1"}, options={"command": "sysbench --time=60"}, **known)
    measure(project, "10.6.2", 80, settings={"a": "2"}, options={"command": "sysbench --time=30"}, **known)
    return project


def id_of(version):
    return ServerVersion.objects.get(version=version).pk


@pytest.fixture
def ask(anonymous):
    def ask(**query):
        return anonymous.get(URL, {"project": "amber", **query})

    return ask


def test_two_versions_are_compared_by_all_metrics_and_by_what_differs(measured, ask):
    found = ask(base=id_of("10.6.1"), against=id_of("10.6.2")).json()
    assert list(found) == ["summary", "base", "against", "warnings", "metrics", "differences", "page"]
    assert found["summary"].startswith("10.6.2 is 20 % slower than 10.6.1")
    assert found["summary"].endswith("makes 25 % more context switches per operation.")
    assert (found["base"]["name"], found["base"]["runs"], found["base"]["run"]) == ("10.6.1", 3, None)
    assert [one["metric"] for one in found["metrics"]] == ["cs_per_op", "tps"]
    tps = found["metrics"][1]
    assert (tps["unit"], tps["direction"], tps["geomean"]) == ("1/s", "higher", pytest.approx(0.8))
    [row] = tps["rows"]
    assert (row["base"]["value"], row["cells"][0]["verdict"]) == (100.0, "worse")
    assert found["differences"] == {
        "settings": [{"name": "a", "before": "1", "after": "2"}],
        "environment": [],
        "hardware": None,
        "options": [
            {
                "name": "--time",
                "before": "60",
                "after": "30",
                "rows": [{"workload": "oltp_read_only", "threads": 4}],
            }
        ],
    }
    assert [one["text"] for one in found["warnings"]] == ["Different durations: duration: 60 s → 30 s."]


def test_two_runs_are_compared(measured, ask, project):
    first, *_ = measure(project, "10.6.3", 50)
    second, *_ = measure(project, "10.6.4", 100)
    found = ask(run=[first.pk, second.pk]).json()
    assert (found["base"]["run"], found["against"]["run"]) == (first.pk, second.pk)
    assert found["metrics"][1]["rows"][0]["cells"][0]["ratio"] == pytest.approx(2.0)


def test_selectors_are_those_of_a_comparison(measured, ask):
    base = json.dumps({"version": "10.6.1"})
    assert ask(base=base, against=json.dumps({"version": "10.6.2"}), hardware="box").status_code == 200
    answer = ask(base=json.dumps({"product": "MariaDB"}), against=id_of("10.6.2"))
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert (error["field"], len(error["candidates"])) == ("base", 2)


def test_as_csv_every_metric_of_every_row_is_a_line(measured, ask):
    answer = ask(base=id_of("10.6.1"), against=id_of("10.6.2"), format="csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["metric"], row["base_value"], row["value"], row["verdict"]) for row in rows] == [
        ("cs_per_op", "10.0", "12.5", "worse"),
        ("tps", "100.0", "80.0", "worse"),
    ]


def test_as_markdown_it_can_be_pasted_into_a_ticket(measured, ask):
    answer = ask(base=id_of("10.6.1"), against=id_of("10.6.2"), format="md")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.content.decode()
    assert text.startswith("**10.6.2 is 20 % slower than 10.6.1 (oltp\\_read\\_only, 4 threads,")
    assert "- Different durations: duration: 60 s → 30 s." in text
    assert "| oltp\\_read\\_only | 4 | transactions per second | 100.0 | 80.00 | −20.0 % |" in text
    assert "| Settings | 10.6.1 | 10.6.2 |\n| --- | --- | --- |\n| a | 1 | 2 |" in text
    assert "/p/amber/compare/pair/?base=" in text


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ({}, "base", "this is required"),
        ({"run": "5"}, "run", "two different runs are wanted"),
        ({"run": ["5", "5"]}, "run", "two different runs are wanted"),
        ({"run": ["5", "many"]}, "run", "'many' is not a whole number from 0 to 9223372036854775807"),
        ({"run": ["999999", "999998"]}, "run", "there is no run 999999 in this project"),
        ({"format": "xml"}, "format", "'xml' is none of json, csv, md"),
    ],
)
def test_what_cannot_be_compared_is_refused(measured, ask, query, field, message):
    answer = ask(**query)
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["errors"] == [{"field": field, "message": message}]


def test_runs_of_another_project_do_not_exist(measured, ask):
    mine, *_ = measure(measured, "10.6.3", 50)
    other, *_ = measure(make_project(public=True), "10.6.3", 50)
    assert ask(run=[mine.pk, other.pk]).status_code == 400


def test_statements_do_not_grow_with_rows(measured, ask, project):
    query = {"base": id_of("10.6.1"), "against": id_of("10.6.2")}
    with CaptureQueriesContext(connection) as few:
        ask(**query)
    for version, tps in (("10.6.1", 100), ("10.6.2", 80)):
        for number in range(10):
            measure(project, version, tps, workload=f"w{number}", settings={"a": "1"}, configuration_text="x")
    with CaptureQueriesContext(connection) as many:
        ask(**query)
    assert len(few) == len(many)
