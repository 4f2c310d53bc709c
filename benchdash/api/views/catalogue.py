"""Projects, and what is named in them: products, versions, hardware, configurations, workloads."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import Model, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchdash.accounts.models import Project, Scope
from benchdash.accounts.services import change_project, create_project
from benchdash.answers.catalogue import (
    ConfigurationSerializer,
    HardwareSerializer,
    ProductSerializer,
    ProjectSerializer,
    VersionSerializer,
    WorkloadSerializer,
    corrected,
)
from benchdash.api.requests import MergeRequest, ProjectChange, ProjectRequest, RenameRequest, VersionRequest
from benchdash.api.views.base import PREVIEW, CorrectableView, RowsView
from benchdash.regressions.options import GATE_MEAN_MARGIN, GATE_ROW_MARGIN, HISTORICAL_AFTER_DAYS
from benchdash.rest import parameters
from benchdash.rest.parameters import CommitFilter, Filter, NamedFilter, VersionFilter
from benchdash.results import corrections
from benchdash.results.catalogue import is_only_of_pull_requests
from benchdash.results.corrections import VERSION_FACTS, Effect, correct_version
from benchdash.results.models import Alias, Configuration, Hardware, Product, ServerVersion, Workload
from benchdash.results.pull_requests import PULL_REQUEST_DAYS

_OPTIONS: Final = (PULL_REQUEST_DAYS, HISTORICAL_AFTER_DAYS, GATE_ROW_MARGIN, GATE_MEAN_MARGIN)
_NAME = Filter("name", "name", "the whole name")


def _things(
    one: str,
    many: str,
    answer: type[Serializer[Any]],
    *,
    order: str = "by name",
    request: type[Serializer[Any]] = RenameRequest,
) -> Callable[[type], type]:
    """Describe the views of a kind of things for the schema."""
    result = corrected(answer)
    described: Callable[[type], type] = extend_schema_view(
        list=extend_schema(
            summary=f"List {many}",
            description=f"{many.capitalize()} {order}, but those that only pull requests have.",
        ),
        retrieve=extend_schema(
            summary=f"Read a {one}", description=f"A {one}, and the old names by which uploads still find it."
        ),
        partial_update=extend_schema(
            summary=f"Correct a {one}", parameters=[PREVIEW], request=request, responses=result
        ),
        merge=extend_schema(
            summary=f"Merge a {one} into another",
            parameters=[PREVIEW],
            request=MergeRequest,
            responses=result,
        ),
    )
    return described


@extend_schema_view(
    list=extend_schema(summary="List projects", description="The projects that you may see."),
    retrieve=extend_schema(summary="Read a project", description="A project by its slug."),
)
class ProjectViews(RowsView):
    is_relative = True
    queryset = Project.objects.all()
    serializer_class = ProjectSerializer
    project_field = "pk"
    order = ("slug",)
    lookup_field = "slug"
    lookup_value_converter = "slug"

    @extend_schema(summary="Make a project", request=ProjectRequest, responses={201: ProjectSerializer})
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """For people who may make projects on the front page; who makes one is its admin. No token does."""
        self.viewer.require_may_make_projects()
        sent = self.sent(ProjectRequest)
        public = sent["visibility"] == Project.Visibility.PUBLIC
        made = create_project(sent["slug"], name=sent.get("name", ""), public=public, by=self.viewer)
        self.require(Scope.ADMIN, made)
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        summary="Change the settings of a project", request=ProjectChange, responses=ProjectSerializer
    )
    def partial_update(self, request: Request, slug: str) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `admin`."""
        found: Project = self.get_object()
        self.require(Scope.ADMIN, found)
        sent = self.sent(ProjectChange)
        with transaction.atomic():
            # Two may change different options at once.
            project = get_object_or_404(Project.objects.select_for_update(), pk=found.pk)
            change_project(project, _changes(project, sent), by=self.viewer)
        return Response(self.get_serializer(project).data)


def _changes(project: Project, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the project as they are wanted; an option that is null goes."""
    fields = {name: value for name, value in sent.items() if name not in _OPTIONS}
    options = project.options | {name: value for name, value in sent.items() if name in _OPTIONS}
    return {**fields, "options": {name: value for name, value in options.items() if value is not None}}


def _named(model: type[Model], link: str) -> QuerySet[Any]:
    """Read things with their old names; ``link`` leads from an alias to its thing."""
    old_names = Alias.objects.filter(**{link: OuterRef("pk")}).order_by("pk").values("name")
    things: QuerySet[Any] = model._default_manager.annotate(old_names=ArraySubquery(old_names))
    return things.select_related("project")


class _ThingViews(CorrectableView):
    is_relative = True
    order: tuple[str, ...] = ("name", "pk")
    filters: tuple[Filter, ...] = (_NAME,)
    unless_asked_by: tuple[str, ...] = ("name",)

    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. The old name stays as an alias, by which uploads still find it."""
        thing = self.row_to_correct()
        sent = self.sent(RenameRequest)
        rename = partial(corrections.rename, thing, sent["name"], by=self.viewer, reason=sent["reason"])
        return self.correct(thing, rename, sent=sent, field="name")

    @action(detail=True, methods=["post"])
    def merge(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. All that is of this one becomes part of the other, which is answered."""
        source = self.row_to_correct()
        sent = self.sent(MergeRequest)
        target = self.get_queryset().filter(project=source.project_id, pk=sent["into"]).first()
        if target is None:
            raise parameters.refuse("into", f"nothing of this kind in the project has the id {sent['into']}")
        merge = partial(corrections.merge, source, target, by=self.viewer, reason=sent["reason"])
        return self.correct(target, merge, sent=sent, field="into")


@_things("product", "products", ProductSerializer)
class ProductViews(_ThingViews):
    queryset = _named(Product, "product")
    serializer_class = ProductSerializer
    left_out = is_only_of_pull_requests("product")


@_things("machine", "hardware", HardwareSerializer)
class HardwareViews(_ThingViews):
    queryset = _named(Hardware, "hardware")
    serializer_class = HardwareSerializer
    left_out = is_only_of_pull_requests("hardware")


@_things("configuration", "configurations", ConfigurationSerializer)
class ConfigurationViews(_ThingViews):
    queryset = _named(Configuration, "configuration")
    serializer_class = ConfigurationSerializer
    left_out = is_only_of_pull_requests("configuration")


@_things("workload", "workloads", WorkloadSerializer)
class WorkloadViews(_ThingViews):
    queryset = _named(Workload, "workload")
    serializer_class = WorkloadSerializer
    left_out = is_only_of_pull_requests("workload")


@_things("version", "versions", VersionSerializer, order="by product, in their order", request=VersionRequest)
class VersionViews(_ThingViews):
    queryset = _named(ServerVersion, "version").select_related("project", "product")
    serializer_class = VersionSerializer
    left_out = is_only_of_pull_requests("version")
    unless_asked_by = ("commit",)
    order = ("product__name", "sort_key", "pk")
    filters = (
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        VersionFilter("version", "version", "the text of a version"),
        Filter("build", "build", "a build; empty: versions without one", empty_counts=True),
        CommitFilter("commit", "commit", "a commit, or at least 7 digits of its beginning"),
    )

    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. Renames, or corrects the commit, its time, the release, or the order."""
        version = self.row_to_correct()
        sent = self.sent(VersionRequest)
        facts = {name: sent[name] for name in VERSION_FACTS if name in sent}

        def correct() -> Effect:
            effect = Effect(0, 0, 0)
            if facts:
                effect = correct_version(version, facts, by=self.viewer, reason=sent["reason"])
            if "version" in sent:
                effect = corrections.rename(version, sent["version"], by=self.viewer, reason=sent["reason"])
            return effect

        return self.correct(version, correct, sent=sent, field="version" if "version" in sent else "commit")
