"""Interval samples as figures. plotly.graph_objects refuses a misspelt property."""

import plotly.graph_objects as go

from benchdash.dashboard.charts import intervals
from benchdash.results.models import IntervalSamples


def samples(columns, rows):
    return IntervalSamples(columns=columns, rows=rows)


SECONDS = samples(
    ["time_s", "threads", "tps", "qps", "latency_p95", "errors_per_s"],
    [
        [1.0, 4.0, 100.0, 2000.0, 5.0, 0.0],
        [2.0, 4.0, 0.0, 0.0, None, 0.0],
        [3.0, 4.0, 120.0, 2400.0, 4.0, 0.0],
    ],
)


def test_throughput_stands_above_response_time_on_one_axis_of_seconds():
    figure = intervals.over_time(SECONDS)
    go.Figure(figure)
    throughput, latency = figure["data"]
    assert (throughput["x"], throughput["y"]) == ([1.0, 2.0, 3.0], [100.0, 0.0, 120.0])
    assert (latency["yaxis"], latency["y"]) == ("y2", [5.0, None, 4.0])
    layout = figure["layout"]
    assert layout["yaxis"]["domain"][0] > layout["yaxis2"]["domain"][1]
    assert layout["xaxis"]["anchor"] == "y2"
    assert layout["yaxis2"]["title"]["text"] == "p95 (ms)"


def test_without_response_times_throughput_has_the_whole_height():
    figure = intervals.over_time(samples(["time_s", "tps"], [[1.0, 10.0]]))
    go.Figure(figure)
    assert "yaxis2" not in figure["layout"]
    assert "domain" not in figure["layout"]["yaxis"]


def test_pgbench_has_its_average_response_time_for_want_of_a_percentile():
    columns = ["time_s", "tps", "latency_avg", "latency_stddev", "failed"]
    figure = intervals.over_time(samples(columns, [[1.0, 100.0, 5.0, 1.0, 0.0], [2.0, 120.0, 4.0, 1.0, 0.0]]))
    go.Figure(figure)
    assert [trace["name"] for trace in figure["data"]] == ["tps", "response time avg"]
    assert figure["data"][1]["y"] == [5.0, 4.0]
    assert figure["layout"]["yaxis2"]["title"]["text"] == "avg (ms)"


def test_each_operation_of_ycsb_is_a_line_of_the_same_percentile():
    columns = ["time_s", "ops_per_s", "read.latency_avg", "read.latency_p90", "read.latency_p99"]
    columns += ["update.latency_avg", "update.latency_p90", "update.latency_p99"]
    figure = intervals.over_time(
        samples(columns, [[0.0, None, 1, 2, 3, 4, 5, 6], [9.0, 50.0, 2, 3, 4, 5, 6, 7]])
    )
    go.Figure(figure)
    names = [(trace["name"], trace["yaxis"]) for trace in figure["data"]]
    assert names == [
        ("ops/s", "y"),
        ("read: response time p99", "y2"),
        ("update: response time p99", "y2"),
    ]
    assert [trace["y"] for trace in figure["data"]] == [[None, 50.0], [3, 4], [6, 7]]
    assert figure["layout"]["yaxis2"]["title"]["text"] == "p99 (ms)"
    assert figure["layout"]["showlegend"]


def test_the_rest_of_a_second_that_was_printed_is_left_to_the_table():
    figure = intervals.over_time(samples(["time_s", "tps"], [[1.0, 90.0], [2.0, 100.0], [2.0, 20.0]]))
    assert figure["data"][0]["y"] == [90.0, 100.0]


def test_response_times_alone_have_the_whole_height():
    figure = intervals.over_time(samples(["time_s", "read.latency_avg"], [[0.5, 3.0]]))
    go.Figure(figure)
    assert figure["layout"]["yaxis"]["title"]["text"] == "avg (ms)"
    assert "yaxis2" not in figure["layout"]


def test_a_percentile_of_a_hook_is_drawn_though_its_rank_is_not_known():
    figure = intervals.over_time(samples(["time_s", "tps", "latency_pct"], [[1.0, 10.0, 5.0]]))
    go.Figure(figure)
    assert figure["data"][1]["y"] == [5.0]


def test_readings_of_a_counter_are_drawn_by_their_numbers():
    figure = intervals.over_time(samples(["reading", "tpm"], [[1.0, 0.0], [2.0, 31206.0], [3.0, 39114.0]]))
    go.Figure(figure)
    assert figure["data"][0]["x"] == [1.0, 2.0, 3.0]
    axis = figure["layout"]["xaxis"]
    assert (axis["title"]["text"], axis["dtick"]) == ("reading of the counter", 1)


def test_what_a_test_does_not_do_is_not_its_throughput():
    columns = ["time_s", "read_mib_per_s", "written_mib_per_s", "latency_p95"]
    figure = intervals.over_time(samples(columns, [[1.0, 0.0, 20.0, 5.0]]))
    assert figure["data"][0]["y"] == [20.0]
    assert intervals.tool_panels(samples(columns, [[1.0, 0.0, 20.0, 5.0]])) == 2


def test_samples_of_something_else_are_not_drawn_over_time():
    assert intervals.over_time(samples(["time_s", "queue_length"], [[1.0, 2.0]])) is None
    assert intervals.over_time(samples(["us", "sy"], [[1.0, 2.0]])) is None


def test_a_day_of_seconds_is_thinned():
    figure = intervals.over_time(
        samples(["time_s", "tps"], [[float(s), float(s % 50)] for s in range(86400)])
    )
    assert len(figure["data"][0]["x"]) <= 2000


def test_iterations_are_drawn_fork_by_fork_beside_the_score():
    rows = [[1.0, 1.0, 50.0], [1.0, 2.0, 52.0], [2.0, 1.0, 70.0]]
    figure = intervals.iterations(
        samples(["fork", "iteration", "score"], rows), unit="ns/op", direction="lower", score=57.3
    )
    go.Figure(figure)
    assert [trace["name"] for trace in figure["data"]] == ["fork 1", "fork 2"]
    assert figure["data"][0]["x"] == ["1.1", "1.2"]
    assert figure["layout"]["shapes"][0]["y0"] == 57.3
    assert figure["layout"]["yaxis"]["title"]["text"] == "score (ns/op), lower is better"


MACHINE = samples(
    [
        "sample",
        "run_queue",
        "read_mb_per_s",
        "write_mb_per_s",
        "context_switches_per_s",
        "cpu_user",
        "cpu_system",
        "cpu_wait",
        "cpu_idle",
        "cpu_steal",
    ],
    [
        [1.0, 3.0, 1.0, 40.0, 4200.0, 61.0, 17.0, 1.0, 20.0, 0.0],
        [2.0, 2.0, 0.0, 56.0, 4100.0, 62.0, 14.0, 2.0, 22.0, 0.0],
    ],
)


def test_cpu_stands_above_context_switches_above_disks():
    figure = intervals.of_the_machine(MACHINE)
    go.Figure(figure)
    named = [(line["name"], line["yaxis"]) for line in figure["data"]]
    assert named == [
        ("CPU, user", "y"),
        ("CPU, system", "y"),
        ("CPU, waiting for I/O", "y"),
        ("context switches per second", "y2"),
        ("MB read per second", "y3"),
        ("MB written per second", "y3"),
    ]
    layout = figure["layout"]
    assert layout["yaxis"]["domain"][0] > layout["yaxis2"]["domain"][1]
    assert layout["yaxis2"]["domain"][0] > layout["yaxis3"]["domain"][1]
    assert (layout["xaxis"]["anchor"], layout["xaxis"]["title"]["text"]) == ("y3", "sample")
    assert intervals.machine_panels(MACHINE) == 3


def test_only_what_was_sampled_has_a_part_and_stolen_time_is_a_line_where_some_was_stolen():
    columns = ["time_s", "cpu_user", "cpu_steal", "vda %util"]
    figure = intervals.of_the_machine(samples(columns, [[1.0, 50.0, 0.0, 3.0], [2.0, 60.0, 7.0, 4.0]]))
    go.Figure(figure)
    assert [line["name"] for line in figure["data"]] == ["CPU, user", "CPU, stolen"]
    assert "yaxis2" not in figure["layout"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "seconds since sampling began"


def test_samples_of_a_tool_are_not_taken_for_those_of_the_machine():
    assert intervals.of_the_machine(SECONDS) is None
    assert intervals.machine_panels(SECONDS) == 0


def test_an_hour_of_samples_is_thinned_and_every_line_keeps_its_peaks():
    columns = ["sample", "cpu_user", "context_switches_per_s"]
    rows = [[float(s), float(s % 50), 90000.0 if s == 1234 else 4000.0] for s in range(3600)]
    figure = intervals.of_the_machine(samples(columns, rows))
    assert 90000.0 in figure["data"][1]["y"]
    assert all(len(line["x"]) == len(line["y"]) <= 800 for line in figure["data"])
