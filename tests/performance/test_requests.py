"""Every request of the performance suite, in what depends on no machine: statements, bytes, plans."""

import gzip
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.performance.requests import PAGES, READS, writes
from tests.performance.limits import HEAVIER, LIMITS, READ_WHOLE
from tests.performance.plans import read_whole
from tests.performance.weight import weight_of_assets

pytestmark = pytest.mark.django_db

ASKED = [kind for kind in (*READS, *PAGES) if not kind.is_bare]
UPLOADS = writes(Path("tests/ingest/fixtures/sysbench/oltp_read_write-nightly.txt").read_text())
PAGE_KB, PAGE_WITH_CHARTS_KB = 60, 450


def by_name(kinds):
    return [pytest.param(kind, id=kind.name) for kind in kinds]


class Asked(NamedTuple):
    """``body`` is packed where that is worth it."""

    body: bytes
    unpacked: bytes
    statements: Sequence[str]


@pytest.fixture(scope="module")
def answers():
    """Of the requests that were made already, by their names."""
    return {}


@pytest.fixture
def ask(loaded, answers):
    """Makes a request; the tests of the same one share its answer."""

    def answer_of(kind):
        if kind.name not in answers:
            answers[kind.name] = _asked(loaded, kind)
        return answers[kind.name]

    return answer_of


def _asked(loaded, kind):
    rng = random.Random(5)
    body, content_type = kind.body(loaded, rng) if kind.body else (b"", "")
    client = Client(headers={"Accept-Encoding": "gzip"})
    if kind.is_page:
        client.cookies["sessionid"] = loaded.session
    else:
        client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {loaded.token}"
    address = kind.address(loaded, rng)
    with CaptureQueriesContext(connection) as queries:
        answer = client.post(address, body, content_type) if body else client.get(address)
    assert answer.status_code in (200, 201), answer.content
    is_packed = answer.headers.get("Content-Encoding") == "gzip"
    unpacked = gzip.decompress(answer.content) if is_packed else answer.content
    return Asked(answer.content, unpacked, [query["sql"] for query in queries.captured_queries])


def test_each_request_has_a_limit():
    assert list(LIMITS) == [kind.name for kind in (*ASKED, *UPLOADS)]


@pytest.mark.parametrize("kind", by_name(ASKED))
def test_a_request_keeps_to_its_statements_and_bytes(ask, kind):
    asked, limit = ask(kind), LIMITS[kind.name]
    assert len(asked.statements) <= limit.statements, "\n".join(asked.statements)
    assert len(asked.unpacked) <= 1000 * limit.kilobytes
    assert len(asked.body) <= 1000 * limit.packed_kilobytes


@pytest.mark.parametrize("kind", by_name(ASKED))
def test_a_request_reads_no_large_table_whole(ask, kind):
    statements = ask(kind).statements
    read = read_whole(statements, by_choice=False)
    assert {table: read[table] for table in read.keys() - READ_WHOLE.get(kind.name, set())} == {}
    assert "results_measurement" not in read_whole(statements, by_choice=True)


@pytest.mark.parametrize("kind", by_name(PAGES))
def test_a_page_weighs_no_more_than_it_may(ask, kind):
    """With all that it loads, packed; charts are drawn by plotly, which pages without one do without."""
    page = ask(kind)
    html = page.unpacked.decode()
    assets = weight_of_assets(html)
    has_charts = "chart-plot" in html
    assert any("plotly" in name for name in assets) <= has_charts
    most = HEAVIER.get(kind.name, PAGE_WITH_CHARTS_KB if has_charts else PAGE_KB)
    assert len(page.body) + sum(assets.values()) <= 1000 * most, assets


@pytest.mark.parametrize("kind", by_name(UPLOADS))
def test_an_upload_keeps_to_its_statements_and_reads_no_large_table_whole(ask, kind):
    statements = ask(kind).statements
    assert len(statements) <= LIMITS[kind.name].statements, "\n".join(statements)
    assert read_whole(statements, by_choice=False) == {}
