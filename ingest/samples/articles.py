"""The articles of a sample project, whose views name versions in words instead of by ids."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.http import QueryDict

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.articles.services import NewBlock, create_article
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.results.models import Workload


def write_articles(project: Project, path: Path) -> None:
    """Write the articles that the project has never had; the last comes first."""
    known = set(project.articles.values_list("title", flat=True))
    for article in json.loads(path.read_text()):
        if article["title"] not in known:
            blocks = [
                NewBlock(view["page"], _query(project, view), view["heading"], view.get("text", ""))
                for view in article["views"]
            ]
            create_article(project, title=article["title"], prose=article["prose"], blocks=blocks, by=NOBODY)


def _query(project: Project, view: Mapping[str, Any]) -> str:
    """Return the query of a view: the first version is the reference, and a sweep has no other."""
    columns = [columns_of(project, Selector(**place))[0] for place in view["versions"]]
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


def _workloads(project: Project, view: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return workloads as the page takes them: their ids, but names for a sweep."""
    if view["page"] == "sweep":
        return list(names)
    ids = dict(Workload.objects.filter(project=project, name__in=names).values_list("name", "pk"))
    return [str(ids[name]) for name in names]
