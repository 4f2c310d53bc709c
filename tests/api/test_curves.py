"""Scaling curves in figures."""

import csv
import io
import json

import pytest

from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

BASE = json.dumps({"version": "10.6.1"})
# Gunther's law with 1000 tps of one client, 5 % contention and 1 % coherency.
LAW = {n: 1000.0 * n / (1 + 0.05 * (n - 1) + 0.01 * n * (n - 1)) for n in (1, 2, 4, 8, 16, 32)}


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def curves(anonymous):
    def curves(**query):
        query = {"project": "amber", "metric": "tps", "base": BASE, **query}
        answer = anonymous.get("/api/v1/curves/", query)
        assert answer.status_code == 200, answer.content
        return answer.json()["curves"]

    return curves


def measure(project, tps, *, version="10.6.1", **fields):
    records = [make_record(value, version=version, threads=n, **fields) for n, value in tps.items()]
    make_runs(records, project=project)


def test_a_curve_tells_peak_knee_tail_and_scale_up(project, curves):
    measure(project, {1: 100.0, 2: 190.0, 4: 300.0, 8: 240.0})
    [curve] = curves()
    assert (curve["workload"], curve["column"]["version"]) == ("oltp_read_only", "10.6.1")
    assert curve["points"][0] == {"threads": 1, "value": 100.0, "n": 1, "low": None, "high": None}
    assert curve["peak"] == {"value": 300.0, "threads": 4, "among": []}
    assert (curve["knee"], curve["tail_off"]) == (4, pytest.approx(-0.2))
    assert curve["scale_up"] == {"before": 1, "after": 8, "factor": 2.4, "efficiency": pytest.approx(0.3)}


def test_the_scale_up_is_between_the_thread_counts_that_are_asked_for(project, curves):
    measure(project, {1: 100.0, 32: 1743.0, 64: 2980.0})
    [curve] = curves(**{"from": 32, "to": 64})
    assert curve["scale_up"]["factor"] == pytest.approx(1.71, abs=0.001)
    assert curve["peak"] is None
    assert curves(to=48)[0]["scale_up"] is None


def test_each_version_and_workload_has_its_curve(project, curves):
    measure(project, LAW)
    measure(project, LAW, version="10.6.2")
    measure(project, LAW, version="10.6.2", workload="oltp_read_write")
    assert [(one["workload"], one["column"]["version"]) for one in curves()] == [
        ("oltp_read_only", "10.6.1"),
        ("oltp_read_only", "10.6.2"),
        ("oltp_read_write", "10.6.2"),
    ]
    [curve] = curves(base=json.dumps({"version": "10.6.2"}), workload="oltp_read_write")
    assert curve["column"]["version"] == "10.6.2"


def test_response_times_and_single_thread_counts_are_no_curves(project, curves):
    measure(project, {4: 100.0})
    assert curves() == []
    readings = {"latency_avg": 5.0}
    make_runs([make_record(readings=readings, version="10.6.1", threads=n) for n in (1, 2)], project=project)
    assert curves(metric="latency_avg") == []


def test_curves_as_csv(project, anonymous):
    measure(project, LAW)
    query = {"project": "amber", "metric": "tps", "base": BASE, "format": "csv"}
    [row] = csv.DictReader(io.StringIO(anonymous.get("/api/v1/curves/", query).content.decode()))
    assert (row["workload"], row["version"], row["peak_threads"], row["knee"]) == (
        "oltp_read_only",
        "10.6.1",
        "8",
        "4",
    )


@pytest.mark.parametrize("query", [{"from": "x"}, {"to": "0"}, {"base": "[1]"}, {"metric": "nothing"}])
def test_what_cannot_be_asked_is_refused(project, anonymous, query):
    measure(project, LAW)
    query = {"project": "amber", "metric": "tps", "base": BASE, **query}
    answer = anonymous.get("/api/v1/curves/", query)
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
