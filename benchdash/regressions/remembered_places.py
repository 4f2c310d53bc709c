"""What a worker remembers of the places it looked at, so that the next look reads only what came in since.

Nothing is taken from memory that is not proven to be so. Each look has a name, which its transaction stores
beside the order of the place (``PlaceOrder.looks``), with the first run that it may have seen new. A worker
that knows one of these looks reads the runs from there on. Touched series (``TouchedSeries``) tell whether
anything but new runs may have changed since the last look, and a series that went without a trace leaves the
place with fewer of them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from django.conf import settings
from django.db.models import Count, Max

from benchdash.regressions.models import PlaceOrder
from benchdash.regressions.places import Place
from benchdash.results.grown_layouts import grown
from benchdash.results.layouts import Layout, lay_out
from benchdash.results.models import Series

_MOST_VALUES = 2_000_000
_MOST_LOOKS = 50
_ANYTHING = 0


@dataclass(frozen=True, slots=True)
class Remembered:
    """The series that tools printed at a place, by id, and what is measured in them, after one look."""

    look: str
    series: Mapping[int, Series]
    layout: Layout

    @property
    def values(self) -> int:
        """About how many numbers."""
        return 8 * len(self.layout.runs.ids) + sum(3 * len(one.runs) for one in self.layout.measured.values())


_places: dict[Place, Remembered] = {}


def read_place(place: Place, order: PlaceOrder | None, *, least_run_id: int) -> Remembered:
    """What is measured at a place now, by a look that is to be stored (``noted``).

    ``least_run_id``: no run changed since the last look but those from this one on, which are new; 0: any
    may have.
    """
    known = _places.pop(place, None)
    found = _grown(known, place, order, least_run_id) if known and order and least_run_id else None
    if found is None:
        series = {one.pk: one for one in place.series().filter(is_derived=False).order_by("pk")}
        layout = lay_out(series.values(), most_values=settings.ANALYSIS_MOST_VALUES)
        found = Remembered(uuid4().hex, series, layout)
    _places[place] = found
    while len(_places) > 1 and sum(one.values for one in _places.values()) > _MOST_VALUES:
        _places.pop(next(iter(_places)))
    return found


def noted(looks: str, name: str, *, least_run_id: int) -> str:
    """The newest looks (``PlaceOrder.looks``) with one more."""
    return json.dumps([*json.loads(looks), [name, least_run_id]][-_MOST_LOOKS:])


def forget_places() -> None:
    _places.clear()


def _grown(known: Remembered, place: Place, order: PlaceOrder, least_run_id: int) -> Remembered | None:
    """None where it is not proven that all that is remembered still is so."""
    looks = json.loads(order.looks)
    names = [name for name, _ in looks]
    if known.look not in names:
        return None
    since = [least for _, least in looks[names.index(known.look) + 1 :]]
    least = min([least_run_id, *since])
    if least == _ANYTHING:
        return None
    printed = place.series().filter(is_derived=False)
    newest = max(known.series, default=0)
    new = {one.pk: one for one in printed.filter(pk__gt=newest).order_by("pk")}
    series = {**known.series, **new}
    there = printed.aggregate(number=Count("pk"), newest=Max("pk"))
    if (there["number"], there["newest"]) != (len(series), max(series, default=None)):
        return None
    layout = grown(
        known.layout, series.values(), least_run_id=least, most_values=settings.ANALYSIS_MOST_VALUES
    )
    return Remembered(uuid4().hex, series, layout) if layout else None
