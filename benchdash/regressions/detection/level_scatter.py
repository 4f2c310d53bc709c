"""The scatter of histories within their levels, of many histories at once."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchdash.regressions.detection.noise import Bools, Floats, Ints
from benchdash.regressions.detection.shifts import Values, as_array

MIN_WORTH: Final = 5
_MAX_WORTH: Final = 8
_NAMELESS, _UNHEARD = -1, -2


def level_scatter(values: Values, starts: Collection[int]) -> tuple[float, float] | None:
    """Return the standard deviation of the logs of single points within levels, and its worth.

    ``starts`` are the indexes at which a new level begins. None where too little is known; see
    ``LevelHistories.scatter``.
    """
    [sd], [worth] = LevelHistories.of([values], [starts]).scatter(np.zeros(1, np.int64))
    return (float(sd), float(worth)) if worth else None


@dataclass(frozen=True)
class LevelHistories:
    """Shape (histories, points of the longest).

    ``logs`` are those of usable values, from the first one of their level, and ``whole_logs`` from the first
    one of all. ``levels`` count from 0 in each
    history. ``names`` are codes, those of ``codes`` by name: they tell the points of a history that may be
    left out.
    """

    logs: Floats
    whole_logs: Floats
    is_usable: Bools
    levels: Ints
    names: Ints
    codes: dict[Hashable, int]

    @classmethod
    def of(
        cls,
        values: Sequence[Values],
        starts: Sequence[Collection[int]],
        names: Sequence[Sequence[Hashable]] = (),
    ) -> "LevelHistories":
        """Lay histories side by side; without ``names`` nothing can be left out."""
        shape = len(values), max(map(len, values), default=0)
        numbers, levels = np.full(shape, np.nan), np.zeros(shape, np.int64)
        coded, codes = np.full(shape, _NAMELESS), dict[Hashable, int]()
        for at, (one, begins) in enumerate(zip(values, starts, strict=True)):
            numbers[at, : len(one)] = as_array(one)
            for index in begins:
                levels[at, index:] += 1
        for at, of_history in enumerate(names):
            coded[at, : len(of_history)] = [codes.setdefault(name, len(codes)) for name in of_history]
        is_usable = numbers > 0
        logs = np.log(np.where(is_usable, numbers, 1))
        return cls(
            logs=_from_first(logs, is_usable, levels),
            whole_logs=_from_first(logs, is_usable, np.zeros_like(levels)),
            is_usable=is_usable,
            levels=levels,
            names=coded,
            codes=codes,
        )

    def coded(self, names: Sequence[Hashable]) -> Ints:
        return np.fromiter((self.codes.get(name, _UNHEARD) for name in names), np.int64, len(names))

    def kept(self, which: Ints, without: Ints | None = None) -> Bools:
        """Tell which points of histories count, as for ``scatter``."""
        kept = self.is_usable[which]
        if without is not None:
            kept &= (self.names[which, :, None] != without[:, None, :]).all(axis=2)
        return kept

    def scatter(
        self, which: Ints, without: Ints | None = None, whole: Bools | None = None
    ) -> tuple[Floats, Floats]:
        """Return standard deviations of the logs of single points within levels, and what they are worth.

        ``which`` are indexes of histories; ``without``, shape (asked, 2), has codes of names that are left
        out of each. The levels of those that are taken ``whole`` are one.

        The worth is the degrees of freedom, at most eight: noise itself changes with time, and a long history
        must not outvote what fresh runs show. NaN and 0 where less than five degrees of freedom are left.
        """
        kept = self.kept(which, without)
        x, asked = self.logs[which], len(which)
        most = int(self.levels.max(initial=0)) + 1
        levels = self.levels[which]
        if whole is not None and whole.any():
            levels = np.where(whole[:, None], 0, levels)
            x = np.where(whole[:, None], self.whole_logs[which], x)
        places = (np.arange(asked)[:, None] * most + levels)[kept]
        n = np.bincount(places, minlength=asked * most)
        means = np.bincount(places, x[kept], asked * most) / np.maximum(n, 1)
        of_value = np.bincount(places // most, (x[kept] - means[places]) ** 2, asked)
        df = np.maximum(n - 1, 0).reshape(asked, most).sum(axis=1)
        enough = df >= MIN_WORTH
        return (
            np.where(enough, np.sqrt(of_value / np.maximum(df, 1)), np.nan),
            np.where(enough, np.minimum(df, _MAX_WORTH), 0).astype(float),
        )


def _from_first(logs: Floats, is_usable: Bools, levels: Ints) -> Floats:
    """Take logs from the first of their level: equal values scatter by nothing, not even by rounding."""
    most = int(levels.max(initial=0)) + 1
    places = np.arange(len(logs))[:, None] * most + levels
    first = np.zeros(len(logs) * most)
    # The last of several values for one place stays: the earliest point.
    first[places[is_usable][::-1]] = logs[is_usable][::-1]
    return np.asarray(logs - first[places])
