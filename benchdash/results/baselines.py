"""What the groups of a branch are held against: set and moved by people, with a reason."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date
from typing import Any, Final

from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import Baseline, Product, Run, ServerVersion

LONGEST_REASON: Final = 1000
_MOST: Final = 20


class BaselineError(Exception):
    """A baseline that cannot be set, with a sentence for the person who wanted it."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A branch of one product at one place. Ids of this project's rows; texts but the branch may be empty."""

    product_id: int
    build: str
    branch: str
    hardware_id: int
    configuration_id: int
    counterpart: str

    @property
    def of_runs(self) -> Mapping[str, Any]:
        """What its runs have in common, apart from the branch."""
        return {
            "version__product": self.product_id,
            "version__build": self.build,
            "hardware": self.hardware_id,
            "configuration": self.configuration_id,
            "counterpart": self.counterpart,
        }


@dataclass(frozen=True, slots=True)
class Target:
    """What a stream is held against: a release, or with ``branch_group`` a group of the branch itself.

    ``day`` says which group where there is no commit.
    """

    version: ServerVersion
    branch_group: bool = False
    day: date | None = None


def baselines(project: Project, stream: Stream) -> list[Baseline]:
    """What was set for the stream, the newest first: that one is in force. One statement."""
    found = Baseline.objects.filter(project=project, **asdict(stream))
    return list(found.select_related("version__product", "set_by")[:_MOST])


@transaction.atomic
def set_baseline(
    project: Project, stream: Stream, target: Target | None, *, by: Viewer, reason: str
) -> Baseline:
    """Hold the stream against ``target`` from now on; None: nothing is chosen any more.

    Raises BaselineError.
    """
    # Two people may move it at once: the second waits here, and is compared with what the first chose.
    Project.objects.select_for_update().get(pk=project.pk)
    before = next(iter(baselines(project, stream)), None)
    reason = reason.strip()
    if not reason:
        raise BaselineError("a baseline is moved for a reason: say it")
    if len(reason) > LONGEST_REASON:
        raise BaselineError(f"a reason has at most {LONGEST_REASON} characters")
    if target:
        target = _measured(project, stream, target)
    row = Baseline(
        project=project,
        **asdict(stream),
        version=target.version if target else None,
        branch_group=bool(target and target.branch_group),
        day=target.day if target else None,
        reason=reason,
        set_by=by.user,
    )
    if _meaning(row) == _meaning(before):
        raise BaselineError("this is the baseline already")
    row.save()
    subject = f"{Product.objects.get(pk=stream.product_id)} {stream.branch}"
    detail = {"before": before.name if before else "none", "after": row.name}
    audit(project, by, "baseline moved", subject, reason=reason, detail=detail)
    return row


def _meaning(row: Baseline | None) -> tuple[Any, ...]:
    return (row.version_id, row.branch_group, row.day) if row else (None, False, None)


def _measured(project: Project, stream: Stream, target: Target) -> Target:
    """The target with the day on which its commit was first measured. Raises BaselineError."""
    runs = Run.objects.filter(
        project=project,
        excluded_at=None,
        version=target.version,
        branch=stream.branch if target.branch_group else "",
        **stream.of_runs,
    )
    days = {start.astimezone(UTC).date() for start in runs.values_list("started_at", flat=True)}
    is_night = target.branch_group and not target.version.commit
    if not days or (is_night and target.day not in days):
        raise BaselineError("nothing of this was measured there")
    if is_night:
        return target
    return replace(target, day=min(days) if target.branch_group else None)
