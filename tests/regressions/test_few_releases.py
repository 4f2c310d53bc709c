"""Release lines with a handful of releases, from recorded runs to what is stored and told."""

from datetime import timedelta
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run, Series
from tests.builders import make_project, make_record, make_runs, make_token
from tests.ingest.small_datum import SMALL_DATUM, import_small_datum
from tests.regressions.few_releases import SLOWER, release

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def live():
    found = ChangePoint.objects.exclude(state="withdrawn").order_by("series__workload__name")
    return list(found.values_list("series__workload__name", "state", "run__version__version"))


def test_workloads_that_lose_together_are_suspected_at_once_and_told_with_the_next_release(project):
    for number in range(1, 5):
        release(project, number)
    assert live() == []
    release(project, 5, level=0.92)
    assert live() == [(workload, "suspected", "10.6.5") for workload in SLOWER]
    release(project, 6, level=0.92)
    assert live() == [(workload, "confirmed", "10.6.5") for workload in SLOWER]
    incident = Incident.objects.get()
    assert (incident.kind, incident.status, incident.historical) == ("regression", "confirmed", False)
    assert incident.median == pytest.approx(-0.08, abs=0.02)
    for one in ChangePoint.objects.all():
        assert one.family_size == 12
        assert one.noise == pytest.approx(0.007, abs=0.004)
        assert one.after < one.expected_low < one.before < one.expected_high


def test_one_bad_session_is_withdrawn_with_the_next_release(project):
    for number in range(1, 5):
        release(project, number)
    release(project, 5, level=0.92)
    release(project, 6)
    assert {state for _, state, _ in live()} <= {"suspected"}
    release(project, 7)
    assert Incident.objects.filter(status="confirmed").count() == 0


@pytest.mark.slow
def test_a_growing_line_keeps_what_was_confirmed_once_and_at_its_place(project):
    for number in range(1, 3):
        release(project, number)
    for number in range(3, 15):
        release(project, number, level=0.92)
        confirmed = [(workload, version) for workload, state, version in live() if state == "confirmed"]
        if number >= 7:
            assert {workload for workload, _ in confirmed} == set(SLOWER)
            assert {version for _, version in confirmed} == {"10.6.3"}
            assert len(confirmed) == len(SLOWER)
    assert Incident.objects.count() == 1


def test_the_same_releases_imported_at_once_are_told_alike(project):
    for number in range(1, 8):
        release(project, number, level=0.92 if number >= 5 else 1.0)
    one_by_one = live()
    ChangePoint.objects.all().delete()
    other = make_project()
    records = [
        make_record(
            run.measurements.get().value,
            version=run.version.version,
            workload=run.workload.name,
            started_at=run.started_at,
        )
        for run in Run.objects.filter(project=project)
    ]
    make_runs(records, project=other)
    analyse_touched()
    assert live() == one_by_one


@pytest.mark.skipif(not SMALL_DATUM.is_dir(), reason="the published results of small_datum are not here")
def test_published_releases_of_one_run_each_suspect_the_loss_of_a_line_and_prove_nothing(tmp_path):
    """8.0.43 and 8.0.44 differ by noise, and a quarter of the workloads are slower in 8.0 than in 5.7."""
    project = import_small_datum(tmp_path)
    analyse_touched()
    lines = set(Series.objects.filter(project=project).values_list("line", flat=True))
    assert {"5.6", "5.7", "8.0", "8.4"} <= lines
    assert not ChangePoint.objects.filter(series__project=project, origin="").exists()
    incident = Incident.objects.get(project=project)
    assert (incident.origin, incident.line, incident.status) == ("5.7", "8.0", "suspected")
    assert incident.median == pytest.approx(-0.28, abs=0.02)


def test_a_third_of_the_rows_that_lose_at_the_sixth_of_ten_releases_is_one_incident_between_them(project):
    """38 rows of one run a release each, through the public door; each release has a session of its own."""
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
    noise = Random(20261126)
    workloads = [f"workload-{number:02d}" for number in range(38)]
    slower = set(workloads[::3])
    for number in range(1, 11):
        level = {workload: 0.95 if workload in slower and number >= 6 else 1.0 for workload in workloads}
        rows = [f"{one}\t{1000 * level[one] * noise.gauss(1, 0.01):.1f}" for one in workloads]
        table = "\n".join(["workload\ttps", *rows])
        answer = api.post(
            "/api/v1/uploads/",
            {
                "file": SimpleUploadedFile(f"{number}.tsv", table.encode()),
                "product": "MariaDB",
                "version": f"10.6.{number}",
                "hardware": "bench-01",
                "threads": "4",
                "metric": "tps",
                "started_at": (timezone.now() - timedelta(days=11 - number)).isoformat(),
            },
        )
        assert answer.status_code == 201, answer.content
        assert len(answer.json()["runs"]) == 38
        analyse_touched()
    [incident] = api.get(f"/api/v1/incidents/?project={project.slug}").json()["results"]
    assert (incident["kind"], incident["status"]) == ("regression", "confirmed")
    assert (incident["from"], incident["to"]) == ("10.6.5", "10.6.6")
    assert incident["change"] == pytest.approx(-0.05, abs=0.01)
    confirmed = ChangePoint.objects.filter(state="confirmed").values_list("series__workload__name", flat=True)
    assert set(confirmed) <= slower
    assert len(confirmed) >= 10
