"""The page of the metrics of a project, and the form of one."""

import pytest

from benchdash.results.models import ProjectMetric, Series
from benchdash.results.readings import Reading, reading
from tests.builders import make_project, make_record, make_runs, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

LIST = "/p/bench/metrics/"
CHANGE = "/p/bench/metrics/change/?name="


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    own = Reading("rss_mb", 512, "", "unknown", is_own=True)
    make_runs([make_record(readings=[reading("tps", 100), own])], project=project)
    return project


@pytest.fixture
def alice(client, project):
    alice = make_user(member_of=project)
    client.force_login(alice)
    return alice


def test_what_nobody_has_said_comes_first(client, project):
    text = text_of(client.get(LIST))
    assert "Nobody has said which direction is better" in text
    assert text.index("rss_mb") < text.index("transactions per second")
    assert "Higher is better" not in text
    assert client.get(f"{CHANGE}rss_mb").status_code == 302
    client.force_login(make_user("reader", member_of=project, role="reader"))
    assert client.post(f"{CHANGE}rss_mb", {"do": "direction", "direction": "lower"}).status_code == 403


def test_a_direction_and_a_unit_are_said_in_the_list(client, project, alice):
    answer = client.post(
        f"{CHANGE}rss_mb", {"do": "direction", "unit": " MB ", "direction": "lower"}, follow=True
    )
    text = text_of(answer)
    assert "rss_mb is saved" in text
    assert "Nobody has said" not in text
    assert "rss_mb MB lower looked for as in the whole project" in text
    series = Series.objects.get(metric="rss_mb")
    assert (series.unit, series.direction) == ("MB", "lower")


def test_everything_else_is_said_in_a_form(client, project, alice):
    said = {
        "unit": "MB",
        "direction": "lower",
        "watched": "no",
        "smallest_change": "5",
        "smallest_change_absolute": "16",
        "aggregation": "max",
        "kind": "total",
        "reason": "as we agreed",
    }
    text = text_of(client.post(f"{CHANGE}rss_mb", said, follow=True))
    assert "drawn only 5.0 % and 16.00 MB" in text.replace("\xa0", " ")
    metric = ProjectMetric.objects.get()
    assert (metric.watched, metric.smallest_change, metric.smallest_change_absolute) == (False, 0.05, 16)
    assert (metric.aggregation, metric.kind) == ("max", "total")
    form = client.get(f"{CHANGE}rss_mb").context["form"]
    assert form.initial["smallest_change"] == 5
    assert form.initial["watched"] == "no"


def test_of_a_known_metric_neither_unit_nor_direction_can_be_said(client, project, alice):
    assert "unit" not in client.get(f"{CHANGE}tps").context["form"].fields
    client.post(f"{CHANGE}tps", {"watched": "no", "direction": "lower"})
    metric = ProjectMetric.objects.get(name="tps")
    assert (metric.watched, metric.is_own, metric.direction) == (False, False, "unknown")
    assert Series.objects.get(metric="tps").direction == "higher"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"smallest_change": "0.1"}, "greater than or equal to 0.5"),
        ({"smallest_change_absolute": "-1"}, "must be greater than 0"),
        ({"direction": "sideways"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_said_is_told_at_its_field(client, project, alice, fields, error):
    said = {"direction": "lower", "aggregation": "mean", "kind": "level", **fields}
    answer = client.post(f"{CHANGE}rss_mb", said)
    assert answer.status_code == 422
    assert error in text_of(answer)
    assert ProjectMetric.objects.get().direction == "unknown"


def test_a_metric_that_is_not_there_is_not_found(client, project, alice):
    assert client.get(f"{CHANGE}none").status_code == 404


def test_the_list_can_be_taken_away(client, project):
    lines = client.get("/p/bench/metrics/list.csv").content.decode("utf-8-sig").splitlines()
    assert lines[0].startswith("name,unit,direction,watched")
    assert [line.partition(",")[0] for line in lines[1:]] == ["rss_mb", "tps"]
