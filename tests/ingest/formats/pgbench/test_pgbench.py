"""pgbench's text beyond the fixtures: what is refused, what warns, and every real file there is."""

import json
import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import FORMATS
from ingest.formats import parse as parse_any
from ingest.formats.pgbench import pgbench
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

FIXTURES = real_files.FIXTURES / "pgbench"
MEASURED = real_files.SHARED / "pgbench"

REPORT = """\
pgbench (15.18 (Debian 15.18-0+deb12u1), server 16.4)
starting vacuum...end.
progress: 1.0 s, 400.0 tps, lat 10.000 ms stddev 2.000, 0 failed
progress: 2.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed
transaction type: <builtin: select only>
scaling factor: 10
query mode: simple
number of clients: 4
number of threads: 2
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 800
number of failed transactions: 0 (0.000%)
latency average = 9.997 ms
initial connection time = 5.000 ms
tps = 400.120000 (without initial connection time)
"""
STATEMENTS = """\
statement latencies in milliseconds and failures:
         0.001           0  \\set aid random(1, 100000 * :scale)
         9.900           0  SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
"""


def read(text):
    return pgbench.parse(Source(text if isinstance(text, bytes) else text.encode()))


def report(*changes):
    """The report with some of it replaced; what is replaced must be there."""
    text = REPORT
    for old, new, *times in changes:
        assert old in text
        text = text.replace(old, new, *times)
    return text


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def refusal(text):
    with pytest.raises(FormatError) as error:
        read(text)
    return error.value.line, error.value.message


# Which figure is taken


def test_the_printed_rate_is_taken_with_all_its_digits():
    assert values(read(REPORT).runs[0])["tps"] == 400.12


def test_an_average_that_was_not_measured_is_computed_from_the_rate():
    assert values(read(REPORT).runs[0])["latency_avg"] == pytest.approx(4000 / 400.12, rel=1e-12)


def test_an_average_that_was_measured_is_taken_as_it_is_printed():
    text = report(("latency average = 9.997 ms", "latency average = 9.998 ms\nlatency stddev = 2.500 ms"))
    run = values(read(text).runs[0])
    assert (run["latency_avg"], run["latency_stddev"]) == (9.998, 2.5)


def test_an_average_that_the_rate_does_not_give_is_taken_as_it_is_printed():
    assert values(read(report(("= 9.997 ms", "= 12.500 ms"))).runs[0])["latency_avg"] == 12.5


def test_an_average_that_includes_failures_counts_them():
    text = report(
        ("number of failed transactions: 0 (0.000%)", "number of failed transactions: 200 (20.000%)"),
        ("latency average = 9.997 ms", "latency average = 7.998 ms (including failures)"),
    )
    run = values(read(text).runs[0])
    assert run["latency_avg"] == pytest.approx(4000 * 800 / (400.12 * 1000), rel=1e-12)
    assert run["errors_per_s"] == pytest.approx(200 * 400.12 / 800, rel=1e-12)


def test_of_two_rates_the_one_without_connecting_is_the_metric_in_whatever_order_they_stand():
    rates = [
        "tps = 390.000000 (including connections establishing)",
        "tps = 400.000000 (excluding connections establishing)",
    ]
    for lines in (rates, rates[::-1]):
        text = report(("tps = 400.120000 (without initial connection time)", "\n".join(lines)))
        run = values(read(text).runs[0])
        assert (run["tps"], run["tps_with_connecting"]) == (400, 390)


def test_an_interval_without_a_transaction_has_no_response_time():
    (table,) = read(REPORT).intervals
    assert table.columns == ("time_s", "tps", "latency_avg", "latency_stddev", "failed")
    assert table.rows == ((1.0, 400.0, 10.0, 2.0, 0.0), (2.0, 0.0, None, None, 0.0))


def test_old_versions_print_nan_where_nothing_ended_and_that_is_no_number():
    text = report(("lat 0.000 ms stddev 0.000", "lat -nan ms stddev -nan"))
    assert read(text).intervals[0].rows[1] == (2.0, 0.0, None, None, 0.0)


def test_a_statement_that_never_ran_has_no_response_time():
    text = REPORT + STATEMENTS.replace("9.900", " -nan")
    assert "statement_1.latency_avg" not in values(read(text).runs[0])


# The run


@pytest.mark.parametrize(
    ("printed", "workload"),
    [
        ("<builtin: TPC-B (sort of)>", "tpcb-like"),
        ("TPC-B (sort of)", "tpcb-like"),
        ("<builtin: simple update>", "simple-update"),
        ("Update only pgbench_accounts", "simple-update"),
        ("<builtin: select only>", "select-only"),
        ("SELECT only", "select-only"),
        ("/home/somebody/scripts/orders.sql", "orders.sql"),
        ("Custom query", None),
    ],
)
def test_the_workload_is_the_script_as_pgbench_calls_it_without_its_folder(printed, workload):
    assert read(report(("<builtin: select only>", printed))).runs[0].workload == workload


@pytest.mark.parametrize(
    ("banner", "product", "version"),
    [
        ("pgbench (15.18 (Debian 15.18-0+deb12u1), server 16.4 (Debian 16.4-1))", "PostgreSQL", "16.4"),
        ("pgbench (16.2)", "PostgreSQL", "16.2"),
        ("pgbench (16.2, server 9.6.24)", "PostgreSQL", "9.6.24"),
        ("pgbench (16.2, server 18beta1)", "PostgreSQL", "18beta1"),
        ("pgbench (16.2, server 11.2-YB-2024.2.0.0-b0)", None, None),
        ("pgbench (16.2, server 13.0.0)", None, None),
        ("", None, None),
    ],
)
def test_the_banner_names_the_server_where_it_is_postgresql(banner, product, version):
    parsed = read(report(("pgbench (15.18 (Debian 15.18-0+deb12u1), server 16.4)", banner)))
    assert (parsed.runs[0].product, parsed.runs[0].version) == (product, version)


def test_scripts_of_the_same_weight_are_named_without_it():
    scripts = "".join(
        f"SQL script {number}: {name}.sql\n - weight: 1 (targets 50.0% of total)\n"
        " - 400 transactions (50.0% of total, tps = 200.060000)\n"
        for number, name in ((1, "read"), (2, "write"))
    )
    text = report(("<builtin: select only>", "multiple scripts")) + scripts
    assert read(text).runs[0].workload == "read.sql write.sql"


def test_the_command_gives_the_rate_and_loses_its_password():
    command = "+ pgbench -R 300.5 postgresql://ann:geheim@db/bench"
    lag = "rate limit schedule lag: avg 0.100 (max 1.000) ms\n"
    parsed = read(f"{command}\n{report(('initial connection', lag + 'initial connection', 1))}")
    assert parsed.runs[0].options["rate"] == "300.5"
    assert "geheim" not in parsed.facts["command"]


def test_a_statement_loses_its_password():
    text = REPORT + STATEMENTS.replace("SELECT abalance FROM", "SELECT login(password='geheim') FROM")
    assert "geheim" not in read(text).runs[0].options["statement_1"]


def test_no_more_than_a_hundred_statements_are_read_and_a_warning_says_so():
    many = "".join(f"         0.100           0  SELECT {number};\n" for number in range(150))
    parsed = read(
        report(("<builtin: select only>", "many.sql")) + STATEMENTS.splitlines(keepends=True)[0] + many
    )
    assert len(parsed.runs[0].options) == 104
    assert parsed.warnings == ("of the statements of script 1 no more than 100 were read",)


# What is missing


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("actually processed: 800", "actually processed: 0", 12, "not one transaction was completed"),
        ("400.120000", "0.000000", 16, "the rate is 0, which contradicts the number of transactions"),
        ("400.120000", "inf", 16, "'inf' is not a number"),
        (
            "400.120000",
            "400,120000",
            16,
            "the number '400,120000' has a comma; write digits and a decimal point",
        ),
        ("400.120000", "-400.12", 16, "-400.12 is negative, which no rate and no time can be"),
        ("400.120000", "1e999", 16, "the number 1e999 is too large"),
        ("400.120000", "9" * 5000, 16, f"the number {'9' * 40} is too large"),
        ("400.120000", "\u0664\u0660", 16, "'\u0664\u0660' is not a number"),
        (
            "without initial connection time",
            "counting every second one",
            16,
            "tps (counting every second one) is nothing that pgbench counts",
        ),
        (
            " (without initial connection time)",
            "",
            16,
            "the words are missing that say what tps = '400.120000' counts",
        ),
        (
            "clients: 4",
            "clients: 0",
            8,
            "the number of clients is 0, not a whole number from 1 to 1000000000",
        ),
        ("clients: 4", "clients: few", 8, "'few' is not a number"),
        ("average = 9.997 ms", "average = 9.997", 14, "the number is missing in 'latency average: 9.997'"),
        (
            "query mode: simple",
            "scaling factor: 10",
            7,
            "'scaling factor' is there twice: did two processes write into one file?",
        ),
        (
            "number of clients: 4\n",
            "",
            15,
            "the report is not complete: no 'number of clients' up to this line",
        ),
    ],
)
def test_what_cannot_have_been_measured_is_refused_with_its_line(old, new, line, message):
    assert refusal(report((old, new))) == (line, message)


def test_a_rate_over_another_time_than_the_duration_is_told():
    assert read(report(("400.120000", "200.060000"))).warnings == (
        "the printed rate is that of 4.004 s, but the duration is 2 s (line 11)",
    )


def test_transactions_that_were_not_processed_are_told():
    text = report(
        ("duration: 2 s", "number of transactions per client: 250"), ("processed: 800", "processed: 800/1000")
    )
    assert read(text).warnings == ("800 of 1000 transactions were processed (line 12)",)


def test_one_of_several_scripts_cut_off_is_refused_for_the_workload_would_have_another_name():
    script = (
        "SQL script 1: a.sql\n - weight: 1 (targets 50.0% of total)\n - 400 transactions (50.0% of total)\n"
    )
    text = report(("<builtin: select only>", "multiple scripts")) + script
    assert refusal(text) == (
        19,
        "the report is not complete: the scripts up to this line are not all that were run",
    )


def test_scripts_whose_transactions_do_not_add_up_are_read_for_threads_count_without_a_lock():
    scripts = "".join(
        f"SQL script {number}: {name}.sql\n - weight: 1 (targets 50.0% of total)\n"
        f" - {count} transactions (50.0% of total, tps = 200.0)\n"
        for number, name, count in ((1, "a", 399), (2, "b", 397))
    )
    (run,) = read(report(("<builtin: select only>", "multiple scripts")) + scripts).runs
    assert run.workload == "a.sql b.sql"


def test_progress_lines_that_are_not_understood_are_told():
    text = report(("progress: 1.0 s, 400.0 tps", "progress: 1.0 s, many tps"))
    parsed = read(text)
    assert parsed.warnings == ("1 progress lines were not understood, the first in line 3",)
    assert len(parsed.intervals[0].rows) == 1


def test_the_progress_of_another_program_is_none_of_ours():
    assert len(read(f"{REPORT}progress: 50%\n").runs) == 1


def test_line_ends_of_windows_make_no_difference():
    assert read(REPORT.replace("\n", "\r\n")) == read(REPORT)


# Several runs in one file


def test_runs_of_a_loop_are_told_apart_by_their_place():
    parsed = read(REPORT + report(("number of clients: 4", "number of clients: 8")))
    assert [(run.key, run.threads) for run in parsed.runs] == [("1", 4), ("2", 8)]
    assert [table.run for table in parsed.intervals] == ["1", "2"]


def test_old_runs_have_no_banner_and_begin_where_the_progress_begins_again():
    old = REPORT.partition("\n")[2]
    stopped = "".join(old.splitlines(keepends=True)[:3])
    parsed = read(stopped + old)
    assert [run.key for run in parsed.runs] == ["2"]
    (warning,) = parsed.warnings
    assert warning.startswith("run 1: left out: no final report: pgbench was stopped")
    assert warning.endswith("(line 3)")


def test_a_run_that_was_aborted_is_left_out_and_the_others_are_kept():
    aborted = REPORT + "pgbench: error: Run was aborted; the above results are incomplete.\n"
    parsed = read(aborted + REPORT)
    assert [run.key for run in parsed.runs] == ["2"]
    (warning,) = parsed.warnings
    assert warning.startswith("run 1: left out: pgbench failed: 'pgbench: error: Run was aborted;")
    assert warning.endswith("(line 17)")


def test_tables_filled_before_the_run_are_no_trouble():
    filling = "creating tables...\n100000 of 100000 tuples (100%) done (elapsed 0.03 s, remaining 0.00 s)\n"
    assert read(filling + REPORT) == read(REPORT)


# Files that are cut


def read_or_none(data):
    with suppress(FormatError):
        return read(data)
    return None


def everything(parsed):
    return parsed and (parsed.runs, parsed.intervals)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.txt")), ids=lambda path: path.stem)
def test_a_file_cut_anywhere_is_refused_or_read_whole_or_warned_about(path):
    data = path.read_bytes()
    whole = everything(read_or_none(data))
    spots = {number for number, byte in enumerate(data, start=1) if byte == ord("\n")}
    spots |= set(random.Random(1).choices(range(1, len(data)), k=200))
    for spot in sorted(spots):
        parsed = read_or_none(data[:spot])
        if parsed is None:
            continue
        if data[spot - 1] != ord("\n"):
            assert "has no line end" in parsed.warnings[0]
        elif everything(parsed) != whole:
            assert parsed.warnings or nothing_can_tell(data, spot, parsed)


def nothing_can_tell(data, spot, parsed):
    """Cut behind a complete run, or between the statements of a script that nobody else knows."""
    rest = data[spot:].lstrip()
    own = parsed.runs[-1].workload not in {"tpcb-like", "simple-update", "select-only"}
    behind_a_run = (b"+ ", b"pgbench", b"statement latencies", b"script statistics")
    return rest.startswith(behind_a_run) or (own and rest[:1].isdigit())


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.integers(0, len(REPORT + STATEMENTS)), st.integers(0, 200))
def test_damaged_files_are_read_or_refused_and_never_break_the_parser(noise, start, length):
    data = (REPORT + STATEMENTS).encode()
    with suppress(FormatError):
        read(data[:start] + noise + data[start + length :])


# All the real files


@pytest.mark.skipif(not MEASURED.is_dir(), reason="the measured files are not here")
def test_every_measured_file_is_read_right_or_refused_rightly_by_this_format_alone():
    paths = sorted(MEASURED.glob("*/*.txt"))
    assert paths
    for path in paths:
        source = Source(path.read_bytes(), path.name)
        assert [name for name, format_ in FORMATS.items() if format_.recognise(source.head)] == ["pgbench"]
        if path.stem == "init":
            with pytest.raises(FormatError, match="pgbench -i only filled the tables"):
                pgbench.parse(source)
            continue
        meta = json.loads(path.with_suffix(".meta.json").read_text())
        parsed = pgbench.parse(source)
        (run,) = parsed.runs
        assert (run.product, run.version, run.workload, run.threads) == (
            meta["product"],
            meta["version"],
            meta["workload"],
            meta["clients"],
        )
        assert run.options["scale"] == meta["scale"]
        assert {"tps", "latency_avg", "latency_stddev", "statement_1.latency_avg"} <= values(run).keys()
        assert len(parsed.intervals[0].rows) >= 3
        assert all("but the duration is" in warning for warning in parsed.warnings), path


# The end of a report alone


@pytest.mark.parametrize(
    ("first", "threads", "missing"),
    [
        ("scaling factor", 4, "'transaction type'"),
        ("number of clients", 4, "'transaction type'"),
        ("number of transactions", None, "'transaction type', 'number of clients'"),
        (
            "latency average",
            None,
            "'transaction type', 'number of clients', 'number of transactions actually ",
        ),
        (
            "tps = ",
            None,
            "'transaction type', 'number of clients', 'number of transactions actually processed'",
        ),
    ],
)
def test_the_end_of_a_report_is_a_run_with_what_it_says(first, threads, missing):
    text = REPORT[REPORT.index(f"\n{first}") + 1 :]
    assert pgbench.recognise(text.encode())
    parsed = read(text)
    (run,) = parsed.runs
    assert values(run)["tps"] == 400.12
    assert values(run).items() <= values(read(REPORT).runs[0]).items() | {("latency_avg", 9.997)}
    assert (run.threads, run.lost) == (threads, () if threads else ("threads",))
    assert f"the beginning of the report is missing before line 1: no {missing}" in parsed.warnings[0]


def test_the_ends_of_several_reports_are_runs_where_they_tell_their_clients():
    end = REPORT[REPORT.index("number of clients") :]
    parsed = read(end + end.replace("clients: 4", "clients: 8"))
    assert [(run.key, run.threads) for run in parsed.runs] == [("1", 4), ("2", 8)]
    rates = REPORT[REPORT.index("latency average") :]
    assert refusal(rates + rates)[1].startswith("of 2 reports only the ends are there")


def test_a_rate_that_is_whole_needs_no_line_end():
    parsed = read(REPORT.rstrip())
    assert parsed.runs == read(REPORT).runs
    assert parsed.warnings == ("line 16, the last one, has no line end: the file may be cut off",)
    assert (
        refusal(REPORT.rstrip().removesuffix(")"))[1]
        == "the report is not complete: no 'tps' up to this line"
    )


def test_progress_lines_behind_a_report_belong_to_it():
    lines = REPORT.splitlines(keepends=True)
    progress = [line for line in lines if line.startswith("progress")]
    others = [line for line in lines if not line.startswith("progress")]
    behind = read("".join(others + progress))
    assert (behind.runs, behind.intervals) == (read(REPORT).runs, read(REPORT).intervals)
    assert behind.warnings == ()


def test_a_complete_report_closes_its_run_even_where_another_was_stopped():
    parsed = read(REPORT + "progress: 1.0 s, 400.0 tps, lat 10.000 ms stddev 2.000, 0 failed\n")
    assert [values(run)["tps"] for run in parsed.runs] == [400.12]
    assert any("left out: no final report" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    "line", ["1345828501 5601 1542744 483552416 61 2573", "0 199 2241 0 1175850568 995598"]
)
def test_a_log_of_transactions_or_intervals_is_refused_with_what_to_send(line):
    with pytest.raises(FormatError, match="nearest to pgbench, but this is its log"):
        parse_any(Source(f"{line}\n".encode() * 3))
