"""How many runs there are of each kind: kept by the database with every run."""

import random
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.db.models import Count, F, Max, Min, Q, Sum

from benchdash.accounts.access import Viewer
from benchdash.results.corrections import exclude_run, merge, rename, restore_run
from benchdash.results.models import (
    Configuration,
    Hardware,
    ParameterCount,
    Product,
    Run,
    ServerVersion,
    SubjectCount,
    SurroundingsCount,
    Workload,
    WorkloadCount,
)
from benchdash.results.services import record_runs, remove_runs
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


def fold(project):
    with connection.cursor() as cursor:
        for counts in KINDS:
            cursor.execute(f"SELECT {counts._meta.db_table}_fold(%s)", [project.pk])


# --- whatever happens ---------------------------------------------------------------------------------------


class Chance:
    """Does something that changes runs, drawn at random."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.project = make_project()
        self.uploads = []
        self.upload()

    def records(self):
        draw = self.draw
        return [
            make_record(
                key=str(number),
                product=draw.choice("AB"),
                version=draw.choice(["1.0", "1.1", "2.0"]),
                branch=draw.choice(["", "main"]),
                hardware=draw.choice(["box", "tower"]),
                counterpart=draw.choice(["", "C 1.2"]),
                configuration=draw.choice(["usual", "tuned"]),
                settings=draw.choice([{}, {"a": "1"}, {"a": "2"}]),
                environment=draw.choice([{}, {"kernel": "6.1"}]),
                workload=draw.choice(["reads", "writes", "reads of=a", "reads of=b"]),
                threads=draw.choice([None, 1, 8]),
                started_at=START + timedelta(hours=draw.randrange(5)),
            )
            for number in range(draw.randrange(1, 5))
        ]

    def upload(self):
        self.uploads.append(make_upload(self.project).pk)
        record_runs(self.project, upload_id=self.uploads[-1], records=self.records())

    def upload_again(self):
        record_runs(self.project, upload_id=self.draw.choice(self.uploads), records=self.records())

    def remove(self):
        remove_runs(self.project, upload_id=self.draw.choice(self.uploads))

    def exclude(self):
        if run := Run.objects.order_by("?").first():
            (restore_run if run.is_excluded else exclude_run)(run, by=BY, reason="said so")

    def merge(self):
        model = self.draw.choice([Product, ServerVersion, Hardware, Configuration, Workload])
        found = list(model.objects.filter(project=self.project).order_by("pk"))
        same = [
            one for one in found[1:] if getattr(one, "product_id", 0) == getattr(found[0], "product_id", 0)
        ]
        if same:
            merge(found[0], self.draw.choice(same), by=BY)

    def rename(self):
        model = self.draw.choice([Product, ServerVersion, Workload])
        if found := model.objects.filter(project=self.project).first():
            rename(found, f"name{self.draw.choice([' ', ' of='])}{self.draw.random()}", by=BY)

    def fold(self):
        fold(self.project)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_to_runs_their_counts_are_true(seed):
    chance = Chance(seed)
    ways: list[Callable[[], None]] = [
        *[chance.upload] * 4,
        *[chance.upload_again, chance.remove, chance.exclude, chance.merge] * 2,
        chance.rename,
        chance.fold,
    ]
    for _ in range(15):
        way = chance.draw.choice(ways)
        way()
        for counts in KINDS:
            assert kept(counts) == counted(counts), way.__name__


def test_new_runs_add_rows_that_are_folded_into_one_of_each_kind():
    project = make_project()
    for threads in (1, 1, 2, 1):
        make_run(project=project, threads=threads)
    other = make_run()
    fold(project)
    fold(project)
    assert sorted(WorkloadCount.objects.filter(project=project).values_list("threads", "runs")) == [
        (1, 3),
        (2, 1),
    ]
    assert SurroundingsCount.objects.get(project=project).runs == 4
    assert WorkloadCount.objects.get(project=other.project).runs == 1


def test_many_uploads_leave_few_rows():
    project = make_project()
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")  # whether an upload folds is drawn at random
    for _ in range(40):
        make_runs([make_record(threads=threads) for threads in range(1, 51)], project=project)
    assert WorkloadCount.objects.count() < 1000
    assert kept(WorkloadCount) == counted(WorkloadCount)


# --- several at once ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_uploads_at_once_neither_wait_for_a_count_nor_lose_one():
    project = make_project()
    records = [make_record(key=str(number), threads=number) for number in range(1, 31)]

    def send(uploads):
        for upload in uploads:
            record_runs(project, upload_id=upload, records=records)
            fold(project)

    every_upload = [[make_upload(project).pk for _ in range(5)] for _ in range(4)]
    at_once(*(partial(send, uploads) for uploads in every_upload))
    for counts in KINDS:
        assert kept(counts) == counted(counts)
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
            fold(project)

    at_once(remove, send)
    for counts in KINDS:
        assert kept(counts) == counted(counts)
    assert Run.objects.count() == 54
