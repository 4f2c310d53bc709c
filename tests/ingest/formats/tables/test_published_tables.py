"""Tables as people publish them: those of the articles in every shape, and those of public repositories."""

import json
from collections import Counter

import pytest

from ingest.formats import parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

ARTICLES = real_files.SHARED / "articles"
WILD = real_files.SHARED.parent / "wild"


def read(text, *, metric=""):
    return parse(Source(text.encode(), metric=metric))[1]


def error_of(text, *, metric=""):
    with pytest.raises(FormatError) as caught:
        read(text, metric=metric)
    return caught.value.line, caught.value.message


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


def test_a_table_whose_title_was_not_copied_needs_its_metric():
    table = "Concurrent clients 4 8\nMariaDB 4.87 60.81\nMySQL 4.86 70.14\n"
    assert "name the metric in the field 'metric'" in error_of(table)[1]
    assert [run.readings[0].metric for run in read(table, metric="p95 (ms)").runs] == ["latency_p95"] * 4


# --- files of public repositories ---------------------------------------------------------------------------


@pytest.mark.skipif(not WILD.is_dir(), reason="../shared/wild is not here")
def test_published_tables_are_read_or_refused_with_a_sentence_that_helps():
    family = [one for one in json.loads((WILD / "index.json").read_text()) if one["family"].startswith("qps")]
    outcomes = {}
    for one in family:
        try:
            outcomes[one["file"]] = len(parse(Source((WILD / "corpus" / one["file"]).read_bytes()))[1].runs)
        except FormatError as error:
            outcomes[one["file"]] = error.message
    read_ = Counter(one["outcome"] for one in family if isinstance(outcomes[one["file"]], int))
    assert read_ == {"refused wrongly": 21}
    sentences = {
        "dolthub": "nothing says what the numbers under",
        "simonklee": "732 cells, where the first line has 12",
        "abs1.iobuf": "nothing says what the numbers are",
    }
    for part, sentence in sentences.items():
        (message,) = [said for name, said in outcomes.items() if part in name]
        assert sentence in message


@pytest.mark.skipif(not WILD.is_dir(), reason="../shared/wild is not here")
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
    assert figures(parse(Source(path.read_bytes()))[1])[place] == value


# --- forms of tables ----------------------------------------------------------------------------------------


def test_a_number_with_a_unit_is_a_number_and_never_a_configuration():
    (run,) = read("threads,tps,latency_avg\n16,1234.5 tps,5.00 ms\n").runs
    assert [(one.metric, one.value) for one in run.readings] == [("tps", 1234.5), ("latency_avg", 5)]
    assert run.configuration is None
    (run,) = read("threads,tps,latency_avg\n16,100,5000 us\n").runs
    assert run.readings[1].value == 5
    line, message = error_of("threads,tps\n16,5 ms\n")
    assert (line, message) == (2, "'ms' is not a unit of tps")


def test_versions_may_have_a_v_and_stand_over_columns():
    report = read("tps\nthreads,v5.3.0,TiDB v5.4.0\n1,100,110\n")
    assert [(run.product, run.version) for run in report.runs] == [(None, "5.3.0"), ("TiDB", "5.4.0")]


def test_versions_may_stand_beside_metrics_over_columns():
    report = read(
        "| Threads | V4.0 QPS | V4.0 95% latency (ms) | V4.1 QPS |\n|---|---|---|---|\n"
        "| 32 | 139,594.87 | 0.26 | 135,146.05 |\n"
    )
    assert figures(report) == {
        (None, None, "4.0", 32, None, "qps"): 139594.87,
        (None, None, "4.0", 32, None, "latency_p95"): 0.26,
        (None, None, "4.1", 32, None, "qps"): 135146.05,
    }


@pytest.mark.parametrize(
    "head", ["Thread", "Threads", "clients", "concurrency", "# threads", "并发数", "num_threads"]
)
def test_thread_counts_have_the_names_that_people_give_them(head):
    assert [run.threads for run in read(f"| {head} | TPS |\n|--:|--:|\n| 8 | 100 |\n").runs] == [8]


def test_cpus_are_no_threads():
    report = read("vCPUs,tps\n2,100\n4,190\n")
    assert [(run.threads, run.configuration) for run in report.runs] == [(None, "vCPUs=2"), (None, "vCPUs=4")]


def test_times_beside_a_rate_are_milliseconds_with_a_warning():
    report = read("threads\ttps\tLatency avg\tp95\n1\t100\t5.1\t7\n")
    assert [one.metric for one in report.runs[0].readings] == ["tps", "latency_avg", "latency_p95"]
    assert sum("names no unit" in warning for warning in report.warnings) == 2


@pytest.mark.parametrize("head", ["read_avg", "Latency", "throughput"])
def test_what_may_be_in_any_unit_is_no_known_metric(head):
    (run,) = read(f"threads,tps,{head}\n1,100,252.4\n").runs
    assert [(one.is_own, one.unit) for one in run.readings] == [(False, "1/s"), (True, "")]


@pytest.mark.parametrize(
    "column",
    [
        "Improvement\n+12.3%",
        "Speedup\n1.2x",
        "Multiple\n1.5",
        "TPS/$\n0.3",
        "Comp with 2K IOPS\n-10.2%",
        "性能提升\n18.9倍",
    ],
)
def test_columns_that_are_computed_from_others_are_left_out(column):
    head, cell = column.split("\n")
    report = read(f"| Threads | TPS | {head} |\n|---|---|---|\n| 1 | 100 | {cell} |\n")
    assert [one.metric for one in report.runs[0].readings] == ["tps"]
    assert report.warnings == (f"the column {head!r} is computed from others and was left out",)


def test_relative_tables_are_refused_with_a_trailing_comma_too():
    rows = "a,1.00,1.03\nb,1.00,0.97\nc,1.00,1.10\n"
    assert "relative figures" in error_of(f"test,9.8.4,9.9.3,\n{rows}")[1]
    assert "relative figures" in error_of(f"test,9.8.4,9.9.3,\n{rows}", metric="qps")[1]


def test_a_trailing_comma_in_the_head_is_no_column():
    report = read("test,9.8.4,9.9.3,\nfill,975471,993084\n", metric="ops_per_s")
    assert figures(report) == {
        ("fill", None, "9.8.4", None, None, "ops_per_s"): 975471,
        ("fill", None, "9.9.3", None, None, "ops_per_s"): 993084,
    }


def test_a_first_column_that_counts_the_rows_has_no_name():
    assert [run.threads for run in read(",threads,tps\n0,1,100\n1,8,700\n").runs] == [1, 8]


def test_units_behind_versions_are_no_part_of_them_and_say_what_is_measured():
    report = read("| Query | PG 15 (ms) | PG 16 (ms) |\n|---|---|---|\n| Q1 | 120 | 110 |\n")
    assert figures(report) == {
        ("Q1", "PG", "15", None, None, "time"): 120,
        ("Q1", "PG", "16", None, None, "time"): 110,
    }
    assert "nothing says" in error_of("| Query | PG 15 | PG 16 |\n|---|---|---|\n| Q1 | 120 | 110 |\n")[1]


def test_a_heading_may_be_a_metric_alone():
    grid = "| Clients | 8.0 | 8.4 |\n|---|---|---|\n| 1 | {} | {} |\n"
    report = read(f"## TPS\n\n{grid.format(100, 110)}\n## p95 (ms)\n\n{grid.format(5, 4)}")
    assert [[one.metric for one in run.readings] for run in report.runs] == [["tps", "latency_p95"]] * 2


def test_a_row_of_averages_is_left_out_of_a_published_table():
    report = read(f"{ROWS.format(10, 70)}| **Average** | 40 |\n")
    assert [run.threads for run in report.runs] == [1, 8]
    assert report.warnings == ("line 5: 'Average' is not a number; the row was left out",)


def test_commas_are_separators_of_thousands_where_all_fit_and_nowhere_else():
    table = "| Threads | QPS |\n|---|---|\n| 1 | {} |\n| 2 | {} |\n"
    report = read(table.format("3,110", "18,865"))
    assert [run.readings[0].value for run in report.runs] == [3110, 18865]
    assert "separators of thousands" in report.warnings[-1]
    for others in (("3,110", "4,87"), ("3,110", "18865"), ("0,123", "3,110")):
        assert "comma" in error_of(table.format(*others))[1]
    assert "comma" in error_of("threads;tps\n1;1,234\n")[1]


def test_metrics_beside_the_rows_and_versions_over_the_columns():
    report = read(
        "| Metric | MySQL 8.0 | MySQL 8.4 |\n|---|---|---|\n| TPS | 100 | 120 |\n| p95 (ms) | 5.1 | 4.9 |\n"
    )
    assert figures(report) == {
        (None, "MySQL", "8.0", None, None, "tps"): 100,
        (None, "MySQL", "8.0", None, None, "latency_p95"): 5.1,
        (None, "MySQL", "8.4", None, None, "tps"): 120,
        (None, "MySQL", "8.4", None, None, "latency_p95"): 4.9,
    }


# --- several tables -----------------------------------------------------------------------------------------

ROWS = "| Threads | TPS |\n|---|---|\n| 1 | {} |\n| 8 | {} |\n"


def test_tables_under_headings_are_told_apart_by_what_the_headings_say():
    report = read(
        f"# Results\n\n## oltp_read_only\n\n{ROWS.format(10, 70)}"
        f"\n## Point select, MySQL 8.0.36\n\n{ROWS.format(90, 500)}"
        f"\n## With the patch\n\n{ROWS.format(20, 80)}"
    )
    found = {(run.workload, run.product, run.version, run.configuration) for run in report.runs}
    assert found == {
        ("oltp_read_only", None, None, None),
        ("Point select", "MySQL", "8.0.36", None),
        (None, None, None, "patch"),
    }
    assert report.warnings == ("line 19: the heading 'patch' is taken for a configuration",)


def test_tables_that_nothing_tells_apart_are_numbered_and_no_repetitions():
    report = read(f"## A\n\n{ROWS.format(10, 70)}\n## A\n\n{ROWS.format(90, 500)}")
    assert [(run.configuration, run.repetition) for run in report.runs] == [
        (None, None),
        (None, None),
        ("table 2", None),
        ("table 2", None),
    ]
    assert "nothing tells this table from one above it" in report.warnings[0]


def test_two_metrics_of_the_same_runs_in_two_tables_are_joined():
    grid = "| Server | 1 threads | 8 threads |\n|---|---|---|\n| MySQL 8.0 | {} | {} |\n"
    report = read(
        f"## oltp_read_only (tps)\n\n{grid.format(10, 70)}"
        f"\n## oltp_read_only, p95 latency (ms)\n\n{grid.format(5, 9)}"
    )
    assert [[one.metric for one in run.readings] for run in report.runs] == [["tps", "latency_p95"]] * 2


def test_what_is_no_benchmark_is_passed_over():
    hardware = "| Instance | vCPUs | Memory | Price |\n|---|---|---|---|\n| m5.large | 2 | 8 GB | $0.10 |\n"
    report = read(
        f"## Machines\n\n{hardware}\n## Results\n\n{ROWS.format(10, 70)}\n## Notes\n\nSome prose.\n"
    )
    assert len(report.runs) == 2
    for table in (hardware, "| Feature | A | B |\n|---|---|---|\n| joins | yes | no |\n"):
        with pytest.raises(FormatError):
            read(f"# Machines\n\n{table}")


def test_prose_around_a_table_changes_nothing():
    prose = "We measured for a week. The tps and the latency are below, and more is said elsewhere.\n"
    report = read(f"{prose * 3}\n{ROWS.format(10, 70)}\n{prose}")
    assert [run.readings[0].value for run in report.runs] == [10, 70]
    report = read(f"{prose * 12}\nthreads tps\n1 10\n8 70\n\n{prose}")
    assert [run.readings[0].value for run in report.runs] == [10, 70]


@pytest.mark.parametrize("row", ["{} {}", "{}\t{}", "{},{}", "{}  {}"])
@pytest.mark.parametrize(
    "below",
    ["At 8 clients it is seven times as fast, as everybody saw.", "* measured twice", "[1] a new disk"],
)
def test_a_sentence_or_a_footnote_right_below_a_table_ends_it(row, below):
    table = "\n".join(row.format(*cells) for cells in (("threads", "tps"), (1, 10), (8, 70)))
    assert [run.readings[0].value for run in read(f"{table}\n{below}\n").runs] == [10, 70]
    report = read(f"Transactions per second\n\nclients 1 8\nMariaDB 10 70\n{below}\n")
    assert [run.readings[0].value for run in report.runs] == [10, 70]


@pytest.mark.parametrize("odd", ["16", "MySQL", "16 5 5", "The next row was measured once more.\n16 90"])
def test_what_may_be_a_row_or_has_rows_below_it_ends_no_table(odd):
    assert error_of(f"threads tps\n1 10\n8 70\n{odd}\n")[0] == 4


@pytest.mark.parametrize("mark", ["*", "\u2020", "[1]", "[b]", "\u00b2"])
def test_a_mark_of_a_footnote_is_left_out_with_a_warning(mark):
    report = read(f"threads,tps\n1,10.5\n8,7{mark}\n")
    assert [run.readings[0].value for run in report.runs] == [10.5, 7]
    assert f"the mark in '7{mark}' is taken for one of a footnote and was left out" in report.warnings


def test_an_exponent_is_no_footnote():
    assert error_of("threads,tps\n1,10\u00b3\n") == (2, "'10\u00b3' is not a number")


def test_a_head_that_contradicts_a_known_metric_is_told_so():
    report = read('threads,"tps [1/s, lower]"\n1,10\n')
    assert report.runs[0].readings[0].direction == "higher"
    assert report.warnings == ("the column 'tps [1/s, lower]' says otherwise, but of tps higher is better",)


@pytest.mark.parametrize("hyphen", ["\u2010", "\u2011", "\u2013"])
def test_a_typeset_hyphen_is_a_hyphen(hyphen):
    table = "Queries per second\n\n\tMariaDB-JDBC-1.1.2\tDrizzle-JDBC-1.3\nDO 1\t5\t7\nDO 2\t\u2013\t9\n"
    assert figures(read(table.replace("-", hyphen))) == figures(read(table))


def test_settings_of_servers_whose_values_are_words_are_settings():
    rows = "".join(f"{how},{size},1\n" for how in ("fsync", "O_DIRECT") for size in ("128M", "256M"))
    report = read(f"innodb_flush_method,innodb_buffer_pool_size,tps\n{rows}")
    assert report.runs[3].settings == {"innodb_flush_method": "O_DIRECT", "innodb_buffer_pool_size": "256M"}


def test_thread_counts_over_columns_may_have_separators_of_thousands():
    report = read("p95 (ms)\n\nConcurrent clients 512 1,024 2,048\nMariaDB 1 2 3\n")
    assert [run.threads for run in report.runs] == [512, 1024, 2048]


# --- metrics of the project's own ---------------------------------------------------------------------------


def test_an_own_metric_is_declared_in_the_head():
    (run,) = read("version,rss_mb [MB, lower],recall [,higher],tps\n8.0.36,1200,0.98,500\n").runs
    found = [(one.metric, one.value, one.unit, one.direction, one.is_own) for one in run.readings]
    assert found == [
        ("rss_mb", 1200, "MB", "lower", True),
        ("recall", 0.98, "", "higher", True),
        ("tps", 500, "1/s", "higher", False),
    ]


@pytest.mark.parametrize("head", ["RSS (MB)", "rss [MB]", "Rss"])
def test_an_own_metric_has_one_name_in_all_its_spellings(head):
    cell = "1200.5" if "MB" in head else "1200.5 MB"
    report = read(f"threads\ttps\t{head}\n1\t100\t{cell}\n")
    assert [(one.metric, one.unit) for one in report.runs[0].readings if one.is_own] == [("rss", "MB")]
    assert "is no metric that benchdash knows" in report.warnings[0]


def test_an_own_metric_is_never_called_like_a_known_one():
    (run,) = read("threads,tps,Total Time\n1,100,30.5\n").runs
    assert run.readings[1].metric == "own_total_time"


@pytest.mark.parametrize(
    "head", ["table_size [rows]", "tables", "scale factor", "pool size", "buffer_pool_gb", "range"]
)
def test_settings_of_a_run_are_no_metrics(head):
    report = read(f"threads\ttps\t{head}\n1\t100\t8\n1\t190\t16\n")
    assert [run.configuration for run in report.runs] == [f"{head}=8", f"{head}=16"]


@pytest.mark.parametrize(
    "head", ["index_size", "recall", "rss_mb", "smtx", "buffer_pool_hit_ratio", "wal_written"]
)
def test_what_was_measured_is_no_setting(head):
    report = read(f"threads\ttps\t{head}\n1\t100\t801.5\n8\t190\t1613.25\n")
    assert [run.readings[1].is_own for run in report.runs] == [True, True]


def test_a_head_that_says_so_is_a_setting_whatever_its_name():
    rows = "".join(f"{threads}\t{foo}\t{threads * foo}\n" for foo in (10, 20) for threads in (1, 2, 4))
    report = read(f"threads\tfoo (setting)\ttps\n{rows}")
    assert {run.configuration for run in report.runs} == {"foo=10", "foo=20"}


def test_rows_that_only_an_unknown_number_tells_apart_are_repetitions_with_a_warning():
    report = read("threads\tfoo\ttps\n1\t10\t100\n1\t20\t200\n")
    assert [run.repetition for run in report.runs] == [1, 2]
    assert "call its column 'foo (setting)'" in report.warnings[-1]


@pytest.mark.parametrize("head", ["memory_mb", "foo", "cache", "size"])
def test_a_column_is_the_same_on_a_night_of_round_figures(head):
    nights = [(511.3, 498.7), (510, 490), (512, 512), (1, 2)]
    found = [
        read(f"workload,threads,tps,{head}\nro,8,5012.4,{one}\nrw,8,1204.9,{other}\n")
        for one, other in nights
    ]
    assert {tuple(one.metric for one in run.readings) for report in found for run in report.runs} == {
        ("tps", head)
    }
    assert {run.configuration for report in found for run in report.runs} == {None}


def test_the_sender_may_name_a_metric_of_the_project():
    table = "| Server | A-1 | B-2 |\n|---|---|---|\n| small | 1200 | 1300 |\n"
    (first, _) = read(table, metric="rss_mb [MB, lower]").runs
    assert first.readings[0][:4] == ("rss_mb", 1200, "MB", "lower")


def test_the_sender_knows_better_than_the_title():
    report = read("tps\nthreads,A-1\n1,100\n", metric="qps")
    assert report.runs[0].readings[0].metric == "qps"
    assert "the field counts" in report.warnings[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pg1222,33781\npg1323,33740\n", "no line names the columns"),
        ("pg1222,1.006\npg1323,1.019\n", "are these relative figures?"),
        ("6002\t12526\tx.my5649.x6d\n7241\t14053\tx.my5731.x6d\n", "no line names the columns"),
        ("hits,read_avg,database\n44130.6,252.4,redis\n", "write the units behind their names"),
        ("a,b,c\nx,12,13\ny,14,15\n", "nothing says what the numbers under 'b', 'c' are"),
    ],
)
def test_a_refusal_says_what_a_table_lacks(text, sentence):
    assert sentence in error_of(text)[1]


@pytest.mark.parametrize(
    ("head", "rows", "runs"),
    [
        ("version", ("8.0.35", "8.4.0"), {(None, "8.0.35"), (None, "8.4.0")}),
        ("", ("MySQL 8.0.35", "MariaDB 11.4"), {("MySQL", "8.0.35"), ("MariaDB", "11.4")}),
    ],
)
def test_workloads_may_stand_over_the_columns_and_versions_beside_the_rows(head, rows, runs):
    lines = [f"| {head} | oltp_read_only | point_select |", "|---|---|---|"]
    report = read("\n".join([*lines, *(f"| {row} | 1200 | 3400 |" for row in rows)]) + "\n", metric="tps")
    assert {(run.product, run.version) for run in report.runs} == runs
    assert {run.workload for run in report.runs} == {"oltp_read_only", "point_select"}


def test_workloads_may_stand_over_the_columns_and_thread_counts_beside_the_rows():
    report = read("| threads | point_select |\n|---|---|\n| 1 | 1200 |\n| 2 | 2300 |\n", metric="qps")
    assert [(run.workload, run.product, run.threads) for run in report.runs] == [
        ("point_select", None, 1),
        ("point_select", None, 2),
    ]


def test_the_size_of_an_index_is_measured_and_the_size_of_a_pool_is_set():
    report = read("version,qps,index_size (MB),pool_size\n8.0.35,1200,340,128\n8.4.0,1300,240,256\n")
    assert {one.metric for run in report.runs for one in run.readings} == {"qps", "index_size"}
    assert [run.configuration for run in report.runs] == ["pool_size=128", "pool_size=256"]


# --- what people write into heads and cells ----------------------------------------------------------------


def markdown(*lines, above=""):
    head, *rows = (f"| {' | '.join(line.split(';'))} |" for line in lines)
    return "\n".join([above, "", head, "|---" * head.count(" |") + "|", *rows, ""])


def readings_of(text):
    return [{one.metric: one.value for one in run.readings} for run in read(text).runs]


@pytest.mark.parametrize(
    ("head", "cell", "metric", "value"),
    [
        ("avg_lat_ms", "1.5", "latency_avg", 1.5),
        ("latency_95p", "1.5", "latency_p95", 1.5),
        ("Latency (us,99%)", "1500", "latency_p99", 1.5),
        ("Average ms", "1.5", "latency_avg", 1.5),
        ("P99 Millis", "1.5", "latency_p99", 1.5),
        ("p50", "1500 us", "latency_p50", 1.5),
        ("err_per_s", "0.5", "errors_per_s", 0.5),
        ("RPS", "120", "ops_per_s", 120),
        ("Requests/sec", "120", "ops_per_s", 120),
        ("OPS", "120", "ops_per_s", 120),
        ("rows/s", "120", "rows_per_s", 120),
        ("Read QPS", "120", "reads_per_s", 120),
        ("Latency max", "1,512 ms (cold)", "latency_max", 1512),
    ],
)
def test_a_head_names_its_metric_in_any_words(head, cell, metric, value):
    (found,) = readings_of(markdown(f"Threads;TPS;{head}", f"4;800;{cell}"))
    assert found == {"tps": 800, metric: value}


@pytest.mark.parametrize(
    ("times", "factor", "unit"),
    [((0.0861, 0.0877), 1000, "s"), ((86.1, 87.7), 1, "ms"), ((86100, 87700), 1e-3, "us")],
)
def test_times_without_a_unit_are_as_long_as_threads_over_rate(times, factor, unit):
    text = markdown(
        "Threads;QPS;Avg latency",
        *(f"{at};{at * 11.6};{one}" for at, one in zip((10, 40), times, strict=True)),
    )
    assert [one["latency_avg"] for one in readings_of(text)] == pytest.approx([one * factor for one in times])
    assert [f"write '({unit})' behind it" in warning for warning in read(text).warnings] == [True]


def test_several_figures_in_a_cell_are_a_column_each():
    text = markdown(
        "Threads;TPS/QPS;Latency (avg/.95/max)", "8;4,817;0.63 / 0.90 / 15.6", "16;9,100;0.7 / 1.0 / -"
    )
    assert readings_of(text) == [
        {"tps": 4817, "qps": 4817, "latency_avg": 0.63, "latency_p95": 0.9, "latency_max": 15.6},
        {"tps": 9100, "qps": 9100, "latency_avg": 0.7, "latency_p95": 1.0},
    ]


def test_metrics_beside_the_rows_need_no_name_over_their_values():
    (run,) = read(markdown("Metric;Value", "TPS;4,844", "P99 latency;18.81 ms", "Clients;50")).runs
    assert (run.threads, run.product, run.configuration) == (50, None, None)
    before, after = read(markdown("Metric;Before;After", "P50;3.1 ms;1.2 ms", "P99;13 ms;8 ms")).runs
    assert (before.configuration, after.configuration, after.readings[1].value) == ("Before", "After", 8)


def test_a_remark_or_a_sign_is_no_configuration():
    text = markdown(
        "Clients;OK;TPS;Read latency;Verdict",
        "8;✅;2,730;1 ms;",
        "32;✅;4,001;10 ms scan;peak, then less",
        "64;⚠️;4,000;2 ms;",
    )
    report = read(text)
    assert {run.configuration for run in report.runs} == {None}
    assert [len(run.readings) for run in report.runs] == [2, 1, 2]
    assert "line 6: '10 ms scan' is not a number; left out" in report.warnings


def test_counts_of_queries_are_no_workloads_and_clocks_no_metrics():
    counts = read("Script,Queries,TPS\ninsert,12345,451.7\nselect,99345,2451.7\n")
    assert [run.workload for run in counts.runs] == ["insert", "select"]
    moments = "Script,Time (s),Threads,TPS\n" + "".join(f"insert,{at},8,45{at}.7\n" for at in (4, 8, 12))
    assert "each row is a moment of it" in error_of(moments)[1]


def test_times_in_several_units_are_one_metric_in_one():
    text = markdown("Threads;TPS;Compile", "1;20;90 s", "2;30;1500 ms")
    assert [one["compile"] for one in readings_of(text)] == [90000, 1500]
    mixed = read(markdown("Threads;TPS;Load", "1;20;11.6 days", "2;30;5.5 hours"))
    assert [run.options for run in mixed.runs] == [{"Load": "11.6 days"}, {"Load": "5.5 hours"}]


def test_a_version_of_a_tool_or_of_one_of_two_is_none_of_the_results():
    rows = ("Threads;TPS", "8;2,730")
    (run,) = read(markdown(*rows, above="OceanBase CE 4.4.2.1, measured with sysbench 1.0.20")).runs
    assert (run.product, run.version) == ("OceanBase", "4.4.2.1")
    (run,) = read(markdown(*rows, above="Tool: go-ycsb v1.0.3 against MySQL")).runs
    assert run.version is None
    first, second = read(markdown("Target;Threads;TPS", "ours;8;1", "mysql;8;2", above="Ours vs MySQL")).runs
    assert (first.product, second.product) == ("ours", "mysql")


def test_a_table_of_figures_that_is_not_read_is_named():
    text = markdown("Threads;TPS", "8;2,730") + markdown("Data set;BestQPS", "a;4.1", "b;3.9", above="Peaks")
    assert (
        "line 8: the table under 'Data set', 'BestQPS' was not read: nothing says what its numbers are"
        in read(text).warnings
    )


def test_columns_without_names_are_numbered_where_the_sender_names_the_metric():
    report = read("hot-points,11637,2294\npoint-query,33534,31327\n", metric="qps")
    assert [(run.workload, run.column, run.product) for run in report.runs[:2]] == [
        ("hot-points", "col1", None),
        ("hot-points", "col2", None),
    ]
    assert "say in 'map' what each is" in report.warnings[0]


def test_a_statistic_of_a_product_or_workload_is_a_response_time():
    text = markdown("Threads;MariaDB p95;MySQL p95", "8;1.3 ms;1,450 us".replace(",", ""))
    assert [(run.product, run.readings[0].value) for run in read(text).runs] == [
        ("MariaDB", 1.3),
        ("MySQL", 1.45),
    ]
    rows = ("oltp_read_only QPS;204123;199211", "oltp_read_only p95;3.1;3.2")
    report = read(markdown(";10.6.19;10.11.9", *rows))
    assert [(run.version, run.workload) for run in report.runs] == [
        ("10.6.19", "oltp_read_only"),
        ("10.11.9", "oltp_read_only"),
    ]
    assert readings_of(markdown(";10.6.19;10.11.9", *rows))[1] == {"qps": 199211, "latency_p95": 3.2}


def test_heads_of_scripts_name_known_metrics_and_shares_of_the_cpu_are_no_settings():
    text = "run_id,date,engine,threads,avg_tps,lat_95,cpu_sys\n1,2026-09-01,innodb,8,1200,8.1,12\n"
    report = read(f"{text}2,2026-09-01,innodb,16,2200,9.1,16\n")
    assert [run.configuration for run in report.runs] == ["innodb", "innodb"]
    assert {one.metric for one in report.runs[0].readings} == {"tps", "latency_p95", "cpu_sys"}
    assert readings_of(markdown("Product;Throughput (req/s)", "Redis 7.2;1.2M")) == [{"ops_per_s": 1_200_000}]


def test_times_in_every_cell_say_what_a_table_of_queries_holds():
    found = readings_of(markdown("Query;PG16;PG17", "Q1;12.1s;11.9s", "Q2;350ms;1.01s"))
    assert found == [{"time": 12100}, {"time": 11900}, {"time": 350}, {"time": 1010}]
    assert readings_of(markdown("Query;A;B", "Q1;12.1 s;11.9 s")) == [
        {"total_time": 12.1},
        {"total_time": 11.9},
    ]


def test_decimal_commas_are_read_beside_versions_that_name_the_rows():
    text = ";oltp_read_only;oltp_read_write\n8.0.36;12.345,6;4.567,8\n8.4.0;12.001,2;4.600,1\n"
    assert "nothing says what the numbers under 'oltp_read_only'" in error_of(text)[1]
    report = read(text, metric="tps")
    assert [(run.version, run.readings[0].value) for run in report.runs[::2]] == [
        ("8.0.36", 12345.6),
        ("8.4.0", 12001.2),
    ]


def test_how_far_figures_scatter_is_no_metric():
    text = markdown("Benchmark;Ops/sec;Error (±)", "encode;1234;12", "decode;2234;22")
    assert readings_of(text) == [{"ops_per_s": 1234}, {"ops_per_s": 2234}]
    times = markdown("Benchmark;Avg time;Unit", "encode;12.4;us/op", above="The times")
    assert any("the table under 'Benchmark', 'Avg time'" in one for one in read(text + times).warnings)


def test_a_time_before_each_row_asks_whether_rows_are_runs():
    text = "timestamp,vus,tps\n2026-10-01T10:00:00Z,10,900.1\n2026-10-01T10:10:00Z,50,4010.2\n"
    assert "call it 'started_at' if each row is a run of its own" in error_of(text)[1]
    report = read(text.replace("timestamp", "started_at"))
    assert [run.threads for run in report.runs] == [10, 50]


def test_commas_beside_tabs_are_no_separators():
    text = "OLTP, transactions per second\nConcurrent clients\t1\t512\t1,024\nold\t1075\t500\t445\n"
    assert [run.threads for run in read(text).runs] == [1, 512, 1024]


def test_a_table_in_html_is_asked_for_as_a_browser_copies_it():
    text = "# Results\n\n<table>\n<tr><th>TPS</th></tr>\n<tr><td>12</td></tr>\n</table>\n"
    line, message = error_of(text)
    assert (line, message.partition(";")[0]) == (4, "its table is written in HTML")


BLANKS = """vCPUS  Txns/sec  Us  Sy  Id  smtx
1      26.1      82  18  0   0.2
8      198.4     81  19  0   0.9
"""


@pytest.mark.parametrize("separator", ["  ", "\t", ",", " | "])
def test_what_the_machine_did_stands_beside_a_rate_whatever_parts_the_cells(separator):
    lines = [separator.join(line.split()) for line in BLANKS.splitlines()]
    if separator == " | ":
        lines = [f"| {line} |" for line in (lines[0], " | ".join(["---"] * 6), *lines[1:])]
    report = read("\n".join(lines) + "\n")
    assert [run.configuration for run in report.runs] == ["vCPUS=1", "vCPUS=8"]
    assert [{one.metric: one.value for one in run.readings} for run in report.runs] == [
        {"tps": 26.1, "cpu_user": 82, "cpu_system": 18, "cpu_idle": 0, "smtx": 0.2},
        {"tps": 198.4, "cpu_user": 81, "cpu_system": 19, "cpu_idle": 0, "smtx": 0.9},
    ]


def test_drivers_with_versions_may_stand_over_a_grid_that_lost_its_blanks():
    rows = "Using text protocol 62.715 88.670\nUsing binary protocol 58.204 92.114\n"
    report = read(f"x MariaDB-1.5.3 MySQL-5.1.39\n{rows}", metric="score [us/op, lower]")
    assert [(run.product, run.version, run.workload) for run in report.runs][:2] == [
        ("MariaDB", "1.5.3", "Using text protocol"),
        ("MySQL", "5.1.39", "Using text protocol"),
    ]
