"""Scaling curves in figures."""

from collections.abc import Iterator
from dataclasses import asdict
from math import isfinite
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.api import parameters
from benchdash.api.serializers import CurvesSerializer
from benchdash.api.tables import csv_answer
from benchdash.api.views.base import FORMAT, View
from benchdash.api.views.comparison import COMPARISON, asked_table, refusal
from benchdash.regressions.comparison import SelectorError
from benchdash.regressions.curves import ColumnCurve, curves_of
from benchdash.regressions.detection.curves import scale_up
from benchdash.regressions.detection.usl import Estimate, Scalability


class CurvesView(View):
    @extend_schema(
        summary="Scaling curves in figures",
        parameters=[
            *COMPARISON,
            OpenApiParameter("from", OpenApiTypes.INT, description="threads; else the fewest of each curve"),
            OpenApiParameter("to", OpenApiTypes.INT, description="threads; else the most of each curve"),
            FORMAT,
        ],
        responses={(200, "application/json"): CurvesSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Of every workload that was measured at several thread counts, for each version a curve."""
        as_csv = parameters.wants_csv(request)
        before, after = _count(request, "from"), _count(request, "to")
        try:
            table = asked_table(self.project(), request)
        except SelectorError as error:
            return refusal(error)
        curves = [_json(one, before, after) for one in curves_of(table)]
        if as_csv:
            return csv_answer("curves", _CSV_COLUMNS, _csv_rows(table.metric, curves))
        return Response({"metric": table.metric, "curves": curves})


def _count(request: Request, name: str) -> int | None:
    said = parameters.text(request, name)
    return parameters.integer(name, said, least=1) if said else None


def _json(one: ColumnCurve, before: int | None, after: int | None) -> dict[str, Any]:
    curve, points = one.curve, one.curve.points
    up = scale_up(points, before or points[0].threads, after or points[-1].threads)
    return {
        "workload": one.workload,
        "column": one.column.as_json(),
        "unit": curve.unit,
        "points": [
            {"threads": threads, "value": cell.value, "n": cell.n, "low": cell.low, "high": cell.high}
            for threads, cell in sorted(one.cells.items())
        ],
        "peak": asdict(curve.shape.peak) if curve.shape else None,
        "knee": curve.shape.knee if curve.shape else None,
        "tail_off": curve.shape.tail_off if curve.shape else None,
        "scale_up": {**asdict(up), "efficiency": up.efficiency} if up else None,
        "scalability": _law(curve.scalability) if curve.scalability else None,
    }


def _law(law: Scalability) -> dict[str, Any]:
    return {
        "rate": _estimate(law.rate),
        "contention": _estimate(law.contention),
        "coherency": _estimate(law.coherency),
        "peak": _estimate(law.peak) if law.peak else None,
        "r_squared": law.r_squared,
        "residual_sd": law.residual_sd,
        "does_not_fit": law.does_not_fit,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high if isfinite(estimate.high) else None,
    }


# --- CSV --------------------------------------------------------------------------------------------------

_COLUMN = ("product", "version", "build", "commit", "branch", "hardware", "configuration", "counterpart")
_ESTIMATES = ("rate", "contention", "coherency", "peak")
_CSV_COLUMNS = (
    "workload",
    *_COLUMN,
    "metric",
    "unit",
    "peak",
    "peak_threads",
    "peak_from",
    "peak_to",
    "knee",
    "tail_off",
    "from",
    "to",
    "scale_up",
    "efficiency",
    *(f"usl_{name}{end}" for name in _ESTIMATES for end in ("", "_low", "_high")),
    "usl_r_squared",
    "usl_does_not_fit",
)


def _csv_rows(metric: str, curves: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for curve in curves:
        peak, up, law = curve["peak"] or {}, curve["scale_up"] or {}, curve["scalability"] or {}
        among = peak.get("among") or [None]
        estimates = [law.get(name) or {} for name in _ESTIMATES]
        yield (
            curve["workload"],
            *map(curve["column"].get, _COLUMN),
            metric,
            curve["unit"],
            *map(peak.get, ("value", "threads")),
            among[0],
            among[-1],
            curve["knee"],
            curve["tail_off"],
            *map(up.get, ("before", "after", "factor", "efficiency")),
            *(one.get(name) for one in estimates for name in ("value", "low", "high")),
            law.get("r_squared"),
            law.get("does_not_fit"),
        )
