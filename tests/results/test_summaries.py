"""Counts of runs and places of versions: always what the runs say."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Count, F, Max, Min, Q, Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from benchdash.accounts.access import Viewer
from benchdash.results import merges
from benchdash.results.corrections import (
    CorrectionError,
    correct_version,
    exclude_run,
    merge,
    rename,
    restore_run,
    unmerge,
)
from benchdash.results.models import (
    Configuration,
    Hardware,
    ParameterCount,
    Product,
    Run,
    ServerVersion,
    SubjectCount,
    SurroundingsCount,
    VersionPlace,
    Workload,
    WorkloadCount,
)
from benchdash.results.services import fold_summaries, record_runs, remove_runs
from benchdash.results.summaries import recount_all
from tests.builders import START, make_project, make_record, make_run, make_runs, make_upload
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db

BY = Viewer()
KINDS = {
    SurroundingsCount: ("product", "branch", "hardware", "environment", "configuration", "content"),
    WorkloadCount: ("workload", "threads"),
    SubjectCount: (
        *("version", "branch", "counterpart"),
        *("hardware", "environment", "configuration", "content"),
    ),
    ParameterCount: ("version", "branch", "counterpart", "workload"),
}
# What is not said counts all runs.
WHICH = {
    SubjectCount: Q(excluded_at=None),
    ParameterCount: Q(excluded_at=None, workload__name__contains="="),
}
PLACE = ("version", "branch", "hardware", "configuration", "counterpart")
ORDER = ("project", "product", "build", "sort_key", "committed_at", "commit")
EPOCH = START.fromtimestamp(0, START.tzinfo)


def kept(counts):
    """By project and kind: runs, and the starts of the first and the last."""
    rows = counts.objects.values_list("project", *KINDS[counts]).order_by()
    return by_kind(rows.annotate(Sum("runs"), Min("first_run_at"), Max("last_run_at")))


def counted(counts):
    runs = Run.objects.filter(WHICH.get(counts, Q())).annotate(product=F("version__product"))
    rows = runs.values_list("project", *KINDS[counts]).order_by()
    return by_kind(rows.annotate(Count("pk"), Min("started_at"), Max("started_at")))


def by_kind(rows):
    return {row[:-3]: row[-3:] for row in rows}


def kept_places():
    return set(VersionPlace.objects.values_list(*PLACE, *ORDER))


def measured_places():
    rows = Run.objects.values_list(*PLACE, *(f"version__{name}" for name in ORDER)).distinct()
    return {(*row[:-2], row[-2] or EPOCH, row[-1] or "") for row in rows}


def assert_summaries_say_what_the_runs_say():
    for counts in KINDS:
        assert kept(counts) == counted(counts)
    assert kept_places() == measured_places()


# --- whatever happens ---------------------------------------------------------------------------------------

RECORDS = st.lists(
    st.builds(
        make_record,
        product=st.sampled_from("AB"),
        version=st.sampled_from(["1.0", "1.1", "2.0"]),
        branch=st.sampled_from(["", "main"]),
        commit=st.sampled_from([None, "a" * 40, "b" * 40]),
        committed_at=st.sampled_from([None, START, START + timedelta(days=1)]),
        hardware=st.sampled_from(["box", "tower"]),
        counterpart=st.sampled_from(["", "C 1.2"]),
        configuration=st.sampled_from(["usual", "tuned"]),
        settings=st.sampled_from([{}, {"a": "1"}, {"a": "2"}]),
        environment=st.sampled_from([{}, {"kernel": "6.1"}]),
        workload=st.sampled_from(["reads", "writes", "reads of=a", "reads of=b"]),
        threads=st.sampled_from([None, 1, 8]),
        started_at=st.integers(0, 4).map(lambda hours: START + timedelta(hours=hours)),
    ),
    min_size=1,
    max_size=4,
)
NUMBER = st.integers(0, 99)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), RECORDS),
        st.tuples(st.just("record"), RECORDS),
        st.tuples(st.just("record again"), NUMBER, RECORDS),
        *(
            st.tuples(st.just(step), NUMBER)
            for step in ("remove", "exclude", "merge", "unmerge", "rename", "correct", "fold")
        ),
    ),
    min_size=4,
    max_size=12,
)


class Worker:
    """Does one step after the other to a project, at the same time as other workers."""

    def __init__(self, project, uploads):
        self.project = project
        self.uploads = uploads

    def do(self, step, *given):
        getattr(self, step.replace(" ", "_"))(*given)

    def record(self, records):
        upload = make_upload(self.project).pk
        self.write(upload, records)
        self.uploads.append(upload)

    def record_again(self, number, records):
        if self.uploads:
            self.write(self.uploads[number % len(self.uploads)], records)

    def write(self, upload, records):
        records = [replace(one, key=str(key)) for key, one in enumerate(records)]
        record_runs(self.project, upload_id=upload, records=records)

    def remove(self, number):
        if self.uploads:
            remove_runs(self.project, upload_id=self.uploads[number % len(self.uploads)])

    def exclude(self, number):
        if run := self.one_of(Run, number):
            (restore_run if run.is_excluded else exclude_run)(run, by=BY, reason="said so")

    def merge(self, number):
        model = [Product, ServerVersion, Hardware, Configuration, Workload][number % 5]
        first, *others = model.objects.filter(project=self.project).order_by("pk") or [None]
        # Versions of two products cannot be merged.
        if fitting := [
            one for one in others if getattr(one, "product_id", 0) == getattr(first, "product_id", 0)
        ]:
            merge(first, fitting[number % len(fitting)], by=BY)

    def unmerge(self, number):
        if noted := merges.merges_of(self.project).first():
            unmerge(noted, by=BY, with_later=bool(number % 2))

    def rename(self, number):
        thing = self.one_of([Product, ServerVersion, Workload][number % 3], number)
        if thing:
            rename(thing, f"name{' of=' if number % 2 else ' '}{number}", by=BY)

    def correct(self, number):
        if version := self.one_of(ServerVersion, number):
            correct_version(version, {"committed_at": START + timedelta(days=number)}, by=BY)

    def fold(self, number):
        fold_summaries()

    def one_of(self, model, number):
        things = list(model.objects.filter(project=self.project).order_by("pk"))
        return things[number % len(things)] if things else None


@pytest.mark.django_db(transaction=True)
@settings(max_examples=12, deadline=None)
@given(STEPS, STEPS)
def test_whatever_two_workers_do_to_runs_the_summaries_say_what_the_runs_say(ours, theirs):
    project = make_project()
    uploads = []

    def work(steps):
        worker = Worker(project, uploads)
        for step in steps:
            # A thing may be gone, or a name taken, by what the other worker did.
            with suppress(CorrectionError, ObjectDoesNotExist):
                worker.do(*step)

    at_once(partial(work, ours), partial(work, theirs))
    assert_summaries_say_what_the_runs_say()
    fold_summaries()
    assert_summaries_say_what_the_runs_say()


@settings(max_examples=10, deadline=None)
@given(STEPS)
def test_each_step_of_one_worker_leaves_the_summaries_true(steps):
    worker = Worker(make_project(), [])
    for step in steps:
        with suppress(CorrectionError):
            worker.do(*step)
        assert_summaries_say_what_the_runs_say()


def test_new_runs_add_rows_that_are_folded_into_one_of_each_kind():
    project = make_project()
    for threads in (1, 1, 2, 1):
        make_run(project=project, threads=threads)
    other = make_run()
    assert WorkloadCount.objects.filter(project=project).count() == 4
    fold_summaries()
    fold_summaries()
    assert sorted(WorkloadCount.objects.filter(project=project).values_list("threads", "runs")) == [
        (1, 3),
        (2, 1),
    ]
    assert SurroundingsCount.objects.get(project=project).runs == 4
    assert WorkloadCount.objects.get(project=other.project).runs == 1


def test_all_runs_of_a_project_can_be_counted_anew():
    project = make_project()
    make_runs([make_record(threads=threads, workload="reads of=a") for threads in (1, 2)], project=project)
    make_run()
    Run.objects.filter(project=project, threads=2).update(threads=3)
    recount_all(project)
    assert_summaries_say_what_the_runs_say()


def test_a_place_is_gone_with_its_last_run():
    run = make_run()
    assert VersionPlace.objects.filter(version=run.version_id).exists()
    remove_runs(run.project, upload_id=run.upload_id)
    assert not VersionPlace.objects.exists()


# --- several at once ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_uploads_at_once_neither_wait_for_a_count_nor_lose_one():
    project = make_project()
    records = [make_record(key=str(number), threads=number) for number in range(1, 31)]

    def send(uploads):
        for upload in uploads:
            record_runs(project, upload_id=upload, records=records)
            fold_summaries()

    every_upload = [[make_upload(project).pk for _ in range(5)] for _ in range(4)]
    at_once(*(partial(send, uploads) for uploads in every_upload))
    assert_summaries_say_what_the_runs_say()
    assert WorkloadCount.objects.aggregate(Sum("runs"))["runs__sum"] == 600


@pytest.mark.django_db(transaction=True)
def test_an_upload_and_a_removal_at_once_lose_no_count():
    project = make_project()
    records = [make_record(key=str(number), threads=number % 3) for number in range(9)]
    old, new = ([make_upload(project).pk for _ in range(6)] for _ in range(2))
    for upload in old:
        record_runs(project, upload_id=upload, records=records)

    def remove():
        for upload in old:
            remove_runs(project, upload_id=upload)

    def send():
        for upload in new:
            record_runs(project, upload_id=upload, records=records)
            fold_summaries()

    at_once(remove, send)
    assert_summaries_say_what_the_runs_say()
    assert Run.objects.count() == 54


@pytest.mark.django_db(transaction=True)
def test_one_upload_that_two_workers_record_at_once_is_counted_once():
    project = make_project()
    uploads = [make_upload(project).pk for _ in range(5)]

    def send(threads):
        for upload in uploads:
            records = [make_record(key=str(number), threads=threads) for number in range(3)]
            record_runs(project, upload_id=upload, records=records)

    at_once(partial(send, 1), partial(send, 2))
    assert_summaries_say_what_the_runs_say()
    assert Run.objects.count() == 15
