"""The base of all views of the API: who asks, and which projects exist for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse
from django.utils.functional import cached_property
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet

from benchdash.accounts.models import Project, Scope
from benchdash.rest import parameters
from benchdash.rest.pagination import Pages
from benchdash.rest.parameters import Filter, Filters
from benchdash.rest.views import ApiView, OneRenderer
from benchdash.results.corrections import CorrectionError, Effect
from benchdash.results.csv_text import csv_text

PROJECT = OpenApiParameter(
    "project", OpenApiTypes.STR, description="the slug of a project; by default that of the token"
)
PREVIEW = OpenApiParameter(
    "preview", OpenApiTypes.BOOL, description="say what would change, and change nothing; as in the body"
)
FORMAT = OpenApiParameter("format", OpenApiTypes.STR, enum=["json", "csv"], default="json")


class View(ApiView):
    content_negotiation_class = OneRenderer
    common_parameters = ("project",)

    # It answers with ratios alone, and with no figure, to those who may see no more.
    is_relative = False

    @cached_property
    def member_projects(self) -> frozenset[int]:
        """Return the ids of the projects of which the viewer is a member."""
        return self.viewer.project_ids(Scope.READ)

    def project(self, slug: str = "") -> Project:
        """Return the project of this slug, or of the parameter ``project``, or else the token's.

        Raises NotVisible, or NotAllowed for a token that does not read its own, and for others than members
        where absolute figures are for these.
        """
        return self.viewer.project(self.slug(slug), relative=self.is_relative)

    def project_to_change(self, scope: str) -> Project:
        """Return the project that body or address names; asked before anything is said of the body.

        Raises NotVisible, or NotAllowed without the scope.
        """
        project = self.named_project()
        self.require(scope, project)
        return project

    def named_project(self) -> Project:
        """Return the project that body or address names. Raises NotVisible."""
        body = self.request.data
        slug = body.get("project") if isinstance(body, Mapping) else None
        return self.project(slug.replace("\0", "") if isinstance(slug, str) else "")

    def slug(self, slug: str = "") -> str:
        """Return the slug, or the parameter ``project``, or else the slug of the token's project."""
        token = self.viewer.token
        slug = slug or parameters.text(self.request, "project") or (token.project.slug if token else "")
        if not slug:
            raise parameters.refuse("project", "this is required")
        return slug

    def require(self, scope: str, project: Project) -> None:
        """Raise NotAllowed without the scope."""
        self.viewer.require(scope, project)

    def sent(self, serializer: type[Serializer[Any]]) -> Mapping[str, Any]:
        """Return the body of the request. Raises rest_framework's ValidationError."""
        body = serializer(data=self.request.data)
        body.is_valid(raise_exception=True)
        values: Mapping[str, Any] = body.validated_data
        return values


class RowsView(View, ListModelMixin, RetrieveModelMixin, GenericViewSet[Any]):
    """Rows of the projects that exist for the viewer; all others do not exist either.

    ``order`` of a list is what Pages wants; ``filters`` are the parameters that choose among its rows.
    A list does not have what is ``left_out``, unless one of the parameters ``unless_asked_by`` is sent.
    """

    lookup_value_converter = "int"
    pagination_class = Pages
    filter_backends = [Filters]
    project_field = "project"
    order: tuple[str, ...] = ("pk",)
    filters: tuple[Filter, ...] = ()
    left_out: Q | None = None
    unless_asked_by: tuple[str, ...] = ()

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found: QuerySet[Any] = super().filter_queryset(queryset)
        is_asked_for = any(name in self.request.query_params for name in self.unless_asked_by)
        if self.action != "list" or self.left_out is None or is_asked_for:
            return found
        return found.exclude(self.left_out)

    def get_queryset(self) -> QuerySet[Any]:
        return super().get_queryset().filter(self.visible())

    def visible(self) -> Q:
        """Select the rows that exist for the viewer, in the project that is asked for or in all."""
        if slug := parameters.text(self.request, "project"):
            return Q(**{self.project_field: self.project(slug).pk})
        return Q(**{f"{self.project_field}__in": self.viewer.projects(relative=self.is_relative)})


class CorrectableView(RowsView):
    """Rows that those may correct who triage."""

    def row_to_correct(self) -> Any:
        row: Any = self.get_object()
        self.require(Scope.TRIAGE, row.project)
        return row

    def is_preview(self, sent: Mapping[str, Any]) -> bool:
        asked = parameters.text(self.request, "preview")
        return parameters.boolean("preview", asked) if asked else bool(sent["preview"])

    def correct(
        self, row: Model, correction: Callable[[], Effect], *, sent: Mapping[str, Any], field: str
    ) -> Response:
        """Correct a row, and return it with the effect; a preview is the correction itself, undone.

        A correction that cannot be made is an error of ``field``.
        """
        preview = self.is_preview(sent)
        try:
            with transaction.atomic():
                effect = correction()
                corrected = self.get_serializer(self.get_queryset().get(pk=row.pk)).data
                transaction.set_rollback(preview)
        except CorrectionError as error:
            raise parameters.refuse(error.field or field, str(error)) from None
        return Response({**corrected, "preview": preview, "changes": asdict(effect)})


def csv_answer(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """Return a CSV file to download; without a byte order mark, as programs expect it."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(csv_text(columns, rows), content_type="text/csv; charset=utf-8", headers=headers)
