import random
import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.tables.qps_table import parse, recognise
from tests.ingest.formats import real_files

DATA = real_files.SHARED
FIXTURES = real_files.FIXTURES / "qps_table"
TABLES = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))

SECOND_TABLE = (
    "a second table begins, and nothing tells it from the first; write a line above each that says what was "
    "measured, or send each table as a file of its own"
)
TWO_METRICS = (
    "the titles name both tps and qps; name the one that it is in the field 'metric', or send one table for "
    "each metric"
)


def read(text):
    return parse(Source(text.encode()))


def error_of(text):
    with pytest.raises(FormatError) as caught:
        read(text)
    return caught.value.line, caught.value.message


def values(report, metric="qps"):
    return {
        run.key: reading.value for run in report.runs for reading in run.readings if reading.metric == metric
    }


def article(name):
    path = DATA / "articles" / name
    if not path.exists():
        pytest.skip(f"{name} of ../shared/data/articles is not here")
    return parse(Source(path.read_bytes()))


def per_cent(value, base):
    return round((value / base - 1) * 100, 1)


# --- what the articles conclude -----------------------------------------------------------------------------


def test_the_unprepared_table_gives_what_its_article_concludes():
    qps = values(article("jdbc-drivers-qps/unprepared.txt"))
    assert per_cent(qps["DO 1/MariaDB-JDBC-1.1.2"], qps["DO 1/ConnectorJ-5.1.24"]) == 13.1
    assert per_cent(qps["DO 1/MariaDB-JDBC-1.1.2"], qps["DO 1/Drizzle-JDBC-1.3-SNAPSHOT"]) == 44.6
    assert len(qps) == 6


def test_all_variants_give_what_their_article_concludes():
    runs = article("jdbc-drivers-qps/all-variants.csv").runs
    qps = {(run.workload, run.product, run.build, run.configuration): run.readings[0].value for run in runs}
    assert len(qps) == 13

    def change(workload, product, to, base):
        return per_cent(qps[workload, product, *to], qps[workload, product, *base])

    unprepared, prepared = (None, "tcp, unprepared"), (None, "tcp, prepared")
    fixed = ("hexdump logging fixed", "tcp, unprepared")
    assert change("DO 1", "Drizzle-JDBC", fixed, unprepared) == 30.6
    assert change("SELECT 1", "Drizzle-JDBC", fixed, unprepared) == 25.5
    assert change("DO 1", "MariaDB-JDBC", prepared, unprepared) == 0.4
    assert change("DO 1", "ConnectorJ", prepared, unprepared) == 2.8
    assert qps["DO 1", "C client library", None, "named pipe, prepared"] == 33122


def test_the_thread_pool_gives_what_its_article_concludes():
    tps = values(article("windows-threadpool/readonly-tps-at-4096.csv"), "tps")
    assert tps == {"MariaDB-5.5": 2382, "MySQL-5.5": 413}
    assert per_cent(tps["MariaDB-5.5"], tps["MySQL-5.5"]) == 476.8
    report = article("windows-threadpool/readonly-p95-ms.txt")
    assert {run.workload for run in report.runs} == {"OLTP Readonly"}
    latency = values(report, "latency_p95")
    assert len(latency) == 22
    assert latency["OLTP Readonly/MySQL/threads=4096"] == 25215.29


@pytest.mark.parametrize(
    "name",
    [
        "jdbc-drivers-qps/unprepared.txt",
        "windows-threadpool/readonly-p95-ms.txt",
        "windows-threadpool/update-non-index-p95-ms.txt",
    ],
)
def test_every_figure_of_an_article_is_read_in_its_order(name):
    report = article(name)
    text = (DATA / "articles" / name).read_text()
    rows = [line.split() for line in text.splitlines()[3:]]
    width = len(report.runs) // len(rows)
    assert [run.readings[0].value for run in report.runs] == [
        float(cell) for row in rows for cell in row[-width:]
    ]


@pytest.mark.skipif(not (DATA / "qps").is_dir(), reason="qps of ../shared/data is not here")
def test_the_four_forms_of_a_measured_table_agree():
    files = sorted((DATA / "qps").glob("*.long.csv"))
    assert len(files) == 7
    for path in files:
        name = path.name.removesuffix(".long.csv")
        wide, text = ((DATA / "qps" / f"{name}{suffix}").read_bytes() for suffix in (".csv", ".txt"))
        exact = {
            (run.workload, run.column): run.readings[0].value for run in parse(Source(path.read_bytes())).runs
        }
        for data, half in ((wide, 0.0051), (text, 0.51)):
            found = {(run.workload, run.column): run.readings[0].value for run in parse(Source(data)).runs}
            assert found == pytest.approx(exact, abs=half)


# --- names over columns and beside rows ---------------------------------------------------------------------


def test_cells_belong_to_the_columns_that_they_stand_under():
    report = read(
        "Queries per second\n\n             A-1    B-2\nSELECT 1     100    200\nSELECT NOW() 300    400\n"
    )
    assert values(report) == {
        "SELECT 1/A-1": 100,
        "SELECT 1/B-2": 200,
        "SELECT NOW()/A-1": 300,
        "SELECT NOW()/B-2": 400,
    }


def test_names_without_versions_need_a_title_to_be_recognised():
    table = "          mariadb mysql\nDO 1      100     200\n"
    assert not recognise(table.encode())
    assert recognise(f"Queries per second\n{table}".encode())
    assert [run.product for run in read(f"Queries per second\n{table}").runs] == ["mariadb", "mysql"]


def test_rows_of_versions_under_thread_counts_are_a_scaling_curve():
    report = read("OLTP read-only (tps)\nthreads 1 16\n10.6.23 100 900\nMySQL-8.0.44 90 700\n")
    found = [(run.product, run.version, run.workload, run.threads) for run in report.runs]
    assert found == [
        (None, "10.6.23", "OLTP read-only", 1),
        (None, "10.6.23", "OLTP read-only", 16),
        ("MySQL", "8.0.44", "OLTP read-only", 1),
        ("MySQL", "8.0.44", "OLTP read-only", 16),
    ]


def test_thread_counts_may_stand_beside_the_rows():
    report = read("tps\nthreads A-1 B-2\n1 100 90\n16 900 700\n")
    assert values(report, "tps") == {
        "A-1/threads=1": 100,
        "B-2/threads=1": 90,
        "A-1/threads=16": 900,
        "B-2/threads=16": 700,
    }


def test_a_row_given_twice_is_repeated():
    report = read("query,A-1\nDO 1,100\nDO 1,101\n")
    assert values(report) == {"DO 1/A-1/repetition=1": 100, "DO 1/A-1/repetition=2": 101}


def test_a_copied_row_is_no_repetition():
    assert error_of("query,A-1\nDO 1,100\nDO 1,100\n") == (
        3,
        "the same as line 2; a copy is not a second measurement",
    )


def test_numbers_keep_all_their_digits():
    assert values(read("query,A-1,B-2\nscan,0.012345678901234567,1.5e-3\n")) == {
        "scan/A-1": 0.012345678901234567,
        "scan/B-2": 0.0015,
    }


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("query,A-1\nDO 1,1,000\n", 2, "3 cells, where the first line has 2"),
        (
            'query,A-1\nDO 1,"1,000"\nDO 2,999.5\nDO 3,1500\n',
            2,
            "the number '1,000' has a comma; write digits and a decimal point",
        ),
        ("query,A-1\nDO 1,NotANumber\n", 2, "'NotANumber' is not a number"),
        ("query,A-1\nDO 1,inf\n", 2, "'inf' is not a number"),
        ("query,A-1\nDO 1,-5\n", 2, "-5 is negative, which no rate and no time can be"),
        ("query,A-1\nDO 1,5\nDO 2,1e999\n", 3, "the number 1e999 is too large"),
        ("query,A-1\nDO 1,1_000\n", 2, "'1_000' is not a number"),
        ("query,A-1\nDO 1,٣\n", 2, "'٣' is not a number"),
        ("query,A-1,B-2\nDO 1,5\n", 2, "2 cells, where the first line has 3"),
        ("query,A-1,B-2\n,5,6\n", 2, "the row has no name"),
        ("query,A-1,A-1\nDO 1,5,6\n", 1, "two columns are called 'A-1'"),
        ("query,A-1,\nDO 1,5,6\n", 1, "column 3 has no name"),
        ("query,A-1\n", 1, "the table has no rows"),
        (
            "query,A-1\nDO 1,n/a\n",
            1,
            "no row holds a value; line 2: no value for DO 1 and A-1; left out",
        ),
        ('query,A-1\nDO 1,"5\n', 2, "the quotes do not fit together: unexpected end of data"),
        (
            "query,A-1\nDO 1,5\nquery,A-1\n",
            3,
            SECOND_TABLE,
        ),
        ("tps\n\n  A-1 B-2\nDO 1 5 6\nDO 5 6\n", 4, None),
        ("tps\n\n     A-1 B-2\nDO 1   5   6\nDO 2   5\n", 5, None),
        ("tps\n\n     A-1 B-2\nDO 1   5   6\nDO 2   5   x\n", 5, "'x' is not a number"),
        ("tps\n\n     A-1 B-2\nDO 1   5   6\n\nDO 2   5   6  seven\n", 6, "'seven' is not a number"),
        (
            "tps\n\n     A-1 B-2\nDO 1   5   6\n\nqps\n",
            6,
            TWO_METRICS,
        ),
        ("tps\n\n     A-1\nDO 1   5\n\nof B\n     B-1\nDO 1   60\n", 7, None),
        ("tps\nthreads 1 0\nA-1 5 6\n", 2, "the thread count is 0, not a whole number from 1 to 1000000000"),
        ("tps relative to A-1\n\n     A-1 B-2\nDO 1   5   6\n", 1, None),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(text, line, message):
    found = error_of(text)
    assert found == (line, message or found[1])


def test_a_title_must_say_what_the_numbers_are():
    line, message = error_of("threads 1 16\nA-1 100 900\n")
    assert line == 1
    assert "'transactions per second'" in message


def test_bare_numbers_over_columns_may_be_threads_or_versions():
    text = "query,16,17\nDO 1,5,6\n"
    assert recognise(text.encode())
    line, message = error_of(text)
    assert line == 1
    assert message.startswith("are 16, 17 thread counts or versions?")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    data = b"\xef\xbb\xbfquery,A-1\r\nDO 1,5\r\n"
    assert recognise(Source(data).head)
    assert values(parse(Source(data))) == {"DO 1/A-1": 5}


# --- names of columns in a block above the table ------------------------------------------------------------

BLOCK = "col-1 : x.my8043_rel.c8r32\ncol-2 : MySQL 8.0.44\n\ncol-1\tcol-2\n"


def test_a_block_names_the_columns_and_rows_are_named_behind_their_numbers():
    report = read(BLOCK + "2870\t3013\thot-points_range=100\n\t8721\trandom points\n")
    found = [(run.workload, run.product, run.version, run.readings[0].value) for run in report.runs]
    assert found == [
        ("hot-points_range=100", None, "x.my8043_rel.c8r32", 2870),
        ("hot-points_range=100", "MySQL", "8.0.44", 3013),
        ("random points", "MySQL", "8.0.44", 8721),
    ]
    assert report.warnings == ("line 6: no value for random points and x.my8043_rel.c8r32; left out",)


def test_a_block_may_stand_above_a_table_of_blanks():
    report = read("col-1 : A-1\ncol-2 : B-2\n\ncol-1   col-2\n  28      30   random points\n")
    assert values(report) == {"random points/A-1": 28, "random points/B-2": 30}


def test_a_title_above_a_block_knows_better_what_the_numbers_are():
    report = read("Scans, average response time (ms)\n" + BLOCK + "2.5\t3.5\tscan_range=100\n")
    assert list(values(report, "latency_avg").values()) == [2.5, 3.5]
    assert report.warnings == ()


def test_scans_under_a_block_are_no_queries():
    report = read(BLOCK + "6553\t5605\tscan_range=100\n2870\t3013\tpoint-query_range=100\n")
    assert list(values(report)) == [
        "point-query_range=100/x.my8043_rel.c8r32",
        "point-query_range=100/MySQL 8.0.44",
    ]
    assert list(values(report, "scan_rate").values()) == [6553, 5605]
    assert report.warnings == (
        "line 5: scan_range=100 counts rows, in thousands or millions; kept as scan_rate",
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "Relative to: A-1\n" + BLOCK + "0.87\t0.63\ta\n",
            1,
            "these are relative figures; upload the absolute",
        ),
        (BLOCK + "0.87\t0.63\ta\n1.44\t1.27\tb\n", 4, "no number reaches 10: are these relative figures?"),
        (BLOCK + "2870\thot-points\n", 5, "2 cells; 2 numbers and the name of the row behind them are meant"),
        (BLOCK + "2870\t3013\t\n", 5, "the row has no name"),
        (BLOCK + "hot-points\t2870\t3013\n", 5, "'hot-points' is not a number"),
        (BLOCK + "col-1\tcol-2\n", 5, "a second table begins; send each table as a file of its own"),
        (BLOCK, 4, "the table has no rows"),
        ("col-1 : A-1\n\ncol-1\tcol-2\n28\t30\ta\n", 3, "the block above the table does not name col-2"),
        ("col-1 : A-1\ncol-2 : B-2\n\ncol-1\n28\ta\n", 2, "col-2 is named, but there is no such column"),
        ("col-1 : A-1\ncol-1 : B-2\n\ncol-1\n28\ta\n", 2, "col-1 is named on line 1 already"),
        (
            "col-1 : A-1\ncol-2 : B-2\n",
            1,
            "the block names columns, but no line 'col-1 ...' stands over a table",
        ),
    ],
)
def test_a_block_that_cannot_be_understood_is_refused_with_its_line(text, line, message):
    found = error_of(text)
    assert found[0] == line
    assert found[1].startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,4533,3927\nb,24515,21618\n",
            "no line names the columns; write one above them, such as 'query,mysql-8.0,mysql-8.1', or",
        ),
        ("a\t0.87\t0.63\nb\t1.44\t1.27\n", "no number reaches 10: are these relative figures? Upload the"),
    ],
)
def test_rows_without_names_of_columns_are_refused_with_what_is_missing(text, message):
    assert recognise(text.encode())
    assert error_of(text)[1].startswith(message)


def published(name):
    path = DATA / "third_party" / "small_datum" / "mysql_2025_11" / name
    if not path.exists():
        pytest.skip(f"{name} of ../shared/data/third_party is not here")
    return path


def test_a_published_table_is_what_sysbench_printed():
    path = published("qps.abs.all.tsv")
    report = parse(Source(path.read_bytes()))
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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("qps.rel.all.tsv", "these are relative figures; upload the absolute ones"),
        ("qps.rel.all.csv", "no number reaches 10: are these relative figures?"),
        ("qps.abs.all.csv", "no line names the columns"),
    ],
)
def test_a_published_table_that_is_relative_or_without_names_is_refused(name, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        parse(Source(published(name).read_bytes()))


# --- tables that clients draw -------------------------------------------------------------------------------

EDGE = "+-------+-----+-----+\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{EDGE}| query | A-1 | B-2 |\n{EDGE}| DO 1  |  50 |NULL |\n{EDGE}",
        f"{EDGE}| query | A-1 | B-2 |\n{EDGE}| DO 1  |  50 |NULL |\n{EDGE}1 row in set (0.00 sec)\n",
        " query | A-1 | B-2 \n-------+-----+-----\n DO 1  |  50 |    \n(1 row)\n\n",
        "| query | A-1 | B-2 |\n|:------|----:|----:|\n| DO 1 | 50 | |\n",
        "query;A-1;B-2\nDO 1;50;\n",
        "query,A-1,B-2,,\nDO 1,50,,,\n",
    ],
)
def test_drawn_tables_and_spreadsheets_are_tables_too(text):
    assert recognise(text.encode())
    report = read(text)
    assert values(report) == {"DO 1/A-1": 50}
    assert len(report.warnings) == 1


def test_a_drawn_table_may_have_a_row_for_each_result_and_text_around_it():
    report = read(
        "MariaDB [b]> select * from r;\n+---------+-----+\n| threads | tps |\n+---------+-----+\n"
        "|       1 |  50 |\n|      16 | 400 |\n+---------+-----+\n2 rows in set (0.00 sec)\n\nBye\n"
    )
    assert values(report, "tps") == {"threads=1": 50, "threads=16": 400}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("| query | A-1 |\n|---|---|\n| DO 1 | 5 |\n| DO 2\n", 4, "1 cell, where the first line has 2"),
        (" query | A-1 \n-------+-----\n DO 1  |   5\n(2 rows)\n", 4, "'(2 rows)' stands under 1 row"),
        ("query;A-1\nDO 1;1,500\n", 2, "the number '1,500' has a comma; write digits and a decimal point"),
    ],
)
def test_a_drawn_table_that_cannot_be_understood_is_refused_with_its_line(text, line, message):
    assert error_of(text) == (line, message)


@pytest.mark.parametrize("name", ["drawn-by-mysql.txt", "drawn-by-psql.txt"])
def test_a_drawn_table_cut_after_a_row_says_that_its_end_is_missing(name):
    lines = (FIXTURES / name).read_text().splitlines(keepends=True)
    report = read("".join(lines[:4]))
    assert report.warnings[-1] == "what ends such a table is not there; if it was cut off, rows are missing"


# --- rows of thread counts, columns of metrics --------------------------------------------------------------

SCALING = "1 523 6 1 93 12 3 900\n2 1010 12 2 86 40 9 1800\n"


@pytest.mark.parametrize("separator", [" ", "   ", ",", "\t", ";", "|"])
def test_columns_beside_a_rate_are_known_metrics_where_their_unit_is_sure_and_else_own_ones(separator):
    names = ("User Threads", "Txns/sec", "User", "System", "Idle", "smtx", "icsw", "sycl")
    text = separator.join(names) + "\n" + SCALING.replace(" ", separator)
    assert recognise(text.encode())
    report = read(text)
    found = [
        (run.threads, {reading.metric: reading.value for reading in run.readings}, dict(run.options))
        for run in report.runs
    ]
    assert found == [
        (
            1,
            {"tps": 523, "cpu_user": 6, "cpu_system": 1, "cpu_idle": 93, "smtx": 12, "icsw": 3, "sycl": 900},
            {},
        ),
        (
            2,
            {
                "tps": 1010,
                "cpu_user": 12,
                "cpu_system": 2,
                "cpu_idle": 86,
                "smtx": 40,
                "icsw": 9,
                "sycl": 1800,
            },
            {},
        ),
    ]
    assert [reading.metric for reading in report.runs[0].readings if reading.is_own] == [
        "smtx",
        "icsw",
        "sycl",
    ]
    assert report.warnings[:3] == tuple(
        f"{name!r} is no metric that benchdash knows: kept as one of the project's own"
        for name in ("smtx", "icsw", "sycl")
    )


def test_what_names_a_run_is_no_option_of_the_workload():
    (run, _) = read("threads tps run_id rows\n1 5 7 1000\n2 6 8 1000\n").runs
    assert {name: type(value) for name, value in run.options.items()} == {"run_id": float, "rows": int}


@pytest.mark.parametrize(
    ("names", "row"),
    [
        ("threads,tps,user,idle", "1,5,0.06,0.9"),
        ("threads,tps,user,system", "1,5,523,1010"),
        ("threads,tps,user", "1,5,6"),
        ("threads,tps,user,usr,idle", "1,5,6,6,80"),
        ("threads,tps,user,idle", "1,5,6,n/a"),
    ],
)
def test_columns_that_may_be_no_per_cents_of_cpu_time_are_own_metrics(names, row):
    (run,) = read(f"{names}\n{row}\n").runs
    assert [reading.metric for reading in run.readings if not reading.is_own] == ["tps"]


@pytest.mark.parametrize(
    ("head", "metric", "value"),
    [
        ("p95 (ms)", "latency_p95", 7),
        ("95th percentile (us)", "latency_p95", 0.007),
        ("99.9% latency (ms)", "latency_p99_9", 7),
        ("avg_ms", "latency_avg", 7),
        ("lat_max_ms", "latency_max", 7),
        ("cs/s", "context_switches_per_s", 7),
        ("%usr", "usr", 7),
        ("response time (ms)", "response_time", 7),
    ],
)
def test_response_times_may_stand_beside_a_rate(head, metric, value):
    (run,) = read(f"threads\ttps\t{head}\n1\t5\t7\n").runs
    assert [(reading.metric, reading.value) for reading in run.readings[1:]] == [(metric, value)]


@pytest.mark.parametrize("head", ["Threads", "clients", "Concurrent connections", "users", "user threads"])
def test_thread_counts_have_many_names(head):
    assert values(read(f"{head},tps\n1,5\n2,6\n"), "tps") == {"threads=1": 5, "threads=2": 6}


def test_results_in_columns_of_blanks_may_have_texts_with_blanks():
    report = read("query         client  qps\nDO 1          A-1     5\nSELECT NOW()  A-1     6\n")
    assert values(report) == {"DO 1/A-1": 5, "SELECT NOW()/A-1": 6}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("threads tps\n1 5\n2\n", 3, "1 cell under 2 columns"),
        ("threads tps\n1 5\n2 x\n", 3, "'x' is not a number"),
        ("threads tps\n1 5\n\nthreads tps\n1 6\n", 4, "a second table begins, and nothing tells it from"),
        ("relative to A-1\nthreads tps\n1 5\n", 1, "these are relative figures; upload the absolute ones"),
    ],
)
def test_a_scaling_table_that_cannot_be_understood_is_refused_with_its_line(text, line, message):
    found = error_of(text)
    assert found[0] == line
    assert found[1].startswith(message)


# --- a row for each result ----------------------------------------------------------------------------------


def test_columns_that_nobody_knows_name_the_configuration_by_their_texts():
    report = read("query,client,protocol,config,statement,qps\nDO 1,A-1,tcp,none,prepared,5\nDO 1,A-1,,,,6\n")
    assert [run.configuration for run in report.runs] == ["tcp, none, prepared", None]


def test_columns_of_numbers_that_nobody_knows_are_metrics_of_the_project():
    report = read("query,client,load,qps\nDO 1,A-1,0.5,5\nDO 2,A-1,2,6\n")
    assert values(report, "load") == {"DO 1/A-1": 0.5, "DO 2/A-1": 2}
    assert [run.readings[0][1:5] for run in report.runs] == [
        (0.5, "", "unknown", None),
        (2, "", "unknown", None),
    ]


def test_a_setting_tells_rows_apart():
    report = read("query,client,rows,qps\nscan,A-1,10,5\nscan,A-1,1000,6\n")
    assert [run.configuration for run in report.runs] == ["rows=10", "rows=1000"]
    assert report.warnings == ("the column 'rows' is taken for a setting, not for a metric",)


def test_the_server_is_the_counterpart_of_a_client():
    (run,) = read("server,client,query,qps\nMariaDB-10.6,A-1,DO 1,5\n").runs
    assert (run.product, run.version, run.counterpart) == ("A", "1", "MariaDB-10.6")


def test_the_server_is_the_product_where_no_client_is_named():
    (run,) = read("server,query,qps\nMariaDB-10.6,DO 1,5\n").runs
    assert (run.product, run.version, run.counterpart) == ("MariaDB", "10.6", None)


def test_an_empty_version_is_taken_from_the_product():
    report = read("query,client,version,qps\nDO 1,A-1,,5\nDO 1,B,2,6\nDO 1,C library,,7\n")
    assert [(run.product, run.version, run.column) for run in report.runs] == [
        ("A", "1", "A-1"),
        ("B", "2", "B-2"),
        ("C library", None, "C library"),
    ]


def test_the_rate_comes_from_count_and_seconds_where_they_have_more_digits():
    report = read("query,client,count,seconds,qps\nDO 1,A-1,1000,3.0,333.33\nDO 2,A-1,1000,3.0,340.00\n")
    assert values(report) == {"DO 1/A-1": 1000 / 3, "DO 2/A-1": 340}
    assert dict(report.runs[0].options) == {"count": 1000, "seconds": 3.0}
    assert report.runs[0].duration_s == 3


def test_rows_of_one_run_with_different_metrics_are_one_run():
    report = read("test,product,threads,metric,value\nscan,A-1,1,tps,5\nscan,A-1,1,latency_p95,6\n")
    assert [[(r.metric, r.value) for r in run.readings] for run in report.runs] == [
        [("tps", 5), ("latency_p95", 6)]
    ]


def test_rows_without_one_of_their_metrics_stay_runs_of_their_own():
    report = read("query,client,tps,latency_p95\nDO 1,A-1,5,\nDO 1,A-1,,6\n")
    assert [[reading.metric for reading in run.readings] for run in report.runs] == [["tps"], ["latency_p95"]]


def test_numbers_under_two_kinds_of_columns_are_refused():
    line, message = error_of("query,client,metric,value,qps\nDO 1,A-1,tps,5,6\n")
    assert (line, message) == (1, "the numbers stand both under 'qps' and under 'value'")


def test_a_scaling_curve_needs_no_names():
    report = read("threads,tps\n1,100\n16,900\n")
    assert values(report, "tps") == {"threads=1": 100, "threads=16": 900}


def test_an_error_beside_a_value_is_kept_as_a_warning():
    report = read("query,client,qps,error\nDO 1,A-1,5,2 deadlocks\n")
    assert report.warnings == ("line 2: error '2 deadlocks'",)
    assert values(report) == {"DO 1/A-1": 5}


def test_a_quoted_cell_may_hold_lines():
    report = read('query,client,qps,error\nDO 1,A-1,,"one\ntwo"\nDO 1,B-1,6,\n')
    assert report.warnings == ("line 2: error 'one two'; left out",)
    assert error_of('query,client,qps,error\nDO 1,A-1,5,"one\ntwo"\nDO 1,B-1,x,\n') == (
        4,
        "'x' is not a number",
    )


def test_times_without_offset_are_utc_with_a_warning():
    report = read("query,client,time,qps\nDO 1,A-1,2026-11-20T15:37:30,5\n")
    assert report.runs[0].started_at.isoformat() == "2026-11-20T15:37:30+00:00"
    assert report.warnings == ("the times have no offset; they are taken as UTC",)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("query,client,qps\nDO 1,A-1,fast\n", 2, "'fast' is not a number"),
        ("query,client,time,qps\nDO 1,A-1,noon,5\n", 2, "'noon' is not a time such as 2026-11-20T15:37:30Z"),
        (
            "query,client,threads,qps\nDO 1,A-1,1.5,5\n",
            2,
            "threads is 1.5, not a whole number from 1 to 1000000000",
        ),
        (
            "query,client,product,qps\nDO 1,A-1,B,5\n",
            1,
            "the columns 'client' and 'product' both give the product",
        ),
        ("query,client,qps,QPS\nDO 1,A-1,5,5\n", 1, "the columns 'qps' and 'QPS' both give the qps"),
        ("query,client,,qps\nDO 1,A-1,x,5\n", 1, "column 3 has no name"),
        ("query,client,qps\n", 1, "the table has no rows"),
        ("query,client,qps\nDO 1,A-1,\n", 1, "no row holds a value; line 2: no value; left out"),
        (
            "query,client,unit,value\nDO 1,A-1,parsecs,5\n",
            2,
            "'parsecs' is not a metric such as tps, qps or latency_p95",
        ),
        ("query,client,qps,unit\nDO 1,A-1,5,ms\n", 2, "'ms' is not a unit of qps"),
        ("query,client,latency_p95,unit\nDO 1,A-1,1e308,s\n", 2, "the number 1e+308 is too large"),
        (
            "query,client,repetition,qps\nDO 1,A-1,1,5\nDO 1,A-1,1,6\n",
            3,
            "the run 'DO 1/A-1' is on line 2 already",
        ),
    ],
)
def test_a_row_that_cannot_be_understood_is_refused_with_its_line(text, line, message):
    assert error_of(text) == (line, message)


def test_repetitions_of_one_number_at_two_times_are_two_runs():
    report = read(
        "query,client,repetition,time,qps\n"
        "DO 1,A-1,1,2026-11-20T15:00:00Z,5\n"
        "DO 1,A-1,1,2026-11-21T15:00:00Z,6\n"
    )
    assert list(values(report)) == [
        "DO 1/A-1/started_at=2026-11-20 15:00:00+00:00",
        "DO 1/A-1/started_at=2026-11-21 15:00:00+00:00",
    ]


# --- files that are cut, spoilt or foreign ------------------------------------------------------------------


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_file_that_is_cut_within_a_line_is_refused_or_warned_of(path):
    data = path.read_bytes()
    randomness = random.Random(7)
    for length in sorted(randomness.sample(range(len(data)), min(120, len(data)))):
        cut = data[:length]
        if cut.endswith(b"\n"):
            continue
        try:
            report = parse(Source(cut))
        except FormatError:
            continue
        assert any("cut off" in warning for warning in report.warnings)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_spoilt_file_gives_runs_with_unique_keys_or_a_format_error(path):
    data = bytearray(path.read_bytes())
    randomness = random.Random(11)
    for _ in range(60):
        spoilt = bytearray(data)
        for _ in range(randomness.randint(1, 3)):
            spoilt[randomness.randrange(len(spoilt))] = randomness.choice(b'0,.\t"- \nxe\xff')
        check_that_only_format_errors_escape(bytes(spoilt))


def check_that_only_format_errors_escape(data):
    recognise(Source(data).head)
    try:
        report = parse(Source(data))
    except FormatError:
        return
    keys = Counter(run.key for run in report.runs)
    assert report.runs
    assert set(keys.values()) == {1}


names = (
    "query",
    "col-1",
    "col-1 : A-1",
    "user",
    "idle",
    "client",
    "version",
    "qps",
    "tps",
    "metric",
    "value",
    "unit",
    "threads",
    "time",
    "A-1",
    "B",
)
others = (
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
)
cells = st.sampled_from(names + others)
tables = st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(tables, st.sampled_from([",", "\t", "  ", " ", ";", "|"]))
@example([["query", "client", "qps"], ["DO 1", "A-1", "5"]], ",")
def test_any_table_gives_runs_with_unique_keys_or_a_format_error(table, separator):
    check_that_only_format_errors_escape("\n".join(separator.join(row) for row in table).encode())


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_any_text_gives_runs_with_unique_keys_or_a_format_error(text):
    check_that_only_format_errors_escape(text.encode())


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
        "| a | b |\n| 1 | 2 |\n",
        "",
    ],
)
def test_other_files_are_left_to_others(text):
    assert not recognise(text.encode())


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_of_the_real_files_only_the_tables_are_recognised():
    taken = {
        str(path.relative_to(DATA))
        for path in DATA.rglob("*")
        if path.is_file() and recognise(Source(path.read_bytes()).head)
    }
    tables = {
        path
        for folder in ("articles/jdbc-drivers-qps", "articles/windows-threadpool", "qps")
        for path in map(str, (p.relative_to(DATA) for p in (DATA / folder).iterdir()))
        if path.endswith((".csv", ".txt"))
    }
    published = {
        f"third_party/small_datum/mysql_2025_11/qps.{kind}.all.{suffix}"
        for kind in ("abs", "rel")
        for suffix in ("tsv", "csv")
    }
    assert taken - published == tables
