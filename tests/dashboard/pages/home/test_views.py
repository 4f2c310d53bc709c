"""The list of projects."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

STEADY = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4


def test_each_project_says_its_morning_in_one_line(client):
    project = make_project("bench", public=True)
    make_project("empty", public=True)
    values = [*STEADY, *(0.7 * value for value in STEADY[:7])]
    start = timezone.now() - timedelta(days=len(values) - 1, hours=5)
    make_series(values, project=project, branch="main", start=start)
    analyse_touched()
    text = text_of(client.get("/"))
    assert ": 1 workload ran on box; 1 new: oltp_read_only −30." in text
    assert "empty 0 0 – No results yet." in text
