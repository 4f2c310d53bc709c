"""The matrix: all workloads against the newest versions, or against chosen ones."""

from typing import Final, get_args

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project
from benchdash.addresses import MatrixQuery, to_text
from benchdash.answers.comparison import MatrixSerializer
from benchdash.api.views.base import FORMAT, PROJECT, View, csv_answer
from benchdash.api.views.comparison import (
    MAY_BE_EMPTY,
    SELECTOR,
    SELECTOR_SCHEMA,
    THREADS,
    asked_place,
    asked_relation,
    asked_selector,
    asked_threads,
    query_parameter,
)
from benchdash.regressions.comparison.columns import (
    Column,
    SelectorError,
    contents_of,
    find_column,
    names,
    short_id,
)
from benchdash.regressions.comparison.default_columns import (
    MATRIX_COLUMNS,
    PlaceNames,
    default_columns,
    newest_at,
)
from benchdash.regressions.comparison.matrix_rows import matrix_heads, matrix_lines
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.version_table import compare_columns
from benchdash.rest import parameters
from benchdash.results.metrics import main_metric
from benchdash.results.workload_groups import grouping_of

MAX_COLUMNS: Final = 40
_NAMED: Final = ("product", "hardware", "configuration")


class MatrixView(View):
    is_relative = True

    @extend_schema(
        summary="Hold all workloads of the newest versions against the oldest of them",
        parameters=[
            PROJECT,
            *(query_parameter(name, "the place of the versions") for name in _NAMED),
            *(query_parameter(name, "the place of the versions; empty: none") for name in MAY_BE_EMPTY),
            query_parameter("metric", "by default the main one of the versions"),
            OpenApiParameter(
                "v",
                {"type": "array", "items": SELECTOR_SCHEMA, "maxItems": MAX_COLUMNS},
                description=f"{SELECTOR}; by default the newest versions at one place, that of the base",
            ),
            OpenApiParameter("base", SELECTOR_SCHEMA, description=f"{SELECTOR}; by default the first column"),
            OpenApiParameter("relative_to", enum=get_args(RelativeTo), default="base"),
            query_parameter("workload", "only rows of these workloads", many=True),
            THREADS,
            FORMAT,
        ],
        responses={(200, "application/json"): MatrixSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare the versions that the page *Matrix* shows. Commits and nights of a branch: see `nights`.

        Where absolute figures are for members only, others get ratios: the value of the base is 1, and the
        unit is `ratio`.
        """
        as_csv = parameters.wants_csv(request)
        project = self.project()
        table = _asked_table(project, request)
        if not self.viewer.may_see_absolute(project):
            table = table_for_others(table, asked_relation(request))
        if as_csv:
            heads = matrix_heads(names([table.base, *table.columns]))
            return csv_answer("matrix", heads, matrix_lines(table))
        url = _page(project, request, table)
        return Response(MatrixSerializer(table, context={"url": url}).data)


def _asked_table(project: Project, request: Request) -> ComparisonTable[Column]:
    """Make the matrix that a query asks for. Raises SelectorError or ValidationError."""
    relative_to, threads = asked_relation(request), asked_threads(request)
    workloads = [text for text in parameters.texts(request, "workload") if text]
    asked_metric = parameters.text(request, "metric")
    base, *columns = _asked_columns(project, request)
    if not asked_metric:
        measured = contents_of(project, [base, *columns]).metrics
        if not measured:
            raise SelectorError("nothing was measured of these versions", field="metric")
        asked_metric = main_metric(measured)
    return compare_columns(
        project,
        metric=asked_metric,
        base=base,
        columns=columns,
        workloads=workloads,
        threads=threads,
        relative_to=relative_to,
        grouping=grouping_of(project),
    )


def _asked_columns(project: Project, request: Request) -> list[Column]:
    """Return the columns, that of the base first; each once."""
    place = asked_place(request, (*_NAMED, *MAY_BE_EMPTY))
    texts = [text for text in parameters.texts(request, "v") if text]
    if len(texts) > MAX_COLUMNS:
        raise parameters.refuse("v", f"a matrix has {MAX_COLUMNS} versions at most")
    selectors = [asked_selector("v", text).completed_by(place) for text in texts]
    found = []
    if text := parameters.text(request, "base"):
        selector = asked_selector("base", text).completed_by(place)
        found = [find_column(project, selector, field="base")]
    if selectors:
        found += [find_column(project, one, field="v") for one in selectors]
    else:
        at_place = newest_at(project, PlaceNames.of(found[0])._asdict() if found else place)
        found += default_columns(at_place, MATRIX_COLUMNS)
    return list({column.key: column for column in found}.values())


def _page(project: Project, request: Request, table: ComparisonTable[Column]) -> str:
    """Return the address of the page that shows the same."""
    base = short_id(table.base)
    query = MatrixQuery(
        versions=(base, *map(short_id, table.columns)),
        base=base,
        workloads=tuple(parameters.texts(request, "workload")),
        threads=tuple(map(to_text, asked_threads(request))),
        metrics=(table.metric,),
        over="versions",
        relative_to=asked_relation(request),
    )
    return query.absolute(project.slug)
