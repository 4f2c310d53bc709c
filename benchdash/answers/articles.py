"""Articles: saved comparisons with their views."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.accounts.models import Project
from benchdash.addresses import absolute
from benchdash.answers.article_numbers import addresses_of_numbers, names_of
from benchdash.articles.models import Article, Block
from benchdash.articles.queries import runs_since


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
        return addresses_of_numbers(self.context["project"], block, self.context["names"])

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
        names = names_of(article.project) if blocks else None
        context = {**self.context, "project": article.project, "names": names}
        return BlockSerializer(blocks, many=True, context=context).data
