"""The page of scaling curves."""

import json
import re
from datetime import timedelta

import plotly.graph_objects as go
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from tests.builders import START, make_project, make_record, make_runs
from tests.dashboard.page_text import text_of
from tests.regressions.analysis.test_curve_series import FALLING, RISING, records

pytestmark = pytest.mark.django_db

# Twice the threads bring 90 % more, then 60 %, 30 %, and from 8 to 16 threads a fifth less.
TPS = {1: 1000.0, 2: 1900.0, 4: 3040.0, 8: 3952.0, 16: 3161.6}


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(project, *, versions=("10.2.44", "10.6.23"), workloads=("ro",), tps=TPS, runs=1, **fields):
    """Throughput is halved with the second version; clients wait for one another without think time."""
    records = [
        make_record(
            **{
                "readings": {
                    "tps": value / (number + 1),
                    "latency_avg": 1000 * threads * (number + 1) / value,
                    "latency_p99": 2000 * threads * (number + 1) / value,
                },
                "version": version,
                "workload": workload,
                "threads": threads,
                "repetition": repetition,
                # Each repetition is a session of its own.
                "started_at": START + timedelta(days=20 * number + repetition),
                **fields,
            }
        )
        for number, version in enumerate(versions)
        for workload in workloads
        for threads, value in tps.items()
        for repetition in range(runs)
    ]
    return make_runs(records, project=project)


def get(client, query=""):
    return client.get(f"/p/bench/compare/curves/?{query}")


def figures(answer):
    found = re.findall(
        r'<script id="figure-[^"]+" type="application/json">(.*?)</script>', answer.content.decode()
    )
    return [json.loads(text) for text in found]


def titles(answer):
    return re.findall(r'<span class="chart-title">([^<]+)</span>', answer.content.decode())


def test_a_bare_address_shows_throughput_and_response_time_against_threads(client, project):
    measure(project)
    answer = get(client)
    assert titles(answer) == [
        "ro, transactions per second against threads, box",
        "ro, response time, average against threads, box",
    ]
    throughput, _ = figures(answer)
    assert [trace["name"] for trace in throughput["data"]] == ["10.2.44", "10.6.23"]
    assert throughput["data"][0]["y"] == list(TPS.values())


def headings(answer):
    """The workloads in the order of the page, those in the fold behind a bar."""
    page = answer.content.decode()
    opened, _, folded = page.partition('id="fold-curves"')
    return [re.findall(r'<div class="section-head"><h2>([^<]+)</h2>', part) for part in (opened, folded)]


def test_workloads_without_a_change_are_folded_and_the_largest_change_comes_first(client, project):
    for factor, workloads in ((1.0, "abcd"), (0.7, "e"), (0.5, "f")):
        for day in range(3):
            for version, slow in (("10.2.44", 1.0), ("10.6.23", factor)):
                tps = {count: value * slow * (1 + day / 1000) for count, value in TPS.items()}
                at = START + timedelta(days=40 * (version == "10.6.23") + day)
                measure(
                    project, versions=[version], workloads=workloads, tps=tps, repetition=day, started_at=at
                )
    answer = get(client)
    assert headings(answer) == [["f", "e"], ["a", "b", "c", "d"]]
    assert "<summary>4 workloads without a change</summary>" in answer.content.decode()
    assert "No curve changed" not in text_of(answer)
    # Their charts and figures are in the fold.
    assert len(titles(answer)) == 12
    only = re.search(r'name="workload"[^>]* value="(\d+)"> a', answer.content.decode())[1]
    assert headings(get(client, f"workload={only}")) == [["a"], []]


def test_where_no_curve_changed_the_first_is_open_and_what_would_tell_is_said(client, project):
    def slower(factor):
        return {count: value * factor for count, value in TPS.items()}

    for factor in (1.0, 1.3, 0.8):
        at = START + timedelta(days=round(100 * factor))
        measure(project, versions=["10.2.44"], workloads="abcd", tps=slower(factor), started_at=at)
        at += timedelta(days=1)
        measure(project, versions=["10.6.23"], workloads="abcd", tps=slower(factor * 1.02), started_at=at)
    answer = get(client)
    assert headings(answer) == [["a"], ["b", "c", "d"]]
    text = text_of(answer)
    assert "There are not enough runs to tell of any change." in text
    assert "3 workloads: not enough to tell" in text


def test_each_curve_is_told_in_figures(client, project):
    measure(project)
    text = text_of(get(client))
    assert "transactions per second: each curve in figures" in text
    assert "10.2.44 3,952 8 (one session) 4 −20.0 % 3.16x 19.8 % −20.0 % 40.0 %" in text
    assert "10.6.23 1,976 8 (one session) 4 −20.0 % 3.16x 19.8 % −20.0 % 40.0 %" in text


def test_the_address_chooses_the_thread_counts_of_the_scale_up(client, project):
    measure(project)
    text = text_of(get(client, "from=2&to=8"))
    assert "2 to 8 threads" in text
    assert "−20.0 % 2.08x 52.0 %" in text
    assert "2 to 999 threads" in text_of(get(client, "from=2&to=999"))


def test_the_scale_up_is_between_what_all_curves_have(client, project):
    measure(project, versions=["10.2.44"])
    measure(project, versions=["10.6.23"], tps={**TPS, 32: 2000.0})
    assert "1 to 16 threads 8 to 16 threads" in text_of(get(client))


def test_repeats_tell_where_else_the_peak_may_be(client, project):
    near = {8: 3900.0, 16: 3950.0}
    for day, tps in enumerate((TPS, {**TPS, **near}, {**TPS, **near})):
        measure(project, versions=["10.2.44"], tps=tps, started_at=START + timedelta(days=day))
    assert "8 to 16 within the noise" in text_of(get(client))


def test_a_percentile_that_the_files_have_can_be_chosen(client, project):
    measure(project)
    assert titles(get(client, "metric=latency_p99")) == [
        "ro, response time, 99th percentile against threads, box"
    ]


def test_values_are_drawn_relative_to_the_reference_or_to_their_own_first_point(client, project):
    measure(project)
    [relative] = figures(get(client, "metric=tps&values=relative"))
    assert relative["data"][1]["y"] == [50.0] * 5
    [own] = figures(get(client, "metric=tps&values=own"))
    assert own["data"][0]["y"] == pytest.approx([1, 1.9, 3.04, 3.952, 3.1616])
    assert own["data"][1]["y"] == pytest.approx(own["data"][0]["y"])
    assert own["layout"]["yaxis"]["title"]["text"] == "tps, times its own first point, higher is better"


def test_axes_are_logarithmic_or_linear(client, project):
    measure(project)
    [plain] = figures(get(client, "metric=tps"))
    assert (plain["layout"]["xaxis"]["type"], plain["layout"]["yaxis"]["type"]) == ("log", "linear")
    [turned] = figures(get(client, "metric=tps&axis=log&x=linear"))
    assert turned["layout"]["yaxis"]["type"] == "log"
    assert "type" not in turned["layout"]["xaxis"]


def test_repeats_are_bars_or_a_band_or_not_drawn(client, project):
    measure(project, versions=["10.2.44"])
    measure(project, versions=["10.2.44"], tps={count: value * 1.01 for count, value in TPS.items()})
    [bars] = figures(get(client, "metric=tps"))
    assert all(bars["data"][0]["error_y"]["array"])
    [band] = figures(get(client, "metric=tps&repeats=band"))
    assert [trace.get("fill") for trace in band["data"]] == ["toself", None]
    [none] = figures(get(client, "metric=tps&repeats=none"))
    assert [trace.get("error_y") for trace in none["data"]] == [None]


def test_the_fitted_law_can_be_drawn(client, project):
    measure(project)
    [plain] = figures(get(client, "metric=tps"))
    [fitted] = figures(get(client, "metric=tps&fit=usl"))
    assert len(plain["data"]) == 2
    assert [trace["line"]["dash"] for trace in fitted["data"]] == ["dot", "dash", "dot", "solid"]


def test_response_time_is_drawn_against_throughput(client, project):
    measure(project)
    answer = get(client, "view=plane")
    assert titles(answer) == ["ro, response time, average against transactions per second, box"]
    [figure] = figures(answer)
    assert figure["data"][0]["x"] == list(TPS.values())
    assert figure["data"][0]["text"] == ["1", "2", "4", "8", "16"]
    assert figure["data"][0]["y"] == pytest.approx([1, 1.0526, 1.3158, 2.0243, 5.0607], rel=1e-4)
    assert "16 3,162 5.061 1,581 10.12" in text_of(answer)


@pytest.mark.parametrize(
    "query",
    ["", "values=relative&axis=log", "values=own&axis=log&fit=usl&repeats=band", "view=plane", "x=linear"],
)
def test_every_figure_is_one_that_plotly_knows(client, project, query):
    measure(project, runs=2)
    for figure in figures(get(client, query)):
        go.Figure(figure)


def test_hardware_and_configurations_are_lines_too(client, project):
    measure(project, versions=["10.6.23"])
    measure(project, versions=["10.6.23"], hardware="bigger box", configuration="tuned")
    chosen = "&".join(f"v={short_id(one)}" for one in columns_of(project, Selector()))
    figure, *_ = figures(get(client, chosen))
    assert [trace["name"] for trace in figure["data"]] == [
        "10.6.23, bigger box, tuned",
        "10.6.23, box, default",
    ]


def test_what_was_measured_at_one_thread_count_is_no_curve(client, project):
    measure(project, tps={4: 1000.0})
    assert "A curve needs runs of one workload at two thread counts or more" in text_of(get(client))


def test_three_counts_make_a_line_but_no_peak_and_no_law(client, project):
    measure(project, tps={1: 1000.0, 2: 1900.0, 4: 3040.0})
    assert "10.2.44 – – – – 3.04x 76.0 % +60.0 % 80.0 % fewer than 5 thread counts" in text_of(get(client))


def test_an_empty_project_says_how_to_begin(client, project):
    assert "upload" in text_of(get(client)).lower()


@pytest.mark.parametrize(
    "query",
    [
        "from=0&to=x&axis=%00&values=nonsense&view=1&fit=2&repeats=3&x=log",
        "from=99999999999999999999&to=-1",
        "v=nothing&base=12.99.1",
        "metric=nothing&workload=abc&threads=x&page=%F0",
        "threads=none",
        "from=%D9%A3",
        "values=relative&metric=tps&metric=nothing&view=plane",
    ],
)
def test_nonsense_in_the_address_is_left_aside(client, project, query):
    measure(project)
    assert get(client, query).status_code == 200


def test_runs_that_did_nothing_are_no_curve_but_no_trouble(client, project):
    measure(project, versions=["10.2.44"], tps={**TPS, 1: 0.001})
    make_runs(
        [
            make_record(0.0, version="10.6.23", workload="ro", threads=threads, repetition=threads)
            for threads in (0, 1, 2, 4, 8)
        ],
        project=project,
    )
    for query in ("", "values=own&fit=usl", "values=relative&repeats=band", "view=plane"):
        for figure in figures(get(client, query)):
            go.Figure(figure)


def test_a_page_takes_as_many_statements_for_many_curves_as_for_few(client, project):
    measure(project)
    with CaptureQueriesContext(
        connection,
    ) as few:
        get(client)
    measure(project, versions=["10.7.1", "10.8.2", "10.9.3"], workloads=["ro", "rw", "wo"], runs=2)
    with CaptureQueriesContext(connection) as many:
        get(client)
    assert len(many) == len(few)


def test_the_figures_lead_to_the_history_of_the_peak(client, project):
    measure(project)
    assert "History of the peak" not in text_of(get(client))
    analyse_touched()
    answer = get(client)
    assert "History of the peak" in text_of(answer)
    # What is derived of a curve has no thread counts to be drawn against.
    assert "peak of the scaling curve" not in text_of(answer)
    history = text_of(client.get("/p/bench/history/?workload=ro&metric=curve_peak_threads"))
    assert "threads at the peak of the scaling curve" in history


def test_an_incident_names_the_peak_that_moved_and_charts_it(client, project):
    make_runs(records([RISING] * 12 + [FALLING] * 5), project=project)
    analyse_touched()
    incident = Incident.objects.get()
    text = text_of(client.get(f"/p/bench/incidents/{incident.pk}/"))
    assert "Largest change: tps of oltp_read_only at 64 threads" in text
    assert "3 of 6 series changed" in text
    assert "curve peak threads" in text
    assert "64.00" in text
    assert "32.00" in text


def test_what_is_derived_is_compared_at_no_thread_count(client, project):
    measure(project)
    analyse_touched()
    compared = client.get("/p/bench/compare/?metric=curve_peak_threads&metric=curve_peak")
    assert titles(compared) == [
        "ro, peak of the scaling curve, box",
        "ro, threads at the peak of the scaling curve, box",
    ]
    assert "10.6.23 8.000 1 0.0 % not enough to tell" in text_of(compared)
    assert "not said" not in text_of(client.get("/p/bench/compare/"))
    assert titles(client.get("/p/bench/compare/?metric=curve_peak&threads=8")) == []


def test_the_figures_of_a_workload_without_the_reference_have_a_csv(client, project):
    measure(project, versions=["10.2.44"])
    measure(project, versions=["10.6.23", "10.7.1"], workloads=["ro", "rw"])
    page = get(client, "metric=tps").content.decode()
    addresses = re.findall(r'href="(/api/v1/curves/[^"]+)"', page)
    texts = [client.get(address.replace("&amp;", "&")).content.decode() for address in addresses]
    assert [len(text.splitlines()) for text in texts] == [4, 3]


def test_the_figures_lead_to_their_csv(client, project):
    measure(project)
    page = get(client, "from=1&to=8").content.decode()
    [address] = re.findall(r'href="(/api/v1/curves/[^"]+)"', page)
    lines = client.get(address.replace("&amp;", "&")).content.decode().splitlines()
    assert lines[1].startswith("ro,MariaDB,10.2.44,")
    assert ",tps,1/s,3952.0,8,,,4,-0.2" in lines[1]
