"""No sentence of a morning contradicts its own figures."""

import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from benchdash.regressions.morning.nights import Newest, NightSpan, Ran
from benchdash.regressions.morning.sentences import ran_words

NOW = datetime(2026, 3, 21, 9, tzinfo=UTC)


@st.composite
def nights(draw):
    came, missed, others = (draw(st.integers(0, 3)) for _ in range(3))
    at = NOW - timedelta(hours=draw(st.integers(1, 72)))
    return Ran(
        newest=Newest(at, "MariaDB", "11.4.1"),
        span=draw(st.sampled_from(NightSpan)),
        since=NOW - timedelta(days=1),
        is_nightly=True,
        machines=["box"] if came + others else [],
        total=came + others,
        came=came,
        due=came + missed,
    )


@given(nights())
def test_no_night_says_that_more_ran_than_were_due_or_that_none_of_them_and_more_did(ran):
    said = ran_words(ran, now=NOW)
    for part, whole in re.findall(r"(\d+) of (\d+) workload", said):
        assert 0 < int(part) <= int(whole), said
    numbers = [int(number) for number in re.findall(r"(\d+) (?:more |workload)", said)]
    assert not ran.total or numbers, said
