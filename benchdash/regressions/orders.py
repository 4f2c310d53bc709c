"""In which order the groups of a place stand, kept from look to look.

Change points of several places are one incident where they begin together. How far apart they begin only the
order of groups tells, and to read it from the runs would cost more than the look itself.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from benchdash.regressions.models import PlaceOrder
from benchdash.regressions.places import Place
from benchdash.results.layouts import PlacedGroup, Runs, lay_out
from benchdash.results.models import Series

_EVERYTHING = 2**62


def stored_order(place: Place) -> PlaceOrder | None:
    return PlaceOrder.objects.filter(**asdict(place)).first()


def keep_order(place: Place, runs: Runs, stored: PlaceOrder | None, *, looks: str) -> None:
    """Store how the groups of a place stand now, and the looks at it. ``stored`` is what an earlier look
    stored; groups before a cut stay as it saw them.
    """
    groups = runs.groups
    if runs.is_cut and groups:
        known = _read(stored) if stored else _measured(place.series().filter(change_points__isnull=False))
        groups = [*(group for group in known if group.order < groups[0].order), *groups]
    text = json.dumps(groups)
    if stored is None:
        PlaceOrder.objects.create(**asdict(place), groups=text, looks=looks)
        return
    changed = ["looks"] if stored.groups == text else ["looks", "groups"]
    stored.groups, stored.looks = text, looks
    stored.save(update_fields=changed)


def groups_in_order(series: Iterable[Series]) -> list[PlacedGroup]:
    """The groups of the places of these series of one branch or line, in order.

    A group stands there once for each place that has it. Where nobody looked yet, only what is measured in
    these series counts.
    """
    by_place: dict[Place, list[Series]] = defaultdict(list)
    for one in series:
        by_place[Place.of(one)].append(one)
    if not by_place:
        return []
    some = next(iter(by_place))
    stored = {
        Place.of(order): order
        for order in PlaceOrder.objects.filter(product=some.product_id, branch=some.branch, line=some.line)
    }
    groups = [
        group
        for place, of_place in by_place.items()
        for group in (_read(stored[place]) if place in stored else _measured(of_place))
    ]
    return sorted(groups, key=lambda group: group.order)


def _read(stored: PlaceOrder) -> list[PlacedGroup]:
    return [PlacedGroup._make(group) for group in json.loads(stored.groups)]


def _measured(series: Iterable[Series]) -> Sequence[PlacedGroup]:
    return lay_out(list(set(series)), most_values=_EVERYTHING).runs.groups
