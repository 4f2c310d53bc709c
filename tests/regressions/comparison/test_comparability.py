"""What else than the version differs between the columns of a comparison."""

import pytest

from benchdash.regressions.comparison.columns import Selector, columns_of, names
from benchdash.regressions.comparison.comparability import doubts
from benchdash.regressions.comparison.version_table import compare_columns
from benchdash.results.readings import Reading
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


def said(*sides, repeats=2):
    """The doubts about the columns that these fields make; the first is the base."""
    project = make_project()
    records = [
        make_record(**{"readings": {"tps": 100.0 + repetition}, **side}, repetition=repetition)
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


def test_single_runs_are_said():
    [doubt] = said({"version": "10.6.1"}, {"version": "10.6.2"}, repeats=1)
    assert doubt.text.startswith("All values are from single runs")


def test_a_single_run_with_the_tool_s_own_error_is_no_bare_one():
    score = (Reading("score", 10.0, "ns/op", "lower", low=9.0, high=11.0),)
    assert said({"version": "1.0", "readings": score}, {"version": "1.1", "readings": score}, repeats=1) == []
