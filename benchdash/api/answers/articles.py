"""Articles: saved comparisons with their views."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework.serializers import (
    CharField,
    DateTimeField,
    IntegerField,
    Serializer,
    SerializerMethodField,
)

from benchdash.accounts.models import Project
from benchdash.api.answers.article_numbers import addresses_of_numbers, names_of
from benchdash.api.answers.fields import address
from benchdash.articles.models import Article, Block
from benchdash.articles.queries import runs_since


class ArticleSerializer(Serializer[Any]):
    """``size`` is the number of its views, ``url`` the page for people."""

    id = IntegerField()
    project = CharField(source="project.slug")
    slug = CharField()
    title = CharField()
    prose = CharField()
    url = SerializerMethodField()
    created_at = DateTimeField()
    changed_at = DateTimeField()
    size = IntegerField()

    def get_url(self, article: Article) -> str:
        return address("dashboard:article", article.project.slug, article.slug)


class BlockSerializer(Serializer[Any]):
    """``url`` is the page of the view, ``answers`` the addresses of its numbers.

    ``runs_since`` is how many runs of what it shows were recorded after ``saved_at``.
    """

    id = IntegerField()
    heading = CharField()
    text = CharField()
    page = CharField()
    query = CharField()
    url = SerializerMethodField()
    answers = SerializerMethodField()
    saved_at = DateTimeField()
    runs_since = SerializerMethodField()

    def get_url(self, block: Block) -> str:
        project: Project = self.context["project"]
        return f"{address(f'dashboard:{block.page}', project.slug)}?{block.query}"

    def get_answers(self, block: Block) -> list[str]:
        return addresses_of_numbers(self.context["project"], block, self.context["names"])

    def get_runs_since(self, block: Block) -> int:
        return runs_since(self.context["project"], block)


class ArticleDetailSerializer(ArticleSerializer):
    size = SerializerMethodField()  # type: ignore[assignment]
    blocks = SerializerMethodField()

    def get_size(self, article: Article) -> int:
        return len(article.live_blocks)  # type: ignore[attr-defined]

    @extend_schema_field(BlockSerializer(many=True))
    def get_blocks(self, article: Article) -> Any:
        blocks: list[Block] = article.live_blocks  # type: ignore[attr-defined]
        names = names_of(article.project) if blocks else None
        context = {**self.context, "project": article.project, "names": names}
        return BlockSerializer(blocks, many=True, context=context).data
