"""Annotations of charts, and excluding or restoring several runs."""

from typing import TypeVar

from django.db import transaction
from django.db.models import Q
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project, Scope
from benchdash.answers.annotations import AnnotationSerializer, ExclusionsSerializer
from benchdash.api.requests import AnnotationRequest, ExclusionsRequest
from benchdash.api.views.base import RowsView, View
from benchdash.rest import parameters
from benchdash.rest.parameters import NamedFilter
from benchdash.results.annotations import annotate, remove_annotation
from benchdash.results.corrections import CorrectionError, exclude_runs, restore_runs
from benchdash.results.models import Annotation, Hardware, Product

_Named = TypeVar("_Named", Hardware, Product)


@extend_schema_view(
    list=extend_schema(
        summary="List annotations", description="What people wrote on charts, the latest moment first."
    ),
    retrieve=extend_schema(summary="Read an annotation", description="What somebody wrote on charts."),
)
class AnnotationViews(RowsView):
    queryset = Annotation.objects.select_related("project", "hardware", "product")
    serializer_class = AnnotationSerializer
    order = ("-at", "-pk")
    filters = (
        NamedFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
    )

    @extend_schema(
        summary="Annotate charts", request=AnnotationRequest, responses={201: AnnotationSerializer}
    )
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. `until` makes it a span; `hardware` and `product` say whose charts."""
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(AnnotationRequest)
        made = annotate(
            project,
            at=sent["at"],
            until=sent.get("until"),
            text=sent["text"],
            hardware=_known(Hardware, project, sent.get("hardware")),
            product=_known(Product, project, sent.get("product")),
            by=self.viewer,
        )
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(summary="Remove an annotation")
    def destroy(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`."""
        found: Annotation = self.get_object()
        self.require(Scope.TRIAGE, found.project)
        remove_annotation(found, by=self.viewer)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExclusionsView(View):
    @extend_schema(
        summary="Exclude or restore several runs",
        request=ExclusionsRequest,
        responses=ExclusionsSerializer,
    )
    def post(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. All of them for one reason, or none; those that are so already stay."""
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(ExclusionsRequest)
        change = exclude_runs if sent["excluded"] else restore_runs
        reason = sent["reason"] or ("a preview" if sent["preview"] else "")
        try:
            with transaction.atomic():
                effect = change(project, sent["runs"], by=self.viewer, reason=reason)
                transaction.set_rollback(sent["preview"])
        except CorrectionError as error:
            field = "reason" if sent["excluded"] and not reason else "runs"
            raise parameters.refuse(field, str(error)) from None
        said = {
            "preview": sent["preview"],
            "runs": effect.runs,
            "uploads": effect.uploads,
            "series": effect.series,
        }
        return Response(ExclusionsSerializer(said).data)


def _known(model: type[_Named], project: Project, name: str | None) -> _Named | None:
    """Find the thing of this name, or of this old one. Raises rest_framework's ValidationError."""
    if not name:
        return None
    called = Q(name=name) | Q(aliases__name=name)
    found = model._default_manager.filter(called, project=project).first()
    if found is None:
        kind = model.__name__.lower()
        raise parameters.refuse(kind, f"the project has no {kind} '{name}'")
    return found
