"""What articles concluded of scaling curves comes out of uploaded files by itself."""

from pathlib import Path

import pytest
from django.core.management import call_command

from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import make_project
from tests.dashboard.page_text import text_of
from tests.dashboard.pages.articles.test_views import ARTICLES, upload
from tests.dashboard.pages.matrix.test_opened import figures, titles

MEASURED = Path(__file__).parents[4] / "ingest/samples/releases"

SAID = ("product=MariaDB", "version=10.11.19", "hardware=box", "workload=oltp_read_only")

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("articles", public=True)


def curves(client, project, base, *others, query=""):
    ids = [short_id(columns_of(project, Selector(**place))[0]) for place in (base, *others)]
    chosen = "&".join(f"v={one}" for one in ids)
    return client.get(f"/p/articles/compare/matrix/?{chosen}&base={ids[0]}&open=each&{query}")


@pytest.mark.skipif(not ARTICLES.is_dir(), reason="the figures of the articles are not here")
def test_response_times_on_log_axes_and_the_one_throughput_that_was_printed(client, project):
    """From 4 to 4096 clients on Windows: at most clients 2382 against 413 transactions per second."""
    for name in ("readonly-p95-ms.txt", "readonly-tps-at-4096.csv"):
        upload(
            project,
            f"windows-threadpool/{name}",
            hardware="Windows",
            workload="oltp_read_only",
            version="5.5",
        )
    answer = curves(client, project, {"product": "MySQL"}, {"product": "MariaDB"})
    assert titles(answer) == [
        "oltp_read_only, 4,096 threads, transactions per second, Windows",
        "oltp_read_only, response time, 95th percentile against threads, Windows",
    ]
    _, times = figures(answer).values()
    assert (times["layout"]["xaxis"]["type"], times["layout"]["yaxis"]["type"]) == ("log", "log")
    assert times["data"][0]["x"][0] == 4
    assert times["data"][0]["x"][-1] == 4096
    text = text_of(answer)
    assert "2,382 1 +476.8 %" in text
    assert "4,096 1,966 −92.2 % not enough to tell" in text


def test_a_pool_of_threads_peaks_later_and_falls_less(client, project):
    """Three server starts each, 1 to 512 threads on one core. Medians as the data's description has them."""
    folder = MEASURED / "threadpool/mariadb-10.11.19"
    pattern = "{configuration}/rep{repetition}/t{threads}.txt"
    settings = [f"--set={said}" for said in SAID]
    call_command("import_folder", folder, "--project=articles", "--pattern", pattern, *settings)
    answer = curves(
        client,
        project,
        {"configuration": "one-thread-per-connection"},
        {"configuration": "pool-of-threads"},
        query="metric=tps&metric=latency_p95",
    )
    text = text_of(answer)
    assert "one-thread-per-connection 1,075 1 (one session) 1 −61.2 %" in text
    assert "pool-of-threads 968.5 2 (one session) 1 −43.1 %" in text
    assert "64 524.2" in text
    assert "+40.4 %" in text


def test_where_throughput_peaks_and_how_far_it_falls(client, project):
    folder = MEASURED / "sysbench/mariadb-10.11.19/oltp_read_only"
    settings = [f"--set={said}" for said in SAID]
    pattern = "rep{repetition}/t{threads}.txt"
    call_command("import_folder", folder, "--project=articles", "--pattern", pattern, *settings)
    text = text_of(curves(client, project, {}, query="metric=tps"))
    assert "10.11.19 1,674 4 (one session) 2 −35.1 % +24.9 % 2.0 %" in text
