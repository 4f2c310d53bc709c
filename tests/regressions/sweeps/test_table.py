"""Sweeps of a project: what can be varied, and the table of one."""

from datetime import timedelta
from math import exp, log

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.regressions.sweeps.conditions import Factor, find_choice
from benchdash.regressions.sweeps.subjects import find_subject, subjects
from benchdash.regressions.sweeps.table import (
    find_sweep,
    groups_of,
    metrics_of,
    sweep_table,
)
from benchdash.results.controls import control_build
from benchdash.results.corrections import exclude_run
from benchdash.results.readings import Reading
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db


def pools(project, *, sizes=("8M", "64M"), repeats=1, **fields):
    """Runs whose tps grow by 100 with each size of the pool; repeats are a day apart."""
    records = [
        make_record(
            100.0 * number + repeat,
            **{
                "settings": {"pool": size, "log": "x"},
                "configuration_text": f"pool = {size}",
                "started_at": START + timedelta(days=repeat),
                **fields,
            },
            repetition=repeat,
        )
        for number, size in enumerate(sizes, 1)
        for repeat in range(repeats)
    ]
    return make_runs(records, project=project)


def table_of(project, *, metric="tps", **asked):
    subject = subjects(project)[0]
    found = find_sweep(project, subject, **asked)
    return sweep_table(project, subject, found.sweep, metric=metric)


def keys(project):
    return [choice.factor.key for choice in find_sweep(project, subjects(project)[0]).choices]


@pytest.fixture
def project():
    return make_project()


# --- what is measured -------------------------------------------------------------------------------------


def test_the_version_with_most_configurations_comes_first(project):
    make_run(project=project, version="10.6.2", started_at=START + timedelta(days=9))
    pools(project, version="10.6.1")
    assert [(one.version.version, one.runs) for one in subjects(project)] == [("10.6.1", 2), ("10.6.2", 1)]


@pytest.mark.parametrize(
    ("setting", "one", "other"),
    [
        ("pool", {"settings": {"pool": "1"}}, {"settings": {"pool": "2"}}),
        ("fact:cores", {"environment": {"cores": 1}}, {"environment": {"cores": 2}}),
        ("option:tables", {"options": {"tables": 1}}, {"options": {"tables": 2}}),
        ("parameter:size", {"workload": "x size=1"}, {"workload": "x size=2"}),
        ("name:hardware", {"hardware": "a"}, {"hardware": "b"}),
        ("name:configuration", {"configuration": "a"}, {"configuration": "b"}),
        (
            "fact:cores",
            {"hardware": "a", "hardware_facts": {"cores": 1}},
            {"hardware": "b", "hardware_facts": {"cores": 2}},
        ),
    ],
)
def test_the_version_in_which_an_asked_setting_varies_comes_first(project, setting, one, other):
    for number in range(3):
        make_run(project=project, version="10.6.2", settings={"log": str(number)})
    for fields in (one, other):
        make_run(project=project, version="10.6.1", **fields)
    assert subjects(project)[0].version.version == "10.6.2"
    assert subjects(project, setting=setting)[0].version.version == "10.6.1"


def test_branches_and_counterparts_are_subjects_of_their_own(project):
    run = make_run(project=project)
    make_run(project=project, branch="main", counterpart="C 1.2")
    assert {one.id for one in subjects(project)} == {f"{run.version_id}", f"{run.version_id}~main~C 1.2"}


def test_as_many_subjects_are_given_as_are_wanted(project):
    pools(project, version="10.6.1")
    make_run(project=project, version="10.6.2")
    assert [one.version.version for one in subjects(project, most=1)] == ["10.6.1"]


def test_a_subject_is_found_by_its_id(project):
    run = make_run(project=project)
    make_run(project=project, branch="main", counterpart="C 1.2")
    assert [find_subject(project, one.id) for one in subjects(project)] == subjects(project)
    for unknown in (f"{run.version_id}~other", f"{run.version_id + 9}", "", "x", "9" * 19, "²"):
        assert find_subject(project, unknown) is None


def test_settings_facts_options_parameters_and_names_are_what_may_vary(project):
    base = {"settings": {"pool": "8M"}, "environment": {"cores": 2}, "options": {"table_size": 10}}
    other = {"settings": {"pool": "1G"}, "environment": {"cores": 4}, "options": {"table_size": 20}}
    make_run(project=project, workload="select protocol=text", hardware="a", configuration="x", **base)
    make_run(project=project, workload="select protocol=binary", hardware="b", configuration="y", **other)
    # The options of a workload are those of its first run.
    make_run(project=project, workload="select protocol=text", hardware="a", **{**base, **other})
    assert set(keys(project)) == {
        "pool",
        "fact:cores",
        "option:table_size",
        "parameter:protocol",
        "name:configuration",
        "name:hardware",
    }


def test_facts_of_one_run_are_no_options(project):
    for number in (1, 2):
        make_run(project=project, options={"tables": 4}, facts={"sequence": number, "night": number})
    assert keys(project) == []


def test_facts_of_the_hardware_count_where_no_run_says_them(project):
    for name, cores in (("a", 2), ("b", 4)):
        make_run(project=project, hardware=name, hardware_facts={"cores": cores})
    assert find_choice(find_sweep(project, subjects(project)[0]).choices, "cores").values == ("2", "4")


def test_excluded_runs_do_not_count(project):
    runs = pools(project)
    exclude_run(runs[0], by=Viewer(), reason="noise")
    assert keys(project) == []


def test_the_metrics_are_those_of_the_version(project):
    pools(project)
    make_run(project=project, readings={"qps": 1.0}, version="10.11.1")
    subject = next(one for one in subjects(project) if one.version.version == "10.6.23")
    assert metrics_of(project, subject) == {"tps": 1}


# --- the table --------------------------------------------------------------------------------------------


def test_values_are_compared_with_the_base(project):
    pools(project, sizes=("8M", "64M", "1G"))
    table = table_of(project, setting="pool", base="64M")
    [row] = table.rows
    assert [point.value for point in table.columns] == ["8M", "1G"]
    assert row.base.value == 200
    assert [one.ratio for one in row.comparisons] == [0.5, 1.5]
    assert [one.verdict for one in row.comparisons] == ["unknown", "unknown"]


def test_repeats_give_verdicts_and_adjusted_p(project):
    pools(project, sizes=("8M", "64M"), repeats=4)
    [comparison] = table_of(project).rows[0].comparisons
    assert comparison.verdict == "better"
    assert 0 < comparison.p < 0.05


def test_a_history_at_the_place_judges_one_run_each(project):
    """Releases before that scatter by 1 %: 100, 101, 99 ..."""
    quiet = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 101.0]
    make_series(quiet, project=project)
    for value, size in ((100.0, "8M"), (100.5, "16M"), (80.0, "64M")):
        make_run(value, project=project, version="10.6.30", settings={"pool": size})
    table = table_of(project, setting="pool", base="8M")
    same, worse = table.rows[0].comparisons
    assert (worse.verdict, worse.basis) == ("worse", "history")
    assert (same.verdict, same.basis) == ("unknown", "history")


def test_a_history_of_another_place_judges_nothing(project):
    make_series([100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0], project=project, hardware="other")
    pools(project, version="10.6.30")
    assert table_of(project, setting="pool").rows[0].comparisons[0].basis == "none"


def test_what_was_measured_under_other_conditions_has_no_verdict_and_adjusts_no_p(project):
    pools(project, repeats=4)
    alone = table_of(project, setting="pool", base="8M").rows[0].comparisons[0]
    for repeat in range(4):
        make_run(
            100.0 + repeat,
            project=project,
            settings={"pool": "1G", "log": "y"},
            repetition=repeat,
            started_at=START + timedelta(days=repeat),
        )
    table = table_of(project, setting="pool", base="8M")
    alike, other = table.rows[0].comparisons
    assert [str(one) for one in table.columns[1].differences] == ["log: x → y"]
    assert (other.ratio, other.verdict, other.p) == (1, "unknown", None)
    # The smaller of two p would be doubled; more repeats of the table make it a little smaller instead.
    assert alike.verdict == "better"
    assert alike.p <= alone.p


def test_configurations_may_have_one_name_or_several(project):
    pools(project, sizes=("8M", "64M"))
    pools(project, sizes=("1G",), configuration="large")
    table = table_of(project)
    assert [point.name for point in (table.base, *table.columns)] == ["8M", "64M", "1G"]
    assert [point.differences for point in table.columns] == [()] * 2


def test_a_parameter_of_the_workload_joins_its_rows(project):
    for number, protocol in enumerate(("text", "binary"), 1):
        score = Reading("score", 10.0 * number, "ns/op", "lower")
        make_run(project=project, workload=f"b.select protocol={protocol} avgt", readings=(score,))
    subject = subjects(project)[0]
    swept = find_sweep(project, subject).sweep
    table = sweep_table(project, subject, swept, metric="score")
    assert swept.factor == Factor("parameter", "protocol")
    [row] = table.rows
    assert (row.workload, row.unit, row.direction) == ("b.select avgt", "ns/op", "lower")
    assert (row.base.value, row.comparisons[0].ratio) == (20, 0.5)


def test_machines_can_be_what_varies(project):
    for number, name in enumerate(("a", "b"), 1):
        make_run(100.0 * number, project=project, hardware=name, environment={"cores": 2 * number})
    table = table_of(project, setting="fact:cores")
    assert [point.name for point in (table.base, *table.columns)] == ["2", "4"]
    assert [str(one) for one in table.columns[0].differences] == ["hardware: a → b"]
    assert table.rows[0].comparisons[0].ratio == 2


def test_a_setting_stays_on_one_machine(project):
    pools(project, hardware="a")
    pools(project, hardware="b", sizes=("8M", "64M", "1G"))
    subject = subjects(project)[0]
    assert find_sweep(project, subject, setting="pool").swept_on == ["b"]
    found = find_sweep(project, subject, setting="pool", hardware="a")
    assert (found.swept_on, found.machines) == (["a"], ["a", "b"])
    assert [point.name for point in found.sweep.points] == ["8M", "64M"]


def test_nothing_has_the_metric(project):
    pools(project)
    assert table_of(project, metric="latency_p95") is None


def test_only_some_thread_counts(project):
    for threads in (1, 4, None):
        pools(project, threads=threads)
    subject = subjects(project)[0]
    found = find_sweep(project, subject)

    def rows(*threads):
        table = sweep_table(project, subject, found.sweep, metric="tps", threads=threads)
        return [row.threads for row in table.rows]

    assert rows() == [None, 1, 4]
    assert rows(4, None) == [None, 4]
    assert rows(1) == [1]


def test_however_much_there_is_the_statements_are_as_many(project):
    def statements():
        with CaptureQueriesContext(
            connection,
        ) as found:
            subject = subjects(project)[0]
            groups_of(project, subject)
            swept = find_sweep(project, subject).sweep
            metrics_of(project, subject)
            sweep_table(project, subject, swept, metric="tps")
        return len(found)

    pools(project, environment={"cores": 1})
    few = statements()
    for threads in (1, 2, 8):
        pools(project, sizes=("8M", "64M", "1G"), repeats=3, threads=threads, environment={"cores": threads})
    assert statements() == few == 21


# --- names of configurations ------------------------------------------------------------------------------


def test_what_a_name_says_beside_the_settings_is_never_pooled(project):
    make_runs(
        [
            make_record(
                value,
                configuration=f"{method}, pool={size}",
                settings={"pool": str(size)},
                repetition=repetition,
            )
            for method, size, value in (
                ("fsync", 1, 10),
                ("fsync", 2, 20),
                ("direct", 1, 30),
                ("direct", 2, 60),
            )
            for repetition in (1, 2)
        ],
        project=project,
    )
    found = find_sweep(project, subjects(project)[0], setting="pool")
    assert [point.runs for point in found.sweep.points] == [2, 2]


# --- controls ---------------------------------------------------------------------------------------------


def test_a_control_beside_a_sweep_tells_the_machine_from_the_setting(project):
    """Two sizes in five sessions each; the second is 10 % slower, the machine 20 %, and moody."""
    rng = np.random.default_rng(20261123)
    of_control = {"version": "1.0", "build": control_build("")}
    for number, (size, level, machine) in enumerate((("8M", 0.0, 0.0), ("64M", log(0.9), log(0.8)))):
        own = {"settings": {"pool": size}, "configuration_text": f"pool = {size}"}
        for session in range(5):
            mood = machine + 0.15 * rng.normal()
            start = START + timedelta(days=session + 9 * number)
            for workload in ("ro", "rw"):
                tested, beside = (100 * exp(one + mood + 0.01 * rng.normal()) for one in (level, 0.0))
                fields = {"workload": workload, "started_at": start}
                records = [make_record(tested, **own, **fields), make_record(beside, **of_control, **fields)]
                make_runs(records, project=project)
    # A newer control that ended long before them stands beside neither.
    ended = {"version": "2.0", "build": control_build(""), "started_at": START - timedelta(days=300)}
    make_runs([make_record(100.0, workload=workload, **ended) for workload in ("ro", "rw")], project=project)
    table = table_of(project, setting="pool", base="8M")
    for row in table.rows:
        [compared] = row.comparisons
        assert (compared.verdict, compared.basis) == ("worse", "control")
        assert compared.p < 0.001
