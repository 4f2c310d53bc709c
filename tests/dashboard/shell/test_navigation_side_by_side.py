"""Links to the page Side by side, from pages that show two things one after the other."""

import html
import re

import pytest

from benchdash.dashboard.shell.navigation import points_url, runs_url
from benchdash.results.models import Run
from benchdash.results.points import history
from tests.api.conftest import make_incident
from tests.builders import make_project, make_run, make_series

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("bench", public=True)


def link(answer, label):
    found = re.search(rf'href="([^"]+)"[^>]*>{label}<', answer.content.decode())
    return html.unescape(found[1])


def test_two_versions_are_laid_side_by_side_and_two_runs_of_one_are(project):
    series = make_series([100, 90], project=project)
    before, after = history(series)
    first, second = Run.objects.order_by("pk")
    url = points_url(project, series, before, after)
    assert url == runs_url(project, first, second)
    assert f"base={first.version_id}." in url
    assert runs_url(project, first, first).endswith(f"?run={first.pk}&run={first.pk}")


def test_a_run_leads_to_itself_beside_another(client, project):
    run = make_run(project=project)
    assert link(client.get(f"/p/bench/runs/{run.pk}/"), "Beside another run").endswith(f"?run={run.pk}")


def test_an_incident_leads_to_the_groups_before_and_after(client, project):
    series = make_series([100, 101, 80], project=project)
    *_, before, run = Run.objects.order_by("pk")
    incident = make_incident(series, run)
    incident.change_points.update(last_good=before)
    answer = client.get(f"/p/bench/incidents/{incident.pk}/")
    url = link(answer, "Before and after")
    assert client.get(url).context["names"] == ("10.6.2", "10.6.3")


def test_the_newest_change_of_a_history_leads_to_its_groups(client, project):
    series = make_series([100, 101, 80], project=project)
    page = client.get(f"/p/bench/history/?series={series.pk}").content.decode()
    url = html.unescape(re.search(r'href="([^"]+)" title="The newest two points side by side"', page)[1])
    assert client.get(url).context["names"] == ("10.6.2", "10.6.3")
