"""Figures that articles printed, uploaded as they lie there, give what the articles conclude."""

import json
from pathlib import Path

import pytest

from benchdash.accounts.models import Scope
from tests.api.conftest import client_of
from tests.builders import make_project, make_token

ARTICLES = Path(__file__).parents[3] / "shared/data/articles"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not ARTICLES.is_dir(), reason="the figures of the articles are not here"),
]


@pytest.fixture
def client():
    project = make_project("articles")
    return client_of(make_token(project, Scope.UPLOAD, Scope.READ))


def upload(client, name, **fields):
    with (ARTICLES / name).open("rb") as file:
        answer = client.post("/api/v1/uploads/", {"file": file, **fields}, format="multipart")
    assert answer.status_code == 201, answer.content
    return answer.json()


def per_cent(client, base, other, *, metric="qps", **query):
    """By workload and threads: how many per cent ``other`` is above ``base``."""
    query = {"metric": metric, "base": json.dumps(base), "against": json.dumps(other), **query}
    answer = client.get("/api/v1/compare/", query)
    assert answer.status_code == 200, answer.content
    return {
        (row["workload"], row["threads"]): round((row["cells"][0]["ratio"] - 1) * 100, 1)
        for row in answer.json()["rows"]
        if row["cells"][0] and row["base"]
    }


def test_unprepared_queries_of_three_drivers(client):
    received = upload(client, "jdbc-drivers-qps/unprepared.txt", hardware="a desktop", threads=1)
    assert len(received["runs"]) == 6
    mariadb, connector, drizzle = (
        {"product": product} for product in ("MariaDB-JDBC", "ConnectorJ", "Drizzle-JDBC")
    )
    assert per_cent(client, connector, mariadb)["DO 1", 1] == 13.1
    assert per_cent(client, drizzle, mariadb)["DO 1", 1] == 44.6


def test_a_fix_and_prepared_statements(client):
    upload(client, "jdbc-drivers-qps/all-variants.csv", hardware="a desktop", threads=1)
    unprepared, prepared = {"configuration": "tcp, unprepared"}, {"configuration": "tcp, prepared"}
    drizzle = {"product": "Drizzle-JDBC", **unprepared}
    fixed = per_cent(client, {**drizzle, "build": ""}, {**drizzle, "build": "hexdump logging fixed"})
    assert (fixed["DO 1", 1], fixed["SELECT 1", 1]) == (30.6, 25.5)
    for product, gain in (("MariaDB-JDBC", 0.4), ("ConnectorJ", 2.8)):
        of_product = {"product": product}
        assert per_cent(client, {**of_product, **unprepared}, {**of_product, **prepared})["DO 1", 1] == gain


def test_throughput_of_4096_clients(client):
    upload(
        client, "windows-threadpool/readonly-tps-at-4096.csv", hardware="Windows", workload="oltp_read_only"
    )
    gain = per_cent(client, {"product": "MySQL"}, {"product": "MariaDB"}, metric="tps")
    assert gain == {("oltp_read_only", 4096): 476.8}


def test_response_times_against_clients(client):
    upload(
        client,
        "windows-threadpool/readonly-p95-ms.txt",
        hardware="Windows",
        workload="oltp_read_only",
        version="5.5",
    )
    query = {"metric": "latency_p95", "base": '{"product": "MySQL"}', "against": '{"product": "MariaDB"}'}
    table = client.get("/api/v1/compare/", query).json()
    assert (table["unit"], table["direction"]) == ("ms", "lower")
    printed = {row["threads"]: (row["base"]["value"], row["cells"][0]["value"]) for row in table["rows"]}
    assert len(printed) == 11
    assert (printed[4], printed[4096]) == ((4.86, 4.87), (25215.29, 1965.77))


def test_scores_of_jmh_keep_their_errors(client):
    pattern = {
        f"*.{name}": {"product": product, "version": "1"}
        for name, product in (
            ("mariadb", "MariaDB-JDBC"),
            ("mysql", "ConnectorJ"),
            ("drizzle", "Drizzle-JDBC"),
        )
    }
    upload(
        client,
        "jmh-drivers/select1-text-protocol.txt",
        hardware="a desktop",
        threads=1,
        map=json.dumps(pattern),
        workload="select1 text",
    )
    base, other = '{"product": "MariaDB-JDBC"}', '{"product": "ConnectorJ"}'
    table = client.get("/api/v1/compare/", {"metric": "score", "base": base, "against": other}).json()
    assert (table["unit"], table["direction"]) == ("ns/op", "lower")
    [row] = table["rows"]
    [cell] = row["cells"]
    assert (row["base"]["value"], cell["value"]) == (pytest.approx(62715), pytest.approx(88670))
    assert (row["base"]["low"], row["base"]["high"]) == (pytest.approx(60313), pytest.approx(65117))
    assert (round(cell["ratio"], 3), cell["verdict"]) == (1.414, "unknown")
