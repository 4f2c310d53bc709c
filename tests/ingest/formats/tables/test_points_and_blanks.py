"""Numbers as other countries print them: never another figure without a word."""

import pytest

from ingest.formats import parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source

NAMES = "         ConnectorJ-5.1.24 MariaDB-JDBC-1.1.2 Drizzle-JDBC-1.3-SNAPSHOT"


def read(*lines):
    return parse(Source("".join(f"{line}\n" for line in lines).encode()))[1]


def test_blanks_between_thousands_are_not_parts_of_a_name():
    with pytest.raises(FormatError, match="do the blanks part thousands") as refused:
        read(
            *("Results (Queries per second, unprepared)", "", NAMES),
            "DO 1     19 543             22 104              15 288",
            "SELECT 1 17 004             19 305              13 410",
        )
    assert refused.value.line == 4


def test_a_name_may_end_in_numbers_that_are_no_thousands():
    report = read("query MariaDB-10.6 MariaDB-10.11", "range 10 8123 7004", "range 99 6523 6604")
    assert [run.workload for run in report.runs] == ["range 10", "range 10", "range 99", "range 99"]


@pytest.mark.parametrize(
    ("rates", "has_warning"),
    [
        (("19.543", "22.100"), True),
        (("19.54", "22.10"), False),
        (("19.5431", "22.1002"), False),
        (("1019.543", "1022.101"), False),
        (("19543", "22104"), False),
    ],
)
def test_points_that_may_part_thousands_are_warned_of(rates, has_warning):
    report = read(
        "| threads | QPS | p95 (ms) |",
        "|---|---|---|",
        *(f"| {at} | {one} | 1.250 |" for at, one in enumerate(rates, 1)),
    )
    assert [run.readings[0].value for run in report.runs] == [float(rate) for rate in rates]
    warned = [warning for warning in report.warnings if "if it parts thousands" in warning]
    assert bool(warned) == has_warning


@pytest.mark.parametrize("head", ["p95", "95%", "avg", "latency", "p95 (ms)", "tps"])
def test_decimal_commas_under_a_metric_are_no_settings(head):
    report = read(f"threads;QPS;{head}".replace("tps", "TPS"), "16;19543;1,20", "32;22100;3,10")
    assert [run.readings[1].value for run in report.runs] == [1.2, 3.1]
    assert report.warnings[0] == "the commas in numbers such as 12,5 are taken for decimal ones"


@pytest.mark.parametrize("cells", [("1,200", "3,10"), ("1.5", "3,10"), ("1,234.5", "3,10")])
def test_commas_that_may_part_thousands_are_refused(cells):
    with pytest.raises(FormatError, match="has a comma") as refused:
        read("threads;QPS;p95 (ms)", *(f"{at};19543;{cell}" for at, cell in enumerate(cells, 1)))
    assert refused.value.line in (2, 3)


def test_words_under_a_percentile_are_no_settings():
    with pytest.raises(FormatError, match="'slow' under 'p95' is not a number") as refused:
        read("threads,QPS,p95", "16,19543,1.2", "32,22100,slow")
    assert refused.value.line == 3
