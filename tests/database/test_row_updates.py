import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.database.row_updates import update_rows
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db


def test_many_rows_are_one_statement_and_other_fields_stay():
    record_nights(make_project(), [1.0] * 20 + [0.8] * 6)
    analyse_touched()
    rows = list(ChangePoint.objects.order_by("pk"))
    before = [(row.noise, row.confidence) for row in rows]
    for row in rows:
        row.state, row.last_good, row.noise, row.confidence = "suspected", None, None, 0.5
    with CaptureQueriesContext(connection) as captured:
        update_rows(rows, ["state", "last_good_id", "noise"])
    assert len(captured) == 1
    found = list(ChangePoint.objects.order_by("pk"))
    assert {(row.state, row.last_good, row.noise) for row in found} == {("suspected", None, None)}
    assert [row.confidence for row in found] == [confidence for _, confidence in before]


def test_without_rows_nothing_is_asked():
    with CaptureQueriesContext(connection) as captured:
        update_rows([], ["state"])
    assert not captured.captured_queries
