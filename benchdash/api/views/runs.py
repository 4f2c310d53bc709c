"""Runs, their interval samples, and excluding them from points."""

from functools import partial
from typing import Any

from django.db.models import Q, QuerySet
from django.http.response import HttpResponseBase
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchdash.answers.catalogue import corrected
from benchdash.answers.runs import (
    SAMPLES_BY_SOURCE,
    RunDetailSerializer,
    RunSerializer,
    samples_by_source,
)
from benchdash.api.requests import ExclusionRequest
from benchdash.api.views.base import FORMAT, PREVIEW, CorrectableView, csv_answer
from benchdash.rest import parameters
from benchdash.rest.parameters import (
    BooleanFilter,
    CommitFilter,
    Filter,
    IdFilter,
    NamedFilter,
    TagFilter,
    ThreadsFilter,
    VersionFilter,
)
from benchdash.results import corrections
from benchdash.results.models import Configuration, Hardware, IntervalSamples, Product, Run, Workload
from benchdash.results.pull_requests import of_pull_requests
from ingest.queries import sent_by

_SOURCE = OpenApiParameter("source", OpenApiTypes.STR, description="one of the sources, such as `sysbench`")


@extend_schema_view(
    list=extend_schema(
        summary="List runs",
        description="Runs, latest start first; excluded ones too. Those of pull requests are listed by "
        "`branch`, `commit`, `version_id` or `upload`.",
    ),
    retrieve=extend_schema(summary="Read a run", description="All that is known of a run."),
)
class RunViews(CorrectableView):
    queryset = Run.objects.select_related(
        "project", "version__product", "hardware", "configuration", "workload"
    )
    order = ("-started_at", "-pk")
    left_out = of_pull_requests()
    unless_asked_by = ("branch", "commit", "version_id", "upload")
    filters = (
        NamedFilter("product", "version__product", "the name of a product, or an old one", model=Product),
        VersionFilter("version", "version__version", "the text of a version"),
        IdFilter("version_id", "version", "the id of a version"),
        Filter("build", "version__build", "a build; empty: versions without one", empty_counts=True),
        CommitFilter("commit", "version__commit", "a commit, or at least 7 digits of its beginning"),
        Filter("branch", "branch", "a branch; empty: releases", empty_counts=True),
        NamedFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        NamedFilter("configuration", "configuration", "the name of a configuration", model=Configuration),
        Filter("counterpart", "counterpart", "the other side of a run; empty: none", empty_counts=True),
        NamedFilter("workload", "workload", "the name of a workload, or an old one", model=Workload),
        ThreadsFilter("threads", "threads", "a thread count, or `null`: nobody said"),
        TagFilter("tag", "tags", "a tag"),
        IdFilter("upload", "upload_id", "the id of an upload"),
        BooleanFilter("included", "excluded_at__isnull", "false: those left out of points"),
    )

    def get_queryset(self) -> QuerySet[Any]:
        runs = super().get_queryset()
        return runs if self.action == "list" else runs.select_related("environment", "content")

    def visible(self) -> Q:
        """Select what the viewer sees: a token with the scope `upload` alone, the runs that it sent."""
        token = self.viewer.sending_token
        if token is None:
            return super().visible()
        slug, sent = parameters.text(self.request, "project"), Q(upload_id__in=sent_by(token).values("pk"))
        if slug == token.project.slug:
            return sent
        return super().visible() if slug else super().visible() | sent

    def get_serializer_class(self) -> type[Serializer[Run]]:
        return RunSerializer if self.action == "list" else RunDetailSerializer

    @extend_schema(
        summary="Exclude or restore a run",
        parameters=[PREVIEW],
        request=ExclusionRequest,
        responses=corrected(RunDetailSerializer),
    )
    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. An excluded run stays listed, and counts in no point and no analysis."""
        run = self.row_to_correct()
        sent = self.sent(ExclusionRequest)
        change = corrections.exclude_run if sent["excluded"] else corrections.restore_run
        reason = sent["reason"] or ("a preview" if self.is_preview(sent) else "")
        correction = partial(change, run, by=self.viewer, reason=reason)
        return self.correct(run, correction, sent=sent, field="reason")

    @extend_schema(
        summary="Read the interval samples of a run",
        parameters=[_SOURCE, FORMAT],
        responses={(200, "application/json"): SAMPLES_BY_SOURCE, (200, "text/csv"): OpenApiTypes.STR},
        filters=False,
    )
    @action(detail=True)
    def intervals(self, request: Request, pk: int) -> HttpResponseBase:
        """Return what tools printed during the run: one table for each source, or of one `source`.

        As CSV, which is one table, the source is required where there are several.
        """
        as_csv = parameters.wants_csv(request)
        source = parameters.text(request, "source")
        tables = IntervalSamples.objects.filter(run=self.get_object()).order_by("source")
        found = [table for table in tables if source in (None, table.source)]
        if source and not found:
            raise parameters.refuse("source", f"the run has no samples of '{source}'")
        if not as_csv:
            return Response(samples_by_source(found))
        if len(found) != 1:
            known = ", ".join(f"'{table.source}'" for table in found)
            raise parameters.refuse(
                "source", f"say which, for CSV: {known}" if known else "the run has no samples"
            )
        name = f"run-{pk}-{slugify(found[0].source) or 'samples'}"
        return csv_answer(name, found[0].columns, found[0].rows)
