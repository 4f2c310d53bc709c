"""Distributions of response times, version by version."""

import math
from collections.abc import Iterator
from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.api import parameters
from benchdash.api.serializers import LatencySerializer
from benchdash.api.tables import csv_answer
from benchdash.api.views.base import FORMAT, PROJECT, View
from benchdash.api.views.comparison import (
    COLUMN_FIELDS,
    SELECTORS,
    THREADS,
    asked_columns,
    doubt_as_json,
    refusal,
)
from benchdash.regressions.comparison import SelectorError
from benchdash.regressions.detection import Comparison
from benchdash.regressions.latency import (
    Cell,
    LatencyTable,
    Percentile,
    Row,
    compare_latencies,
    latency_doubts,
)
from benchdash.results.distributions import BUCKET_COLUMNS, Distribution, coarsened

_MOST_BUCKETS: Final = 1000


class LatencyView(View):
    @extend_schema(
        summary="Compare distributions of response times",
        parameters=[
            PROJECT,
            OpenApiParameter("workload", OpenApiTypes.STR, required=True),
            *SELECTORS,
            THREADS,
            FORMAT,
        ],
        responses={(200, "application/json"): LatencySerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """The histograms of the runs of each version, merged, with the percentiles that follow.

        Selectors are those of a comparison, among the versions that have a histogram.
        """
        as_csv = parameters.wants_csv(request)
        try:
            table = compare_latencies(
                self.project(),
                workloads=[parameters.required_text(request, "workload")],
                **asked_columns(request),
            )
        except SelectorError as error:
            return refusal(error)
        return csv_answer("latency", _CSV_COLUMNS, _csv_rows(table)) if as_csv else Response(_json(table))


# --- JSON -------------------------------------------------------------------------------------------------


def _json(table: LatencyTable) -> dict[str, Any]:
    return {
        "base": table.base.as_json(),
        "columns": [column.as_json() for column in table.columns],
        "margin": table.margin,
        "warnings": list(map(doubt_as_json, latency_doubts(table))),
        "rows": [_row_as_json(row) for row in table.rows],
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    return {
        "workload": row.key.workload,
        "threads": row.key.threads,
        "operation": row.key.operation,
        "unit": "ms",
        "base": _cell_as_json(row.base) if row.base else None,
        "cells": [_cell_as_json(cell) if cell else None for cell in row.cells],
    }


def _cell_as_json(cell: Cell) -> dict[str, Any]:
    return {
        "operations": cell.operations,
        "runs": cell.runs,
        "measured": cell.measured,
        "sessions": cell.sessions,
        "run": cell.run_id,
        "percentiles": [_percentile_as_json(one) for one in _with_largest(cell)],
        "buckets": _buckets_as_json(cell.distribution),
    }


def _with_largest(cell: Cell) -> list[Percentile]:
    return [*cell.percentiles, Percentile(1.0, cell.distribution.largest)]


def _percentile_as_json(one: Percentile) -> dict[str, Any]:
    compared = one.comparison or Comparison(ratio=None)
    return {
        "percentile": round(100 * one.share, 6),
        "low": one.bounds.low if one.bounds else None,
        "high": _finite(one.bounds.high) if one.bounds else None,
        "ratio": compared.ratio,
        "ratio_low": compared.low,
        "ratio_high": compared.high,
        "p": compared.p,
        "verdict": compared.verdict,
    }


def _buckets_as_json(distribution: Distribution) -> dict[str, Any]:
    shown = coarsened(distribution, _MOST_BUCKETS)
    ends = zip(shown.lows.tolist(), map(_finite, shown.highs.tolist()), shown.counts.tolist(), strict=True)
    return {"columns": list(BUCKET_COLUMNS), "rows": list(map(list, ends))}


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


# --- CSV --------------------------------------------------------------------------------------------------

_PERCENTILE = ("percentile", "low", "high", "ratio", "ratio_low", "ratio_high", "p", "verdict")
_CELL = ("runs", "measured", "sessions", "operations")
_CSV_COLUMNS = ("workload", "threads", "operation", *COLUMN_FIELDS, *_CELL, "unit", *_PERCENTILE)


def _csv_rows(table: LatencyTable) -> Iterator[tuple[Any, ...]]:
    """One line a percentile, those of the base first."""
    columns = [column.as_json() for column in (table.base, *table.columns)]
    for row in map(_row_as_json, table.rows):
        place = row["workload"], row["threads"], row["operation"]
        for column, cell in zip(columns, [row["base"], *row["cells"]], strict=True):
            for one in cell["percentiles"] if cell else ():
                measured = (*map(cell.get, _CELL), row["unit"])
                yield (*place, *map(column.get, COLUMN_FIELDS), *measured, *map(one.get, _PERCENTILE))
