"""The beginning of every page of a project: the project, its viewer, and the answers to the uninvited."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchdash.accounts.access import (
    BeingDeleted,
    NotAllowed,
    NotVisible,
    RelativeFiguresOnly,
    Viewer,
    viewer_of,
)
from benchdash.accounts.models import Project, Scope
from benchdash.alerts.models import Alert
from benchdash.dashboard.shell.filters import unknown_of_chips

P = ParamSpec("P")
M = TypeVar("M", bound=Model)

_MAX_REASON_LENGTH = 1000


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
    def is_relative(self) -> bool:
        """Tell whether the viewer may see ratios alone."""
        return not self.viewer.may_see_absolute(self.project)

    @property
    def is_admin(self) -> bool:
        return self.may(Scope.ADMIN)

    @property
    def may_upload(self) -> bool:
        return self.may(Scope.UPLOAD)

    @property
    def may_write(self) -> bool:
        """Tell whether the viewer writes articles."""
        return self.may(Scope.TRIAGE)

    @property
    def shared(self) -> dict[str, Any]:
        """The part of the context that all templates share."""
        return {"page": self, "project": self.project, "viewer": self.viewer}

    def may(self, scope: str) -> bool:
        return self.viewer.may(scope, self.project)

    def require(self, scope: str) -> None:
        """Raise NotAllowed, which project_page answers, unless the viewer has the scope."""
        self.viewer.require(scope, self.project)

    def require_member(self) -> None:
        """Raise NotAllowed unless the viewer is a member."""
        if not self.is_member:
            raise NotAllowed(f"this is for members of the project '{self.project.slug}'")

    def render(
        self,
        request: HttpRequest,
        template: str,
        context: Mapping[str, Any] | None = None,
        *,
        status: int = 200,
    ) -> HttpResponse:
        """Render a template with ``page``, ``project`` and ``viewer`` beside its own context.

        What its filters do not know of the address is said above it.
        """
        own = context or {}
        unknown = [*own.get("unknown", ()), *unknown_of_chips(request.GET, own.get("filters", ()))]
        return render(request, template, {**self.shared, **own, "unknown": unknown}, status=status)

    def done(self, request: HttpRequest, said: str, name: str, *args: object) -> HttpResponse:
        """Go to a page of the project, which says what was done."""
        messages.success(request, said)
        return redirect(f"dashboard:{name}", self.project.slug, *args)


_View = Callable[Concatenate[HttpRequest, ProjectPage, P], HttpResponseBase]


def project_page(view: _View[P], *, relative: bool = False) -> Callable[..., HttpResponseBase]:
    """Make a view of (request, page, ...), which answers GET, for an address that begins with a slug.

    What does not exist for the viewer is a 404. Members of a project that is being deleted are sent to the
    page that shows how far that is. What the viewer may not do is a 403, or the sign-in page
    where nobody is signed in. Where a project publishes relative figures only, it is a 403 for others than
    members, unless the page is ``relative``: it shows them ratios alone where ``page.is_relative``.
    """
    return require_safe(_for_viewer(view, relative=relative))


def project_form(view: _View[P]) -> Callable[..., HttpResponseBase]:
    """Do the same for a page with a form that is sent to its own address: GET and POST."""
    return require_http_methods(["GET", "HEAD", "POST"])(_for_viewer(view))


def project_action(view: _View[P]) -> Callable[..., HttpResponseBase]:
    """Do the same for an address that only takes a form: POST."""
    return require_POST(_for_viewer(view))


def _for_viewer(view: _View[P], *, relative: bool = False) -> Callable[..., HttpResponseBase]:

    @wraps(view)
    def answer(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        viewer = viewer_of(request)
        try:
            return view(request, _page(viewer, slug, relative=relative), *args, **kwargs)
        except NotVisible as error:
            raise Http404(str(error)) from None
        except BeingDeleted:
            return redirect("dashboard:removals")
        except RelativeFiguresOnly:
            if request.path == reverse("dashboard:overview", args=[slug]):
                return redirect("dashboard:matrix", slug)
            # It says which pages have ratios.
            page = _page(viewer, slug, relative=True)
            return page.render(request, "dashboard/relative_only.html", status=403)
        except NotAllowed as error:
            if viewer.is_anonymous:
                # A form cannot be sent again by following an address.
                back = request.get_full_path() if request.method == "GET" else reverse("dashboard:home")
                return redirect_to_login(back)
            raise PermissionDenied(str(error)) from None

    return answer


Context = Callable[[HttpRequest, ProjectPage], dict[str, Any]]
"""Return the context of the template of a page."""


def content_page(
    template: str,
    context: Context,
    *,
    csv: Callable[[ProjectPage, dict[str, Any]], HttpResponse] | None = None,
    relative: bool = False,
) -> Callable[..., HttpResponseBase]:
    """Return the view of a page that articles show too: they read its ``context`` attribute.

    ``csv`` answers addresses with ``format=csv`` where there is anything to show. ``relative`` is as of
    project_page.
    """

    @require_safe
    @partial(project_page, relative=relative)
    def view(request: HttpRequest, page: ProjectPage) -> HttpResponse:
        found = context(request, page)
        if csv and "shown" in found and request.GET.get("format") == "csv":
            return csv(page, found)
        return page.render(request, template, found)

    view.context = context  # type: ignore[attr-defined]  # functions may carry attributes
    return view


def _page(viewer: Viewer, slug: str, *, relative: bool) -> ProjectPage:
    """Find a project among those that the bar names. Raise as Viewer.project does."""
    projects = list(viewer.projects(relative=True))
    for project in projects:
        if project.slug == slug and (relative or viewer.may_see_absolute(project)):
            return ProjectPage(project, viewer, projects)
    return ProjectPage(viewer.project(slug, relative=relative), viewer, projects)


def found_or_hidden(rows: QuerySet[M], what: str) -> M:
    """Return the first of the rows. Raises NotVisible: ``what`` says what there is not."""
    found = rows.first()
    if found is None:
        raise NotVisible(what)
    return found


def sent_reason(request: HttpRequest) -> str:
    """Why somebody does what the form does, for the audit log."""
    return request.POST.get("reason", "").replace("\0", "").strip()[:_MAX_REASON_LENGTH]


def alerts_shown_to(page: ProjectPage) -> QuerySet[Alert]:
    """Return the alerts of the project for those who triage, for others those to their own address."""
    alerts = Alert.objects.filter(project=page.project)
    return alerts if page.may(Scope.TRIAGE) else alerts.filter(address=page.viewer.address)
