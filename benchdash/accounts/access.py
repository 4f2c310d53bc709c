"""The caller, and what they may see and do. Every view, page or API, begins here."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from benchdash.accounts.models import Project, Role, Scope, Token, User

if TYPE_CHECKING:
    from django.http import HttpRequest

_ROLE_SCOPES: dict[str, frozenset[str]] = {
    Role.READER: frozenset({Scope.READ}),
    Role.MEMBER: frozenset({Scope.READ, Scope.UPLOAD, Scope.TRIAGE}),
    Role.ADMIN: frozenset(Scope.values),
}
# The scopes that a scope of a token includes. `upload` alone reads only what it sent itself.
_IMPLIED: dict[str, frozenset[str]] = {
    Scope.TRIAGE: frozenset({Scope.READ}),
    Scope.ADMIN: frozenset({Scope.READ, Scope.TRIAGE}),
}


class NotVisible(Exception):  # noqa: N818 - a state of affairs, not a fault
    """The thing does not exist for the caller: answered like one that does not exist at all."""


class NotAllowed(Exception):  # noqa: N818 - the same
    """The caller may see the thing, but not do this to it."""


class RelativeFiguresOnly(NotAllowed):
    """The project shows its absolute figures to members only, and what was asked for has them."""

    def __init__(self) -> None:
        super().__init__(
            "This project publishes relative figures only: its pages Compare and Articles show them, and"
            " everything else is for its members"
        )


class BeingDeleted(Exception):  # noqa: N818 - the same
    """The project is being deleted; its members are told so."""

    def __init__(self, project: Project) -> None:
        super().__init__(f"the project '{project.slug}' is being deleted")


@dataclass(frozen=True)
class Viewer:
    """The caller: a signed-in user, a token, or nobody."""

    user: User | None = None
    token: Token | None = None
    # The rights that were asked for and that it has: a scope, or none for seeing it, and the id of a project.
    granted: set[tuple[str, int]] = field(default_factory=set, compare=False, repr=False)
    _roles: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_anonymous(self) -> bool:
        return self.user is None and self.token is None

    @property
    def address(self) -> str:
        """The e-mail address of the user; empty for a token and for nobody."""
        return self.user.email if self.user else ""

    @property
    def may_make_projects(self) -> bool:
        """Tell whether this viewer may make projects; no token may."""
        return self.user is not None and (self.user.is_superuser or settings.PROJECTS_MADE_BY == "everyone")

    def require_may_make_projects(self) -> None:
        """Raise NotAllowed for who may not make projects."""
        if self.token:
            raise NotAllowed("a token is of one project and makes no others; people who are signed in do")
        if not self.may_make_projects:
            raise NotAllowed("projects are made by whoever runs this installation")

    def projects(self, *, relative: bool = False) -> QuerySet[Project]:
        """Return the projects whose figures this viewer may see, by name.

        A token that reads sees its own and the public ones. ``relative``: also those of which others than
        members see ratios alone; whoever asks for these must show nothing else of them.
        """
        there = Project.objects.filter(deleting_since=None).order_by("name", "pk")
        if self.user and self.user.is_superuser:
            return there
        visible = Q(visibility=Project.Visibility.PUBLIC)
        if not relative:
            visible &= Q(is_relative_only=False)
        if self.token and self.is_member(self.token.project):
            visible |= Q(pk=self.token.project_id)
        if self.user:
            visible |= Q(pk__in=self.user.memberships.values("project"))
        return there.filter(visible)

    def project_ids(self, scope: str) -> frozenset[int]:
        """Return the ids of the projects in which this viewer has the scope."""
        if self.token:
            is_there = not self.token.project.is_being_deleted and self.may(scope, self.token.project)
            return frozenset({self.token.project_id} if is_there else ())
        if self.user is None:
            return frozenset()
        if self.user.is_superuser:
            return frozenset(self.projects().values_list("pk", flat=True))
        roles = [role for role, scopes in _ROLE_SCOPES.items() if scope in scopes]
        memberships = self.user.memberships.filter(role__in=roles, project__deleting_since=None)
        return frozenset(memberships.values_list("project", flat=True))

    def project(self, slug: str, *, relative: bool = False) -> Project:
        """Return the project with this slug.

        Raises NotVisible where there is none for this viewer, BeingDeleted where a member asks for a project
        that is going away, NotAllowed where a token asks for its own project without the scope to read, and
        RelativeFiguresOnly where the viewer may see no more, unless ``relative`` says that no more is shown.
        """
        project = self._project(slug)
        if not (relative or self.may_see_absolute(project)):
            raise RelativeFiguresOnly
        return project

    def _project(self, slug: str) -> Project:
        if own := self._own_project(slug):
            if not self.sees(own):
                self.require(Scope.READ, own)
            return own
        project = Project.objects.filter(slug=slug).first()
        if project and project.is_being_deleted and self.is_member(project):
            raise BeingDeleted(project)
        if project is None or not self.sees(project):
            raise NotVisible(f"no project is called {slug!r}")
        return project

    def project_as_sender(self, slug: str) -> Project:
        """Return the project with this slug; a token that uploads to it may name it without reading it.

        Raises NotVisible and BeingDeleted.
        """
        return self._own_project(slug) or self.project(slug)

    def _own_project(self, slug: str) -> Project | None:
        """Return the project of the token if it has this slug. Raises BeingDeleted."""
        if self.token is None or self.token.project.slug != slug:
            return None
        if self.token.project.is_being_deleted:
            raise BeingDeleted(self.token.project)
        return self.token.project

    def sees(self, project: Project) -> bool:
        """Return whether the project is one of ``projects``."""
        is_open = self._noted("", project, project.is_public)
        return not project.is_being_deleted and (is_open or self.is_member(project))

    def may_see_absolute(self, project: Project) -> bool:
        """Return whether this viewer may see figures of the project that are no ratios."""
        return not project.is_relative_only or self.is_member(project)

    def scopes(self, project: Project) -> AbstractSet[str]:
        """Return what this viewer may do in the project, besides reading a public one."""
        if self.token:
            return _scopes_of(self.token) if self.token.project_id == project.pk else frozenset()
        if self.user is None:
            return frozenset()
        if self.user.is_superuser:
            return frozenset(Scope.values)
        return _ROLE_SCOPES.get(self._role(project), frozenset())

    def may(self, scope: str, project: Project) -> bool:
        return self._noted(scope, project, scope in self.scopes(project))

    def _noted(self, scope: str, project: Project, is_granted: bool) -> bool:
        if is_granted:
            self.granted.add((scope, project.pk))
        return is_granted

    def may_somewhere(self, scope: str) -> bool:
        """Return whether this viewer has the scope in any project."""
        if self.token:
            return scope in _scopes_of(self.token)
        if self.user is None or self.user.is_superuser:
            return self.user is not None
        roles = [role for role, scopes in _ROLE_SCOPES.items() if scope in scopes]
        return self.user.memberships.filter(role__in=roles).exists()

    def is_member(self, project: Project) -> bool:
        """Return whether this viewer sees raw files, refused uploads and reasons, as members do."""
        return self.may(Scope.READ, project)

    def require(self, scope: str, project: Project) -> None:
        """Refuse a viewer without the scope in the project. Raises NotAllowed."""
        if not self.may(scope, project):
            raise NotAllowed(f"this needs the scope '{scope}' in the project '{project.slug}'")

    @property
    def sending_token(self) -> Token | None:
        """The token of this viewer, if it uploads to a project whose figures it may not see."""
        if self.token is None:
            return None
        project = self.token.project
        return None if self.sees(project) and self.may_see_absolute(project) else self.token

    def _role(self, project: Project) -> str:
        if project.pk not in self._roles and self.user is not None:
            membership = self.user.memberships.filter(project=project).first()
            self._roles[project.pk] = membership.role if membership else ""
        return self._roles.get(project.pk, "")


def _scopes_of(token: Token) -> frozenset[str]:
    return frozenset(token.scopes).union(*(_IMPLIED.get(scope, ()) for scope in token.scopes))


NOBODY = Viewer()


def viewer_of(request: "HttpRequest") -> Viewer:
    """Return the viewer behind a Django or DRF request; DRF keeps the token in ``auth``."""
    token = getattr(request, "auth", None)
    if isinstance(token, Token):
        return Viewer(token=token)
    user = request.user
    return NOBODY if isinstance(user, AnonymousUser) or not user.is_active else Viewer(user=user)
