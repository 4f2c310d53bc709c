"""Which projects a person follows: those of which they are a member, unless they said no, and others."""

from django.db.models import QuerySet

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Following, Project


def followed_projects(viewer: Viewer) -> QuerySet[Project]:
    """Return the projects that exist for the viewer and that they follow, by name."""
    if viewer.user is None:
        return Project.objects.none()
    said = Following.objects.filter(user=viewer.user)
    by_default = viewer.projects().filter(memberships__user=viewer.user)
    wanted = viewer.projects().filter(pk__in=said.filter(is_wanted=True).values("project"))
    unwanted = said.filter(is_wanted=False).values("project")
    return (by_default.exclude(pk__in=unwanted) | wanted).distinct()


def follows(viewer: Viewer, project: Project) -> bool:
    return followed_projects(viewer).filter(pk=project.pk).exists()


def follow(project: Project, *, by: Viewer, is_wanted: bool = True) -> None:
    """Follow the project, or follow it no more. Changes nothing where nobody is signed in."""
    if by.user:
        Following.objects.update_or_create(user=by.user, project=project, defaults={"is_wanted": is_wanted})
