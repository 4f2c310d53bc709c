"""The line or release that a release line or a branch goes on from.

A line goes on from the line before it, a branch from the release that it started from, each at the same place
otherwise. A project may say so in its options; else the versions do.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from django.db.models import Max, Min

from benchdash.accounts.models import Project
from benchdash.regressions.options import (
    NO_ORIGIN,
    branch_origins,
)
from benchdash.regressions.release_lines import line_before
from benchdash.results.controls import is_control
from benchdash.results.models import Product, Series, VersionPlace
from benchdash.results.place import Place
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.versions import LOWEST_NUMBER, release_line


@dataclass(frozen=True, slots=True)
class Origin:
    """``place`` is that of a release line; with ``release`` (a version text) only its releases up to that."""

    place: Place
    release: str = ""

    @property
    def name(self) -> str:
        return self.release or self.place.line


def origins_beside(place: Place) -> dict[Place, Origin]:
    """Return what each line and branch goes on from that is measured where ``place`` is; by their places.

    The youngest branches come first. Controls go on from nothing: they never change.
    """
    if is_control(place.build):
        return {}
    beside = Series.objects.filter(**_without_stream(place)).values_list("branch", "line")
    newest_first = beside.annotate(newest=Max("pk")).order_by("-newest")
    places = [
        place._replace(branch=branch, line=line)
        for branch, line, _ in newest_first
        if not is_of_pull_request(branch)
    ]
    lines = {one.line: one for one in places if one.line}
    if not lines:
        return {}
    project = Project.objects.get(pk=place.project_id)
    found: dict[Place, Origin] = {}
    for line, one in lines.items():
        if before := line_before(line, lines, project):
            found[one] = Origin(lines[before])
    branches = [one for one in places if one.branch]
    if branches:
        product = Product.objects.get(pk=place.product_id).name
        first = _first_versions(place)
        for one in branches:
            name = _origin_of_branch(one.branch, first.get(one.branch, ""), lines, project, product)
            line = name if name in lines else release_line(product, name)
            if line in lines:
                found[one] = Origin(lines[line], release="" if name in lines else name)
    return found


def _origin_of_branch(
    branch: str, first_version: str, lines: Collection[str], project: Project, product: str
) -> str:
    """Return the line or release that a branch started from, as the project says or its name begins."""
    for pattern, origin in branch_origins(project):
        if fnmatchcase(branch, pattern):
            return "" if origin == NO_ORIGIN else origin
    of_names: Iterable[str] = (release_line(product, text) for text in (branch, first_version))
    return next((line for line in of_names if line in lines), "")


def _first_versions(place: Place) -> dict[str, str]:
    """Return the version with the lowest number that was measured on each branch, where any has one."""
    rows = VersionPlace.objects.filter(**_without_stream(place), sort_key__gte=LOWEST_NUMBER)
    lowest = rows.exclude(branch="").values("branch").annotate(Min("sort_key")).order_by()
    keys = {row["branch"]: row["sort_key__min"] for row in lowest}
    named = rows.filter(branch__in=keys, sort_key__in=keys.values())
    return {
        branch: version
        for branch, key, version in named.values_list("branch", "sort_key", "version__version")
        if keys[branch] == key
    }


def _without_stream(place: Place) -> dict[str, object]:
    return {name: value for name, value in place._asdict().items() if name not in ("branch", "line")}
