"""JMH's text beyond the fixtures: numbers and columns in all their shapes, damage, and every real file."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import lines
from ingest.formats.jmh import jmh_json, jmh_text
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files
from tests.ingest.formats.cuts import troubles

FIXTURES = real_files.FIXTURES / "jmh_text"
DATA = real_files.SHARED / "jmh"

here = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/jmh is not here")

TABLE = """\
Benchmark         Mode  Cnt  Score   Error  Units
Simple.do1        avgt    5  2.000 ± 0.500  us/op
Simple.select1    avgt    5  3.000 ± 1.000  us/op
"""


def parse(text):
    return jmh_text.parse(Source(text.encode()))


def readings(run):
    return {reading.metric: reading for reading in run.readings}


def scores(report):
    return {run.workload: readings(run)["score"].value for run in report.runs}


def score_of_row(row, head="Benchmark   Mode  Cnt  Score   Error  Units"):
    (run,) = parse(f"{head}\n{row}\n").runs
    found = readings(run)["score"]
    return found.value, found.low, found.high


# The table


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("a.b  avgt  5  2.000 ± 0.500  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt     2.000 ± 0.500  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000          ns/op", (2, None, None)),
        ("a.b  avgt     2.000          ns/op", (2, None, None)),
        ("a.b  avgt  5  2.000 ±   NaN  ns/op", (2, None, None)),
        ("a.b  avgt  5  2.000 ±0.500   ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000±0.500    ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 +- 0.5   ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 +/- 0.5  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 ? 0.500  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2,000 ± 0,500  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 ± 2.500  ns/op", (2, -0.5, 4.5)),
        ("a.b  avgt  5    ≈ 10⁻⁶       ns/op", (1e-6, None, None)),
        ("a.b  avgt  5    ≈ 10⁻¹²      ns/op", (1e-12, None, None)),
        ("a.b  avgt  5     ≈10^-6      ns/op", (1e-6, None, None)),
        ("a.b  avgt  5       ≈ 0       ns/op", (0, None, None)),
        ("a.b  avgt          ≈ 0       ns/op", (0, None, None)),
        ("a.b  avgt          ? 0       ns/op", (0, None, None)),
        ("a.b  avgt  5  2.000 ┬▒ 0.500 ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 Â± 0.500 ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 ñ 0.500  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5  2.000 \ufffd 0.500  ns/op", (2, 1.5, 2.5)),
        ("a.b  avgt  5       â‰ˆ 0     ns/op", (0, None, None)),
    ],
)
def test_a_score_is_read_as_jmh_prints_it(row, expected):
    assert score_of_row(row) == expected


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Benchmark  Score  Error  Units", "a.b  2.000 ± 0.500  ns/op"),
        ("Benchmark  Score  Error  Units", "a.b  2.000   0.500  ns/op"),
        ("Benchmark  Cnt  Score  Error  Units", "a.b  5  2.000 ± 0.500  ns/op"),
        ("Benchmark  Mode  Score  Error  Units", "a.b  avgt  2.000 ± 0.500  ns/op"),
        ("Benchmark  Mode  Samples  Score  Score error  Units", "a.b  avgt  5  2.000  0.500  ns/op"),
        ("Benchmark  Mode  Samples  Mean  Mean error  Units", "a.b  avgt  5  2.000  0.500  ns/op"),
        ("  Benchmark  Mode  Cnt  Score  Error  Units  ", "  a.b  avgt  5  2.000 ± 0.500  ns/op"),
        (
            "Benchmark  Mode Thr  Cnt  Sec  Mean  Mean error  Units",
            "a.b  avgt 4  5  10  2.000  0.500  nsec/op",
        ),
        ("Benchmark  Mode  Samples  Score  (error)  Units", "a.b  avgt  5  2.000  0.500  ns/op"),
        ("Benchmark  Mode  Samples  Score  Score error (99.9%)  Units", "a.b  avgt  5  2.000  0.500  ns/op"),
    ],
)
def test_columns_may_be_missing_or_have_the_names_of_old_versions(head, row):
    assert score_of_row(row, head) == (2, 1.5, 2.5)


def test_without_an_error_column_there_is_no_interval():
    assert score_of_row("a.b  2.000  ns/op", "Benchmark  Score  Units") == (2, None, None)


def test_the_mode_belongs_to_the_workload_where_there_is_one():
    assert list(scores(parse(TABLE))) == ["Simple.do1 avgt", "Simple.select1 avgt"]
    bare = "Benchmark  Score  Error  Units\na.b  2.000 ± 0.500  us/op\n"
    assert list(scores(parse(bare))) == ["a.b"]


@pytest.mark.parametrize(
    "row",
    [
        "Simple.do2  avgt  5  fast ± 0.5  us/op",
        "Simple.do2  avgt  5  -2.0 ± 0.5  us/op",
        "Simple.do2  avgt  5  2.0 ± 0.5",
        "Simple.do2  each  5  2.0 ± 0.5  us/op",
        "Simple.do2  10  avgt  5  2.0 ± 0.5  us/op",
        "Finished: SUCCESS",
    ],
)
def test_a_line_in_a_table_that_is_no_row_is_left_out_with_a_warning(row):
    report = parse(TABLE + row + "\nSimple.last       avgt    5  4.000 ± 1.000  us/op\n")
    assert list(scores(report)) == ["Simple.do1 avgt", "Simple.select1 avgt", "Simple.last avgt"]
    assert report.warnings == (f"line 4 is no row of the table in line 1 and was not read: {row!r}",)


# The whole output


def test_a_large_output_is_read_as_a_small_one_is(monkeypatch):
    data = (FIXTURES / "decimal-commas-1.21.txt").read_bytes()
    whole = jmh_text.parse(Source(data))
    for size in (16, 100, 1000, 10_000):
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        assert jmh_text.parse(Source(data)) == whole, size


def test_windows_line_ends_change_nothing():
    data = (FIXTURES / "four-modes.txt").read_bytes()
    assert jmh_text.parse(Source(data.replace(b"\n", b"\r\n"))) == jmh_text.parse(Source(data))


@pytest.mark.parametrize(
    ("head", "known"),
    [
        ("# JMH version: 1.37\n# VM version: JDK 17", True),
        ("> Task :jmh\n# JMH 1.10.3 (released 44 days ago)\n", True),
        (TABLE, True),
        ("Results\r\n\r\nBenchmark  Score  Error  Units\r\n", True),
        ("Benchmark  (a)  (b)  Mode  Samples  Score  Score error  Units\n", True),
        ("Benchmark  MariaDB  MySQL\nDO 1  100  90\n", False),
        ("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n", False),
        ("transaction type: <builtin: TPC-B (sort of)>\n", False),
        ('[{"benchmark": "# JMH version: 1.37"}]', False),
        ("", False),
    ],
)
def test_the_format_is_recognised_by_its_headers(head, known):
    assert jmh_text.recognise(head.encode()) is known


# Real files, whole and damaged


@pytest.mark.parametrize(
    "name",
    [
        "average-time.txt",
        "four-modes.txt",
        "two-benchmarks-failed.txt",
        "sample-time.txt",
        "gc-profiler.txt",
        "gc-profiler-1.0.txt",
        "table-of-four-modes.txt",
    ],
)
def test_output_cut_anywhere_is_understood_refused_or_says_so(name):
    assert troubles("jmh_text", (FIXTURES / name).read_bytes()) == []


@settings(max_examples=200, deadline=None)
@given(offset=st.integers(0, 9100), noise=st.binary(max_size=4))
def test_any_damage_is_read_or_refused(offset, noise):
    data = (FIXTURES / "four-modes.txt").read_bytes()
    with suppress(FormatError):
        jmh_text.parse(Source(data[:offset] + noise + data[offset + len(noise) :]))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *(FIXTURES / "gc-profiler.txt").read_text().splitlines(),
                *(FIXTURES / "table-of-four-modes.txt").read_text().splitlines(),
                "Iteration   1: <failure>",
            ]
        ),
        max_size=60,
    )
)
def test_lines_in_any_order_are_read_or_refused(lines):
    with suppress(FormatError):
        report = parse("\n".join(lines) + "\n")
        assert len({run.key for run in report.runs}) == len(report.runs)


@here
@pytest.mark.parametrize(
    "path", sorted(DATA.glob("*/*.txt")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_options_facts_and_iterations_are_those_of_the_json(path):
    text = jmh_text.parse(Source(path.read_bytes()))
    json = jmh_json.parse(Source(path.with_suffix(".json").read_bytes()))
    assert text.facts == json.facts | {"blackhole_mode": "compiler"}
    assert [run.options for run in text.runs] == [run.options for run in json.runs]
    iterations = {table.run: table.rows for table in json.intervals if table.source == "iterations"}
    units = {run.key: run.readings[0].printed_unit for run in json.runs}
    assert iterations.keys() == {table.run for table in text.intervals}
    for table in text.intervals:
        # JMH prints three decimals.
        half = 0.0005001 * {"us/op": 1e3, "ms/op": 1e6, "ops/ms": 1e3}.get(units[table.run], 1)
        for row, exact_row in zip(table.rows, iterations[table.run], strict=True):
            assert row[:2] == exact_row[:2]
            assert row[2] == pytest.approx(exact_row[2], abs=half, rel=1e-12)
