"""JMH's CSV and SCSV beyond the fixtures: how cells are written, what is left out, what is refused."""

import pytest

from ingest.formats.jmh import jmh_csv
from ingest.formats.report import FormatError
from ingest.formats.source import Source

HEAD = '"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"'
ROW_REFUSED = "no row for the columns in line 1: "
ROW = '"bench.A.run","avgt",1,5,2.000000,0.500000,"us/op"'


def parse(*lines):
    return jmh_csv.parse(Source("".join(f"{line}\n" for line in lines).encode()))


def refusal(*lines):
    with pytest.raises(FormatError) as error:
        parse(*lines)
    return error.value.line, error.value.message


def test_parameters_are_whole_in_the_name_of_a_workload_and_masked_beside_it():
    """Who records the name masks what signs in by a URL; see test_stored_secrets."""
    report = parse(HEAD + ',"Param: key"', ROW + ',"password=geheim"')
    assert "geheim" in report.runs[0].workload
    assert "geheim" not in repr(report.runs[0].options)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('"a.b","avgt",1,5,2.0,0.5', ROW_REFUSED),
        (ROW + ",10", ROW_REFUSED),
        ('"","avgt",1,5,2.0,0.5,"us/op"', ROW_REFUSED),
        ('"a.b","each",1,5,2.0,0.5,"us/op"', ROW_REFUSED),
        ('"a.b","avgt",0,5,2.0,0.5,"us/op"', ROW_REFUSED),
        ('"a.b","avgt",²,5,2.0,0.5,"us/op"', ROW_REFUSED),
        ('"a.b","avgt",1,5,-2.0,0.5,"us/op"', ROW_REFUSED),
        ('"a.b","avgt",1,5,2.0,-0.5,"us/op"', "the unit '-0.5' is neither"),
        ('"a.b","avgt",1,5,٢.٠,0.5,"us/op"', ROW_REFUSED),
        ('"a.b","avgt",1,5,2.0,0.5,', ROW_REFUSED),
        ('"a"b","avgt",1,5,2.0,0.5,"us/op"', "the line cannot be split into cells: ',' expected after '\"'"),
        ('"a.b","avgt",1,5,1e999,0.5,"us/op"', "'1e999' is too large to have been measured"),
        (
            '"a.b","avgt",1,5,2.0,0.5,"parsecs"',
            "the unit 'parsecs' is neither a time per operation nor operations per time",
        ),
    ],
)
def test_a_line_that_jmh_does_not_write_is_refused(row, reason):
    line, message = refusal(HEAD, ROW, row)
    assert (line, message[: len(reason)]) == (3, reason)
