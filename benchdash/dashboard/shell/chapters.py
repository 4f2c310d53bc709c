"""Chapters of the documentation as parts of a page: Markdown made HTML."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_PARAGRAPHS: Final = (
    *("verdicts", "same", "difference", "likely", "unknown", "sessions", "copies", "control", "pairs"),
    *("noise", "confirmed", "drift", "suspected", "withdrawn", "historical", "expected-range", "confidence"),
    *("incidents", "headline", "cause", "release-lines", "branches", "counts"),
)
# By the word of a verdict, a state or a kind of noise: the paragraph of docs/statistics.md that explains it.
EXPLAINED_AT: Final[Mapping[str, str]] = {
    **{paragraph: paragraph for paragraph in _PARAGRAPHS},
    **dict.fromkeys(("better", "worse", "regression", "improvement"), "difference"),
    **dict.fromkeys(("likely_better", "likely_worse"), "likely"),
    **dict.fromkeys(("environment", "silence"), "incidents"),
}
# Paragraphs that pages lead to are marked in the text, so that a heading may change.
_MARK: Final = re.compile(r'<a id="([\w-]+)"></a>')
_PICTURE: Final = re.compile(r'(?<=")images/([\w-]+\.png)(?=")')
_markdown: Final = MarkdownIt("commonmark").enable("table")
_markdown.add_render_rule("table_open", lambda *_: '<div class="table-box"><table class="data dense">')
_markdown.add_render_rule("table_close", lambda *_: "</table></div>")


@dataclass(frozen=True)
class Heading:
    """A heading of the second or third level, and the anchor that leads to it."""

    text: str
    anchor: str
    level: int


@dataclass(frozen=True)
class Chapter:
    title: str
    headings: Sequence[Heading]
    body: SafeString


def chapter_of(text: str) -> Chapter:
    """Return a chapter that we wrote ourselves: its HTML is let through, its first line is its title."""
    tokens = _markdown.parse(text)
    title, body = tokens[1].content, tokens[3:]
    marks = set(_MARK.findall(text))
    headings = []
    for opening, inline in pairwise(body):
        if opening.type == "heading_open":
            heading = Heading(inline.content, _anchor(inline.content), int(opening.tag[1:]))
            if heading.level < 4:
                headings.append(heading)
            if heading.anchor not in marks:
                opening.attrSet("id", heading.anchor)
    html = _markdown.renderer.render(body, _markdown.options, {})
    html = _PICTURE.sub(lambda found: static(f"docs/{found[1]}"), html)
    return Chapter(title, headings, mark_safe(html))  # noqa: S308 - no part of it was sent by anyone


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
