"""What sweeps can be made of, and in which order it is offered."""

import pytest

from benchdash.regressions.sweeps.subjects import find_subject, subjects
from benchdash.results.models import Run
from tests.results.test_run_counts import Chance

pytestmark = pytest.mark.django_db

SETTINGS = (
    "a",
    "fact:kernel",
    "fact:cores",
    "option:scale",
    "parameter:of",
    "name:hardware",
    "name:configuration",
)


def told(run, setting):
    """What a run tells of a setting, by the plain way."""
    kind, _, name = setting.rpartition(":")
    facts = {**run.hardware.facts, **(run.environment.facts if run.environment else {})}
    words = run.workload.name
    return {
        "": run.content and run.content.settings.get(name),
        "fact": facts.get(name),
        "option": run.options.get(name),
        "parameter": run.workload_id if f" {name}=" in words else None,
        "name": run.configuration_id if name == "configuration" else run.hardware_id,
    }[kind]


def counted(project, setting):
    """The subjects in their order, of all runs."""
    of_subject = {}
    related = ("workload", "hardware", "environment", "content")
    for run in Run.objects.filter(project=project, excluded_at=None).select_related(*related):
        of_subject.setdefault((run.version_id, run.branch, run.counterpart), []).append(run)

    def order(item):
        (version, *_), runs = item
        aspects = [
            [told(run, setting) for run in runs if setting],
            *([getattr(run, name) for run in runs] for name in ("content_id", "configuration_id")),
            *([getattr(run, name) for run in runs] for name in ("environment_id", "hardware_id")),
            [run.workload_id for run in runs if "=" in run.workload.name],
        ]
        ways = [max(len({*values} - {None}), 1) for values in aspects]
        return *ways, max(run.started_at for run in runs), version

    found = sorted(of_subject.items(), key=order, reverse=True)
    return [(order((key, runs)), len(runs)) for key, runs in found], {
        (*key, len(runs)) for key, runs in found
    }


@pytest.mark.parametrize("seed", range(4))
def test_subjects_are_in_the_order_of_what_varies_among_all_their_runs(seed):
    chance = Chance(seed)
    for _ in range(6):
        chance.upload()
    chance.exclude()
    chance.merge()
    for setting in ("", *SETTINGS):
        found = [
            (one.version.pk, one.branch, one.counterpart, one.runs)
            for one in subjects(chance.project, setting=setting)
        ]
        expected, all_of_them = counted(chance.project, setting)
        assert {*found} == all_of_them
        assert [runs for *_, runs in found] == [runs for _, runs in expected], setting
    for one in subjects(chance.project):
        assert find_subject(chance.project, one.id) == one
