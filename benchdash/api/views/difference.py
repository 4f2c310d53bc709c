"""Two versions, or two runs, against each other: all metrics, and all that differs."""

from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse, QueryDict
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project
from benchdash.api import parameters
from benchdash.api.serializers import PairSerializer
from benchdash.api.tables import csv_answer
from benchdash.api.views.base import PROJECT, View
from benchdash.api.views.comparison import (
    SELECTOR,
    THREADS,
    asked_columns,
    doubt_as_json,
    query_parameter,
    refusal,
    row_as_json,
)
from benchdash.regressions.column_names import short_id
from benchdash.regressions.comparison import ComparisonTable, SelectorError, find_column
from benchdash.regressions.pair_markdown import markdown
from benchdash.regressions.pair_words import summary
from benchdash.regressions.pairs import (
    Known,
    Pair,
    Side,
    find_runs,
    pair_of_columns,
    pair_of_runs,
    side_names,
)
from benchdash.regressions.queries import Difference

_FORMATS: Final = ("csv", "md")


class DifferenceView(View):
    @extend_schema(
        summary="Lay two versions or two runs side by side",
        parameters=[
            PROJECT,
            query_parameter("base", SELECTOR),
            query_parameter("against", SELECTOR),
            OpenApiParameter(
                "run", OpenApiTypes.INT, many=True, description="two ids of runs, instead of base and against"
            ),
            query_parameter("workload", "only rows of these workloads", many=True),
            THREADS,
            OpenApiParameter("format", OpenApiTypes.STR, enum=["json", *_FORMATS], default="json"),
        ],
        responses={
            (200, "application/json"): PairSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "text/markdown"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Every metric with its verdicts, and what differs in settings, machine, commands and options.

        What a selector does not say is taken from the parameters of the same names, as in a comparison.
        """
        answer, project = parameters.answer_format(request, *_FORMATS), self.project()
        try:
            pair = self._of_runs(project) or self._of_columns(project)
        except SelectorError as error:
            return refusal(error)
        if answer == "csv":
            return csv_answer("difference", _CSV_COLUMNS, _csv_rows(pair))
        if answer == "md":
            text = markdown(pair, url=_page(project, pair))
            return HttpResponse(text, content_type="text/markdown; charset=utf-8")
        return Response(_json(project, pair))

    def _of_runs(self, project: Project) -> Pair | None:
        """None where no runs were asked for."""
        texts = [text for text in parameters.texts(self.request, "run") if text]
        if not texts:
            return None
        ids = [parameters.integer("run", text, most=parameters.LARGEST_ID) for text in texts]
        if len(ids) != 2 or ids[0] == ids[1]:
            raise parameters.refuse("run", "two different runs are wanted")
        runs = find_runs(project, ids)
        for pk in ids:
            if pk not in runs:
                raise parameters.refuse("run", f"there is no run {pk} in this project")
        return pair_of_runs(runs[ids[0]], runs[ids[1]])

    def _of_columns(self, project: Project) -> Pair:
        asked = asked_columns(self.request)
        if len(asked["against"]) != 1:
            raise parameters.refuse("against", "one version is wanted")
        sides = ((asked["base"], "base"), (asked["against"][0], "against"))
        base, against = (
            find_column(project, selector.completed_by(asked["filters"]), field=side)
            for selector, side in sides
        )
        return pair_of_columns(
            project,
            base,
            against,
            workloads=[text for text in parameters.texts(self.request, "workload") if text],
            threads=asked["threads"],
        )


def _page(project: Project, pair: Pair) -> str:
    """The address for people."""
    query = QueryDict(mutable=True)
    if pair.base.run and pair.other.run:
        query.setlist("run", [str(pair.base.run.pk), str(pair.other.run.pk)])
    else:
        query["base"], query["against"] = short_id(pair.base.column), short_id(pair.other.column)
    return f"{settings.SITE_URL}{reverse('dashboard:pair', args=[project.slug])}?{query.urlencode()}"


# --- JSON -------------------------------------------------------------------------------------------------


def _json(project: Project, pair: Pair) -> dict[str, Any]:
    base, other = side_names(pair)
    return {
        "summary": summary(pair.tables, base, other),
        "base": _side(pair.base, base),
        "against": _side(pair.other, other),
        "warnings": list(map(doubt_as_json, pair.doubts)),
        "metrics": list(map(_metric, pair.tables)),
        "differences": {
            "settings": _known(pair.settings),
            "environment": _known(pair.environment),
            "hardware": _known(pair.hardware),
            "options": [
                {
                    **_difference(one.difference),
                    "rows": [{"workload": workload, "threads": threads} for workload, threads in one.rows],
                }
                for one in pair.told
            ],
        },
        "page": _page(project, pair),
    }


def _side(side: Side, name: str) -> dict[str, Any]:
    return {
        **side.column.as_json(),
        "name": name,
        "runs": side.runs,
        "run": side.run.pk if side.run else None,
    }


def _metric(table: ComparisonTable) -> dict[str, Any]:
    return {
        "metric": table.metric,
        "unit": table.unit,
        "direction": table.direction,
        "geomean": table.geomean[0],
        "rows": list(map(row_as_json, table.rows)),
    }


def _known(known: Known) -> list[dict[str, Any]] | None:
    return list(map(_difference, known.differences)) if known.is_known else None


def _difference(one: Difference) -> dict[str, Any]:
    return {"name": one.name, "before": one.before, "after": one.after}


# --- CSV --------------------------------------------------------------------------------------------------

_SIDE: Final = ("value", "n", "low", "high")
_COMPARED: Final = ("ratio", "low", "high", "p", "verdict", "basis", "more_runs")
_CSV_COLUMNS: Final = (
    *("metric", "unit", "direction", "workload", "threads"),
    *("base_value", "base_n", "base_low", "base_high", "value", "n"),
    *("ratio", "ratio_low", "ratio_high", "p", "verdict", "basis", "more_runs"),
)


def _csv_rows(pair: Pair) -> Iterator[tuple[Any, ...]]:
    for table in pair.tables:
        for row in map(row_as_json, table.rows):
            base, cell = row["base"] or {}, row["cells"][0] or {}
            what = (table.metric, row["unit"], row["direction"], row["workload"], row["threads"])
            yield (*what, *map(base.get, _SIDE), cell.get("value"), cell.get("n"), *map(cell.get, _COMPARED))
