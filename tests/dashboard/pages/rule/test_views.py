"""The page that says how changes are found, with this project's own figures."""

from datetime import UTC, datetime, timedelta

import pytest

from benchdash.regressions.models import NullRun
from tests.builders import make_project, make_series
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

AT = datetime(2026, 11, 20, 3, 30, tzinfo=UTC)


@pytest.fixture
def project():
    return make_project("nightly", public=True)


def make_null_run(project, **figures):
    figures = {"places": 2, "looks": 2000, "points": 50_000, "incidents": 1, "change_points": 7, **figures}
    return NullRun.objects.create(project=project, **figures)


def shown(client):
    return text_of(client.get("/p/nightly/how-changes-are-found/"))


def test_before_the_first_null_run_the_page_says_when_it_will_be_and_what_it_needs(client, project):
    text = shown(client)
    assert "Not measured yet. At " in text
    assert "03:30" in text
    assert "a history of 12 versions, commits or nights" in text


def test_the_figures_of_the_last_null_run_are_shown(client, project):
    make_null_run(project, at=AT)
    make_null_run(make_project(), at=AT, incidents=99)
    text = shown(client)
    assert "false incidents per 1,000 looks 0.50 1 in 2,000 looks" in text
    assert "false change points per 1,000 points 0.14 7 in 50,000 points" in text
    assert "99" not in text


def test_earlier_null_runs_are_listed(client, project):
    for week in range(3):
        make_null_run(project, at=AT + timedelta(days=7 * week), incidents=week)
    text = shown(client)
    assert "false incidents per 1,000 looks 1.0 2 in" in text
    assert "20 Nov 2026, 03:30:00 UTC" in text


def test_the_page_says_how_old_historical_is_and_what_is_the_same_in_this_project(client, project):
    project.options = {"historical_after_days": 5, "equivalence_margin": 0.035}
    project.save()
    text = shown(client)
    assert "more than 5 days before its files came in" in text
    assert "lies within 3.5 % of 1" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_incidents_and_history_lead_to_it(client, project):
    make_series([100.0] * 3, project=project)
    for page in ("incidents", "history"):
        assert b'href="/p/nightly/how-changes-are-found/"' in client.get(f"/p/nightly/{page}/").content


def test_it_leads_to_the_chapter_on_statistics(client, project):
    assert b'href="/help/statistics/"' in client.get("/p/nightly/how-changes-are-found/").content
