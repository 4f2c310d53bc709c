"""Annotations, and excluding several runs at once."""

import pytest

from benchdash.accounts.models import AuditEntry
from benchdash.results.models import Annotation, Run
from tests.api.conftest import OUTSIDERS, READERS

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(make_world):
    return make_world(public=True)


def write(world, who="bob", **body):
    sent = {"project": "quartz", "at": "2026-03-02T04:00:00Z", "text": "a new disk", **body}
    return world.clients[who].post("/api/v1/annotations/", sent)


def exclude(world, who="bob", **body):
    runs = list(Run.objects.filter(workload__name="quartz_reads").values_list("pk", flat=True))
    sent = {"project": "quartz", "runs": runs, "excluded": True, "reason": "the disk was full", **body}
    return world.clients[who].post("/api/v1/exclusions/", sent)


def test_an_annotation_is_written_read_and_removed(world):
    made = write(world, hardware="quartz-box", until="2026-03-03T04:00:00Z")
    assert made.status_code == 201
    at = f"/api/v1/annotations/{made.json()['id']}/"
    assert made.json() == {
        "id": made.json()["id"],
        "project": "quartz",
        "at": "2026-03-02T04:00:00Z",
        "until": "2026-03-03T04:00:00Z",
        "text": "a new disk",
        "hardware": "quartz-box",
        "product": None,
        "created_at": made.json()["created_at"],
    }
    assert world.clients["anonymous"].get("/api/v1/annotations/?project=quartz").json()["results"] == [
        made.json()
    ]
    assert world.clients["bob"].delete(at).status_code == 204
    assert world.clients["bob"].get(at).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [({"text": ""}, "text"), ({"at": "soon"}, "at"), ({"hardware": "nothing"}, "hardware")],
)
def test_what_cannot_be_an_annotation_is_an_error_of_its_field(world, body, field):
    answer = write(world, **body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert not Annotation.objects.exists()


def test_several_runs_are_excluded_for_one_reason_and_restored(world):
    assert exclude(world).json() == {"preview": False, "runs": 3, "uploads": 1, "series": 1}
    assert set(Run.objects.exclude(excluded_at=None).values_list("excluded_reason", flat=True)) == {
        "the disk was full"
    }
    assert AuditEntry.objects.filter(action="run excluded", reason="the disk was full").count() == 3
    assert exclude(world, excluded=False).json()["runs"] == 3
    assert not Run.objects.exclude(excluded_at=None).exists()


def test_those_that_are_excluded_already_keep_their_reason(world):
    exclude(world, runs=[world.run.pk], reason="a fan")
    assert exclude(world).json()["runs"] == 2
    world.run.refresh_from_db()
    assert world.run.excluded_reason == "a fan"


def test_a_preview_changes_nothing(world):
    assert exclude(world, preview=True, reason="").json()["runs"] == 3
    assert not Run.objects.exclude(excluded_at=None).exists()


@pytest.mark.parametrize(("body", "field"), [({"reason": ""}, "reason"), ({"runs": []}, "runs")])
def test_an_exclusion_needs_runs_and_a_reason(world, body, field):
    answer = exclude(world, **body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


def test_runs_of_another_project_are_not_touched(world):
    other = Run.objects.exclude(project=world.project).first()
    runs = [other.pk] if other else [999_999]
    assert exclude(world, runs=runs).status_code == 400


@pytest.mark.parametrize("who", [*OUTSIDERS, *READERS, "upload token"])
def test_only_who_triages_writes(world, who):
    made = write(world).json()
    answers = [
        write(world, who),
        exclude(world, who),
        world.clients[who].delete(f"/api/v1/annotations/{made['id']}/"),
    ]
    assert {one.status_code for one in answers} <= {401, 403}
    assert Annotation.objects.count() == 1
