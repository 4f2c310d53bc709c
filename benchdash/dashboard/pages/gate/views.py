"""The verdict of the gate for people: what it rests on, row by row, with the way into the history."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import path, reverse

from benchdash.alerts.pull_requests import waiting
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.regressions.comparison.gate_sides import PARAMETERS, GateError, Question
from benchdash.regressions.comparison.gate_words import (
    in_order,
    markdown,
    place_words,
    reasons,
    summary,
    verdict_words,
)
from benchdash.regressions.comparison.verdict_words import change_of
from ingest.gates import answer_of

_MAX_ROWS: Final = 1000


def gate_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    texts = {name: request.GET[name] for name in PARAMETERS if name in request.GET}
    workloads = request.GET.getlist("workload")
    if not any(texts.get(name) for name in ("branch", "commit", "version", "pull_request")):
        return {"is_asked": False}
    try:
        question = Question.of_texts(texts, workloads)
        gate = answer_of(page.project, question)
    except GateError as error:
        candidates = [(one, _query({**texts, error.field: one}, workloads)) for one in error.candidates]
        return {"is_asked": True, "trouble": error, "candidates": candidates}
    query = _query({"project": page.project.slug, **texts}, workloads)
    rows = in_order(gate.rows)
    number = question.pull_request if page.viewer.is_member(page.project) else None
    return {
        "is_asked": True,
        "waiting": waiting(page.project, number) if number else None,
        "gate": gate,
        "summary": summary(gate),
        "reasons": reasons(gate),
        "rows": [
            (
                one,
                *one.row.cells,
                *one.row.comparisons,
                change_of(*one.row.comparisons),
                place_words(one.series),
                verdict_words(one),
            )
            for one in rows[:_MAX_ROWS]
        ],
        "left_out": max(0, len(rows) - _MAX_ROWS),
        "missing": [(one, place_words(one)) for one in gate.missing[:_MAX_ROWS]],
        "markdown": markdown(gate, url=request.build_absolute_uri()),
        "api_url": f"{reverse('api:gate')}?{query}",
    }


def _query(texts: Mapping[str, str], workloads: Iterable[str]) -> str:
    return urlencode([*texts.items(), *(("workload", one) for one in workloads)])


urlpatterns = [path("gate/", content_page("dashboard/gate.html", gate_context), name="gate")]
