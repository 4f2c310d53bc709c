"""Lays samples of the machine on the time of the run beside which they were taken, by the clocks of both."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from benchdash.results.records import SampleTable
from benchdash.results.stability import RUN_TIME, TIME

# The zones of the world differ by multiples of a quarter of an hour, nearly all by multiples of this.
_ZONES_APART_S: Final = 30 * 60


def on_the_time_of_the_run(
    table: SampleTable, began_s: float, started_at: datetime, duration_s: float | None
) -> SampleTable:
    """Count the seconds of a table from the start of the run, in a column ``run_s``.

    ``began_s`` is a time of day in a zone that the tool did not print, ``started_at`` is in UTC. Sampling is
    taken to have begun within a quarter of an hour of the run, which leaves one difference of zones. A table
    that then has nothing of the run stays as it is: one of the two clocks is wrong.
    """
    if TIME not in table.columns or not table.rows:
        return table
    # From minus to plus a quarter of an hour.
    half = _ZONES_APART_S / 2
    midnight = started_at.replace(hour=0, minute=0, second=0, microsecond=0)
    difference = began_s - (started_at - midnight).total_seconds()
    offset = (difference + half) % _ZONES_APART_S - half
    at = table.columns.index(TIME)
    times = [row[at] for row in table.rows if row[at] is not None]
    ends = max((time for time in times if time is not None), default=0.0) + offset
    if ends <= 0 or (duration_s is not None and offset >= duration_s):
        return table
    columns = tuple(RUN_TIME if name == TIME else name for name in table.columns)
    return replace(table, columns=columns, rows=tuple(_shifted(row, at, offset) for row in table.rows))


def _shifted(row: tuple[float | None, ...], at: int, offset: float) -> tuple[float | None, ...]:
    time = row[at]
    return row if time is None else (*row[:at], round(time + offset, 3), *row[at + 1 :])
