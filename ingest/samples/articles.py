"""The articles of a sample project, whose views name versions in words instead of by ids."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.http import QueryDict

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.articles.services import NewBlock, create_article
from benchdash.regressions.comparison.column_names import short_id
from benchdash.regressions.comparison.version_table import Column, Selector, columns_of
from benchdash.results.models import Workload


def write_articles(project: Project, path: Path) -> None:
    """Those of the file that the project does not have, whatever became of them; the last comes first."""
    known = set(project.articles.values_list("title", flat=True))
    for article in json.loads(path.read_text()):
        if article["title"] not in known:
            blocks = [_block(project, view) for view in article["views"]]
            create_article(project, title=article["title"], prose=article["prose"], blocks=blocks, by=NOBODY)


def _block(project: Project, view: Mapping[str, Any]) -> NewBlock:
    return NewBlock(
        page=view["page"],
        query=_query(project, view),
        heading=view["heading"],
        text=view.get("text", ""),
    )


def _query(project: Project, view: Mapping[str, Any]) -> str:
    """The first of the versions is the reference. A sweep goes along the settings of one version."""
    columns = [_column(project, place) for place in view["versions"]]
    query = QueryDict(mutable=True)
    if view["page"] == "sweep":
        query["v"] = str(columns[0].version.pk)
    elif view["page"] == "pair":
        query["base"], query["against"] = map(short_id, columns)
    else:
        query.setlist("v", list(map(short_id, columns)))
        query["base"] = short_id(columns[0])
    for name, said in view["query"].items():
        query.setlist(name, _workloads(project, view, said) if name == "workload" else said)
    return query.urlencode()


def _column(project: Project, place: Mapping[str, Any]) -> Column:
    """The first that fits."""
    return columns_of(project, Selector(**place))[0]


def _workloads(project: Project, view: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Pages take the ids of workloads, but for a sweep, whose rows have names of their own."""
    if view["page"] == "sweep":
        return list(names)
    ids = dict(Workload.objects.filter(project=project, name__in=names).values_list("name", "pk"))
    return [str(ids[name]) for name in names]
