"""What all views of the API begin with: who asks, and which projects exist for them."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils.functional import cached_property
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotAuthenticated
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import GenericAPIView, ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.views import APIView

from benchdash.accounts.access import Viewer, viewer_of
from benchdash.accounts.models import Project
from benchdash.api import parameters
from benchdash.api.pagination import Pages
from benchdash.api.parameters import Filter, Filters
from benchdash.api.throttling import AnonymousThrottle

M = TypeVar("M", bound=Model)

PROJECT = OpenApiParameter(
    "project", OpenApiTypes.STR, description="the slug of a project; by default that of the token"
)


class View(APIView):
    throttle_classes = [AnonymousThrottle]

    @cached_property
    def viewer(self) -> Viewer:
        return viewer_of(self.request)

    def project(self, slug: str = "") -> Project:
        """The project of this slug, or of the parameter ``project``, or else the token's.

        Raises NotVisible.
        """
        slug = slug or parameters.text(self.request, "project") or ""
        if slug:
            return self.viewer.project(slug)
        if self.viewer.token:
            return self.viewer.token.project
        raise parameters.refuse("project", "this is required")

    def require(self, scope: str, project: Project) -> None:
        """Raises NotAllowed, or NotAuthenticated where nobody knows who asks."""
        if self.viewer.is_anonymous:
            raise NotAuthenticated
        self.viewer.require(scope, project)


class ProjectFilter(BaseFilterBackend):
    """``?project=`` of a list."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        slug = parameters.text(request, "project")
        if not slug:
            return queryset
        return queryset.filter(**{_project_field(view): viewer_of(request).project(slug).pk})

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:  # noqa: ARG002 - DRF calls it so
        about = "the slug of a project; everything that you may see where it is left out"
        return [
            {
                "name": "project",
                "in": "query",
                "required": False,
                "description": about,
                "schema": {"type": "string"},
            }
        ]


def _project_field(view: APIView) -> str:
    field: str = getattr(view, "project_field", "project")
    return field


class RowsView(View, GenericAPIView[M]):
    """Rows of the projects that exist for the viewer; all others do not exist either."""

    project_field = "project"

    def get_queryset(self) -> QuerySet[M]:
        return super().get_queryset().filter(**{f"{self.project_field}__in": self.viewer.projects()})


class ListView(RowsView[M], ListAPIView[M]):
    """``order`` as Pages wants it; ``filters`` are the parameters that choose among the rows."""

    pagination_class = Pages
    filter_backends = [ProjectFilter, Filters]
    order: tuple[str, ...] = ("pk",)
    filters: tuple[Filter, ...] = ()


class RowView(RowsView[M], RetrieveAPIView[M]):
    pass
