"""Reading articles."""

from collections.abc import Sequence

from django.db.models import Count, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.articles.addresses import runs_of
from benchdash.articles.models import Article, Block
from benchdash.results.models import Run


def articles_of(project: Project) -> QuerySet[Article]:
    """List the articles, last changed first, with the number of their blocks as ``size``."""
    live = Article.objects.filter(project=project, deleted_at=None)
    size = Count("blocks", filter=Q(blocks__deleted_at=None))
    return live.annotate(size=size).order_by("-changed_at", "-pk")


def deleted_articles(project: Project) -> QuerySet[Article]:
    return Article.objects.filter(project=project).exclude(deleted_at=None).order_by("-deleted_at", "-pk")


def blocks_of(article: Article) -> Sequence[Block]:
    return list(article.blocks.filter(deleted_at=None))


def deleted_blocks(article: Article) -> Sequence[Block]:
    return list(article.blocks.exclude(deleted_at=None))


def runs_since(project: Project, block: Block) -> int:
    """Count the runs of what the block shows that were recorded after it was saved."""
    runs = Run.objects.filter(
        runs_of(block.page, block.query),
        project=project,
        recorded_at__gt=block.saved_at,
        excluded_at=None,
    )
    return runs.distinct().count()
