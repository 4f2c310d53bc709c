"""Advice about an incident: what is known of it, and what would settle it."""

from collections.abc import Iterator, Sequence

from benchdash.regressions import queries
from benchdash.regressions.comparison.verdict_words import STARTS_ASSUMED
from benchdash.regressions.event_words import until_words
from benchdash.regressions.headlines import day, is_for_the_worse
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.ranges import VersionRange
from benchdash.results.wording import counted

_State, _Kind, _Status = Incident.State, Incident.Kind, Incident.Status


def what_now(incident: Incident, evidence: Sequence[ChangePoint], versions: VersionRange) -> list[str]:
    """Return sentences for whoever opens the page, the most telling first."""
    return list(_sentences(incident, evidence, versions))


def _sentences(incident: Incident, evidence: Sequence[ChangePoint], versions: VersionRange) -> Iterator[str]:
    if incident.status == _Status.WITHDRAWN:
        yield "Nothing is to be done: later runs or a correction took the evidence away."
        return
    if incident.folded_into:
        yield f"The machine explains it: look at the incident of {incident.folded_into.subject} first."
    if incident.is_snoozed:
        until = until_words(incident.snoozed_until, incident.snoozed_until_version)
        yield f"It is snoozed, and comes back among the open ones: {until}."
    if incident.state not in Incident.OPEN:
        yield from _settled(incident)
        return
    if incident.kind == _Kind.SILENCE:
        yield from _of_silence()
    elif incident.kind == _Kind.ENVIRONMENT:
        yield from _of_machine(incident)
    elif incident.kind == _Kind.DRIFT:
        yield from _of_drift()
    elif is_for_the_worse(incident):
        yield from _of_regression(incident, evidence, versions)
    else:
        yield "It is for the better: nothing is to be done, unless nobody can say what made it so."


def _settled(incident: Incident) -> Iterator[str]:
    if incident.recovered_by:
        on = day(incident.recovered_by.started_at)
        yield f"The loss ended on {on}. If it comes back, this incident is opened again."
    elif incident.state == _State.FIXED:
        yield "It is fixed. If it was marked so too early, reopen it."
    else:
        yield f"It is settled: {incident.get_state_display()}. Reopen it if that was wrong."


def _of_drift() -> Iterator[str]:
    yield (
        "No single commit is to blame. Measure the first version again: if it is as slow as the last, what"
        " grew is the data or the machine; else many small changes add up."
    )
    yield "It stays open until somebody closes it, or the loss is regained; you are told when it has doubled."


def _of_silence() -> Iterator[str]:
    yield (
        "Look whether the machine runs, whether its job starts, and whether its uploads are refused. The"
        " incident closes by itself when results come in again."
    )
    yield "If it was switched off for good, accept it as expected and say so in the reason."


def _of_machine(incident: Incident) -> Iterator[str]:
    yield (
        "Most of what this machine measures moved together, so it is hardly a change of one product. Look at"
        " what else changed: kernel, governor, disks, neighbours."
        if incident.product_id is None
        else "A build that never changes moved, so it was the machine. Look at what else changed: kernel,"
        " governor, disks, neighbours."
    )
    yield "Other incidents of that time on this machine tell nothing of their products until it is as before."


def _of_regression(
    incident: Incident, evidence: Sequence[ChangePoint], versions: VersionRange
) -> Iterator[str]:
    is_suspected = incident.status == _Status.SUSPECTED
    if is_suspected and not incident.branch and queries.of_assumed_starts([incident]):
        yield STARTS_ASSUMED
    elif queries.is_of_one_session(evidence):
        yield "It is not enough to tell: three sessions of each version, before and after, would be."
    elif is_suspected:
        yield (
            "It is not confirmed. Further runs that stay at the new level confirm it, and runs at the level"
            " before take it back: measure the newest version again."
        )
    else:
        yield "It is confirmed: enough runs agree."
    if incident.remaining is not None:
        yield (
            "Most of it is regained. The rest stands out of the noise of all its series together: look for"
            " that, or accept it as expected."
        )
    if incident.cause:
        yield f"It began when {incident.cause}. If that was meant, accept it as expected; else take it back."
    elif _is_one_build(versions):
        yield (
            "Both sides are the same build, so no commit made it: look at what else changed, and whether"
            " something else on the machine did."
        )
    if versions.next_to_measure:
        known = counted(len(versions.between), "version")
        yield f"{known} in its range: measuring {versions.next_to_measure} next halves it."
    elif incident.since and incident.until and not _is_one_build(versions) and not versions.between:
        yield f"No version between {versions.since} and {versions.until} is known: what made it lies there."
    if incident.historical:
        yield "It is old: the newest results of its series say whether it still matters."
    if incident.state == _State.NEW and incident.assignee is None:
        yield "Nobody looks at it yet."


def _is_one_build(versions: VersionRange) -> bool:
    return versions.since is not None and versions.since == versions.until
