"""Runs that shared one server start or one load of the data: more alike than they are like the next start."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import exp, log
from statistics import fmean
from typing import Final

SESSION_TAG: Final = "session:"
"""Runs of one version at one place tagged ``session:<name>`` alike shared a session."""


def session_of(tags: Iterable[str]) -> str | None:
    """Return the first session that the tags name."""
    return next((tag for tag in tags if tag.startswith(SESSION_TAG)), None)


def session_name(tags: Iterable[str]) -> str | None:
    """Return that session as its sender named it."""
    session = session_of(tags)
    return session and session.removeprefix(SESSION_TAG)


def sessions_of(runs: Sequence[tuple[int, Iterable[str]]]) -> tuple[str, ...]:
    """Return the session of each run, given id and tags: one of its own where no tag names any.

    Empty where no tag of any run does.
    """
    named = [session_of(tags) for _, tags in runs]
    if not any(named):
        return ()
    return tuple(name or f"run {pk}" for name, (pk, _) in zip(named, runs, strict=True))


def session_means(values: Sequence[float], sessions: Sequence[Hashable]) -> list[float]:
    """Return the geometric mean of the runs of each session, in the order of first appearance."""
    logs: dict[Hashable, list[float]] = defaultdict(list)
    for value, session in zip(values, sessions, strict=True):
        logs[session].append(log(value))
    return [exp(fmean(of_session)) for of_session in logs.values()]
