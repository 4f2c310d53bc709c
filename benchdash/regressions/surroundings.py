"""The groups next to a change, as small charts show them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from benchdash.regressions.models import ChangePoint
from benchdash.results.points import Point

# Maximum number of groups on each side of a change: a small chart shows no more.
MAX_GROUPS: Final = 80


def around(points: Sequence[Point], change_point: ChangePoint) -> tuple[list[Point], int]:
    """Return the groups next to a change point, and where among them its new level begins."""
    index = next((i for i, point in enumerate(points) if change_point.run_id in point.run_ids), len(points))
    start = max(0, index - MAX_GROUPS)
    return list(points[start : index + MAX_GROUPS]), index - start


def level_starts(series: Iterable[int]) -> dict[int, list[int]]:
    """Return by series the runs with which its confirmed levels begin; one statement."""
    confirmed = ChangePoint.objects.filter(
        series__in=list(series), state=ChangePoint.State.CONFIRMED, per_point=None
    )
    found: dict[int, list[int]] = defaultdict(list)
    for pk, run in confirmed.values_list("series", "run"):
        found[pk].append(run)
    return found
