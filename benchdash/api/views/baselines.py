"""The baselines of branches: what the matrix of nights holds a branch against."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project, Scope
from benchdash.answers.baselines import BaselineSerializer
from benchdash.api.requests import BaselineChange, BaselineRequest
from benchdash.api.views.base import RowsView
from benchdash.regressions.comparison.branch_table import find_branch, place_of
from benchdash.regressions.comparison.columns import Selector, find_column
from benchdash.rest import parameters
from benchdash.rest.parameters import BooleanFilter, Filter, NamedFilter
from benchdash.results.baselines import BaselineError, Target, set_baseline
from benchdash.results.models import Baseline, Configuration, Hardware, Product, ServerVersion
from benchdash.results.place import Place

_AT_PLACE = ("project", "product", "build", "branch", "hardware", "configuration", "counterpart")
_NEWER = Baseline.objects.filter(pk__gt=OuterRef("pk"), **{name: OuterRef(name) for name in _AT_PLACE})
_NAMED = ("product", "build", "hardware", "configuration", "counterpart")


@extend_schema_view(
    list=extend_schema(
        summary="List baselines",
        description="What branches are or were held against, newest first: of a place the first is in force.",
    ),
    retrieve=extend_schema(summary="Read a baseline", description="What a branch is or was held against."),
)
class BaselineViews(RowsView):
    queryset = Baseline.objects.select_related(
        *("project", "product", "hardware", "configuration", "version", "set_by")
    ).annotate(in_force=~Exists(_NEWER))
    serializer_class = BaselineSerializer
    order = ("-set_at", "-pk")
    filters = (
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        NamedFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        Filter("branch", "branch", "a branch"),
        BooleanFilter("in_force", "in_force", "only those in force, or only former ones"),
    )

    @extend_schema(summary="Set a baseline", request=BaselineRequest, responses={201: BaselineSerializer})
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Hold a branch at a place against a `commit` of its own or a released `version` from now on.

        The place may be left out where the branch was measured in one only. Needs the scope `triage`.
        """
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(BaselineRequest)
        place = {name: sent[name] for name in _NAMED if sent.get(name)}
        branch = place_of(find_branch(project, sent["branch"], place))
        return Response(self._set(project, branch, sent), status=status.HTTP_201_CREATED)

    @extend_schema(summary="Move a baseline", request=BaselineChange, responses=BaselineSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Hold the branch against something else from now on: a new baseline. Needs the scope `triage`."""
        found = self._to_change()
        return Response(self._set(found.project, _place(found), self.sent(BaselineChange)))

    @extend_schema(
        summary="End a baseline",
        parameters=[OpenApiParameter("reason", OpenApiTypes.STR, required=True, description="why")],
    )
    def destroy(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """From now on the branch is held against nothing that was chosen. Needs the scope `triage`."""
        found = self._to_change()
        self._move(_place(found), None, parameters.required_text(request, "reason"))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _to_change(self) -> Baseline:
        found: Baseline = self.get_object()
        self.require(Scope.TRIAGE, found.project)
        if not getattr(found, "in_force", False):
            raise parameters.refuse("", "this baseline is no longer in force")
        return found

    def _set(self, project: Project, place: Place, sent: Mapping[str, Any]) -> Any:
        target = _target(project, place, sent)
        baseline = self._move(place, target, sent["reason"])
        return self.get_serializer(self.get_queryset().get(pk=baseline.pk)).data

    def _move(self, place: Place, target: Target | None, reason: str) -> Baseline:
        try:
            return set_baseline(place, target, by=self.viewer, reason=reason)
        except BaselineError as error:
            raise parameters.refuse("reason" if "reason" in str(error) else "", str(error)) from None


def _place(baseline: Baseline) -> Place:
    at = {
        f"{name}_id": getattr(baseline, f"{name}_id")
        for name in ("project", "product", "hardware", "configuration")
    }
    return Place(
        **at,
        build=baseline.build,
        branch=baseline.branch,
        line="",
        counterpart=baseline.counterpart,
    )


def _target(project: Project, place: Place, sent: Mapping[str, Any]) -> Target:
    """Return what is to be the baseline. Raises SelectorError, and rest_framework's ValidationError."""
    if bool(sent.get("commit")) == bool(sent.get("version")):
        raise parameters.refuse("version", "say a commit of the branch or a released version")
    field = "commit" if sent.get("commit") else "version"
    commit, version = sent.get("commit"), sent.get("version")
    selector = Selector(
        product=Product.objects.get(pk=place.product_id).name,
        build=place.build,
        branch=place.branch if field == "commit" else "",
        hardware=Hardware.objects.get(pk=place.hardware_id).name,
        configuration=Configuration.objects.get(pk=place.configuration_id).name,
        counterpart=place.counterpart,
        commit=parameters.commit(field, commit) if commit else None,
        version=version or None,
    )
    found = find_column(project, selector, field=field)
    row = ServerVersion.objects.get(pk=found.version.pk)
    return Target(version=row, branch_group=field == "commit")
