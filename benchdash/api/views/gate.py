"""The gate of continuous integration: tells if a commit or a release made something worse."""

from typing import Final
from urllib.parse import urlencode

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.models import Project, Token
from benchdash.addresses import absolute
from benchdash.answers.comparison import GateSerializer
from benchdash.api.views.base import PROJECT, View
from benchdash.regressions.comparison.gate_sides import PARAMETERS, Question
from benchdash.regressions.comparison.gate_words import junit, markdown, plain_text
from benchdash.rest import parameters
from benchdash.results.models import Run
from benchdash.results.pull_requests import branch_of
from ingest.gates import answer_of
from ingest.queries import sent_by

_FORMATS: Final = ("md", "junit", "txt")


class GateView(View):
    @extend_schema(
        summary="Hold a commit or a release against another",
        parameters=[
            PROJECT,
            OpenApiParameter("product", OpenApiTypes.STR, description="may be left out if only one fits"),
            OpenApiParameter(
                "branch",
                OpenApiTypes.STR,
                description="empty: releases; left out: where the commit was measured. Without a"
                " commit its newest one is meant",
            ),
            OpenApiParameter(
                "commit", OpenApiTypes.STR, description="or its beginning, of 7 digits at least"
            ),
            OpenApiParameter(
                "version", OpenApiTypes.STR, description="a release, instead of a branch and a commit"
            ),
            OpenApiParameter("pull_request", OpenApiTypes.INT, description="its number, instead of a branch"),
            OpenApiParameter(
                "base",
                OpenApiTypes.STR,
                description="a commit, the version of a release, or a branch, whose newest commit or night at"
                " each place is meant; 'commit:', 'version:' or 'branch:' before it says which. By default"
                " the one before on the branch; of a pull request, where it is to be merged; of a release,"
                " the one before in its line, or the last of the line before",
            ),
            OpenApiParameter(
                "workload", OpenApiTypes.STR, many=True, description="only these workloads count"
            ),
            OpenApiParameter("format", OpenApiTypes.STR, enum=["json", *_FORMATS], default="json"),
        ],
        responses={
            (200, "application/json"): GateSerializer,
            (200, "text/markdown"): OpenApiTypes.STR,
            (200, "application/xml"): OpenApiTypes.STR,
            (200, "text/plain"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Decide for continuous integration: ask again while the analysis is pending.

        The status is 200 whatever the verdict is. A token with the scope `upload` alone asks about commits,
        releases and pull requests that it sent runs of.
        """
        answer = parameters.answer_format(request, *_FORMATS)
        project = self.viewer.project_as_sender(self.slug())
        question = _asked(request)
        if token := self.viewer.sending_token:
            _require_to_have_sent(token, project, question)
        gate = answer_of(project, question)
        url = _page(project, question)
        if answer == "md":
            return HttpResponse(markdown(gate, url=url), content_type="text/markdown; charset=utf-8")
        if answer == "txt":
            return HttpResponse(plain_text(gate, url=url), content_type="text/plain; charset=utf-8")
        if answer == "junit":
            return HttpResponse(junit(gate, url=url), content_type="application/xml; charset=utf-8")
        return Response(GateSerializer(gate, context={"url": url}).data)


def _asked(request: Request) -> Question:
    """Read the question; raise GateError, or rest_framework's ValidationError for what is given twice."""
    given = {name: parameters.text(request, name) for name in PARAMETERS}
    texts = {name: value for name, value in given.items() if value is not None}
    return Question.of_texts(texts, parameters.texts(request, "workload"))


def _page(project: Project, question: Question) -> str:
    """Return the address of the page that shows the same."""
    query = urlencode([*question.texts.items(), *(("workload", one) for one in question.workloads)])
    return f"{absolute('dashboard:gate', project.slug)}?{query}"


def _require_to_have_sent(token: Token, project: Project, question: Question) -> None:
    """Raise NotAllowed where the token sent no run of what is asked about."""
    sent = Run.objects.filter(project=project, upload_id__in=sent_by(token).values("pk"))
    branch = branch_of(question.pull_request) if question.pull_request else question.branch
    if question.commit:
        of_it, what = {"version__commit__startswith": question.commit}, f"the commit {question.commit}"
    elif question.version:
        of_it, what = {"version__version": question.version, "branch": ""}, f"the version {question.version}"
    else:
        of_it, what = {"branch": branch or ""}, f"the branch {branch}"
    if not sent.filter(**of_it).exists():
        raise NotAllowed(
            f"this token sent no runs of {what}; others need the scope 'read' in the project '{project.slug}'"
        )
