"""Two things varied at once, with nothing else different."""

from benchdash.regressions.sweeps.conditions import choices
from benchdash.regressions.sweeps.crossing import MAX_LINES, cross
from tests.regressions.sweeps.test_conditions import group, runs

SIZES, WAYS = ("8M", "64M", "1G"), ("fsync", "O_DIRECT")


def crossed(groups, along="pool", lines="flush", *, most=24, **asked):
    offered = {one.factor.name: one for one in choices(groups)}
    return cross(groups, offered[along], offered[lines], most=most, **asked)


def counting(crossing):
    """By pair of values, the runs that count."""
    return {
        crossing.pairs[point.name]: [
            run for of_row in point.groups.values() for one in of_row for run in one.runs
        ]
        for point in crossing.sweep.points
    }


def full_grid(**more):
    return {(size, way): group(pool=size, flush=way, **more) for way in WAYS for size in SIZES}


def test_each_pair_of_values_counts_its_own_runs():
    grid = full_grid()
    found = crossed([*grid.values()])
    assert (found.along.values, found.lines.values) == (SIZES, ("fsync", "O_DIRECT"))
    assert counting(found) == {pair: [*one.runs] for pair, one in grid.items()}
    assert [point.name for point in found.sweep.points][:4] == [
        *("8M / fsync", "64M / fsync", "1G / fsync"),
        "8M / O_DIRECT",
    ]
    assert found.sweep.base.name == "8M / fsync"
    assert not any(point.left_out or point.differences for point in found.sweep.points)


def test_any_pair_is_the_base_and_a_value_alone_means_its_first():
    grid = [*full_grid().values()]
    assert crossed(grid, base="1G / O_DIRECT").sweep.base.name == "1G / O_DIRECT"
    assert crossed(grid, base="64M").sweep.base.name == "64M / fsync"
    assert crossed(grid, base="7M / fsync").sweep.base.name == "8M / fsync"


def test_what_differs_in_a_third_thing_is_left_out_and_named():
    grid = full_grid(log="x")
    other = group(pool="1G", flush="O_DIRECT", log="y")
    beside = group(pool="8M", flush="fsync", log="y")
    del grid["1G", "O_DIRECT"]
    found = crossed([*grid.values(), other, beside])
    assert counting(found)["1G", "O_DIRECT"] == []
    assert not {*runs(other, beside)} & {run for each in counting(found).values() for run in each}
    assert {
        point.name: (point.left_out, point.left_out_for) for point in found.sweep.points if point.left_out
    } == {
        "8M / fsync": (1, ("log",)),
        "1G / O_DIRECT": (1, ("log",)),
    }


def test_a_cross_of_two_sweeps_that_share_one_value_has_gaps():
    groups = [group(pool=size, flush="O_DIRECT") for size in SIZES] + [group(pool="64M", flush="fsync")]
    assert [pair for pair, found in counting(crossed(groups)).items() if found] == [
        ("64M", "fsync"),
        *((size, "O_DIRECT") for size in SIZES),
    ]


def test_things_that_only_vary_together_with_a_third_are_no_chart():
    groups = [group(pool="8M", flush="fsync", log="x"), group(pool="64M", flush="O_DIRECT", log="y")]
    assert crossed(groups) is None


def test_workloads_are_rows_and_parameters_leave_their_names():
    groups = [
        group(f"{name} rows={rows}", pool=size) for name in ("a", "b") for rows in (1, 10) for size in SIZES
    ]
    found = crossed(groups, lines="rows")
    assert {row for point in found.sweep.points for row in point.groups} == {"a", "b"}
    assert found.lines.values == ("1", "10")


def test_values_written_in_two_ways_are_one():
    groups = [group(pool="128M", flush="fsync"), group(pool="134217728", flush="O_DIRECT", at=1)]
    groups += [group(pool="1G", flush=way) for way in WAYS]
    assert len(crossed(groups).along.values) == 2
    assert all(crossed(groups).point(value, way).runs == 1 for value in ("134217728", "1G") for way in WAYS)


def test_settings_are_crossed_on_one_machine_and_facts_between_machines():
    small = [group(pool=size, flush=way, hardware="small") for size in SIZES for way in WAYS]
    large = [group(pool="1G", flush=way, hardware="large") for way in WAYS]
    assert sum(point.runs for point in crossed([*small, *large]).sweep.points) == 6
    found = crossed([*small, *large], lines="hardware")
    assert found.lines.values == ("large", "small")


def test_more_values_than_fit_are_left_out_and_counted():
    groups = [group(pool=f"{size}M", flush=f"way{way}") for size in range(4) for way in range(MAX_LINES + 2)]
    found = crossed(groups, most=3)
    assert (len(found.along.values), len(found.lines.values), found.left_out) == (3, MAX_LINES, 3)
    assert len(found.sweep.points) == 3 * MAX_LINES
