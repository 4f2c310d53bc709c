"""Time lines as figures. plotly.graph_objects refuses a misspelt property."""

import plotly.graph_objects as go
import pytest

from benchdash.charts.plotly import plotly
from benchdash.dashboard.pages.runs import figure as timeline
from benchdash.dashboard.pages.runs.figure import MachineSamples
from benchdash.results.models import IntervalSamples
from benchdash.results.stability import Rule, stability_of_run
from benchdash.results.used_units import UsedUnit


def samples(columns, rows):
    return IntervalSamples(columns=columns, rows=rows)


def drawn(draw, *parts, **options):
    """The figure, held against what Plotly knows."""
    figure = plotly(draw(*parts, **options).figure)
    go.Figure(figure)
    return figure


SECONDS = samples(
    ["time_s", "threads", "tps", "qps", "latency_p95", "errors_per_s"],
    [
        [1.0, 4.0, 100.0, 2000.0, 5.0, 0.0],
        [2.0, 4.0, 0.0, 0.0, None, 0.0],
        [3.0, 4.0, 120.0, 2400.0, 4.0, 0.0],
    ],
)


# --- one source alone ---------------------------------------------------------------------------------


def test_throughput_stands_above_response_time_on_one_axis_of_seconds():
    figure = drawn(timeline.over_time, SECONDS)
    throughput, latency = figure["data"]
    assert (throughput["x"], throughput["y"]) == ([1.0, 2.0, 3.0], [100.0, 0.0, 120.0])
    assert (latency["yaxis"], latency["y"]) == ("y2", [5.0, None, 4.0])
    layout = figure["layout"]
    assert layout["yaxis"]["domain"][0] > layout["yaxis2"]["domain"][1]
    assert layout["xaxis"]["anchor"] == "y2"
    assert layout["yaxis2"]["title"]["text"] == "p95 (ms)<br>lower is better"


def test_without_response_times_throughput_has_the_whole_height():
    figure = drawn(timeline.over_time, samples(["time_s", "tps"], [[1.0, 10.0]]))
    assert "yaxis2" not in figure["layout"]
    assert "domain" not in figure["layout"]["yaxis"]


def test_pgbench_has_its_average_response_time_for_want_of_a_percentile():
    columns = ["time_s", "tps", "latency_avg", "latency_stddev", "failed"]
    figure = drawn(
        timeline.over_time, samples(columns, [[1.0, 100.0, 5.0, 1.0, 0.0], [2.0, 120.0, 4.0, 1.0, 0.0]])
    )
    assert [trace["name"] for trace in figure["data"]] == ["tps", "response time avg"]
    assert figure["data"][1]["y"] == [5.0, 4.0]
    assert figure["layout"]["yaxis2"]["title"]["text"] == "avg (ms)<br>lower is better"


def test_errors_reconnects_and_what_failed_are_parts_of_their_own():
    columns = ["time_s", "tps", "errors_per_s", "reconnects_per_s", "read.failed", "scan.failed", "failed"]
    rows = [[1.0, 100.0, 0.5, 2.0, None, 0.0, 1.0], [2.0, 120.0, 0.0, 0.0, 3.0, 0.0, 0.0]]
    figure = drawn(timeline.over_time, samples(columns, rows))
    _, *wrong = figure["data"]
    assert [(trace["y"], trace["yaxis"]) for trace in wrong] == [
        ([0.5, 0.0], "y2"),
        ([2.0, 0.0], "y2"),
        ([None, 3.0], "y3"),
        ([1.0, 0.0], "y3"),
    ]
    assert figure["layout"]["yaxis3"]["title"]["text"].startswith("failed")


def test_each_operation_of_ycsb_is_a_line_of_the_same_percentile():
    columns = ["time_s", "ops_per_s", "read.latency_avg", "read.latency_p90", "read.latency_p99"]
    columns += ["update.latency_avg", "update.latency_p90", "update.latency_p99"]
    figure = drawn(
        timeline.over_time, samples(columns, [[0.0, None, 1, 2, 3, 4, 5, 6], [9.0, 50.0, 2, 3, 4, 5, 6, 7]])
    )
    names = [(trace["name"], trace["yaxis"]) for trace in figure["data"]]
    assert names == [
        ("ops/s", "y"),
        ("read: response time p99", "y2"),
        ("update: response time p99", "y2"),
    ]
    assert [trace["y"] for trace in figure["data"]] == [[None, 50.0], [3, 4], [6, 7]]
    assert figure["layout"]["yaxis2"]["title"]["text"] == "p99 (ms)<br>lower is better"
    assert figure["layout"]["showlegend"]


def test_the_rest_of_a_second_that_was_printed_is_left_to_the_table():
    figure = drawn(timeline.over_time, samples(["time_s", "tps"], [[1.0, 90.0], [2.0, 100.0], [2.0, 20.0]]))
    assert figure["data"][0]["y"] == [90.0, 100.0]


def test_response_times_alone_have_the_whole_height():
    figure = drawn(timeline.over_time, samples(["time_s", "read.latency_avg"], [[0.5, 3.0]]))
    assert figure["layout"]["yaxis"]["title"]["text"] == "avg (ms)<br>lower is better"
    assert "yaxis2" not in figure["layout"]


def test_a_percentile_of_a_hook_is_drawn_though_its_rank_is_not_known():
    figure = drawn(timeline.over_time, samples(["time_s", "tps", "latency_pct"], [[1.0, 10.0, 5.0]]))
    assert figure["data"][1]["y"] == [5.0]


def test_readings_of_a_counter_are_drawn_by_their_numbers():
    figure = drawn(
        timeline.over_time, samples(["reading", "tpm"], [[1.0, 0.0], [2.0, 31206.0], [3.0, 39114.0]])
    )
    assert figure["data"][0]["x"] == [1.0, 2.0, 3.0]
    axis = figure["layout"]["xaxis"]
    assert (axis["title"]["text"], axis["ticktext"]) == ("reading of the counter", ["1", "2", "3"])


def test_what_a_test_does_not_do_is_not_its_throughput():
    columns = ["time_s", "read_mib_per_s", "written_mib_per_s", "latency_p95"]
    figure = drawn(timeline.over_time, samples(columns, [[1.0, 0.0, 20.0, 5.0]]))
    assert figure["data"][0]["y"] == [20.0]
    assert timeline.over_time(samples(columns, [[1.0, 0.0, 20.0, 5.0]])).height == 400


def test_samples_of_something_else_are_not_drawn_over_time():
    assert timeline.over_time(samples(["time_s", "queue_length"], [[1.0, 2.0]])) is None
    assert timeline.over_time(samples(["us", "sy"], [[1.0, 2.0]])) is None


def test_a_day_of_seconds_is_thinned():
    figure = drawn(
        timeline.over_time, samples(["time_s", "tps"], [[float(s), float(s % 50)] for s in range(86400)])
    )
    assert len(figure["data"][0]["x"]) <= 2000


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
    figure = drawn(timeline.of_the_machine, MACHINE)
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
    assert timeline.of_the_machine(MACHINE).height == 480


def test_only_what_was_sampled_has_a_part_and_stolen_time_is_a_line_where_some_was_stolen():
    columns = ["time_s", "cpu_user", "cpu_steal", "vda %util"]
    figure = drawn(timeline.of_the_machine, samples(columns, [[1.0, 50.0, 0.0, 3.0], [2.0, 60.0, 7.0, 4.0]]))
    assert [line["name"] for line in figure["data"]] == ["CPU, user", "CPU, stolen"]
    assert "yaxis2" not in figure["layout"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "seconds since sampling began"


def test_samples_of_a_tool_are_not_taken_for_those_of_the_machine():
    assert timeline.of_the_machine(SECONDS) is None


def test_an_hour_of_samples_is_thinned_and_every_line_keeps_its_peaks():
    columns = ["sample", "cpu_user", "context_switches_per_s"]
    rows = [[float(s), float(s % 50), 90000.0 if s == 1234 else 4000.0] for s in range(3600)]
    figure = drawn(timeline.of_the_machine, samples(columns, rows))
    assert 90000.0 in figure["data"][1]["y"]
    assert all(len(line["x"]) == len(line["y"]) <= 800 for line in figure["data"])


# --- several sources on one axis ------------------------------------------------------------------------


SYSBENCH = samples(
    ["time_s", "tps", "latency_p95", "errors_per_s"],
    [[float(second), 0.0 if second == 7 else 100.0, 5.0, 0.5] for second in range(1, 13)],
)


def steady(table, **said):
    return stability_of_run([table], said=said, duration_s=None, rule=Rule())


def test_what_the_machine_did_lies_below_on_the_same_axis_of_time():
    figure = drawn(timeline.together, SYSBENCH, beside=[MachineSamples(MACHINE, step_s=2.0)])
    lines = {line["name"]: line for line in figure["data"]}
    assert [line["yaxis"] for line in figure["data"]][:4] == ["y", "y2", "y3", "y4"]
    assert {line["yaxis"] for line in figure["data"]} == {"y", "y2", "y3", "y4", "y5", "y6"}
    assert lines["errors/s"]["y"] == [0.5] * 12
    assert lines["CPU, user"]["x"] == [2.0, 4.0]
    assert all("xaxis" not in line for line in figure["data"])
    axes = [name for name in figure["layout"] if name.startswith("xaxis")]
    assert axes == ["xaxis"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "seconds since the run began"
    colours = [line["line"]["color"] for line in figure["data"][:8]]
    assert len(set(colours)) == 8


def test_of_two_sources_the_first_tells_and_the_other_only_what_it_lacks():
    first = samples(["run_s", "cpu_user"], [[4.0, 50.0]])
    second = samples(["time_s", "cpu_user", "context_switches_per_s"], [[1.0, 60.0, 9.0]])
    figure = drawn(timeline.together, SYSBENCH, beside=[MachineSamples(first), MachineSamples(second)])
    machine = figure["data"][3:]
    assert [(line["name"], line["x"], line["y"]) for line in machine] == [
        ("CPU, user", [4.0], [50.0]),
        ("context switches per second", [1.0], [9.0]),
    ]


def test_stalls_are_shaded_through_all_parts_and_their_limit_is_a_line_in_the_first():
    figure = drawn(timeline.together, SYSBENCH, steadiness=steady(SYSBENCH))
    (stall, limit) = figure["layout"]["shapes"]
    assert (stall["x0"], stall["x1"], stall["yref"], stall["layer"]) == (6, 7, "paper", "below")
    assert (limit["y0"], limit["y1"], limit["xref"]) == (50, 50, "paper")
    assert figure["layout"]["annotations"] == []


def test_the_warm_up_is_shaded_and_named():
    table = samples(["time_s", "tps"], [[float(second), 100.0] for second in range(1, 13)])
    figure = drawn(timeline.together, table, steadiness=steady(table, warmup_s=2))
    (warmup, _) = figure["layout"]["shapes"]
    assert (warmup["x0"], warmup["x1"]) == (0, 2)
    assert [one["text"] for one in figure["layout"]["annotations"]] == ["warm-up"]


def test_of_very_many_stalls_the_longest_are_shaded():
    values = [100.0, 0.0] * 300 + [100.0, 0.0, 0.0]
    table = samples(["time_s", "tps"], [[float(at), value] for at, value in enumerate(values, 1)])
    shapes = drawn(timeline.together, table, steadiness=steady(table))["layout"]["shapes"]
    assert len(shapes) == 201
    assert (shapes[0]["x0"], shapes[0]["x1"]) == (601, 603)


def test_three_hours_of_seconds_stay_light():
    table = samples(["time_s", "tps"], [[float(s), 3.0 if s == 5000 else 100.0] for s in range(1, 10801)])
    figure = drawn(timeline.together, table)
    assert len(figure["data"][0]["x"]) <= 2000
    assert 3.0 in figure["data"][0]["y"]


def test_what_has_no_time_is_not_laid_on_one():
    counter = samples(["reading", "tpm"], [[1.0, 5.0]])
    assert timeline.together(counter) is None


# --- several runs ---------------------------------------------------------------------------------------


def test_several_runs_lie_over_each_other_each_in_its_colour():
    other = samples(["time_s", "tps", "latency_p95"], [[1.0, 90.0, 6.0], [2.0, 95.0, 7.0]])
    figure = drawn(timeline.overlaid, [("run 1, 10.6.1", SYSBENCH), ("run 2, 10.6.2", other)])
    lines = [(line["name"], line["yaxis"], line.get("showlegend", True)) for line in figure["data"]]
    assert lines == [
        ("run 1, 10.6.1", "y", True),
        ("run 2, 10.6.2", "y", True),
        ("run 1, 10.6.1", "y2", False),
        ("run 2, 10.6.2", "y2", False),
    ]
    assert [line["line"]["color"] for line in figure["data"]] == ["var(--cat-1)", "var(--cat-2)"] * 2
    assert figure["layout"]["showlegend"]


def test_a_run_of_another_metric_is_not_laid_over():
    other = samples(["time_s", "ops_per_s", "read.latency_avg"], [[1.0, 90.0, 6.0]])
    figure = drawn(timeline.overlaid, [("a", SYSBENCH), ("b", other)])
    assert [line["name"] for line in figure["data"]] == ["a", "a"]


@pytest.mark.parametrize(("panels", "height"), [(1, 320), (3, 480), (6, 780)])
def test_more_parts_are_higher(panels, height):
    assert timeline.height(panels) == height


def test_iterations_are_drawn_fork_by_fork_beside_the_score():
    rows = [[1.0, 1.0, 50.0], [1.0, 2.0, 52.0], [2.0, 1.0, 70.0]]
    made = timeline.iterations(
        samples(["fork", "iteration", "score"], rows),
        used=UsedUnit("us/op", 0.001),
        direction="lower",
        score=0.0573,
    )
    figure = plotly(made)
    go.Figure(figure)
    assert [trace["name"] for trace in figure["data"]] == ["fork 1", "fork 2"]
    assert figure["data"][0]["x"] == ["1.1", "1.2"]
    assert figure["data"][1]["y"] == [0.07]
    assert figure["layout"]["shapes"][0]["y0"] == 0.0573
    assert figure["layout"]["yaxis"]["title"]["text"] == "score (us/op), lower is better"
