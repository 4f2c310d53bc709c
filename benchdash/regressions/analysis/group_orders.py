"""The order of the groups of a place, stored by each look.

Change points of several places are one incident where they begin together. How far apart they begin follows
from the order of groups; reading it from the runs would cost more than the look itself.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchdash.regressions.models import PlaceOrder
from benchdash.results.models import Series
from benchdash.results.place import Place
from benchdash.results.points import PlacedGroup, PlacedRuns, lay_out

_EVERYTHING = 2**62


def keep_order(place: Place, runs: PlacedRuns) -> None:
    """Store how the groups of a place stand now. Groups before a cut stay as an earlier look saw them."""
    stored = PlaceOrder.objects.filter(**place._asdict()).first()
    known = _read(stored) if stored else None
    groups = list(runs.groups)
    if runs.is_cut and groups:
        if known is None:
            known = list(_measured(place.series().filter(change_points__isnull=False)))
        groups = [*(group for group in known if group.order < groups[0].order), *groups]
    if stored is None:
        PlaceOrder.objects.create(**place._asdict(), groups=json.dumps(groups))
    elif groups != known:
        stored.groups = json.dumps(groups)
        stored.save(update_fields=["groups"])


def groups_in_order(series: Iterable[Series]) -> list[tuple[str, PlacedGroup]]:
    """List the groups of the places of these series of one branch or line, in order, with their builds.

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
        (place.build, group)
        for place, of_place in by_place.items()
        for group in (_read(stored[place]) if place in stored else _measured(of_place))
    ]
    return sorted(groups, key=lambda placed: placed[1].order)


def _read(stored: PlaceOrder) -> list[PlacedGroup]:
    return [PlacedGroup._make(group) for group in json.loads(stored.groups)]


def _measured(series: Iterable[Series]) -> Sequence[PlacedGroup]:
    return lay_out(list(set(series)), most_values=_EVERYTHING).runs.groups
