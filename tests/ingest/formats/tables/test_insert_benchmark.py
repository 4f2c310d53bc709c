"""The insert benchmark's tables beyond the fixtures: pasted, mixed with ratios, cut, without names."""

from pathlib import Path

import pytest

from ingest.formats import parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures/insert_benchmark"
STEPS = (FIXTURES / "steps.txt").read_text()
HEAD, FIRST, SECOND = STEPS.splitlines()[2:5]
RATIOS = (FIXTURES / "relative.txt").read_text().splitlines()[2]
WILD = Path(__file__).parents[5] / "shared/wild/ibench"


def with_bars(line):
    return "| " + line.replace("\t", " | ") + " |"


def read(*lines):
    name, report = parse(Source("".join(f"{line}\n" for line in lines).encode()))
    assert name == "insert_benchmark"
    return report


def inserts(report):
    return {run.key: run.readings[0].value for run in report.runs}


@pytest.mark.parametrize(
    "lines",
    [
        (HEAD, FIRST, SECOND),
        (HEAD.replace("\t", ","), FIRST.replace("\t", ","), SECOND.replace("\t", ",")),
        (HEAD.replace("\t", "  "), FIRST.replace("\t", " "), "", SECOND.replace("\t", "   ")),
        (with_bars(HEAD), "|--" * 21 + "|", with_bars(FIRST), with_bars(SECOND)),
    ],
    ids=["tabs", "commas", "blanks", "bars"],
)
def test_a_table_is_read_however_its_cells_are_parted(lines):
    assert inserts(read(*lines)) == {"ma1011.c1": 120500, "ma114.c1": 98200}


def test_a_heading_over_a_fence_names_the_step():
    report = read("## l.i0", "", "```", HEAD, FIRST, "```", "", "What it means:", HEAD, SECOND)
    assert inserts(report) == {"l.i0/ma1011.c1": 120500, "ma114.c1": 98200}


def test_ratios_beside_rates_are_left_out_with_a_warning():
    report = read("l.i0", HEAD, FIRST, SECOND, "--- relative to the first", HEAD, RATIOS)
    assert inserts(report) == {"l.i0/ma1011.c1": 120500, "l.i0/ma114.c1": 98200}
    assert report.warnings == ("line 7: relative figures; left out",)


def test_a_step_of_a_build_in_two_tables_is_repeated():
    report = read("l.i0", HEAD, FIRST, "l.i0", HEAD, FIRST.replace("120500", "119000"))
    assert inserts(report) == {"l.i0/ma1011.c1/1": 120500, "l.i0/ma1011.c1/2": 119000}
    assert [(run.workload, run.repetition) for run in report.runs] == [("l.i0", 1), ("l.i0", 2)]


def test_a_copy_of_a_line_is_not_a_second_measurement():
    with pytest.raises(FormatError, match="the same as line 3; a copy is not a second measurement"):
        read("l.i0", HEAD, FIRST, "l.i0", HEAD, FIRST)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (FIRST.rpartition("\t")[0], "20 cells under 21 columns"),
        (FIRST.replace("120500", "120,500"), "22 cells under 21 columns"),
        (FIRST.replace("120500", "-1"), "-1 is negative, which no rate and no time can be"),
        (FIRST.replace("120500", "NA"), "no value for ips"),
        (FIRST.replace("120500", "0"), "these are relative figures"),
        (FIRST.replace("44.1", "44.1%"), "'44.1%' is not a number"),
    ],
)
def test_a_row_that_cannot_be_trusted_is_refused_with_its_line(row, reason):
    with pytest.raises(FormatError) as refused:
        read(HEAD, row)
    assert refused.value.message.startswith(reason)
    assert refused.value.line == 2


def test_figures_without_names_of_columns_are_refused_with_what_is_missing():
    with pytest.raises(FormatError, match="nearest to insert_benchmark, but no line names the columns"):
        parse(Source(f"{FIRST}\n{SECOND}\n".encode()))


def test_a_last_line_without_its_end_is_read_with_a_warning():
    _, report = parse(Source(f"{HEAD}\n{FIRST}".encode()))
    assert inserts(report) == {"ma1011.c1": 120500}
    assert "no line end" in report.warnings[-1]


def test_published_tables_are_read_or_refused_as_relative():
    files = [path for path in sorted(WILD.rglob("*")) if path.is_file()]
    if not files:
        pytest.skip("../shared/wild is not here")
    for path in files:
        source = Source(path.read_bytes())
        if path.name.startswith("rel."):
            with pytest.raises(FormatError, match="relative figures"):
                parse(source)
            continue
        _, report = parse(source)
        rows = [line.split("\t") for line in path.read_text().splitlines() if line.count("\t") > 3]
        assert [run.readings[0].value for run in report.runs] == [
            float(row[0]) for row in rows if row[0] != "ips"
        ]


def test_a_table_with_a_column_of_another_kind_is_left_out_with_a_warning():
    report = read(f"dbms\t{HEAD}", f"x\t{FIRST}", "", HEAD, SECOND)
    assert inserts(report) == {"ma114.c1": 98200}
    assert "line 1: the table under these columns was left out: 'dbms' is none" in report.warnings[0]
