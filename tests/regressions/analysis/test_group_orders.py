"""The order of groups is kept from look to look, and is that which the runs tell."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.analysis.group_orders import groups_in_order
from benchdash.regressions.analysis.incidents import update_incidents
from benchdash.regressions.models import Incident, PlaceOrder
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run, Series
from benchdash.results.services import touch
from tests.builders import make_project
from tests.regressions.nights import night_time, record_nights

pytestmark = pytest.mark.django_db

A_FIFTH_SLOWER = [1.0] * 20 + [0.8] * 6


def nights(groups):
    return [(group.started_at - night_time(1).timestamp()) / 86_400 + 1 for _, group in groups]


def test_a_look_keeps_the_order_of_its_place():
    record_nights(make_project(), [1.0] * 3, first=5)
    record_nights(Series.objects.first().project, [1.0] * 2, first=1)
    analyse_touched()
    assert nights(groups_in_order(Series.objects.all())) == [1, 2, 5, 6, 7]
    assert PlaceOrder.objects.count() == 1


def test_a_group_whose_runs_are_gone_has_no_place_in_it():
    record_nights(make_project(), [1.0] * 4)
    analyse_touched()
    Run.objects.filter(started_at=night_time(2)).update(excluded_at=night_time(5))
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()
    assert nights(groups_in_order(Series.objects.all())) == [1, 3, 4]


def test_where_nobody_looked_yet_the_measurements_tell_it():
    record_nights(make_project(), [1.0] * 4)
    assert nights(groups_in_order(Series.objects.all())) == [1, 2, 3, 4]


def test_groups_before_a_cut_stay_as_they_were(settings):
    project = make_project()
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    settings.ANALYSIS_MOST_VALUES = 15
    record_nights(project, [0.8], first=27)
    analyse_touched()
    assert nights(groups_in_order(Series.objects.all())) == list(range(1, 28))
    assert Incident.objects.get().status == "confirmed"


def test_a_cut_place_without_an_order_has_all_groups_of_its_change_points(settings):
    project = make_project()
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    PlaceOrder.objects.all().delete()
    settings.ANALYSIS_MOST_VALUES = 15
    record_nights(project, [0.8], first=27)
    analyse_touched()
    assert nights(groups_in_order(Series.objects.all())) == list(range(1, 28))


def test_incidents_are_put_together_without_reading_a_measurement():
    project = make_project()
    for machine in range(3):
        record_nights(project, A_FIFTH_SLOWER, hardware=f"bench-{machine}")
    analyse_touched()
    with CaptureQueriesContext(connection) as captured:
        update_incidents(Series.objects.first().product_id, branch="main", line="")
    assert not [one["sql"] for one in captured.captured_queries if "results_measurement" in one["sql"]]
    assert len(captured) <= 9
