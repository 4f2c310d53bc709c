"""One setting varied, as the API answers it."""

import csv
import io

import pytest

from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project("amber", public=True)
    records = [
        make_record(100.0 * number, settings={"pool": size, "log": log}, duration_s=2.0)
        for number, (size, log) in enumerate([("8M", "x"), ("64M", "x"), ("1G", "y")], 1)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def sweep(anonymous, project):
    def sweep(**query):
        answer = anonymous.get("/api/v1/sweep/", {"project": "amber", "metric": "tps", **query})
        assert answer.status_code == 200, answer.content
        return answer

    return sweep


@pytest.fixture
def refused(anonymous, project):
    def refused(**query):
        answer = anonymous.get("/api/v1/sweep/", {"project": "amber", "metric": "tps", **query})
        assert answer.status_code == 400
        [error] = answer.json()["errors"]
        return error["field"], error["message"]

    return refused


def test_the_values_of_a_setting_against_each_other(sweep):
    answer = sweep(setting="pool").json()
    assert answer["setting"] == {
        "key": "pool",
        "kind": "setting",
        "name": "pool",
        "values": ["8M", "64M", "1G"],
        "alike": 2,
    }
    assert [one["key"] for one in answer["choices"]] == ["pool", "log"]
    assert (answer["metric"], answer["unit"], answer["direction"]) == ("tps", "1/s", "higher")
    assert answer["base"]["value"] == "8M"
    assert answer["columns"][1] == {
        "value": "1G",
        "runs": 1,
        "seconds": 2.0,
        "differences": [{"name": "log", "base": "x", "value": "y"}],
        "left_out": 0,
        "left_out_for": [],
    }
    [row] = answer["rows"]
    assert (row["workload"], row["threads"], row["base"]["value"]) == ("oltp_read_only", 4, 100)
    assert [(cell["value"], cell["ratio"], cell["verdict"]) for cell in row["cells"]] == [
        (200, 2, "unknown"),
        (300, 3, "unknown"),
    ]
    assert answer["geomean"] == [pytest.approx(2), pytest.approx(3)]


def test_what_was_varied_most_is_swept_where_nothing_is_asked(sweep):
    assert sweep().json()["setting"]["key"] == "pool"
    assert sweep(base="1G").json()["base"]["value"] == "1G"


def test_absolute_figures_can_be_left_out(sweep):
    [row] = sweep(setting="pool", values="hidden").json()["rows"]
    assert row["base"] == {"value": None, "n": 1, "sessions": 1, "low": None, "high": None}
    assert [(cell["value"], cell["ratio"]) for cell in row["cells"]] == [(None, 2), (None, 3)]
    text = sweep(setting="pool", values="hidden", format="csv").content.decode()
    assert "100" not in text
    assert "300" not in text


def test_the_same_as_csv(sweep):
    rows = list(csv.DictReader(io.StringIO(sweep(setting="pool", format="csv").content.decode())))
    assert [(row["setting_value"], row["value"], row["ratio"], row["also_differs"]) for row in rows] == [
        ("8M", "100.0", "", ""),
        ("64M", "200.0", "2.0", ""),
        ("1G", "300.0", "3.0", "log"),
    ]


def test_the_version_can_be_chosen(sweep, project):
    make_runs(
        [make_record(1.0, version="11.4.5", settings={"pool": size}) for size in ("1M", "2M")],
        project=project,
    )
    answer = sweep(version="11.4.5-MariaDB", build="").json()
    assert (answer["subject"]["version"], answer["base"]["value"]) == ("11.4.5", "1M")
    assert sweep(subject=answer["subject"]["id"]).json()["subject"] == answer["subject"]


def test_rows_can_be_chosen(sweep, project):
    make_runs(
        [
            make_record(1.0, workload="rw", threads=8, settings={"pool": size, "log": "x"})
            for size in ("8M", "64M")
        ],
        project=project,
    )
    assert [row["workload"] for row in sweep(workload="rw").json()["rows"]] == ["rw"]
    assert [row["threads"] for row in sweep(threads="4").json()["rows"]] == [4]
    # Under this condition nothing but the pool varies.
    chosen = sweep(**{"with": "log=x"}).json()
    assert [one["key"] for one in chosen["choices"]] == ["pool"]


def test_what_does_not_fit_is_said(refused):
    assert refused(setting="nothing") == ("setting", "it does not vary here; what varies is pool, log")
    assert refused(base="2G") == ("base", "'2G' is none of its values: 8M, 64M, 1G")
    assert refused(version="9.9") == ("subject", "nothing that was measured fits")
    assert refused(metric="qps") == ("metric", "no two values of pool have 'qps'")
    assert refused(values="no")[0] == "values"
    assert refused(threads="many")[0] == "threads"
