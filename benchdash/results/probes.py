"""The probe of a run: the one figure by which other forms of the same measurement are looked up."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from benchdash.results.readings import is_clocked, is_computed

# Forms print different metrics in different orders: of these, most have the same first one.
_FIRST = ("score", "tps", "qps", "events_per_s", "ops_per_s", "nopm", "tpm")
_RANKS = {metric: rank for rank, metric in enumerate(_FIRST)}
PRINTED_DIGITS = 15


class Probe(NamedTuple):
    value: float
    unit: str


def probe_of(figures: Iterable[tuple[str, float, str]]) -> Probe | None:
    """Return the probe among figures of a run (metric, value, unit); None where all of them are zero.

    Sizes and counts may be the same in every run, so a figure that a clock gave goes first. Its value is
    without the digits that floating point adds, so that equal prints are equal numbers.
    """
    ranked = [(_precedence(metric, unit), value, unit) for metric, value, unit in figures if value]
    if not ranked:
        return None
    _, value, unit = min(ranked)
    return Probe(float(f"{value:.{PRINTED_DIGITS}g}"), unit)


@lru_cache(maxsize=1000)
def _precedence(metric: str, unit: str) -> tuple[bool, bool, int, str]:
    return is_computed(metric), not is_clocked(unit), _RANKS.get(metric, len(_RANKS)), metric
