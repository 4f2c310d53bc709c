"""The versions between which an incident began, and which of them to measure next."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from benchdash.regressions.models import Incident
from benchdash.results.models import Run, ServerVersion, VersionPlace
from benchdash.results.versions import release_line


@dataclass(frozen=True, slots=True)
class VersionRange:
    """``since`` is the last version of the old level, ``until`` the first of the new one.

    ``between`` are the known versions after the one and before the other, in order. ``next_to_measure`` is
    the one that halves the range best where the incident was seen most clearly; None where none is known
    that was not measured there.
    """

    since: ServerVersion | None
    until: ServerVersion | None
    between: Sequence[ServerVersion]
    next_to_measure: ServerVersion | None


def range_of(incident: Incident) -> VersionRange:
    """Return the range of versions of an incident; three statements at most.

    Versions are known where any machine measured them: of a branch on that branch, in the order of their
    commits; of a release line those of the line.
    """
    between = _between(incident)
    return VersionRange(incident.since, incident.until, between, _middle_of_unmeasured(incident, between))


def _between(incident: Incident) -> list[ServerVersion]:
    since, until = incident.since, incident.until
    # A line that begins at another level than the one before it has no versions in between, and of a drift no
    # single one is to blame.
    is_range = not incident.origin and incident.kind != Incident.Kind.DRIFT
    if since is None or until is None or since == until or not is_range:
        return []
    known = ServerVersion.objects.filter(
        project=until.project_id, product=until.product_id, build=until.build
    )
    if not incident.branch:
        found = known.filter(sort_key__gt=since.sort_key, sort_key__lt=until.sort_key).order_by("sort_key")
        product = incident.product.name if incident.product else ""
        return [one for one in found if release_line(product, one.version) == incident.line]
    return _commits_between(known, incident.branch, since, until)


def _commits_between(
    known: QuerySet[ServerVersion], branch: str, since: ServerVersion, until: ServerVersion
) -> list[ServerVersion]:
    if since.committed_at is None or until.committed_at is None:
        return []
    on_branch = VersionPlace.objects.filter(
        project=until.project_id, product=until.product_id, branch=branch
    ).values("version")
    within = Q(committed_at__gte=since.committed_at, committed_at__lte=until.committed_at)
    found = known.filter(within, pk__in=on_branch).order_by("committed_at", "commit")
    return [one for one in found if _commit_order(since) < _commit_order(one) < _commit_order(until)]


def _commit_order(version: ServerVersion) -> tuple[object, str]:
    return version.committed_at, version.commit or ""


def _middle_of_unmeasured(incident: Incident, between: Sequence[ServerVersion]) -> ServerVersion | None:
    largest = incident.largest
    if not between or largest is None:
        return None
    measured = set(
        Run.objects.filter(
            version__in=between, measurements__series=largest.series_id, excluded_at=None
        ).values_list("version", flat=True)
    )
    middle = (len(between) - 1) / 2
    unmeasured = [(abs(at - middle), at) for at, one in enumerate(between) if one.pk not in measured]
    return between[min(unmeasured)[1]] if unmeasured else None
