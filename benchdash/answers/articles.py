"""Articles: saved comparisons with their views."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId, ViewQuery, absolute
from benchdash.articles.addresses import PAGES
from benchdash.articles.models import Article, Block
from benchdash.articles.queries import runs_since
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison.columns import Selector, columns_of, id_at
from benchdash.results.catalogue import workload_names
from benchdash.results.models import Series


class ArticleSerializer(serializers.Serializer[Any]):
    """``size`` is the number of its views, ``url`` the page for people."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    slug = serializers.CharField()
    title = serializers.CharField()
    prose = serializers.CharField()
    url = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()
    size = serializers.IntegerField()

    def get_url(self, article: Article) -> str:
        return absolute("dashboard:article", article.project.slug, article.slug)


class BlockSerializer(serializers.Serializer[Any]):
    """``url`` is the page of the view, ``answers`` the addresses of its numbers.

    ``runs_since`` is how many runs of what it shows were recorded after ``saved_at``.
    """

    id = serializers.IntegerField()
    heading = serializers.CharField()
    text = serializers.CharField()
    page = serializers.CharField()
    query = serializers.CharField()
    url = serializers.SerializerMethodField()
    answers = serializers.SerializerMethodField()
    saved_at = serializers.DateTimeField()
    runs_since = serializers.SerializerMethodField()

    def get_url(self, block: Block) -> str:
        project: Project = self.context["project"]
        return f"{absolute(f'dashboard:{block.page}', project.slug)}?{block.query}"

    def get_answers(self, block: Block) -> list[str]:
        numbers: list[str] = self.context["numbers"][block.pk]
        return numbers

    def get_runs_since(self, block: Block) -> int:
        return runs_since(self.context["project"], block)


class ArticleDetailSerializer(ArticleSerializer):
    size = serializers.SerializerMethodField()  # type: ignore[assignment]
    blocks = serializers.SerializerMethodField()

    def get_size(self, article: Article) -> int:
        return len(article.live_blocks)  # type: ignore[attr-defined]

    @extend_schema_field(BlockSerializer(many=True))
    def get_blocks(self, article: Article) -> Any:
        blocks: list[Block] = article.live_blocks  # type: ignore[attr-defined]
        numbers = _numbers(article.project, blocks)
        context = {**self.context, "project": article.project, "numbers": numbers}
        return BlockSerializer(blocks, many=True, context=context).data


_ANSWERS: Final = {"sweep": "sweep", "pair": "difference", "latency": "latency", "curves": "curves"}


def _numbers(project: Project, blocks: Sequence[Block]) -> dict[int, list[str]]:
    """Return the addresses of the numbers of each view, without what is gone; a few statements for all."""
    queries = {block: PAGES[block.page].query.of(block.query) for block in blocks}
    workloads = workload_names(project, [text for one in queries.values() for text in one.workloads])
    texts = {text for one in queries.values() for text in (*one.versions, one.base, one.against)}
    there = [id_at(one.version.pk, one) for one in columns_of(project, Selector())]
    ids = {text: column for text in texts if (column := ColumnId.of(text))}
    series = Series.objects.filter(
        project=project, pk__in=ids_in(text for one in queries.values() for text in one.series)
    )
    lines = set(series.values_list("pk", flat=True))
    columns = {text for text, column in ids.items() if any(map(column.fits, there))}

    def of_view(page: str, query: ViewQuery) -> list[str]:
        if page == "history":
            return [absolute("api:series-points", pk) for pk in ids_in(query.series) if pk in lines]
        query = replace(query, workloads=tuple(workloads.get(text, text) for text in query.workloads))
        if page == "pair" and not (query.runs or {query.base, query.against} <= columns):
            return []
        if page not in ("pair", "sweep"):
            chosen = tuple(text for text in query.versions if text in columns)
            if not chosen:
                return []
            query = replace(query, versions=chosen, base=query.base if query.base in columns else chosen[0])
        if page != "curves":
            query = query.without("from").without("to")
        of_metrics = [(one,) for one in query.metrics] if page not in ("pair", "latency") else [()]
        name = _ANSWERS.get(page, "compare")
        paths = (replace(query, metrics=metrics).numbers(project, name) for metrics in of_metrics)
        return [f"{settings.SITE_URL}{path}" for path in paths]

    return {block.pk: of_view(block.page, query) for block, query in queries.items()}
