"""JMH as people publish it: in code and tables of documents, under headings, with what editors do to it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import parse as parse_any
from ingest.formats.jmh import jmh_text
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

ARTICLE = real_files.SHARED / "articles" / "jmh-drivers" / "select1-text-protocol.txt"
HEAD = "Benchmark    Mode  Cnt  Score   Error  Units"


def parse(text):
    return jmh_text.parse(Source(text.encode()))


def scores(report):
    """Value of each score by the heading that tells it apart, version and workload."""
    return {
        (run.heading or run.version or "", run.workload): reading.value
        for run in report.runs
        for reading in run.readings
        if reading.metric == "score"
    }


def table(*scores, name="a.b", head=HEAD):
    rows = [f"{name}{place or ''}  avgt    5  {score} ± 0.500  us/op" for place, score in enumerate(scores)]
    return "\n".join([head, *rows])


def in_code(text):
    return f"```\n{text}\n```"


def refusal(text):
    with pytest.raises(FormatError) as error:
        parse(text)
    return error.value


# One table in every shape that people publish it in

ROWS = [
    ("Query.select", "10", "avgt", "5", "62.715", "2.402", "us/op"),
    ("Query.select", "200", "avgt", "5", "1088.670", "13.505", "us/op"),
    ("Query.insert", "N/A", "thrpt", "25", "26978437.866", "615002.121", "ops/s"),
    ("Query.do1", "N/A", "ss", "5", "0.072", "0.001", "us/op"),
]
TITLES = ("Benchmark", "(size)", "Mode", "Cnt", "Score", "Error", "Units")
EXPECTED = [
    ("Query.select size=10 avgt", 62_715, 60_313, 65_117),
    ("Query.select size=200 avgt", 1_088_670, 1_075_165, 1_102_175),
    ("Query.insert thrpt", 26_978_437.866, 26_363_435.745, 27_593_439.987),
    ("Query.do1 ss", 72, 71, 73),
]


def aligned(rows, *, gap="  ", sign="±"):
    lines = [TITLES, *([*row[:5], f"{sign} {row[5]}", row[6]] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(TITLES))]
    return "\n".join(
        gap.join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
    )


def single_blanks(rows, *, sign="±"):
    return "\n".join(" ".join(line) for line in [TITLES, *([*row[:5], sign, *row[5:]] for row in rows)])


def markdown(rows, *, sign="±", titles=TITLES, bold=False):
    cells = [[*row[:4], f"**{row[4]}**" if bold else row[4], f"{sign}{row[5]}", row[6]] for row in rows]
    lines = [titles, ["---"] * len(titles), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def joined(rows, separator):
    return "\n".join(separator.join(line) for line in [TITLES, *rows])


def with_thousands(rows, sign, decimal="."):
    def parted(number):
        whole, _, rest = number.partition(".")
        return f"{int(whole):,}".replace(",", sign) + decimal + rest

    return [(*row[:4], parted(row[4]), parted(row[5]), row[6]) for row in rows]


SHAPES = {
    "JMH's own": aligned(ROWS),
    "a sign lost": aligned(ROWS, sign="\ufffd"),
    "a sign of another encoding": aligned(ROWS, sign="卤"),
    "a sign of ASCII": aligned(ROWS, sign="+-"),
    "single blanks": single_blanks(ROWS),
    "single blanks without the sign": single_blanks(ROWS, sign="").replace("  ", " "),
    "unbreakable blanks": single_blanks(ROWS).replace(" ", "\u00a0"),
    "blank lines": aligned(ROWS).replace("\n", "\n\n"),
    "tabs": joined(ROWS, "\t"),
    "commas": joined(ROWS, ","),
    "Markdown": markdown(ROWS),
    "Markdown with bold figures": markdown(ROWS, bold=True),
    "Markdown without the parentheses": markdown(ROWS, titles=("Benchmark", "size", *TITLES[2:])),
    "Markdown with other words": markdown(
        ROWS, titles=("", "(size)", "Mode", "Samples", "Mean", "Margin of error (+/-)", "Unit")
    ),
    "Markdown with long modes": markdown(ROWS).replace("avgt", "AverageTime").replace("ss", "Single shot"),
    "decimal commas": markdown(
        [(*row[:4], *(n.replace(".", ",") for n in row[4:6]), row[6]) for row in ROWS]
    ),
    "thousands with commas": aligned(with_thousands(ROWS, ",")),
    "thousands with points": markdown(with_thousands(ROWS, ".", ",")),
    "thousands with blanks": aligned(with_thousands(ROWS, " ")),
    "thousands with narrow blanks": markdown(with_thousands(ROWS, "\u202f")),
    "thousands with apostrophes": markdown(with_thousands(ROWS, "\u2019")),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "around",
    [
        "{}\n",
        "# Results\n\nRun on my laptop.\n\n{}\n\nThat is fast. See also:\n\n- the code\n",
        "```text\n{}\n```",
    ],
    ids=["alone", "between prose", "in code"],
)
def test_a_table_gives_the_same_figures_in_every_shape(shape, around):
    name, report = parse_any(Source(around.format(SHAPES[shape]).encode()))
    assert name == "jmh_text"
    assert [run.workload for run in report.runs] == [workload for workload, *_ in EXPECTED]
    for run, (_, *figures) in zip(report.runs, EXPECTED, strict=True):
        (score,) = run.readings
        assert [score.value, score.low, score.high] == pytest.approx(figures, rel=1e-12)
    assert not any("not read" in warning for warning in report.warnings)


@pytest.mark.skipif(not ARTICLE.exists(), reason="../shared/data/articles is not here")
def test_the_table_of_the_article_goes_in_by_copy_and_paste():
    text = ARTICLE.read_text()
    lines = [line.replace("±", " ").split() for line in text.splitlines() if line.strip()]
    lines = [[*line, ""][:4] if place else line for place, line in enumerate(lines)]
    pasted = [
        text,
        "\n".join(" ".join(line.split()) for line in text.splitlines()),
        "\n".join("\t".join(line) for line in lines),
        "\n".join("|".join(line) for line in [lines[0], ["---"] * 4, *lines[1:]]),
    ]
    for form in pasted:
        assert scores(parse(form)) == {
            ("", "BenchmarkSelect1RowPrepareText.mariadb"): 62_715,
            ("", "BenchmarkSelect1RowPrepareText.mysql"): 88_670,
            ("", "BenchmarkSelect1RowPrepareText.drizzle"): 78_672,
        }


NUMBERS = st.decimals(min_value="0.001", max_value=10**9, places=3)


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6),
    st.sampled_from([aligned, single_blanks, markdown]),
    st.sampled_from([("", "."), (",", "."), (" ", "."), ("'", ".")]),
)
@settings(max_examples=150, deadline=None)
def test_any_figures_are_read_as_they_were_printed(figures, render, signs):
    rows = [
        (f"A.b{place}", "N/A", "avgt", "5", f"{score:.3f}", f"{error:.3f}", "ns/op")
        for place, (score, error) in enumerate(figures)
    ]
    report = parse(render(with_thousands(rows, *signs)) + "\n")
    assert [(run.readings[0].value, run.readings[0].high) for run in report.runs] == [
        pytest.approx((float(score), float(score + error)), rel=1e-9) for score, error in figures
    ]


# Numbers that could be meant in two ways


@pytest.mark.parametrize(
    ("numbers", "values", "doubt"),
    [
        (["365,935", "62,715"], [365.935, 62.715], "its decimals"),
        (["365,935", "980"], [365_935, 980], "thousands"),
        (["365,935", "62.7"], [365_935, 62.7], "thousands"),
        (["365,935", "0,715"], [365.935, 0.715], ""),
        (["3,505,286", "1,234"], [3_505_286, 1_234], ""),
        (["812,5", "3.505"], [812.5, 3_505], "thousands"),
    ],
)
def test_what_a_comma_means_is_told_by_the_other_numbers_of_the_table(numbers, values, doubt):
    rows = [f"| a.b{place} | {number} | ops/s |" for place, number in enumerate(numbers)]
    report = parse("\n".join(["| Benchmark | Score | Units |", "|---|---|---|", *rows]))
    assert [run.readings[0].value for run in report.runs] == values
    said = [warning for warning in report.warnings if "is taken for that of" in warning]
    assert [warning.endswith(doubt) for warning in said] == ([True] if doubt else [])


def test_numbers_of_two_hands_in_one_table_are_refused():
    error = refusal(
        "| Benchmark | Score | Units |\n|---|---|---|\n| a.b | 1.234,5 | ops/s |\n| a.c | 12.5 | ops/s |\n"
    )
    assert (error.line, error.message[:6]) == (4, "'12.5'")


# Several tables


def test_tables_under_different_headings_are_no_repetitions():
    text = f"## AMD EPYC\n\n{in_code(table('2.000'))}\n\n## Intel Xeon\n\n{in_code(table('3.000'))}\n"
    report = parse(text)
    assert scores(report) == {("AMD EPYC", "a.b avgt"): 2000, ("Intel Xeon", "a.b avgt"): 3000}
    (warning,) = report.warnings
    assert "each is a configuration ('AMD EPYC', 'Intel Xeon')" in warning
    assert '{"AMD EPYC": {"hardware": "..."}}' in warning


@pytest.mark.parametrize("heading", ["MariaDB-JDBC {}", "v{}", "Version {}"])
def test_headings_that_are_versions_are_versions(heading):
    parts = [
        f"## {heading.format(version)}\n\n{table(score)}\n" for version, score in [("1.4.2", 2), ("1.5", 3)]
    ]
    report = parse("\n".join(parts))
    assert [(run.version, run.heading) for run in report.runs] == [("1.4.2", ""), ("1.5", "")]
    assert [run.product for run in report.runs] == ["MariaDB-JDBC" if "JDBC" in heading else None] * 2


def test_a_runtime_in_a_heading_is_no_product():
    report = parse(f"## JDK 17.0.1\n\n{table('2.000')}\n\n## JDK 21.0.2\n\n{table('3.000')}\n")
    assert [(run.version, run.heading) for run in report.runs] == [(None, "JDK 17.0.1"), (None, "JDK 21.0.2")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# All\n## A\n### Results\n{}\n## B\n### Results\n{}\n", ["A", "B"]),
        (
            "# A\n## Reads\n{}\n# B\n## Reads\n{}\n# B\n## Writes\n{}\n",
            ["A / Reads", "B / Reads", "B / Writes"],
        ),
        ("# A\nWith JDK 17:\n\n{}\n\nWith JDK 21:\n\n{}\n", ["With JDK 17", "With JDK 21"]),
        ("# A\n{}\n# A\n{}\n", ["A", "A (2)"]),
        ("{}\n\n{}\n", ["table 1", "table 2"]),
    ],
)
def test_a_table_is_called_by_what_only_it_has_above_it(text, names):
    report = parse(text.format(*(in_code(table(f"{place}.000")) for place in range(1, text.count("{}") + 1))))
    assert [run.heading for run in report.runs] == names


def test_text_between_the_rows_of_one_table_tells_them_apart():
    rows = table("2.000") + "\n\nWith JDK 21\n\na.b  avgt  5  3.000 ± 0.500  us/op\n"
    assert scores(parse("With JDK 17\n\n" + rows)) == {
        ("With JDK 17", "a.b avgt"): 2000,
        ("With JDK 21", "a.b avgt"): 3000,
    }


def test_headings_over_different_benchmarks_change_nothing():
    reads, writes = table("2.000", name="a.read"), table("3.000", name="a.write")
    report = parse(f"## Reads\n\n{in_code(reads)}\n\n## Writes\n\n{writes}\n")
    assert scores(report) == {("", "a.read avgt"): 2000, ("", "a.write avgt"): 3000}
    assert [run.headings for run in report.runs] == [("Reads",), ("Writes",)]
    assert report.warnings == ()


def test_an_excerpt_of_a_table_further_below_is_not_counted_again():
    text = f"## Results\n{in_code(table('2.000', '3.000'))}\n## How to read it\n{in_code(table('2.000'))}\n"
    report = parse(text)
    assert scores(report) == {("", "a.b avgt"): 2000, ("", "a.b1 avgt"): 3000}
    assert report.warnings == (
        "the table in line 9 repeats figures of the one in line 3: they are not counted again",
    )


# What stands beside tables


def test_rows_go_on_behind_a_blank_line_below_the_head():
    assert len(parse(table("2.000", "3.000").replace("\n", "\n\n")).runs) == 2


def test_columns_that_are_none_of_jmh_are_named():
    report = parse("| Benchmark | Score | Units | Ratio |\n|---|---|---|---|\n| a.b | 2.0 | ns/op | 1.00 |\n")
    assert [run.readings[0].value for run in report.runs] == [2]
    assert report.warnings == (
        "the table in line 1 has columns that are none of JMH's and were not read: 'Ratio'",
    )


def test_a_row_without_a_score_is_left_out_with_a_warning():
    head = "| Benchmark | Mode | Score | Units |\n|---|---|---|---|\n"
    text = f"{head}| a.b | avgt | 2.0 | ns/op |\n| a.c | avgt | - | ns/op |\n"
    assert parse(text).warnings == ("a.c avgt was left out: its score is not a number",)
    assert "line 4 is no row of the table in line 1" in parse(text.replace("| - |", "| slow |")).warnings[0]


def test_a_header_of_its_own_holds_for_the_tables_of_its_document():
    header = "# JMH version: 1.23\n# VM version: JDK 11.0.9, OpenJDK, 11.0.9+11-LTS\n# Threads: 4 threads"
    report = parse(f"### Configuration\n{in_code(header)}\n### Results\n{in_code(table('2.000'))}\n")
    assert [run.threads for run in report.runs] == [4]
    assert report.facts["jdk_version"] == "11.0.9"
    other = header.replace("4 threads", "8 threads")
    both = parse(f"{in_code(header)}\n{in_code(other)}\n{in_code(table('2.000'))}\n")
    assert [run.threads for run in both.runs] == [None]
    each = parse(f"{header}\n\n{table('2.000')}\n\n{other}\n\n{table('3.000')}\n")
    assert [run.threads for run in each.runs] == [4, 8]


def test_results_without_header_and_table_are_read():
    text = (
        'Result "org.acme.A.b":\n  40.950 ±(99.9%) 4.573 ns/op [Average]\n  (min, avg, max) = (37, 40, 51)\n'
    )
    assert scores(parse(text)) == {("", "org.acme.A.b"): 40.95}
    error = refusal(text + "\n" + text)
    assert error.message.startswith("2 results of org.acme.A.b, and nothing tells them apart")


def test_what_a_profiler_measured_is_no_result_without_a_score():
    error = refusal('Secondary result "org.acme.A.b:·perf":\nPerf stats:\n  24 692,90 msec task-clock\n')
    assert error.message.startswith("no score of org.acme.A.b; did JMH finish?")


def test_a_document_cut_within_a_table_is_refused_or_says_so():
    text = f"# A\n\n{markdown(ROWS)}\n"
    whole = len(parse(text).runs)
    for stop in range(text.index("Query"), len(text)):
        try:
            report = parse(text[:stop])
        except FormatError:
            continue
        if not text[:stop].endswith("\n"):
            assert len(report.runs) == whole or any(
                "no line end" in warning for warning in report.warnings
            ), stop


def test_a_header_that_is_indented_holds_for_its_table():
    header = "# JMH version: 1.37\n# Threads: 4 threads, will synchronize iterations\n"
    table = "Benchmark    Mode  Cnt   Score   Error  Units\nSimple.do1  thrpt    5  31.205 ± 1.078  ops/s\n"
    whole = "\n".join(f"    {line}" for line in f"{header}\n{table}".splitlines()) + "\n"
    report = parse(whole)
    assert [run.threads for run in report.runs] == [4]
    assert report.facts["tool_version"] == "1.37"


# Rows, heads and results where people leave them

ROW = "a.b  avgt    5  2.000 ± 0.500  us/op"


@pytest.mark.parametrize(
    "text",
    [
        f"/**\n * {HEAD}\n * {ROW}\n */\n@State(Scope.Thread)\n",
        f"import x;\n\n// {HEAD}\n// {ROW}\n",
        f"    /*\n     [info] {HEAD}\n     [info] {ROW}\n     */\n",
        f"  * ```\n  * [info] {HEAD}\n  * [info] {ROW}\n  * ```\n",
        f"# Bench\n\n```\n-t 1\n\n[info] {HEAD}\n[info] {ROW}\n```\n",
        f"{HEAD}\n{ROW}     (the first run)\n",
        f"{HEAD}\n{ROW}  // slower\n",
        f"Found:\n\n- {HEAD}\n- {ROW}\n",
        f"{HEAD}\n{ROW.replace('2.000', '**2.000**')}\n",
    ],
)
def test_marks_of_comments_and_remarks_around_a_table_change_nothing(text):
    assert scores(parse_any(Source(text.encode()))[1]) == {("", "a.b avgt"): 2000}


def test_rows_without_a_head_are_read_with_a_warning():
    name, report = parse_any(
        Source(f"# Locks\n\n```\n{ROW}\na.b:·gc.count  avgt  5  ≈ 0  counts\n```\n".encode())
    )
    assert (name, scores(report)) == ("jmh_text", {("", "a.b avgt"): 2000})
    assert "the rows from line 4 on have no head" in report.warnings[-1]


def test_rows_in_code_of_their_own_have_the_columns_of_the_table_above():
    rows = "Benchmark  (n)  Mode  Cnt  Score   Error  Units\n{0} 10  avgt  5  2.000 ± 0.500  us/op"
    more = in_code("a.c 20  avgt  5  3.000 ± 0.500  us/op")
    report = parse(f"{in_code(rows.format('a.b'))}\n\nThe other:\n\n{more}\n")
    assert scores(report) == {("", "a.b n=10 avgt"): 2000, ("", "a.c n=20 avgt"): 3000}
    assert report.warnings == ()


def test_rows_of_markdown_go_on_behind_a_blank_line():
    rows = markdown(ROWS).splitlines()
    report = parse(
        "\n".join(["## JDK 17", "", *rows[:4], "", *rows[4:], "", "## JDK 21", "", "Nothing yet."]) + "\n"
    )
    assert [run.workload for run in report.runs] == [expected[0] for expected in EXPECTED]
    assert report.warnings == ()


@pytest.mark.parametrize(
    ("unread", "warning"),
    [
        (
            in_code("Benchmark Mode Cnt Score Error Units Ratio\na.c avgt 5 2.1 ± 0.5 us/op 1.0x"),
            "line 9 looks like",
        ),
        (
            "| Case | Result (us/op) |\n|---|---|\n| a | 12.1 |",
            "the table in line 7 has units of JMH and was not",
        ),
        (
            "| run | score (us/op) |\n|---|---|\n| 1 | 2.0001 |",
            "the table in line 7 has units of JMH and was not",
        ),
    ],
)
def test_what_else_looks_like_scores_in_a_document_is_named(unread, warning):
    report = parse(f"# A\n{in_code(table('2.000'))}\n\n{unread}\n")
    assert scores(report) == {("", "a.b avgt"): 2000}
    assert [text.startswith(warning) for text in report.warnings] == [True]


def test_results_under_headings_of_their_own_are_told_apart():
    result = 'Result "org.acme.A.b":\n  {} ±(99.9%) 0.015 ms/op [Average]\n'
    report = parse(
        f"## Moshi\n{in_code(result.format('0.367'))}\n## Gson\n{in_code(result.format('0.467'))}\n"
    )
    assert scores(report) == {("Moshi", "org.acme.A.b"): 367_000, ("Gson", "org.acme.A.b"): 467_000}


def test_tables_that_only_their_thread_counts_tell_apart_have_these():
    text = "\n".join(f"-t {count}\n\n{table(f'{count}.000')}\n" for count in (1, 2, 4))
    report = parse(text)
    assert [(run.threads, run.heading, run.headings) for run in report.runs] == [
        (count, "", (f"-t {count}",)) for count in (1, 2, 4)
    ]


def test_what_profilers_measured_in_a_table_of_its_own_belongs_to_the_scores_above():
    rows = "\n".join([HEAD, ROW.replace("a.b ", "a.b:gc.alloc.rate.norm ").replace("us/op", "B/op")])
    (run,) = parse(f"{table('2.000')}\n\n{rows}\n").runs
    assert [(reading.metric, reading.value) for reading in run.readings] == [
        ("score", 2000),
        ("gc.alloc.rate.norm", 2.0),
    ]
    assert "a.b avgt was left out: no row has its score" in refusal(rows + "\n").message


@pytest.mark.parametrize(
    ("head", "workload"),
    [
        ("| Library | Benchmark | Mode | Score | Units |", "insert Library=Moshi avgt"),
        ("| Hash | Key | Mode | Score (us/op) ± Error | 单位 |", "Moshi Key=insert avgt"),
        ("| Suite | Key | Mode | Score (us/op) | Notes |", "Moshi Key=insert avgt"),
    ],
)
def test_the_names_of_benchmarks_stand_in_the_column_that_says_so(head, workload):
    text = f"{head}\n|---|---|---|---|---|\n| Moshi | insert | avgt | 2.000 | us/op |\n"
    assert scores(parse_any(Source(text.encode()))[1]) == {("", workload): 2000}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "# JMH Benchmarks\n\nIteration 1: 21.5 ops/s\n\nResult: 22.7 ±(99.9%) 3.2 ops/s [Average]\n",
            "jmh_text, but",
        ),
        ("# Numbers\n\n| Case | Value |\n|---|---|\n| a | 12 ms/op |\n", "jmh_text, but no line is the head"),
        (
            "| Method | Mean | Error | StdDev |\n|---|---|---|---|\n| A | 4.1 us | 0.1 us | 0.2 us |\n",
            "BenchmarkDotNet",
        ),
        (
            "| Case | ns/op | B/op | allocs/op |\n|---|---|---|---|\n| A | 4.1 | 3 | 1 |\n",
            "Go's testing package",
        ),
    ],
)
def test_what_only_resembles_jmh_is_told_so(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        parse_any(Source(text.encode()))


def test_a_table_with_the_same_scores_and_other_allocations_is_no_copy():
    rows = "\n".join([HEAD, ROW, ROW.replace("a.b ", "a.b:gc.alloc.rate.norm ").replace("us/op", "B/op")])
    assert len(parse(f"{rows}\n\n{rows}\n").runs) == 1
    assert len(parse(f"{rows}\n\n{rows.replace('2.000 ± 0.500  B', '4.000 ± 0.500  B')}\n").runs) == 2
