"""The places where the versions of a project were measured."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from benchdash.accounts.models import Project
from benchdash.results.models import Run, VersionPlace

# A project has hundreds of releases at the most, and a commit for every night.
MAX_RELEASES: Final = 400
MAX_COMMITS: Final = 40
MAX_FOUND: Final = 200

MeasuredPlace = tuple[int, str, int, str, int, str, str]
"""Version, branch, hardware and its name, configuration and its name, counterpart."""
PlaceOfRuns = tuple[str, int, int, str]
"""Branch, ids of hardware and configuration, counterpart."""


class PlaceOfVersions(NamedTuple):
    """One product and build at one place, and the number of versions with runs there, excluded or not."""

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
        """The number of versions that are read unless more are asked for."""
        return MAX_COMMITS if self.branch else MAX_RELEASES


def places_of_versions(project: Project) -> list[PlaceOfVersions]:
    """Return the places of a project in no order; one statement."""
    rows = VersionPlace.objects.filter(project=project).order_by()
    places = rows.values_list(
        *("product_id", "product__name", "build", "branch", "hardware_id", "hardware__name"),
        *("configuration_id", "configuration__name", "counterpart"),
    )
    return list(map(PlaceOfVersions._make, places.annotate(Count("version"))))


def measured_places(project: Project) -> list[MeasuredPlace]:
    """Return where each version of the project was measured by runs that count, in no order."""
    at_place = {name: OuterRef(name) for name in ("project", *_OF_RUNS)}
    included = Run.objects.filter(version=OuterRef("version"), excluded_at=None, **at_place)
    return list(
        _with_a_run(VersionPlace.objects.filter(project=project), included).values_list(
            *("version", "branch", "hardware", "hardware__name"),
            *("configuration", "configuration__name", "counterpart"),
        )
    )


def versions_at(runs: QuerySet[Run], project_id: int, product_id: int, place: PlaceOfRuns) -> list[int]:
    """Return the ids of the versions of a product, of any build, that have some of these runs at one place.

    All of the runs count. One statement.
    """
    at_place = dict(zip(_OF_RUNS, place, strict=True))
    known = VersionPlace.objects.filter(project=project_id, product=product_id, **at_place)
    found = _with_a_run(known, runs.filter(version=OuterRef("version"), **at_place))
    return list(found.values_list("version", flat=True))


def nearest_version(runs: QuerySet[Run], at: VersionPlace, *, or_next: bool = True) -> int | None:
    """Return the id of the version before ``at`` that has some of these runs at its place, else of the next.

    Without ``or_next`` there is none then. All of the runs count. Versions whose order is not known come
    before the others, by time. Two statements at most.
    """
    same = VersionPlace.objects.filter(**{name: getattr(at, name) for name in ("project_id", *_PARTS)})
    with_a_run = _with_a_run(same, runs.filter(version=OuterRef("version"), branch=at.branch))
    for way, order in (("lt", "-"), ("gt", "")) if or_next else (("lt", "-"),):
        beside = Q(**{f"sort_key__{way}": at.sort_key})
        beside |= Q(sort_key=at.sort_key, **{f"committed_at__{way}": at.committed_at})
        found = with_a_run.filter(beside).order_by(f"{order}sort_key", f"{order}committed_at")
        if (version := found.values_list("version", flat=True).first()) is not None:
            return version
    return None


_OF_RUNS: Final = ("branch", "hardware", "configuration", "counterpart")


def _with_a_run(places: QuerySet[VersionPlace], runs: QuerySet[Run]) -> QuerySet[VersionPlace]:
    """Return the places with any of the runs; an EXISTS would be planned as a join with all runs."""
    any_run = Subquery(runs.order_by().values("pk")[:1])
    return places.order_by().annotate(any_run=any_run).filter(any_run__isnull=False)


# --- the newest -------------------------------------------------------------------------------------------


def newest_versions(
    project: Project,
    places: Sequence[PlaceOfVersions],
    *,
    asked: Collection[int] = (),
    words: Mapping[PlaceOfVersions, Sequence[str]] | None = None,
) -> list[MeasuredPlace]:
    """Return where the newest versions of these places were measured by runs that count, in no order.

    Among them are the versions whose ids are ``asked``, with their neighbours, wherever they were measured;
    and of the places with ``words``, the versions whose name or commit has all of them. One statement.
    """
    searched = words or {}
    wanted: dict[str, Any] = {
        "project": project.pk,
        "places": list(range(len(places))),
        **{name: [getattr(place, name) for place in places] for name in _PARTS},
        "most": [place.most for place in places],
        "words": [" ".join(searched[place]) if place in searched else None for place in places],
        "most_found": MAX_FOUND,
        "asked": list(asked),
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, wanted)
        rows = cursor.fetchall()
    return [(version, *_names(places[number])) for number, version in rows]


def _names(place: PlaceOfVersions) -> tuple[str, int, str, int, str, str]:
    return (
        *(place.branch, place.hardware_id, place.hardware),
        *(place.configuration_id, place.configuration, place.counterpart),
    )


# The columns of a place. By hand: the ORM knows neither LATERAL nor a comparison of rows.
_PARTS: Final = ("product_id", "build", "branch", "hardware_id", "configuration_id", "counterpart")
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
