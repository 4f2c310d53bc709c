"""Figures of builds under known names of columns, in sections with a title each, as scripts print them.

q100.1
ips     qps     rps     ...     tag
100     3000    954     ...     my5649.c1
100     2900    933     ...     my5731.c1
--- relative to first result
1.00    0.97    0.98    ...     my5731.c1
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.formats.cells import is_missing
from ingest.formats.headings import product_and_version
from ingest.formats.report import FormatError, ParsedRun
from ingest.formats.tables.table import counted

_BETWEEN = re.compile(r"[\t ,|;]+")
_SAYS_SOMETHING = re.compile(r"\w")


@dataclass(slots=True)
class BuildSection:
    """A title, on ``line``, and the lines below it: each with its cells by the names of their columns.

    ``has_parts`` says that a line of dashes parts absolute figures from relative ones, of which the lines are
    kept alone.
    """

    title: str
    line: int
    rows: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    ratios: list[int] = field(default_factory=list)
    has_parts: bool = False


def sections(lines: Sequence[str], is_head: Callable[[Sequence[str]], bool]) -> Iterator[BuildSection]:
    """Yield the sections of a file. Raise FormatError for a line of figures that does not fit its head."""
    section = BuildSection("", 1)
    head: Sequence[str] = ()
    is_relative = False
    for line, text in enumerate(lines, start=1):
        if not _SAYS_SOMETHING.search(text):
            continue
        words = words_of(text)
        is_figure = is_missing(words[0]) or words[0].replace(".", "", 1).isdigit()
        if is_head(words):
            head = words
        elif words[0] == "---" or "relative" in words:
            is_relative = "relative" in words
            section.has_parts = True
        elif head and (is_figure or len(words) == len(head)):
            if is_relative:
                section.ratios.append(line)
            elif len(words) != len(head):
                raise FormatError(f"{counted(len(words), 'cell')} under {counted(len(head), 'column')}", line)
            else:
                section.rows.append((line, dict(zip(head, words, strict=True))))
        else:
            yield section
            section, head, is_relative = BuildSection(" ".join(text.split()), line), (), False
    yield section


def words_of(line: str) -> Sequence[str]:
    """Return the cells of a line, whose separators are tabs, blanks, commas or bars."""
    return _BETWEEN.split(line.strip().strip("|").strip()) if line.strip() else ()


def with_build(run: ParsedRun, build: str) -> ParsedRun:
    """Return the run with the name of its build: a product and its version, or a version of one not named.

    Which product ``x.my8044_rel.c8r32`` is of, its sender says.
    """
    product, version = product_and_version(build)
    return replace(
        run, column=build or None, product=product if version else None, version=version or build or None
    )
