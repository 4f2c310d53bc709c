"""sysbench's text beyond the fixtures: what is refused, what warns, and every real file there is."""

import json
import random
import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench
from tests.ingest.formats import real_files

FIXTURES = real_files.FIXTURES / "sysbench"
DATA = real_files.SHARED
MEASURED = DATA / "sysbench"
THIRD_PARTY = DATA / "third_party" / "small_datum"

REPORT = FIXTURES / "oltp_read_write-nightly.txt"
NOT_RUNS = {"fileio-prepare.txt", "fileio-cleanup.txt", "help-oltp.txt", "version.txt", "verbosity-0.txt"}

VERSION_1_1 = """\
+ LUA_PATH=/opt/lua/?.lua /opt/bin/sysbench --threads=2 --table_size=1000 --time=600 --hot-points \
--mysql-password=geheim /opt/lua/oltp_scan.lua run --mysql-user=root --secondary=off > out 2>&1
8 CPUs
sysbench 1.1.0-3ceba0b (using bundled LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 2
Warmup time: 5s
Initializing random number generator from current time


Initializing worker threads...

explain: for scan :: explain SELECT * from sbtest1
	-> Table scan on sbtest1  (cost=1.1e+06 rows=1000)
	1	SIMPLE	sbtest1	null	ALL

Threads started!

Warming up for 5 seconds...

SQL statistics:
    queries performed:
        read:                            51
        write:                           0
        other:                           0
        total:                           51
    transactions:                        51     (0.08 per sec.)
    queries:                             51     (0.08 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      0.0850
    time elapsed:                        600.0000s
    total number of events:              51

Latency (ms):
         min:                                11000.00
         avg:                                11500.00
         max:                                12000.00
         95th percentile:                    11900.00
         sum:                               586500.00

Threads fairness:
    events (avg/stddev):           25.5000/0.50
    execution time (avg/stddev):   293.2500/0.00

"""

FILEIO_1_1 = """\
sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 1

Doing random r/w test
Initializing worker threads...

Threads started!


Throughput:
         read:  IOPS=60.50 0.95 MiB/s (0.99 MB/s)
         write: IOPS=40.25 0.63 MiB/s (0.66 MB/s)
         fsync: IOPS=128.00

Latency (ms):
         min:                                    0.01
         avg:                                    0.02
         max:                                    0.30
         95th percentile:                        0.04
         sum:                                    2.00

"""


def read(text):
    return sysbench.parse(Source(text if isinstance(text, bytes) else text.encode()))


def report(*changes):
    """The text of a real report with some of it replaced; what is replaced must be there."""
    text = REPORT.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def refusal(text):
    with pytest.raises(FormatError) as error:
        read(text)
    return error.value.line, error.value.message


# Which figure is taken


def test_a_rate_is_computed_from_the_least_rounded_figure_of_the_report():
    run = values(read(report()).runs[0])
    assert run["qps"] == 11518.61
    assert run["tps"] == pytest.approx(1156 * 11518.61 / 23120, rel=1e-12)
    assert round(run["tps"], 2) == 575.93


def test_where_little_happened_in_a_second_the_total_time_gives_the_rates():
    run = values(read(VERSION_1_1).runs[0])
    assert run["tps"] == run["qps"] == run["reads_per_s"] == run["events_per_s"] == 51 / 600


def test_where_much_happened_in_a_second_version_1_1_gives_the_rates_itself():
    text = (
        VERSION_1_1.replace("51", "510000").replace("(0.08 per", "(850.00 per").replace("0.0850", "850.0012")
    )
    assert values(read(text).runs[0])["qps"] == 850.0012


def test_a_printed_rate_that_contradicts_its_count_is_kept():
    text = report(("1156   (575.93", "1156   (57.59"))
    assert values(read(text).runs[0])["tps"] == 57.59


def test_rates_that_cover_less_than_the_total_time_are_told():
    text = report(("2.0067s", "4.0067s"))
    assert read(text).warnings == (
        "the printed rates are those of 2.007 s, but the total time is 4.007 s (line 27)",
    )


def test_several_percentiles_are_all_read_and_none_above_100():
    more = "95th percentile: 10.09\n 99th percentile: 12.5\n 999th percentile: 13.5"
    text = report(("95th percentile:                       10.09", more))
    parsed = read(text)
    run = values(parsed.runs[0])
    assert (run["latency_p95"], run["latency_p99"]) == (10.09, 12.5)
    assert "latency_p999" not in run
    assert parsed.warnings == ("999 is no percentile and was left out (line 36)",)


# The command line, threads and options


def test_a_command_line_before_the_banner_names_the_test_and_its_options_but_no_secrets():
    parsed = read(VERSION_1_1)
    run = parsed.runs[0]
    assert run.workload == "oltp_scan"
    assert run.options == {
        "table-size": 1000,
        "time": 600,
        "hot-points": True,
        "mysql-user": "root",
        "secondary": False,
        "warmup-time": 5,
        "percentile": 95,
    }
    assert parsed.facts["command"].startswith("+ LUA_PATH=")
    assert parsed.facts["tool_version"] == "1.1.0-3ceba0b"


@pytest.mark.parametrize(
    ("line", "workload"),
    [
        ("$ sysbench oltp_read_only --tables=4 run", "oltp_read_only"),
        ("sysbench --test=/usr/share/sysbench/oltp.lua --num-threads=4 run | tee log", "oltp"),
        ("sysbench run --test=select", "select"),
        ("sysbench $TEST --threads=4 run", None),
        ("sysbench '<test>' --threads=4 run", None),
        ("sysbench ./tpcc.lua --scale=10 prepare", None),
        ("now sysbench is going to run", None),
        ("run it again", None),
    ],
)
def test_the_test_is_named_by_a_call_of_sysbench_only(line, workload):
    assert read(f"{line}\n{report()}").runs[0].workload == workload


def test_a_command_may_go_on_behind_a_backslash():
    parsed = read(f"sysbench \\\n  oltp_insert --tables=4 \\\n  --threads=4 run\n{report()}")
    assert parsed.runs[0].workload == "oltp_insert"
    assert parsed.facts["command"] == "sysbench oltp_insert --tables=4 --threads=4 run"


def test_a_script_that_is_called_itself_names_the_test():
    parsed = read(f"$ ./tpcc.lua --scale=10 --mysql-password='a b' run\n{report()}")
    assert parsed.runs[0].workload == "tpcc"
    assert parsed.runs[0].options["scale"] == 10
    assert parsed.facts["command"] == "$ ./tpcc.lua --scale=10 --mysql-password=*** run"


@pytest.mark.parametrize(
    ("fixture", "workload"),
    [
        ("cpu", "cpu"),
        ("memory", "memory"),
        ("fileio-rndrw", "fileio"),
        ("0.4-oltp-in-seconds", "oltp"),
        ("threads-verbose", "threads"),
        ("threads", None),
        ("mutex", None),
        ("bulk_insert", None),
    ],
)
def test_the_report_names_the_test_only_where_it_is_certain(fixture, workload):
    assert read((FIXTURES / f"{fixture}.txt").read_text()).runs[0].workload == workload


def test_the_command_names_the_test_before_the_report_does():
    text = (FIXTURES / "0.4-oltp-in-seconds.txt").read_text()
    assert read(f"sysbench --test=tests/db/select.lua run\n{text}").runs[0].workload == "select"


def test_threads_are_those_of_the_command_where_the_header_and_the_events_do_not_say_them():
    text = report(("Number of threads: 4\n", ""))
    parsed = read(text)
    assert parsed.runs[0].threads == 4
    assert "no line says the threads; that there were 4 follows from the events of each" in parsed.warnings
    unsaid = text[: text.index("Threads fairness:")]
    assert read("sysbench oltp_read_only --threads=8 run\n" + unsaid).runs[0].threads == 8


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sysbench oltp_read_only --threads=8 run", "it asks for 8 threads, and there were 4"),
        ("sysbench fileio --threads=4 run", "it runs fileio, and the report is one of queries"),
    ],
)
def test_a_command_that_contradicts_the_report_below_is_that_of_another_run(command, reason):
    parsed = read(f"{command}\n{report()}")
    assert (parsed.runs[0].workload, parsed.runs[0].threads, parsed.facts.get("command")) == (None, 4, None)
    assert parsed.warnings == (f"the command above the report was not used: {reason}",)


def test_of_several_commands_that_of_the_run_is_the_one_with_nothing_behind_it():
    commands = "sysbench oltp_insert --threads=4 run\nsysbench oltp_delete --threads=4 run\n"
    assert read(commands + report()).runs[0].workload == "oltp_delete"
    assert read(f"{commands}\nThe results:\n\n{report()}").runs[0].workload is None


def test_fileio_of_1_1_prints_no_totals():
    parsed = read(FILEIO_1_1)
    run = parsed.runs[0]
    assert values(run) == {
        "reads_per_s": 60.5,
        "read_mib_per_s": 0.95,
        "writes_per_s": 40.25,
        "written_mib_per_s": 0.63,
        "fsyncs_per_s": 128.0,
        "latency_min": 0.01,
        "latency_avg": 0.02,
        "latency_max": 0.3,
        "latency_p95": 0.04,
        "latency_sum": 2.0,
    }
    assert run.duration_s is None
    assert parsed.warnings == ()


# Intervals


def test_interval_lines_of_older_1_0_have_fewer_colons_and_blanks():
    text = report(("[ 1s ] ", "[   1s] "), ("err/s: 0.00 reconn/s: 0.00", "err/s 0.00 reconn/s 0.00"))
    assert read(text).intervals == read(report()).intervals


def test_an_interval_line_within_the_report_does_not_tear_it():
    tick = REPORT.read_text().splitlines()[12]
    text = report(("    ignored errors:", f"{tick}\n    ignored errors:"))
    assert read(text).runs == read(report()).runs
    assert len(read(text).intervals[0].rows) == 3


def one_tick(line):
    """The table of a run whose only interval line this is."""
    ticks = REPORT.read_text().splitlines()[12:14]
    text = report((f"{ticks[0]}\n", ""), (ticks[1], line))
    return read(text).intervals[0]


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        (
            "[ 10s ] thds: 4 tps: 5.50 qps: 6.25 lat (ms,99%): 7.50 err/s: 8.00 reconn/s: 9.00",
            {"threads": 4, "tps": 5.5, "qps": 6.25, "latency_p99": 7.5, "errors_per_s": 8}
            | {"reconnects_per_s": 9},
        ),
        (
            (
                "[10s] threads: 4, tps: 5.50, reads: 6.00, writes: 7.00, response time: 8.25ms (95%), "
                "errors: 9.00, reconnects:  1.00"
            ),
            {"threads": 4, "tps": 5.5, "reads_per_s": 6, "writes_per_s": 7, "latency_p95": 8.25}
            | {"errors_per_s": 9, "reconnects_per_s": 1},
        ),
        (
            "[  10s] threads: 4, tps: 5.50, reads/s: 6.00, writes/s: 7.00, response time: 8.25ms (99%)",
            {"threads": 4, "tps": 5.5, "reads_per_s": 6, "writes_per_s": 7, "latency_p99": 8.25},
        ),
        (
            (
                "[ 10s] threads: 4 tps: 5.50 qps: 6.00 (r/w/o: 1.00/2.00/3.00) latency: 8.25ms (95%) "
                "errors/s: 0.50 reconnects/s: 0.25"
            ),
            {"threads": 4, "tps": 5.5, "qps": 6, "reads_per_s": 1, "writes_per_s": 2, "other_per_s": 3}
            | {"latency_p95": 8.25, "errors_per_s": 0.5, "reconnects_per_s": 0.25},
        ),
        (
            (
                "[ 10s ] thds: 4 tps: 5.50 qps: 6.00 (r/w/o: 1.00/2.00/3.00) lat (ms,0%): 0.00 "
                "err/s 0.50 reconn/s: 0.25 no: 1.50 pt: 2.50 os: 3.50 dl: 4.50 sl: 5.25"
            ),
            {"threads": 4, "tps": 5.5, "qps": 6, "reads_per_s": 1, "writes_per_s": 2, "other_per_s": 3}
            | {"errors_per_s": 0.5, "reconnects_per_s": 0.25, "new_orders_per_s": 1.5}
            | {"payments_per_s": 2.5, "order_statuses_per_s": 3.5, "deliveries_per_s": 4.5}
            | {"stock_levels_per_s": 5.25},
        ),
        (
            "[  10s] reads: 1.70 MB/s writes: 0.50 MB/s fsyncs: 2.00/s response time: 54.416ms (95%)",
            {"read_mib_per_s": 1.7, "written_mib_per_s": 0.5, "fsyncs_per_s": 2, "latency_p95": 54.416},
        ),
        ("[  10s] 119.11 MB/sec,", {"transferred_mib_per_s": 119.11}),
        (
            "10,4,5.50,6.00,1.00,2.00,3.00,8.25,0.50,0.25",
            {"threads": 4, "tps": 5.5, "qps": 6, "reads_per_s": 1, "writes_per_s": 2, "other_per_s": 3}
            | {"latency_p95": 8.25, "errors_per_s": 0.5, "reconnects_per_s": 0.25},
        ),
    ],
)
def test_every_shape_of_an_interval_line_is_read(line, columns):
    table = one_tick(line)
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {"time_s": 10} | columns


def test_with_percentiles_off_a_line_of_report_csv_has_no_latency():
    text = (FIXTURES / "percentile-off.txt").read_text()
    csv = "1,8,5.50,6.00,1.00,2.00,3.00,0.00,0.50,0.25\n"
    table = read(text.replace("SQL statistics:", f"{csv}SQL statistics:")).intervals[-1]
    assert not any(column.startswith("latency") for column in table.columns)
    assert table.rows[-1][:4] == (1, 8, 5.5, 6)


def test_numbers_in_a_row_are_no_interval_line_outside_a_run():
    line = "1,2,3,4,5,6,7,8,9,10\n"
    parsed = read(line + report() + line)
    assert parsed.runs == read(report()).runs
    assert parsed.intervals == read(report()).intervals


def test_a_rate_below_zero_is_left_out_with_a_warning():
    """sysbench 0.5 prints it after a checkpoint: 2 to the power of 64 less something, over the seconds."""
    text = (FIXTURES / "0.5-checkpoints.txt").read_text()
    assert "tps: 18446744073709151.61" in text
    parsed = read(text)
    assert [row[0] for row in parsed.intervals[0].rows] == [1, 3]
    assert parsed.warnings[1] == "1 interval lines were not understood, the first in line 42"


def test_of_several_histograms_the_one_of_the_last_report_counts():
    text = (FIXTURES / "lua-hook-checkpoints-histogram.txt").read_text()
    earlier = "Latency histogram (values are in milliseconds)\n       9.999 |*                   7\n \n"
    parsed = read(text.replace("[ 1s ] Checkpoint", f"{earlier}[ 1s ] Checkpoint"))
    assert parsed.intervals == read(text).intervals
    assert sum(count for _, count in parsed.intervals[1].rows) == 999202


def test_interval_lines_of_an_unknown_shape_are_counted():
    text = report(("[ 1s ] thds: 4 tps", "[ 1s ] mine: 4 tps"))
    assert read(text).warnings == ("1 interval lines were not understood, the first in line 13",)
    assert len(read(text).intervals[0].rows) == 1


# What a script prints before the banner


@pytest.mark.parametrize(
    ("before", "cpus"),
    [
        ("48 CPUs\n", 48),
        ("+ nproc\n1 CPU\n+ sysbench cpu run\n", 1),
        ("4 CPUs\n48 CPUs\n", 48),
        ("0 CPUs\n", None),
        ("48 CPUs online\n", None),
        ("9999999 CPUs\n", None),
        ("\u0664 CPUs\n", None),
    ],
)
def test_a_number_of_cpus_before_the_banner_is_a_fact(before, cpus):
    assert read(before + report()).facts.get("cpus") == cpus


def test_runs_that_name_other_numbers_of_cpus_have_none_in_common():
    assert read(f"4 CPUs\n{report()}4 CPUs\n{report()}").facts["cpus"] == 4
    assert "cpus" not in read(f"4 CPUs\n{report()}8 CPUs\n{report()}").facts


# Reports of Lua hooks


HOOKS = (FIXTURES / "lua-report-json.txt").read_text()
TICKS, FINAL = HOOKS[: HOOKS.rindex("[\n")], HOOKS[HOOKS.rindex("[\n") :]


def test_the_rank_of_a_hooks_percentile_is_that_of_the_command():
    (run,) = read(f"+ sysbench rw.lua --percentile=99 run\n{HOOKS}").runs
    assert run.readings[-1].metric == "latency_p99"
    assert run.options["percentile"] == 99


def test_a_time_before_every_line_changes_nothing_in_what_hooks_print():
    stamped = "".join(f"2026-11-20T15:31:13Z {line}\n" for line in HOOKS.splitlines())
    (run,) = read(stamped).runs
    assert replace(run, started_at=None) == read(HOOKS).runs[0]
    assert read(stamped).intervals == read(HOOKS).intervals


def test_runs_of_hooks_under_banners_are_several_runs():
    parsed = read(HOOKS + (FIXTURES / "lua-report-json-intervals.txt").read_text())
    assert [run.readings[-1].metric for run in parsed.runs] == ["latency_pct", "fairness_time_stddev"]
    assert [table.run for table in parsed.intervals] == ["1", "2"]


def test_intervals_of_a_hook_alone_are_no_report():
    with pytest.raises(FormatError, match="no final report"):
        read(TICKS)


def test_two_final_reports_of_hooks_behind_one_banner_are_refused():
    with pytest.raises(FormatError, match="more reports follow this line without a banner") as refused:
        read(HOOKS + FINAL)
    assert refused.value.line == HOOKS.count("\n")


def test_a_hook_that_prints_no_number_is_refused_with_its_line():
    with pytest.raises(FormatError, match="tps is 'nan'") as refused:
        read(HOOKS.replace('"tps": 1124.39', '"tps": nan'))
    assert refused.value.line == 72


def test_a_checkpoint_before_the_final_report_of_a_hook_is_told():
    text = (FIXTURES / "lua-report-json-at-the-end.txt").read_text()
    parsed = read(text.replace("[ 3s ]", "[ 2s ] Checkpoint report:\n[ 3s ]"))
    assert parsed.warnings == ("after the checkpoint in line 15 the report covers only the rest of the run",)


def test_what_is_wrong_with_the_intervals_of_a_hook_does_not_cost_the_report():
    text = (FIXTURES / "lua-report-json-intervals.txt").read_text()
    parsed = read(text.replace('"tps": 956.15', '"tps": nan'))
    assert parsed.runs == read(text).runs
    assert [row[0] for row in parsed.intervals[0].rows] == [1, 3, 4]
    (warning,) = parsed.warnings
    assert warning.startswith("what a hook printed was not read in full: tps is 'nan'")
    assert warning.endswith("(line 28)")


# A time before every line


@pytest.mark.parametrize(
    ("stamp", "started_at"),
    [
        ("2026-11-20T15:31:13Z", "2026-11-20T15:31:13+00:00"),
        ("2026-11-20T15:31:13.123456+01:00", "2026-11-20T15:31:13.123456+01:00"),
        ("[2026-11-20 15:31:13]", "2026-11-20T15:31:13+00:00"),
        ("2026-11-20 15:31:13,123", "2026-11-20T15:31:13.123000+00:00"),
        ("1795188673.500000", "2026-11-20T15:31:13.500000+00:00"),
        ("Nov 20 15:31:13", None),
        ("Nov  2 15:31:13", None),
        ("00:00:01", None),
        ("2026-13-45 15:31:13", None),
    ],
)
def test_a_time_before_every_line_changes_nothing_and_tells_when_the_run_began(stamp, started_at):
    text = "".join(f"{stamp} {line}\n" for line in report().splitlines())
    assert sysbench.recognise(Source(text.encode()).head)
    parsed = read(text)
    (run,) = parsed.runs
    assert run.started_at == (started_at and datetime.fromisoformat(started_at))
    plain = read(report())
    assert replace(run, started_at=None) == plain.runs[0]
    assert (parsed.intervals, parsed.facts) == (plain.intervals, plain.facts)


def test_a_time_without_offset_counts_as_utc_with_a_warning():
    text = "".join(f"2026-11-20 15:31:13 {line}\n" for line in report().splitlines())
    assert read(text).warnings == ("the time '2026-11-20 15:31:13' has no offset and counts as UTC (line 1)",)


def test_a_time_may_lose_its_blank_on_empty_lines():
    lines = [f"Nov 20 15:31:13 {line}".rstrip() for line in report().splitlines()]
    assert read("\n".join(lines) + "\n").runs == read(report()).runs


def test_a_line_that_begins_like_a_time_keeps_it_where_the_banner_has_none():
    assert (
        read(report(("[ 1s ]", "00:00:01 [ 1s ]"))).intervals[0].rows == read(report()).intervals[0].rows[1:]
    )


# Versions before 1.0


OLD_FAIRNESS = "\nThreads fairness:\n    events (avg/stddev):           10.0000/0.50\n"


def before_1_0(latency):
    """A report as sysbench printed it on the way from 0.5 to 1.0."""
    return (
        "sysbench 1.0:  multi-threaded system evaluation benchmark\n\n"
        "Running the test with following options:\nNumber of threads: 2\n\nThreads started!\n\n"
        "OLTP test statistics:\n    queries performed:\n        read:                            10\n"
        "        write:                           6\n        other:                           4\n"
        "        total:                           20\n"
        "    transactions:                        20     (10.00 per sec.)\n"
        "    read/write requests:                 16     (8.00 per sec.)\n"
        "    other operations:                    4      (2.00 per sec.)\n"
        "    ignored errors:                      2      (1.00 per sec.)\n"
        "    reconnects:                          0      (0.00 per sec.)\n\n"
        "General statistics:\n    total time:                          2.0000s\n"
        "    total number of events:              20\n"
        f"    total time taken by event execution: 3.5000s\n{latency}{OLD_FAIRNESS}"
        "    execution time (avg/stddev):   1.7500/0.25\n"
    )


@pytest.mark.parametrize(
    "latency",
    [
        (
            "    response time:\n         min:       10.25ms\n         avg:       175.00ms\n"
            "         max:       900.50ms\n         approx.  95 percentile:      376.50ms\n"
        ),
        (
            "\nLatency statistics:\n         min:       10.25ms\n         avg:       175.00ms\n"
            "         max:       900.50ms\n         approx.  95th percentile:    376.50ms\n"
        ),
    ],
)
def test_reports_between_0_5_and_1_0_are_read(latency):
    parsed = read(before_1_0(latency))
    assert values(parsed.runs[0]) == {
        "tps": 10,
        "qps": 10,
        "reads_per_s": 5,
        "writes_per_s": 3,
        "other_per_s": 2,
        "errors_per_s": 1,
        "reconnects_per_s": 0,
        "events_per_s": 10,
        "latency_min": 10.25,
        "latency_avg": 175,
        "latency_max": 900.5,
        "latency_p95": 376.5,
        "latency_sum": 3500,
        "total_time": 2,
        "total_events": 20,
        "fairness_events_stddev": 0.5,
        "fairness_time_stddev": 0.25,
    }
    assert parsed.warnings == ()


def test_a_response_time_in_seconds_keeps_its_digits():
    text = (FIXTURES / "0.4-oltp-in-seconds.txt").read_text()
    run = values(read(text.replace("0.1163s", "0.0123s")).runs[0])
    assert run["latency_p95"] == 12.3


def test_the_size_of_what_fileio_moved_is_counted_in_blocks_where_the_header_tells_their_size():
    text = (FIXTURES / "0.4-fileio.txt").read_text()
    assert values(read(text).runs[0])["written_mib_per_s"] == pytest.approx(3997 * 16 / 1024 / 50)
    without = read(text.replace("Block size 16Kb\n", "")).runs[0]
    assert values(without)["written_mib_per_s"] == pytest.approx(62.453 / 50)
    larger = read(text.replace("Block size 16Kb\n", "Block size 64Kb\n")).runs[0]
    assert values(larger)["written_mib_per_s"] == pytest.approx(62.453 / 50)


def test_an_old_count_that_overflowed_is_refused():
    text = (FIXTURES / "0.4-oltp.txt").read_text()
    assert refusal(text.replace("420028", "-2147063620"))[1].startswith("'-2147063620' is not a number")


# Several runs in one file


def test_a_thread_sweep_in_one_file_is_several_runs():
    eight = report(("Number of threads: 4", "Number of threads: 8"))
    prepare = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCreating table 'sbtest1'...\n"
    parsed = read(prepare + report() + eight + prepare)
    assert [(run.key, run.threads) for run in parsed.runs] == [("1", 4), ("2", 8)]
    assert [(table.run, len(table.rows)) for table in parsed.intervals] == [("1", 2), ("2", 2)]
    assert parsed.warnings == ("run 2: the header says 8 threads, and the events of each are those of 4",)


def test_each_run_of_a_sweep_has_the_command_line_before_its_own_banner():
    parsed = read(
        f"+ sysbench oltp_read_write run\n{report()}+ sysbench oltp_insert run\n{report()}{report()}"
    )
    assert [run.workload for run in parsed.runs] == ["oltp_read_write", "oltp_insert", None]
    assert parsed.facts["command"] == "+ sysbench oltp_read_write run\n+ sysbench oltp_insert run"


def test_a_failed_run_of_a_sweep_is_left_out_with_a_warning_and_the_others_keep_their_keys():
    failed = (FIXTURES / "fatal-no-table.txt").read_text()
    parsed = read(report() + failed + report())
    assert [run.key for run in parsed.runs] == ["1", "3"]
    assert len(parsed.warnings) == 1
    assert parsed.warnings[0].startswith("run 2: left out: sysbench failed: 'mysql_stmt_prepare() failed'")
    assert parsed.warnings[0].endswith("(line 50)")


def test_a_sweep_that_is_cut_within_its_last_run_says_so():
    parsed = read(report() + report()[:900])
    assert [run.key for run in parsed.runs] == ["1"]
    assert parsed.warnings[0].startswith("line 63, the last one, has no line end")
    assert parsed.warnings[1].startswith("run 2: left out: ")


def test_a_banner_with_nothing_behind_it_at_the_end_is_told():
    banner = report().splitlines(keepends=True)[0]
    parsed = read(report() + banner)
    assert parsed.runs == read(report()).runs
    assert parsed.warnings == ("line 41: the file ends with a banner, and no run behind it",)


def test_many_failed_runs_give_few_warnings():
    failed = (FIXTURES / "fatal-no-table.txt").read_text()
    warnings = read(report() + failed * 100).warnings
    assert len(warnings) == 21
    assert warnings[-1] == "80 more such warnings"


# What is refused


@pytest.mark.parametrize("number", ["nan", "-nan", "inf", "-1.00", "1e999", "10,09", "9" * 30, "0x10", "١"])
@pytest.mark.parametrize(
    ("old", "line"), [("10.09", 34), ("11518.61", 22), ("16184", 17), ("2.0067", 27), ("9.56", 14)]
)
def test_what_is_no_measured_number_is_refused_with_its_line(old, line, number):
    assert refusal(report((old, number)))[0] == line


def test_the_sum_of_nothing_is_refused():
    text = report(("4.16", "18446744073709.55"))
    assert refusal(text) == (31, "18446744073709.55 is too large to have been measured")


@pytest.mark.parametrize("number", ["0", "1.5", "4000000"])
def test_a_number_of_threads_that_cannot_be_is_refused(number):
    text = report(("Number of threads: 4", f"Number of threads: {number}"))
    assert refusal(text) == (4, f"{number} is not a number of threads")


def test_a_run_without_events_is_refused():
    text = report(("events:              1156", "events:              0"))
    assert refusal(text) == (28, "not one event was completed")


def test_queries_that_do_not_add_up_are_refused():
    text = report(("write:                           4624", "write:                           462"))
    assert refusal(text) == (17, "the queries performed do not add up to their total")


def test_an_average_latency_above_the_highest_is_refused():
    text = report(("14.35", "1.435"))
    assert refusal(text) == (32, "the least, average and highest latency are not in this order")


def test_two_reports_written_into_each_other_are_refused():
    text = report(("        other: ", "        write:                           4624\n        other: "))
    assert refusal(text) == (19, "'write:' is there twice: did two processes write into one file?")


def test_a_second_report_without_a_banner_is_refused_with_its_line():
    text = report() + report()[report().index("SQL statistics") :]
    line, message = refusal(text)
    assert line == 41
    assert "another report begins without a banner" in message


def test_a_checkpoint_report_alone_is_no_final_report():
    text = report(("SQL statistics:", "[ 2s ] Checkpoint report:\nSQL statistics:"))
    assert refusal(text)[1].startswith("no final report")


@pytest.mark.parametrize("version", ["0.3", "2.0.1", "10.0"])
def test_a_version_that_is_not_known_is_refused_by_name(version):
    text = report(("sysbench 1.0.20 (using", f"sysbench {version} (using"))
    assert sysbench.recognise(text.encode())
    assert refusal(text) == (1, f"sysbench {version} is not read, only 0.4, 0.5, 1.0 and 1.1 are")


def test_a_fatal_line_is_quoted_without_secrets():
    fatal = "FATAL: no login with password=geheim at mysql://me:geheim@db/ token: geheim\n"
    text = report(("SQL statistics:", f"{fatal}SQL statistics:"))
    line, message = refusal(text)
    assert line == 15
    assert message == "sysbench failed: 'no login with password=*** at mysql://***@db/ token: ***'"


def test_a_forced_shutdown_is_read_with_a_warning():
    text = report(
        ("SQL statistics:", "FATAL: The --max-time limit has expired, forcing shutdown...\nSQL statistics:")
    )
    parsed = read(text)
    assert parsed.runs == read(report()).runs
    assert parsed.warnings == ("sysbench was forced to stop before its transactions were done (line 15)",)


def test_text_without_a_banner_is_refused_even_where_the_format_is_named():
    assert refusal("hello\n")[1].startswith("no run of sysbench")
    assert refusal("sysbench 1.0.20")[1].startswith("no run of sysbench")


# Cut files


def cuts_of(data, seed):
    """The data cut at every line end and at 200 more places."""
    offsets = {offset + 1 for offset in range(len(data) - 1) if data[offset] == ord("\n")}
    offsets |= set(random.Random(seed).sample(range(1, len(data)), k=min(200, len(data) - 1)))
    return [data[:offset] for offset in sorted(offsets)]


def whole_or_none(data):
    with suppress(FormatError):
        return read(data)
    return None


def check_cuts(data, seed):
    """Every cut is understood in full, refused, or imported with a warning, and never tells other figures.

    What is cut off between two runs is understood in full: nothing says that there were more.
    """
    whole = whole_or_none(data)
    understood = 0
    for cut in cuts_of(data, seed):
        parsed = whole_or_none(cut)
        if parsed is None:
            continue
        assert whole is not None, "a refused file gives no result when it is cut"
        understood += 1
        for run, of_whole in zip(parsed.runs, whole.runs, strict=False):
            assert set(run.readings) <= set(of_whole.readings)
            assert replace(run, readings=(), key="") == replace(of_whole, readings=(), key="")
        if not cut.endswith(b"\n"):
            assert "has no line end" in "; ".join(parsed.warnings)
        elif len(parsed.runs) < len(whole.runs):
            assert parsed.warnings or cut.count(b"sysbench 1.0.20 (") == len(parsed.runs)
        elif parsed.warnings == whole.warnings:
            assert parsed == whole, "something is missing and no warning says so"
    return understood


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.txt")), ids=lambda path: path.stem)
def test_a_file_cut_anywhere_is_refused_or_understood_in_full_or_warns(path):
    data = path.read_bytes()
    understood = check_cuts(data, path.stem)
    if whole_or_none(data):
        assert understood, "the file without its last, empty line is complete"


def test_a_last_line_without_its_end_is_named():
    text = report().rstrip("\n")
    assert read(text).warnings == (
        "line 39, the last one, has no line end and was not read: the file may be cut off",
        "the end of the report is missing after line 38: 'Threads fairness:' is not complete",
    )


# Recognition


@pytest.mark.parametrize(
    "head",
    [
        "",
        "# JMH version: 1.37\n",
        '[{"jmhVersion": "1.37"}]',
        "pgbench (17.6)\ntransaction type: <builtin: TPC-B (sort of)>\n",
        "Benchmark\n\tAverage number of seconds to run all queries: 0.2 seconds\n",
        "procs -----------memory---------- ---swap--\n r  b   swpd   free\n",
        "client,DO 1,SELECT 1\nsysbench 1.0,1,2\n",
        ' "tool": "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)",\n',
        "sysbench 1.0.20 was used for all of it\n",
        "sysbench results\n",
    ],
)
def test_other_text_is_not_recognised(head):
    assert not sysbench.recognise(head.encode())


def test_a_banner_is_found_behind_other_lines():
    lines = "some explain output\n" * 200
    assert sysbench.recognise((lines + report()).encode())
    assert read(lines + report()).runs == read(report()).runs


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    data = b"\xef\xbb\xbf" + report().replace("\n", "\r\n").encode()
    assert sysbench.recognise(Source(data).head)
    assert read(data) == read(report())


# Anything at all


def parses_or_refuses(data):
    with suppress(FormatError):
        assert read(data).runs


REPORT_LINES = [
    *REPORT.read_bytes().splitlines(keepends=True),
    *VERSION_1_1.encode().splitlines(keepends=True),
]
OLD_LINES = [
    line for path in sorted(FIXTURES.glob("0.*.txt")) for line in path.read_bytes().splitlines(keepends=True)
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(REPORT_LINES), max_size=60))
def test_lines_in_any_order_are_read_or_refused(lines):
    parses_or_refuses(REPORT_LINES[0] + b"".join(lines))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["0.4.12", "0.5", "1.0"]), st.lists(st.sampled_from(OLD_LINES), max_size=60))
def test_old_lines_in_any_order_are_read_or_refused(version, lines):
    parses_or_refuses(f"sysbench {version}:  multi-threaded\n".encode() + b"".join(lines))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FIXTURES.glob("*.txt"))), st.data())
def test_a_report_with_another_text_for_a_number_is_read_or_refused(path, data):
    lines = path.read_text().split("\n")
    index = data.draw(st.integers(0, len(lines) - 1))
    words = lines[index].split(" ")
    place = data.draw(st.integers(0, len(words) - 1))
    words[place] = data.draw(st.sampled_from(["nan", "-1", "1e999", "9" * 5000, "", "١", "0", "1,5", "0x1"]))
    lines[index] = " ".join(words)
    parses_or_refuses("\n".join(lines).encode())


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(REPORT_LINES) - 1), st.binary(max_size=30), st.randoms(use_true_random=False))
def test_bytes_put_anywhere_are_read_or_refused(index, noise, chance):
    data = b"".join(REPORT_LINES[:45])
    position = chance.randrange(len(data))
    parses_or_refuses(data[:position] + noise + data[position + chance.randrange(20) :])


@pytest.mark.parametrize("blank", ["\x0b", "\f", "\u00a0", "\u2003 "])
def test_a_line_of_other_blanks_is_an_empty_line(blank):
    assert read(report(("Threads started!\n\n", f"Threads started!\n{blank}\n"))) == read(report())


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text_after_the_banner_is_read_or_refused(text):
    parses_or_refuses(REPORT_LINES[0] + text.encode("utf-8", "replace"))


# Every real file


def needs(folder):
    return pytest.mark.skipif(not folder.is_dir(), reason=f"{folder.name} of ../shared/data is not here")


def outputs_in(folder):
    return [path for path in sorted(folder.rglob("*.txt")) if not path.name.endswith(".vmstat.txt")]


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        pytest.param(folder, files, marks=needs(DATA / folder))
        for folder, files in [("sysbench", 320), ("nightly", 240), ("threadpool", 90), ("settings-sweep", 68)]
    ],
)
def test_every_measured_file_is_read_or_refused_as_its_exit_code_says(folder, files):
    paths = outputs_in(DATA / folder)
    assert len(paths) == files
    for path in paths:
        meta = json.loads(path.with_suffix(".meta.json").read_text())
        source = Source(path.read_bytes())
        assert sysbench.recognise(source.head) == (path.name != "verbosity-0.txt")
        if meta["exit_code"] or path.name in NOT_RUNS:
            with pytest.raises(FormatError):
                sysbench.parse(source)
            continue
        parsed = sysbench.parse(source)
        assert [run.threads for run in parsed.runs] == [meta["threads"]], path
        assert bool(parsed.warnings) == (path.name == "report-checkpoints.txt"), path
        if meta["workload"].startswith("oltp_"):
            assert values(parsed.runs[0])["tps"] > 0, path
        if meta["workload"].startswith("oltp_") and "percentile=0" not in meta["command"]:
            assert len(parsed.runs[0].readings) == 17, path


@needs(MEASURED)
def test_no_other_measured_file_is_recognised():
    for path in sorted(DATA.rglob("*")):
        if path.is_file() and path.suffix != ".txt" and not path.name.startswith("sb.o."):
            assert not sysbench.recognise(path.read_bytes()[:65536]), path
    for path in sorted(MEASURED.rglob("*.vmstat.txt")):
        assert not sysbench.recognise(path.read_bytes()), path


def third_party_runs(folder):
    """The run of every ``sb.o.<workload>.range<n>...`` by (workload, range)."""
    runs = {}
    for path in sorted(folder.glob("sb.o.*")):
        workload, _, rest = path.name.removeprefix("sb.o.").partition(".range")
        source = Source(path.read_bytes())
        assert sysbench.recognise(source.head)
        (runs[workload, rest.split(".")[0]],) = sysbench.parse(source).runs
    return runs


@needs(THIRD_PARTY)
def test_every_third_party_file_is_read_with_its_command_line():
    for folder in sorted(THIRD_PARTY.glob("*/x.*")):
        for (_, size), run in third_party_runs(folder).items():
            assert len(run.readings) == 17
            assert run.workload.startswith("oltp_")
            assert run.options["range-size"] == int(size)
            assert not any("password" in name for name in run.options)


@needs(THIRD_PARTY)
def test_a_third_party_file_cut_anywhere_is_refused_or_understood_in_full_or_warns():
    for path in sorted(THIRD_PARTY.glob("*/x.*/sb.o.*"))[::97]:
        assert check_cuts(path.read_bytes(), path.name)


@needs(THIRD_PARTY)
def test_the_relative_table_that_was_published_follows_from_the_third_party_files():
    folder = THIRD_PARTY / "mysql_2025_11"
    head, table = (folder / "qps.rel.all.tsv").read_text().split("\n\n", 1)
    names = [line.split(": ")[1].strip() for line in head.splitlines()]
    base, *others = [third_party_runs(folder / name) for name in names]
    cells = 0
    for line in table.splitlines()[1:]:
        *printed, name = line.split("\t")
        key = tuple(name.split("_range="))
        for runs, cell in zip(others, printed, strict=True):
            ratio = values(runs[key])["qps"] / values(base[key])["qps"]
            assert ratio == pytest.approx(float(cell), abs=0.0101), (name, cell)
            cells += 1
    assert cells == 231


# Reports without a banner

BARE = report()[report().index("SQL statistics:") :]


def test_a_report_without_a_banner_is_a_run_whose_threads_follow_from_its_counts():
    parsed = read("Results of Friday\n\n" + BARE)
    (run,) = parsed.runs
    assert run.readings == read(report()).runs[0].readings
    assert (run.threads, run.column, run.lost) == (4, "Results of Friday", ())
    assert "tool_version" not in parsed.facts
    assert parsed.warnings == (
        "no line says the threads; that there were 4 follows from the events of each",
        "above the report in line 3 there is no banner of sysbench",
    )


def test_reports_below_texts_are_runs_that_a_map_tells_apart():
    text = f"A. INSERT\n{BARE}\n----\n\n  B. UPDATE\n    {BARE}"
    parsed = read(text)
    assert [run.column for run in parsed.runs] == ["A. INSERT", "B. UPDATE"]
    assert [run.readings for run in parsed.runs] == [read(report()).runs[0].readings] * 2
    assert any("2 reports without a banner: 'map' tells them apart" in one for one in parsed.warnings)


def test_threads_that_nothing_tells_are_asked_of_the_sender():
    """After 'Threads fairness:' is cut off, several numbers of threads fit."""
    (run,) = read(BARE[: BARE.index("Threads fairness:")]).runs
    assert (run.threads, run.lost) == (None, ("threads",))


def test_interval_lines_without_a_banner_keep_their_report():
    with_lines = report()[report().index("[ 1s ]") :]
    assert read(with_lines).intervals == read(report()).intervals


def test_what_begins_within_a_report_is_warned_of():
    text = report()[report().index("General statistics:") :]
    assert any("its first part is missing" in warning for warning in read(text).warnings)


def test_interval_lines_alone_are_no_run():
    text = "".join(line + "\n" for line in report().splitlines() if line.startswith("[ "))
    assert refusal(text)[1].startswith("no final report")


def test_early_lines_of_0_5_have_no_comma_before_the_response_time():
    line = (
        "[  10s] threads: 1, tps: 444.80, reads/s: 6227.86, writes/s: 1779.19 response time: 3.14ms (99%)\n"
    )
    (table,) = read(report(("SQL statistics:", line + "SQL statistics:"))).intervals[:1]
    assert (10.0, 1.0, 444.80) in [row[:3] for row in table.rows]


def test_a_summary_that_a_script_made_of_a_report_is_named():
    text = "sysbench 1.0.20 (using system LuaJIT)\nthreads: 12\ntransactions: 1226 (40.95 per sec.)\n"
    assert refusal(text)[0] == 3
    assert "only a summary that something else wrote from one: 'transactions: 1226" in refusal(text)[1]


# Reports in documents


def remarked(text):
    """The text with remarks behind its headings and figures, as manuals explain them."""
    return "".join(
        f"{line}   # 说明 {n}\n"
        if ":" in line and n % 2
        else f"{line} (총 {n})\n"
        if line[-1:].isdigit()
        else f"{line}\n"
        for n, line in enumerate(text.split("\n")[:-1])
    )


def flattened(text):
    return re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)


IN_DOCUMENTS = {
    "with remarks": remarked,
    "indented": lambda text: re.sub("^(?=.)", "    ", text, flags=re.MULTILINE),
    "indented by a tab": lambda text: re.sub("^(?=.)", "\t", text, flags=re.MULTILINE),
    "without indentation": flattened,
    "with a blank line behind each": lambda text: text.replace("\n", "\n\n"),
    "with hard blanks": lambda text: text.replace("    ", "\xa0   "),
    "with backslashes of Markdown": lambda text: re.sub(r"([\[\]()])", r"\\\1", text),
    "in a web page": lambda text: f"<html>\n<pre><code>{text}</code></pre>\n</html>\n",
}


@pytest.mark.parametrize("kind", IN_DOCUMENTS)
def test_a_report_in_a_document_is_read_like_the_one_that_sysbench_printed(kind):
    for text in (report(), (FIXTURES / "cpu.txt").read_text(), (FIXTURES / "fileio-rndrw.txt").read_text()):
        expected, parsed = read(text), read(IN_DOCUMENTS[kind](text))
        assert parsed.runs == expected.runs
        assert parsed.facts == expected.facts
        assert parsed.intervals == expected.intervals


def test_figures_behind_the_report_are_none_of_it():
    assert read(report() + "\n    total: 5\n    read: 9\ntotal time: 3s\n").runs == read(report()).runs


def test_headings_tell_reports_without_a_banner_apart():
    text = "".join(f"## {name}\n\n```\n{BARE}```\n\n" for name in ("On metal", "In a container"))
    parsed = read(text)
    assert [run.heading for run in parsed.runs] == ["On metal", "In a container"]
    assert "they are repetitions of one run" not in str(parsed.warnings)
    versions = read(text.replace("On metal", "MariaDB 10.6.12").replace("In a container", "MariaDB 10.11.5"))
    assert [(run.product, run.version) for run in versions.runs] == [
        ("MariaDB", "10.6.12"),
        ("MariaDB", "10.11.5"),
    ]


def test_a_report_that_lost_its_banner_is_a_run_of_its_own_where_text_stands_before_it():
    parsed = read(f"{report()}\n\nsysbench oltp_insert --threads=4 run\n\n{BARE}\n{report()}")
    assert [run.workload for run in parsed.runs] == [None, "oltp_insert", None]
    parsed = read(f"{report()}\n\nWith another setting:\n\n{BARE}")
    assert [run.threads for run in parsed.runs] == [4, 4]
    assert parsed.runs[0].readings == parsed.runs[1].readings
    assert "run 2: above the report in line" in str(parsed.warnings)
    assert "another report begins without a banner" in refusal(f"{report()}\n\n{BARE}")[1]
