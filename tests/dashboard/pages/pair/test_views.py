"""The page "Side by side"."""

import html
import json
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import plotly.graph_objects as go
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import START, make_project, make_record, make_runs
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

# The repeats lie so close together that every difference is a clear one.
NOISE = (0.999, 1.0, 1.001)


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(
    project, version, *, tps=1000.0, cpu=50.0, workloads=("ro",), threads=(1, 4), noise=NOISE, **fields
):
    return make_runs(
        [
            make_record(
                **{
                    "readings": {
                        "tps": tps * count * factor,
                        "latency_p95": 2.0 * factor,
                        "server_cpu_per_op": cpu * factor,
                        "errors_per_s": 0.0,
                    },
                    "version": version,
                    "workload": workload,
                    "threads": count,
                    "repetition": repetition,
                    # Each repetition is a session of its own.
                    "started_at": START + timedelta(days=20 * int(version[-1]) + repetition),
                    **fields,
                }
            )
            for workload in workloads
            for count in threads
            for repetition, factor in enumerate(noise)
        ],
        project=project,
    )


@pytest.fixture
def measured(project):
    measure(project, "10.6.1")
    measure(project, "10.6.2", tps=900.0, cpu=56.0)
    return project


def get(client, query=""):
    return client.get(f"/p/bench/compare/pair/?{query}")


def ids(project):
    return [short_id(column) for column in columns_of(project, Selector())]


def figures(answer):
    found = re.findall(
        r'<script id="figure-([^"]+)" type="application/json">(.*?)</script>', answer.content.decode()
    )
    return {name: json.loads(text) for name, text in found}


def rows_of(answer, table):
    """The cells of a table's body, row by row."""
    [body] = re.findall(
        rf'<table[^>]*id="{table}".*?<tbody>(.*?)</tbody>', answer.content.decode(), re.DOTALL
    )
    return [
        [
            " ".join(html.unescape(re.sub(r"<[^>]+>", " ", cell)).split())
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
    ]


# --- what is shown ------------------------------------------------------------------------------------------


def test_a_bare_address_lays_the_newest_version_beside_the_reference_of_all_pages(client, measured):
    text = text_of(get(client))
    assert "10.6.2 against 10.6.1" in text
    assert (
        "10.6.2 is 10 % slower than 10.6.1 (geometric mean of 2 thread counts of ro; 2 significantly worse,"
        " none better) and spends 12 % more server CPU per operation." in text
    )
    assert "6 runs of 10.6.1 in 3 sessions, 6 of 10.6.2 in 3 sessions" in text


def test_a_bare_address_passes_over_what_has_nothing_in_common_with_the_newest_version(client, project):
    for version, workload in (("10.6.1", "another"), ("10.6.2", "shared"), ("10.6.3", "shared")):
        make_runs([make_record(version=version, workload=workload)], project=project)
    assert "10.6.3 against 10.6.2" in text_of(get(client))


def test_cost_stands_beside_throughput_at_a_glance(client, measured):
    rows = rows_of(get(client), "glance")
    assert rows == [
        ["Geometric mean", "▼ −10.0 % 2 slower", "0.0 % 2 no difference", "▲ +12.0 % 2 worse"],
        ["ro 1 thread", "▼ −10.0 % 1,000 → 900.0", "0.0 % 2.000 → 2.000", "▲ +12.0 % 50.00 → 56.00"],
        ["ro 4 threads", "▼ −10.0 % 4,000 → 3,600", "0.0 % 2.000 → 2.000", "▲ +12.0 % 50.00 → 56.00"],
    ]


def test_each_metric_has_a_chart_of_changes_and_the_table_that_says_the_same(client, measured):
    answer = get(client)
    found = figures(answer)
    for figure in found.values():
        go.Figure(figure)
    [throughput] = found["changes-1"]["data"]
    assert throughput["x"] == [pytest.approx(-10.0), pytest.approx(-10.0)]
    assert throughput["marker"]["symbol"] == ["triangle-down", "triangle-down"]
    rows = rows_of(answer, "changes-table-1")
    assert rows[0][:4] == ["ro 1 thread", "1,000", "900.0", "▼ −10.0 %"]
    assert re.fullmatch(r"−10\.\d % to −9\.\d %", rows[0][4])
    assert rows[0][5:] == ["< 0.001", "slower", "3 / 3"]


def test_other_metrics_stand_below_and_any_can_have_a_chart(client, measured):
    answer = get(client)
    assert [row[0] for row in rows_of(answer, "rest")] == ["errors per second"] * 2
    answer = get(client, "metric=errors_per_s")
    assert "errors per second, 10.6.2 against 10.6.1" in text_of(answer)
    assert rows_of(answer, "changes-table-1")[0][1:4] == ["0", "0", "–"]
    assert "CPU of the server per operation" in {
        row[0].removesuffix(" µs/op") for row in rows_of(answer, "rest")
    }


def test_what_is_significant_comes_first(client, project):
    measure(project, "10.6.1", workloads=("a", "b", "c"), threads=(1,))
    measure(project, "10.6.2", workloads=("a",), threads=(1,))
    measure(project, "10.6.2", workloads=("b",), threads=(1,), tps=900)
    measure(project, "10.6.2", workloads=("c",), threads=(1,), tps=500)
    assert [row[0] for row in rows_of(get(client), "changes-table-1")] == [
        "c 1 thread",
        "b 1 thread",
        "a 1 thread",
    ]


def test_what_did_not_change_is_folded_with_its_figures(client, project):
    workloads = ("a", "b", "c", "d", "e")
    measure(project, "10.6.1", workloads=workloads, threads=(1,))
    measure(project, "10.6.2", workloads=workloads[1:], threads=(1,))
    measure(project, "10.6.2", workloads=("a",), threads=(1,), tps=500)
    answer = get(client)
    page = answer.content.decode()
    assert [row[0] for row in rows_of(answer, "glance")] == ["Geometric mean", "a 1 thread"]
    assert [row[0] for row in rows_of(answer, "glance-same")] == [f"{name} 1 thread" for name in "bcde"]
    assert [row[0] for row in rows_of(answer, "changes-table-1")][:2] == ["a 1 thread", "b 1 thread"]
    assert "<summary>4 workloads without a change</summary>" in page


def test_of_the_metrics_the_main_one_alone_is_open(client, measured):
    page = get(client).content.decode()
    assert re.findall(r'<details class="fold" id="([^"]+)" open', page) == ["fold-panel-1"]
    assert re.search(r"<summary><b>Response time, 95th percentile</b> \d", page)
    assert "<b>All other metrics</b>" in page
    assert "<b>What else differs</b> settings: " in page


def test_where_nothing_can_be_told_it_is_said_what_would_be_enough(client, project):
    workloads = ("a", "b", "c")
    for version, tps in (("10.6.1", 1000), ("10.6.2", 990)):
        measure(project, version, workloads=workloads, threads=(1,), noise=(1.0,), tps=tps)
    text = text_of(get(client))
    assert "3 workloads: not enough to tell" in text
    assert "2 more sessions of each would settle these." in text


def test_workloads_and_threads_are_chosen_in_the_address(client, measured):
    measure(measured, "10.6.1", workloads=("rw",))
    measure(measured, "10.6.2", workloads=("rw",))
    assert len(rows_of(get(client), "changes-table-1")) == 4
    assert [row[0] for row in rows_of(get(client, "threads=4"), "changes-table-1")] == [
        "ro 4 threads",
        "rw 4 threads",
    ]
    pk = re.search(r'name="workload"[^>]* value="(\d+)"> rw', get(client).content.decode())[1]
    assert {row[0] for row in rows_of(get(client, f"workload={pk}"), "changes-table-1")} == {
        "rw 1 thread",
        "rw 4 threads",
    }


def test_many_rows_are_a_click_away(client, project):
    workloads = [f"w{number:02}" for number in range(50)]
    for version in ("10.6.1", "10.6.2"):
        measure(project, version, workloads=workloads, threads=(1,), noise=(1.0,))
    answer = get(client)
    # Nothing changed, or nothing tells so: all rows are folded under their mean.
    assert [row[0] for row in rows_of(answer, "glance")] == ["Geometric mean"]
    assert len(rows_of(answer, "glance-same")) == 40
    assert "10 more rows: show all" in text_of(answer)
    assert len(rows_of(get(client, "rows=all"), "glance-same")) == 50


# --- what differs -------------------------------------------------------------------------------------------


def test_different_hardware_table_sizes_and_durations_are_warnings(client, project):
    for version, hardware, size, time in (("10.6.1", "a", 1000, 60), ("10.6.2", "b", 2000, 120)):
        options = {"command": f"sysbench ro --table-size={size} --time={time} run"}
        measure(project, version, hardware=hardware, options=options)
    one, other = ids(project)
    text = text_of(get(client, f"base={one}&against={other}"))
    assert "Different hardware: a; b." in text
    assert "Different sizes of tables: table_size: 1000 → 2000." in text
    assert "Different durations: duration: 60 s → 120 s." in text
    assert "--table-size 1000 2000 everywhere" in text
    assert "sysbench ro --table-size=1000 --time=60 run" in text


def test_settings_and_environment_are_listed_with_what_is_the_same(client, project):
    for version, kernel in (("10.6.1", "5.10"), ("10.6.2", "6.1")):
        measure(project, version, environment={"kernel": kernel, "governor": "performance"})
    text = text_of(get(client))
    assert "Settings Nobody sent them with either side." in text
    assert "Environment Name 10.6.1 10.6.2 kernel 5.10 6.1 Hardware" in text


def test_the_configurations_are_compared_as_texts_too(client, project):
    for version, size in (("10.6.1", "1G"), ("10.6.2", "2G")):
        measure(
            project,
            version,
            settings={"pool": size},
            configuration_text=f"[mysqld]\npassword=***\npool={size}\n",
        )
    text = text_of(get(client))
    assert "pool 1G 2G" in text
    assert "[mysqld] password=*** -pool=1G +pool=2G" in text


def test_what_one_side_alone_measured_is_shown_with_a_dash_beside_it(client, project):
    measure(project, "10.6.1", threads=(1,))
    measure(project, "10.6.2", threads=(1, 4))
    one, other = ids(project)
    assert rows_of(get(client, f"base={one}&against={other}"), "glance")[-1][1] == "– → 4,000"
    assert rows_of(get(client, f"base={other}&against={one}"), "glance")[-1][1] == "4,000 → –"


# --- addresses ----------------------------------------------------------------------------------------------


def test_one_side_alone_is_held_against_its_neighbour(client, project):
    for version in ("10.6.1", "10.6.2", "10.6.3"):
        measure(project, version, threads=(1,))
    first, second, third = ids(project)
    assert "10.6.3 against 10.6.2" in text_of(get(client, f"base={second}"))
    assert "10.6.2 against 10.6.1" in text_of(get(client, f"against={second}"))
    assert "10.6.2 against 10.6.3" in text_of(get(client, f"base={third}"))
    assert "10.6.1 against 10.6.2" in text_of(get(client, f"against={first}"))


def test_sides_are_swapped_by_one_click(client, measured):
    one, other = ids(measured)
    answer = get(client, f"base={one}&against={other}&threads=4")
    url = html.unescape(re.search(r'href="([^"]+)"[^>]*>Swap the sides<', answer.content.decode())[1])
    assert parse_qs(urlsplit(url).query) == {"base": [other], "against": [one], "threads": ["4"]}
    assert "10.6.1 is 11 % faster than 10.6.2" in text_of(client.get(url))


def test_what_an_address_names_and_nobody_knows_is_said(client, measured):
    assert "Nothing here is called 99.99.99" in text_of(get(client, "base=99.99.99"))
    assert "There is no run 999999 in this project." in text_of(get(client, "run=999999"))


def test_a_version_measured_at_several_places_must_be_told(client, measured):
    measure(measured, "10.6.1", hardware="other")
    version = columns_of(measured, Selector())[0].version.pk
    text = text_of(get(client, f"base={version}"))
    assert f"The version {version} was measured in several places. Which is meant?" in text


def test_the_same_in_the_api_and_as_markdown_is_one_click_away(client, measured):
    page = get(client).content.decode()
    url = html.unescape(re.search(r'href="([^"]+)">JSON<', page)[1])
    assert client.get(url).json()["summary"].startswith("10.6.2 is 10 % slower than 10.6.1")
    text = html.unescape(re.search(r'data-copy="([^"]+)">Copy as Markdown<', page)[1])
    assert text.startswith("**10.6.2 is 10 % slower than 10.6.1")
    assert "| ro | 1 | transactions per second | 1,000 | 900.0 | −10.0 % |" in text


def test_nothing_yet_says_what_to_do(client, project):
    assert "No results yet" in text_of(get(client))
    measure(project, "10.6.1")
    assert "Upload the results of a second version to see the two side by side." in text_of(get(client))


# --- runs ---------------------------------------------------------------------------------------------------


def test_two_runs_are_laid_side_by_side(client, project):
    slow, fast = make_runs(
        [make_record(100.0, version="10.6.1"), make_record(120.0, version="10.6.2")], project=project
    )
    text = text_of(get(client, f"run={slow.pk}&run={fast.pk}"))
    assert f"10.6.2, run {fast.pk} against 10.6.1, run {slow.pk}" in text
    assert "measures +20.0 % against" in text


def test_one_run_is_held_against_the_one_before(client, project):
    before, run = make_runs([make_record(100.0), make_record(90.0)], project=project)
    text = text_of(get(client, f"run={run.pk}"))
    assert f"10.6.23, run {run.pk} against 10.6.23, run {before.pk}" in text
    assert f"Other runs beside run {run.pk}" in text


def test_the_number_of_statements_is_the_same_whatever_the_size(client, measured):
    get(client)
    with CaptureQueriesContext(connection) as few:
        get(client)
    for version in ("10.6.1", "10.6.2"):
        measure(measured, version, workloads=[f"w{number}" for number in range(15)])
    with CaptureQueriesContext(connection) as many:
        get(client)
    assert len(few) == len(many)


# --- one session each ---------------------------------------------------------------------------------------


def one_evening(project, **speeds):
    """Five repeats of each version, all in one evening."""
    for version, speed in speeds.items():
        records = [
            make_record(speed * factor, version=version.replace("v", "10.6."), repetition=repetition)
            for repetition, factor in enumerate((1.0, 1.002, 0.998, 1.001, 0.999))
        ]
        make_runs(records, project=project)


def test_what_one_evening_shows_is_no_more_than_likely_and_the_headline_says_why(client, project):
    one_evening(project, v1=1000.0, v2=300.0)
    answer = get(client)
    text = text_of(answer)
    assert (
        "10.6.2 measures −70.0 % against 10.6.1 in transactions per second (oltp_read_only, 4 threads; 1"
        " likely slower), but in one session each: what the machine did that hour cannot be told from what"
        " the version does. 2 more sessions of 10.6.1 and of 10.6.2 would tell how much sessions scatter"
        " here."
    ) in text
    [row] = rows_of(answer, "changes-table-1")
    assert re.match(r"likely slower \(one session\)", row[6])
    page = answer.content.decode()
    assert "level-likely-worse" in page
    assert 'href="/help/statistics/#likely"' in page
    assert "significantly" not in text
    # The matrix and the API say the same.
    assert "level-likely-worse" in client.get("/p/bench/compare/matrix/").content.decode()
    [base, against] = (version.pk for version in project.versions.order_by("version"))
    query = {"project": "bench", "metric": "tps", "base": base, "against": against}
    [cell] = client.get("/api/v1/compare/", query).json()["rows"][0]["cells"]
    assert (cell["verdict"], cell["n"], cell["sessions"]) == ("likely_worse", 5, 1)


def test_what_one_evening_does_not_show_is_not_enough_to_tell(client, project):
    one_evening(project, v1=1000.0, v2=950.0)
    assert "not enough to tell" in text_of(get(client))
