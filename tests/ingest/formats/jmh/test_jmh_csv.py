"""JMH's CSV and SCSV beyond the fixtures: how cells are written, what is left out, what is refused."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.jmh import jmh_csv
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files
from tests.ingest.formats.cuts import troubles

FIXTURES = real_files.FIXTURES / "jmh_csv"

HEAD = '"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"'
ROW_REFUSED = "no row for the columns in line 1: "
ROW = '"bench.A.run","avgt",1,5,2.000000,0.500000,"us/op"'


def parse(*lines):
    return jmh_csv.parse(Source("".join(f"{line}\n" for line in lines).encode()))


def readings(run):
    return {reading.metric: reading for reading in run.readings}


def score_of(row, head=HEAD):
    (run,) = parse(head, row).runs
    found = readings(run)["score"]
    return found.value, found.low, found.high


def refusal(*lines):
    with pytest.raises(FormatError) as error:
        parse(*lines)
    return error.value.line, error.value.message


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('"a.b","avgt",1,5,2.000000,0.500000,"ns/op"', (2, 1.5, 2.5)),
        ('"a.b","avgt",1,5,2.000000,NaN,"ns/op"', (2, None, None)),
        ('"a.b","avgt",1,5,2.000000,2.500000,"ns/op"', (2, -0.5, 4.5)),
        ('"a.b","avgt",1,5.000000,2.000000,0.500000,"ns/op"', (2, 1.5, 2.5)),
        ('"a.b","avgt",1,"5,000000","2,000000","0,500000","ns/op"', (2, 1.5, 2.5)),
        ('"a.b","avgt",1,5,2.0E-3,5.0E-4,"us/op"', (2, 1.5, 2.5)),
        ("a.b,avgt,1,5,2.0,0.5,ns/op", (2, 1.5, 2.5)),
        (' "a.b","avgt",1,5,2.0,0.5,"ns/op"'.strip(), (2, 1.5, 2.5)),
    ],
)
def test_a_score_is_read_as_jmh_prints_it(row, expected):
    assert score_of(row) == pytest.approx(expected)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_separated_as_the_first_line_separates_them(separator):
    head, row = HEAD.replace(",", separator), ROW.replace(",", separator)
    assert score_of(row, head) == (2000, 1500, 2500)


def test_parameters_are_whole_in_the_name_of_a_workload_and_masked_beside_it():
    """Who records the name masks what signs in by a URL; see test_stored_secrets."""
    report = parse(HEAD + ',"Param: key"', ROW + ',"password=geheim"')
    assert "geheim" in report.runs[0].workload
    assert "geheim" not in repr(report.runs[0].options)


@pytest.mark.parametrize("dot", ["", "·", "Â·", "┬╖", "ú", "?", "\ufffd", "@"])
def test_what_profilers_measured_belongs_to_the_benchmark_whatever_became_of_the_dot(dot):
    report = parse(
        HEAD,
        ROW,
        f'"bench.A.run:{dot}gc.alloc.rate.norm","avgt",1,5,96.000000,1.000000,"B/op"',
        f'"bench.A.run:{dot}gc.count","avgt",1,5,3.000000,NaN,"counts"',
        f'"bench.A.run:{dot}gc.alloc.rate","avgt",1,5,7.000000,NaN,"MB/sec"',
    )
    (run,) = report.runs
    assert {name: (found.value, found.unit, found.direction) for name, found in readings(run).items()} == {
        "score": (2000, "ns/op", "lower"),
        "gc.alloc.rate.norm": (96, "B/op", "lower"),
        "gc.count": (3, "counts", "lower"),
        "gc.alloc.rate": (7, "MB/sec", "lower"),
    }
    assert report.warnings == ()


@pytest.mark.parametrize("label", ["p{}", "run·p{}", "runÂ·p{}", "run?p{}"])
def test_percentiles_are_those_of_the_score(label):
    ranks = ["0.00", "0.50", "0.90", "0.95", "0.99", "0.999", "0.9999", "1.00"]
    rows = [
        f'"bench.A.run:{label.format(rank)}","sample",1,1,{place}.000000,NaN,"us/op"'
        for place, rank in enumerate(ranks)
    ]
    report = parse(HEAD, ROW.replace("avgt", "sample"), *rows)
    (run,) = report.runs
    assert {name: found.value for name, found in readings(run).items()} == {
        "score": 2000,
        "score_p0": 0,
        "score_p50": 1000,
        "score_p90": 2000,
        "score_p95": 3000,
        "score_p99": 4000,
        "score_p99_9": 5000,
        "score_p99_99": 6000,
        "score_p100": 7000,
    }
    assert report.warnings == ()


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


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (HEAD + "\n", True),
        (HEAD.replace(",", ";").replace("99.9", "99,9") + "\r\n", True),
        ("\n" + HEAD.replace('"', "") + ",Param: size\n", True),
        ('"Benchmark","Mode","Threads"\n', False),
        ("Benchmark,Mode,Threads,Samples,tps,error,Unit\n", False),
        ("Benchmark  Mode  Cnt  Score  Error  Units\n", False),
        ("", False),
    ],
)
def test_the_format_is_recognised_by_its_first_line(head, known):
    assert jmh_csv.recognise(head.encode()) is known


@pytest.mark.parametrize(
    "name", ["average-time.csv", "four-modes.scsv", "sample-time.csv", "gc-profiler.csv"]
)
def test_a_file_cut_anywhere_is_understood_refused_or_says_so(name):
    assert troubles("jmh_csv", (FIXTURES / name).read_bytes()) == []


@settings(max_examples=200, deadline=None)
@given(offset=st.integers(0, 1500), noise=st.binary(max_size=4))
def test_any_damage_is_read_or_refused(offset, noise):
    data = (FIXTURES / "decimal-commas-1.12.scsv").read_bytes()
    with suppress(FormatError):
        jmh_csv.parse(Source(data[:offset] + noise + data[offset + len(noise) :]))
