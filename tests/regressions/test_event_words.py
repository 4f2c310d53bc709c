import pytest

from benchdash.regressions.event_words import event_words
from benchdash.regressions.models import IncidentEvent
from benchdash.regressions.triage import ACTIONS


@pytest.mark.parametrize(
    ("what", "detail", "words"),
    [
        ("assigned", {"assignee": "Alice"}, "assigned to Alice"),
        ("assigned", {"assignee": ""}, "assigned to nobody"),
        ("snoozed", {"until": "2026-12-01T00:00:00+00:00", "version": ""}, "snoozed until 1 Dec 2026"),
        ("snoozed", {"until": "", "version": "11.4"}, "snoozed until 11.4"),
        ("linked", {"bug": "MDEV-1"}, "linked to the bug MDEV-1"),
        ("linked", {"bug": ""}, "linked to no bug any more"),
        ("confirmed", {}, "confirmed"),
        ("confirmed", {"series": 1}, "confirmed in 1 series"),
        ("spread", {"series": 12}, "spread to 12 series"),
        ("narrowed", {"since": "1.1", "until": "1.2"}, "narrowed to what lies between 1.1 and 1.2"),
        ("recovered", {"at": "2020-10-14T00:00:00+00:00"}, "recovered on Wed 14 Oct 2020"),
        ("split", {"from": 12}, "split from incident 12"),
        ("merged", {"into": 12}, "merged into incident 12"),
        ("folded", {"into": 12}, "explained by its machine: incident 12"),
    ],
)
def test_an_event_says_what_happened(what, detail, words):
    assert event_words(IncidentEvent(what=what, detail=detail)) == words


@pytest.mark.parametrize("state", ACTIONS)
def test_a_change_of_state_is_said_as_its_action_is_called(state):
    event = IncidentEvent(what="state", state=state, detail={"before": "other"})
    assert event_words(event) == ACTIONS[state].done


def test_a_reason_alone_leaves_the_state():
    event = IncidentEvent(what="state", state="wontfix", detail={"before": "wontfix"})
    assert event_words(event) == "still declined"
