"""Which costs of an operation moved with a change."""

import pytest

from benchdash.regressions.counters import moved_counters
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import evidence
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db


def night(level, cpu, switches):
    return {"tps": 1000 * level, "cpu_per_op": cpu, "cs_per_op": switches}


@pytest.fixture
def incident():
    project = make_project()
    for number in range(1, 27):
        wobble = 1 + number % 3 / 100
        readings = night(wobble, 0.2 * wobble, 8.0 * wobble)
        if number > 20:
            readings = night(0.8 * wobble, 0.25 * wobble, 8.0 * wobble)
        record_nights(project, [1.0], first=number, workloads=["oltp_read_only"], readings=readings)
    analyse_touched()
    return Incident.objects.get()


def test_a_counter_that_moved_is_told_with_its_levels(incident, django_assert_max_num_queries):
    found = evidence(incident)
    with django_assert_max_num_queries(6):
        [moved] = moved_counters([one for one in found if one.series.metric == "tps"])
    assert moved.metric == "cpu_per_op"
    assert moved.change == pytest.approx(0.25, abs=0.03)
    assert moved.before == pytest.approx(0.2, abs=0.005)


def test_without_change_points_no_counter_moved(db):
    assert moved_counters([]) == []
