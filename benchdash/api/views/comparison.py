"""Versions against each other."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, get_args

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project
from benchdash.api import parameters
from benchdash.api.errors import problem
from benchdash.api.serializers import ComparisonSerializer, SelectorSerializer
from benchdash.api.tables import csv_answer
from benchdash.api.views.base import FORMAT, PROJECT, View
from benchdash.regressions.cells import Cell
from benchdash.regressions.comparability import Doubt
from benchdash.regressions.comparison import ComparisonTable, Selector, SelectorError, compare
from benchdash.regressions.detection import Comparison
from benchdash.regressions.rows import GroupSummary, RelativeTo, Row

# What a column is, and what completes a selector that does not say it.
_PLACE = tuple(field.name for field in fields(Selector) if field.name != "id")
_MAY_BE_EMPTY = ("build", "branch", "counterpart")
SELECTOR = "the id of a version, or a JSON object with any of " + ", ".join(("id", *_PLACE))


def query_parameter(name: str, about: str = "", *, many: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=about, many=many)


SELECTORS = (
    OpenApiParameter("base", OpenApiTypes.STR, required=True, description=SELECTOR),
    query_parameter("against", f"{SELECTOR}; by default all versions of the base's product", many=True),
    *(query_parameter(name, "taken where a selector does not say it") for name in _PLACE),
)
THREADS = query_parameter("threads", "only rows of these thread counts; `null`: nobody said", many=True)
COMPARISON = (
    PROJECT,
    OpenApiParameter("metric", OpenApiTypes.STR, required=True),
    *SELECTORS,
    query_parameter("workload", "only rows of these workloads", many=True),
    THREADS,
)
"""What chooses a comparison."""


class CompareView(View):
    @extend_schema(
        summary="Compare versions",
        parameters=[
            *COMPARISON,
            OpenApiParameter(
                "margin",
                OpenApiTypes.FLOAT,
                description="the relative difference that does not matter, such as 0.02; else the project's",
            ),
            OpenApiParameter(
                "relative_to",
                enum=get_args(RelativeTo),
                default="base",
                description="`previous`: each column against the one before it, the first against the base",
            ),
            FORMAT,
        ],
        responses={(200, "application/json"): ComparisonSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """A selector that fits several columns is an error that lists them as `candidates`."""
        as_csv = parameters.wants_csv(request)
        try:
            table = asked_table(self.project(), request)
        except SelectorError as error:
            return refusal(error)
        return (
            csv_answer("comparison", csv_columns(), csv_rows(table))
            if as_csv
            else Response(table_as_json(table))
        )


def asked_table(project: Project, request: Request) -> ComparisonTable:
    """The comparison that a query asks for. Raises SelectorError, and what the parameters do."""
    return compare(
        project,
        metric=parameters.required_text(request, "metric"),
        workloads=[text for text in parameters.texts(request, "workload") if text],
        margin=_margin(request),
        relative_to=asked_relation(request),
        **asked_columns(request),
    )


def asked_columns(request: Request) -> dict[str, Any]:
    """The columns and thread counts that a query asks for, as the functions that compare take them."""
    return {
        "base": asked_selector("base", parameters.required_text(request, "base")),
        "against": [asked_selector("against", text) for text in parameters.texts(request, "against") if text],
        "filters": _filters(request),
        "threads": asked_threads(request),
    }


def asked_threads(request: Request) -> list[int | None]:
    return [parameters.threads(text) for text in parameters.texts(request, "threads") if text]


def refusal(error: SelectorError) -> HttpResponse:
    meant = {"field": error.field, "message": error.message, "candidates": list(error.candidates)}
    return problem(400, [meant])


def doubt_as_json(doubt: Doubt) -> dict[str, Any]:
    return {"text": doubt.text, "details": list(doubt.details)}


def _margin(request: Request) -> float | None:
    said = parameters.text(request, "margin")
    return parameters.share("margin", said) if said else None


def asked_relation(request: Request) -> RelativeTo:
    asked = parameters.text(request, "relative_to") or "base"
    known: tuple[RelativeTo, ...] = get_args(RelativeTo)
    parameters.choice("relative_to", asked, known)
    return next(one for one in known if one == asked)


def asked_selector(field: str, text: str) -> Selector:
    if text.isascii() and text.isdigit():
        return Selector(id=parameters.integer(field, text, least=1, most=parameters.LARGEST_ID))
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise parameters.refuse(field, f"{text[:50]!r} is neither the id of a version nor a JSON object")
    if unknown := said.keys() - SelectorSerializer().fields.keys():
        raise parameters.refuse(field, f"a selector has no {', '.join(map(repr, sorted(unknown)))}")
    selector = SelectorSerializer(data=said)
    if not selector.is_valid():
        name, [message, *_] = next(iter(selector.errors.items()))
        raise parameters.refuse(field, f"{name}: {message}")
    return Selector(**selector.validated_data)


def _filters(request: Request) -> dict[str, str]:
    said = {name: parameters.text(request, name) for name in _PLACE}
    given = {name: text for name, text in said.items() if text or (text == "" and name in _MAY_BE_EMPTY)}
    if commit := given.get("commit"):
        given["commit"] = parameters.commit("commit", commit)
    return given


# --- JSON -------------------------------------------------------------------------------------------------


def table_as_json(table: ComparisonTable) -> dict[str, Any]:
    return {
        "metric": table.metric,
        "unit": table.unit,
        "direction": table.direction,
        "base": table.base.as_json(),
        "columns": [column.as_json() for column in table.columns],
        "rows": [row_as_json(row) for row in table.rows],
        "geomean": table.geomean,
        "margin": table.margin,
        "groups": [_group_as_json(group) for group in table.groups],
    }


def _group_as_json(group: GroupSummary) -> dict[str, Any]:
    return {
        "group": group.name,
        "rows": group.rows,
        "geomean": group.geomean,
        "lowest": group.lowest,
        "highest": group.highest,
    }


def row_as_json(row: Row) -> dict[str, Any]:
    cells = zip(row.cells, row.comparisons, strict=True)
    return {
        "workload": row.workload,
        "threads": row.threads,
        "group": row.group,
        "unit": row.unit,
        "direction": row.direction,
        "base": _base_as_json(row.base) if row.base else None,
        "cells": [_cell_as_json(cell, comparison) if cell else None for cell, comparison in cells],
    }


def _base_as_json(base: Cell) -> dict[str, Any]:
    return {"value": base.value, "n": base.n, "low": base.low, "high": base.high}


def _cell_as_json(cell: Cell, comparison: Comparison | None) -> dict[str, Any]:
    """Without runs of the base there is nothing to compare with."""
    compared = comparison or Comparison(ratio=None)
    return {
        "value": cell.value,
        "n": cell.n,
        "ratio": compared.ratio,
        "low": compared.low,
        "high": compared.high,
        "p": compared.p,
        "verdict": compared.verdict,
        "more_runs": compared.more_runs,
        "basis": compared.basis,
    }


# --- CSV --------------------------------------------------------------------------------------------------

COLUMN_FIELDS = (
    "product",
    "version",
    "build",
    "commit",
    "branch",
    "hardware",
    "configuration",
    "counterpart",
)
_CELL = ("value", "n", "ratio", "low", "high", "p", "verdict", "more_runs", "basis")


def csv_columns(*more: str) -> tuple[str, ...]:
    """``more`` is said of each column of the comparison."""
    return ("workload", "threads", "group", *more, *COLUMN_FIELDS, "metric", "unit", *_CELL)


def csv_rows(
    table: ComparisonTable, more: Sequence[tuple[Any, ...]] | None = None
) -> Iterator[tuple[Any, ...]]:
    """One line a cell, the base's first with its own interval and no ratio.

    ``more`` begins with what is said of the base.
    """
    columns = [column.as_json() for column in (table.base, *table.columns)]
    said = more or [()] * len(columns)
    for row in map(row_as_json, table.rows):
        place = (row["workload"], row["threads"], row["group"])
        for column, also, cell in zip(columns, said, [row["base"], *row["cells"]], strict=True):
            if cell:
                what = (table.metric, row["unit"])
                yield (*place, *also, *map(column.get, COLUMN_FIELDS), *what, *map(cell.get, _CELL))
