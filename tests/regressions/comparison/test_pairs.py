"""Two versions or two runs beside each other, with all that differs."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison.columns import Selector, columns_of
from benchdash.regressions.comparison.pairs import (
    find_runs,
    pair_of_columns,
    pair_of_runs,
    runs_beside,
    side_names,
)
from benchdash.regressions.queries import Difference
from benchdash.results.models import Run
from tests.builders import START, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

COMMAND = (
    "sysbench oltp_read_only --table-size={size} --threads={threads} --time={time} --mysql-password=*** run"
)


@pytest.fixture
def project():
    return make_project()


def measure(project, version, *, size=1000, time=60, threads=(1, 4), workloads=("ro",), repeats=2, **fields):
    return make_runs(
        [
            make_record(
                **{
                    "readings": {"tps": 100.0 + repetition, "cpu_per_op": 50.0},
                    "version": version,
                    "workload": workload,
                    "threads": count,
                    "options": {"command": COMMAND.format(size=size, threads=count, time=time)},
                    "started_at": START + timedelta(days=20 * int(version[-1]) + repetition),
                    **fields,
                }
            )
            for workload in workloads
            for count in threads
            for repetition in range(repeats)
        ],
        project=project,
    )


def pair(project):
    base, other = columns_of(project, Selector())
    return pair_of_columns(project, base, other)


def test_every_metric_is_compared_and_the_runs_are_counted(project):
    measure(project, "10.6.1")
    measure(project, "10.6.2", repeats=3)
    found = pair(project)
    assert [table.metric for table in found.tables] == ["cpu_per_op", "tps"]
    assert (found.base.runs, found.other.runs) == (4, 6)
    assert side_names(found) == ("10.6.1", "10.6.2")


def test_what_is_measured_alike_differs_in_nothing(project):
    known = {"settings": {"a": "1"}, "configuration_text": "a=1", "environment": {"kernel": "6.1"}}
    measure(project, "10.6.1", **known)
    measure(project, "10.6.2", **known)
    found = pair(project)
    assert (found.doubts, found.told, found.configuration_diff) == ([], [], [])
    assert found.settings.is_known
    assert found.environment.is_known
    assert not found.settings.differences
    assert not found.environment.differences
    assert not found.hardware.is_known


def test_settings_texts_and_the_environment_are_held_against_each_other(project):
    measure(
        project,
        "10.6.1",
        settings={"buffer_pool": "1G"},
        configuration_text="[mysqld]\nbuffer_pool=1G\n",
        environment={"kernel": "5.10", "governor": "performance"},
    )
    measure(
        project,
        "10.6.2",
        settings={"buffer_pool": "2G"},
        configuration_text="[mysqld]\nbuffer_pool=2G\n",
        environment={"kernel": "6.1", "governor": "performance"},
    )
    found = pair(project)
    assert found.settings.differences == (Difference("buffer_pool", "1G", "2G"),)
    assert found.environment.differences == (Difference("kernel", "5.10", "6.1"),)
    assert found.configuration_diff == ["@@ -1,2 +1,2 @@", " [mysqld]", "-buffer_pool=1G", "+buffer_pool=2G"]


def test_what_nobody_sent_is_not_known_and_does_not_differ(project):
    measure(project, "10.6.1", settings={"a": "1"}, configuration_text="a=1")
    measure(project, "10.6.2")
    settings = pair(project).settings
    assert (settings.differences, settings.base_is_known, settings.other_is_known) == ((), True, False)


def test_table_sizes_and_durations_that_differ_are_doubts_and_options_are_listed(project):
    measure(project, "10.6.1")
    measure(project, "10.6.2", size=2000, time=120)
    found = pair(project)
    assert [doubt.text for doubt in found.doubts] == [
        "Different sizes of tables: table_size: 1000 → 2000.",
        "Different durations: duration: 60 s → 120 s.",
    ]
    assert list(found.doubts[0].details) == ["table_size: 1000 → 2000 (ro, 1 thread; ro, 4 threads)"]
    assert [(str(one.difference), one.rows, one.everywhere) for one in found.told] == [
        ("--table-size: 1000 → 2000", (("ro", 1), ("ro", 4)), True),
        ("--time: 60 → 120", (("ro", 1), ("ro", 4)), True),
    ]
    assert found.commands[0].row == ("ro", 1)
    assert found.commands[0].base == COMMAND.format(size=1000, threads=1, time=60)


def test_what_differs_in_some_rows_is_listed_with_them(project):
    measure(project, "10.6.1", workloads=("ro", "rw"), threads=(1,))
    measure(project, "10.6.2", workloads=("ro",), threads=(1,))
    measure(project, "10.6.2", workloads=("rw",), threads=(1,), time=30)
    [one] = pair(project).told
    assert (str(one.difference), one.rows, one.everywhere) == ("--time: 60 → 30", (("rw", 1),), False)


def test_different_hardware_is_a_doubt(project):
    measure(project, "10.6.1", hardware="a")
    measure(project, "10.6.2", hardware="b")
    assert [doubt.text for doubt in pair(project).doubts] == ["Different hardware: a; b."]


def test_two_runs_are_a_pair_with_one_row(project):
    first, *_ = measure(project, "10.6.1", threads=(4,))
    *_, last = measure(project, "10.6.2", threads=(8,), workloads=("rw",))
    runs = find_runs(project, [first.pk, last.pk])
    found = pair_of_runs(runs[first.pk], runs[last.pk])
    assert {len(table.rows) for table in found.tables} == {1}
    assert side_names(found) == (f"10.6.1, run {first.pk}", f"10.6.2, run {last.pk}")
    texts = [doubt.text for doubt in found.doubts]
    assert texts[:2] == ["Different workloads: ro; rw.", "Different thread counts: 4; 8."]


def test_runs_of_other_projects_are_not_found(project):
    [run] = measure(make_project(), "10.6.1", threads=(1,), repeats=1)
    assert find_runs(project, [run.pk]) == {}


def test_the_run_before_at_the_same_place_is_offered_first(project):
    runs = [
        measure(
            project, "10.6.1", threads=(1,), repeats=1, hardware=hardware, started_at=START.replace(day=day)
        )[0]
        for day, hardware in ((1, "box"), (2, "box"), (3, "other"), (4, "box"), (5, "box"))
    ]
    offered = runs_beside(Run.objects.select_related("version").get(pk=runs[3].pk))
    assert offered == [runs[1], runs[0], runs[4], runs[2]]


def test_the_number_of_statements_is_the_same_whatever_the_size(project):
    measure(project, "10.6.1")
    measure(project, "10.6.2")
    base, other = columns_of(project, Selector())
    with CaptureQueriesContext(connection) as few:
        pair_of_columns(project, base, other)
    measure(project, "10.6.1", workloads=[f"w{number}" for number in range(20)])
    measure(project, "10.6.2", workloads=[f"w{number}" for number in range(20)])
    with CaptureQueriesContext(connection) as many:
        pair_of_columns(project, base, other)
    assert len(few) == len(many) == 6
