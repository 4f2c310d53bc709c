"""What a branch is held against."""

from datetime import timedelta

import pytest

from benchdash.accounts.access import Viewer
from benchdash.results.baselines import BaselineError, Target, baselines, set_baseline
from benchdash.results.corrections import merge
from benchdash.results.models import Baseline, Run
from benchdash.results.place import Place
from tests.builders import START, make_project, make_record, make_runs, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def alice(project):
    return Viewer(user=make_user(member_of=project))


def place_of(run):
    return Place(
        project_id=run.project_id,
        product_id=run.version.product_id,
        build=run.version.build,
        branch=run.branch,
        line="",
        hardware_id=run.hardware_id,
        configuration_id=run.configuration_id,
        counterpart=run.counterpart,
    )


def measure(project, **fields):
    [run] = make_runs([make_record(**{"branch": "main", **fields})], project=project)
    return run


def test_each_place_of_a_branch_has_its_own_and_the_newest_counts(project, alice):
    here, there = measure(project), measure(project, hardware="other")
    day = START.date()
    set_baseline(place_of(here), Target(here.version, True, day), by=alice, reason="a")
    release = measure(project, branch="", version="10.6.1")
    set_baseline(place_of(here), Target(release.version), by=alice, reason="b")
    assert [(one.name, one.reason) for one in baselines(place_of(here))] == [
        ("10.6.1", "b"),
        ("2 Mar 2026", "a"),
    ]
    assert baselines(place_of(there)) == []


def test_a_commit_is_named_with_its_day(project, alice):
    run = measure(project, commit="3f9a2c1ab0")
    measure(project, commit="3f9a2c1ab0", started_at=START + timedelta(days=3))
    row = set_baseline(place_of(run), Target(run.version, True), by=alice, reason="a")
    assert row.name == "2 Mar 2026, commit 3f9a2c1a"


def test_the_same_again_is_refused_and_so_is_taking_back_what_never_was(project, alice):
    run = measure(project)
    with pytest.raises(BaselineError, match="already"):
        set_baseline(place_of(run), None, by=alice, reason="a")
    target = Target(run.version, True, START.date())
    set_baseline(place_of(run), target, by=alice, reason="a")
    with pytest.raises(BaselineError, match="already"):
        set_baseline(place_of(run), target, by=alice, reason="b")
    assert project.audit_entries.count() == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001])
def test_a_reason_is_needed(project, alice, reason):
    run = measure(project)
    with pytest.raises(BaselineError, match="reason"):
        set_baseline(place_of(run), Target(run.version, True, START.date()), by=alice, reason=reason)


def test_what_was_not_measured_there_is_refused(project, alice):
    run, elsewhere = measure(project), measure(project, hardware="other", branch="", version="10.6.1")
    nowhere = [
        Target(run.version),
        Target(run.version, branch_group=True),
        Target(run.version, True, (START + timedelta(days=1)).date()),
        Target(elsewhere.version),
    ]
    for target in nowhere:
        with pytest.raises(BaselineError, match="nothing of this was measured"):
            set_baseline(place_of(run), target, by=alice, reason="a")
    Run.objects.update(excluded_at=START)
    with pytest.raises(BaselineError, match="nothing of this was measured"):
        set_baseline(place_of(run), Target(run.version, True, START.date()), by=alice, reason="a")


def test_it_follows_when_machines_and_versions_are_merged(project, alice):
    run = measure(project, hardware="old name")
    release = measure(project, hardware="old name", branch="", version="10.6.1")
    again = measure(project, hardware="box", branch="", version="10.6.2")
    set_baseline(place_of(run), Target(release.version), by=alice, reason="a")
    merge(run.hardware, again.hardware, by=alice)
    merge(release.version, again.version, by=alice)
    [row] = Baseline.objects.all()
    assert (row.hardware_id, row.version_id) == (again.hardware_id, again.version_id)
    assert [one.pk for one in baselines(place_of(Run.objects.get(pk=run.pk)))] == [row.pk]
