"""The views that an article may hold, drawn as their own pages draw them."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.template.loader import render_to_string

from benchdash.articles.models import Block
from benchdash.articles.queries import runs_since
from benchdash.dashboard.shell.contents import content_of, request_of
from benchdash.dashboard.shell.navigation import ROWS_OF_MATRIX, has_ratios, page_label, page_url
from benchdash.dashboard.shell.project_page import ProjectPage


@dataclass(frozen=True)
class ShownBlock:
    """``since`` is how many runs of what it shows came in after it was saved.

    ``content`` is empty where its page has nothing that the viewer may see.
    """

    block: Block
    label: str
    url: str
    content: str
    since: int


def shown_block(request: HttpRequest, page: ProjectPage, block: Block) -> ShownBlock:
    """Draw a block in the statements of its page and one more."""
    url, inner = block_url(page, block), request_of(request, page, block.page, block.query)
    content = ""
    if not page.is_relative or has_ratios(block.page):
        context = {**page.shared, "at": f"view-{block.pk}-", **content_of(inner, page)}
        name = "rows" if block.page in ROWS_OF_MATRIX else block.page
        content = render_to_string(f"dashboard/_{name}_content.html", context, inner)
    return ShownBlock(block, page_label(block.page), url, content, runs_since(page.project, block))


def block_url(page: ProjectPage, block: Block) -> str:
    return f"{page_url(block.page, page.project)}?{block.query}"
