"""JMH's text beyond the fixtures: tables in all their shapes, output that breaks off, what is refused."""

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

HEADER = """\
# JMH version: 1.37
# VM version: JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6
# VM invoker: /usr/bin/java
# VM options: -Xmx1g -Dpassword=geheim
# Blackhole mode: compiler (auto-detected, use -Djmh.blackhole.autoDetect=false to disable)
# Warmup: <none>
# Measurement: 2 iterations, 1 s each, 20 calls per op
# Timeout: 10 min per iteration
# Threads: 4 threads, will synchronize iterations
# Benchmark mode: Average time, time/op
"""


def output(*blocks, table=TABLE, ending="# Run complete. Total time: 00:00:09\n\n"):
    return "\n\n".join(blocks) + f"\n\n{ending}{table}"


def block(name, score="2.000 ±(99.9%) 0.500 us/op [Average]", *, parameters=None, iterations=("2.0", "2.0")):
    """What JMH prints while it runs one benchmark with one fork."""
    lines = [f"# Benchmark: {name}", f"# Parameters: ({parameters})" if parameters else "", ""]
    lines += ["# Run progress: 0.00% complete, ETA 00:00:02", "# Fork: 1 of 1"]
    lines += [f"Iteration   {number}: {time} us/op" for number, time in enumerate(iterations, start=1)]
    lines += ["", "", f'Result "{name}":', f"  {score}", "  (min, avg, max) = (1.5, 2.0, 2.5), stdev = 0.5"]
    return HEADER + "\n".join(lines)


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


def refusal(text):
    with pytest.raises(FormatError) as error:
        parse(text)
    return error.value.line, error.value.message


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


def test_the_oldest_tables_tell_the_threads():
    head = "Benchmark  Mode Thr  Cnt  Sec  Mean  Mean error  Units\n"
    report = parse(head + "a.b  thrpt 4  5  10  2.000  0.500  ops/msec\n")
    assert [(run.workload, run.threads, readings(run)["score"].value) for run in report.runs] == [
        ("a.b thrpt", 4, 2000)
    ]


def test_old_single_shots_have_a_time_without_an_operation():
    report = parse(
        "Benchmark      Mode  Samples  Score  Score error  Units\n"
        "a.b              ss        5  2.000        0.500     ms\n"
        "a.b:get          ss        5  4.000        0.500     ms\n"
        "a.b:@gc.time     ss        5  9.000          NaN     ms\n"
    )
    (run,) = report.runs
    assert [(r.metric, r.value, r.unit, r.printed_unit) for r in run.readings] == [
        ("score", 2e6, "ns/op", "ms"),
        ("get", 4e6, "ns/op", "ms"),
        ("gc.time", 9, "ms", ""),
    ]


def test_a_score_of_which_no_digit_is_printed_is_left_out_with_a_warning():
    report = parse(TABLE + "Simple.no      avgt    5    0.000 ± 0.000  us/op\n")
    assert list(scores(report)) == ["Simple.do1 avgt", "Simple.select1 avgt"]
    assert report.warnings == (
        "Simple.no avgt was left out: its score is printed as 0, without a digit of it; JMH's JSON has them",
    )


def test_power_of_ten_is_all_that_is_known_of_a_tiny_score():
    report = parse("Benchmark  Mode  Cnt  Score  Error  Units\na.b  avgt  5  ≈ 10⁻⁶  s/op\n")
    assert scores(report) == {"a.b avgt": pytest.approx(1e3)}
    assert report.warnings == (
        "a.b avgt: only the power of ten of the score is printed; JMH's JSON has all digits",
    )


def test_the_mode_belongs_to_the_workload_where_there_is_one():
    assert list(scores(parse(TABLE))) == ["Simple.do1 avgt", "Simple.select1 avgt"]
    bare = "Benchmark  Score  Error  Units\na.b  2.000 ± 0.500  us/op\n"
    assert list(scores(parse(bare))) == ["a.b"]


def test_parameters_belong_to_the_workload_but_not_those_of_other_benchmarks():
    report = parse(
        "Benchmark  (batchSize)  (protocol)   Mode  Cnt  Score   Error  Units\n"
        "Batch.run           10         N/A   avgt    5  2.000 ± 0.500  us/op\n"
        "Query.run          N/A        text  thrpt    5  3.000 ± 0.500  ops/s\n"
    )
    assert scores(report) == {"Batch.run batchSize=10 avgt": 2000, "Query.run protocol=text thrpt": 3}


def test_numeric_parameters_need_no_mode_beside_them():
    report = parse("Benchmark  (size)  Score  Error  Units\na.b  10  2.000 ± 0.500  us/op\n")
    assert scores(report) == {"a.b size=10": 2000}


def test_a_parameter_may_hold_spaces_or_nothing():
    report = parse(
        "Benchmark        (end)               (sql)  Mode  Cnt  Score   Error  Units\n"
        "Query.run                         SELECT 1  avgt    5  2.000 ± 0.500  us/op\n"
        "Query.run            ;  SELECT 1 FROM dual  avgt    5  3.000 ± 0.500  us/op\n"
    )
    assert scores(report) == {
        "Query.run end= sql=SELECT 1 avgt": 2000,
        "Query.run end=; sql=SELECT 1 FROM dual avgt": 3000,
    }


def test_a_single_parameter_may_hold_the_name_of_a_mode():
    report = parse("Benchmark  (kind)  Mode  Score  Error  Units\na.b  my avgt run  ss  2.0  ms/op\n")
    assert scores(report) == {"a.b kind=my avgt run ss": 2e6}


def test_one_table_may_hold_several_modes_and_units():
    report = parse(
        "Benchmark        Mode  Cnt  Score   Error   Units\n"
        "Simple.do1      thrpt    5  2.000 ± 0.500  ops/ms\n"
        "Simple.do1       avgt    5  0.500 ± 0.125   ms/op\n"
    )
    assert [
        (run.workload, reading.value, reading.unit, reading.direction, reading.printed_unit)
        for run in report.runs
        for reading in run.readings
    ] == [
        ("Simple.do1 thrpt", 2000, "ops/s", "higher", "ops/ms"),
        ("Simple.do1 avgt", 500_000, "ns/op", "lower", "ms/op"),
    ]


def test_secondary_rows_are_readings_of_their_benchmark():
    report = parse(
        "Benchmark                         Mode  Cnt    Score   Error   Units\n"
        "Simple.do1                       thrpt    5    2.000 ± 0.500  ops/ms\n"
        "Simple.do1:·gc.alloc.rate.norm   thrpt    5   96.000 ± 0.500    B/op\n"
        "Simple.do1:·gc.count             thrpt    5      ≈ 0          counts\n"
        "Simple.do1:·stack                thrpt           NaN             ---\n"
        "Simple.do1:do1·p0.99             thrpt        8.000           ms/op\n"
    )
    (run,) = report.runs
    assert [(r.metric, r.value, r.unit, r.direction) for r in run.readings] == [
        ("score", 2000, "ops/s", "higher"),
        ("gc.alloc.rate.norm", 96, "B/op", "lower"),
        ("gc.count", 0, "counts", "lower"),
        ("score_p99", 8e6, "ns/op", "lower"),
    ]
    assert report.warnings == ()


def test_a_score_that_is_no_number_is_left_out_with_a_warning():
    report = parse(TABLE + "Simple.broken    avgt    5    NaN ±   NaN  us/op\n")
    assert list(scores(report)) == ["Simple.do1 avgt", "Simple.select1 avgt"]
    assert report.warnings == ("Simple.broken avgt was left out: its score is not a number",)


def test_a_table_with_nothing_but_nan_is_refused():
    head = "Benchmark  Mode  Cnt  Score  Error  Units\n"
    assert refusal(head + "a.b  avgt  5  NaN  us/op\n") == (
        2,
        "no benchmark was measured; a.b avgt was left out: its score is not a number",
    )


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


def test_a_number_too_large_to_be_measured_is_left_out_with_a_warning():
    report = parse(TABLE + "Simple.do2  avgt  5  1e999 ± 0.5  us/op\n")
    assert len(report.runs) == 2
    assert report.warnings == ("line 4 is no row of the table in line 1 and was not read: '1e999'",)


def test_a_table_in_which_no_line_is_a_row_is_refused_with_the_first():
    head = TABLE.partition("\n")[0]
    assert refusal(head + "\nSimple.do2  avgt  5  fast  us/op\n") == (
        2,
        "not a row of JMH's table: 'Simple.do2  avgt  5  fast  us/op'",
    )


def test_what_stands_after_a_blank_line_is_no_part_of_the_table():
    report = parse(TABLE + "\nBenchmark result is saved to out.json\nFinished: SUCCESS\n")
    assert len(report.runs) == 2
    assert report.warnings == ()


def test_a_unit_that_is_none_of_jmh_is_refused():
    assert refusal(TABLE + "Simple.do2  avgt  5  2.0 ± 0.5  parsecs\n") == (
        4,
        "the unit 'parsecs' is neither a time per operation nor operations per time",
    )


def test_a_name_that_stands_twice_without_a_mode_is_refused():
    table = "Benchmark  Score  Error  Units\na.b  2.0 ± 0.5  us/op\na.b  9.0 ± 0.5  ops/s\n"
    assert refusal(table) == (3, "a.b stands in line 2 too, and no column tells them apart")


def test_a_table_that_repeats_figures_is_not_counted_again():
    report = parse(TABLE + "\n" + TABLE)
    assert [run.key for run in report.runs] == ["Simple.do1 avgt", "Simple.select1 avgt"]
    assert report.warnings == (
        "the table in line 5 repeats figures of the one in line 1: they are not counted again",
    )


def test_a_table_whose_last_line_has_no_end_is_read_with_a_warning():
    report = parse(TABLE.rstrip("\n"))
    assert len(report.runs) == 2
    assert report.warnings == ("line 3, the last one, has no line end: the table may break off there",)


def test_a_table_that_ends_in_half_a_row_is_refused():
    half = TABLE.rstrip("\n").removesuffix("p")
    assert refusal(half) == (3, "the table breaks off within this line: the file is cut off")


def test_a_head_without_rows_is_refused():
    head = "Benchmark  Mode  Cnt  Score  Error  Units\n"
    line, message = refusal(head)
    assert line == 1
    assert message.startswith("no score of a benchmark; did JMH finish?")


# The whole output


def test_the_whole_output_gives_names_threads_options_and_iterations():
    report = parse(
        output(
            block("org.acme.Simple.do1", iterations=["1.5", "2.5"]),
            block("org.acme.Simple.select1", "3.000 ±(99.9%) 1.000 us/op [Average]"),
        )
    )
    assert scores(report) == {"org.acme.Simple.do1 avgt": 2000, "org.acme.Simple.select1 avgt": 3000}
    assert report.facts == {
        "tool": "JMH",
        "tool_version": "1.37",
        "jdk_version": "17.0.15",
        "vm_name": "OpenJDK 64-Bit Server VM",
        "vm_version": "17.0.15+6",
        "jvm": "/usr/bin/java",
        "jvm_args": "-Xmx1g -Dpassword=***",
        "blackhole_mode": "compiler",
    }
    run = report.runs[0]
    assert (run.column, run.threads) == ("org.acme.Simple.do1", 4)
    assert run.options == {
        "forks": 1,
        "warmup_iterations": 0,
        "measurement_iterations": 2,
        "measurement_time": "1 s",
        "measurement_batch_size": 20,
    }
    assert report.intervals[0].run == run.key
    assert report.intervals[0].rows == ((1, 1, 1500), (1, 2, 2500))
    assert report.warnings == ()


def test_a_table_that_shortens_packages_to_letters_is_matched():
    table = TABLE.replace("Simple.do1    ", "o.acme.A.do1  ").replace("Simple.select1", "o.best.A.do1  ")
    report = parse(output(block("org.acme.A.do1"), block("org.best.A.do1", "3.000 us/op"), table=table))
    assert scores(report) == {"org.acme.A.do1 avgt": 2000, "org.best.A.do1 avgt": 3000}
    assert report.warnings == ()


def test_a_value_that_looks_like_a_parameter_is_told_from_one_by_the_table():
    table = (
        "Benchmark   (sql)                    Mode  Cnt  Score   Error  Units\n"
        "Query.run   SELECT a, b = 1 FROM t   avgt    5  2.000 ± 0.500  us/op\n"
    )
    report = parse(output(block("bench.Query.run", parameters="sql = SELECT a, b = 1 FROM t"), table=table))
    assert list(scores(report)) == ["bench.Query.run sql=SELECT a, b = 1 FROM t avgt"]
    assert report.warnings == ()


def test_what_a_benchmark_prints_itself_is_not_taken_for_its_result():
    text = output(block("bench.Simple.do1"), table=TABLE[: TABLE.index("Simple.select1")])
    text = text.replace("  (min, avg, max)", "Result: 9.000 us/op\n  (min, avg, max)")
    assert scores(parse(text)) == {"bench.Simple.do1 avgt": 2000}


def test_executions_one_after_the_other_each_have_their_table():
    first = output(block("bench.Simple.do1"), block("bench.Simple.select1"))
    second = first.replace("# Threads: 4 threads", "# Threads: 8 threads")
    report = parse(first + "\n" + second)
    assert [(run.workload, run.threads) for run in report.runs] == [
        ("bench.Simple.do1 avgt", 4),
        ("bench.Simple.select1 avgt", 4),
        ("bench.Simple.do1 avgt", 8),
        ("bench.Simple.select1 avgt", 8),
    ]
    assert len({run.key for run in report.runs}) == 4
    assert report.warnings == ()


def test_warm_up_forks_are_no_iterations():
    text = output(block("bench.Simple.do1"), table=TABLE.replace("Simple.select1", "Simple.do2    "))
    text = text.replace("# Fork: 1 of 1", "# Warmup Fork: 1 of 1\nIteration   1: 9.0 us/op\n# Fork: 1 of 1")
    assert parse(text).intervals[0].rows == ((1, 1, 2000), (1, 2, 2000))


def test_without_a_fork_the_benchmark_ran_in_the_machine_of_jmh():
    text = output(block("bench.Simple.do1")).replace(
        "# Fork: 1 of 1", "# Fork: N/A, test runs in the host VM"
    )
    report = parse(text)
    assert report.runs[0].options["forks"] == 0
    assert report.intervals[0].rows == ((1, 1, 2000), (1, 2, 2000))


def test_output_of_an_old_version_is_read():
    text = """\
# JMH 1.10.3 (released 44 days ago, please consider updating!)
# VM version: JDK 1.8.0_66, VM 25.66-b17
# VM invoker: /usr/bin/java
# VM options: <none>
# Warmup: 1 iterations, 1 s each
# Measurement: 2 iterations, 1 s each
# Timeout: 10 min per iteration
# Threads: 1 thread, will synchronize iterations
# Benchmark mode: Throughput, ops/time
# Benchmark: org.acme.Simple.do1

# Run progress: 0.00% complete, ETA 00:00:03
# Fork: 1 of 1
# Warmup Iteration   1: 9.000 ops/s
Iteration   1: 1.000 ops/s
Iteration   2: 3.000 ops/s


Result: 2.000 ±(99.9%) 0.500 ops/s [Average]
  Statistics: (min, avg, max) = (1.000, 2.000, 3.000), stdev = 1.000
  Confidence interval (99.9%): [1.500, 2.500]

Secondary result "·gc.alloc.rate.norm":
  96.000 ±(99.9%) 0.500 B/op [Average]


# Run complete. Total time: 00:00:04

Benchmark                        Mode  Samples   Score  Score error  Units
o.a.Simple.do1                  thrpt        2   2.000        0.500  ops/s
o.a.Simple.do1:·gc.alloc.rate.norm  thrpt    2  96.000        0.500   B/op
"""
    report = parse(text)
    (run,) = report.runs
    assert run.workload == "org.acme.Simple.do1 thrpt"
    assert {name: (found.value, found.low) for name, found in readings(run).items()} == {
        "score": (2, 1.5),
        "gc.alloc.rate.norm": (96, 95.5),
    }
    assert report.facts == {
        "tool": "JMH",
        "tool_version": "1.10.3",
        "jdk_version": "1.8.0_66",
        "vm_version": "25.66-b17",
        "jvm": "/usr/bin/java",
    }
    assert report.warnings == ()


def test_a_benchmark_that_failed_in_part_is_read_with_a_warning():
    text = output(block("bench.Simple.do1"), block("bench.Simple.select1")).replace(
        "Iteration   2: 2.0 us/op", "Iteration   2: <failure>\n\njava.lang.Error: no luck\n\tat bench", 1
    )
    report = parse(text)
    assert len(report.runs) == 2
    assert report.intervals[0].rows == ((1, 1, 2000),)
    assert report.warnings == (
        "part of bench.Simple.do1 avgt failed, the score is of the rest: java.lang.Error: no luck (line 19)",
    )


def test_passwords_in_reasons_are_masked():
    dead = DEAD.replace("exit code 134>", "exit code 134> -Dpassword=geheim")
    assert refusal(dead)[1].endswith("<forked VM failed with exit code 134> -Dpassword=***")


def test_what_goes_wrong_after_the_table_is_no_failure_of_a_benchmark():
    text = output(block("bench.Simple.do1"), table=TABLE[: TABLE.index("Simple.select1")])
    report = parse(text + '\nException in thread "main" java.lang.Error: the disk is full\n')
    assert scores(report) == {"bench.Simple.do1 avgt": 2000}
    (warning,) = report.warnings
    assert warning.startswith(
        'after the table: Exception in thread "main" java.lang.Error: the disk is full (line'
    )


def test_a_large_output_is_read_as_a_small_one_is(monkeypatch):
    data = (FIXTURES / "decimal-commas-1.21.txt").read_bytes()
    whole = jmh_text.parse(Source(data))
    for size in (16, 100, 1000, 10_000):
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        assert jmh_text.parse(Source(data)) == whole, size


DEAD = HEADER + "# Benchmark: bench.Simple.dead\n\n# Fork: 1 of 1\n<forked VM failed with exit code 134>\n"


def test_a_fork_that_died_is_named():
    report = parse(output(DEAD, block("bench.Simple.do1"), block("bench.Simple.select1")))
    assert report.warnings == (
        "bench.Simple.dead avgt failed and was left out: <forked VM failed with exit code 134> (line 14)",
    )


def test_where_every_benchmark_fails_the_first_reason_is_told():
    assert refusal(DEAD) == (
        14,
        "no benchmark was measured; bench.Simple.dead avgt failed: <forked VM failed with exit code 134>",
    )


def test_an_error_before_the_first_benchmark_is_the_reason():
    text = "# JMH version: 1.37\nERROR: org.openjdk.jmh.runner.RunnerException: another JMH is running\n"
    assert refusal(text) == (
        2,
        "no benchmark was measured: ERROR: org.openjdk.jmh.runner.RunnerException: another JMH is running",
    )


def test_output_that_breaks_off_is_refused_though_some_benchmarks_ended():
    blocks = [block("bench.Simple.do1"), block("bench.Simple.select1").partition("Iteration   2")[0]]
    text = "\n\n".join(blocks)
    assert refusal(text) == (
        len(text.splitlines()),
        "the output ends here, before '# Run complete' and the table: JMH was stopped or the file is cut off",
    )


def test_output_without_its_table_is_refused():
    text = output(block("bench.Simple.do1"), table="")
    assert refusal(text) == (
        len(text.splitlines()),
        "the output ends here, before the table: JMH was stopped or the file is cut off",
    )


def test_a_benchmark_without_a_row_in_the_table_has_the_score_printed_above_it():
    text = output(block("bench.Simple.do1"), block("bench.Simple.select1", "3.000 us/op"))
    report = parse(text[: text.rindex("Simple.select1")])
    assert scores(report) == {"bench.Simple.do1 avgt": 2000, "bench.Simple.select1 avgt": 3000}
    (warning,) = report.warnings
    assert warning.startswith("the table has no row for bench.Simple.select1 avgt: the score is that printed")


def test_output_whose_beginning_is_missing_is_read_by_the_names_in_the_table():
    report = parse(output(block("bench.Simple.select1", "3.000 ±(99.9%) 1.000 us/op [Average]")))
    assert scores(report) == {"bench.Simple.select1 avgt": 3000, "Simple.do1 avgt": 2000}
    assert report.warnings == ("only the table tells of Simple.do1 avgt; it may have shortened the name",)


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
