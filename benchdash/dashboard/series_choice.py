"""Which series an address chooses, and what else there is to choose."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Final

from django.db import connection
from django.db.models import Count, Q
from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.filters import Filter, some_of
from benchdash.dashboard.numbers import short_metric_name
from benchdash.results.metrics import in_order, main_metric
from benchdash.results.models import Alias, Series
from benchdash.results.queries import find_series
from benchdash.results.versions import parse_version

# Stands in addresses for what nobody said: no branch (a release), no build, no thread count.
NONE: Final = "none"
METRIC: Final = "metric"
# Says that an address without any choice is meant so, and not to get what was measured last.
_ANY_PLACE: Final = ("place", "any")
# More series than this are not named one by one in an address.
_MOST_IDS: Final = 200
_LARGEST_ID: Final = 2**63 - 1
_LARGEST_COUNT: Final = 2**31 - 1
_NUMBER: Final = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Facet:
    """Something by which series are chosen. ``name`` is its parameter, ``unsaid`` its empty value."""

    name: str
    label: str
    of_series: str
    unsaid: str = ""


FACETS: Final = (
    Facet("product", "Product", "product__name"),
    Facet("branch", "Branch", "branch", unsaid="releases"),
    Facet("line", "Release line", "line", unsaid="none"),
    Facet("build", "Build", "build", unsaid="none"),
    Facet("workload", "Workload", "workload__name"),
    Facet("threads", "Threads", "threads", unsaid="not said"),
    Facet("hardware", "Hardware", "hardware__name"),
    Facet("configuration", "Configuration", "configuration__name"),
    Facet("counterpart", "Counterpart", "counterpart", unsaid="none"),
)
_BY_NAME: Final = {facet.name: facet for facet in FACETS}
_WITH_OLD_NAMES: Final = ("product", "workload", "hardware", "configuration")
# What a place is, in the order in which it is said to tell it from others.
_PLACE: Final = ("branch", "product", "hardware", "configuration", "counterpart", "build")
# The newest runs say what a project looks at now; from so many groups on there is something to look at.
_NEWEST_RUNS: Final = 2000
_A_HISTORY: Final = 3

Asked = Mapping[str, Collection[str]]
_Identity = Mapping[str, str]


@dataclass(frozen=True)
class _Offered:
    """What the series of a project are: each of their ``places`` once, which are all but workload and
    threads, and the ``values`` of each facet.
    """

    places: Sequence[_Identity]
    values: Mapping[str, set[str]]


@dataclass(frozen=True)
class Relaxation:
    """A part of a choice without which there would be something to show."""

    name: str
    label: str
    value: str


@dataclass(frozen=True)
class SeriesChoice:
    """``series`` are in the order of their names, numbers and versions. ``kept`` goes into the filters' form.

    ``has_any``: whether the project has series at all. ``relaxations`` tell why nothing was found.
    """

    series: Sequence[Series]
    filters: Sequence[Filter]
    kept: Sequence[tuple[str, str]]
    has_any: bool
    relaxations: Sequence[Relaxation] = ()


def choose_series(project: Project, query: QueryDict) -> SeriesChoice:
    """The series of a project that ``series`` (ids) or the parameters of the facets choose.

    An address that chooses nothing gets what was measured last. Without a metric it is the main one of what
    was chosen. A constant number of statements.
    """
    offered = _offered(project)
    by_id = _by_id(project, query)
    if by_id is None:
        asked = _asked(project, query)
        if not asked and query.get(_ANY_PLACE[0]) != _ANY_PLACE[1]:
            asked = _newest_place(project, offered.places)
        found = find_series(project).filter(_condition(asked))
        asked_metrics = _said(query, METRIC)
        measured = _measured(found)
        metrics = asked_metrics or {main_metric(measured)} if measured else asked_metrics
        series = list(found.filter(metric__in=metrics))
    else:
        series, asked = by_id, _values_of(by_id)
        asked_metrics = metrics = {one.metric for one in series}
        measured = _measured(find_series(project).filter(_condition(asked)))
    return SeriesChoice(
        series=_in_order(series),
        filters=[*_filters(offered, asked), _metric_filter(measured, asked_metrics, metrics)],
        kept=_kept(by_id, asked),
        has_any=bool(offered.places),
        relaxations=[] if series else _relaxations(project, asked, measured, asked_metrics),
    )


def panels(series: Sequence[Series]) -> list[list[Series]]:
    """The series that belong in one small chart: release lines of one thing, measured in the same way."""
    return [list(panel) for _, panel in groupby(series, key=_panel)]


def _kept(by_id: Sequence[Series] | None, asked: Asked) -> list[tuple[str, str]]:
    """A changed chip takes ids out of the address; and who takes back the last choice means all places."""
    if by_id is not None:
        return [("series", "")]
    return [_ANY_PLACE] if len(asked) <= 1 else []


# --- what an address asks for -----------------------------------------------------------------------------


def _by_id(project: Project, query: QueryDict) -> list[Series] | None:
    """The series that are named by their ids; None where the address names none."""
    texts = [text for text in query.getlist("series") if text][:_MOST_IDS]
    if not texts:
        return None
    ids = {int(text) for text in texts if text.isascii() and text.isdigit() and len(text) < 20}
    return list(find_series(project).filter(pk__in=[pk for pk in ids if pk <= _LARGEST_ID]))


def _asked(project: Project, query: QueryDict) -> Asked:
    """The values by facet; a thing is found by its old name too."""
    asked = {facet.name: _said(query, facet.name) for facet in FACETS}
    old = {name: asked[name] for name in _WITH_OLD_NAMES if asked[name]}
    if old:
        aliases = Alias.objects.filter(project=project, name__in=set().union(*old.values()), version=None)
        for alias in aliases.select_related(*_WITH_OLD_NAMES):
            for kind in old:
                thing = getattr(alias, kind)
                if thing and alias.name in asked[kind]:
                    asked[kind] = asked[kind] - {alias.name} | {thing.name}
    return {name: values for name, values in asked.items() if values}


def _said(query: QueryDict, name: str) -> set[str]:
    """What a parameter says; no name holds a NUL, and no database takes one."""
    return {text for text in query.getlist(name) if text and "\0" not in text}


def _newest_place(project: Project, places: Sequence[_Identity]) -> Asked:
    """The place measured last that has a history, and no more of it than tells it from others."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_PLACE, {"project": project.pk, "newest": _NEWEST_RUNS, "history": _A_HISTORY})
        newest = cursor.fetchone()
    if newest is None:
        return {}
    facets = [_BY_NAME[name] for name in _PLACE]
    asked: dict[str, Collection[str]] = {}
    left = list(places)
    for facet, text in zip(facets, map(_text, newest), strict=True):
        if len({identity[facet.name] for identity in left}) > 1:
            asked[facet.name] = {text}
            left = [identity for identity in left if identity[facet.name] == text]
    return asked


# Of the places with most groups, as many as make a history at the most, that of the newest run.
_NEWEST_PLACE: Final = """
    SELECT recent.branch, product.name, hardware.name, configuration.name, recent.counterpart, version.build
    FROM (
        SELECT version_id, branch, hardware_id, configuration_id, counterpart,
            CASE WHEN branch <> '' THEN (started_at AT TIME ZONE 'UTC')::date END AS day,
            row_number() OVER (ORDER BY started_at DESC, id DESC) AS rank
        FROM results_run WHERE project_id = %(project)s AND excluded_at IS NULL
        ORDER BY started_at DESC, id DESC LIMIT %(newest)s
    ) recent
    JOIN results_serverversion version ON version.id = recent.version_id
    JOIN results_product product ON product.id = version.product_id
    JOIN results_hardware hardware ON hardware.id = recent.hardware_id
    JOIN results_configuration configuration ON configuration.id = recent.configuration_id
    GROUP BY 1, 2, 3, 4, 5, 6
    ORDER BY least(count(DISTINCT (recent.version_id, recent.day)), %(history)s) DESC, min(recent.rank)
    LIMIT 1
"""


def _values_of(series: Iterable[Series]) -> Asked:
    texts: dict[str, set[str]] = {facet.name: set() for facet in FACETS}
    for one in series:
        for facet in FACETS:
            value: Any = one
            for attribute in facet.of_series.split("__"):
                value = getattr(value, attribute)
            texts[facet.name].add(_text(value))
    return texts


def _condition(asked: Asked) -> Q:
    condition = Q()
    for name, values in asked.items():
        condition &= _fits(_BY_NAME[name], values)
    return condition


def _fits(facet: Facet, values: Collection[str]) -> Q:
    if facet.name == "threads":
        counts = [int(text) for text in values if text.isascii() and text.isdigit() and len(text) < 11]
        fits = Q(threads__in=[count for count in counts if count <= _LARGEST_COUNT])
        return fits | Q(threads=None) if NONE in values else fits
    fits = Q(**{f"{facet.of_series}__in": list(values)})
    return fits | Q(**{facet.of_series: ""}) if NONE in values else fits


# --- what there is ----------------------------------------------------------------------------------------


# A row is a place, a workload or a thread count: a project has thousands of all three together.
_OFFERED: Final = """
    SELECT product.name, branch, line, build, hardware.name, configuration.name, counterpart,
        workload.name, threads, kind
    FROM (
        SELECT product_id, branch, line, build, hardware_id, configuration_id, counterpart, workload_id,
            threads, grouping(product_id, workload_id, threads) AS kind
        FROM results_series WHERE project_id = %(project)s
        GROUP BY GROUPING SETS (
            (product_id, branch, line, build, hardware_id, configuration_id, counterpart),
            (workload_id), (threads)
        )
    ) offered
    LEFT JOIN results_product product ON product.id = offered.product_id
    LEFT JOIN results_hardware hardware ON hardware.id = offered.hardware_id
    LEFT JOIN results_configuration configuration ON configuration.id = offered.configuration_id
    LEFT JOIN results_workload workload ON workload.id = offered.workload_id
"""
_OF_PLACE: Final = ("product", "branch", "line", "build", "hardware", "configuration", "counterpart")
_IS_WORKLOAD, _IS_THREADS = 0b101, 0b110  # what is not grouped by


def _offered(project: Project) -> _Offered:
    with connection.cursor() as cursor:
        cursor.execute(_OFFERED, {"project": project.pk})
        found = cursor.fetchall()
    places = []
    values: dict[str, set[str]] = {facet.name: set() for facet in FACETS}
    for *place, workload, threads, kind in found:
        if kind == _IS_WORKLOAD:
            values["workload"].add(_text(workload))
        elif kind == _IS_THREADS:
            values["threads"].add(_text(threads))
        else:
            places.append(dict(zip(_OF_PLACE, map(_text, place), strict=True)))
    for name in _OF_PLACE:
        values[name] = {place[name] for place in places}
    return _Offered(places, values)


def _identities(project: Project) -> list[_Identity]:
    """What the series of a project are, apart from their metrics, each once."""
    names = [facet.name for facet in FACETS]
    rows = Series.objects.filter(project=project).order_by()
    distinct = rows.values_list(*(facet.of_series for facet in FACETS)).distinct()
    return [dict(zip(names, map(_text, row), strict=True)) for row in distinct]


def _measured(found: Any) -> dict[str, int]:
    return dict(found.order_by().values_list(METRIC).annotate(Count("pk")))


def _relaxations(
    project: Project, asked: Asked, measured: Collection[str], metrics: Collection[str]
) -> list[Relaxation]:
    if measured:
        return [Relaxation(METRIC, "metric", ", ".join(sorted(metrics)))]
    identities = _identities(project)
    return [
        Relaxation(name, _BY_NAME[name].label.lower(), ", ".join(sorted(values)))
        for name, values in asked.items()
        if any(_matches(identity, asked, but=name) for identity in identities)
    ]


def _matches(identity: _Identity, asked: Asked, *, but: str) -> bool:
    return all(identity[name] in values for name, values in asked.items() if name != but)


def _filters(offered: _Offered, asked: Asked) -> list[Filter]:
    """A chip for everything that leaves a choice."""
    chips = []
    for facet in FACETS:
        chosen = asked.get(facet.name, ())
        values = offered.values[facet.name] | set(chosen)
        if len(values) > 1:
            options = [(text, _label(facet, text)) for text in sorted(values, key=_sort_key(facet))]
            chips.append(some_of(facet.name, facet.label, options, chosen))
    return chips


def _metric_filter(measured: Collection[str], asked: Collection[str], shown: Collection[str]) -> Filter:
    """``shown`` is what was chosen for who asked for none."""
    options = [(metric, short_metric_name(metric)) for metric in in_order({*measured, *asked})]
    return some_of(METRIC, "Metric", options, asked, empty=", ".join(map(short_metric_name, shown)) or "main")


def _label(facet: Facet, text: str) -> str:
    return facet.unsaid if text == NONE and facet.unsaid else text


def _text(value: object) -> str:
    return NONE if value is None or value == "" else str(value)


# --- order ------------------------------------------------------------------------------------------------


def _sort_key(facet: Facet) -> Any:
    """What is not said comes first, counts by number, release lines by version."""
    if facet.name == "threads":
        return lambda text: (text != NONE, int(text) if text.isascii() and text.isdigit() else 0, text)
    if facet.name == "line":
        return lambda text: (text != NONE, parse_version(text).sort_key)
    return lambda text: (text != NONE, _natural(text))


@lru_cache(maxsize=1000)
def _natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """``size=2`` before ``size=10``. Each workload is asked for with every thread count."""
    parts = _NUMBER.split(text.casefold())
    return tuple((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def _panel(series: Series) -> tuple[Any, ...]:
    return (
        series.metric,
        _natural(series.workload.name),
        -1 if series.threads is None else series.threads,
        series.product.name,
        series.branch,
        series.build,
        series.hardware.name,
        series.configuration.name,
        series.counterpart,
    )


def _in_order(series: Sequence[Series]) -> list[Series]:
    metrics = in_order({one.metric for one in series})
    return sorted(series, key=lambda one: (metrics.index(one.metric), _panel(one), _line(one)))


def _line(series: Series) -> tuple[str, int]:
    return parse_version(series.line).sort_key, series.pk
