"""What else than the version differs between the columns of a comparison."""

from dataclasses import replace

import pytest

from benchdash.regressions.comparison.columns import Selector, columns_of, names
from benchdash.regressions.comparison.comparability import SingleSessions, doubts
from benchdash.regressions.comparison.version_table import compare_columns
from tests.builders import make_project, make_record, make_runs
from tests.dashboard.charts.tables import cell, judged, table

pytestmark = pytest.mark.django_db


def said(*sides, repeats=2):
    """The doubts about the columns that these fields make; the first is the base."""
    project = make_project()
    records = [
        make_record(
            **{"readings": {"tps": 100.0 + repetition}, **side},
            repetition=repetition,
            tags=(f"session:{repetition}",),
        )
        for side in sides
        for repetition in range(repeats)
    ]
    make_runs(records, project=project)
    base, *others = found = columns_of(project, Selector())
    metric = next(iter(records[0].readings)).metric
    table = compare_columns(project, metric=metric, base=base, columns=others)
    return doubts([table], list(zip(found, names(found), strict=True)), base)


def test_versions_measured_alike_raise_no_doubt():
    alike = {"environment": {"kernel": "6.1"}, "configuration_text": "a=1", "settings": {"a": "1"}}
    assert said({"version": "10.6.1", **alike}, {"version": "10.6.2", **alike}) == []


def test_different_machines_configurations_counterparts_and_builds_are_named():
    texts = [
        doubt.text
        for doubt in said(
            {"version": "10.6.1", "hardware": "a"},
            {
                "version": "10.6.2",
                "hardware": "b",
                "configuration": "tuned",
                "counterpart": "C",
                "build": "debug",
            },
        )
    ]
    assert texts == [
        "Different hardware: a; b.",
        "Different configurations: default; tuned.",
        "Different counterparts: none; C.",
        "Different builds: plain; debug.",
    ]


def test_settings_and_facts_that_differ_are_named_with_their_values():
    [doubt] = said(
        {
            "version": "10.6.1",
            "environment": {"kernel": "5.10"},
            "configuration_text": "x",
            "settings": {"a": "1"},
        },
        {
            "version": "10.6.2",
            "environment": {"kernel": "6.1"},
            "configuration_text": "y",
            "settings": {"a": "2"},
        },
        {
            "version": "10.6.3",
            "environment": {"kernel": "6.1"},
            "configuration_text": "y",
            "settings": {"a": "2"},
        },
    )
    assert doubt.text == "Different settings or environments: a; kernel."
    assert doubt.details == ["a: 1 → 2 (10.6.2, 10.6.3)", "kernel: 5.10 → 6.1 (10.6.2, 10.6.3)"]


def test_what_is_not_known_differs_in_nothing():
    assert said({"version": "10.6.1", "environment": {"kernel": "5.10"}}, {"version": "10.6.2"}) == []


def test_what_one_session_carries_is_counted_version_by_version():
    [doubt] = said({"version": "10.6.1"}, {"version": "10.6.2"}, repeats=1)
    assert doubt.text == (
        "The value of 10.6.1 and the value of 10.6.2 are from one session each, and nothing tells how much"
        " sessions scatter here."
    )


EVENING = ("evening", "evening")
NIGHTS = ("monday", "tuesday")


def rows_of(*sessions, basis="within session", workloads=3):
    """Rows of workloads; each side was measured in these sessions, and judged by ``basis``."""
    sides = [
        {(f"w{number}", 1): cell(10.0, 11.0, sessions=of_side) for number in range(workloads)}
        for of_side in sessions
    ]
    return judged(table(*sides), *["unknown"] * workloads, basis=basis).rows


def test_where_all_is_from_one_session_the_headline_says_so_and_what_would_settle_it():
    found = SingleSessions.of(rows_of(EVENING, EVENING), ["16.15", "18.4"])
    assert found.headline == (
        "One session each: what the machine did that hour cannot be told from what the version does."
        " 2 more sessions of 16.15 and of 18.4 would tell how much sessions scatter here."
    )
    [doubt] = found.doubts
    assert doubt.text == (
        "All 3 values of 16.15 and all 3 values of 18.4 are from one session each, and nothing tells how much"
        " sessions scatter here."
    )


@pytest.mark.parametrize(
    "rows",
    [rows_of(EVENING, EVENING, basis="history"), rows_of(NIGHTS, EVENING), rows_of(NIGHTS, NIGHTS)],
)
def test_there_is_no_headline_where_anything_tells_how_sessions_scatter(rows):
    found = SingleSessions.of(rows, ["16.15", "18.4"])
    assert (found.headline, found.doubts) == ("", [])


def test_where_some_is_from_one_session_its_values_are_counted_on_the_side_that_has_them():
    some = rows_of(EVENING, EVENING)[:1] + rows_of(NIGHTS, NIGHTS)[1:]
    found = SingleSessions.of(some, ["16.15", "18.4"])
    assert found.headline == ""
    assert found.doubts[0].text.startswith("1 of 3 values of 16.15 and 1 of 3 values of 18.4 are from one")


def test_of_many_columns_the_values_are_counted_together():
    many = rows_of(*[EVENING] * 2, workloads=100)
    wide = [replace(row, cells=row.cells * 7, comparisons=row.comparisons * 7) for row in many]
    found = SingleSessions.of(wide, [f"10.{number}" for number in range(8)])
    assert found.headline.endswith("2 more sessions of each would tell how much sessions scatter here.")
    assert found.doubts[0].text.startswith("All 800 values are from one session each")
