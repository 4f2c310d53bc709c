"""mysqlslap's text beyond the fixtures: what is refused, what warns, and every real file there is."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import FORMATS, mysqlslap
from ingest.formats.report import FormatError
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "mysqlslap"
MEASURED = Path(__file__).resolve().parents[4] / "shared" / "data" / "mysqlslap"
CASES = sorted(path for path in FIXTURES.iterdir() if path.suffix in {".txt", ".csv"})


def block(average="0.500", least="0.400", greatest="0.600", clients="4", queries="500", engine="innodb"):
    return (
        "Benchmark\n"
        f"\tRunning for engine {engine}\n"
        f"\tAverage number of seconds to run all queries: {average} seconds\n"
        f"\tMinimum number of seconds to run all queries: {least} seconds\n"
        f"\tMaximum number of seconds to run all queries: {greatest} seconds\n"
        f"\tNumber of clients running queries: {clients}\n"
        f"\tAverage number of queries per client: {queries}\n"
        "\n"
    )


def read(text):
    return mysqlslap.parse(Source(text if isinstance(text, bytes) else text.encode()))


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def refusal(text):
    with pytest.raises(FormatError) as error:
        read(text)
    return error.value.line, error.value.message


def test_the_rate_is_all_queries_of_all_clients_over_the_average_time():
    (run,) = read(block()).runs
    assert values(run) == {
        "qps": 4000,
        "batch_seconds_avg": 0.5,
        "batch_seconds_min": 0.4,
        "batch_seconds_max": 0.6,
    }


def test_least_and_greatest_time_are_no_error_of_the_rate():
    (run,) = read(block()).runs
    assert (run.readings[0].low, run.readings[0].high) == (None, None)


def test_blocks_and_csv_say_the_same():
    (of_block,) = read(block()).runs
    (of_csv,) = read("innodb,mixed,0.500,0.400,0.600,4,500\n").runs
    assert of_block == of_csv


@pytest.mark.parametrize(
    ("load_type", "workload"), [("mixed", None), ("query", None), ("read", "read"), ("key", "key")]
)
def test_a_load_type_that_somebody_chose_is_the_workload(load_type, workload):
    assert read(f",{load_type},0.500,0.400,0.600,4,500\n").runs[0].workload == workload


def test_the_same_engine_and_clients_twice_are_repetitions():
    rows = [",mixed,0.500,0.400,0.600,4,500\n", ",mixed,0.500,0.400,0.600,8,250\n"]
    parsed = read("".join([*rows, rows[0]]))
    assert [(run.key, run.repetition) for run in parsed.runs] == [
        ("mixed/4 clients/1", 1),
        ("mixed/8 clients", None),
        ("mixed/4 clients/2", 2),
    ]


def test_names_over_the_lines_are_passed_over():
    head = "engine,label,avg,min,max,clients,queries\n"
    row = ",mixed,0.500,0.400,0.600,4,500\n"
    assert read(head + row) == read(row)
    assert [name for name, known in FORMATS.items() if known.recognise((head + row).encode())] == [
        "mysqlslap"
    ]


def test_a_warning_of_the_tool_is_no_error():
    warning = "mysqlslap: [Warning] Using a password on the command line interface can be insecure.\n"
    assert read(warning + block()).runs == read(block()).runs


@pytest.mark.parametrize(
    "error",
    [
        "mysqlslap: Error when connecting to server: Access denied for user 'a'@'localhost'",
        "/usr/bin/mariadb-slap: Cannot run query SELECT 1 ERROR : Lost connection",
        "mysqlslap.exe: [ERROR] unknown option '--quick'",
        "mysqlslap: Error when storing result: 2013 Lost connection",
    ],
)
def test_an_error_anywhere_refuses_the_whole_file(error):
    line, message = refusal(f"{block()}{error}\n{block(clients='8')}")
    assert line == 9
    assert message.startswith("mysqlslap failed, and its times are no measurement: ")


def test_an_error_behind_the_last_block_is_of_another_run_and_is_told():
    report = read(f"{block()}mysqlslap: Error when connecting to server: 1040 Too many connections\n")
    assert values(report.runs[0])["qps"] == 4000
    assert report.warnings[0].startswith("behind the last block: mysqlslap failed")


def test_blocks_as_web_pages_show_them_are_read():
    lines = [line.strip().replace(": 0", ":0") for line in block().splitlines()]
    (run,) = read("\n".join(lines[1:]) + "\n").runs
    assert values(run)["qps"] == 4000
    assert mysqlslap.recognise("\n".join(lines).encode())


def test_an_error_loses_its_password():
    query = "CREATE USER a IDENTIFIED BY 'geheim'"
    assert "geheim" not in refusal(f"mysqlslap: Cannot run query {query} ERROR : denied\n")[1]


def test_times_that_are_as_long_as_giving_up_are_asked_about():
    (asked,) = read(block("1.007", "1.006", "1.009")).warnings
    assert asked.startswith("line 3: every batch took 1.006 to 1.009 s, which is how long mysqlslap tries to")
    assert read(block("1.007", "0.706", "1.409")).warnings == ()


def test_one_batch_that_was_too_short_is_left_out():
    parsed = read(block("0.000", "0.000", "0.000") + block(clients="8"))
    assert [run.threads for run in parsed.runs] == [8]
    assert parsed.warnings == ("line 3: left out, the batch took less than 1 ms",)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (block("0.300"), 3, "the least, average and greatest time are not in this order"),
        (block("nan"), 3, "'nan' is not a number"),
        (block("-0.500"), 3, "-0.500 is negative, which no rate and no time can be"),
        (block("0,500"), 3, "the number '0,500' has a comma; write digits and a decimal point"),
        (block(greatest="1e999"), 5, "the number 1e999 is too large"),
        (block(greatest="9" * 5000), 5, f"the number {'9' * 40} is too large"),
        (block(clients="0"), 6, "the number of clients is 0, not a whole number from 1 to 1000000000"),
        (block(clients="\u0664"), 6, "'\u0664' is not a number"),
        (block(queries="2.5"), 7, "the number of queries is 2.5, not a whole number from 1 to 1000000000"),
        (
            block() + ",mixed,0.500,0.400,0.600,4,500\n",
            9,
            "blocks and lines of CSV in one file; send one of the two",
        ),
        (
            block().replace("\n\n", "\n\tNumber of clients running queries: 8\n"),
            8,
            "'Number of clients running queries' is there twice: did two processes write into one file?",
        ),
        (
            block().replace("\tNumber of clients running queries: 4\n", "") + block(),
            6,
            "the block is not complete: no 'Number of clients running queries' up to this line",
        ),
        ("Benchmarking\n", 1, "no block 'Benchmark' and no line of CSV; did mysqlslap finish?"),
    ],
)
def test_what_cannot_have_been_measured_is_refused_with_its_line(text, line, message):
    assert refusal(text) == (line, message)


def test_line_ends_of_windows_make_no_difference():
    assert read(block().replace("\n", "\r\n")) == read(block())


# Files that are cut


def read_or_none(data):
    with suppress(FormatError):
        return read(data)
    return None


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_a_file_cut_anywhere_is_refused_or_read_whole_or_warned_about(path):
    data = path.read_bytes()
    parsed = read_or_none(data)
    whole = parsed.runs if parsed else ()
    spots = {number for number, byte in enumerate(data, start=1) if byte == ord("\n")}
    spots |= set(random.Random(1).choices(range(1, len(data)), k=200))
    for spot in sorted(spots):
        parsed = read_or_none(data[:spot])
        if parsed is None:
            continue
        if data[spot - 1] != ord("\n"):
            assert "has no line end and was not read" in parsed.warnings[0]
        elif len(parsed.runs) < len(whole):
            between_blocks = data[spot:].lstrip().startswith(b"Benchmark")
            assert parsed.warnings or between_blocks or path.suffix == ".csv"
            known = {tuple(run.readings) for run in whole}
            assert {tuple(run.readings) for run in parsed.runs} <= known


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 500), st.integers(0, 200))
def test_damaged_files_are_read_or_refused_and_never_break_the_parser(noise, start, length):
    data = (block() + ",mixed,0.500,0.400,0.600,4,500\n").encode()
    with suppress(FormatError):
        read(data[:start] + noise + data[start + length :])


# All the real files


@pytest.mark.skipif(not MEASURED.is_dir(), reason="the measured files are not here")
def test_every_measured_file_is_read_right_or_refused_rightly_by_this_format_alone():
    paths = sorted(path for path in MEASURED.glob("*/*") if path.suffix in {".txt", ".csv"})
    assert len(paths) == 11
    clients = {"query-select1": [4], "query-select1-csv": [1, 2, 4], "read-c8-engines": [8, 8]}
    for path in paths:
        source = Source(path.read_bytes(), path.name)
        assert [name for name, known in FORMATS.items() if known.recognise(source.head)] == ["mysqlslap"]
        if path.stem.startswith("failed"):
            with pytest.raises(FormatError, match="Unknown database 'mysqlslap'"):
                mysqlslap.parse(source)
            continue
        parsed = mysqlslap.parse(source)
        assert [run.threads for run in parsed.runs] == clients.get(path.stem, [1, 4, 16])
        assert all(len(run.readings) == 4 for run in parsed.runs)
        assert all("printed to 1 ms" in warning for warning in parsed.warnings)
