"""Find the things of a project by a part of their names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from benchdash.dashboard.navigation import page_url, page_urls
from benchdash.dashboard.shell import ProjectPage
from benchdash.results.models import version_name

_MOST: Final = 25


@dataclass(frozen=True)
class Hit:
    text: str
    url: str


@dataclass(frozen=True)
class Hits:
    """What was found of one kind, and whether there is more than is shown."""

    kind: str
    hits: Sequence[Hit]
    more: bool


# Words have no space in them, so that none is found across two parts of a version. Branches are those of
# series: of a million runs all would have to be read.
_FOUND: Final = """
    SELECT
        ARRAY(
            SELECT name FROM results_workload WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT ARRAY[product.name, version.version, version.build, version.commit]
            FROM results_serverversion version JOIN results_product product ON product.id = version.product_id
            WHERE version.project_id = %(project)s
                AND concat_ws(' ', product.name, version.version, version.build, version.commit)
                    ILIKE ALL (%(words)s)
            ORDER BY product.name, version.sort_key DESC, version.committed_at DESC LIMIT %(most)s
        ),
        ARRAY(
            SELECT DISTINCT branch FROM results_series
            WHERE project_id = %(project)s AND branch ILIKE ALL (%(words)s)
            ORDER BY branch LIMIT %(most)s
        ),
        ARRAY(
            SELECT name FROM results_product WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT name FROM results_hardware WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT name FROM results_configuration
            WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT ARRAY[id::text, name] FROM ingest_upload
            WHERE %(is_member)s AND project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY received_at DESC LIMIT %(most)s
        )
"""


def find(page: ProjectPage, text: str) -> list[Hits]:
    """What has all words of ``text`` in its name, by kind, in one statement."""
    words = [f"%{connection.ops.prep_for_like_query(word)}%" for word in text.split()]
    if not words:
        return []
    project = page.project
    wanted: dict[str, Any] = {
        "project": project.pk,
        "words": words,
        "is_member": page.is_member,
        "most": _MOST + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FOUND, wanted)
        workloads, versions, branches, products, machines, configurations, uploads = cursor.fetchone()
    upload_url = page_urls("upload", project)
    found = [
        _hits("Workloads", workloads, lambda name: Hit(name, page_url("history", project, workload=name))),
        _hits("Versions", versions, lambda version: _version(page, *version)),
        _hits("Branches", branches, lambda name: Hit(name, page_url("history", project, branch=name))),
        _hits("Products", products, lambda name: Hit(name, page_url("history", project, product=name))),
        _hits("Hardware", machines, lambda name: Hit(name, page_url("runs", project, hardware=name))),
        _hits(
            "Configurations",
            configurations,
            lambda name: Hit(name, page_url("runs", project, configuration=name)),
        ),
        _hits("Uploads", uploads, lambda upload: Hit(upload[1], upload_url(int(upload[0])))),
    ]
    return [hits for hits in found if hits.hits]


def _version(page: ProjectPage, product: str, version: str, build: str, commit: str | None) -> Hit:
    query = {"product": product, "version": version, "commit": commit or ""}
    return Hit(version_name(version, build, commit), page_url("runs", page.project, **query))


def _hits(kind: str, things: Sequence[Any], hit: Callable[[Any], Hit]) -> Hits:
    return Hits(kind, [hit(thing) for thing in things[:_MOST]], more=len(things) > _MOST)
