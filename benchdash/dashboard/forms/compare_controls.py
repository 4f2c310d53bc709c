"""What the compare page offers to click: filters, chips of the chosen versions, switches, suggestions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.dashboard import filters, numbers
from benchdash.dashboard.charts.compare import Line
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms.compare import Choice, threads_texts
from benchdash.dashboard.forms.version_picker import VersionPicker
from benchdash.dashboard.measured import Measured
from benchdash.dashboard.navigation import Link
from benchdash.regressions.column_names import names
from benchdash.regressions.comparison import Column
from benchdash.results import metrics

_SUGGESTIONS: Final = 8


@dataclass(frozen=True)
class Chip:
    """A chosen column, with the addresses that make it the reference and that leave it out."""

    line: Line
    base_url: str
    without_url: str


@dataclass(frozen=True)
class Switch:
    """What one click changes."""

    label: str
    links: Sequence[Link]


def choice_filters(
    choice: Choice, measured: Measured, shown: Sequence[str], called: Sequence[str]
) -> list[Filter]:
    """``shown`` are the metrics that the page shows; ``called`` are the names of the chosen columns."""
    columns = choice.columns
    bases = zip(map(short_id, columns.chosen), called, strict=True)
    base = short_id(columns.base) if columns.base else None
    known = [(metric, numbers.metric_name(metric)) for metric in metrics.in_order(measured.metrics)]
    workloads = [(str(pk), name) for pk, name in measured.workloads.items()]
    threads = [(text, "not said" if text == "none" else text) for text in threads_texts(measured.threads)]
    return [
        filters.one_of("base", "Reference", bases, base, empty=""),
        filters.some_of("metric", "Metrics", known, shown),
        filters.some_of("workload", "Workloads", workloads, choice.workloads),
        filters.some_of("threads", "Threads", threads, threads_texts(choice.threads)),
    ]


def chips(path: str, choice: Choice, lines: Sequence[Line]) -> list[Chip]:
    ids = [short_id(column) for column in choice.columns.chosen]
    return [
        Chip(
            line=line,
            base_url=choice.address(path, base=own),
            without_url=choice.address(path, v=[other for other in ids if other != own]),
        )
        for line, own in zip(lines, ids, strict=True)
    ]


def switches(path: str, choice: Choice) -> list[Switch]:
    view = choice.view
    values = (("absolute", "", not view.relative), ("relative", "relative", view.relative))
    axes = [(scale or "auto", scale, scale == view.scale) for scale in ("", "linear", "log")]
    return [
        Switch(
            "Values", [Link(label, choice.address(path, values=value), on) for label, value, on in values]
        ),
        Switch("Axes", [Link(label, choice.address(path, axis=value), on) for label, value, on in axes]),
    ]


def meanings(path: str, choice: Choice) -> list[tuple[str, list[Link]]]:
    """Each id that means several columns, with an address for each of these."""
    chosen = [short_id(column) for column in choice.columns.chosen]
    return [
        (text, [_with(path, choice, chosen, name, column) for name, column in _named(columns)])
        for text, columns in choice.columns.unclear
    ]


def suggestions(picker: VersionPicker) -> list[Link]:
    """The places with the most versions."""
    by_size = sorted(picker.groups, key=lambda group: -(len(group.choices) + group.older))
    return [Link(f"Versions of {group.place}", group.newest_url) for group in by_size[:_SUGGESTIONS]]


def _named(columns: Sequence[Column]) -> list[tuple[str, Column]]:
    return list(zip(names(columns), columns, strict=True))


def _with(path: str, choice: Choice, chosen: Sequence[str], name: str, column: Column) -> Link:
    return Link(name, choice.address(path, v=[*chosen, short_id(column)]))
