import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.tables.per_operation import parse, recognise
from tests.ingest.formats import real_files

DATA = real_files.SHARED / "third_party" / "small_datum"
FIXTURES = real_files.FIXTURES / "per_operation"
FILES = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
HEAD = "cpu/o\t\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms\n"
ROW = "0.004\t2.5\t0\t0\t0.1\t1000\t{}\n"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="third_party of ../shared/data is not here")


def read(text):
    return parse(Source(text.encode()))


def error_of(text):
    with pytest.raises(FormatError) as caught:
        read(text)
    return caught.value.line, caught.value.message


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def block(name, *builds, ratios=None):
    """A block as scripts write it, with a line of relative figures for each build but the first."""
    rows = "".join(map(ROW.format, builds))
    ratios = len(builds) - 1 if ratios is None else ratios
    return (
        f"{name}\n--- absolute\n{HEAD}{rows}--- relative to first result\n" + ROW.format("x") * ratios + "\n"
    )


# --- what is read -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "workload", "threads"),
    [
        ("sb.met.point-query.warm.range100.pk1.dop40", "point-query.warm range=100", 40),
        ("sb.prepare.met.point-query.range10.pk1", "prepare.point-query range=10", None),
        ("update-index, 8 tables", "update-index, 8 tables", None),
        ("sb.met.odd.pk1.dop8", "sb.met.odd.pk1.dop8", None),
    ],
)
def test_the_name_of_a_file_says_workload_and_threads_and_any_other_is_the_workload(name, workload, threads):
    (run,) = read(block(name, "A-1")).runs
    assert (run.workload, run.threads) == (workload, threads)


def test_a_build_is_a_product_with_a_version_or_a_version_alone():
    runs = read(block("a", "MySQL-8.0.44", "x.my8044_rel.c8r32", "8.0.45")).runs
    assert [(run.column, run.product, run.version) for run in runs] == [
        ("MySQL-8.0.44", "MySQL", "8.0.44"),
        ("x.my8044_rel.c8r32", None, "x.my8044_rel.c8r32"),
        ("8.0.45", None, "8.0.45"),
    ]


def test_relative_figures_are_left_alone_even_where_they_are_no_numbers():
    text = block("a", "A-1", "B-2", ratios=0).rstrip("\n") + "\n1.00\t\tinf\t1\t1\tinf\t0.5\tB-2\n\n"
    report = read(text + block("b", "A-1", "B-2"))
    assert [run.key for run in report.runs] == ["a/A-1", "a/B-2", "b/A-1", "b/B-2"]
    assert report.warnings == ()


def test_a_cost_is_computed_where_that_gives_more_digits():
    iostat = "r/s rMB/s w/s wMB/s r/o rKB/o wKB/o o/s\n0.2 0.0 9.0 216.0 0.000 0.000 0.322 686438.56\n"
    vmstat = "cs/s cpu/s cs/o cpu/o\n1760941 78.8 2.565 0.000115\n"
    (run,) = read(f"{iostat}\n{vmstat}").runs
    found = values(run)
    assert found["cs_per_op"] == 1760941 / 686438.56
    assert found["cpu_share_per_op"] == 78.8 / 686438.56
    assert found["write_kb_per_op"] == 216.0 * 1024 / 686438.56
    assert found["reads_per_op"] == 0.2 / 686438.56


def test_a_cost_that_contradicts_its_rate_is_taken_as_printed():
    (run,) = read("r/s r/o o/s\n700 0.5 1000\n\ncs/s cs/o\n5 9.999\n").runs
    assert values(run)["reads_per_op"] == 0.5
    assert values(run)["cs_per_op"] == 9.999


def test_operations_of_scans_are_rows_and_a_warning_says_so():
    report = read(block("sb.met.scan.range100.pk1.dop1", "A-1"))
    assert report.warnings == (
        "line 1: sb.met.scan.range100.pk1.dop1 counts rows, in thousands or millions, as operations",
    )


# --- what is missing ----------------------------------------------------------------------------------------


def test_names_without_figures_are_left_out_with_a_warning():
    report = read("sb.met.delete.range100.pk1.dop1\nsb.met.insert.range100.pk1.dop1\n\n" + block("a", "A-1"))
    assert [run.key for run in report.runs] == ["a/A-1"]
    assert report.warnings == (
        "line 1: sb.met.delete.range100.pk1.dop1 has no figures; left out",
        "line 2: sb.met.insert.range100.pk1.dop1 has no figures; left out",
    )


@pytest.mark.parametrize("ratios", [0, 1])
def test_a_block_that_breaks_off_is_told_of(ratios):
    report = read(block("a", "A-1", "B-2", "C-3", ratios=ratios))
    assert report.warnings == ("line 1: a breaks off; builds and workloads may be missing",)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\n" + HEAD, 1, "no line of figures stands under the names of columns"),
        ("a\n" + HEAD + "0.004\t2.5\tA-1\n", 3, "3 cells under 7 columns"),
        ("a\n" + HEAD + "0.004\tx\t0\t0\t0.1\t1000\tA-1\n", 3, "'x' is not a number"),
        ("a\n" + HEAD + "-nan\t2.5\t0\t0\t0.1\t1000\tA-1\n", 3, "'-nan' is not a number"),
        (
            "a\n" + HEAD + "-1\t2.5\t0\t0\t0.1\t1000\tA-1\n",
            3,
            "-1 is negative, which no rate and no time can be",
        ),
        ("a\n" + HEAD + "0.004\t2.5\t0\t0\t0.1\t1e999\tA-1\n", 3, "the number 1e999 is too large"),
        ("a\n" + HEAD + "-\t-\t-\t-\t-\t-\tA-1\n", 3, "the line holds no figure"),
        ("a\n" + HEAD + ROW.format("A-1") * 2, 4, "a second cpu/o; the first stands on line 3"),
        (block("a", "A-1") + block("a", "A-1"), 7, "'a/A-1' is measured a second time"),
        (
            "a.dop1\nbase1 a.dop1 and base2 a.dop8\n" + HEAD,
            2,
            "the rows were measured at two thread counts; send them one by one",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(text, line, message):
    assert error_of(text) == (line, message)


def test_two_names_of_one_file_are_no_more_than_its_name():
    (run,) = read("a.dop1\nbase1 a.dop1 and base2 a.dop1\n" + HEAD + ROW.format("A-1")).runs
    assert run.key == "a.dop1/A-1"


# --- real files ---------------------------------------------------------------------------------------------


@needs_data
def test_published_blocks_are_read_row_by_row():
    report = parse(Source((DATA / "mysql_2025_11" / "o.met.all").read_bytes()))
    assert len(report.runs) == 38 * 8
    runs = {run.key: run for run in report.runs}
    first = runs["sb.prepare.met.point-query.warm.range100.pk1/x.my5651_rel_o2nofp.z12a_c8r32.pk1"]
    assert list(values(first).values()) == [0.000097, 0.010, 0, 0.001, 1.236, 129870]
    update = runs["sb.met.update-inlist.range100.pk1.dop1/x.my5651_rel_o2nofp.z12a_c8r32.pk1"]
    assert list(values(update).values()) == [0.003046, 26.135, 0.774, 3.097, 19.504, 6040]
    assert (update.workload, update.threads) == ("update-inlist range=100", 1)
    assert sum("counts rows" in warning for warning in report.warnings) == len(report.warnings) == 3


@needs_data
def test_every_published_file_of_a_run_has_all_six_figures_as_printed():
    files = sorted(DATA.glob("*/x.*/sb.met.*"))
    assert len(files) == 432
    for path in files:
        data = path.read_bytes()
        assert recognise(data)
        report = parse(Source(data))
        (run,) = report.runs
        assert report.warnings == ()
        iostat, vmstat = [data.decode().splitlines()[line].split("\t") for line in (2, 5)]
        printed = [vmstat[4], vmstat[3], *iostat[5:9]]
        assert len(run.readings) == len(printed)
        for reading, text in zip(run.readings, printed, strict=True):
            last_digit = 1.01 * 10 ** -len(text.partition(".")[2])
            assert reading.value == pytest.approx(float(text), abs=last_digit)


@needs_data
def test_blocks_and_files_of_runs_agree():
    report = parse(Source((DATA / "mysql_2025_11" / "o.met.all").read_bytes()))
    compared = 0
    for run in report.runs:
        path = DATA / "mysql_2025_11" / run.column / run.key.partition("/")[0]
        if path.exists():
            (alone,) = parse(Source(path.read_bytes())).runs
            for reading, other in zip(run.readings, alone.readings, strict=True):
                assert reading.value == pytest.approx(
                    other.value, abs=0.51 if reading.metric == "ops_per_s" else 1.1e-3
                )
            compared += 1
    assert compared == 37 * 8


# --- files that are cut or spoilt ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_cut_within_a_line_is_refused_or_warned_of(path):
    data = path.read_bytes()
    for length in range(1, len(data)):
        if data[length - 1] != 10:
            try:
                report = parse(Source(data[:length]))
            except FormatError:
                continue
            assert any("cut off" in warning for warning in report.warnings)


@pytest.mark.parametrize("name", ["builds.txt", "one-run.txt"])
def test_a_file_cut_at_a_line_end_is_refused_or_says_what_is_missing(name):
    lines = (FIXTURES / name).read_text().splitlines(keepends=True)
    # Where a block is complete, and so is a file that ends there.
    complete = {9, 10, 19, 20} if name == "builds.txt" else set()
    for count in range(1, len(lines) - 1):
        text = "".join(lines[:count])
        if not text.strip() or count in complete:
            continue
        try:
            report = read(text)
        except FormatError:
            continue
        assert report.warnings, count


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_spoilt_file_gives_runs_with_unique_keys_or_a_format_error(path):
    data = bytearray(path.read_bytes())
    randomness = random.Random(3)
    for _ in range(100):
        spoilt = bytearray(data)
        for _ in range(randomness.randint(1, 3)):
            spoilt[randomness.randrange(len(spoilt))] = randomness.choice(b'0,.\t"- \nxe/\xff')
        check_that_only_format_errors_escape(bytes(spoilt))


words = st.sampled_from(
    [
        "cpu/o",
        "cs/o",
        "o/s",
        "cs/s",
        "samp",
        "dbms",
        "---",
        "relative",
        "a",
        "1",
        "0",
        "1e9999",
        "1ex",
        "-",
        "n/a",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(words, max_size=4), min_size=1, max_size=8))
def test_any_blocks_give_runs_with_unique_keys_or_a_format_error(lines):
    check_that_only_format_errors_escape("\n".join(map("\t".join, lines)).encode() + b"\n")


def check_that_only_format_errors_escape(data):
    recognise(data)
    try:
        report = parse(Source(data))
    except FormatError:
        return
    assert report.runs
    assert set(Counter(run.key for run in report.runs).values()) == {1}


@pytest.mark.parametrize(
    "text",
    ["cpu 5\n", "o/s dbms\n1 2\n", "samp cs/s\n1 2\n", "query\tcs/o\nDO 1\t5\n", "r/s w/s\n1 2\n", ""],
)
def test_other_files_are_left_to_others(text):
    assert not recognise(text.encode())
