"""The options of a project about opinions; by default the settings of the installation hold."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.conf import settings

from benchdash.accounts.models import Project
from benchdash.regressions.detection.shifts import MIN_EFFECT
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.watched_metrics import MetricRules, SmallestChange, rules_of

HISTORICAL_AFTER_DAYS = "historical_after_days"
EQUIVALENCE_MARGIN = "equivalence_margin"
GATE_ROW_MARGIN = "gate_row_margin"
GATE_MEAN_MARGIN = "gate_mean_margin"
RELEASE_LINE_ORDER = "release_line_order"
"""Names of release lines that follow each other in this order; others go by their version."""
LINES_NOT_COMPARED = "lines_not_compared"
"""Pairs of lines, the older first, whose releases are not compared."""
BRANCH_ORIGINS = "branch_origins"
"""Pairs of a pattern of branches (``10.11-*``) and the line or release that they started from."""
NO_ORIGIN = "none"
COMPARE_TEMPLATE = "compare_template"
"""The address of a page of the code host that shows what changed between two commits or versions."""
BUG_TEMPLATE = "bug_template"
"""The address of a bug in the bug tracker."""

SMALLEST_CHANGE = "smallest_change"
MIN_CONFIDENCE = "min_confidence"
SILENT_METRICS = "silent_metrics"
"""Metrics whose changes are drawn and make no incident."""

DEFAULT_ROW_MARGIN: Final = 0.10
DEFAULT_MEAN_MARGIN: Final = 0.03

OF_RULE: Final = (
    *(SMALLEST_CHANGE, MIN_CONFIDENCE, SILENT_METRICS, EQUIVALENCE_MARGIN),
    *(GATE_ROW_MARGIN, GATE_MEAN_MARGIN),
)


@dataclass(frozen=True, slots=True)
class IncidentRule:
    """Which confirmed change points make an incident: one that passes is enough for it.

    It is never laxer than detection, which finds nothing below ``MIN_EFFECT``. A change of counts has no per
    cent, and is never too small. What the project says of single metrics (``metrics``) comes before what it
    says of all.
    """

    smallest_change: float = MIN_EFFECT
    min_confidence: float = 0.0
    silent_metrics: frozenset[str] = frozenset()
    metrics: MetricRules = field(default_factory=MetricRules)

    def tells_of(self, change_point: ChangePoint) -> bool:
        is_confirmed = change_point.state == ChangePoint.State.CONFIRMED
        return self.passes(change_point, confidence=change_point.confidence if is_confirmed else None)

    def passes(self, change_point: ChangePoint, *, confidence: float | None) -> bool:
        return (
            change_point.series.metric not in self.silent_metrics
            and self._matters(change_point)
            and (confidence is None or confidence >= self.min_confidence)
        )

    def _matters(self, change_point: ChangePoint) -> bool:
        """Tell whether a change is large enough: for its metric where that says it, else for the project."""
        change = change_point.speed_change
        if change is None:
            return True
        smallest = self.metrics.smallest_change(change_point.series.metric) or SmallestChange(
            self.smallest_change
        )
        return smallest.is_reached(change_point.before, change_point.after, change=change)


def rule_of(project: Project, metrics: MetricRules | None = None) -> IncidentRule:
    """Return the rule of a project; ``metrics`` are what it says of them, which is read where it is None."""
    return rule_from(project.options, rules_of(project.pk) if metrics is None else metrics)


def rule_from(options: dict[str, Any], metrics: MetricRules) -> IncidentRule:
    return IncidentRule(
        metrics=metrics,
        smallest_change=max(options.get(SMALLEST_CHANGE, MIN_EFFECT), MIN_EFFECT),
        min_confidence=options.get(MIN_CONFIDENCE, 0.0),
        silent_metrics=frozenset(options.get(SILENT_METRICS, ())),
    )


def historical_after(project: Project) -> timedelta:
    """Return how long ago what is found may have begun, when its file came in, to be news."""
    days = project.options.get(HISTORICAL_AFTER_DAYS)
    return settings.HISTORICAL_AFTER if days is None else timedelta(days=days)


def equivalence_margin(project: Project) -> float:
    """Return the relative difference of two versions that does not matter: 0.02 is 2 %."""
    margin = project.options.get(EQUIVALENCE_MARGIN)
    return float(settings.EQUIVALENCE_MARGIN if margin is None else margin)


@dataclass(frozen=True, slots=True)
class Margins:
    """The relative differences that do not matter: the usual one, and those of single metrics."""

    usual: float
    metrics: MetricRules

    def of(self, metric: str, levels: Iterable[float]) -> float:
        """Return the difference from any of these levels that does not matter for a metric.

        One that a project says in the unit of the metric is taken as a share of the highest level: so it is
        never too much of any of them.
        """
        smallest = self.metrics.smallest_change(metric)
        if smallest is None:
            return self.usual
        highest = max(levels, default=0.0)
        shares = [
            smallest.relative,
            smallest.absolute / highest if smallest.absolute and highest > 0 else None,
        ]
        return max((share for share in shares if share is not None), default=self.usual)


def margins_of(project: Project) -> Margins:
    """Read which differences of a project do not matter; one statement."""
    return Margins(equivalence_margin(project), rules_of(project.pk))


class GateMargins(NamedTuple):
    """The losses of a row and of the mean of all rows that a gate excludes where it passes."""

    row: float
    mean: float


def gate_margins(project: Project) -> GateMargins:
    """Return what a gate of the project excludes; no less than what does not matter to it at all."""
    margin, options = equivalence_margin(project), project.options
    return GateMargins(
        row=max(options.get(GATE_ROW_MARGIN, DEFAULT_ROW_MARGIN), margin),
        mean=max(options.get(GATE_MEAN_MARGIN, DEFAULT_MEAN_MARGIN), margin),
    )


def release_line_order(project: Project) -> list[str]:
    return list(project.options.get(RELEASE_LINE_ORDER, ()))


def lines_not_compared(project: Project) -> list[tuple[str, str]]:
    return [(older, newer) for older, newer in project.options.get(LINES_NOT_COMPARED, ())]


def branch_origins(project: Project) -> list[tuple[str, str]]:
    return [(pattern, origin) for pattern, origin in project.options.get(BRANCH_ORIGINS, ())]


def compare_template(project: Project) -> str:
    return str(project.options.get(COMPARE_TEMPLATE, ""))


def bug_template(project: Project) -> str:
    return str(project.options.get(BUG_TEMPLATE, ""))
