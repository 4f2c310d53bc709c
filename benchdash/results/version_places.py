"""Where the versions of a project were measured: of each place its newest, and those that are asked for."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from benchdash.accounts.models import Project
from benchdash.database.subquery import subquery
from benchdash.results.models import Run
from benchdash.results.queries import MeasuredPlace

# A project has hundreds of releases at the most, and a commit for every night.
MAX_RELEASES: Final = 400
MAX_COMMITS: Final = 40
MAX_FOUND: Final = 200


PlaceOfRuns = tuple[str, int, int, str]
"""Branch, ids of hardware and configuration, counterpart."""


class PlaceOfVersions(NamedTuple):
    """One product and build at one place; ``versions`` of it have runs there, excluded ones or not."""

    product_id: int
    product: str
    build: str
    branch: str
    hardware_id: int
    hardware: str
    configuration_id: int
    configuration: str
    counterpart: str
    versions: int

    @property
    def most(self) -> int:
        """So many of them are read unless more are asked for."""
        return MAX_COMMITS if self.branch else MAX_RELEASES


def places_of_versions(project: Project) -> list[PlaceOfVersions]:
    """In no order; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, {"project": project.pk})
        return list(map(PlaceOfVersions._make, cursor.fetchall()))


def newest_versions(
    project: Project,
    places: Sequence[PlaceOfVersions],
    *,
    asked: Collection[int] = (),
    words: Mapping[PlaceOfVersions, Sequence[str]] | None = None,
) -> list[MeasuredPlace]:
    """Where the newest versions of these places were measured by runs that count, each once, in no order.

    ``asked`` are ids of versions, which are among them with their neighbours wherever they were measured; and
    of the places with ``words`` are those whose name or commit has all of them. One statement.
    """
    searched = words or {}
    wanted: dict[str, Any] = {
        "project": project.pk,
        "places": [number for number, _ in enumerate(places)],
        **{name: [getattr(place, name) for place in places] for name in _PARTS},
        "most": [place.most for place in places],
        "words": [" ".join(searched[place]) if place in searched else None for place in places],
        "most_found": MAX_FOUND,
        "asked": list(asked),
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, wanted)
        rows = cursor.fetchall()
    return [
        (
            version,
            place.branch,
            place.hardware_id,
            place.hardware,
            place.configuration_id,
            place.configuration,
            place.counterpart,
        )
        for number, version in rows
        for place in (places[number],)
    ]


def versions_at(runs: QuerySet[Run], project_id: int, product_id: int, place: PlaceOfRuns) -> list[int]:
    """The ids of the versions of a product, of any build, that have some of these runs at one place; all of
    the runs count. One statement.
    """
    names = ("branch", "hardware", "configuration", "counterpart")
    chosen, parameters = subquery(runs.filter(**dict(zip(names, place, strict=True))).values("version_id"))
    with connection.cursor() as cursor:
        cursor.execute(_VERSIONS.replace("RUNS", chosen), [*parameters, project_id, product_id, *place])
        return [version for (version,) in cursor.fetchall()]


# A limit makes one look of it for each version: all runs of the place are many more.
_VERSIONS: Final = """
    SELECT one.version_id FROM results_versionplace one, LATERAL (
        SELECT FROM (RUNS) run (version_id) WHERE run.version_id = one.version_id LIMIT 1
    ) any_run
    WHERE one.project_id = %s AND one.product_id = %s AND one.branch = %s AND one.hardware_id = %s
        AND one.configuration_id = %s AND one.counterpart = %s
"""

_PARTS: Final = ("product_id", "build", "branch", "hardware_id", "configuration_id", "counterpart")

# Each place once, by jumping from one to the next in the index.
_PLACES: Final = """
    WITH RECURSIVE place AS (
        (
            SELECT product_id, build, branch, hardware_id, configuration_id, counterpart
            FROM results_versionplace WHERE project_id = %(project)s
            ORDER BY product_id, build, branch, hardware_id, configuration_id, counterpart LIMIT 1
        )
        UNION ALL
        SELECT next.* FROM place, LATERAL (
            SELECT product_id, build, branch, hardware_id, configuration_id, counterpart
            FROM results_versionplace
            WHERE project_id = %(project)s
                AND (product_id, build, branch, hardware_id, configuration_id, counterpart)
                    > (place.product_id, place.build, place.branch, place.hardware_id,
                       place.configuration_id, place.counterpart)
            ORDER BY product_id, build, branch, hardware_id, configuration_id, counterpart LIMIT 1
        ) next
    )
    SELECT place.product_id, product.name, place.build, place.branch, place.hardware_id, hardware.name,
        place.configuration_id, configuration.name, place.counterpart, (
            SELECT count(*) FROM results_versionplace one
            WHERE one.project_id = %(project)s AND one.product_id = place.product_id
                AND one.build = place.build AND one.branch = place.branch
                AND one.hardware_id = place.hardware_id
                AND one.configuration_id = place.configuration_id
                AND one.counterpart = place.counterpart
        )
    FROM place
    JOIN results_product product ON product.id = place.product_id
    JOIN results_hardware hardware ON hardware.id = place.hardware_id
    JOIN results_configuration configuration ON configuration.id = place.configuration_id
"""

# OFFSET 0 keeps PostgreSQL from joining all runs of a place to find the few versions that are asked for.
_AT_PLACE: Final = """
    SELECT one.version_id FROM results_versionplace one
    WHERE one.project_id = %(project)s AND one.product_id = place.product_id
        AND one.build = place.build AND one.branch = place.branch
        AND one.hardware_id = place.hardware_id AND one.configuration_id = place.configuration_id
        AND one.counterpart = place.counterpart
        AND EXISTS (
            SELECT FROM results_run run
            WHERE run.project_id = %(project)s AND run.version_id = one.version_id
                AND run.branch = place.branch AND run.hardware_id = place.hardware_id
                AND run.configuration_id = place.configuration_id
                AND run.counterpart = place.counterpart AND run.excluded_at IS NULL
            OFFSET 0
        )
"""
_ORDER: Final = "one.sort_key {0}, one.committed_at {0}, one.commit {0}, one.version_id {0}"
_BESIDE: Final = "(one.sort_key, one.committed_at, one.commit, one.version_id)"
_ASKED: Final = "(asked.sort_key, asked.committed_at, asked.commit, asked.version_id)"
_DOWN, _UP = _ORDER.format("DESC"), _ORDER.format("ASC")
_NEWEST: Final = f"""
    WITH place AS (
        SELECT * FROM unnest(
            %(places)s::int[], %(product_id)s::bigint[], %(build)s::text[], %(branch)s::text[],
            %(hardware_id)s::bigint[], %(configuration_id)s::bigint[], %(counterpart)s::text[],
            %(most)s::int[], %(words)s::text[]
        ) place (number, product_id, build, branch, hardware_id, configuration_id, counterpart, most, words)
    )
    SELECT place.number, newest.version_id FROM place, LATERAL (
        {_AT_PLACE} ORDER BY {_DOWN} LIMIT place.most
    ) newest
    UNION
    SELECT place.number, found.version_id FROM place, LATERAL (
        {_AT_PLACE} AND EXISTS (
            SELECT FROM results_serverversion version WHERE version.id = one.version_id AND NOT EXISTS (
                SELECT FROM unnest(string_to_array(place.words, ' ')) word
                WHERE strpos(lower(version.version || ' ' || left(one.commit, 10)), word) = 0
            )
        ) ORDER BY {_DOWN} LIMIT %(most_found)s
    ) found
    WHERE place.words IS NOT NULL
    UNION
    SELECT place.number, beside.version_id
    FROM results_versionplace asked
    JOIN place ON place.product_id = asked.product_id AND place.build = asked.build
        AND place.branch = asked.branch AND place.hardware_id = asked.hardware_id
        AND place.configuration_id = asked.configuration_id AND place.counterpart = asked.counterpart,
    LATERAL (
        (({_AT_PLACE} AND {_BESIDE} <= {_ASKED} ORDER BY {_DOWN} LIMIT 2))
        UNION ALL
        (({_AT_PLACE} AND {_BESIDE} > {_ASKED} ORDER BY {_UP} LIMIT 1))
    ) beside
    WHERE asked.version_id = ANY(%(asked)s) AND asked.project_id = %(project)s
"""  # noqa: S608 - made of the texts above
