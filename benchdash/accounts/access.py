"""Who is asking, and what they may see and do. Every view, page or API, begins here."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from benchdash.accounts.models import Membership, Project, Role, Scope, Token, User
from benchdash.database.one_row import one_row
from benchdash.database.written import Given, written

if TYPE_CHECKING:
    from django.http import HttpRequest

_ROLE_SCOPES: dict[str, frozenset[str]] = {
    Role.READER: frozenset({Scope.READ}),
    Role.MEMBER: frozenset({Scope.READ, Scope.UPLOAD, Scope.TRIAGE}),
    Role.ADMIN: frozenset(Scope.values),
}


class NotVisible(Exception):  # noqa: N818 - a state of affairs, not a fault
    """The thing does not exist for the one who asks: answered like one that does not exist at all."""


class NotAllowed(Exception):  # noqa: N818 - the same
    """The one who asks may see the thing, but not do this to it."""


@dataclass(frozen=True)
class Viewer:
    """The one who asks: a signed-in user, a token, or nobody."""

    user: User | None = None
    token: Token | None = None
    _roles: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_anonymous(self) -> bool:
        return self.user is None and self.token is None

    def projects(self) -> QuerySet[Project]:
        """The projects that exist for this viewer. A token sees its own and the public ones."""
        if self.user and self.user.is_superuser:
            return Project.objects.all()
        visible = Q(visibility=Project.Visibility.PUBLIC)
        if self.token and self._token_reads:
            visible |= Q(pk=self.token.project_id)
        if self.user:
            visible |= Q(pk__in=self.user.memberships.values("project"))
        return Project.objects.filter(visible)

    def projects_by_name(self) -> list[Project]:
        """All of ``projects``, as every page names them."""
        if self.user and self.user.is_superuser:
            return _all_projects()
        member = self.token.project_id if self.token and self._token_reads else None
        return _visible_projects(member=member, user=self.user.pk if self.user else None)

    def member_project_ids(self) -> frozenset[int]:
        """Of the projects of which ``is_member`` is true."""
        if self.token:
            return frozenset({self.token.project_id} if self._token_reads else ())
        if self.user is None:
            return frozenset()
        if self.user.is_superuser:
            return frozenset(Project.objects.values_list("pk", flat=True))
        return frozenset(self.user.memberships.values_list("project", flat=True))

    def project(self, slug: str) -> Project:
        """Raises NotVisible where there is none, or none for this viewer."""
        if self.token and self._token_reads and self.token.project.slug == slug:
            return self.token.project
        project = one_row(Project, "slug = %s", [slug])
        if project is None or not self.sees(project):
            raise NotVisible(f"no project is called {slug!r}")
        return project

    def sees(self, project: Project) -> bool:
        """Whether the project is one of ``projects``."""
        return project.is_public or self.is_member(project)

    def scopes(self, project: Project) -> AbstractSet[str]:
        """What this viewer may do in the project, besides reading a public one."""
        if self.token:
            return frozenset(self.token.scopes) if self.token.project_id == project.pk else frozenset()
        if self.user is None:
            return frozenset()
        if self.user.is_superuser:
            return frozenset(Scope.values)
        return _ROLE_SCOPES.get(self._role(project), frozenset())

    def may(self, scope: str, project: Project) -> bool:
        return scope in self.scopes(project)

    def is_member(self, project: Project) -> bool:
        """Members see raw files, refused uploads and reasons."""
        return bool(self.scopes(project))

    def require(self, scope: str, project: Project) -> None:
        """Raises NotAllowed unless this viewer has the scope in the project."""
        if not self.may(scope, project):
            raise NotAllowed(f"this needs the scope '{scope}' in the project '{project.slug}'")

    @property
    def _token_reads(self) -> bool:
        # An upload token must be able to follow what became of its uploads.
        return bool(self.token and self.token.scopes)

    def _role(self, project: Project) -> str:
        if project.pk not in self._roles and self.user is not None:
            membership = one_row(Membership, "project_id = %s AND user_id = %s", [project.pk, self.user.pk])
            self._roles[project.pk] = membership.role if membership else ""
        return self._roles.get(project.pk, "")


@written
def _all_projects() -> QuerySet[Project]:
    return Project.objects.order_by("name", "pk")


@written
def _visible_projects() -> QuerySet[Project]:
    memberships = Membership.objects.filter(user=Given("user"))
    visible = (
        Q(visibility=Project.Visibility.PUBLIC)
        | Q(pk=Given("member"))
        | Q(pk__in=memberships.values("project"))
    )
    return Project.objects.filter(visible).order_by("name", "pk")


NOBODY = Viewer()


def viewer_of(request: "HttpRequest") -> Viewer:
    """The viewer behind a Django or DRF request (whose ``auth`` is the token, if one was sent)."""
    token = getattr(request, "auth", None)
    if isinstance(token, Token):
        return Viewer(token=token)
    user = request.user
    return NOBODY if isinstance(user, AnonymousUser) or not user.is_active else Viewer(user=user)
