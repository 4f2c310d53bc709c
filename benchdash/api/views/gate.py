"""Whether a commit made something worse, for continuous integration to ask."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.models import Project, Token
from benchdash.api.answers.comparison import GateSerializer
from benchdash.api.views.base import PROJECT, View
from benchdash.regressions.comparison.gate import decide
from benchdash.rest import parameters
from benchdash.results.models import Run
from ingest.queries import sent_by


class GateView(View):
    @extend_schema(
        summary="Hold a commit against another",
        parameters=[
            PROJECT,
            OpenApiParameter("product", OpenApiTypes.STR, required=True),
            OpenApiParameter("branch", OpenApiTypes.STR, description="empty or left out: releases"),
            OpenApiParameter(
                "commit", OpenApiTypes.STR, required=True, description="or at least 7 digits of its beginning"
            ),
            OpenApiParameter(
                "base",
                OpenApiTypes.STR,
                description="a commit on the branch or the version of a release; by default the group before",
            ),
        ],
        responses=GateSerializer,
    )
    def get(self, request: Request) -> Response:
        """Decide for continuous integration: ask again while the analysis is pending.

        A token with the scope `upload` alone asks about commits that it sent runs of.
        """
        project = self.viewer.project_as_sender(self.slug())
        commit = parameters.commit("commit", parameters.required_text(request, "commit"))
        if token := self.viewer.sending_token:
            _require_to_have_sent(token, project, commit)
        gate = decide(
            project,
            product=parameters.required_text(request, "product"),
            branch=parameters.text(request, "branch") or "",
            commit=commit,
            base=parameters.text(request, "base") or "",
        )
        return Response(GateSerializer(gate).data)


def _require_to_have_sent(token: Token, project: Project, commit: str) -> None:
    """Raise NotAllowed where the token sent no run of the commit."""
    sent = Run.objects.filter(project=project, upload_id__in=sent_by(token).values("pk"))
    if not sent.filter(version__commit__startswith=commit).exists():
        raise NotAllowed(
            f"this token sent no runs of the commit {commit}; others need the scope 'read' in the project"
            f" '{project.slug}'"
        )
