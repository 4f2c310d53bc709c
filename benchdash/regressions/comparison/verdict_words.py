"""The words of verdicts, of where their noise is known from, and of what would settle them.

A verdict has one of four strengths, each with its own words: no difference, a difference, likely a difference
(a single session says so), and not enough to tell. Pages, tables for tickets and files all take them from
here; how they look on pages is in ``templatetags/figures.py``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, get_args

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.detection.compare import UNTESTED_BASES, Comparison, Verdict
from benchdash.regressions.detection.excluded_losses import MAX_SESSIONS
from benchdash.regressions.detection.scatter import Basis
from benchdash.results.metrics import is_speed
from benchdash.results.readings import UNKNOWN
from benchdash.results.sessions import START_MEND
from benchdash.results.wording import NO_BREAK, count, counted

NOISE: Final[Mapping[Basis, str]] = {
    "history": "history",
    "table": "sessions in other cells",
    "runs": "repeats",
    "sessions": "sessions",
    "pairs": "the sessions that both were measured in",
    "control": "sessions, relative to their control",
    "forks": "forks",
    "tool": "the tool's own error",
    "within session": "one session each: no test",
    "within fork": "one fork each: no test",
    "none": "not known: no test",
    "assumed start": "start assumed: no test",
}
"""By the basis of a comparison, where its noise is known from."""

STARTS_ASSUMED: Final = (
    "Nobody said when some of these runs started. Their time of receipt stands in for it, and does not tell"
    f" sessions apart: {START_MEND}."
)
"""Why a comparison is likely at most, and what would mend that."""

MIXED: Final = "mixed"
"""The verdict of rows that contradict each other, if one is wanted for all of them."""

SESSIONS_TO_TELL: Final = 3
"""The sessions of a version that tell how much its sessions scatter."""

_RATHER: Final = "; measuring both in turns beside a control, or on a quieter machine, tells sooner"

_CERTAIN: Final = frozenset({"better", "worse"})


def is_certain(verdict: str) -> bool:
    """Tell whether a verdict is a difference beyond doubt."""
    return verdict in _CERTAIN


def is_likely(verdict: str) -> bool:
    """Tell whether a verdict is a difference that a single session shows."""
    return verdict.startswith("likely_")


def side_of(verdict: str) -> str:
    """``worse`` of ``worse`` and of ``likely_worse``; empty where no difference is said."""
    side = verdict.removeprefix("likely_")
    return side if side in _CERTAIN else ""


def words(verdict: str, metric: str = "", *, direction: str = "", margin: float | None = None) -> str:
    """``no difference within ±2 %``, ``slower``, ``likely slower (one session)``, ``not enough to tell``."""
    if verdict == "same":
        return "no difference" + (f" within {within(margin)}" if margin is not None else "")
    said = short_words(verdict, metric, direction)
    return f"{said} (one session)" if is_likely(verdict) else said


def short_words(verdict: str, metric: str = "", direction: str = "") -> str:
    """Say the same where there is little room: ``likely slower``.

    What is not a speed is ``worse`` or ``better``, and a difference is ``not judged`` where nobody has said
    which direction is.
    """
    if verdict == "same":
        return "no difference"
    if verdict == MIXED:
        return "in both directions"
    side = side_of(verdict)
    if not side:
        return "not judged" if direction == UNKNOWN else "not enough to tell"
    if is_speed(metric):
        side = "slower" if side == "worse" else "faster"
    return f"likely {side}" if is_likely(verdict) else side


def within(margin: float) -> str:
    """``±2 %``."""
    return f"±{round(margin * 100, 6):g}{NO_BREAK}%"


def counts_in_words(verdicts: Iterable[str], metric: str = "", direction: str = "") -> str:
    """``5 slower, 2 likely slower, 7 not enough to tell``."""
    counts = Counter(verdicts)
    return ", ".join(
        f"{count(counts[one])} {short_words(one, metric, direction)}"
        for one in get_args(Verdict)
        if counts[one]
    )


def session_count(cell: Cell) -> int:
    """Count the sessions behind a cell; runs of which none is known are one each."""
    return len(set(cell.sessions)) or cell.n


def says_nothing_between_sessions(comparison: Comparison, base: Cell, other: Cell) -> bool:
    """Tell whether both sides have one session that counts, and nothing tells how much sessions scatter."""
    if is_of_assumed_starts(comparison):
        return True
    return is_within_a_session(comparison) and session_count(base) == 1 and session_count(other) == 1


def is_of_assumed_starts(comparison: Comparison | None) -> bool:
    """Tell whether sessions of a comparison do not count, because nobody said when they were."""
    return comparison is not None and comparison.basis == "assumed start"


def is_within_a_session(comparison: Comparison) -> bool:
    """Tell whether nothing is known of the scatter between sessions."""
    return comparison.basis in UNTESTED_BASES


def change_of(comparison: Comparison | None) -> float | None:
    """Return the relative change that a comparison found; None without a ratio."""
    return None if comparison is None or comparison.ratio is None else comparison.ratio - 1


def noise(comparison: Comparison) -> str:
    """``noise: repeats``."""
    return f"noise: {NOISE[comparison.basis]}"


def settling(comparison: Comparison) -> str:
    """``3 more sessions of each would settle it``; empty where it is settled, or so many are no advice."""
    more = _more(comparison)
    return would_settle(more, "it") if 0 < more <= MAX_SESSIONS else ""


def would_settle(more: int, what: str) -> str:
    """Say how many more sessions of each would settle it, and what helps where those are too many."""
    rather = _RATHER if more > MAX_SESSIONS else ""
    return f"{counted(more, 'more session')} of each would settle {what}{rather}"


def what_would_tell(comparisons: Iterable[Comparison]) -> str:
    """Say how many more sessions would settle comparisons of which none is settled.

    ``2 more sessions of each would settle the first of these, 9 more all of them.``
    """
    found = list(comparisons)
    needed = sorted(filter(None, map(_more, found)))
    if not needed and any(map(is_of_assumed_starts, found)):
        return STARTS_ASSUMED
    if not needed:
        sessions = counted(SESSIONS_TO_TELL, "session")
        return f"{sessions} of each, measured at different times, would tell how much is noise."
    if needed[0] == needed[-1]:
        return f"{would_settle(needed[0], 'these' if len(needed) > 1 else 'it')}."
    first = f"{counted(needed[0], 'more session')} of each would settle the first of these"
    rather = _RATHER if needed[-1] > MAX_SESSIONS else ""
    return f"{first}, {count(needed[-1])} more all that can be said of{rather}."


def short_verdict(comparison: Comparison, metric: str = "", direction: str = "") -> str:
    """``not enough to tell, 3 more`` where there is little room; ``note`` explains it.

    Nobody measures more than MAX_SESSIONS again: so many are no advice.
    """
    said, more = short_words(comparison.verdict, metric, direction), _more(comparison)
    return f"{said}, {count(more)} more" if 0 < more <= MAX_SESSIONS else said


def note(comparisons: Iterable[Comparison], *, margin: float) -> str:
    """``Noise: sessions (5 cells), history (3 cells).``, and what is meant by words in the cells.

    ``margin`` is the relative difference that does not matter.
    """
    found = list(comparisons)
    counts = Counter(one.basis for one in found)
    if not counts:
        return ""
    shown = [basis for basis in get_args(Basis) if counts[basis]]
    listed = ", ".join(
        NOISE[basis] + (f" ({counted(counts[basis], 'cell')})" if len(shown) > 1 else "") for basis in shown
    )
    said = [f"Noise: {listed}."]
    if any(one.verdict == "same" for one in found):
        said.append(f"No difference: within {within(margin)}.")
    if any(is_likely(one.verdict) for one in found):
        said.append("Likely: one session says so, and how much sessions scatter is not known.")
    needed = list(filter(None, map(_more, found)))
    if few := sorted(more for more in needed if more <= MAX_SESSIONS):
        sessions = counted(few[-1], "more session")
        least = f"{count(few[0])} to " if few[0] < few[-1] else ""
        said.append(f"{counted(len(few), 'cell')} would be settled by {least}{sessions} of each.")
    if len(few) < len(needed):
        said.append(f"Where not even {MAX_SESSIONS} would, {_RATHER.removeprefix('; ')}.")
    return " ".join(said)


def _more(comparison: Comparison) -> int:
    """Return how many more of each would settle what is not settled; 0 where that cannot be said."""
    is_open = comparison.verdict == "unknown" or is_likely(comparison.verdict)
    return (comparison.more_runs or 0) if is_open else 0
