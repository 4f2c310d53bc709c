"""Markdown that people send: formatted, but with no HTML of their own, no pictures and no headings."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from django.utils.html import escape, urlize
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINKED: Final = frozenset({"http", "https", "mailto"})


class _Comments(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - markdown-it calls it so
        """Tell whether a link may lead there. What is no link stays text."""
        try:
            return urlsplit(url).scheme.lower() in _LINKED
        except ValueError:
            return False


_markdown: Final = _Comments("commonmark", {"html": False, "breaks": True})
# An incident has headings of its own, and browsers would ask strangers for pictures.
_markdown.disable(["heading", "lheading", "html_block", "html_inline", "image"])


def comment_html(text: str) -> SafeString:
    """Return a comment as HTML; a line break stays one, and an address becomes a link."""
    return mark_safe(str(_markdown.render(text)))  # noqa: S308 - the renderer escapes what was sent


def _text(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    is_linked = sum(token.nesting for token in tokens[:index] if token.type.startswith("link_"))
    content = tokens[index].content
    return str(escape(content) if is_linked else urlize(content, nofollow=True, autoescape=True))


def _link(renderer: Any, tokens: Sequence[Token], index: int, options: Any, _env: Any) -> str:
    tokens[index].attrSet("rel", "nofollow")
    return str(renderer.renderToken(tokens, index, options, {}))


_markdown.add_render_rule("text", _text)
_markdown.add_render_rule("link_open", _link)
