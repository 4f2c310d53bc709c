import pytest

from benchdash.results.models import Measurement
from benchdash.results.series import delete_measurements
from tests.builders import make_series

pytestmark = pytest.mark.django_db


def test_measurements_are_deleted_by_series_and_run_and_others_stay():
    make_series([1, 2, 3])
    keys = list(Measurement.objects.order_by("value").values_list("series_id", "run_id"))
    delete_measurements(keys[:2])
    assert list(Measurement.objects.values_list("series_id", "run_id")) == keys[2:]


def test_a_series_and_a_run_that_do_not_belong_together_delete_nothing():
    make_series([1, 2])
    [(series_id, first), (_, second)] = Measurement.objects.values_list("series_id", "run_id")
    delete_measurements([(series_id + 1, first), (series_id + 1, second)])
    delete_measurements([])
    assert Measurement.objects.count() == 2
