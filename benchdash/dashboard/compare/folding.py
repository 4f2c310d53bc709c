"""Rows that did not change stand folded: which rows, under which words, and what would tell more of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison.verdict_words import (
    counts_in_words,
    is_certain,
    is_likely,
    short_words,
    what_would_tell,
)
from benchdash.regressions.detection.compare import Comparison

# Fewer rows than these are no longer than the line that would stand for them.
MIN_FOLDED: Final = 3
ONE_SIDED: Final = ""
"""In place of the verdict of what only one side measured."""


@dataclass(frozen=True)
class Fold:
    """The line that stands for folded rows.

    ``enough`` says what would tell of a change, where nothing is told of one; empty elsewhere.
    """

    words: str
    enough: str = ""


def strength(verdict: str) -> int:
    """0 of a difference, 1 of a likely one, 2 of none."""
    return 0 if is_certain(verdict) else 1 if is_likely(verdict) else 2


def fold_of(verdicts: Sequence[str], comparisons: Iterable[Comparison], *, what: str, are_all: bool) -> Fold:
    """Return the line for rows with these verdicts; ``what`` is the word for one of them.

    ``are_all``: no row stands open beside them.
    """
    number = numbers.counted(len(verdicts), what)
    told = [one for one in verdicts if one != ONE_SIDED]
    parts = {one: told.count(one) for one in dict.fromkeys(told)}
    if len(parts) == 1 and len(told) == len(verdicts):
        [verdict] = parts
        said = f"{number} without a change" if verdict == "same" else f"{number}: {short_words(verdict)}"
    else:
        one_sided = len(verdicts) - len(told)
        said = f"{number}: " + ", ".join(
            filter(
                None,
                [counts_in_words(told), f"{numbers.count(one_sided)} on one side only" if one_sided else ""],
            )
        )
    is_untold = are_all and "same" not in verdicts
    return Fold(said, what_would_tell(comparisons) if is_untold and told else "")
