"""What writes articles. Every change is in the audit log."""

from collections.abc import Iterable, Mapping, Sequence
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


def create_article(
    project: Project, *, title: str, prose: str = "", blocks: Sequence[NewBlock] = (), by: Viewer
) -> Article:
    """Raises AddressError and ArticleError."""
    with transaction.atomic():
        article = Article.objects.create(
            project=project,
            slug=_free_slug(project, title),
            title=title,
            prose=prose,
            created_by=by.user,
        )
        _append(article, blocks)
        audit(project, by, "article created", str(article), detail={"address": article.slug})
    return article


def change_article(article: Article, changes: Mapping[str, str], *, by: Viewer) -> None:
    """Set title or prose. The address stays."""
    changed = [name for name, value in changes.items() if getattr(article, name) != value]
    if not changed:
        return
    for name in changed:
        setattr(article, name, changes[name])
    with transaction.atomic():
        article.save(update_fields=changed)
        _touch(article, by, "article changed", {"changed": changed})


def delete_article(article: Article, *, by: Viewer) -> None:
    """It can be put back; its address is never given to another."""
    with transaction.atomic():
        article.deleted_at = timezone.now()
        article.save(update_fields=["deleted_at"])
        _touch(article, by, "article deleted")


def restore_article(article: Article, *, by: Viewer) -> None:
    with transaction.atomic():
        article.deleted_at = None
        article.save(update_fields=["deleted_at"])
        _touch(article, by, "article put back")


# --- blocks -------------------------------------------------------------------------------------------------


def add_block(article: Article, block: NewBlock, *, by: Viewer) -> Block:
    """Raises AddressError and ArticleError."""
    with transaction.atomic():
        _hold(article)
        [added] = _append(article, [block])
        _touch(article, by, "article changed", {"added": str(added)})
    return added


def replace_blocks(article: Article, blocks: Sequence[NewBlock], *, by: Viewer) -> None:
    """What it had can be put back. Raises AddressError and ArticleError."""
    with transaction.atomic():
        _hold(article)
        article.blocks.filter(deleted_at=None).update(deleted_at=timezone.now())
        _append(article, blocks)
        _touch(article, by, "article changed", {"blocks": len(blocks)})


def change_block(block: Block, *, heading: str, text: str, by: Viewer) -> None:
    with transaction.atomic():
        block.heading, block.text = heading, text
        block.save(update_fields=["heading", "text"])
        _touch(block.article, by, "article changed", {"block": str(block)})


def confirm_block(block: Block, *, by: Viewer) -> None:
    """Somebody looked at what the block shows now: it is the state of today."""
    with transaction.atomic():
        block.saved_at = timezone.now()
        block.save(update_fields=["saved_at"])
        _touch(block.article, by, "article changed", {"looked at": str(block)})


def move_block(block: Block, *, up: bool, by: Viewer) -> None:
    """Change its place with its neighbour; at the end, nothing happens."""
    with transaction.atomic():
        _hold(block.article)
        in_order = list(block.article.blocks.filter(deleted_at=None))
        at = next((index for index, one in enumerate(in_order) if one.pk == block.pk), None)
        to = None if at is None else at - 1 if up else at + 1
        if at is None or to is None or not 0 <= to < len(in_order):
            return
        in_order[at], in_order[to] = in_order[to], in_order[at]
        _number(in_order)
        _touch(block.article, by, "article changed", {"moved": str(block)})


def remove_block(block: Block, *, by: Viewer) -> None:
    """It can be put back."""
    with transaction.atomic():
        block.deleted_at = timezone.now()
        block.save(update_fields=["deleted_at"])
        _touch(block.article, by, "article changed", {"removed": str(block)})


def restore_block(block: Block, *, by: Viewer) -> None:
    """At its old place. Raises ArticleError."""
    with transaction.atomic():
        _hold(block.article)
        _require_room(block.article, 1)
        block.deleted_at = None
        block.save(update_fields=["deleted_at"])
        _touch(block.article, by, "article changed", {"put back": str(block)})


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


def _number(blocks: Iterable[Block]) -> None:
    for position, block in enumerate(blocks, 1):
        block.position = position
    Block.objects.bulk_update(blocks, ["position"])


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
