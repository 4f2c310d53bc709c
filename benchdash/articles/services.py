"""Writing articles. Every change is in the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.articles.addresses import checked_query
from benchdash.articles.models import Article, Block

MAX_BLOCKS: Final = 12
MAX_PROSE: Final = 20_000
MAX_TEXT: Final = 5_000
# Addresses beside those of articles.
_RESERVED: Final = frozenset({"add"})


class ArticleError(Exception):
    """A change that cannot be made, with a sentence that says why."""


@dataclass(frozen=True)
class NewBlock:
    """A view to save. ``query`` is checked when it is saved, which raises AddressError."""

    page: str
    query: str
    heading: str = ""
    text: str = ""


@transaction.atomic
def create_article(
    project: Project, *, title: str, prose: str = "", blocks: Sequence[NewBlock] = (), by: Viewer
) -> Article:
    """Create an article with its views. Raises AddressError and ArticleError."""
    article = Article.objects.create(
        project=project, slug=_free_slug(project, title), title=title, prose=prose, created_by=by.user
    )
    _append(article, blocks)
    audit(project, by, "article created", str(article), detail={"address": article.slug})
    return article


@transaction.atomic
def change_article(article: Article, changes: Mapping[str, str], *, by: Viewer) -> None:
    """Set title or prose. The address stays."""
    changed = {name: value for name, value in changes.items() if getattr(article, name) != value}
    if changed:
        _set(article, **changed)
        _touch(article, by, "article changed", {"changed": list(changed)})


@transaction.atomic
def delete_article(article: Article, *, by: Viewer) -> None:
    """Delete an article so that it can be put back; its address is never given to another."""
    _set(article, deleted_at=timezone.now())
    _touch(article, by, "article deleted")


@transaction.atomic
def restore_article(article: Article, *, by: Viewer) -> None:
    _set(article, deleted_at=None)
    _touch(article, by, "article put back")


# --- blocks -------------------------------------------------------------------------------------------------


@transaction.atomic
def add_block(article: Article, block: NewBlock, *, by: Viewer) -> Block:
    """Add a view at the end. Raises AddressError and ArticleError."""
    _hold(article)
    [added] = _append(article, [block])
    _touch(article, by, "article changed", {"added": str(added)})
    return added


@transaction.atomic
def replace_blocks(article: Article, blocks: Sequence[NewBlock], *, by: Viewer) -> None:
    """Replace all views; those that it had can be put back. Raises AddressError and ArticleError."""
    _hold(article)
    article.blocks.filter(deleted_at=None).update(deleted_at=timezone.now())
    _append(article, blocks)
    _touch(article, by, "article changed", {"blocks": len(blocks)})


@transaction.atomic
def change_block(block: Block, *, heading: str, text: str, by: Viewer) -> None:
    _set(block, heading=heading, text=text)
    _touch(block.article, by, "article changed", {"block": str(block)})


@transaction.atomic
def confirm_block(block: Block, *, by: Viewer) -> None:
    """Note that somebody looked at what the block shows now: it is the state of today."""
    _set(block, saved_at=timezone.now())
    _touch(block.article, by, "article changed", {"looked at": str(block)})


@transaction.atomic
def move_block(block: Block, *, up: bool, by: Viewer) -> None:
    """Let a block change its place with its neighbour; at the end, nothing happens."""
    _hold(block.article)
    in_order = list(block.article.blocks.filter(deleted_at=None))
    if block not in in_order:
        return
    at = in_order.index(block)
    to = at - 1 if up else at + 1
    if not 0 <= to < len(in_order):
        return
    in_order[at], in_order[to] = in_order[to], in_order[at]
    for position, one in enumerate(in_order, 1):
        one.position = position
    Block.objects.bulk_update(in_order, ["position"])
    _touch(block.article, by, "article changed", {"moved": str(block)})


@transaction.atomic
def remove_block(block: Block, *, by: Viewer) -> None:
    """Remove a block so that it can be put back."""
    _set(block, deleted_at=timezone.now())
    _touch(block.article, by, "article changed", {"removed": str(block)})


@transaction.atomic
def restore_block(block: Block, *, by: Viewer) -> None:
    """Put a block back at its old place. Raises ArticleError."""
    _hold(block.article)
    _require_room(block.article, 1)
    _set(block, deleted_at=None)
    _touch(block.article, by, "article changed", {"put back": str(block)})


def _set(row: Article | Block, **values: object) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))


def _append(article: Article, blocks: Sequence[NewBlock]) -> list[Block]:
    _require_room(article, len(blocks))
    last = article.blocks.order_by("-position").values_list("position", flat=True).first() or 0
    return Block.objects.bulk_create(
        Block(
            article=article,
            position=last + number,
            heading=block.heading,
            text=block.text,
            page=block.page,
            query=checked_query(block.page, block.query),
        )
        for number, block in enumerate(blocks, 1)
    )


def _require_room(article: Article, more: int) -> None:
    if article.blocks.filter(deleted_at=None).count() + more > MAX_BLOCKS:
        raise ArticleError(f"an article has at most {MAX_BLOCKS} views")


def _hold(article: Article) -> None:
    # Two members may add the last view at once: the second one waits here, and is refused.
    Article.objects.select_for_update().get(pk=article.pk)


def _touch(article: Article, by: Viewer, action: str, detail: Mapping[str, object] | None = None) -> None:
    article.changed_at = timezone.now()
    article.save(update_fields=["changed_at"])
    audit(article.project, by, action, str(article), detail=detail)


def _free_slug(project: Project, title: str) -> str:
    # Two articles of one title at once: the second one waits for the first.
    Project.objects.select_for_update().get(pk=project.pk)
    wanted = slugify(title)[:70].strip("-_") or "article"
    taken = set(project.articles.filter(slug__startswith=wanted).values_list("slug", flat=True)) | _RESERVED
    return next(
        slug
        for slug in (wanted, *(f"{wanted}-{number}" for number in range(2, len(taken) + 3)))
        if slug not in taken
    )
