"""Fewer points that draw the same picture."""

from collections.abc import Collection, Sequence


def thinned(values: Sequence[float], most: int, *, keep: Collection[int] = ()) -> list[int]:
    """Return the indexes of at most ``most`` values: the smallest and the largest of each stretch.

    The first, the last and those in ``keep`` stay in any case, even where they alone are more than ``most``.
    """
    if len(values) <= most:
        return list(range(len(values)))
    kept = {0, len(values) - 1, *keep}
    stretches = (most - len(kept)) // 2
    for number in range(max(stretches, 0)):
        stretch = range(number * len(values) // stretches, (number + 1) * len(values) // stretches)
        kept |= {min(stretch, key=values.__getitem__), max(stretch, key=values.__getitem__)}
    return sorted(kept)
