from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.models import Role
from benchdash.results.models import Annotation, Run, TouchedSeries
from benchdash.results.points import history
from tests.builders import make_project, make_series, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("bench")


@pytest.fixture
def series(project):
    return make_series([100, 101, 60, 99], project=project)


@pytest.fixture
def member(client, project):
    client.force_login(make_user(member_of=project))
    return client


def address(series, first=None, last=None):
    """Of the groups from the first to the last, or of all."""
    query = {"series": series.pk}
    if first is not None:
        points = history(series)
        query |= {"since": points[first].time.isoformat(), "until": points[last].time.isoformat()}
    return f"/p/bench/history/curate/?{urlencode(query)}"


def excluded():
    return list(Run.objects.exclude(excluded_at=None).values_list("excluded_reason", flat=True))


def test_a_group_is_excluded_with_a_reason_and_its_series_is_looked_at_again(member, series):
    TouchedSeries.objects.all().delete()
    text = text_of(member.get(address(series, 2, 2)))
    assert "Exclude 1 run" in text
    answer = member.post(address(series, 2, 2), {"do": "exclude", "reason": "the disk was full"}, follow=True)
    assert "1 run is excluded." in text_of(answer)
    assert answer.redirect_chain == [(f"/p/bench/history/?series={series.pk}", 302)]
    assert excluded() == ["the disk was full"]
    assert [point.value for point in history(series)] == [100, 101, 99]
    assert TouchedSeries.objects.filter(series=series).exists()


def test_a_span_is_excluded_and_restored_as_one(member, series):
    member.post(address(series, 1, 2), {"do": "exclude", "reason": "a fan"})
    assert excluded() == ["a fan", "a fan"]
    text = text_of(member.get(address(series)))
    assert "Restore 2 runs" in text
    assert "Exclude 2 runs" in text
    member.post(address(series), {"do": "restore"})
    assert excluded() == []


def test_without_a_reason_nothing_is_excluded(member, series):
    answer = member.post(address(series), {"do": "exclude", "reason": " "})
    assert answer.status_code == 422
    assert "Nothing was changed: say why the runs are excluded." in text_of(answer)
    assert excluded() == []


def test_a_stretch_of_too_many_runs_asks_to_zoom_in_first(member, series, monkeypatch):
    monkeypatch.setattr("benchdash.dashboard.pages.history.curation.MAX_RUNS_AT_ONCE", 3)
    assert "More than 3 runs lie in this stretch." in text_of(member.get(address(series)))


def test_an_annotation_stands_on_the_chart_and_in_the_table(member, series):
    at = history(series)[2].time
    form = {"do": "annotate", "text": "a <new> disk", "at": f"{at:%Y-%m-%dT%H:%M:%S}"}
    member.post(address(series, 2, 2), {**form, "of": f"hardware-{series.hardware_id}"})
    made = Annotation.objects.get()
    assert (made.at, made.hardware, made.product) == (at, series.hardware, None)
    page = member.get(f"/p/bench/history/?series={series.pk}")
    assert "◆ a <new> disk," in text_of(page)
    assert "a &amp;lt;new> disk" in page.content.decode() or "a \\u0026lt;new" in page.content.decode()
    assert "a <new> disk" in text_of(member.get(address(series)))
    member.post(address(series), {"do": "remove", "annotation": made.pk})
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("form", [{}, {"do": "annotate", "at": "soon", "text": "x"}, {"do": "dance"}])
def test_a_form_that_says_nothing_changes_nothing(member, series, form):
    assert member.post(address(series), form).status_code == 422


def test_an_annotation_of_another_project_is_not_removed(member, series):
    other = Annotation.objects.create(project=make_project(), at=history(series)[0].time, text="theirs")
    assert member.post(address(series), {"do": "remove", "annotation": other.pk}).status_code == 404
    assert Annotation.objects.exists()


def test_readers_curate_nothing_and_see_no_link(client, project, series):
    client.force_login(make_user("rita", member_of=project, role=Role.READER))
    assert client.get(address(series)).status_code == 403
    assert client.post(address(series), {"do": "exclude", "reason": "x"}).status_code == 403
    assert "history/curate/" not in client.get(f"/p/bench/history/?series={series.pk}").content.decode()


def test_series_of_another_project_are_not_there(member, project):
    assert member.get(address(make_series([100], project=make_project()))).status_code == 404


def test_it_takes_as_many_statements_however_many_groups_there_are(member, project):
    def count(series):
        with CaptureQueriesContext(connection) as queries:
            member.get(address(series))
        return len(queries)

    few, many = (make_series([100.0 + n for n in range(size)], project=project) for size in (3, 40))
    assert count(few) == count(many)
