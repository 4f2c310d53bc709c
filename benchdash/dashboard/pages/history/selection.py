"""Which series an address chooses, and what else there is to choose."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from django.db.models import Count, F, Q

from benchdash.accounts.models import Project
from benchdash.addresses import NOTHING, ColumnId, HistoryQuery, to_text
from benchdash.dashboard.shell.filters import FilterChip, some_of, unknown_value
from benchdash.dashboard.shell.numbers import short_metric_name
from benchdash.database.ids import ids_in
from benchdash.results import catalogue
from benchdash.results.branches import branch_called
from benchdash.results.catalogue import workload_names
from benchdash.results.metrics import in_order, main_metric
from benchdash.results.models import Alias, Series
from benchdash.results.pull_requests import of_pull_requests
from benchdash.results.queries import find_series
from benchdash.results.versions import parse_version
from benchdash.results.wording import COUNTERPART

METRIC: Final = "metric"
# Asks for all places, where an address without any choice would get what was measured last.
_ANY_PLACE: Final = ("place", "any")
_MAX_COUNT: Final = 2**31 - 1
_MAX_PULL_REQUESTS: Final = 6
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
    Facet("counterpart", COUNTERPART, "counterpart", unsaid="nothing else"),
)
# The chips in the order in which people need them.
_CHIPS: Final = (
    *("branch", "product", "workload", METRIC, "threads"),
    *("line", "hardware", "configuration", "build", "counterpart"),
)
_BY_NAME: Final = {facet.name: facet for facet in FACETS}
_WITH_OLD_NAMES: Final = ("product", "workload", "hardware", "configuration")
# The parts of a place, in the order in which they tell it from others.
_PLACE: Final = ("branch", "product", "hardware", "configuration", "counterpart", "build")

Asked = Mapping[str, Collection[str]]
_Identity = Mapping[str, str]


@dataclass(frozen=True)
class Relaxation:
    """A part of a choice without which there would be something to show."""

    name: str
    label: str
    value: str


@dataclass(frozen=True)
class SeriesChoice:
    """The chosen series in the order of their names, with the filters; ``kept`` goes into their form.

    ``has_any``: whether the project has series at all. ``relaxations`` tell why nothing was found.
    ``selection`` says in the words of an address what ids of series mean.
    """

    series: Sequence[Series]
    filters: Sequence[FilterChip]
    kept: Sequence[tuple[str, str]]
    has_any: bool
    relaxations: Sequence[Relaxation] = ()
    selection: HistoryQuery | None = None
    unknown: Sequence[str] = ()


def choose_series(project: Project, query: HistoryQuery) -> SeriesChoice:
    """Return the series of a project that ``series`` (ids) or the parameters of the facets choose.

    An address that chooses nothing gets what was measured last. Without a metric it is the main one of what
    was chosen. A constant number of statements.
    """
    asked = _asked(project, query)
    places, values = _offered(project, asked.get("branch", ()))
    selection, unknown = None, []
    if not query.series:
        if requests := _pull_requests_alone(project, asked, values):
            asked = {**asked, "branch": requests}
            places, values = _offered(project, requests)
        unknown = [
            unknown_value(name, text, sorted(values[name], key=_sort_key(_BY_NAME[name])))
            for name, texts in asked.items()
            for text in sorted({*texts} - values[name])
        ]
        if not asked.keys() & {*_OF_PLACE}:
            asked = {**asked, **_places_of_columns(project, query)}
        if not asked and not query.everywhere:
            asked = _newest_place(project, places)
        found = find_series(project).filter(_condition(asked))
        asked_metrics = {*query.metrics}
        measured = _measured(found)
        metrics = asked_metrics or {main_metric(measured)} if measured else asked_metrics
        # Who takes back the last choice means all places.
        kept = [_ANY_PLACE] if len(asked) <= 1 else []
        series = list(found.filter(metric__in=metrics))
    else:
        series = list(find_series(project).filter(pk__in=set(ids_in(query.series))))
        ids = {str(one.pk) for one in series}
        unknown = [unknown_value("series", text) for text in query.series if text not in ids]
        values_of = {facet.name: attrgetter(facet.of_series.replace("__", ".")) for facet in FACETS}
        asked = {name: {to_text(value(one)) for one in series} for name, value in values_of.items()}
        # A changed chip takes the ids out of the address.
        kept = [("series", "")]
        asked_metrics = metrics = {one.metric for one in series}
        measured = _measured(find_series(project).filter(_condition(asked)))
        if series:
            parts: dict[str, Any] = {name: tuple(sorted(texts)) for name, texts in asked.items()}
            selection = HistoryQuery(workloads=parts.pop("workload"), metrics=tuple(sorted(metrics)), **parts)
    if measured:
        known = in_order(measured)
        unknown += [unknown_value(METRIC, text, known) for text in sorted({*asked_metrics} - measured.keys())]
    options = [(metric, short_metric_name(metric)) for metric in in_order({*measured, *asked_metrics})]
    main = ", ".join(map(short_metric_name, metrics)) or "main"
    return SeriesChoice(
        series=_in_order(series),
        filters=[
            replace(chip, is_checked=False)
            for chip in _filters(values, asked, some_of(METRIC, "Metric", options, asked_metrics, empty=main))
        ],
        kept=kept,
        has_any=bool(places) or bool(series) or find_series(project).exists(),
        relaxations=[] if series else _relaxations(project, asked, measured, asked_metrics),
        selection=selection,
        unknown=unknown,
    )


def panels(series: Sequence[Series]) -> list[list[Series]]:
    """Return the series of each small chart: release lines of one thing, measured in the same way."""
    return [list(panel) for _, panel in groupby(series, key=_panel)]


def _asked(project: Project, query: HistoryQuery) -> Asked:
    """Return the values asked for by facet; a thing is found by its old name too."""
    asked = {name: {*texts} for name, texts in query.place.items()}
    # The pages under Compare know workloads by their ids.
    found = workload_names(project, query.workloads)
    asked |= {
        "branch": set(map(branch_called, query.branch)),
        "workload": {found.get(text, text) for text in query.workloads},
        "threads": {*query.threads},
    }
    old = {name: asked[name] for name in _WITH_OLD_NAMES if asked.get(name)}
    if old:
        aliases = Alias.objects.filter(project=project, name__in=set().union(*old.values()), version=None)
        for alias in aliases.select_related(*_WITH_OLD_NAMES):
            for kind in old:
                thing = getattr(alias, kind)
                if thing and alias.name in asked[kind]:
                    asked[kind] = asked[kind] - {alias.name} | {thing.name}
    return {name: values for name, values in asked.items() if values}


def _pull_requests_alone(project: Project, asked: Asked, values: Mapping[str, set[str]]) -> set[str]:
    """Return the branches of the pull requests that alone have what is asked for; ``values`` are of others.

    No statement where nothing is missing, or branches are asked for.
    """
    missing = {name: lacking for name, texts in asked.items() if (lacking := {*texts} - values[name])}
    if not missing or "branch" in asked:
        return set()
    fits = [_fits(_BY_NAME[name], lacking) for name, lacking in missing.items()]
    found = Series.objects.filter(of_pull_requests(), *fits, project=project).order_by()
    return set(found.values_list("branch", flat=True).distinct()[:_MAX_PULL_REQUESTS])


def _places_of_columns(project: Project, query: HistoryQuery) -> Asked:
    """Return the places of the versions that the pages under Compare hold; one statement."""
    ids = map(ColumnId.of, (*query.versions, query.base))
    columns = [one for one in ids if one and one.hardware is not None]
    if not columns:
        return {}
    series = Series.objects.filter(
        project=project,
        product__versions__in={one.version for one in columns},
        build=F("product__versions__build"),
        branch__in={one.branch for one in columns},
        hardware__in={one.hardware for one in columns},
        configuration__in={one.configuration for one in columns},
        counterpart__in={one.counterpart for one in columns},
    )
    facets = [facet for facet in FACETS if facet.name in _PLACE]
    rows = series.order_by().values_list(*(facet.of_series for facet in facets)).distinct()
    found = [set(map(to_text, values)) for values in zip(*rows, strict=True)]
    return {facet.name: values for facet, values in zip(facets, found, strict=True)} if found else {}


def _newest_place(project: Project, places: Sequence[_Identity]) -> Asked:
    """Return the place measured last that has a history, and no more of it than tells it from others."""
    newest = catalogue.newest_place(project)
    if newest is None:
        return {}
    asked: dict[str, Collection[str]] = {}
    left = list(places)
    for name in _PLACE:
        text = to_text(getattr(newest, name))
        if len({identity[name] for identity in left}) > 1:
            asked[name] = {text}
            left = [identity for identity in left if identity[name] == text]
    return asked


def _condition(asked: Asked) -> Q:
    """Select the series that are asked for; those of pull requests where their branch is."""
    kept_apart = Q() if "branch" in asked else ~of_pull_requests()
    return Q(kept_apart, *(_fits(_BY_NAME[name], values) for name, values in asked.items()))


def _fits(facet: Facet, values: Collection[str]) -> Q:
    if facet.name == "threads":
        counts = [int(text) for text in values if text.isascii() and text.isdigit() and len(text) < 11]
        fits = Q(threads__in=[count for count in counts if count <= _MAX_COUNT])
        return fits | Q(threads=None) if NOTHING in values else fits
    fits = Q(**{f"{facet.of_series}__in": list(values)})
    return fits | Q(**{facet.of_series: ""}) if NOTHING in values else fits


_OF_PLACE: Final = ("product", "branch", "line", "build", "hardware", "configuration", "counterpart")


def _offered(
    project: Project, branches: Collection[str]
) -> tuple[Sequence[_Identity], Mapping[str, set[str]]]:
    """Return each place of a project's series once, and the values of each facet.

    What only pull requests have is left out, unless their branches are among ``branches``.
    """
    found = catalogue.offered_series(project, branches)
    places = [dict(zip(_OF_PLACE, map(to_text, place), strict=True)) for place in found.places]
    values = {name: {place[name] for place in places} for name in _OF_PLACE}
    values |= {"workload": set(map(to_text, found.workloads)), "threads": set(map(to_text, found.threads))}
    return places, values


def _measured(found: Any) -> dict[str, int]:
    return dict(found.order_by().values_list(METRIC).annotate(Count("pk")))


def _relaxations(
    project: Project, asked: Asked, measured: Collection[str], metrics: Collection[str]
) -> list[Relaxation]:
    if measured:
        return [Relaxation(METRIC, "metric", ", ".join(sorted(metrics)))]
    names = [facet.name for facet in FACETS]
    rows = Series.objects.filter(project=project).order_by()
    distinct = rows.values_list(*(facet.of_series for facet in FACETS)).distinct()
    identities = [dict(zip(names, map(to_text, row), strict=True)) for row in distinct]

    def matches(identity: _Identity, *, but: str) -> bool:
        return all(identity[name] in values for name, values in asked.items() if name != but)

    return [
        Relaxation(name, _BY_NAME[name].label.lower(), ", ".join(sorted(values)))
        for name, values in asked.items()
        if any(matches(identity, but=name) for identity in identities)
    ]


def _filters(offered: Mapping[str, set[str]], asked: Asked, metric: FilterChip) -> list[FilterChip]:
    """Return a chip for each facet that leaves a choice; that of the metric stands behind the workloads."""
    chips = {METRIC: metric}
    for facet in FACETS:
        chosen = asked.get(facet.name, ())
        values = offered[facet.name] | set(chosen)
        if len(values) > 1:
            options = [
                (text, facet.unsaid or text if text == NOTHING else text)
                for text in sorted(values, key=_sort_key(facet))
            ]
            chips[facet.name] = some_of(facet.name, facet.label, options, chosen)
    return [chips[name] for name in _CHIPS if name in chips]


def _sort_key(facet: Facet) -> Any:
    """Return the key by which values are sorted: empty ones first, counts by number, lines by version."""
    if facet.name == "threads":
        return lambda text: (text != NOTHING, int(text) if text.isascii() and text.isdigit() else 0, text)
    if facet.name == "line":
        return lambda text: (text != NOTHING, parse_version(text).sort_key)
    return lambda text: (text != NOTHING, _natural(text), text)


@lru_cache(maxsize=10_000)
def _natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """``size=2`` before ``size=10``. Each workload is asked for with every thread count."""
    parts = _NUMBER.split(text.casefold())
    return tuple((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def _panel(series: Series) -> tuple[Any, ...]:
    place = (
        series.product.name,
        series.branch,
        series.build,
        series.hardware.name,
        series.configuration.name,
        series.counterpart,
    )
    return (
        series.metric,
        _natural(series.workload.name),
        -1 if series.threads is None else series.threads,
        *map(_natural, place),
        series.workload.name,
        *place,
    )


def _in_order(series: Sequence[Series]) -> list[Series]:
    metrics = in_order({one.metric for one in series})

    def key(one: Series) -> tuple[Any, ...]:
        return metrics.index(one.metric), _panel(one), parse_version(one.line).sort_key, one.pk

    return sorted(series, key=key)
