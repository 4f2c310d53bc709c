"""What CI systems, containers and loggers put before each line is taken away, and nothing else is."""

import random
import re

import pytest

from ingest.formats import FORMATS, parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.real_files import FIXTURES, SHARED, each_of, fixtures, format_of

TAKEN_AWAY = "taken away from the lines before they were read: "


def clock(number):
    return f"{15 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"


def coloured(line, number):
    colour = "\x1b[36m" if number % 3 else "\x1b[1;32m"
    return f"{colour}{line[:3]}\x1b[0m{line[3:]}\x1b[K"


PREFIXES = {
    "GitHub Actions": lambda line, n: f"2026-01-02T{clock(n)}.1234567Z {line}",
    "gh run view": lambda line, n: f"bench\tRun sysbench\t2026-01-02T{clock(n)}.1234567Z {line}",
    "GitLab": lambda line, n: f"2026-01-02T{clock(n)}.123456Z 00O {line}",
    "Jenkins": lambda line, n: f"[2026-11-20T{clock(n)}.123Z] {line}",
    "docker compose": lambda line, n: f"bench-1  | {line}",
    "docker compose in colours with times": lambda line, n: (
        f"\x1b[36mbench-1  | \x1b[0m2026-01-02T{clock(n)}.123456789Z {line}"
    ),
    "kubectl": lambda line, n: f"[pod/bench-x7k2p/sysbench] {line}",
    "journald": lambda line, n: f"Nov 20 {clock(n)} bench-01 sysbench[4711]: {line}",
    "Jenkins, a branch": lambda line, n: f"[bench] {line}",
    "sbt": lambda line, n: f"[info] {line}",
    "a quote": lambda line, n: f"> {line}",
    "a quote of a quote": lambda line, n: f">> {line}",
    "ts": lambda line, n: f"Nov 20 {clock(n)} {line}",
    "colours": coloured,
}


def prefixed(text, kind, *, trimmed=False):
    lines = [PREFIXES[kind](line, number) for number, line in enumerate(text.split("\n")[:-1])]
    return "".join(f"{line.rstrip() if trimmed else line}\n" for line in lines)


def found_in(text, name=None):
    """What is read, or the line and the reason of the refusal."""
    try:
        found, report = parse(Source(text.encode()), name)
    except FormatError as error:
        return error.line, error.message
    warnings = [warning for warning in report.warnings if not warning.startswith(TAKEN_AWAY)]
    runs = [(run.key, run.workload, run.threads, run.readings, run.options) for run in report.runs]
    return found, runs, report.intervals, dict(report.facts), warnings


def some_fixtures():
    """Three fixtures of each format, those with most lines among the short ones."""
    chosen = []
    for name in FORMATS:
        files = [path for path in fixtures() if format_of(path) == name and path.stat().st_size < 20_000]
        files = [path for path in files if path.read_bytes().endswith(b"\n") and "stamped" not in path.name]
        chosen += sorted(files, key=lambda path: -path.read_bytes().count(b"\n"))[:3]
    return chosen


@each_of(some_fixtures())
def test_a_prefix_before_each_line_changes_neither_what_is_read_nor_its_lines(path):
    text, name = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n"), format_of(path)
    expected = found_in(text)
    for kind in PREFIXES:
        changed = prefixed(text, kind)
        assert found_in(changed) == expected, kind
        assert FORMATS[name].recognise(Source(changed.encode()).head), kind


SYSBENCH = (FIXTURES / "sysbench" / "oltp_read_write-nightly.txt").read_text()
REFUSED = (FIXTURES / "sysbench" / "fatal-no-table.txt").read_text()
PGBENCH = (FIXTURES / "pgbench" / "select-only.txt").read_text()


@pytest.mark.parametrize("kind", PREFIXES)
def test_a_prefix_may_lose_its_blank_on_empty_lines(kind):
    assert found_in(prefixed(SYSBENCH, kind, trimmed=True)) == found_in(SYSBENCH)


def test_one_warning_says_what_was_taken_away():
    _, report = parse(Source(prefixed(SYSBENCH, "docker compose in colours with times").encode()))
    assert report.warnings[0] == (
        f"{TAKEN_AWAY}terminal colours and the name of a container, a time "
        "(first 'bench-1  | 2026-01-02T15:00:00.123456789Z')"
    )
    assert not any(warning.startswith(TAKEN_AWAY) for warning in report.warnings[1:])


def test_a_time_that_was_taken_away_tells_when_the_run_began():
    text = "setting up\n" + prefixed(SYSBENCH, "GitHub Actions")
    source = Source(text.encode())
    assert (source.time_of(1), source.time_of(2)) == ("", "2026-01-02T15:00:00.1234567Z")
    (run,) = parse(source)[1].runs
    assert run.started_at.isoformat() == "2026-01-02T15:00:00.123456+00:00"


UNKNOWN_PREFIXES = {
    "a step of a build": lambda line, n: f"#15 {n / 7:.3f} {line}",
    "a machine": lambda line, n: f"db-1.example.com: {line}",
    "a logger": lambda line, n: f"2026-01-02 {clock(n)},123 - bench - INFO - {line}",
    "seconds": lambda line, n: f"[{n / 7:12.6f}] {line}",
    "the step of a job": lambda line, n: f"[15:00:{n % 60:02}] :\t [Step 1/2] {line}",
    "numbers of lines": lambda line, n: f"{n + 1:6}\t{line}",
    "a comment": lambda line, _: f"# {line}".rstrip(),
    "an added line": lambda line, _: f"+{line}",
    "a drawn line": lambda line, _: f"| {line}",
}


@pytest.mark.parametrize("kind", UNKNOWN_PREFIXES)
def test_what_all_lines_begin_with_is_taken_away_where_it_hides_the_output_of_a_tool(kind):
    for text in (SYSBENCH, REFUSED, PGBENCH):
        lines = text.split("\n")[:-1]
        changed = "".join(f"{UNKNOWN_PREFIXES[kind](line, n)}\n" for n, line in enumerate(lines))
        expected = found_in(f"starting\n{text}done\n")[1:4]
        assert found_in(f"starting\n{changed}done\n")[1:4] == expected
    assert found_in(changed, "pgbench")[1:4] == found_in(PGBENCH)[1:4]
    _, report = parse(Source(changed.encode()))
    assert report.warnings[0].startswith(TAKEN_AWAY)
    assert "what the lines begin with (first " in report.warnings[0]


def test_the_lines_of_two_machines_are_not_taken_for_those_of_one():
    text = "".join(f"db-{machine}: {line}\n" for machine in (1, 2) for line in SYSBENCH.splitlines())
    assert found_in(text)[1].startswith("the file is nearest to sysbench, but its report is missing")


def test_what_rows_of_a_table_begin_with_stays():
    table = "threads - tps\n" + "".join(f"run 1: - {n} - {700 + n}.5\n" for n in range(1, 30))
    assert "taken away" not in str(found_in(table))


# --- logs of several services -------------------------------------------------------------------------------


def mixed(*services, seed=7):
    """The lines of several services as they come, and the number of each line of the first."""
    chosen, queues = random.Random(seed), [list(lines) for lines in services]
    lines, numbers = [], []
    while any(queues):
        queue = chosen.choice([queue for queue in queues if queue])
        lines.append(queue.pop(0))
        if queue is queues[0]:
            numbers.append(len(lines))
    return "".join(f"{line}\n" for line in lines), numbers


DATABASE = [f"db-1     | 2026-01-02 15:00:00 {n} [Note] InnoDB: page {n} of 200 is read" for n in range(200)]


def test_of_a_log_of_several_services_the_lines_of_the_result_are_read():
    bench = prefixed(SYSBENCH, "docker compose").splitlines()
    text, _ = mixed(bench, DATABASE)
    text = f"Attaching to bench-1, db-1\n{text}bench-1 exited with code 0\n"
    assert found_in(text)[:4] == found_in(SYSBENCH)[:4]


def test_messages_name_the_lines_of_the_log():
    reason = found_in(REFUSED)
    text, numbers = mixed(prefixed(REFUSED, "docker compose").splitlines(), DATABASE)
    assert found_in(text) == (numbers[reason[0] - 1], reason[1])
    strange = SYSBENCH.replace("[ 1s ] thds:", "[ 1s ] thdz:")
    text, numbers = mixed(prefixed(strange, "docker compose").splitlines(), DATABASE)
    line = numbers[strange.split("\n").index(re.search(r".*thdz.*", strange)[0])]
    _, report = parse(Source(text.encode()))
    assert f"1 interval lines were not understood, the first in line {line}" in report.warnings


def test_two_services_that_write_a_result_at_once_are_refused():
    first = prefixed(SYSBENCH, "docker compose").splitlines()
    text, _ = mixed(first, [line.replace("bench-1", "bench-2") for line in first], DATABASE)
    assert found_in(text)[1].endswith("is there twice: did two processes write into one file?")


# --- blocks of a document, and codes of terminals -----------------------------------------------------------


def test_a_quoted_block_of_a_mail_is_read_and_keeps_its_lines():
    mail = f"Hello,\n\non Friday you wrote:\n{prefixed(REFUSED, 'a quote')}\nRegards\n"
    line, reason = found_in(REFUSED)
    assert found_in(mail) == (line + 3, reason)


def test_sections_of_gitlab_are_no_lines():
    begin = "\x1b[0Ksection_start:1780000000:step_script\r\x1b[0K\x1b[36;1mExecuting the script\x1b[0;m\n"
    end = "\x1b[0Ksection_end:1780000100:step_script\r\x1b[0K\n"
    line, reason = found_in(REFUSED)
    assert found_in(f"{begin}$ sysbench run\n{REFUSED}{end}") == (line + 2, reason)
    assert found_in(f"{begin}{SYSBENCH}{end}")[:4] == found_in(SYSBENCH)[:4]


def test_a_banner_behind_an_overwritten_line_is_read():
    for overwritten in ("waiting 3\rwaiting 2\r", "waiting\r\x1b[2K", "\x1b[1A\x1b[2K"):
        assert found_in(overwritten + SYSBENCH)[:4] == found_in(SYSBENCH)[:4], overwritten


# --- what looks like a prefix -------------------------------------------------------------------------------

NO_PREFIXES = {
    "times in the first column": "time threads tps\n"
    + "".join(f"2026-11-20T15:31:{n:02}Z {n} {700 + n}.5\n" for n in range(1, 40)),
    "times and names in the first columns": "time workload tps\n"
    + "".join(f"2026-11-20T15:31:{n:02} oltp_read_only {700 + n}.5\n" for n in range(1, 40)),
    "a drawn table without borders": "product | workload | qps\n"
    + "".join(f"MariaDB | {name} | {n}\n" for n, name in enumerate(["DO 1", "SELECT 1", "a b c"] * 5)),
    "two columns of one name": "workload | tps\n" + "".join(f"oltp_read_only | {n}.5\n" for n in range(30)),
    "samples with a clock": "".join(
        f"15:31:{n:02}     all    {n}.00    0.00    1.50\n" for n in range(1, 40)
    ),
    "rows with a number first": "".join(f"178000{n:04} 1.5 2.5\n" for n in range(1, 40)),
    "interval lines": "".join(f"[ {n}s ] thds: 4 tps: {n}.00\n" for n in range(1, 40)),
    "marks of HammerDB": "".join(f">>>>> PROC: {name} {name}\n" * 2 + "CALLS: 5\n" for name in "abc"),
    "sections of YCSB": "[READ], Operations, 5\n" * 3 + "[READ], >1000, 0\n" * 9,
    "one quoted line": "> a remark\n\nworkload,tps\noltp,5\n",
    "rows that begin with a section": "[ids] a\n" * 2 + "[mysqld] b\n" * 2 + "port = 3306\n" * 3,
}


@pytest.mark.parametrize("name", NO_PREFIXES)
def test_what_only_looks_like_a_prefix_stays(name):
    source = Source(NO_PREFIXES[name].encode())
    assert source.prefixes.kinds == ()
    assert source.text == NO_PREFIXES[name]
    assert source.warnings == ()


def test_no_fixture_and_no_real_file_has_a_prefix_but_the_ones_with_a_time():
    files = [*fixtures(), *(path for path in SHARED.rglob("*") if path.is_file())]
    found = [path.name for path in files if Source(path.read_bytes()).prefixes.kinds]
    assert found == ["memory-stamped.txt", "console-time-before-lines.txt"]
