"""Filters, switches and suggestions of the pages under Compare."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from benchdash.accounts.models import Project
from benchdash.addresses import ViewQuery, to_text
from benchdash.dashboard.compare.selection import ChosenColumns
from benchdash.dashboard.compare.version_picker import VersionPicker
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip, one_of, some_of
from benchdash.dashboard.shell.navigation import Link
from benchdash.regressions.comparison.columns import Column, ColumnContents, names, short_id
from benchdash.results import metrics
from benchdash.results.controls import is_control

_MAX_SUGGESTIONS: Final = 8
AXES: Final = (("", "auto"), ("linear", "linear"), ("log", "log"))


def reference_filter(columns: ChosenColumns, called: Sequence[str]) -> FilterChip:
    """Return the chip of the reference; ``called`` are the names of the chosen columns."""
    bases = zip(map(short_id, columns.chosen), called, strict=True)
    chip = one_of(
        "base",
        "Reference",
        bases,
        short_id(columns.base) if columns.base else None,
        empty="",
        default=short_id(columns.chosen[0]) if columns.chosen else "",
    )
    # Versions that are gone are said where they are looked up.
    return replace(chip, is_checked=False)


def workloads_filter(measured: ColumnContents, chosen: Iterable[str]) -> FilterChip:
    options = [(str(pk), name) for pk, name in measured.workloads.items()]
    return replace(some_of("workload", "Workloads", options, chosen), also=list(measured.workloads.values()))


def threads_filter(counts: Iterable[int | None], chosen: Iterable[str]) -> FilterChip:
    options = [(to_text(count), "not said" if count is None else str(count)) for count in counts]
    return some_of("threads", "Threads", options, chosen)


def metrics_options(known: Collection[str]) -> list[tuple[str, str]]:
    return [(metric, numbers.metric_name(metric)) for metric in metrics.in_order(known)]


def metric_filter(measured: Mapping[str, int], metric: str) -> FilterChip:
    """Return the chip of a page that shows one metric."""
    main = metrics.main_metric(measured) if measured else ""
    return one_of("metric", "Metric", metrics_options(measured), metric, empty="", default=main)


def meanings(project: Project, query: ViewQuery, columns: ChosenColumns) -> list[tuple[str, list[Link]]]:
    """Return each id that means several columns, with an address for each of these."""
    chosen = [short_id(column) for column in columns.chosen]

    def link(name: str, column: Column) -> Link:
        return Link(name, query.url(project, versions=(*chosen, short_id(column))))

    return [(text, list(map(link, names(meant), meant))) for text, meant in columns.unclear]


def suggestions(picker: VersionPicker) -> list[Link]:
    """Suggest the places with the most versions, but no controls."""
    groups = [group for group in picker.groups if not is_control(group.place.build)]
    by_size = sorted(groups, key=lambda group: -(len(group.choices) + group.older))
    return [Link(f"Versions of {group.place}", group.newest_url) for group in by_size[:_MAX_SUGGESTIONS]]
