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


def parse(text):
    return jmh_text.parse(Source(text.encode()))


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
        assert {run.workload: run.readings[0].value for run in parse(form).runs} == {
            "BenchmarkSelect1RowPrepareText.mariadb": 62_715,
            "BenchmarkSelect1RowPrepareText.mysql": 88_670,
            "BenchmarkSelect1RowPrepareText.drizzle": 78_672,
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


# Files that are none of JMH


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "# JMH Benchmarks\n\nIteration 1: 21.5 ops/s\n\nResult: 22.7 ±(99.9%) 3.2 ops/s [Average]\n",
            "jmh_text, but",
        ),
        ("# Locks\n\n```\na.b  avgt    5  2.000 ± 0.500  us/op\n```\n", "jmh_text, but no line is the head"),
        ("# Numbers\n\n| Case | Value |\n|---|---|\n| a | 12 ms/op |\n", "jmh_text, but no line is the head"),
    ],
)
def test_what_only_resembles_jmh_is_told_so(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        parse_any(Source(text.encode()))
