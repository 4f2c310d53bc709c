"""A refusal names the nearest format or the tool, what is missing, and what would be read instead."""

import pytest

from ingest.formats import parse, recognise
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.real_files import FIXTURES


def refusal(text):
    with pytest.raises(FormatError) as refused:
        recognise(Source(text.encode()))
    return refused.value


@pytest.mark.parametrize(
    ("text", "tool", "line"),
    [
        ("\n  █ TOTAL RESULTS \n\n    checks_total.......................: 428756 793.983911/s\n", "k6", 2),
        ("job: (g=0): rw=randread, bs=(R) 4096B-4096B\n...\nfio-3.28\n", "fio", 1),
        ("Benchmark 1: sleep 1\n  Time (mean ± σ):      12.4 ms ±   2.8 ms\n", "hyperfine", 2),
    ],
)
def test_of_a_tool_whose_json_is_read_the_option_that_writes_it_is_named(text, tool, line):
    error = refusal(text)
    assert error.line == line
    said = (
        f"the file is nearest to {tool}, but it is what the tool prints for people; send its JSON, which '--"
    )
    assert error.message.startswith(said)


def test_json_of_another_shape_is_told_its_keys_and_the_shapes_that_are_read():
    error = refusal('{\n "schemaVersion": 1,\n "results": [{"op": "x", "samples": [1, 2]}]\n}\n')
    assert "its keys are 'schemaVersion', 'results'" in error.message
    assert '[{"workload": "oltp_read_only"' in error.message


def test_text_that_is_nothing_is_told_what_is_read():
    error = refusal("\n\nDear team, it was fast today.\n")
    assert error.line == 3
    assert "it begins with 'Dear team, it was fast today.'" in error.message
    assert "'workload,threads,tps,latency_p95'" in error.message


@pytest.mark.parametrize(
    "text",
    [
        "workload,threads,tps,latency_p95\noltp_read_only,4,730.96,6.55\noltp_read_only,8,950.1,9.1\n",
        '[{"workload": "oltp_read_only", "version": "10.11.19", "threads": 4, "tps": 730.96}]\n',
    ],
)
def test_what_refusals_propose_is_read(text):
    _, report = parse(Source(text.encode()))
    assert (report.runs[0].workload, report.runs[0].threads) == ("oltp_read_only", 4)
    assert report.runs[0].readings[0].value == 730.96


CPU_REPORT = (FIXTURES / "sysbench" / "cpu.txt").read_text()
TABLE = "\n| threads | tps |\n|---|---|\n| 4 | 730.5 |\n| 8 | 950.1 |\n"


def test_of_a_document_the_output_of_the_tool_is_read_and_the_tables_beside_it_are_named():
    name, found = parse(Source((CPU_REPORT + TABLE).encode()))
    assert (name, len(found.runs)) == ("sysbench", 1)
    assert found.warnings[-1] == (
        "read as sysbench alone; tables beside it are read where the field 'format' names 'qps_table'"
    )
    assert len(parse(Source((CPU_REPORT + TABLE).encode()), "qps_table")[1].runs) == 2


def test_of_a_document_with_an_incomplete_output_the_tables_are_read_and_the_reason_is_told():
    incomplete = CPU_REPORT[: CPU_REPORT.index("CPU speed:")]
    name, found = parse(Source((incomplete + TABLE).encode()))
    assert (name, len(found.runs)) == ("qps_table", 2)
    assert found.warnings[0].startswith("the tables alone were read: no final report: sysbench was stopped")
    broken = TABLE.replace("8 | 950.1", "4 | 950.1 | 7")
    with pytest.raises(
        FormatError, match=r"no final report: .*; nor are the tables beside it read: .* \(line"
    ):
        parse(Source((incomplete + broken).encode()))


def test_what_only_begins_with_a_bracket_is_not_called_json():
    assert "it begins with '[mysqld]'" in refusal("[mysqld]\nport = 3306\n").message


NEAR_MISSES = [
    ("sysbench", "transactions:                        9 (9.00 per sec.)\n", 1, "total number of events:"),
    ("sysbench", "nothing\n         95th percentile:        20.74\n", 2, "send all that sysbench printed"),
    ("sysbench", '{"changed": true, "stdout": "sysbench 1.0.20 (using system LuaJIT)\\n"}\n', 1, "'stdout'"),
    ("sysbench", 'ok: => {\n  "General statistics:",\n  ""\n', 2, "'stdout'"),
    ("sysbench", "$ sysbench cpu --threads=4 run\n", 1, "it only calls sysbench"),
    ("hammerdb", "summary\nVU 8: 124500 NOPM\n", 2, "TEST RESULT"),
    ("ycsb", "READ AverageLatency(us) 512\n", 1, "[OVERALL], RunTime(ms)"),
    ("ycsb", "java -cp lib/* site.ycsb.Client -load -P workloads/workloada\n", 1, "'exportfile'"),
    ("mysqlslap", "$ mysqlslap --concurrency=8 --iterations=3\n", 1, "Average number of seconds"),
    ("mysqlslap", "Benchmark\n\tMinimum number of seconds to run all queries: 0.1 seconds\n", 2, "--csv"),
    ("pgbench", "latency average = 1.5 ms\n", 1, "tps = "),
    ("dtrace", "dtrace: script 'a.d' matched 2 probes\n", 1, "quantize()"),
    ("jmh_text", "We ran JMH on a laptop.\n", 1, "(-rf json)"),
]


@pytest.mark.parametrize(("name", "text", "line", "missing"), NEAR_MISSES)
def test_a_refusal_names_the_nearest_format_and_what_is_missing(name, text, line, missing):
    error = refusal(text)
    assert error.line == line
    assert error.message.startswith(f"the file is nearest to {name}, but ")
    assert missing in error.message


def test_rows_without_names_of_columns_are_told_what_to_write():
    error = refusal("pg1222,33781\npg1323,33986\n")
    assert error.message.startswith("the file is nearest to qps_table, but no line names the columns; write ")


def test_a_time_below_0_says_that_the_clock_went_back():
    text = "[OVERALL], RunTime(ms), -5731\n[OVERALL], Throughput(ops/sec), -0.174\n[READ], Operations, 1\n"
    with pytest.raises(FormatError, match=r"-5731 is negative, .*: was the clock of"):
        parse(Source(text.encode()))


def test_a_result_that_hammerdb_does_not_write_so_is_quoted():
    text = "Vuser 1:RUNNING\nTEST RESULT : System achieved 120543 NOPM in all\n"
    with pytest.raises(FormatError, match=r"how HammerDB writes its result: .*NOPM in all") as refused:
        parse(Source(text.encode()))
    assert refused.value.line == 2


def test_a_refusal_names_the_format_that_the_file_was_read_as():
    text = "[OVERALL], RunTime(ms), 5\n[OVERALL], Throughput(ops/sec), 0.0\n[READ], Operations, 0\n"
    with pytest.raises(FormatError) as refused:
        parse(Source(text.encode()))
    assert refused.value.sentence == "ops_per_s is 0: nothing was measured (read as ycsb)"
    assert refusal("Dear team\n").sentence == refusal("Dear team\n").message
