"""Charts as they stand in a page."""

import json
import re
from datetime import UTC, datetime

import numpy as np
import pytest
from django.core.serializers.json import DjangoJSONEncoder
from django.template import engines

from benchdash.charts.figure import Axis, Figure, Plot
from benchdash.dashboard.shell.html import figure_json

EMPTY = Figure(Axis(), [Plot(Axis(), [])])
HOSTILE = "</script><b>&\u2028\u2029\"'"


def chart(*, at="", notice="", **fields):
    given = " ".join(f"{name}={name}" for name in fields)
    template = engines["django"].from_string(f'{{% load shell %}}{{% chart figure "x" {given} %}}')
    return template.render({"figure": EMPTY, "at": at, "project": {"notice": notice}, **fields})


def test_a_figure_is_read_back_as_it_was():
    figure = {"data": [{"x": [1, 2.5, None], "text": ["ä", HOSTILE], "meta": {"links": []}}]}
    assert json.loads(figure_json(figure)) == figure


def test_nothing_in_a_figure_ends_its_element_or_a_line():
    written = figure_json({HOSTILE: HOSTILE})
    assert not re.search("[<>&\u2028\u2029]", written)


def test_what_is_no_number_is_null():
    assert figure_json({"y": [float("nan"), float("inf"), np.float64("nan")]}) == '{"y":[null,null,null]}'


@pytest.mark.parametrize("value", [np.float64(1.5), np.int64(3), datetime(2026, 3, 2, 16, 58, 3, 7001, UTC)])
def test_values_of_numpy_and_times_are_written_as_ever(value):
    expected = float(value) if isinstance(value, np.number) else value
    assert json.loads(figure_json({"x": value})) == json.loads(
        json.dumps({"x": expected}, cls=DjangoJSONEncoder)
    )


def test_texts_are_escaped():
    written = chart(title=HOSTILE, csv=f"/?{HOSTILE}", link=f"/?{HOSTILE}", notice=HOSTILE, table=HOSTILE)
    assert "<b>" not in written
    assert "&lt;b&gt;" in written


def test_a_small_chart_has_no_tools_and_its_title_leads_to_the_large_one():
    written = chart(title="ro", link="/large/", small=True, notice="noisy")
    assert '<span class="chart-title"><a href="/large/">ro</a></span>' in written
    assert "chart-tools" not in written
    assert "noisy" not in written


def test_ids_begin_with_those_of_their_article():
    written = chart(at="view-7-", table="rows")
    for one in ('id="view-7-chart-x"', 'data-chart="view-7-figure-x"', 'data-table="view-7-rows"'):
        assert one in written
