"""BenchBase beyond the fixtures: which server it was, what does not fit together, runs in one log."""

import json
from pathlib import Path

import pytest

from ingest.formats import parse
from ingest.formats.benchbase import benchbase_json, benchbase_log
from ingest.formats.benchbase.servers import product_and_version
from ingest.formats.report import FormatError
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"
SUMMARY = json.loads((FIXTURES / "benchbase_json/tpcc.json").read_text())
LOG = (FIXTURES / "benchbase_log/tpcc.log").read_text()


def read(**fields):
    return benchbase_json.parse(Source(json.dumps(SUMMARY | fields, indent=1).encode()))


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


@pytest.mark.parametrize(
    ("text", "product", "version"),
    [
        ("5.5.5-10.11.9-MariaDB-ubu2204", "MariaDB", "10.11.9"),
        ("8.0.36-28", None, "8.0.36-28"),
        ("8.0.45", None, "8.0.45"),
        ("5.7.25-TiDB-v6.1.0", "TiDB", "6.1.0"),
        ("PostgreSQL 11.2-YB-2.15.0.0-b0 on x86_64-pc-linux-gnu", "YugabyteDB", "2.15.0.0"),
        ("CockroachDB CCL v22.1.0 (x86_64-pc-linux-gnu, built 2022/05/23)", "CockroachDB", "22.1.0"),
        ("PostgreSQL 17beta2 on x86_64-pc-linux-gnu", "PostgreSQL", "17beta2"),
        ("PostgreSQL 9.6.24 on aarch64-unknown-linux-gnu", "PostgreSQL", "9.6.24"),
        ("PostgreSQL 15.1-something on x86_64", None, None),
        ("16", None, None),
        ("", None, None),
    ],
)
def test_the_server_is_what_it_says_of_itself(text, product, version):
    assert product_and_version(text) == (product, version)


def test_a_version_that_nobody_knows_stays_with_the_run():
    (run,) = read(**{"DBMS Version": "Polar 3"}).runs
    assert (run.product, run.version, run.options["dbms_version"]) == (None, None, "Polar 3")


@pytest.mark.parametrize(
    ("fields", "reason", "line"),
    [
        ({"Throughput (requests/second)": 0}, "0 requests/second: nothing was measured", 24),
        ({"Throughput (requests/second)": 41.0}, "the goodput, 408.483, is above the throughput, 41", 24),
        ({"Measured Requests": 2461}, "the throughput is 410.199, but 2461 requests in 60.0001 s", 24),
        ({"Goodput (requests/second)": "408"}, "'Goodput (requests/second)' is '408', which was not", 25),
        ({"Current Timestamp (milliseconds)": 1}, "'Current Timestamp (milliseconds)' is no time", 3),
        (
            {"Latency Distribution": SUMMARY["Latency Distribution"] | {"Median Latency (microseconds)": 9}},
            "the response times do not rise with their percentiles",
            13,
        ),
    ],
)
def test_what_was_not_measured_is_refused_with_its_line(fields, reason, line):
    with pytest.raises(FormatError) as refused:
        read(**fields)
    assert refused.value.message.startswith(reason)
    assert refused.value.line == line


def test_terminals_that_are_no_number_are_left_to_the_sender():
    report = read(terminals="10,20")
    assert report.runs[0].threads is None
    assert "'10,20'" in report.warnings[0]


def test_no_response_times_are_a_warning():
    report = read(**{"Latency Distribution": None})
    assert list(values(report.runs[0])) == ["ops_per_s", "tps", "total_time", "total_events"]
    assert report.warnings == ("no 'Latency Distribution': only the rates are read",)


def test_runs_in_one_log_have_the_settings_before_them():
    second = LOG.replace("TPCC {", "YCSB {").replace(
        "Terminals:              16", "Terminals:              8"
    )
    report = benchbase_log.parse(Source((LOG + second).encode()))
    assert [(run.key, run.workload, run.threads) for run in report.runs] == [
        ("1", "tpcc", 16),
        ("2", "ycsb", 8),
    ]


def test_the_line_of_the_rates_alone_is_a_result_with_a_warning():
    line = next(line for line in LOG.splitlines() if "Rate limited" in line)
    report = benchbase_log.parse(Source(f"{line}\n".encode()))
    assert values(report.runs[0])["tps"] == 408.48252314231767
    assert report.warnings == ("how many terminals there were is missing: its sender says it",)


def test_a_log_of_a_run_that_failed_is_refused():
    with pytest.raises(FormatError, match="the run ended with an error"):
        benchbase_log.parse(Source(LOG.replace("state=EXIT", "state=ERROR").encode()))


def test_the_user_in_an_address_is_left_where_it_is():
    text = LOG.replace("localhost:5432", "admin:hunter2@localhost:5432")
    assert "hunter2" not in repr(benchbase_log.parse(Source(text.encode())))


@pytest.mark.parametrize(
    "head",
    [
        "Time (seconds),Throughput (requests/second),Average Latency (millisecond)",
        "Time (seconds),Requests,Throughput (requests/second),Minimum Latency (microseconds)",
        "Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds),Worker Id",
    ],
)
def test_the_other_files_of_a_run_are_refused_with_the_name_of_the_one_that_is_read(head):
    with pytest.raises(FormatError, match=r"nearest to benchbase_json, .* send its summary\.json"):
        parse(Source(f"{head}\n0,410.2,38.9\n".encode()))


def test_a_goodput_a_little_above_the_throughput_is_one_and_new_orders_of_oltpbench_are_read():
    line = (
        "20:57:54,318 (DBWorkload.java:896) INFO  - Rate limited reqs/s: Results(nanoSeconds=60000000000, "
        "measuredRequests=3000) = 50.0 requests/sec (throughput), 50.3 requests/sec (goodput)\n"
        "20:57:54,318 (DBWorkload.java:902) INFO  - TPM-C: 1349\n"
    )
    (run,) = benchbase_log.parse(Source(line.encode())).runs
    found = {reading.metric: reading.value for reading in run.readings}
    assert (found["ops_per_s"], found["tps"], found["nopm"]) == (50.0, 50.3, 1349.0)
    assert run.workload == "tpcc"
