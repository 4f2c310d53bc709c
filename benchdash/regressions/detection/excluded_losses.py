"""Which loss measured sessions exclude: of single rows, and of the mean of several.

A test of non-inferiority at 5 %, one-sided, on the logs of speeds. Every row has to exclude its margin, so
has the mean, and each is tested at the full level (Berger 1982, Multiparameter hypothesis testing and
acceptance sampling). The noise of a row is the scatter of sessions around their levels, of those that are
judged and of those before, drawn towards that of the other rows (Smyth 2004). Rows of a session share its
mood: the noise of their mean is the scatter of the means of sessions.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, inf, log1p, sqrt
from statistics import fmean
from typing import Final

import numpy as np
from scipy.special import fdtrc, ndtri, stdtrit

from benchdash.regressions.detection.noise import MIN_SD
from benchdash.regressions.detection.paired_sessions import moderated

MAX_SESSIONS: Final = 10
"""Nobody measures more sessions than this to settle one question."""

_CONFIDENCE: Final = 0.95
_POWER: Final = 0.9
# The sessions that are judged tell the noise alone where they scatter more than the others, below this p.
_MAX_P_OF_OWN: Final = 0.01
# The share of rows that a session must have to tell of their mean.
_MIN_SHARE: Final = 0.5

Logs = Mapping[Hashable, float]
"""The mean of the logs of the speed of a row by session."""


@dataclass(frozen=True, slots=True)
class RowSessions:
    """The figures of a row, its base, and other levels of its history, which tell of its noise alone.

    ``min_sd`` is the least scatter that is believed.
    """

    measured: Logs
    base: Logs
    others: Sequence[Logs] = ()
    min_sd: float = MIN_SD


@dataclass(frozen=True, slots=True)
class LossEvidence:
    """The difference of the logs of two speeds: below 0 is a loss.

    ``sd`` is that of one session, known with ``df`` degrees of freedom. There are ``sessions``, and so many
    ``of_base``, which stay as many where ``is_base_fixed``.
    """

    difference: float
    sd: float
    df: float
    sessions: float
    of_base: float
    is_base_fixed: bool = False

    @classmethod
    def of_interval(cls, low: float, high: float, sessions: int, of_base: int) -> "LossEvidence":
        """Take the lower end of an interval of 95 % for the loss that is excluded."""
        sd = (high - low) / 2 / float(ndtri(_CONFIDENCE)) / sqrt(1 / sessions + 1 / of_base)
        return cls((low + high) / 2, sd, inf, sessions, of_base)

    @property
    def bound(self) -> float:
        """The relative change that is excluded, as all below it is."""
        return expm1(self.difference - _quantile(self.df) * self.error())

    def error(self, more: int = 0) -> float:
        of_base = self.of_base if self.is_base_fixed else self.of_base + more
        return self.sd * sqrt(1 / (self.sessions + more) + 1 / of_base)

    def more_sessions(self, margin: float, rows: int = 1) -> int:
        """Return how many more let equal speeds exclude a loss of ``margin`` in all rows, nine times in ten.

        It follows from the scatter and not from the difference, so that sessions that scatter alike never ask
        for more of them. MAX_SESSIONS + 1 stands for any number above.
        """
        deviate = float(ndtri(_POWER ** (1 / rows)))
        for more in range(1, MAX_SESSIONS + 1):
            if (_quantile(self.df + more) + deviate) * self.error(more) <= -log1p(-margin):
                return more
        return MAX_SESSIONS + 1


def _quantile(df: float) -> float:
    return float(ndtri(_CONFIDENCE) if df == inf else stdtrit(df, _CONFIDENCE))


def evidence_of_rows(rows: Sequence[RowSessions]) -> tuple[list[LossEvidence], LossEvidence]:
    """Return the evidence of the rows of one place, and that of their mean."""
    residuals = [[_residuals(one) for one in (row.measured, row.base, *row.others)] for row in rows]
    rss = np.array([sum(map(_squares, levels)) for levels in residuals])
    df = np.array([sum(len(one) - 1 for one in levels) for levels in residuals], dtype=float)
    variance, worth = moderated(rss, df)
    found = []
    for row, (own, *_), of_row, of_df in zip(rows, residuals, variance, worth, strict=True):
        difference = fmean(row.measured.values()) - fmean(row.base.values())
        sd, own_df = _trusted(max(sqrt(of_row), row.min_sd), float(of_df), own, _MAX_P_OF_OWN / len(rows))
        found.append(
            LossEvidence(difference, sd, own_df, len(row.measured), len(row.base), is_base_fixed=True)
        )
    moods, own_moods = (
        _moods([[one for level in levels[:last] for one in level.items()] for levels in residuals])
        for last in (None, 1)
    )
    of_mean = max(len(moods) - fmean(map(len, residuals)), 1.0)
    sd, of_mean = _trusted(max(sqrt(_squares(moods) / of_mean), MIN_SD), of_mean, own_moods, _MAX_P_OF_OWN)
    mean = LossEvidence(
        difference=fmean(one.difference for one in found),
        sd=sd,
        df=of_mean,
        sessions=1 / fmean(1 / one.sessions for one in found),
        of_base=1 / fmean(1 / one.of_base for one in found),
        is_base_fixed=True,
    )
    return found, mean


def mean_of(parts: Sequence[tuple[int, LossEvidence]]) -> LossEvidence:
    """Return the mean of parts, each with how many rows it has. They may err together: errors add up."""
    rows = sum(number for number, _ in parts)
    sessions = min(one.sessions for _, one in parts)
    of_base = min(one.of_base for _, one in parts)
    return LossEvidence(
        difference=sum(number / rows * one.difference for number, one in parts),
        sd=sum(number / rows * one.error() for number, one in parts) / sqrt(1 / sessions + 1 / of_base),
        df=min(one.df for _, one in parts),
        sessions=sessions,
        of_base=of_base,
        is_base_fixed=all(one.is_base_fixed for _, one in parts),
    )


def _residuals(level: Logs) -> dict[Hashable, float]:
    middle = fmean(level.values())
    return {key: value - middle for key, value in level.items()}


def _squares(residuals: Logs) -> float:
    return sum(value**2 for value in residuals.values())


def _moods(rows: Sequence[Sequence[tuple[Hashable, float]]]) -> dict[Hashable, float]:
    """Return the mean of the residuals of each session that most rows have."""
    by_session: dict[Hashable, list[float]] = defaultdict(list)
    for row in rows:
        for session, residual in row:
            by_session[session].append(residual)
    return {key: fmean(found) for key, found in by_session.items() if len(found) >= _MIN_SHARE * len(rows)}


def _trusted(sd: float, df: float, own: Logs, max_p: float) -> tuple[float, float]:
    """Return the noise, or that of the sessions that are judged where they scatter clearly more (F test)."""
    own_df = len(own) - 1
    if own_df > 0 and fdtrc(own_df, df, _squares(own) / own_df / sd**2) < max_p:
        return sqrt(_squares(own) / own_df), float(own_df)
    return sd, df
