"""A look that remembers the place from earlier looks finds what a look that reads all of it finds."""

from datetime import timedelta
from random import Random

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.regressions import remembered_places, services
from benchdash.regressions.memories import Memories
from benchdash.regressions.models import ChangePoint, Incident, PlaceOrder
from benchdash.regressions.places import Place
from benchdash.regressions.remembered_places import forget_places, read_place
from benchdash.regressions.services import analyse_touched
from benchdash.results.corrections import exclude_run, restore_run
from benchdash.results.layouts import lay_out
from benchdash.results.models import Measurement, Run, Series, ServerVersion
from benchdash.results.services import record_runs, remove_runs
from benchdash.results.version_facts import correct_version
from tests.builders import make_project, make_record, make_runs, make_upload, make_user
from tests.regressions.nights import night_time

pytestmark = pytest.mark.django_db

WORKLOADS = ("point_select", "read_only", "read_write")


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    forget_places()
    monkeypatch.setattr(services, "_memories", Memories())


class History:
    """What happens to a project, drawn by a generator, so that it can happen to another one alike."""

    def __init__(self, seed, *, threads, commits):
        self.rng = Random(seed)
        self.project = make_project()
        self.by = Viewer(user=make_user(f"user{self.project.pk}", member_of=self.project))
        self.threads, self.commits = threads, commits
        self.nights = list(range(2, 120, 2))
        self.uploads = []
        self.upload(self.nights[:14], WORKLOADS)
        self.next = 14

    def record(self, night, workload, threads, *, key="", committed=True):
        level = (0.8 if night > 24 else 1.0) * (1.1 if workload == WORKLOADS[0] and night > 40 else 1.0)
        tps = round(100 * threads**0.5 * level * self.rng.gauss(1, 0.01), 2)
        commit = {}
        if self.commits:
            commit = {"commit": f"{night:07x}" * 5 + "00000"}
            if committed:
                commit["committed_at"] = night_time(night) - timedelta(hours=2)
        return make_record(
            readings={"tps": tps, "latency_avg": round(1000 * threads / tps, 3)},
            key=key or f"{night} {workload} {threads} {self.rng.random()}",
            branch="main",
            version="10.11.19",
            started_at=night_time(night) + timedelta(minutes=self.rng.randrange(50)),
            workload=workload,
            threads=threads,
            **commit,
        )

    def upload(self, nights, workloads, *, committed=True):
        records = [
            self.record(night, workload, threads, committed=committed)
            for night in nights
            for workload in workloads
            for threads in self.threads
        ]
        upload = make_upload(self.project)
        make_runs(records, project=self.project, upload=upload)
        self.uploads.append((upload, records))

    def step(self):
        often = [self.night] * 8 + [self.part, self.late, self.again, self.without_time] * 2
        seldom = [self.exclude, self.restore, self.remove, self.rerecord, self.correct, self.new]
        what = self.rng.choice(often + seldom)
        what()
        return what.__name__

    def _newest(self):
        self.next += 1
        return self.nights[self.next - 1]

    def night(self):
        self.upload([self._newest()], WORKLOADS)

    def part(self):
        self.upload([self._newest()], self.rng.sample(WORKLOADS, 1))

    def late(self):
        self.upload([self.rng.randrange(3, 27, 2)], self.rng.sample(WORKLOADS, 2))

    def again(self):
        self.upload([self.nights[self.next - 1]], self.rng.sample(WORKLOADS, 2))

    def without_time(self):
        self.upload([self._newest()], WORKLOADS[:2], committed=False)
        if self.rng.random() < 0.5:
            analyse_touched()
            self.upload([self.nights[self.next - 1]], WORKLOADS[1:])

    def new(self):
        self.upload([self._newest()], (*WORKLOADS, f"new_{self.next}"))

    def _run(self, **which):
        runs = list(Run.objects.filter(project=self.project, **which).order_by("pk"))
        return self.rng.choice(runs) if runs else None

    def exclude(self):
        exclude_run(self._run(excluded_at=None), by=self.by, reason="a test")

    def restore(self):
        if run := self._run(excluded_at__isnull=False):
            restore_run(run, by=self.by)

    def remove(self):
        upload, _ = self.uploads.pop(self.rng.randrange(1, len(self.uploads)) if len(self.uploads) > 1 else 0)
        remove_runs(self.project, upload_id=upload.pk)
        if not self.uploads:
            self.upload(self.nights[:8], WORKLOADS)

    def rerecord(self):
        upload, records = self.rng.choice(self.uploads)
        kept = records[: max(1, len(records) - 1)]
        night = self.nights[self.next - 1]
        changed = [self.record(night, WORKLOADS[0], self.threads[0], key=kept[0].key), *kept[1:]]
        record_runs(self.project, upload_id=upload.pk, records=changed)

    def correct(self):
        versions = ServerVersion.objects.filter(project=self.project, commit__isnull=False).order_by("pk")
        if version := versions.first():
            at = night_time(self.rng.randrange(1, 40))
            correct_version(version, {"committed_at": at}, by=self.by)

    def opinions(self):
        """All that analysis stored, in words that do not depend on ids."""
        points = ChangePoint.objects.filter(series__project=self.project).order_by(
            "run__started_at", "series__workload__name", "series__threads", "series__metric", "pk"
        )
        columns = (
            "run__started_at",
            "run__key",
            "series__workload__name",
            "series__threads",
            "series__metric",
            "state",
            "before",
            "after",
            "confidence",
            "noise",
            "groups_before",
            "groups_after",
            "last_good__started_at",
            "incident__started_at",
            "incident__status",
            "incident__worst",
        )
        incidents = Incident.objects.filter(project=self.project).order_by("started_at", "kind", "worst")
        derived = Measurement.objects.filter(series__project=self.project, series__is_derived=True).order_by(
            "series__workload__name", "series__metric", "run__started_at", "run__key"
        )
        return (
            list(points.values_list(*columns)),
            list(incidents.values_list("kind", "status", "started_at", "worst", "median", "looked_at")),
            list(derived.values_list("series__workload__name", "series__metric", "run__key", "value")),
        )


def happened(seed, *, remembering, steps=10, **options):
    """The opinions after each look, and what happened before it."""
    history = History(seed, **options)
    analyse_touched()
    seen = [("beginning", history.opinions())]
    for _ in range(steps):
        names = [history.step() for _ in range(history.rng.choice([1, 1, 2]))]
        if not remembering:
            forget_places()
            services._memories = Memories()
        analyse_touched()
        seen.append((names, history.opinions()))
    return seen


_COMMITS = {"threads": (4,), "commits": True}
_DAYS = {"threads": (4,), "commits": False}
_CURVES = {"threads": (1, 4, 16, 64), "commits": True}


@pytest.mark.parametrize(
    ("seed", "options", "most_values"),
    [(1, _COMMITS, 500_000), (2, _COMMITS, 80), (3, _DAYS, 500_000), (4, _CURVES, 250)],
    ids=["commits", "commits of a cut branch", "days", "curves of a cut branch"],
)
def test_remembering_makes_no_difference_whatever_happens(seed, options, most_values, settings):
    settings.ANALYSIS_MOST_VALUES = most_values
    remembered = happened(seed, remembering=True, **options)
    anew = happened(seed, remembering=False, **options)
    for (names, found), (_, found_anew) in zip(remembered, anew, strict=True):
        assert found == found_anew, names


def place_of(history):
    return Place.of(Series.objects.filter(project=history.project).first())


def statements_of_a_look():
    with CaptureQueriesContext(connection) as captured:
        analyse_touched()
    return [query["sql"] for query in captured]


def reads_everything(statements):
    return any("GROUP BY series_id" in one and "string_agg" in one for one in statements)


def test_a_look_at_one_more_night_reads_nothing_but_that_night():
    history = History(1, threads=(4,), commits=True)
    assert reads_everything(statements_of_a_look())
    for step in (history.night, history.part, history.new):
        step()
        assert not reads_everything(statements_of_a_look()), step


@pytest.mark.parametrize("step", ["late", "exclude", "remove", "rerecord", "correct"])
def test_what_changes_the_past_has_the_place_read_anew(step):
    history = History(1, threads=(4,), commits=True)
    analyse_touched()
    history.night()
    history.night()
    analyse_touched()
    getattr(history, step)()
    assert reads_everything(statements_of_a_look())


def test_a_series_that_is_gone_without_a_trace_is_noticed():
    history = History(1, threads=(4,), commits=True)
    history.new()
    analyse_touched()
    new = Series.objects.filter(project=history.project, workload__name__startswith="new")
    Measurement.objects.filter(series__in=new).delete()
    new.delete()
    history.night()
    assert reads_everything(statements_of_a_look())


def test_a_worker_that_did_not_see_the_last_looks_reads_all_that_came_in_since():
    history = History(1, threads=(4,), commits=True)
    analyse_touched()
    mine = dict(remembered_places._places)
    for _ in range(3):
        history.night()
        analyse_touched()
    remembered_places._places.clear()
    remembered_places._places.update(mine)
    history.part()
    assert not reads_everything(statements_of_a_look())
    (known,) = remembered_places._places.values()
    whole = lay_out(known.series.values(), most_values=settings.ANALYSIS_MOST_VALUES)
    assert known.layout.runs.groups == whole.runs.groups
    assert known.layout.runs.ids.tolist() == whole.runs.ids.tolist()
    for pk, one in whole.measured.items():
        assert known.layout.measured[pk].runs.tolist() == one.runs.tolist()
        assert known.layout.measured[pk].values.tolist() == one.values.tolist()


def test_a_correction_that_another_worker_looked_at_is_not_forgotten():
    history = History(1, threads=(4,), commits=True)
    analyse_touched()
    mine = dict(remembered_places._places)
    history.exclude()
    analyse_touched()
    remembered_places._places.clear()
    remembered_places._places.update(mine)
    history.night()
    assert reads_everything(statements_of_a_look())


def test_a_look_that_was_rolled_back_is_no_proof():
    history = History(1, threads=(4,), commits=True)
    analyse_touched()
    place = place_of(history)
    order = PlaceOrder.objects.get()
    history.night()
    least = Run.objects.order_by("pk").last().pk
    # What it saw is remembered under a name that nobody stored.
    read_place(place, order, least_run_id=least)
    assert reads_everything(statements_of_a_look())


def test_no_more_places_are_remembered_than_memory_allows(monkeypatch):
    monkeypatch.setattr(remembered_places, "_MOST_VALUES", 1)
    for seed in (1, 2):
        History(seed, threads=(4,), commits=True)
        analyse_touched()
    assert len(remembered_places._places) == 1
