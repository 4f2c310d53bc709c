"""YCSB beyond the fixtures: older wordings, what is refused, what warns, and every cut of a real file."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import ycsb
from ingest.formats.limits import Limits
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.cuts import behind_lines_and_at_offsets

FIXTURES = Path(__file__).parents[1] / "fixtures"
REAL = sorted(path for path in (FIXTURES / "ycsb").glob("*") if not path.name.endswith(".expected.json"))
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

CLOSED = "no line says the threads; 4 connections were closed, by HBase two of each thread"
LATENCIES = {
    "Average": "500.5",
    "Min": "1",
    "Max": "9000",
    "95thPercentile": "1200",
    "99thPercentile": "2400",
}


def section(name="READ", operations="1000", unit="us", returns="OK", **latencies):
    lines = [f"[{name}], Operations, {operations}"]
    values = {
        label: latencies.get(label.removesuffix("Percentile"), value) for label, value in LATENCIES.items()
    }
    lines += [f"[{name}], {label}Latency({unit}), {value}" for label, value in values.items()]
    return [*lines, f"[{name}], Return={returns}, {operations}"] if returns else lines


def report(*sections, run_time="10110", throughput="98.91196834817013", before=(), threads="4"):
    """1,000 operations in 10.11 s."""
    overall = [f"[OVERALL], RunTime(ms), {run_time}", f"[OVERALL], Throughput(ops/sec), {throughput}"]
    lines = [*before, *overall, *(sections[0] if sections else section())]
    lines += [line for more in sections[1:] for line in more]
    return "\n".join([*lines, *section("CLEANUP", threads, returns="")]) + "\n"


def parse(text):
    return ycsb.parse(Source(text.encode()))


def readings(text):
    (run,) = parse(text).runs
    return {reading.metric: reading for reading in run.readings}


def values(text):
    return {metric: reading.value for metric, reading in readings(text).items()}


def run_with(command):
    (run,) = parse(report(before=[f"Command line: {command}"])).runs
    return run


def test_a_report_alone_is_understood_in_full():
    found = parse(report())
    assert found.warnings == (CLOSED,)
    assert found.runs[0].threads == 4
    assert values(report())["total_events"] == 1000


def test_old_reports_are_in_milliseconds_and_have_no_blank_after_the_section():
    text = report(section(unit="ms", returns="0", Min="0", Max="71")).replace("[OVERALL], ", "[OVERALL],")
    latency = readings(text.replace("500.5", "5.5"))["read.latency_p95"]
    assert (latency.value, latency.unit, latency.printed_unit) == (1200, "ms", "")
    assert values(text.replace("500.5", "5.5"))["errors_per_s"] == 0


def test_microseconds_become_milliseconds_with_every_digit():
    latency = readings(report(section(Average="0.286", Min="0")))["read.latency_avg"]
    assert (latency.value, latency.unit, latency.printed_unit) == (0.000286, "ms", "us")


def test_a_number_may_have_an_exponent():
    slow = section(Average="6.0014592E7", Max="60030975")
    assert values(report(slow))["read.latency_avg"] == 60014.592


def test_a_throughput_whose_digits_were_cut_is_computed_from_count_and_time():
    assert values(report(throughput="98.91"))["ops_per_s"] == 1000 / 10.11
    assert values(report())["ops_per_s"] == 98.91196834817013


def test_what_was_never_completed_has_no_latency():
    never = section("INSERT", "0.0", returns="", Average="NaN", Min="9.223372036854776E18", Max="0.0")
    found = values(report(section(), [*never, "[INSERT], Return=ERROR, 7"]))
    assert "insert.latency_avg" not in found
    assert found["insert.errors_per_s"] == 7 / 10.11


def test_everything_that_is_returned_but_ok_is_an_error():
    returns = ["[READ], Return=NOT_FOUND, 18", "[READ], Return=ERROR, 3", "[READ], Return=BATCHED_OK, 5"]
    assert values(report([*section(), *returns]))["errors_per_s"] == 21 / 10.11


def test_a_read_modify_write_is_not_counted_twice():
    both = [
        section("READ", "1000"),
        section("UPDATE", "500"),
        section("READ-MODIFY-WRITE", "500", returns=""),
    ]
    found = parse(report(*both))
    assert found.warnings == (CLOSED,)
    assert {one.metric: one.value for one in found.runs[0].readings}["total_events"] == 1000


def test_closing_a_connection_and_the_memory_of_the_client_are_no_operations():
    metrics = values(report(section(), section("USED_MEM_MB", "2", returns="")))
    assert not [metric for metric in metrics if metric.startswith(("cleanup", "used_mem"))]


def test_the_command_line_says_threads_workload_and_options():
    run = run_with(
        "-threads 16 -s -db site.ycsb.db.JdbcDBClient -P /srv/db.properties -P workloads/workloadb -t "
        "-target 500 -p recordcount=1000 -p status.interval=1 -p exportfile=/srv/out.txt"
    )
    assert (run.threads, run.workload) == (16, "workloadb")
    assert run.options == {"recordcount": 1000, "db": "site.ycsb.db.JdbcDBClient", "target": 500}


def test_loading_is_a_workload_of_its_own():
    assert run_with("-load -P workloads\\workloada").workload == "workloada load"


def test_files_of_properties_that_may_be_any_are_no_workload():
    assert run_with("-t -P one.properties -P two.properties").workload is None
    assert run_with("-t -P nightly.properties").workload == "nightly.properties"


def test_no_secret_of_the_command_line_is_kept():
    run = run_with(
        "-t -p db.passwd=geheim -p scylla.password=geheim -p mongodb.url=mongodb://me:geheim@db/x "
        "-p db.user=me"
    )
    assert "geheim" not in str(run)
    assert run.options["db.user"] == "me"


def test_threads_that_did_not_end_are_named():
    text = report(before=["Command line: -threads 8 -t -P workloads/workloada"], threads="7")
    assert parse(text).warnings == ("only 7 of 8 threads closed their connection",)


def test_of_more_status_lines_than_are_kept_none_is_and_a_warning_counts_them():
    data = (FIXTURES / "ycsb" / "workloada-8-threads-target.txt").read_bytes()
    whole = ycsb.parse(Source(data))
    found = ycsb.parse(Source(data, limits=Limits(samples=4)))
    assert found.runs == whole.runs
    assert (len(whole.intervals[0].rows), found.intervals) == (6, ())
    assert found.warnings == (
        *whole.warnings,
        "6 interval samples beyond 4 (RESULT_MAX_SAMPLES) are not kept",
    )


def test_status_lines_may_have_a_label_and_a_decimal_comma():
    status = (
        "north2026-11-20 19:55:52:309 7 sec: 2000 operations; 2953,78 current ops/sec; est completion in "
        "1 second [READ: Count=942, Max=4835, Min=0, Avg=580,68, 90=1108, 99=2047, 99.9=3957, 99.99=4835] "
    )
    found = parse(report(before=[status]))
    (table,) = found.intervals
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["time_s"], row["ops_per_s"], row["read.latency_avg"]) == (7, 2953.78, 0.58068)
    assert found.runs[0].started_at.isoformat() == "2026-11-20T19:55:45.309000"


def test_what_failed_in_an_interval_is_counted_by_operation():
    status = (
        "2026-11-20 19:55:52:309 7 sec: 2000 operations; 2953.78 current ops/sec; est completion in 1 second "
        "[READ: Count=942, Max=4835, Min=0, Avg=580.68, 90=1108, 99=2047, 99.9=3957, 99.99=4835] "
        "[READ-FAILED: Count=12, Max=85, Min=3, Avg=40.5, 90=77, 99=85, 99.9=85, 99.99=85] "
    )
    (table,) = parse(report(before=[status])).intervals
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["read.failed"], row["read_failed.latency_avg"]) == (12, 0.0405)


def test_a_run_that_was_stopped_is_left_out_of_several():
    stopped = "Command line: -t -threads 2\nYCSB Client 0.17.0\nLoading workload...\n"
    found = parse(report() + stopped)
    assert [run.key for run in found.runs] == ["1"]
    assert found.warnings[1].startswith("run 2: left out: no final report")


def test_reports_one_after_another_are_runs_of_their_own():
    assert [run.key for run in parse(report() + report()).runs] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (report(throughput="0.0"), 2, "not one operation was completed"),
        (report(run_time="0"), 1, "took no time"),
        (report(throughput="NaN"), 2, "'NaN' is not a number"),
        (report(throughput="-5"), 2, "-5 is negative: the clock"),
        (report(throughput="1E999"), 2, "too large"),
        (report(run_time="9" * 5000), 15, "no '.OVERALL., RunTime"),
        (report(section(Average="٣")), 4, "is not a number"),
        (report(section(Min="600")), 5, "not in this order"),
        (report(section(), section()), 10, "is there twice"),
        (report(section(), section("read")), 10, "is called as the one in line 3"),
        ("[READ], Operations, 1000\n", 1, "no final report"),
        ("[OVERALL], RunTime(ms), 10110\n", 1, "no '.OVERALL., Throughput"),
    ],
)
def test_what_cannot_have_been_measured_is_refused_with_its_line(text, line, reason):
    with pytest.raises(FormatError, match=reason) as refused:
        parse(text)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("lost", "warning"),
    [
        ("[READ], 99thPercentileLatency(us)", "no '99thPercentileLatency(us)'"),
        ("[READ], Return=", "no 'Return='"),
        ("[UPDATE]", "tell of 500 operations, but 1000 were run"),
        ("[CLEANUP]", "'[CLEANUP]' is missing"),
    ],
)
def test_what_a_report_lacks_is_named(lost, warning):
    whole = report(section("READ", "500"), section("UPDATE", "500"))
    text = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith(lost))
    assert any(warning in one for one in parse(text).warnings)


def test_a_last_line_without_an_end_is_not_read():
    assert parse(report().removesuffix("\n")).warnings[0].startswith("line 15, the last one, has no line end")


def test_a_histogram_that_breaks_off_is_noticed():
    buckets = ["[READ], 0, 600", "[READ], 1, 400", "[READ], >2, 0"]
    assert parse(report([*section(), *buckets])).warnings == (CLOSED,)
    told = parse(report([*section(), *buckets[:1]])).warnings
    assert any("does not add up to its operations" in warning for warning in told)


def test_lines_of_windows_are_read_alike():
    assert parse(report().replace("\n", "\r\n")) == parse(report())


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_cut_file_is_understood_refused_or_warned_about(path):
    """Between two runs that were appended, a file is a complete file of the first of them."""
    data = path.read_bytes()
    whole = _parsed(data)
    for end in behind_lines_and_at_offsets(data):
        found = _parsed(data[:end])
        if found is None:
            continue
        runs = [run.readings for run in found.runs]
        is_whole = whole is not None and runs == [run.readings for run in whole.runs][: len(runs)]
        assert found.warnings or is_whole, data[:end][-80:]
        assert found.warnings or data[:end].endswith((b"\n", b"]")), data[:end][-80:]


def _parsed(data):
    try:
        return ycsb.parse(Source(data))
    except FormatError:
        return None


def test_no_other_file_is_recognised():
    others = [path for path in FIXTURES.glob("*/*") if path.is_file() and path.parent.name != "ycsb"]
    assert not [path for path in others if ycsb.recognise(Source(path.read_bytes()).head)]


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of measured files is not there")
def test_no_measured_file_of_another_tool_is_recognised():
    files = [path for path in DATA.rglob("*") if path.is_file() and path.stat().st_size]
    assert not [path for path in files if ycsb.recognise(Source(path.read_bytes()).head)]


_VALUES = st.sampled_from(["0", "1", "-1", "NaN", "1e999", "9" * 400, "٣", "1,5", "1.5", "", "∞", "1E-4"])
_NAMES = st.sampled_from(
    [
        *(
            "RunTime(ms)",
            "Throughput(ops/sec)",
            "Operations",
            "Return=OK",
            "Return=ERROR",
            "0",
            ">1000",
            "p95",
        ),
        *("AverageLatency(us)", "99.9PercentileLatency(ms)", "LatencyVariance(us)"),
    ]
)
_SECTIONS = st.sampled_from(["OVERALL", "READ", "READ-FAILED", "CLEANUP", "TOTAL_GCs", "read"])


@given(st.lists(st.tuples(_SECTIONS, _NAMES, _VALUES), max_size=15))
def test_no_report_raises_anything_but_a_format_error(rows):
    with suppress(FormatError):
        parse("".join(f"[{section}], {name}, {value}\n" for section, name, value in rows))


@given(st.text(max_size=300))
def test_no_text_raises_anything_but_a_format_error(text):
    with suppress(FormatError):
        parse(text)


def test_reports_that_a_document_indents_and_that_begin_with_the_rate_are_runs_of_their_own():
    lines = report(section()).splitlines()
    turned = "\n".join(f"      {line}" for line in [lines[1], lines[0], *lines[2:]])
    text = f"Workload A:\n\n{turned}\n\nWorkload B:\n\n{turned}\n"
    assert ycsb.recognise(text.encode())
    parsed = ycsb.parse(Source(text.encode()))
    assert [run.workload for run in parsed.runs] == ["Workload A", "Workload B"]


def test_sections_without_a_rate_are_read_with_the_commands_of_their_own_block():
    lines = "\n".join(section())
    elsewhere = "./bin/ycsb load jdbc -P workloads/workloada -threads 9\n```\n```\n"
    calls = elsewhere + "bin/ycsb run jdbc -P workloads/{} \\\n-threads {}\n"
    one, two = (
        f"{calls.format(name, threads)}{lines}\n" for name, threads in (("workloadc", 8), ("workloadd", 16))
    )
    parsed = parse(f"```\n{one}{two}```\n")
    assert [(run.workload, run.threads, run.duration_s) for run in parsed.runs] == [
        ("workloadc", 8, None),
        ("workloadd", 16, None),
    ]
    assert "ops_per_s" not in {reading.metric for reading in parsed.runs[0].readings}
    assert "there is no rate" in parsed.warnings[0]
