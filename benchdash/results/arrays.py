"""What PostgreSQL sends as bytes, as arrays."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Indexes = NDArray[np.int64]
Numbers = NDArray[np.float64]

# timestamptz_send counts microseconds since 2000.
_YEAR_2000_US: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 10**6
_DAY_US: Final = 24 * 60 * 60 * 10**6


def seconds(sent: NDArray[Any]) -> Numbers:
    """Since 1970."""
    return np.asarray((sent.astype(np.int64) + _YEAR_2000_US) / 1e6)


def days(sent: NDArray[Any]) -> Indexes:
    """Since 1970, in UTC."""
    return np.asarray((sent.astype(np.int64) + _YEAR_2000_US) // _DAY_US)


def ranks(texts: Sequence[str]) -> Indexes:
    """Of each text the number of different ones before it."""
    rank = {text: at for at, text in enumerate(sorted({*texts}))}
    return np.fromiter(map(rank.__getitem__, texts), np.int64, len(texts))
