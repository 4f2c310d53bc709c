"""Versions that were measured in the same sessions, compared within them.

What a session does to all versions alike falls out of their differences. A row of a table has the logs of
versions by sessions; what is left of it beyond an effect of each version and one of each session is the noise
(two-way analysis of variance; Fisher 1925, Statistical Methods for Research Workers). All versions of the row
tell it together. The variances of the rows are drawn towards each other by as much as they prove to be alike
(Smyth 2004, Linear models and empirical Bayes methods), by eight degrees of freedom at most. Where the
differences of two versions scatter clearly more than that (F test, p < 0.01), these count alone.
"""

from typing import Final

import numpy as np
from scipy.special import digamma, fdtrc, polygamma

from benchdash.regressions.detection.noise import MIN_SD, Floats
from benchdash.regressions.detection.scatter import PairedSessions

MIN_SESSIONS: Final = 2
_MAX_PRIOR_DF: Final = 8.0  # more makes a table of two versions too sure (measured releases)
_MIN_ROWS: Final = 3  # that tell how alike variances are
_FOREIGN: Final = 0.01


def paired_with_first(x: Floats) -> PairedSessions:
    """Compare each later version with the first; ``x`` is (rows, versions, sessions), NaN where nothing is.

    Returns arrays (rows, versions - 1), and means of (2, rows,
    versions - 1).
    """
    rss, df = _residuals(x)
    variance, worth = moderated(rss, df)
    both = np.isfinite(x[:, :1]) & np.isfinite(x[:, 1:])
    n = both.sum(axis=2).astype(float)
    least = np.maximum(n, 1)
    first = np.where(both, x[:, :1], 0).sum(axis=2) / least
    other = np.where(both, x[:, 1:], 0).sum(axis=2) / least
    differences = np.where(both, x[:, 1:] - x[:, :1] - (other - first)[:, :, None], 0)
    own_df = np.maximum(n - 1, 1)
    own = (differences**2).sum(axis=2) / own_df / 2
    common = np.broadcast_to(variance[:, None], n.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        foreign = fdtrc(own_df, worth[:, None], own / common) < _FOREIGN
    counts = n >= MIN_SESSIONS
    return PairedSessions(
        n=np.where(counts, n, 0),
        means=np.stack((first, other)),
        variance=np.where(foreign, own, common),
        df=np.where(counts, np.where(foreign, own_df, worth[:, None]), 0),
    )


def _residuals(x: Floats) -> tuple[Floats, Floats]:
    """Return of each row the squares left beyond versions and sessions, and their degrees of freedom."""
    rows, versions, sessions = x.shape
    flat = x.reshape(rows, -1)
    patterns, pattern_of = np.unique(np.isfinite(flat), axis=0, return_inverse=True)
    design = np.concatenate(
        (
            np.repeat(np.eye(versions), sessions, axis=0),
            np.tile(np.eye(sessions), (versions, 1)),
        ),
        axis=1,
    )
    rss, df = np.zeros((2, rows))
    for number, there in enumerate(patterns):
        of = np.flatnonzero(pattern_of.reshape(-1) == number)
        basis, sizes, _ = np.linalg.svd(design[there], full_matrices=False)
        basis = basis[:, sizes > 1e-9]
        values = flat[np.ix_(of, np.flatnonzero(there))]
        values = values - values.mean(axis=1, keepdims=True) if values.size else values
        rest = values - values @ basis @ basis.T
        rss[of], df[of] = (rest**2).sum(axis=1), values.shape[1] - basis.shape[1]
    return rss, df


def moderated(rss: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Draw the variances of rows towards each other; and what they are worth then.

    0 degrees of freedom where a row has none of its own.
    """
    rows = np.flatnonzero(df > 0)
    variance, worth = np.maximum(rss / np.maximum(df, 1), MIN_SD**2), df.copy()
    if len(rows) >= _MIN_ROWS:
        prior, prior_df = _prior(variance[rows], df[rows])
        # A row learns no more from the others than they know.
        prior_df = np.minimum(prior_df, df[rows].sum() - df[rows])
        worth[rows] += prior_df
        variance[rows] += (prior - variance[rows]) * prior_df / worth[rows]
    return variance, worth


def _prior(variance: Floats, df: Floats) -> tuple[float, float]:
    """Return the common variance and how many degrees of freedom it counts for (Smyth 2004, section 6.2)."""
    logs = np.log(variance) - digamma(df / 2) + np.log(df / 2)
    spread = float(logs.var(ddof=1) - polygamma(1, df / 2).mean())
    if spread <= 0:
        return float((df * variance).sum() / df.sum()), _MAX_PRIOR_DF
    prior_df = 2 * _inverse_trigamma(spread)
    centre = float(logs.mean()) + float(digamma(prior_df / 2)) - np.log(prior_df / 2)
    return float(np.exp(centre)), min(prior_df, _MAX_PRIOR_DF)


def _inverse_trigamma(y: float) -> float:
    """Newton's method of Smyth 2004, appendix."""
    x = 0.5 + 1 / y
    for _ in range(20):
        value = float(polygamma(1, x))
        step = value * (1 - value / y) / float(polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x
