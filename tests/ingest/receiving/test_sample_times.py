"""Samples of the machine on the time of their run."""

from datetime import UTC, datetime

import pytest

from benchdash.results.records import SampleTable
from ingest.receiving.companions import on_the_time_of_the_run

HOUR = 3600.0
# Ten o'clock.
STARTED = datetime(2026, 11, 20, 10, tzinfo=UTC)


def table(*times, column="time_s"):
    return SampleTable("vmstat", (column, "cpu_user"), tuple((time, 50.0) for time in times))


def times_of(found):
    return [row[0] for row in found.rows]


def test_times_count_from_when_the_run_began():
    found = on_the_time_of_the_run(table(1.0, 2.0, None), 10 * HOUR - 5, STARTED, 60.0)
    # Samples that end before the run have nothing of it.
    assert found == table(1.0, 2.0, None)
    found = on_the_time_of_the_run(table(1.0, 9.0, None), 10 * HOUR - 5, STARTED, 60.0)
    assert found.columns == ("run_s", "cpu_user")
    assert found.rows == ((-4, 50), (4, 50), (None, 50))


@pytest.mark.parametrize("zone", [0, 1, -5, 5.5, 13])
def test_a_zone_that_was_not_printed_makes_no_difference(zone):
    began = (10 + zone) * HOUR % (24 * HOUR) + 2
    assert times_of(on_the_time_of_the_run(table(1.0), began, STARTED, 60.0)) == [3]


def test_midnight_makes_no_difference():
    started = datetime(2026, 11, 20, 0, 0, 1, 500_000, tzinfo=UTC)
    assert times_of(on_the_time_of_the_run(table(1.0, 9.0), 24 * HOUR - 2, started, 60.0)) == [-2.5, 5.5]


def test_samples_that_began_after_the_run_ended_keep_their_own_time():
    later = table(1.0, 2.0)
    assert on_the_time_of_the_run(later, 10 * HOUR + 61, STARTED, 60.0) == later
    assert on_the_time_of_the_run(later, 10 * HOUR + 61, STARTED, None).columns[0] == "run_s"


def test_samples_without_a_time_stay_as_they_are():
    numbered = table(1.0, 2.0, column="sample")
    assert on_the_time_of_the_run(numbered, 10 * HOUR, STARTED, 60.0) == numbered
    assert on_the_time_of_the_run(table(), 10 * HOUR, STARTED, 60.0) == table()
