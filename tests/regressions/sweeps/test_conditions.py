"""What varies among runs, and which runs are compared for one thing varied."""

import itertools
from datetime import UTC, datetime, timedelta

from benchdash.regressions.sweeps.conditions import (
    CONFIGURATION,
    HARDWARE,
    Factor,
    RunGroup,
    choices,
    find_choice,
    on_one_machine,
    only_with,
    parameters_of,
    sweep,
    without_constants,
)

POOL, FLUSH = Factor("setting", "pool"), Factor("setting", "flush")
_numbers = itertools.count(1)


def group(
    workload="ro", *, threads=1, at=0, seconds=None, hardware="box", configuration="default", **settings
):
    """One run; ``settings`` are those of the server, None for one that was not set."""
    conditions = {
        HARDWARE: hardware,
        CONFIGURATION: configuration,
        **{Factor("setting", name): value for name, value in settings.items()},
        **{Factor("parameter", name): value for name, value in parameters_of(workload).items()},
    }
    return RunGroup(
        workload,
        conditions,
        runs=(next(_numbers),),
        threads=threads,
        newest=datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=at),
        seconds=seconds,
        settings_are_known=bool(settings),
    )


def counting(groups, factor=POOL, **asked):
    """By value, the runs that count."""
    found = sweep(groups, factor, most=99, **asked)
    return {
        point.name: [run for row in point.groups.values() for one in row for run in one.runs]
        for point in found.points
    }


def runs(*groups):
    return [run for one in groups for run in one.runs]


# --- what varies ------------------------------------------------------------------------------------------


def test_what_was_varied_alone_comes_first():
    groups = [group(pool="8M", flush="a"), group(pool="64M", flush="b"), group(pool="64M", flush="a")]
    groups += [group(pool="1G", flush="a")]
    assert [(one.factor, one.values, one.alike) for one in choices(groups)] == [
        (POOL, ("8M", "64M", "1G"), 3),
        (FLUSH, ("a", "b"), 2),
    ]


def test_what_never_varies_is_forgotten_but_the_machine():
    [one, other] = without_constants([group(pool="8M", flush="a"), group(pool="64M", flush="a")])
    assert one.conditions == {HARDWARE: "box", POOL: "8M"}
    assert other.conditions == {HARDWARE: "box", POOL: "64M"}


def test_a_value_written_in_two_ways_does_not_vary():
    groups = [group(pool="128M"), group(pool="134217728")]
    assert POOL not in without_constants(groups)[0].conditions
    assert choices(groups) == []


def test_a_setting_that_a_known_configuration_lacks_was_not_set():
    with_flush, without, unknown = without_constants([group(pool="8M", flush="a"), group(pool="8M"), group()])
    assert with_flush.conditions[FLUSH] == "a"
    assert without.conditions[FLUSH] is None
    assert FLUSH not in unknown.conditions


def test_a_thing_is_found_by_its_key_or_its_name():
    found = choices([group("x n=1"), group("x n=2")])
    assert find_choice(found, "parameter:n") == find_choice(found, "n") == found[0]
    assert find_choice(found, "fact:n") is None


def test_keys_name_things_in_addresses():
    for factor in (POOL, Factor("parameter", "protocol"), Factor("fact", "cpu: model"), HARDWARE):
        assert Factor.of_key(factor.key) == factor
    assert Factor.of_key("a:b") == Factor("setting", "a:b")


def test_parameters_stand_in_the_name_of_a_workload():
    assert parameters_of("bench.select protocol=text size=10 avgt") == {"protocol": "text", "size": "10"}
    assert parameters_of("range= =2 avgt") == {}


# --- one sweep --------------------------------------------------------------------------------------------


def test_at_each_value_the_runs_count_that_have_all_else_alike():
    small, large = group(pool="8M", flush="a"), group(pool="1G", flush="a")
    other = group(pool="1G", flush="b", at=9)
    assert counting([small, large, other]) == {"8M": runs(small), "1G": runs(large)}
    point = sweep([small, large, other], POOL, most=99).points[1]
    assert point.differences == ()
    assert (point.left_out, point.left_out_for) == (1, ("flush",))


def test_where_nothing_is_alike_the_nearest_count_and_what_differs_is_named():
    base = group(pool="8M", flush="a", log="x")
    near, far = group(pool="1G", flush="b", log="x"), group(pool="1G", flush="b", log="y", at=9)
    found = sweep([base, near, far], POOL, base="8M", most=99)
    assert counting([base, near, far]) == {"8M": runs(base), "1G": runs(near)}
    assert [str(one) for one in found.points[1].differences] == ["flush: a → b"]


def test_a_line_never_mixes_conditions():
    groups = [group(pool="8M", flush="a", threads=2), group(pool="1G", flush="a", threads=2)]
    only_there = group(pool="8M", flush="b", threads=9)
    assert counting([*groups, only_there])["8M"] == runs(groups[0])


def test_the_name_of_a_configuration_counts_only_where_its_settings_are_not_known():
    named = [group(pool=value, configuration=f"pool {value}") for value in ("8M", "1G")]
    assert [point.differences for point in sweep(named, POOL, most=99).points] == [(), ()]
    x = Factor("parameter", "n")
    unknown = [group("x n=1", configuration="a"), group("x n=2", configuration="b")]
    [_, point] = sweep(unknown, x, base="1", most=99).points
    assert [str(one) for one in point.differences] == ["configuration: a → b"]


def test_each_workload_has_conditions_of_its_own():
    groups = [group("ro", pool=pool, flush="a") for pool in ("8M", "1G")]
    groups += [group("rw", pool=pool, flush="b") for pool in ("8M", "1G")]
    assert [point.differences for point in sweep(groups, POOL, most=99).points] == [(), ()]


def test_a_workload_with_one_value_is_no_part_of_it():
    groups = [group("ro", pool="8M"), group("ro", pool="1G"), group("rw", pool="64M")]
    assert list(counting(groups)) == ["8M", "1G"]
    assert sweep([group("rw", pool="64M")], POOL, most=99) is None


def test_workloads_that_differ_in_a_parameter_are_one_row():
    factor = Factor("parameter", "protocol")
    groups = [group(f"select protocol={name} avgt") for name in ("text", "binary")]
    found = sweep(groups, factor, most=99)
    assert [list(point.groups) for point in found.points] == [["select avgt"], ["select avgt"]]


def test_the_base_is_the_first_value_with_the_conditions_of_most():
    groups = [group(pool="8M", flush="b"), *(group(pool=pool, flush="a") for pool in ("64M", "1G"))]
    assert sweep(groups, POOL, most=99).base.name == "64M"
    assert sweep(groups, POOL, base="1G", most=99).base.name == "1G"
    assert sweep(groups, POOL, base="nothing", most=99).base.name == "64M"


def test_more_values_than_are_wanted_are_left_out():
    groups = [group(pool=f"{size}M") for size in (1, 2, 3, 4)]
    found = sweep(groups, POOL, most=3)
    assert [point.name for point in found.points] == ["1M", "2M", "3M"]
    assert found.left_out == 1


def test_a_setting_is_swept_on_the_machine_with_most_values():
    at_a = [group(pool=pool, hardware="a") for pool in ("8M", "1G")]
    at_b = [group(pool=pool, hardware="b") for pool in ("8M", "64M", "1G")]
    assert on_one_machine([*at_a, *at_b], POOL) == at_b
    assert on_one_machine([*at_a, *at_b], Factor("fact", "cores")) == [*at_a, *at_b]


def test_other_conditions_can_be_chosen():
    groups = [group(pool="8M", flush="a"), group(pool="8M", flush="b"), group(pool="8M", flush=None)]
    assert only_with(groups, ["flush=b"]) == [groups[1]]
    assert only_with(groups, ["flush=A", "flush=not set"]) == [groups[0], groups[2]]
    assert only_with(groups, ["flush=a", "pool=8388608"]) == [groups[0]]
    assert only_with(groups, ["nothing=1"]) == []
    assert only_with(groups, []) == groups


def test_the_duration_of_a_value_is_the_mean_over_its_runs():
    groups = [group(pool="8M", seconds=10), group(pool="8M", seconds=30), group(pool="1G")]
    assert [point.seconds for point in sweep(groups, POOL, most=99).points] == [20, None]
