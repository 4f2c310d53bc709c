"""Figures on pages are in the unit that people use; the API keeps the stored one and says both."""

from datetime import timedelta

import pytest

from benchdash.charts.plotly import plotly
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run, Series
from benchdash.results.readings import Reading
from tests.builders import START, make_project, make_record, make_runs
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

WORKLOAD = "bench.Select1 avgt"
SCORES = [62_715.0, 62_800.0, 62_600.0, 62_750.0, 62_650.0, 62_700.0, 62_720.0, 62_690.0]


def score(value, printed="us/op"):
    return Reading("score", value, "ns/op", "lower", value - 500, value + 500, printed)


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    slower = [value * 1.2 for value in SCORES]
    records = [
        make_record(
            readings=[score(value)],
            workload=WORKLOAD,
            version=f"1.0.{number}",
            started_at=START + timedelta(days=number),
        )
        for number, value in enumerate([*SCORES, *slower])
    ]
    make_runs(records, project=project)
    analyse_touched()
    return project


def test_pages_show_what_the_file_printed(client, project):
    series = Series.objects.get()
    first = Run.objects.order_by("pk").first()
    text = text_of(client.get(f"/p/bench/runs/{first.pk}/"))
    assert "62.72 us/op" in text or "62.71 us/op" in text
    assert "stored in ns/op" in text
    assert "us/op" in text_of(client.get("/p/bench/runs/"))

    history = client.get(f"/p/bench/history/?series={series.pk}")
    [chart] = history.context["charts"]
    assert "us/op" in plotly(chart.figure)["layout"]["yaxis"]["title"]["text"]
    assert 60 < plotly(chart.figure)["data"][0]["y"][0] < 80
    csv = client.get(f"/p/bench/history/csv/?series={series.pk}").content.decode()
    assert "us/op" in csv
    assert "ns/op" not in csv

    versions = "&".join(
        f"v={one}" for one in project.versions.order_by("pk").values_list("pk", flat=True)[:2]
    )
    shown = f"{versions}&metric=score&values=absolute&open={series.workload_id}"
    text = text_of(client.get(f"/p/bench/compare/matrix/?{shown}"))
    assert "62.72" in text
    assert "62,7" not in text


def test_an_incident_tells_its_levels_in_the_same_unit(client, project):
    change = Series.objects.get().change_points.get()
    assert 62_000 < change.before < 63_000
    text = text_of(client.get(f"/p/bench/incidents/{change.incident_id}/"))
    assert "62.71 to 75.25 us/op" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "ns/op" not in text


def test_the_api_keeps_what_is_stored_and_says_both_units(client, project):
    [series] = client.get("/api/v1/series/?project=bench").json()["results"]
    assert (series["unit"], series["printed_unit"], series["printed_factor"]) == ("ns/op", "us/op", 0.001)
    run = client.get(f"/api/v1/runs/{Run.objects.order_by('pk').first().pk}/").json()
    [reading] = run["readings"]
    assert (reading["value"], reading["unit"], reading["printed_unit"]) == (62_715.0, "ns/op", "us/op")
    base = project.versions.order_by("pk").first().pk
    table = client.get(f"/api/v1/compare/?project=bench&metric=score&base={base}").json()
    row = table["rows"][0]
    assert row["base"]["value"] == 62_715.0
    assert (row["unit"], row["printed_unit"], row["printed_factor"]) == ("ns/op", "us/op", 0.001)


def test_the_newest_file_says_which_unit_people_use(project):
    newest = make_record(readings=[score(62_700, "ms/op")], workload=WORKLOAD, version="1.0.90")
    make_runs([newest], project=project)
    assert Series.objects.get().printed_unit == "ms/op"
