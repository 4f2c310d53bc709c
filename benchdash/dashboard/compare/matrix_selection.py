"""The place, metric, columns and baseline of a matrix, read from an address or chosen by default."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchdash.addresses import (
    NOTHING,
    OLD_NOTHING,
    MatrixQuery,
    OverviewQuery,
    ViewQuery,
    from_text,
    to_text,
)
from benchdash.dashboard.compare.controls import metric_filter
from benchdash.dashboard.compare.selection import meant_by
from benchdash.dashboard.compare.version_picker import newest_of_lines
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.regressions.comparison.branch_table import Base, base_of, place_of
from benchdash.regressions.comparison.columns import Column, names, short_id
from benchdash.regressions.comparison.default_columns import PlaceNames, default_columns
from benchdash.results import metrics
from benchdash.results.baselines import baselines
from benchdash.results.controls import is_control
from benchdash.results.models import Baseline
from benchdash.results.wording import COUNTERPART

DEFAULT_COLUMNS: Final = 8
_LENGTHS: Final = (8, 16, 40)
_NEWEST_OF_LINES: Final = "lines"
_STORED: Final = "set"

# The parts of a place in the order in which they narrow it down, with the words for an empty one.
_PARTS: Final = (
    ("product", "Product", ""),
    ("branch", "Branch", "releases"),
    ("hardware", "Hardware", ""),
    ("configuration", "Configuration", ""),
    ("counterpart", COUNTERPART, "nothing else"),
    ("build", "Build", "plain"),
)


def read_place(
    query: ViewQuery, available: Sequence[Column], use: Counter[PlaceNames]
) -> tuple[PlaceNames, list[FilterChip]]:
    """Return the place that is asked for, as far as there is one, and a chip for each part with a choice.

    An address that names no place may choose versions: it is the place of the reference, or of the newest.
    Where the address leaves several, it is the one that recent runs use most; see ``recent_use``.
    """
    asked = {name: from_text(texts[-1]) for name, texts in query.place.items()}
    if not asked:
        found = (meant_by(text, available) for text in (query.base, *reversed(query.versions)))
        asked = next((PlaceNames.of(columns[0])._asdict() for columns in found if columns), asked)
    # A control is shown where nothing else is, or where it is asked for.
    places = sorted(
        dict.fromkeys(map(PlaceNames.of, available)),
        key=lambda place: (is_control(place.build), -use[place]),
    )
    offered = []
    for name, label, empty in _PARTS:
        values = sorted({getattr(place, name) for place in places})
        offered.append((name, label, empty, values))
        if asked.get(name) in values:
            places = [place for place in places if getattr(place, name) == asked[name]]
    place = places[0]
    chips = []
    for name, label, empty, values in offered:
        options = [(to_text(value), value or empty or "none") for value in values]
        chip = filters.one_of(name, label, options, to_text(getattr(place, name)), empty="")
        chips.append(replace(chip, is_shown=len(values) > 1))
    return place, chips


def read_metric(query: ViewQuery, measured: dict[str, int]) -> tuple[str, FilterChip]:
    asked = (metric for metric in query.metrics if metric in measured)
    metric = next(asked, None) or metrics.main_metric(measured)
    return metric, metric_filter(measured, metric)


@dataclass(frozen=True)
class ShownColumns:
    """The columns to show: the ``last`` ones, or the newest version of each release line."""

    last: int = DEFAULT_COLUMNS
    by_line: bool = False

    def of(self, columns: Sequence[Column]) -> list[Column]:
        """``columns`` are in the order of versions, and so is the answer."""
        if self.by_line:
            return newest_of_lines(columns[::-1])[::-1]
        if self == ShownColumns():
            return default_columns(columns, self.last)
        return list(columns[-self.last :])


def read_shown(
    query: MatrixQuery | OverviewQuery, *, what: str, lines: bool
) -> tuple[ShownColumns, FilterChip]:
    """Read the columns to show; ``what`` is their word, ``lines`` whether release lines can be chosen."""
    lengths = {str(length): ShownColumns(last=length) for length in _LENGTHS}
    options = [(text, f"last {text} {what}") for text in lengths]
    if lines:
        options.append((_NEWEST_OF_LINES, "newest of each line"))
    by_line = lines and query.show == _NEWEST_OF_LINES
    shown = ShownColumns(by_line=True) if by_line else lengths.get(query.show, ShownColumns())
    chosen = _NEWEST_OF_LINES if by_line else str(shown.last)
    return shown, filters.one_of("show", "Columns", options, chosen, empty="", default=str(DEFAULT_COLUMNS))


@dataclass(frozen=True)
class BranchBase:
    """The baseline of a branch; None: its oldest shown group. ``history`` has the newest first."""

    base: Base | None
    chip: FilterChip
    history: Sequence[Baseline]

    @property
    def stored(self) -> Baseline | None:
        """The baseline that people set and did not take back."""
        return next((one for one in self.history[:1] if one.version), None)


def branch_base(query: ViewQuery, branch: Column, releases: Sequence[Column]) -> BranchBase:
    """Return the baseline of a branch, in one statement.

    It is one that people set, a release at its place, or the oldest shown group; by default the first of
    these that there is.
    """
    history = baselines(place_of(branch))
    stored = base_of(history[0], branch) if history else None
    by_id = {short_id(column): Base(column) for column in releases}
    known: dict[str, Base | None] = {**({_STORED: stored} if stored else {}), **by_id, NOTHING: None}
    asked = NOTHING if query.base == OLD_NOTHING else query.base
    default = _STORED if stored else next(reversed(by_id), NOTHING)
    chosen = asked if asked in known else default
    options = [
        *([(_STORED, f"{history[0].name} (set for this branch)")] if stored else []),
        (NOTHING, "the oldest shown"),
        *zip(by_id, names(releases), strict=True),
    ]
    chip = filters.one_of("base", "Baseline", options, chosen, empty="", default=default)
    return BranchBase(known[chosen], replace(chip, also=[OLD_NOTHING]), history)


def read_base(query: ViewQuery, offered: Sequence[Column], at_first: Column) -> tuple[Column, FilterChip]:
    """Return the baseline among those offered, and its chip."""
    by_id = {short_id(column): column for column in offered}
    base = by_id.get(query.base, at_first)
    options = zip(by_id, names(offered), strict=True)
    return base, filters.one_of(
        "base", "Baseline", options, short_id(base), empty="", default=short_id(at_first)
    )


def toggled(opened: Sequence[str], workload: str) -> tuple[str, ...]:
    """Return the opened workloads with one more, or without it where it is open."""
    if workload in opened:
        return tuple(one for one in opened if one != workload)
    return (*opened, workload)
