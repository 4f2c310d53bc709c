"""The latency page."""

import plotly.graph_objects as go
import pytest

from benchdash.regressions.comparison.columns import short_id
from benchdash.regressions.comparison.latency import sampled_columns
from benchdash.results.models import Workload
from benchdash.results.records import SampleTable
from tests.builders import in_sessions, make_project, make_record, make_run, make_runs
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(project, version, *rows, runs=1, source="histogram", **fields):
    table = SampleTable(source, ("from_ms", "to_ms", "count"), rows)
    records = [make_record(version=version, samples=(table,), **fields)] * runs
    return make_runs(in_sessions(records), project=project)


def get(client, query=""):
    return client.get(f"/p/bench/compare/latency/?{query}")


FAST = ((1.0, 1.01, 90.0), (2.0, 2.02, 10.0))
SLOW = ((1.0, 1.01, 50.0), (4.0, 4.04, 50.0))


def test_versions_lie_over_each_other_and_the_table_says_the_same(client, project):
    measure(project, "10.6.1", *FAST, runs=3)
    measure(project, "10.6.2", *SLOW, runs=3)
    answer = get(client)
    for figure in (answer.context["histogram"], answer.context["curves"]):
        go.Figure(figure)
        assert [trace["name"] for trace in figure["data"]][:2] == ["10.6.1", "10.6.2"]
    text = text_of(answer)
    assert "oltp_read_only, 4 threads, response time against percentile" in text
    percentiles = "1.000 to 1.010 1.000 to 1.010 2.000 to 2.020 2.000 to 2.020 – 2.000 to 2.020"
    assert f"10.6.1 3 in 3 sessions 300 {percentiles}" in text
    assert "4.000 to 4.040 ▼ +100.0 % slower" in text
    assert "verdicts are adjusted for the whole table" in text


def test_what_else_differs_and_shared_sessions_are_said(client, project):
    measure(project, "10.6.1", *FAST, runs=2, tags=("session:a",))
    measure(project, "10.6.2", *SLOW, runs=2, tags=("session:b",), hardware="other")
    columns = "&".join(f"v={short_id(column)}" for column in sampled_columns(project))
    text = text_of(get(client, columns))
    assert "Different hardware: box; other." in text
    assert "2 in 1 session 200" in text
    assert "One session each: what the machine did that hour cannot be told" in text


def test_single_runs_are_not_tested(client, project):
    measure(project, "10.6.1", *FAST)
    measure(project, "10.6.2", *SLOW)
    text = text_of(get(client))
    assert "+100.0 % no test" in text
    assert "One session each: what the machine did that hour cannot be told" in text


def test_an_interval_that_says_nothing_is_said_in_words(client, project):
    for version in ("10.6.1", "10.6.2"):
        measure(project, version, *FAST)
        measure(project, version, (9.0, 9.1, 900.0), tags=("session:other",))
    assert "not enough to tell too few runs" in text_of(get(client))


def test_workload_threads_and_operation_are_in_the_address(client, project):
    for version in ("10.6.1", "10.6.2"):
        for workload in ("ro", "rw"):
            for threads in (1, 64):
                measure(project, version, *FAST, workload=workload, threads=threads)
        measure(project, version, *FAST, workload="rw", threads=64, source="read histogram")
    rw = Workload.objects.get(name="rw").pk
    assert get(client).context["title"] == "ro, 1 thread"
    assert get(client, f"workload={rw}").context["title"] == "rw, 1 thread"
    assert get(client, f"workload={rw}&threads=64").context["title"] == "rw, 64 threads"
    answer = get(client, f"workload={rw}&threads=64&operation=read")
    assert answer.context["title"] == "rw, read, 64 threads"
    assert [one.name for one in answer.context["filters"]] == ["base", "workload", "threads", "operation"]
    # What a chip leads to keeps all of it.
    assert f"workload={rw}&amp;threads=64&amp;operation=read" in answer.content.decode()


def test_a_thread_count_without_a_histogram_is_not_passed_over(client, project):
    measure(project, "10.6.1", *FAST, threads=8)
    text = text_of(get(client, "threads=64"))
    assert "There is no histogram of oltp_read_only with the thread count in the address" in text
    assert "this is oltp_read_only, 8 threads." in text


def test_a_workload_without_a_histogram_leads_to_those_that_have_one(client, project):
    measure(project, "10.6.1", *FAST)
    other = make_run(project=project, workload="bulk").workload_id
    answer = get(client, f"workload={other}&threads=4")
    assert "They have no run with a histogram of the workload that the address names." in text_of(answer)
    assert "workload" not in answer.context["whole_url"]


def test_without_any_histogram_the_page_says_how_to_make_one(client, project):
    make_run(project=project)
    text = text_of(get(client))
    assert "No histogram of response times yet" in text
    assert "sysbench with --histogram" in text


def test_a_version_without_a_histogram_of_the_row_is_named(client, project):
    measure(project, "10.6.1", *FAST, threads=1)
    measure(project, "10.6.2", *FAST, threads=4)
    text = text_of(get(client, "threads=4"))
    assert "No histogram here: 10.6.1." in text


def test_operations_of_0_ms_are_drawn_and_told(client, project):
    measure(project, "10.6.1", (0.0, 1.0, 90.0), (1.0, 2.0, 10.0))
    answer = get(client)
    assert "under 1.000" in text_of(answer)
    assert sum(answer.context["histogram"]["data"][0]["y"]) == pytest.approx(100)


def test_the_table_is_one_click_away_as_csv(client, project):
    measure(project, "10.6.1", *FAST)
    measure(project, "10.6.2", *SLOW)
    url = get(client).context["csv_url"]
    lines = client.get(url).content.decode().splitlines()
    assert len(lines) == 1 + 2 * 6


def test_a_run_and_the_page_lead_to_each_other(client, project):
    (run,) = measure(project, "10.6.1", *FAST)
    answer = client.get(f"/p/bench/runs/{run.pk}/")
    (column,) = sampled_columns(project)
    assert answer.context["latency_url"] == (
        f"/p/bench/compare/latency/?v={short_id(column)}&workload={run.workload_id}&threads=4"
    )
    page = client.get(answer.context["latency_url"])
    assert page.context["title"] == "oltp_read_only, 4 threads"
    assert f'href="/p/bench/runs/{run.pk}/"' in page.content.decode()


def test_a_run_without_a_histogram_leads_nowhere(client, project):
    run = make_run(project=project)
    assert client.get(f"/p/bench/runs/{run.pk}/").context["latency_url"] == ""


def test_what_nobody_may_see_does_not_exist(client):
    measure(make_project("private"), "10.6.1", *FAST)
    assert client.get("/p/private/compare/latency/").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "v=0&base=x&workload=y&threads=z&operation=w",
        "workload=" + "9" * 30,
        "threads=none&operation=all",
        "v=%00&find=%00",
    ],
)
def test_no_address_is_too_strange(client, project, query):
    measure(project, "10.6.1", *FAST)
    assert get(client, query).status_code == 200


def test_the_page_takes_the_same_statements_however_much_there_is(client, project, django_assert_num_queries):
    def count():
        columns = "&".join(f"v={short_id(column)}" for column in sampled_columns(project))
        with django_assert_num_queries(STATEMENTS):
            get(client, columns)

    measure(project, "10.6.1", *FAST)
    measure(project, "10.6.2", *FAST)
    count()
    for number in range(3, 12):
        measure(project, f"10.6.{number}", *SLOW, runs=3)
        measure(project, f"10.6.{number}", *SLOW, threads=64)
    count()


STATEMENTS = 10
