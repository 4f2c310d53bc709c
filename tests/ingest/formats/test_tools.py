"""What declared tools have in common, beyond their fixtures."""

import json
from pathlib import Path

import pytest

from ingest.formats import FORMATS, parse
from ingest.formats.json_spec import JsonSpec
from ingest.formats.limits import Limits
from ingest.formats.report import FormatError
from ingest.formats.run_values import RunValues
from ingest.formats.source import Source
from ingest.formats.tool_spec import PrintedLine, PrintedTable, ToolSpec
from tests.ingest.formats.growth import grows_too_fast

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASES = Path(__file__).parents[4] / "shared" / "cases"

GO_TPC = "go_tpc/sixteen-threads.txt"
TPCC_MYSQL = "tpcc_mysql/new-intervals.txt"
MYSQLSLAP = "mysqlslap/query.txt"
GO_YCSB = "go_ycsb/workloada.txt"
YCSB = "ycsb/workloada-1-thread-status.txt"


def runs_of(text, name=None):
    return parse(Source(text.encode()), name)[1].runs


def figures(run):
    return {one.metric: one.value for one in run.readings}


@pytest.mark.parametrize(
    ("text", "ms"), [("12us", 0.012), ("12.5ms", 12.5), ("1.25s", 1250), ("1m2.5s", 62_500), ("3 secs", 3000)]
)
def test_a_time_is_read_in_the_unit_that_is_printed(text, ms):
    run = RunValues("tool")
    run.take("latency_avg", text, 1)
    assert run.readings["latency_avg"].value == ms


def test_a_time_without_a_unit_is_refused_with_its_line():
    with pytest.raises(FormatError, match="'12' is not a number that tool prints") as refused:
        RunValues("tool").take("latency_avg", "12", 7)
    assert refused.value.line == 7


def test_thousands_are_written_out():
    run = RunValues("tool")
    run.take("qps", "56.2k", 1)
    assert run.readings["qps"].value == 56_200


def test_a_metric_with_two_values_is_refused():
    text = "Running 1s test @ http://x/\n  1 threads and 1 connections\nRequests/sec: 5\nRequests/sec: 6\n"
    with pytest.raises(FormatError, match="qps is there twice"):
        runs_of(text)


def test_percentiles_that_fall_are_refused():
    text = "Running 1s test @ http://x/\n     50%   44.04ms\n     99%   1.00ms\nRequests/sec:    153.82\n"
    with pytest.raises(FormatError, match="the response times are not in order"):
        runs_of(text)


def test_of_two_runs_the_one_that_was_stopped_is_left_out_with_a_warning():
    whole = "Running 1s test @ http://x/\n  1 threads and 4 connections\nRequests/sec:    153.82\n"
    stopped = "Running 1s test @ http://x/\n  1 threads and 8 connections\n    Latency 1ms 1ms 2ms 90%\n"
    report = parse(Source((whole + stopped).encode()))[1]
    assert [run.threads for run in report.runs] == [4]
    assert any("no line 'Requests/sec: ...'" in warning for warning in report.warnings)


def test_figures_of_wrk2_are_read_with_its_calibration_around_them():
    text = (
        "Running 30s test @ http://x/\n  1 threads and 100 connections\n"
        "  Thread calibration: mean lat.: 24.837ms, rate sampling interval: 57ms\n"
        "    Latency    23.23ms    4.27ms  49.63ms   84.20%\n"
        "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%   20.10ms\n100.000%   49.63ms\n"
        "  3001 requests in 30.02s, 832.31KB read\nRequests/sec:     99.96\n"
    )
    (run,) = runs_of(text)
    assert figures(run)["latency_p50"] == 20.1
    assert figures(run)["qps"] == 99.96


def test_the_commands_of_a_document_are_runs_told_apart_by_their_headings():
    path = CASES / "redis-q-document.md"
    if not path.is_file():
        pytest.skip("../shared/cases is not here")
    runs = runs_of(path.read_text())
    assert [(run.workload, run.heading) for run in runs] == [
        ("SET", "redis-server"),
        ("GET", "redis-server"),
        ("SET", "other, 2 threads"),
        ("GET", "other, 2 threads"),
    ]


def test_a_whole_output_has_its_last_line():
    text = "Running 1s test @ http://x/\n  1 threads and 4 connections\nRequests/sec:    153.82\n"
    assert "the end of the output is missing after line 3" in parse(Source(text.encode()))[1].warnings[0]
    assert parse(Source(f"{text}Transfer/sec:     32.25KB\n".encode()))[1].warnings == ()


def test_a_new_tool_is_a_declaration():
    spec = ToolSpec(
        tool="loadgen",
        recognised_by=r"^loadgen ",
        lines=(
            PrintedLine("loadgen {version} with {threads} clients", begins_run=True),
            PrintedLine("rate: {qps}"),
        ),
        table=PrintedTable("Command", {"Average": "latency_avg:us"}, total="All"),
        required={"qps": "no line 'rate: ...'"},
        workload="mixed",
    )
    text = "loadgen 1.2 with 8 clients\nrate: 1.5k\nCommand  Average\nread     250\nAll      300\n"
    (run,) = spec.parse(Source(text.encode())).runs
    assert (run.version, run.threads, run.workload) == ("1.2", 8, "mixed")
    assert figures(run) == {"qps": 1500, "read.latency_avg": 0.25, "latency_avg": 0.3}


@pytest.mark.parametrize(
    ("fixture", "was", "becomes", "reason"),
    [
        (
            GO_TPC,
            "tpmC: 1480.6",
            "tpmC: 148.6",
            "tpmC is 148.6, but the summary has 1480.7",
        ),
        (GO_TPC, "tpmC: 1480.6", "tpmC: 0.0", "tpmC is 0, but the summary has 1480.7"),
        (GO_TPC, "tpmC: 1480.6", "tpmC: NaN", "'NaN' is not a number that go-tpc prints"),
        (GO_TPC, "Avg(ms): 62.4", "Avg(ms): 624", "the response times of new_order are not in order"),
        (GO_TPC, "[Summary] STOCK_LEVEL", "[Summary] PAYMENT", "payment.latency_avg is there twice"),
        (
            TPCC_MYSQL,
            "24600.000 TpmC",
            "24601.000 TpmC",
            "24601.000 TpmC, but the counts above make",
        ),
        (TPCC_MYSQL, "24600.000 TpmC", "0.000 TpmC", "nopm is 0: nothing was measured"),
        (TPCC_MYSQL, "24600.000 TpmC", "-nan TpmC", "'-nan' is not a number that tpcc-mysql prints"),
        (TPCC_MYSQL, "24600.000 TpmC", "24.600,000 TpmC", "'24.600,000' is not a number that tpcc-mysql"),
        (MYSQLSLAP, "0.178 seconds", "0.150 seconds", "the least, average and greatest time are not in this"),
        (MYSQLSLAP, "0.178 seconds", "nan seconds", "'nan' is not a number that mysqlslap prints"),
        (MYSQLSLAP, "0.178 seconds", "0,178 seconds", "'0,178' is not a number that mysqlslap prints"),
        (MYSQLSLAP, "0.178 seconds", "1e999 seconds", "'1e999' is not a number that mysqlslap prints"),
        (MYSQLSLAP, "queries: 4\n", "queries: 0\n", "'0' is not a number of threads"),
        (
            MYSQLSLAP,
            "Average number of queries",
            "Number of queries",
            "the block is not complete: no",
        ),
        (MYSQLSLAP, "0.178 seconds", "0.000 seconds", "the least, average and greatest time are not"),
        (GO_YCSB, "Avg(us): 697,", "Avg(us): 97,", "the response times of read are not in order"),
        (GO_YCSB, "takes 24.25s", "takes soon", "'soon' is not a number that go-ycsb prints"),
        (GO_YCSB, "Max(us): 31003,", "Max(us): x,", "'x' is not a number that go-ycsb prints"),
        (GO_YCSB, '"threadcount"="16"', '"threadcount"="x"', "'x' is not a number of threads"),
        (YCSB, "1652.892561983471", "0.0", "ops_per_s is 0: nothing was measured"),
        (YCSB, "1652.892561983471", "NaN", "'NaN' is not a number that YCSB prints"),
        (YCSB, "1652.892561983471", "-5", "-5 is negative, which no rate and no time can be"),
        (YCSB, "1652.892561983471", "1E999", "'1E999' is not a number that YCSB prints"),
        (YCSB, "RunTime(ms), 2420", "RunTime(ms), 0", "total_time is 0: nothing was measured"),
        (YCSB, "[OVERALL], RunTime", "[OVERALL], Time", "the report is not complete: no '[OVERALL], RunTime"),
        (YCSB, "577.6944583125312", "٣", "'٣' is not a number that YCSB prints"),
        (
            YCSB,
            "[READ], MinLatency(us), 0",
            "[READ], MinLatency(us), 600",
            "the response times of read are not",
        ),
        (
            YCSB,
            "[UPDATE], AverageLatency(us)",
            "[READ], AverageLatency(us)",
            "read.latency_avg is there twice",
        ),
    ],
)
def test_a_run_whose_figures_do_not_fit_is_refused_alone_and_left_out_of_several(
    fixture, was, becomes, reason
):
    whole = (FIXTURES / fixture).read_text()
    damaged = whole.replace(was, becomes)
    assert damaged != whole
    name = fixture.partition("/")[0]
    with pytest.raises(FormatError) as refused:
        parse(Source(damaged.encode()), name)
    assert refused.value.message.startswith(reason)
    report = parse(Source((whole + damaged).encode()), name)[1]
    assert len(report.runs) == 1
    assert any(f"run 2: left out: {reason}" in warning for warning in report.warnings)


def test_a_last_line_with_which_a_run_ends_needs_no_line_end():
    report = parse(Source((FIXTURES / TPCC_MYSQL).read_bytes().rstrip()))[1]
    assert figures(report.runs[0])["nopm"] == 24600
    assert report.warnings[0].endswith("has no line end: the file may be cut off")


def test_intervals_whose_times_go_back_are_not_kept():
    text = (FIXTURES / TPCC_MYSQL).read_text().replace("  20, trx", "  2, trx")
    report = parse(Source(text.encode()))[1]
    assert report.intervals == ()
    assert "the times of the intervals go back" in report.warnings[0]


@pytest.mark.parametrize(
    ("fixture", "was", "becomes"),
    [
        (TPCC_MYSQL, "[pass]: ", "[pass]: hunter2"),
        (GO_YCSB, "mysql.password=geheim", "mysql.password=hunter2"),
        (GO_YCSB, '"mysql.password"="geheim"', '"mysql.password"="hunter2"'),
        ("ycsb/errors.txt", "db.passwd=geheim", "db.passwd=hunter2"),
        ("ycsb/errors.txt", "bench:geheim@", "bench:hunter2@"),
    ],
)
def test_no_password_that_a_tool_prints_is_kept(fixture, was, becomes):
    text = (FIXTURES / fixture).read_text()
    assert was in text
    assert "hunter2" not in repr(parse(Source(text.replace(was, becomes).encode()))[1])


@pytest.mark.parametrize(
    ("fixture", "lost", "warning"),
    [
        (YCSB, "[READ], 99thPercentileLatency(us)", "missing up to line 40: read.latency_p99"),
        (YCSB, "[READ], Return=", "missing up to line 40: read.errors_per_s"),
        (YCSB, "[UPDATE]", "operations, but 4000 were run: is the file cut off?"),
        (YCSB, "[CLEANUP]", "the section '[CLEANUP]' is missing: is the file cut off?"),
        ("ycsb/histogram.txt", "[READ], 0, ", "the histogram of read does not add up to its operations"),
    ],
)
def test_a_line_that_an_output_lacks_is_named(fixture, lost, warning):
    lines = (FIXTURES / fixture).read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(lost))
    assert any(warning in one for one in parse(Source(text.encode()))[1].warnings)


def test_of_more_intervals_than_are_kept_none_is_and_a_warning_counts_them():
    data = (FIXTURES / "ycsb/workloada-8-threads-target.txt").read_bytes()
    whole = parse(Source(data))[1]
    found = parse(Source(data, limits=Limits(samples=4)))[1]
    assert found.runs == whole.runs
    assert (len(whole.intervals[0].rows), found.intervals) == (6, ())
    beyond = "6 interval samples beyond 4 (RESULT_MAX_SAMPLES) are not kept"
    assert found.warnings == (*whole.warnings, beyond)


@pytest.mark.parametrize(
    "clock", ["2026-99-99 19:55:52:309", "1960-11-20 19:55:52:309", "2026-11-20 99:99:99:309"]
)
def test_a_clock_that_cannot_be_costs_the_interval_alone(clock):
    text = (FIXTURES / YCSB).read_text()
    (line,) = {line[:23] for line in text.splitlines() if " 1 sec: " in line}
    whole, report = (parse(Source(data.encode()))[1] for data in (text, text.replace(line, clock)))
    assert report.runs[0].readings == whole.runs[0].readings
    assert len(report.intervals[0].rows) <= len(whole.intervals[0].rows)


def test_two_long_names_that_begin_alike_are_never_one_workload():
    rows = [{"command": "x" * 200 + end, "mean": 1.0, "times": [1.0]} for end in ("", "a", "b")]
    report = parse(Source(json.dumps({"results": rows}).encode()))[1]
    whole, *shortened = [run.workload for run in report.runs]
    assert whole == "x" * 200
    assert len(set(shortened)) == 2
    assert all(name.startswith("x" * 180 + "…") and len(name) < 200 for name in shortened)
    assert [run.options for run in report.runs[1:]] == [
        {"whole_workload": rows[at]["command"]} for at in (1, 2)
    ]
    assert all("the workload of 201 characters is shortened" in warning for warning in report.warnings)


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if isinstance(one, JsonSpec)])
def test_a_head_of_one_key_again_and_again_takes_time_that_grows_with_it(name):
    key = FORMATS[name].keys[0].split("|")[0]

    def head(size):
        return ("{" + f'"{key}":' * size)[: 8 * size]

    assert grows_too_fast(lambda text: FORMATS[name].recognise(text.encode()), head) is None


def test_commands_with_parameters_that_are_called_like_secrets_are_different_workloads():
    text = '{"results": [{"command": "run keyKey=5", "mean": 1.0, "times": [1.0]},'
    text += ' {"command": "run keyKey=6", "mean": 1.0, "times": [1.0]}]}'
    assert [run.workload for run in runs_of(text)] == ["run keyKey=5", "run keyKey=6"]
