"""Acts of people on several incidents at once, in words: before and after."""

from collections.abc import Mapping
from typing import Any

from benchdash.dashboard.shell.numbers import counted
from benchdash.regressions.event_words import until_words
from benchdash.regressions.triage import ACTIONS


def question(wanted: Mapping[str, Any], number: int) -> str:
    """Write ``Decline 14 incidents, and assign them to Alice?``; ``wanted`` are arguments of ``triage``."""
    what = counted(number, "incident")
    wishes = []
    if state := wanted.get("state"):
        wishes.append(ACTIONS[state].of)
    if "unassign" in wanted:
        whom = wanted["assignee"] or "nobody"
        wishes.append(lambda what: f"assign {what} to {whom}")
    if "snooze" in wanted:
        wishes.append(lambda what: f"snooze {what} until {_until(wanted)}")
    if not wishes:
        wishes.append(lambda what: f"give a reason for {what}")
    first, *others = wishes
    pronoun = "it" if number == 1 else "them"
    sentence = ", and ".join([first(what), *(wish(pronoun) for wish in others)])
    return f"{sentence[:1].upper()}{sentence[1:]}?"


def what_was_done(wanted: Mapping[str, Any], number: int) -> str:
    """Write ``14 incidents declined, assigned to Alice``."""
    done = []
    if state := wanted.get("state"):
        done.append(ACTIONS[state].done)
    if "unassign" in wanted:
        done.append(f"assigned to {wanted['assignee'] or 'nobody'}")
    if "snooze" in wanted:
        done.append(f"snoozed until {_until(wanted)}")
    return f"{counted(number, 'incident')} {', '.join(done) or 'given a reason'}"


def _until(wanted: Mapping[str, Any]) -> str:
    return until_words(wanted["snooze"].until, wanted["snooze"].until_version)
