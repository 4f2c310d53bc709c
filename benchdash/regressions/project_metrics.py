"""The metrics of a project: those that were measured, and those that somebody said something of."""

from dataclasses import dataclass
from typing import Final

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.models import ProjectMetric
from benchdash.results.readings import UNKNOWN


@dataclass(frozen=True, slots=True)
class ListedMetric:
    """A metric with what holds for it; ``id`` is None where nobody has said anything of it.

    ``unit`` and ``direction`` are those of most of its ``series``. ``watched`` is what comes of what was said
    (``said_watched``, None where it is as by default). ``smallest_change`` is relative and
    ``smallest_change_absolute`` in ``unit``, None where the rules of the project hold.
    """

    id: int | None
    name: str
    unit: str
    direction: str
    watched: bool
    said_watched: bool | None
    smallest_change: float | None
    smallest_change_absolute: float | None
    aggregation: str
    kind: str
    is_own: bool
    series: int

    @property
    def lacks_direction(self) -> bool:
        return self.direction == UNKNOWN


def metrics_of(project: Project, name: str | None = None) -> list[ListedMetric]:
    """List the metrics of a project by name, or the one of this name; two statements."""
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED, {"project": project.pk, "name": name})
        measured = {row[0]: row[1:] for row in cursor.fetchall()}
    rules = rules_of(project.pk)
    names = sorted({*measured, *rules.said}) if name is None else {*measured, *({name} & rules.said.keys())}
    found = []
    for each in names:
        said = rules.said.get(each) or ProjectMetric(name=each, is_own=False)
        unit, direction, series = measured.get(each, ("", UNKNOWN, 0))
        found.append(
            ListedMetric(
                id=said.pk,
                name=each,
                unit=said.unit if said.is_own else unit,
                direction=said.direction if said.is_own else direction,
                watched=rules.is_watched(each),
                said_watched=said.watched,
                smallest_change=said.smallest_change,
                smallest_change_absolute=said.smallest_change_absolute,
                aggregation=said.aggregation,
                kind=said.kind,
                is_own=said.is_own,
                series=series,
            )
        )
    return found


# A score of JMH is a time in some series and a throughput in others.
_MEASURED: Final = """
    SELECT metric, mode() WITHIN GROUP (ORDER BY unit), mode() WITHIN GROUP (ORDER BY direction), count(*)
    FROM results_series
    WHERE project_id = %(project)s AND NOT is_derived AND (%(name)s::text IS NULL OR metric = %(name)s)
    GROUP BY metric
"""
