"""Corrections by people to the metrics of a project: unit, direction, whether watched, what matters."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import ProjectMetric, Series
from benchdash.results.own_metrics import follow, kind_of, turn_siblings
from benchdash.results.readings import DERIVED, UNKNOWN, known_metric
from benchdash.results.records import MetricWishes
from benchdash.results.services import hold_results, touch, touch_as_old_news

WISHES: Final = tuple(one.name for one in fields(MetricWishes))
OF_OWN_METRICS: Final = ("unit", "direction", "aggregation", "kind")
"""The properties of the metrics that benchdash knows itself."""
MAX_RELATIVE_CHANGE: Final = 10.0
_MAX_ABSOLUTE_CHANGE: Final = 1e15


class MetricError(Exception):
    """Something that cannot be said of a metric: the name of the wish, and a sentence."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def change_metric(
    project: Project, name: str, wishes: Mapping[str, Any], *, by: Viewer, reason: str = ""
) -> tuple[ProjectMetric, bool]:
    """Say something of a metric, and return it and whether it is a new one of the project's own.

    ``wishes`` are by the names of WISHES; None of a number or of ``watched`` means the default. Numbers stay
    as they are where the unit changes: it says what they always were. Its series are looked at again, and
    nobody is mailed what that finds. Raises MetricError.
    """
    _check(name, wishes)
    with transaction.atomic():
        hold_results(project, alone=True)
        metric = ProjectMetric.objects.filter(project=project, name=name).first()
        is_new = metric is None and not is_known(project, name)
        if metric is None:
            kind = kind_of(name, wishes.get("unit") or "")
            metric = ProjectMetric(project=project, name=name, is_own=is_new, kind=kind)
        if not metric.is_own and (refused := [one for one in OF_OWN_METRICS if one in wishes]):
            message = f"benchdash knows '{name}' itself; its {refused[0]} cannot be changed"
            raise MetricError(refused[0], message)
        before = {one: getattr(metric, one) for one in WISHES}
        for wish, value in wishes.items():
            setattr(metric, wish, value)
        changed = {one: value for one in WISHES if (value := getattr(metric, one)) != before[one]}
        if not changed and not is_new:
            return metric, False
        metric.save()
        _look_again(metric, as_old_news="direction" in changed)
        detail = {one: f"{_said(before[one])} → {_said(value)}" for one, value in changed.items()}
        audit(project, by, "metric made" if is_new else "metric changed", name, reason=reason, detail=detail)
    return metric, is_new


def is_known(project: Project, name: str) -> bool:
    """Tell whether benchdash, or a format that brought it, says unit and direction of a metric."""
    if known_metric(name):
        return True
    if ProjectMetric.objects.filter(project=project, name=name, is_own=True).exists():
        return False
    return Series.objects.filter(project=project, metric=name).exclude(direction=UNKNOWN).exists()


def _look_again(metric: ProjectMetric, *, as_old_news: bool) -> None:
    names = {metric.name}
    if metric.is_own:
        turned = turn_siblings(metric.project, [metric])
        names |= {one.name for one in turned}
        follow(metric.project, [metric, *turned])
    series = Series.objects.filter(project=metric.project, metric__in=names)
    ids = list(series.values_list("pk", flat=True))
    if as_old_news:
        touch_as_old_news(ids)
    else:
        touch(ids, quiet=True)


def _check(name: str, wishes: Mapping[str, Any]) -> None:
    """Raise MetricError for what cannot be said."""
    if name in DERIVED:
        raise MetricError("name", f"'{name}' is computed from other metrics")
    for wish, highest in (
        ("smallest_change", MAX_RELATIVE_CHANGE),
        ("smallest_change_absolute", _MAX_ABSOLUTE_CHANGE),
    ):
        value = wishes.get(wish)
        if value is not None and not (math.isfinite(value) and 0 < value <= highest):
            raise MetricError(wish, f"must be greater than 0 and at most {highest:g}")
    for wish, choices in (
        ("direction", Series.Direction.values),
        ("aggregation", ProjectMetric.Aggregation.values),
        ("kind", ProjectMetric.Kind.values),
    ):
        if wish in wishes and wishes[wish] not in choices:
            raise MetricError(wish, f"must be one of {', '.join(choices)}")


def _said(value: object) -> str:
    return "not said" if value in (None, "") else str(value)
