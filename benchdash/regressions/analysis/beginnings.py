"""How a release line or a branch begins: at the level of what it goes on from, or at another.

The newest level of the one and the first groups of the other are judged by the rules for a handful of
releases, as if they were one short history whose only possible change is known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from benchdash.regressions.analysis.findings import MIN_SESSIONS, Finding
from benchdash.regressions.analysis.origins import Origin
from benchdash.regressions.analysis.places import History
from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.releases import MAX_RELEASE_GROUPS, Sessions, find_shift_at
from benchdash.regressions.watched_metrics import MetricRules
from benchdash.results.models import ServerVersion
from benchdash.results.points import moment
from benchdash.results.versions import parse_version

MAX_FIRST_GROUPS = MAX_RELEASE_GROUPS
"""Later groups say nothing of how a line or branch began."""


def find_beginning(
    histories: Mapping[int, History],
    changed: Iterable[int],
    origin: Origin,
    origin_histories: Mapping[int, History],
    origin_changed: Iterable[int],
    rules: MetricRules,
) -> list[Finding]:
    """Return the series that begin at another level than those of their ``origin``.

    ``changed`` and ``origin_changed`` are the positions where changes were confirmed in both.
    """
    new, old = _watched(histories, rules), _watched(origin_histories, rules)
    common = sorted(new.keys() & old.keys(), key=str)
    end = _end_of(origin, old, new) if common else 0
    if not end:
        return []
    start = max(0, end - MAX_RELEASE_GROUPS, *(at for at in origin_changed if at < end))
    last = min([MAX_FIRST_GROUPS, *(at for at in changed if at > 0)])
    table = {
        key: [
            *(old[key].sessions(at) for at in range(start, end)),
            *(new[key].sessions(at) for at in range(min(last, new[key].length))),
        ]
        for key in common
    }
    directions = {key: new[key].series.better for key in common}
    joint = find_shift_at(end - start, table, directions)
    if joint is None:
        return []
    findings = []
    for key, shift in joint.members.items():
        sessions = min(old[key].independent(start, end), new[key].independent(0, last))
        state = shift.state if sessions >= MIN_SESSIONS else "suspected"
        first, last_good = new[key].at(0), old[key].before(end)
        groups = (_groups(table[key][: end - start]), _groups(table[key][end - start :]))
        findings.append(
            Finding(
                replace(shift, index=0, state=state), new[key], first, last_good, groups, origin=origin.name
            )
        )
    return findings


def _watched(histories: Mapping[int, History], rules: MetricRules) -> dict[Key, History]:
    return {
        (history.what, history.series.metric): history
        for history in histories.values()
        if not history.series.is_derived and rules.watches(history.series) and history.has(0)
    }


def _groups(sessions: Sessions) -> int:
    return sum(1 for group in sessions if len(group))


def _end_of(origin: Origin, old: Mapping[Key, History], new: Mapping[Key, History]) -> int:
    """Return the position after the newest release that the line or branch may go on from.

    Of a branch it is not younger than its first commit. A release of unknown date is as old as its first run.
    """
    groups = next(iter(old.values())).runs.groups
    first = next(iter(new.values()))
    if not first.series.branch:
        return len(groups)
    begun = moment(float(first.runs.groups[0].order[0]))
    versions = ServerVersion.objects.in_bulk({group.version_id for group in groups})
    highest = parse_version(origin.release).sort_key if origin.release else None
    fitting = [
        at
        for at, group in enumerate(groups, 1)
        if (
            _released_at(versions[group.version_id], group.started_at) <= begun
            if highest is None
            else versions[group.version_id].sort_key <= highest
        )
    ]
    return max(fitting, default=0)


def _released_at(version: ServerVersion, started_at: float) -> datetime:
    return version.released_at or version.committed_at or moment(started_at)
