"""What all pages of a project begin with: the project, who asks, and the answers to those who may not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from benchdash.accounts.access import BeingDeleted, NotAllowed, NotVisible, Viewer, viewer_of
from benchdash.accounts.models import Project, Scope

P = ParamSpec("P")

_LONGEST_REASON = 1000


@dataclass(frozen=True)
class ProjectPage:
    """A page of a project, for one viewer. ``projects`` are those that the viewer may go to from it."""

    project: Project
    viewer: Viewer
    projects: Sequence[Project]

    @property
    def is_member(self) -> bool:
        return self.viewer.is_member(self.project)

    @property
    def is_admin(self) -> bool:
        return self.may(Scope.ADMIN)

    @property
    def may_write(self) -> bool:
        """Whether the viewer writes articles."""
        return self.may(Scope.TRIAGE)

    def may(self, scope: str) -> bool:
        return self.viewer.may(scope, self.project)

    def require(self, scope: str) -> None:
        """Raises NotAllowed, which project_page answers."""
        self.viewer.require(scope, self.project)

    def render(
        self,
        request: HttpRequest,
        template: str,
        context: Mapping[str, Any] | None = None,
        *,
        status: int = 200,
    ) -> HttpResponse:
        """The template with ``page``, ``project`` and ``viewer`` beside its own context."""
        shared = {"page": self, "project": self.project, "viewer": self.viewer}
        return render(request, template, {**shared, **(context or {})}, status=status)


def project_page(
    view: Callable[Concatenate[HttpRequest, ProjectPage, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """A view of (request, page, ...) for an address that begins with the project's slug.

    What does not exist for the viewer is a 404. Members of a project that is being deleted are sent to the
    page that shows how far that is. What the viewer may not do is a 403, or the sign-in page
    where nobody is signed in.
    """

    @wraps(view)
    def answer(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        viewer = viewer_of(request)
        try:
            return view(request, _page(viewer, slug), *args, **kwargs)
        except NotVisible as error:
            raise Http404(str(error)) from None
        except BeingDeleted:
            return redirect("dashboard:removals")
        except NotAllowed as error:
            if viewer.is_anonymous:
                # A form cannot be sent again by following an address.
                back = request.get_full_path() if request.method == "GET" else reverse("dashboard:home")
                return redirect_to_login(back)
            raise PermissionDenied(str(error)) from None

    return answer


def _page(viewer: Viewer, slug: str) -> ProjectPage:
    """Raises NotVisible or BeingDeleted. The bar names all projects, so that the one is found among them."""
    projects = viewer.projects_by_name()
    for project in projects:
        if project.slug == slug:
            return ProjectPage(project, viewer, projects)
    return ProjectPage(viewer.project(slug), viewer, projects)


def sent_reason(request: HttpRequest) -> str:
    """Why somebody does what the form does, for the audit log."""
    return request.POST.get("reason", "").replace("\0", "").strip()[:_LONGEST_REASON]
