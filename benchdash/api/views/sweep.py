"""One setting varied: its values against each other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.answers.sweeps import (
    CSV_COLUMNS,
    SubjectSerializer,
    SweepSerializer,
    csv_rows,
    hide_absolute_values,
    hide_durations,
)
from benchdash.api.views.base import FORMAT, PROJECT, View, csv_answer
from benchdash.api.views.comparison import THREADS
from benchdash.regressions.comparison.relative import rounded, rows_for_others
from benchdash.regressions.comparison.rows import summary_of
from benchdash.regressions.sweeps.conditions import Choice, written
from benchdash.regressions.sweeps.subjects import Subject, subjects
from benchdash.regressions.sweeps.table import Found, find_sweep, sweep_table
from benchdash.rest import parameters
from benchdash.results.versions import parse_version

_SUBJECT: Final = ("product", "version", "build", "branch", "counterpart")
MAX_NAMED: Final = 20


def _parameter(name: str, about: str, *, many: bool = False, **more: Any) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=about, many=many, **more)


class SweepView(View):
    is_relative = True

    @extend_schema(
        summary="Compare the values of one setting",
        parameters=[
            PROJECT,
            _parameter(
                "setting",
                "a setting of the server, or `parameter:`, `option:`, `fact:` or `name:` and a name; "
                "by default what has most values with nothing else different",
            ),
            _parameter("metric", "what was measured", required=True),
            _parameter("base", "the value that the others are held against"),
            _parameter("subject", "the id of a subject of an earlier answer"),
            *(_parameter(name, "chooses the subject") for name in _SUBJECT),
            _parameter("hardware", "only runs on this machine"),
            _parameter("workload", "only rows of these workloads", many=True),
            THREADS,
            _parameter("with", "only runs under these, such as `innodb_flush_method=fsync`", many=True),
            _parameter("values", "`hidden` leaves out all that is absolute", enum=["shown", "hidden"]),
            FORMAT,
        ],
        responses={(200, "application/json"): SweepSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare one version with itself; each value names everything that differs beside the setting.

        Where absolute figures are for members only, others get ratios: the value of the base is 1, and the
        unit is `ratio`.
        """
        project = self.project()
        as_csv = parameters.wants_csv(request)
        metric = parameters.required_text(request, "metric")
        hidden = parameters.choice(
            "values", parameters.text(request, "values") or "shown", ("shown", "hidden")
        )
        setting = parameters.text(request, "setting") or ""
        subject = _subject(request, subjects(project, setting=setting))
        found = find_sweep(
            project,
            subject,
            setting=setting,
            base=parameters.text(request, "base") or "",
            hardware=parameters.text(request, "hardware") or "",
            only=parameters.texts(request, "with"),
        )
        chosen = _chosen(request, found)
        threads = [parameters.threads(text) for text in parameters.texts(request, "threads") if text]
        table = found.sweep and sweep_table(project, subject, found.sweep, metric=metric, threads=threads)
        is_relative = not self.viewer.may_see_absolute(project)
        if table and is_relative:
            shown_rows = rows_for_others(table.rows)
            table = replace(table, rows=shown_rows) if shown_rows else None
        if not table:
            raise parameters.refuse("metric", f"no two values of {chosen.factor.name} have {metric[:50]!r}")
        workloads = set(filter(None, parameters.texts(request, "workload")))
        rows = [row for row in table.rows if not workloads or row.workload in workloads]
        mean = summary_of(rows) if rows else None
        nothing = [None] * len(table.columns)
        shown = {
            "subject": subject,
            "setting": chosen,
            "choices": found.choices,
            "table": table,
            "base": table.base,
            "columns": table.columns,
            "rows": rows,
            "geomean": list(rounded(mean.geomean) if is_relative else mean.geomean) if mean else nothing,
            "geomean_rows": mean.compared if mean else [0] * len(table.columns),
        }
        answer = SweepSerializer(shown).data
        if hidden == "hidden":
            hide_absolute_values(answer)
        if is_relative:
            hide_durations(answer)
        return csv_answer("sweep", CSV_COLUMNS, csv_rows(answer)) if as_csv else Response(answer)


def _subject(request: Request, available: Sequence[Subject]) -> Subject:
    """Return the first subject that fits. Raises ValidationError."""
    fitting = list(available)
    if asked := parameters.text(request, "subject"):
        fitting = [one for one in fitting if one.id == asked]
    for name in _SUBJECT:
        said = parameters.text(request, name)
        if said or (said == "" and name in ("build", "branch", "counterpart")):
            texts = {said, parse_version(said).version} if name == "version" else {said}
            fitting = [one for one in fitting if SubjectSerializer(one).data[name] in texts]
    if not fitting:
        raise parameters.refuse("subject", "nothing that was measured fits")
    return fitting[0]


def _chosen(request: Request, found: Found) -> Choice:
    if found.chosen:
        base = parameters.text(request, "base")
        known = [written(value) for value in found.chosen.values]
        if base and base not in known:
            names = ", ".join(known[:MAX_NAMED])
            raise parameters.refuse("base", f"{base[:50]!r} is none of its values: {names}")
        return found.chosen
    keys = [one.factor.key for one in found.choices[:MAX_NAMED]]
    varies = f"what varies is {', '.join(keys)}" if keys else "nothing varies"
    raise parameters.refuse("setting", f"it does not vary here; {varies}")
