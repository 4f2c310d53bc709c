"""Where versions were measured: of each place the newest versions, and those that are asked for."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.results.corrections import correct_version, rename
from benchdash.results.models import Run, ServerVersion, VersionPlace
from benchdash.results.summaries import recounted
from benchdash.results.version_places import measured_places, newest_versions, places_of_versions
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def newest(project, **asked):
    return newest_versions(project, places_of_versions(project), **asked)


def names(found):
    return sorted(
        ServerVersion.objects.filter(pk__in=[row[0] for row in found]).values_list("version", flat=True)
    )


def test_every_version_is_at_the_places_where_it_was_measured(project):
    for hardware in ("box", "tower"):
        make_series([1.0, [2.0, 3.0]], project=project, hardware=hardware)
    make_series([1.0, 2.0], project=project, branch="main", counterpart="Connector/C")
    assert sorted(newest(project)) == sorted(measured_places(project))
    assert sorted(place.versions for place in places_of_versions(project)) == [2, 2, 2]


def test_runs_that_move_are_at_their_new_place_and_excluded_ones_at_none(project):
    make_series([1.0, 2.0], project=project)
    first, second = Run.objects.order_by("started_at")
    other = make_run(project=project, hardware="tower").hardware
    with recounted(Run.objects.filter(pk=first.pk)):
        Run.objects.filter(pk=first.pk).update(hardware=other)
    assert sorted(newest(project)) == sorted(measured_places(project))
    Run.objects.filter(pk=second.pk).update(excluded_at=timezone.now())
    assert sorted(newest(project)) == sorted(measured_places(project))
    Run.objects.filter(pk=second.pk).update(excluded_at=None)
    assert sorted(newest(project)) == sorted(measured_places(project))


def test_what_versions_are_sorted_by_follows_the_version(project):
    at = {"project": project, "branch": "main", "commit": "a" * 40}
    version = make_run(**at, committed_at=None).version
    for change in (
        partial(make_run, **at, committed_at=START),
        partial(rename, version, "11.4.1", by=Viewer()),
        partial(correct_version, version, {"committed_at": None, "commit": "b" * 40}, by=Viewer()),
    ):
        change()
        version.refresh_from_db()
        kept = VersionPlace.objects.get(version=version)
        assert (kept.sort_key, kept.build, kept.commit) == (version.sort_key, version.build, version.commit)
        assert kept.committed_at == (version.committed_at or START.fromtimestamp(0, START.tzinfo))


def test_of_a_place_with_many_commits_the_newest_are_found_and_those_asked_for_with_their_neighbours(
    project, monkeypatch
):
    monkeypatch.setattr("benchdash.results.version_places.MAX_COMMITS", 2)
    records = [
        make_record(
            float(number),
            branch="main",
            version=f"11.{number}",
            commit=f"{number:040x}",
            committed_at=START + timedelta(days=number),
        )
        for number in range(9)
    ]
    make_runs([replace(one, started_at=START) for one in reversed(records)], project=project)
    assert names(newest(project)) == ["11.7", "11.8"]
    third = ServerVersion.objects.get(version="11.3")
    assert names(newest(project, asked=[third.pk])) == ["11.2", "11.3", "11.4", "11.7", "11.8"]
    [place] = places_of_versions(project)
    assert place.versions == 9
    assert names(newest(project, words={place: ["11.1"]})) == ["11.1", "11.7", "11.8"]
    assert names(newest(project, words={place: ["00005", "11"]})) == ["11.7", "11.8"]


def test_other_projects_are_not_told_of(project):
    make_series([1.0, 2.0])
    make_series([1.0], project=project)
    other = Run.objects.exclude(project=project).first()
    assert names(newest(project, asked=[other.version_id])) == ["10.6.1"]


def test_versions_of_many_places_are_one_statement(project, django_assert_num_queries):
    for hardware in ("box", "tower", "laptop"):
        make_series([1.0, 2.0], project=project, hardware=hardware)
    with django_assert_num_queries(2):
        assert len(newest(project)) == 6
