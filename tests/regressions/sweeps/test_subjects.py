"""What sweeps can be made of, and in which order it is offered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchdash.regressions.sweeps.subjects import find_subject, subjects
from benchdash.results.models import Run
from tests.builders import make_project
from tests.results.test_summaries import NUMBER, RECORDS, Worker

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
    """The subjects with the number of their runs, and what each is ordered by, from all runs."""
    of_subject = {}
    related = ("workload", "hardware", "environment", "content")
    for run in Run.objects.filter(project=project, excluded_at=None).select_related(*related):
        of_subject.setdefault((run.version_id, run.branch, run.counterpart), []).append(run)

    def order(version, runs):
        aspects = [
            [told(run, setting) for run in runs if setting],
            *([getattr(run, name) for run in runs] for name in ("content_id", "configuration_id")),
            *([getattr(run, name) for run in runs] for name in ("environment_id", "hardware_id")),
            [run.workload_id for run in runs if "=" in run.workload.name],
        ]
        ways = [max(len({*values} - {None}), 1) for values in aspects]
        return *ways, max(run.started_at for run in runs), version

    return {(*key, len(runs)): order(key[0], runs) for key, runs in of_subject.items()}


@settings(max_examples=6, deadline=None)
@given(st.lists(RECORDS, min_size=6, max_size=7), NUMBER)
def test_subjects_are_in_the_order_of_what_varies_among_all_their_runs(uploads, number):
    project = make_project()
    worker = Worker(project, [])
    for records in uploads:
        worker.record(records)
    worker.exclude(number)
    worker.merge(number)
    for setting in ("", *SETTINGS):
        found = [
            (one.version.pk, one.branch, one.counterpart, one.runs)
            for one in subjects(project, setting=setting)
        ]
        orders = counted(project, setting)
        assert len(found) == len(orders)
        # Two branches of one version may tie, so what they are ordered by is compared.
        assert [orders[one] for one in found] == sorted(orders.values(), reverse=True), setting
    for one in subjects(project):
        assert find_subject(project, one.id) == one
