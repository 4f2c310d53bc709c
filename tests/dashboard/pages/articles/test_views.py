"""Figures that articles printed, uploaded as they lie there, in the open rows of the matrix."""

import csv
import io
import json
import re
from pathlib import Path

import plotly.graph_objects as go
import pytest
from rest_framework.test import APIClient

from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import make_project, make_token
from tests.dashboard.page_text import text_of

ARTICLES = Path(__file__).parents[5] / "shared/data/articles"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not ARTICLES.is_dir(), reason="the figures of the articles are not here"),
]


@pytest.fixture
def project():
    return make_project("articles", public=True)


def upload(project, name, *, companion=None, **fields):
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
    files = {"file": (ARTICLES / name).open("rb")}
    if companion:
        files["configuration_file"] = (ARTICLES / companion).open("rb")
    answer = api.post("/api/v1/uploads/", {**files, **fields}, format="multipart")
    assert answer.status_code == 201, answer.content


def compare(client, project, base, *others, query=""):
    """The matrix of these places, each of which is one column, with every row open."""
    columns = [columns_of(project, Selector(**place)) for place in (base, *others)]
    ids = [short_id(column) for [column] in columns]
    chosen = "&".join(f"v={one}" for one in ids)
    return client.get(f"/p/articles/compare/matrix/?{chosen}&base={ids[0]}&open=each&{query}")


def bars(answer):
    """For each chart of bars its title and what stands at each version."""
    page = answer.content.decode()
    titles = re.findall(r'<span class="chart-title">([^<]+)</span>', page)
    figures = [json.loads(text) for text in re.findall(r'<script id="figure-[^>]*>(.*?)</script>', page)]
    for figure in figures:
        go.Figure(figure)
    return {
        title: dict(
            zip(
                figure["layout"]["yaxis"]["ticktext"],
                [round(value, 1) for value in figure["data"][0]["x"]],
                strict=True,
            )
        )
        for title, figure in zip(titles, figures, strict=True)
    }


DRIVERS = [{"product": product} for product in ("ConnectorJ", "MariaDB-JDBC", "Drizzle-JDBC")]


def test_a_bar_chart_for_each_query_of_three_drivers(client, project):
    upload(project, "jdbc-drivers-qps/unprepared.txt", hardware="a desktop", threads=1)
    assert bars(compare(client, project, *DRIVERS)) == {
        "DO 1, 1 thread, queries per second, a desktop": {
            "ConnectorJ 5.1.24": 19543.0,
            "Drizzle-JDBC 1.3-SNAPSHOT": 15288.0,
            "MariaDB-JDBC 1.1.2": 22104.0,
        },
        "SELECT 1, 1 thread, queries per second, a desktop": {
            "ConnectorJ 5.1.24": 17004.0,
            "Drizzle-JDBC 1.3-SNAPSHOT": 13410.0,
            "MariaDB-JDBC 1.1.2": 19305.0,
        },
    }


def test_percentages_against_any_chosen_reference(client, project):
    upload(project, "jdbc-drivers-qps/unprepared.txt", hardware="a desktop", threads=1)
    connector, mariadb, drizzle = DRIVERS
    answer = compare(client, project, connector, mariadb, drizzle, query="drawn=relative")
    assert "22,104 1 +13.1 %" in text_of(answer)
    chart = bars(answer)["DO 1, 1 thread, queries per second relative to ConnectorJ 5.1.24, a desktop"]
    assert chart["MariaDB-JDBC 1.1.2"] == 113.1
    assert "22,104 1 +44.6 %" in text_of(compare(client, project, drizzle, mariadb, connector))


def test_the_fix_of_a_driver_and_prepared_statements(client, project):
    upload(project, "jdbc-drivers-qps/all-variants.csv", hardware="a desktop", threads=1)
    slow = {"product": "Drizzle-JDBC", "build": ""}
    text = text_of(
        compare(client, project, slow, {"product": "Drizzle-JDBC", "build": "hexdump logging fixed"})
    )
    assert "19,968 1 +30.6 %" in text
    assert "16,824 1 +25.5 %" in text
    for product, gain in (("MariaDB-JDBC", "22,183 1 +0.4 %"), ("ConnectorJ", "20,096 1 +2.8 %")):
        ways = [{"product": product, "configuration": f"tcp, {way}"} for way in ("unprepared", "prepared")]
        assert gain in text_of(compare(client, project, *ways))


def test_a_driver_before_and_after_its_fix_side_by_side(client, project):
    upload(project, "jdbc-drivers-qps/all-variants.csv", hardware="a desktop", threads=1)
    ids = [
        short_id(column)
        for build in ("", "hexdump logging fixed")
        for column in columns_of(project, Selector(product="Drizzle-JDBC", build=build))
    ]
    text = text_of(client.get(f"/p/articles/compare/pair/?base={ids[0]}&against={ids[1]}"))
    assert "DO 1 1 thread +30.6 % 15,288 → 19,968" in text
    assert "SELECT 1 1 thread +25.5 % 13,410 → 16,824" in text
    # A single run of each proves nothing, and the page says so.
    assert "measures +28.0 % against" in text
    assert "but with assumed starts: what the machine did that hour cannot be told from what" in text
    assert "Different builds: plain; hexdump logging fixed." in text


def test_two_servers_at_4096_clients_and_their_response_times_below(client, project):
    for name in ("readonly-tps-at-4096.csv", "readonly-p95-ms.txt"):
        upload(
            project,
            f"windows-threadpool/{name}",
            companion="windows-threadpool/my.cnf",
            hardware="Windows",
            workload="oltp_read_only",
            configuration="article",
            version="5.5",
        )
    answer = compare(client, project, {"product": "MySQL"}, {"product": "MariaDB"})
    text = text_of(answer)
    assert "2,382 1 +476.8 %" in text
    assert "4,096 1,966 −92.2 % not enough to tell" in text
    page = answer.content.decode()
    curve = next(
        json.loads(text)
        for text in re.findall(r'<script id="figure-[^>]*>(.*?)</script>', page)
        if '"lines+markers"' in text
    )
    assert curve["layout"]["yaxis"]["type"] == "log"
    assert curve["layout"]["xaxis"]["type"] == "log"
    assert len(curve["data"][0]["x"]) == 11


def test_drivers_as_a_percentage_of_the_first_with_error_bars(client, project):
    pattern = {
        f"*.{name}": {"product": product, "version": "unknown"}
        for name, product in (("mariadb", "MariaDB"), ("mysql", "MySQL"), ("drizzle", "Drizzle"))
    }
    upload(
        project,
        "jmh-drivers/select1-text-protocol.txt",
        hardware="a desktop",
        workload="SELECT 1, text protocol",
        map=json.dumps(pattern),
    )
    products = [{"product": product} for product in ("MariaDB", "MySQL", "Drizzle")]
    answer = compare(client, project, *products, query="drawn=relative")
    [(title, chart)] = bars(answer).items()
    assert title.startswith("SELECT 1, text protocol, score relative to MariaDB")
    assert chart == {"Drizzle": 125.4, "MariaDB": 100.0, "MySQL": 141.4}
    figure = json.loads(re.search(r'<script id="figure-[^>]*>(.*?)</script>', answer.content.decode())[1])
    drizzle, _, mysql = figure["data"][0]["error_x"]["array"]
    assert 0 < drizzle < 10
    assert 0 < mysql < 10
    assert "62.72 ± 2.4 1 100 % reference" in text_of(answer)


def test_the_csv_of_a_chart_has_the_same_percentage(client, project):
    upload(project, "jdbc-drivers-qps/unprepared.txt", hardware="a desktop", threads=1)
    page = compare(client, project, *DRIVERS).content.decode()
    _of_matrix, url, *_ = re.findall(r'href="([^"]+)">Save as CSV<', page)
    url = url.replace("&amp;", "&")
    lines = csv.DictReader(io.StringIO(client.get(url).content.decode()))
    ratios = {line["product"]: line["ratio"] for line in lines if line["ratio"]}
    assert {product: round(float(ratio), 3) for product, ratio in ratios.items()} == {
        "MariaDB-JDBC": 1.131,
        "Drizzle-JDBC": 0.782,
    }
