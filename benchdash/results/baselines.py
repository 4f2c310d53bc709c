"""The baselines of branches: set and moved by people, with a reason."""

from dataclasses import dataclass
from datetime import UTC, date
from typing import Any, Final

from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import Baseline, Product, ServerVersion
from benchdash.results.place import Place

MAX_REASON_LENGTH: Final = 1000
_MAX_LISTED: Final = 20


class BaselineError(Exception):
    """A baseline that cannot be set, with a sentence for the person who wanted it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A baseline to set: a release, or with ``branch_group`` a group of the branch itself.

    ``day`` says which group where there is no commit.
    """

    version: ServerVersion
    branch_group: bool = False
    day: date | None = None


def baselines(place: Place) -> list[Baseline]:
    """Return the baselines set for a branch at a place, newest first; the first is in force."""
    found = Baseline.objects.filter(**_key(place)).select_related("version__product", "set_by")
    return list(found[:_MAX_LISTED])


@transaction.atomic
def set_baseline(place: Place, target: Target | None, *, by: Viewer, reason: str) -> Baseline:
    """Hold a branch at a place against ``target`` from now on; None ends what was chosen.

    Raises BaselineError.
    """
    # Two people may move it at once: the second waits here, and is compared with what the first chose.
    project = Project.objects.select_for_update().get(pk=place.project_id)
    before = next(iter(baselines(place)), None)
    reason = reason.strip()
    if not reason:
        raise BaselineError("a baseline is moved for a reason: say it")
    if len(reason) > MAX_REASON_LENGTH:
        raise BaselineError(f"a reason has at most {MAX_REASON_LENGTH} characters")
    row = Baseline(**_key(place), reason=reason, set_by=by.user)
    if target:
        row.version, row.branch_group = target.version, target.branch_group
        row.day = _day_measured(place, target)
    if _meaning(row) == _meaning(before):
        raise BaselineError("this is the baseline already")
    row.save()
    subject = f"{Product.objects.get(pk=place.product_id)} {place.branch}"
    detail = {"before": before.name if before else "none", "after": row.name}
    audit(project, by, "baseline moved", subject, reason=reason, detail=detail)
    return row


def _key(place: Place) -> dict[str, Any]:
    """Return the columns of the place's rows: a branch has no release line."""
    return {name: value for name, value in place._asdict().items() if name != "line"}


def _meaning(row: Baseline | None) -> tuple[Any, ...]:
    return (row.version_id, row.branch_group, row.day) if row else (None, False, None)


def _day_measured(place: Place, target: Target) -> date | None:
    """Return the day that tells the target's group from others: of a commit, when it was first measured.

    Raises BaselineError where the target was not measured at the place.
    """
    runs = place.runs.filter(
        excluded_at=None, version=target.version, branch=place.branch if target.branch_group else ""
    )
    days = {start.astimezone(UTC).date() for start in runs.values_list("started_at", flat=True)}
    is_night = target.branch_group and not target.version.commit
    if not days or (is_night and target.day not in days):
        raise BaselineError("nothing of this was measured there")
    if is_night:
        return target.day
    return min(days) if target.branch_group else None
