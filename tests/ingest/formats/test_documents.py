"""Documents: what is text, code and table, under which headings, whatever somebody wrote."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.documents import BlockKind, document_blocks

TABLE = "| threads | tps |\n|--------:|----:|\n| 1 | 812.5 |\n| 2 | **1600** |"


def blocks(text):
    return list(document_blocks(text.split("\n")))


def of_kind(kind, text):
    return [block for block in blocks(text) if block.kind is kind]


def test_a_document_is_text_code_and_tables_under_their_headings():
    above = "# Results\nAll runs of May.\n\n## AMD\n\nMeasured with\nsysbench."
    text = f"{above}\n\n```txt\na  b\n```\n## Intel\n{TABLE}\n"
    found = blocks(text)
    assert [(block.kind.value, block.line, block.headings) for block in found] == [
        ("text", 1, ("Results",)),
        ("text", 4, ("Results", "AMD")),
        ("code", 10, ("Results", "AMD")),
        ("text", 12, ("Results", "Intel")),
        ("table", 13, ("Results", "Intel")),
    ]
    code, table = found[2], found[4]
    assert (list(code.lines), code.language, code.caption) == (
        ["a  b"],
        "txt",
        ("Measured with", "sysbench."),
    )
    assert list(table.rows()) == [(13, ("threads", "tps")), (15, ("1", "812.5")), (16, ("2", "1600"))]


@pytest.mark.parametrize(
    "text",
    [
        "# JMH version: 1.37\n# VM version: JDK 17\n" + TABLE,
        "Threads  tps  qps\n-----------------\n1  2  3\n\n" + TABLE,
        "\n---\n" + TABLE,
    ],
    ids=["comments", "a line below the head of columns", "a rule"],
)
def test_what_is_drawn_or_noted_is_no_heading(text):
    assert of_kind(BlockKind.TABLE, text)[0].headings == ()


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("```", "```"),
        ("   ~~~~ text", "   ~~~~~"),
    ],
)
def test_code_stands_between_two_marks(begin, end):
    (code,) = of_kind(BlockKind.CODE, f"{begin}\n| a | b |\n|---|---|\n# no heading\n{end}\nafter")
    assert list(code.lines) == ["| a | b |", "|---|---|", "# no heading"]
    assert code.is_closed
    (open_code,) = of_kind(BlockKind.CODE, f"{begin}\na")
    assert not open_code.is_closed


def test_a_file_without_any_of_it_is_one_block_of_text():
    lines = ["[ 1s ] thds: 8 tps: 1460.93", "", "    queries: 5"] * 1000
    (block,) = document_blocks(lines)
    assert (block.kind, block.line, block.lines) == (BlockKind.TEXT, 1, lines)


LINE = st.one_of(
    st.text(alphabet="|-+=#~`<>[]. \tab:", max_size=12),
    st.sampled_from(
        ["```", "~~~", "# A", "|a|b|", "|-|-|", "----", "|===", "[source]", "text", "===", "<pre>", "</pre>"]
    ),
)


@given(st.lists(LINE, max_size=40))
@settings(max_examples=300)
def test_every_line_is_in_one_block_at_most_and_only_marks_and_blanks_in_none(lines):
    places = [
        (block.line - 1 + offset, line)
        for block in document_blocks(lines)
        for offset, line in enumerate(block.lines)
    ]
    assert [place for place, _ in places] == sorted({place for place, _ in places})
    assert all(lines[place] == line for place, line in places)
    lost = set(range(len(lines))) - {place for place, _ in places}
    assert all(not lines[place].strip() or lines[place].lstrip()[0] in "`~-.<|" for place in lost)


@pytest.mark.parametrize(
    "line",
    [" " * 3990 + "-x|", "|" + "- |" * 1300 + "x", "[" * 3900 + "|", "</h1> " * 660, "-" * 3990 + "|x"],
    ids=["blanks", "bars", "brackets", "tags", "dashes"],
)
def test_lines_made_to_be_slow_are_text_like_any_other(line):
    """Patterns that try every way to split a line would not come to an end here."""
    lines = [line, line, ""] * 1000
    assert [block.lines for block in document_blocks(lines)] == [lines]
