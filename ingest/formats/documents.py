"""The parts of a document: text, code in fences, and tables, each with the headings that it stands under.

Markdown is read as people write it, with the headings of HTML, AsciiDoc and reStructuredText. A file without
any of it is one block of text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

_MAX_TITLE_LENGTH = 200
_MAX_CAPTION_LINES = 3
# Longer lines are no headings, fences or rows; what is matched below stays cheap.
_MAX_MARKED_LENGTH = 4000

_FENCE = re.compile(r"\s*(?P<marks>`{3,}|~{3,})\s*(?P<language>[^`]*)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6}|={1,6})\s+(?P<title>\S.*)")
_UNDERLINE = re.compile(r"(?P<mark>[=~^-])(?P=mark){2,}\s*")
_UNDERLINE_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4}
_HTML_HEADING = re.compile(
    r"\s*<h(?P<level>[1-6])(?:\s[^<>]*)?>(?P<title>.*?)(?:</h[1-6]>\s*)?", re.IGNORECASE
)
_DELIMITER = re.compile(r"[|+]?(?:[ \t]*+:?-++:?[ \t]*+[|+])*+(?:[ \t]*+:?-++:?)?")
_RULE = re.compile(r"\s*+(?:[-*_=]\s*+){3,}+")
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S|\|")
# Generators of sites keep title, date and the like above a page, in YAML or TOML.
_FRONT_MATTER_MARKS = frozenset({"---", "+++"})
_FRONT_MATTER = re.compile(r"[A-Za-z][\w.-]{0,60}\s*[:=].*|[\s#\[\]{}-].*|")
_MAX_FRONT_MATTER_LINES = 60
_LINK = re.compile(r"!?\[(?P<text>[^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS_MARK = re.compile(r"[*_~]")
_EMPHASIS = re.compile(r"(?<!\w)(?P<mark>\*{1,3}|_{1,3}|~~)(?P<text>\S(?:.*?\S)?)(?P=mark)(?!\w)")
_MAX_EMPHASIS_LENGTH = 500
# One within the other: _**both**_.
_MAX_EMPHASES = 2
_ESCAPED = re.compile(r"\\([^A-Za-z0-9\s])")
_FOOTNOTE = re.compile(r"<sup>.{0,20}?</?sup>?", re.IGNORECASE)
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_ENTITIES = {"&nbsp;": " ", "&plusmn;": "±", "&micro;": "µ", "&lt;": "<", "&gt;": ">", "&amp;": "&"}

# The first sign of a line that begins something, besides a row of a table.
_MARKS = frozenset("#=`~-<.^")
_TABLE_MARK = "|"


class BlockKind(Enum):
    TEXT = "text"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """A part of a document.

    ``line`` is the number of its first line, counted from 1: of code the one below the fence, of a table its
    head. A block of text begins with the heading that it stands under. ``headings`` are those above it, the
    outermost first; ``caption`` are up to three lines of the last paragraph between heading and block.
    ``language`` is what an opening fence names. ``is_closed`` is false of code whose fence is not closed.
    """

    kind: BlockKind
    line: int
    lines: Sequence[str]
    headings: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()
    language: str = ""
    is_closed: bool = True

    def rows(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield number and cells of each row of a table, its head first, without the line below the head."""
        for number, line in enumerate(self.lines, start=self.line):
            if line.strip() and not _is_delimiter(line):
                yield number, table_cells(line)


def document_blocks(lines: Sequence[str]) -> Iterator[DocumentBlock]:
    """Yield the blocks of a document in their order, in a time that grows with its lines."""
    yield from _Reader(lines).blocks()


def table_cells(line: str, *, has_sides: bool = True) -> tuple[str, ...]:
    """Return the cells of a row, without emphasis, links, footnotes and the signs of code.

    ``has_sides`` is false of a table that is drawn with ``|`` between its cells alone.
    """
    inner = line
    if has_sides:
        inner = line.strip().removeprefix("|")
        inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    cells = _UNESCAPED_BAR.split(inner)
    return tuple(plain_text(_ESCAPED.sub(r"\1", _FOOTNOTE.sub("", cell))) for cell in cells)


def plain_text(text: str) -> str:
    """Return what a reader sees of ``**244.96**``, ``[`JMH`](address)`` or ``&plusmn; 2<br>``."""
    text = _LINK.sub(r"\g<text>", text) if "[" in text else text
    text = _TAG.sub(" ", text) if "<" in text else text
    if "&" in text:
        for entity, sign in _ENTITIES.items():
            text = text.replace(entity, sign)
    text = text.replace("`", "").strip()
    if len(text) <= _MAX_EMPHASIS_LENGTH and _EMPHASIS_MARK.search(text):
        for _ in range(_MAX_EMPHASES):
            text = _EMPHASIS.sub(r"\g<text>", text)
    return text.strip()


class _Reader:
    """Reads a document line by line. Positions count from 0, numbers of lines from 1."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._headings: list[tuple[int, str]] = []
        # The beginning of the text that is not yet a block, and the end of its last heading.
        self._begin = self._below_heading = _end_of_front_matter(lines)

    def blocks(self) -> Iterator[DocumentBlock]:
        for place, line in enumerate(self._lines):
            is_marked = line.lstrip()[:1] in _MARKS or _TABLE_MARK in line
            if is_marked and place >= self._begin and len(line) <= _MAX_MARKED_LENGTH:
                yield from self._block_at(place, line)
        yield from self._text_until(len(self._lines))

    def _block_at(self, place: int, line: str) -> Iterator[DocumentBlock]:
        """Yield the blocks that are known with this line, and go on behind them."""
        above, below = self._line(place - 1), self._line(place + 1)
        if title := _heading_of(line, above, below):
            yield from self._text_until(place - title.lines_above)
            self._open_heading(title, place)
        elif (fence := _FENCE.fullmatch(line)) and _is_fence(fence):
            yield from self._text_until(place)
            yield self._code(place, fence)
        elif _TABLE_MARK in line and _is_delimiter(below) and not _is_delimiter(line):
            yield from self._text_until(place)
            yield self._table(place)

    def _line(self, place: int) -> str:
        return self._lines[place] if 0 <= place < len(self._lines) else ""

    def _text_until(self, stop: int) -> Iterator[DocumentBlock]:
        lines = self._lines[self._begin : stop]
        if any(map(str.strip, lines)):
            yield DocumentBlock(BlockKind.TEXT, self._begin + 1, lines, self._titles())
        self._begin = max(stop, self._begin)

    def _code(self, place: int, fence: re.Match[str]) -> DocumentBlock:
        """Return the code between the fence at ``place`` and the one that closes it, or the end."""
        caption = self._caption(place)
        closing = re.compile(rf"\s*{fence['marks'][0]}{{{len(fence['marks'])},}}\s*")
        inner = (self._lines[at] for at in range(place + 1, len(self._lines)))
        closes = (len(line) <= _MAX_MARKED_LENGTH and closing.fullmatch(line) for line in inner)
        ends = (at for at, is_end in enumerate(closes, start=place + 1) if is_end)
        stop = next(ends, len(self._lines))
        is_closed = stop < len(self._lines)
        self._begin = self._below_heading = stop + is_closed
        language = next(iter(fence["language"].split()), "").strip("{}.")
        lines = self._lines[place + 1 : stop]
        return DocumentBlock(BlockKind.CODE, place + 2, lines, self._titles(), caption, language, is_closed)

    def _table(self, place: int) -> DocumentBlock:
        caption = self._caption(place)
        stop = place + 1
        while _TABLE_MARK in self._line(stop) or _is_delimiter(self._line(stop)):
            stop += 1
        self._begin = self._below_heading = stop
        return DocumentBlock(BlockKind.TABLE, place + 1, self._lines[place:stop], self._titles(), caption)

    def _open_heading(self, title: "_Title", place: int) -> None:
        while self._headings and self._headings[-1][0] >= title.level:
            self._headings.pop()
        self._headings.append((title.level, title.text))
        self._below_heading = place + 1

    def _titles(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _caption(self, place: int) -> tuple[str, ...]:
        """Return the last lines of the paragraph above a block, back to the heading or the block before."""
        found: list[str] = []
        for above in range(place - 1, self._below_heading - 1, -1):
            line = self._lines[above][:_MAX_TITLE_LENGTH]
            text = plain_text(line.strip().lstrip("#.>").strip())
            if text and not _RULE.fullmatch(line):
                found.insert(0, text)
            elif found or place - above > _MAX_CAPTION_LINES:
                break
            if len(found) == _MAX_CAPTION_LINES:
                break
        return tuple(found)


def _end_of_front_matter(lines: Sequence[str]) -> int:
    """Return how many lines of front matter stand above a document; what they say is of the page alone."""
    head = [line[:_MAX_MARKED_LENGTH].rstrip() for line in lines[:_MAX_FRONT_MATTER_LINES]]
    if not head or head[0] not in _FRONT_MATTER_MARKS or head[0] not in head[1:]:
        return 0
    end = head.index(head[0], 1)
    return end + 1 if all(map(_FRONT_MATTER.fullmatch, head[1:end])) else 0


@dataclass(frozen=True, slots=True)
class _Title:
    """A heading. ``lines_above`` of it stand above the line that shows it: the text above an underline."""

    level: int
    text: str
    lines_above: int = 0


def _heading_of(line: str, above: str, below: str) -> _Title | None:
    """Return the heading that ends with this line.

    Lines with one ``#`` that touch each other are comments, as tools and scripts write them.
    """
    if found := _HEADING.fullmatch(line):
        marks = found["marks"]
        if marks == "#" and (_is_comment(above) or _is_comment(below)):
            return None
        title = found["title"].rstrip().rstrip(marks[0])
        return _title(len(marks), title)
    if found := _HTML_HEADING.fullmatch(line):
        return _title(int(found["level"]), found["title"])
    found = _UNDERLINE.fullmatch(line)
    is_title = (
        found is not None
        and 0 < len(above.strip()) <= _MAX_TITLE_LENGTH
        and above.strip()[0] not in "|+`~=-#[<"
        and not above.startswith((" ", "\t"))
        and not _COLUMNS.search(above)
    )
    # A line much shorter than the text above it closes it, or stands between paragraphs.
    if found and is_title and (found["mark"] != "~" or len(line.strip()) >= len(above.strip())):
        return _title(_UNDERLINE_LEVELS[found["mark"]], above, lines_above=1)
    return None


def _title(level: int, text: str, lines_above: int = 0) -> _Title | None:
    text = " ".join(plain_text(text[:_MAX_TITLE_LENGTH]).split())
    return _Title(level, text, lines_above) if text else None


def _is_comment(line: str) -> bool:
    """Return whether a line is one more ``# ...``."""
    return line.startswith("# ")


def _is_fence(found: re.Match[str]) -> bool:
    # A whole line may be drawn of tildes; a fence names a language of one word or two.
    return len(found["language"].split()) <= 3


def _is_delimiter(line: str) -> bool:
    """Return whether a line separates the head of a table from its rows, or its rows from each other."""
    return (
        "-" in line
        and (_TABLE_MARK in line or "+" in line)
        and len(line) <= _MAX_MARKED_LENGTH
        and _DELIMITER.fullmatch(line.strip()) is not None
    )
