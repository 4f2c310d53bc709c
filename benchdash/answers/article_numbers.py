"""The addresses of the API that give the numbers of a view of an article."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.addresses import absolute
from benchdash.articles.models import Block
from benchdash.regressions.comparison.columns import Column, Selector, columns_of, short_id
from benchdash.results.models import Workload

_SELECTOR: Final = ("id", "branch", "hardware", "configuration", "counterpart")

Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Names:
    """The numbers that stand for ids in the addresses of pages: of columns and of workloads."""

    columns: Mapping[str, Column]
    workloads: Mapping[str, str]


def names_of(project: Project) -> Names:
    """Read them in three statements."""
    columns = {short_id(column): column for column in columns_of(project, Selector())}
    workloads = Workload.objects.filter(project=project).values_list("pk", "name")
    return Names(columns, {str(pk): name for pk, name in workloads})


def addresses_of_numbers(project: Project, block: Block, names: Names) -> list[str]:
    """Return none where the versions of the view are gone."""
    query = QueryDict(block.query)
    if block.page == "history":
        ids = [text for text in query.getlist("series") if text.isascii() and text.isdigit()]
        return [absolute("api:series-points", pk) for pk in ids if len(pk) < 19]
    if block.page == "sweep":
        return [_url(project, "sweep", _of_sweep(query))]
    if block.page == "pair":
        found = _of_pair(query, names)
        return [_url(project, "difference", found)] if found else []
    columns = _of_columns(query, names)
    if not columns:
        return []
    if block.page == "latency":
        return [_url(project, "latency", columns)]
    name = "curves" if block.page == "curves" else "compare"
    more = _kept(query, ("relative_to",)) if block.page == "matrix" else _kept(query, ("from", "to"))
    return [_url(project, name, [("metric", one), *columns, *more]) for one in query.getlist("metric")]


def _url(project: Project, name: str, parameters: Parameters) -> str:
    query = urlencode([("project", project.slug), *parameters])
    return f"{absolute(f'api:{name}')}?{query}"


def _of_columns(query: QueryDict, names: Names) -> list[tuple[str, str]]:
    chosen = [names.columns[text] for text in query.getlist("v") if text in names.columns]
    if not chosen:
        return []
    base = names.columns.get(query.get("base", ""), chosen[0])
    others = [column for column in chosen if column != base] or chosen
    return [
        ("base", _selector(base)),
        *(("against", _selector(column)) for column in others),
        *_rows(query, names),
    ]


def _of_pair(query: QueryDict, names: Names) -> list[tuple[str, str]]:
    if runs := query.getlist("run")[:2]:
        return [("run", run) for run in runs]
    sides = {side: names.columns.get(query.get(side, "")) for side in ("base", "against")}
    if not all(sides.values()):
        return []
    columns = [(side, _selector(column)) for side, column in sides.items() if column]
    return [*columns, *_rows(query, names)]


def _of_sweep(query: QueryDict) -> list[tuple[str, str]]:
    hidden = [("values", "hidden")] if query.get("values") == "hidden" else []
    kept = _kept(query, ("setting", "lines", "base", "metric", "hardware", "workload", "with"))
    return [("subject", query.get("v", "")), *kept, *_threads(query), *hidden]


def _rows(query: QueryDict, names: Names) -> list[tuple[str, str]]:
    known = [names.workloads[text] for text in query.getlist("workload") if text in names.workloads]
    return [*(("workload", name) for name in known), *_threads(query)]


def _threads(query: QueryDict) -> list[tuple[str, str]]:
    return [("threads", "null" if text == "none" else text) for text in query.getlist("threads")]


def _kept(query: QueryDict, names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, text) for name in names for text in query.getlist(name) if text]


def _selector(column: Column) -> str:
    place: dict[str, Any] = column.as_json()
    return json.dumps({name: place[name] for name in _SELECTOR})
