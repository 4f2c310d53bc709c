"""Articles: saved comparisons with their prose."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Prefetch, Q, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchdash.accounts.models import Scope
from benchdash.answers.articles import ArticleDetailSerializer, ArticleSerializer
from benchdash.api.requests import ArticleChange, ArticleRequest
from benchdash.api.views.base import RowsView
from benchdash.articles import services
from benchdash.articles.addresses import AddressError
from benchdash.articles.models import Article, Block
from benchdash.articles.services import ArticleError, NewBlock
from benchdash.rest import parameters


@extend_schema_view(
    list=extend_schema(summary="List articles", description="Saved comparisons, the last changed first."),
    retrieve=extend_schema(
        summary="Read an article",
        description="An article with its views. `answers` of a view give the numbers that it shows.",
    ),
)
class ArticleViews(RowsView):
    is_relative = True
    queryset = Article.objects.filter(deleted_at=None).select_related("project")
    order = ("-changed_at", "-pk")

    def get_queryset(self) -> QuerySet[Any]:
        articles: QuerySet[Any] = super().get_queryset()
        if self.action == "list":
            sizes: QuerySet[Any] = articles.annotate(size=Count("blocks", filter=Q(blocks__deleted_at=None)))
            return sizes
        live = Block.objects.filter(deleted_at=None)
        return articles.prefetch_related(Prefetch("blocks", queryset=live, to_attr="live_blocks"))

    def get_serializer_class(self) -> type[Serializer[Article]]:
        return ArticleSerializer if self.action == "list" else ArticleDetailSerializer

    @extend_schema(
        summary="Write an article", request=ArticleRequest, responses={201: ArticleDetailSerializer}
    )
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. Each view is the address of a page that names what it compares."""
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(ArticleRequest)
        try:
            article = services.create_article(
                project,
                title=sent["title"],
                prose=sent["prose"],
                blocks=_blocks(sent["blocks"]),
                by=self.viewer,
            )
        except (AddressError, ArticleError) as error:
            raise parameters.refuse("blocks", str(error)) from None
        return self._answer(article, status.HTTP_201_CREATED)

    @extend_schema(summary="Change an article", request=ArticleChange, responses=ArticleDetailSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. What is left out stays; `blocks` take the place of all views."""
        article = self._to_write()
        sent = self.sent(ArticleChange)
        words = {name: sent[name] for name in ("title", "prose") if name in sent}
        try:
            with transaction.atomic():
                services.change_article(article, words, by=self.viewer)
                if "blocks" in sent:
                    services.replace_blocks(article, _blocks(sent["blocks"]), by=self.viewer)
        except (AddressError, ArticleError) as error:
            raise parameters.refuse("blocks", str(error)) from None
        return self._answer(article, status.HTTP_200_OK)

    @extend_schema(summary="Delete an article")
    def destroy(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. Members can put it back from the list of articles."""
        services.delete_article(self._to_write(), by=self.viewer)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _to_write(self) -> Article:
        article: Article = self.get_object()
        self.require(Scope.TRIAGE, article.project)
        return article

    def _answer(self, article: Article, code: int) -> Response:
        return Response(self.get_serializer(self.get_queryset().get(pk=article.pk)).data, status=code)


def _blocks(sent: list[dict[str, str]]) -> list[NewBlock]:
    return [NewBlock(**block) for block in sent]
