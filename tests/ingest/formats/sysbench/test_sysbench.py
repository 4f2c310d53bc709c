"""sysbench's text beyond the fixtures: what holds for any report, what is refused, and every real file."""

import json
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
THIRD_PARTY = DATA / "third_party" / "small_datum"

REPORT = FIXTURES / "oltp_read_write-nightly.txt"
NOT_RUNS = {"fileio-prepare.txt", "fileio-cleanup.txt", "help-oltp.txt", "version.txt", "verbosity-0.txt"}


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


# Documents


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


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    data = b"\xef\xbb\xbf" + report().replace("\n", "\r\n").encode()
    assert sysbench.recognise(Source(data).head)
    assert read(data) == read(report())


@pytest.mark.parametrize("blank", ["\x0b", "\f", "\u00a0", "\u2003 "])
def test_a_line_of_other_blanks_is_an_empty_line(blank):
    assert read(report(("Threads started!\n\n", f"Threads started!\n{blank}\n"))) == read(report())


def test_an_interval_line_within_the_report_does_not_tear_it():
    tick = REPORT.read_text().splitlines()[12]
    text = report(("    ignored errors:", f"{tick}\n    ignored errors:"))
    assert read(text).runs == read(report()).runs
    assert len(read(text).intervals[0].rows) == 3


# Refusals


@pytest.mark.parametrize("number", ["nan", "-nan", "inf", "-1.00", "1e999", "10,09", "9" * 30, "0x10", "١"])
@pytest.mark.parametrize(("old", "line"), [("10.09", 34), ("11518.61", 22), ("16184", 17), ("2.0067", 27)])
def test_what_is_no_measured_number_is_refused_with_its_line(old, line, number):
    assert refusal(report((old, number)))[0] == line


@pytest.mark.parametrize("number", ["nan", "-1.00", "1e999", "9" * 30, "18446744073709151.61"])
def test_an_interval_with_such_a_number_is_left_out_with_a_warning(number):
    parsed = read(report(("9.56", number)))
    assert len(parsed.intervals[0].rows) == 1
    assert parsed.warnings == ("1 interval lines were not understood, the first in line 14",)


FATAL = "FATAL: no login with password=geheim at mysql://me:geheim@db/ token: geheim\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("4.16", "18446744073709.55", 31, "18446744073709.55 is too large to have been measured"),
        ("of threads: 4", "of threads: 0", 4, "0 is not a number of threads"),
        ("of threads: 4", "of threads: ١", 4, "'١' is not a number that sysbench measures"),
        (
            "of threads: 4",
            "of threads: password=geheim",
            4,
            "'password=***' is not a number that sysbench measures",
        ),
        ("of threads: 4", "of threads: 1.5", 4, "1.5 is not a number of threads"),
        ("of threads: 4", "of threads: 4000000", 4, "4000000 is not a number of threads"),
        ("events:              1156", "events: 0", 28, "not one event was completed"),
        ("4624", "462", 17, "the queries performed do not add up to their total"),
        ("14.35", "1.435", 32, "the least, average and highest latency are not in this order"),
        (
            "        other: ",
            "        write: 4624\n        other: ",
            19,
            "'write:' is there twice: did two processes write into one file?",
        ),
        (
            "SQL statistics:",
            "[ 2s ] Checkpoint report:\nSQL statistics:",
            41,
            "no final report: sysbench was stopped, or the file is cut off after this line",
        ),
        ("1.0.20", "0.3", 1, "sysbench 0.3 is not read, only 0.4, 0.5, 1.0 and 1.1 are"),
        ("1.0.20", "2.0.1", 1, "sysbench 2.0.1 is not read, only 0.4, 0.5, 1.0 and 1.1 are"),
        ("1.0.20", "10.0", 1, "sysbench 10.0 is not read, only 0.4, 0.5, 1.0 and 1.1 are"),
        (
            "SQL statistics:",
            f"{FATAL}SQL statistics:",
            15,
            "sysbench failed: 'no login with password=*** at mysql://***@db/ token: ***'",
        ),
    ],
)
def test_a_report_that_cannot_be_is_refused_with_its_line(old, new, line, message):
    assert refusal(report((old, new))) == (line, message)


def test_text_without_a_banner_is_refused_even_where_the_format_is_named():
    assert refusal("hello\n")[1].startswith("no run of sysbench")
    assert refusal("sysbench 1.0.20")[1].startswith("no run of sysbench")


def test_many_failed_runs_give_few_warnings():
    failed = (FIXTURES / "fatal-no-table.txt").read_text()
    warnings = read(report() + failed * 100).warnings
    assert len(warnings) == 21
    assert warnings[-1] == "80 more such warnings"


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


# Anything at all


def parses_or_refuses(data):
    with suppress(FormatError):
        assert read(data).runs


REPORT_LINES = [
    line
    for path in (REPORT, FIXTURES / "1.1-oltp-slow-with-its-command.txt")
    for line in path.read_bytes().splitlines(keepends=True)
]
OLD_LINES = [
    line for path in sorted(FIXTURES.glob("0.*.txt")) for line in path.read_bytes().splitlines(keepends=True)
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(REPORT_LINES), max_size=60))
def test_lines_in_any_order_are_read_or_refused(lines):
    parses_or_refuses(REPORT_LINES[0] + b"".join(lines))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["0.4.12", "0.5", "1.0"]), st.lists(st.sampled_from(OLD_LINES), max_size=60))
def test_old_lines_in_any_order_are_read_or_refused(version, lines):
    parses_or_refuses(f"sysbench {version}:  multi-threaded\n".encode() + b"".join(lines))


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
