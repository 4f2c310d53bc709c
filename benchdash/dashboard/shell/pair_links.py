"""Addresses of the page "Side by side", from pages that show two things one after the other."""

from urllib.parse import urlencode

from benchdash.accounts.models import Project
from benchdash.dashboard.shell.navigation import page_url
from benchdash.regressions.comparison.columns import id_at
from benchdash.results.models import Run, Series
from benchdash.results.points import Point


def beside_url(project: Project, *runs: int) -> str:
    """Return the address of two runs side by side, or of one beside the run before it."""
    return f"{page_url('pair', project)}?{urlencode([('run', run) for run in runs])}"


def runs_url(project: Project, before: Run, after: Run) -> str:
    """The versions of two runs; the runs themselves where they are of one version at one place."""
    ids = id_at(before.version_id, before), id_at(after.version_id, after)
    return _columns_url(project, *ids) if ids[0] != ids[1] else beside_url(project, before.pk, after.pk)


def points_url(project: Project, series: Series, before: Point, after: Point) -> str:
    """The same of two groups of a history."""
    if before.version.pk == after.version.pk:
        return beside_url(project, before.run_id, after.run_id)
    return _columns_url(project, id_at(before.version.pk, series), id_at(after.version.pk, series))


def _columns_url(project: Project, base: str, against: str) -> str:
    return page_url("pair", project, base=base, against=against)
