"""Tables of articles and of public repositories, as they are and in other shapes; small cases are pairs."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import FORMATS, parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files
from tests.ingest.formats.soundness import check_read

DATA = real_files.SHARED
ARTICLES = DATA / "articles"
PUBLISHED = DATA / "third_party" / "small_datum"
WILD = DATA.parent / "wild"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="third_party of ../shared/data is not here"
)
needs_wild = pytest.mark.skipif(not WILD.is_dir(), reason="../shared/wild is not here")


def read(text, *, metric=""):
    data = text if isinstance(text, bytes) else text.encode()
    return parse(Source(data, metric=metric))[1]


def refusal_of(text):
    with pytest.raises(FormatError) as caught:
        read(text)
    return caught.value.message


def figures(report):
    """Each figure with all that tells it from the others."""
    return {
        (
            run.workload,
            run.product,
            run.version,
            run.threads,
            run.configuration,
            reading.metric,
        ): reading.value
        for run in report.runs
        for reading in run.readings
    }


# --- the tables of the articles -----------------------------------------------------------------------------

# The title, what it is without the unit, the head with an empty cell where it has none, and the rows.
TABLES = {
    "jdbc-drivers-qps/unprepared.txt": (
        ["Results (Queries per second, unprepared)"] * 2,
        ["", "ConnectorJ-5.1.24", "MariaDB-JDBC-1.1.2", "Drizzle-JDBC-1.3-SNAPSHOT"],
    ),
    "windows-threadpool/readonly-p95-ms.txt": (
        ["OLTP Readonly response time, 95th percentile (ms)", "OLTP Readonly response time, 95th percentile"],
        ["Concurrent clients", *(str(2**power) for power in range(2, 13))],
    ),
    "windows-threadpool/update-non-index-p95-ms.txt": (
        [
            "OLTP write-only (update_non_index, flush_log=0) response time, 95th percentile (ms)",
            "OLTP write-only (update_non_index, flush_log=0) response time, 95th percentile",
        ],
        ["Concurrent clients", *(str(2**power) for power in range(2, 12))],
    ),
}
SHAPES = {
    "one blank": lambda row: " ".join(filter(None, row)),
    "tabs": "\t".join,
    "tabs and blanks": " \t ".join,
    "Markdown": lambda row: f"| {' | '.join(row)} |",
    "bold Markdown": lambda row: f"| **{row[0]}** | {' | '.join(f'`{cell}`' for cell in row[1:])} |",
    "CSV": ",".join,
}


def article(name):
    path = ARTICLES / name
    if not path.exists():
        pytest.skip(f"{name} of ../shared/data/articles is not here")
    return path.read_text()


def in_shape(shape, title, head, rows):
    """Blanks at the start of a line are lost where a browser copies a table as text."""
    lines = [SHAPES[shape](row) for row in (head, *rows)]
    if "Markdown" in shape:
        lines.insert(1, "|---" * len(head) + "|")
    return "\n".join([title, "", *lines, ""])


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_of_an_article_goes_in_by_copy_and_paste(name, shape):
    text = article(name)
    (title, without_unit), head = TABLES[name]
    assert title in text
    printed = [line.split() for line in text.splitlines()[3:] if line.strip()]
    width = len(head) - 1
    rows = [[" ".join(row[:-width]), *row[-width:]] for row in printed]
    expected = figures(read(text))
    assert len(expected) == len(rows) * width
    assert list(expected.values()) == [float(cell) for row in rows for cell in row[1:]]
    assert figures(read(in_shape(shape, title, head, rows))) == expected
    report = read(in_shape(shape, without_unit, head, rows))
    assert figures(report) == expected
    assert any("has no unit" in warning for warning in report.warnings) == (without_unit != title)


@pytest.mark.parametrize(
    "name", ["jdbc-drivers-qps/all-variants.csv", "windows-threadpool/readonly-tps-at-4096.csv"]
)
@pytest.mark.parametrize("shape", ["tabs", "Markdown"])
def test_a_list_of_an_article_goes_in_as_a_table(name, shape):
    head, *rows = [line.split(",") for line in article(name).splitlines()]
    expected = read(article(name))
    found = read(in_shape(shape, "", head, rows))
    assert figures(found) == figures(expected)
    assert [run.build for run in found.runs] == [run.build for run in expected.runs]


def test_all_variants_give_what_their_article_concludes():
    runs = read(article("jdbc-drivers-qps/all-variants.csv")).runs
    qps = {(run.workload, run.product, run.build, run.configuration): run.readings[0].value for run in runs}
    assert len(qps) == 13

    def change(workload, product, to, base):
        return round((qps[workload, product, *to] / qps[workload, product, *base] - 1) * 100, 1)

    unprepared, prepared = (None, "tcp, unprepared"), (None, "tcp, prepared")
    fixed = ("hexdump logging fixed", "tcp, unprepared")
    assert change("DO 1", "Drizzle-JDBC", fixed, unprepared) == 30.6
    assert change("SELECT 1", "Drizzle-JDBC", fixed, unprepared) == 25.5
    assert change("DO 1", "MariaDB-JDBC", prepared, unprepared) == 0.4
    assert change("DO 1", "ConnectorJ", prepared, unprepared) == 2.8
    assert qps["DO 1", "C client library", None, "named pipe, prepared"] == 33122


# --- tables that were measured and published ----------------------------------------------------------------


@needs_data
def test_all_forms_of_a_measured_table_agree():
    files = sorted((DATA / "qps").glob("*.long.csv"))
    assert len(files) == 7
    for path in files:
        name = path.name.removesuffix(".long.csv")
        exact = read(path.read_bytes()).runs
        values = {(run.workload, run.column): run.readings[0].value for run in exact}
        for suffix, half in ((".csv", 0.0051), (".txt", 0.51)):
            found = read((DATA / "qps" / f"{name}{suffix}").read_bytes()).runs
            assert {(run.workload, run.column): run.readings[0].value for run in found} == pytest.approx(
                values, abs=half
            )
        as_json = DATA / "qps" / f"{name}.json"
        assert not as_json.exists() or read(as_json.read_bytes()).runs == exact


@needs_published
def test_a_published_table_is_what_sysbench_printed():
    path = PUBLISHED / "mysql_2025_11" / "qps.abs.all.tsv"
    report = read(path.read_bytes())
    assert len(report.runs) == 33 * 8
    compared = 0
    for run in report.runs:
        workload, _, size = run.workload.partition("_range=")
        output = path.parent / run.column / f"sb.o.{workload}.range{size}.pk1.dop1"
        (reading,) = run.readings
        if workload.startswith("scan"):
            assert reading.metric == "scan_rate"
        else:
            printed = re.search(r"queries: +[0-9]+ +\(([0-9.]+) per sec", output.read_text())
            assert (reading.metric, reading.value) == ("qps", pytest.approx(float(printed[1]), abs=1))
            compared += 1
    assert compared == 31 * 8


@needs_published
def test_published_costs_of_operations_are_those_of_their_runs():
    report = read((PUBLISHED / "mysql_2025_11" / "o.met.all").read_bytes())
    assert len(report.runs) == 38 * 8
    assert sum("counts rows" in warning for warning in report.warnings) == len(report.warnings) == 3
    compared = 0
    for run in report.runs:
        path = PUBLISHED / "mysql_2025_11" / run.column / run.key.partition("/")[0]
        if path.exists():
            (alone,) = read(path.read_bytes()).runs
            for reading, other in zip(run.readings, alone.readings, strict=True):
                near = 0.51 if reading.metric == "ops_per_s" else 1.1e-3
                assert reading.value == pytest.approx(other.value, abs=near)
            compared += 1
    assert compared == 37 * 8


@needs_published
def test_every_published_file_of_a_run_has_all_six_figures_as_printed():
    files = sorted(PUBLISHED.glob("*/x.*/sb.met.*"))
    assert len(files) == 432
    for path in files:
        data = path.read_bytes()
        report = parse(Source(data), "per_operation")[1]
        (run,) = report.runs
        assert report.warnings == ()
        iostat, vmstat = [data.decode().splitlines()[line].split("\t") for line in (2, 5)]
        printed = [vmstat[4], vmstat[3], *iostat[5:9]]
        assert len(run.readings) == len(printed)
        for reading, text in zip(run.readings, printed, strict=True):
            last_digit = 1.01 * 10 ** -len(text.partition(".")[2])
            assert reading.value == pytest.approx(float(text), abs=last_digit)


@needs_wild
@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("AWS_PG15", (None, "PG", "15", 512, "8 Cores 32G", "tps"), 1325.27),
        ("AWS_PG15", (None, "PostgreSQL", "15", 16, "Follow up study", "latency_p95"), 18.61),
        ("V4.1.0_ee", (None, None, "4.1", 1024, "OLTP", "qps"), 972018.58),
        ("V4.1.0_ee", ("TPC-DS Q4", None, "4.1", None, None, "total_time"), 9.43),
        ("V4.1.0_ee", ("TPC-C", None, "4.0", None, "BenchmarkSQL", "nopm"), 307021.0),
        ("tiproxy", ("Read Only", None, None, 200, None, "latency_p95"), 32.53),
        ("double-system", (None, None, None, None, "Number of scan keys=10, Scenario 3", "qps"), 18865),
        ("example_perf", ("oltp_read_only", None, None, 128, None, "qps"), 74513),
        ("sysbench_report__README", ("点查询", None, None, 128, None, "qps"), 321410),
        ("spqr", (None, None, None, None, "Shards=8", "nopm"), 78180),
        ("baremetal", (None, None, None, 1, "Max Prime=10000", "latency_p95"), 0.77),
    ],
)
def test_a_figure_of_a_published_table_is_where_it_stands(part, place, value):
    (path,) = [
        path for path in (WILD / "corpus").iterdir() if part in path.name and path.suffix in {".md", ".csv"}
    ]
    assert figures(read(path.read_bytes()))[place] == value


# --- what is no table, and any table ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pg1222,33781\npg1323,33740\n", "no line names the columns"),
        ("6002\t12526\tx.my5649.x6d\n7241\t14053\tx.my5731.x6d\n", "no line names the columns"),
        ("pg1222,1.006\npg1323,1.019\n", "are these relative figures?"),
        ("hits,read_avg,database\n44130.6,252.4,redis\n", "write the units behind their names"),
        ("a,b,c\nx,12,13\ny,14,15\n", "nothing says what the numbers under 'b', 'c' are"),
        (";oltp_read_only\n8.0.36;12.345,6\n", "nothing says what the numbers under 'oltp_read_only'"),
        ("# R\n\n<table>\n<tr><th>TPS</th></tr>\n</table>\n", "a web page or another document"),
        ("# M\n\n| Instance | vCPUs |\n|---|---|\n| m5 | 2 |\n", "not a result file that benchdash knows"),
        ('{"measurements": []}', "its keys are 'measurements'"),
        ("[" * 100_000, "it has no keys"),
    ],
)
def test_a_refusal_says_what_a_table_lacks(text, sentence):
    assert sentence in refusal_of(text)


@pytest.mark.parametrize(
    "text",
    [
        '"Benchmark","Mode","Threads","Samples","Score","Unit"\n"a.B","avgt",1,6,2.5,"us/op"\n',
        '"Benchmark","Mode","Score","Unit","Param: size-1"\n"a.B","avgt",2.5,"us/op",10\n',
        "Benchmark  Mode  Cnt  Score   Error  Units\na.B.c      avgt    6  2.500 ± 1.500  us/op\n",
        " r  b   swpd   free\n 1  0      0 123456\n",
        "Device  tps  kB_read/s\nsda-1  5  6\n",
        ",mixed,0.215,0.141,0.289,1,4000\n,mixed,0.117,0.116,0.119,2,2000\n",
        "query mode: simple\nnumber of clients: 4\nnumber of threads: 1\ntps = 123.4 (without connecting)\n",
        "time,threads,tps,qps\n1,4,100,2000\n2,4,110,2200\n",
        "[mysqld]\nport=3306\n",
        "name,value\na,5\n",
        "hot-points_range=100,4533\npoint-query_range=100,24515\n",
        "2026-11-20 15:37:30,4533,3927\n2026-11-20 15:37:31,24515,21618\n",
        "DO 1,4533,3927\n",
        "          mariadb mysql\nDO 1      100     200\n",
        "| a | b |\n| 1 | 2 |\n",
        "",
        "cpu 5\n",
        "o/s dbms\n1 2\n",
        "samp cs/s\n1 2\n",
        "r/s w/s\n1 2\n",
        '[{"jmhVersion": "1.37", "benchmark": "a.B", "mode": "avgt", "primaryMetric": {"score": 2}}]',
        '{"product": "MariaDB", "version": "10.6", "workload": "oltp_read_only", "threads": 4}',
        '{"index": 0, "time": "2026-11-20T15:30:30Z", "state": "base", "tps": 730.96, "qps": 11695.41}\n',
        '[{"time": 1, "threads": 4, "tps": 730.96, "qps": 11695.41}]',
        '{"series": [{"tps": 5}]}',
        '["query", "qps"]',
        "{",
    ],
)
def test_other_files_are_left_to_others(text):
    tables = ("qps_table", "qps_json", "per_operation")
    assert not any(FORMATS[name].recognise(text.encode()) for name in tables)


WORDS = (
    *("query", "col-1", "col-1 : A-1", "user", "idle", "client", "version", "qps", "tps", "metric", "value"),
    *("unit", "threads", "time", "A-1", "B", "cpu/o", "cs/o", "o/s", "samp", "dbms", "---", "relative"),
    *(
        "DO 1",
        "x y",
        "ms",
        "queries per second",
        "2026-11-20",
        "",
        "5",
        "16",
        "0.5",
        "1e999",
        "-1",
        "n/a",
        '"',
    ),
)
ROWS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from([",", "\t", "  ", " ", ";", "|"]))
def test_any_table_is_understood_soundly_or_refused(rows, separator):
    text = "\n".join(separator.join(row) for row in rows) + "\n"
    for name in ("qps_table", "per_operation"):
        check_read(name, text.encode())


FIELDS = st.sampled_from(["query", "client", "version", "qps", "value", "unit", "metric", "threads", "x", ""])
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.sampled_from(["A-1", "tps"]),
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.dictionaries(FIELDS, VALUES, max_size=6), max_size=4),
    st.sampled_from(["list", "document", "lines"]),
)
def test_any_measurements_are_understood_soundly_or_refused(items, layout):
    texts = {
        "list": json.dumps(items),
        "document": json.dumps({"unit": "queries/second", "measurements": items}),
        "lines": "\n".join(map(json.dumps, items)),
    }
    check_read("qps_json", texts[layout].encode())
