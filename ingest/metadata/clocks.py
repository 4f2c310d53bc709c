"""Times that no run and no commit can have: they lie in the future, or too far in the past."""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings

FIRST_PLAUSIBLE: Final = datetime(1995, 1, 1, tzinfo=UTC)
# The zone that is farthest ahead: a local time without an offset is taken as UTC.
_FARTHEST_ZONE: Final = timedelta(hours=14)


def future_trouble(moment: datetime, *, now: datetime, is_naive: bool = False) -> str:
    """Return a sentence for a time that is after ``now`` by more than clocks may differ; else empty.

    ``is_naive``: it was printed without an offset, and so may be ahead by as much as a zone.
    """
    tolerance = settings.CLOCK_TOLERANCE + (_FARTHEST_ZONE if is_naive else timedelta())
    if moment <= now + tolerance:
        return ""
    return (
        f"{_shown(moment)} is in the future: it is {_shown(now)} now; "
        "is the clock right, and does the time have its offset?"
    )


def early_warning(moment: datetime) -> str:
    if moment >= FIRST_PLAUSIBLE:
        return ""
    day = f"{moment:%Y-%m-%d}"
    return f"the run started on {day}, before {FIRST_PLAUSIBLE.year}: is the clock of its machine right?"


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
