"""The place, metric, columns and baseline of a matrix, read from an address or chosen by default."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.compare.controls import metrics_options
from benchdash.dashboard.compare.places import Place
from benchdash.dashboard.compare.selection import default_columns
from benchdash.dashboard.compare.version_picker import newest_of_lines
from benchdash.dashboard.compare.versions import meant_by
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import address_with
from benchdash.dashboard.shell.selection import EMPTY, names_place
from benchdash.regressions.comparison.branch_table import Base, base_of, stream_of
from benchdash.regressions.comparison.columns import Column, names, short_id
from benchdash.results import metrics
from benchdash.results.baselines import baselines
from benchdash.results.models import Baseline

DEFAULT_COLUMNS: Final = 8
_LENGTHS: Final = (8, 16, 40)
_NEWEST_OF_LINES: Final = "lines"
# In an address, for a part that is empty; no branch of git can be called so.
_NONE: Final = "~"
_STORED: Final = "set"

# The parts of a place in the order in which they narrow it down, with the words for an empty one.
_PARTS: Final = (
    ("product", "Product", ""),
    ("branch", "Branch", "releases"),
    ("hardware", "Hardware", ""),
    ("configuration", "Configuration", ""),
    ("counterpart", "Counterpart", "none"),
    ("build", "Build", "plain"),
)


def read_place(
    query: QueryDict, available: Sequence[Column], use: Counter[Place]
) -> tuple[Place, list[FilterChip]]:
    """The place that is asked for, as far as there is one, and a filter for each part that has a choice.

    An address that names no place may choose versions: it is the place of the reference, or of the newest.
    Where the address leaves several, it is the one that recent runs use most; see ``recent_use``.
    """
    asked = {name: _part(query.get(name)) for name, *_ in _PARTS}
    if not names_place(query) and (chosen := _chosen_column(query, available)):
        asked = Place.of(chosen)._asdict()
    places = sorted(dict.fromkeys(map(Place.of, available)), key=lambda place: -use[place])
    found = []
    for name, label, empty in _PARTS:
        values = sorted({getattr(place, name) for place in places})
        found.append((name, label, empty, values))
        if asked[name] in values:
            places = [place for place in places if getattr(place, name) == asked[name]]
    place = places[0]
    chips = [
        filters.one_of(
            name,
            label,
            [(value or _NONE, value or empty) for value in values],
            getattr(place, name) or _NONE,
            empty="",
        )
        for name, label, empty, values in found
        if len(values) > 1
    ]
    return place, chips


def _part(text: str | None) -> str | None:
    return "" if text in EMPTY else text


def _chosen_column(query: QueryDict, available: Sequence[Column]) -> Column | None:
    texts = [query.get("base", ""), *reversed(query.getlist("v"))]
    found = (meant_by(text, available) for text in texts if text)
    return next((columns[0] for columns in found if columns), None)


def read_metric(query: QueryDict, measured: dict[str, int]) -> tuple[str, FilterChip]:
    asked = [metric for metric in query.getlist("metric") if metric in measured]
    metric = asked[0] if asked else metrics.main_metric(measured)
    return metric, filters.one_of("metric", "Metric", metrics_options(measured), metric, empty="")


@dataclass(frozen=True)
class ShownColumns:
    """``last`` columns, or the newest version of each release line."""

    last: int = DEFAULT_COLUMNS
    by_line: bool = False

    def of(self, columns: Sequence[Column]) -> list[Column]:
        """``columns`` are in the order of versions, and so is the answer."""
        if self.by_line:
            return newest_of_lines(columns[::-1])[::-1]
        if self == ShownColumns():
            return default_columns(columns, self.last)
        return list(columns[-self.last :])


def read_shown(query: QueryDict, *, what: str, lines: bool) -> tuple[ShownColumns, FilterChip]:
    """``what`` is the word for columns; ``lines`` whether there are release lines to choose from."""
    asked = query.get("show", "")
    lengths = {str(length): ShownColumns(last=length) for length in _LENGTHS}
    options = [(text, f"last {text} {what}") for text in lengths]
    if lines:
        options.append((_NEWEST_OF_LINES, "newest of each line"))
    by_line = lines and asked == _NEWEST_OF_LINES
    shown = ShownColumns(by_line=True) if by_line else lengths.get(asked, ShownColumns())
    chosen = _NEWEST_OF_LINES if by_line else str(shown.last)
    return shown, filters.one_of("show", "Columns", options, chosen, empty="")


@dataclass(frozen=True)
class BranchBase:
    """``base`` None: the oldest shown group. ``chip`` chooses another; ``history`` has the newest first."""

    base: Base | None
    chip: FilterChip
    history: Sequence[Baseline]

    @property
    def stored(self) -> Baseline | None:
        """The baseline that people set and did not take back."""
        return next((one for one in self.history[:1] if one.version), None)


def branch_base(project: Project, query: QueryDict, branch: Column, releases: Sequence[Column]) -> BranchBase:
    """Return the baseline of a branch: as people set it, a release at its place, or the oldest group
    that is shown: at first the first of these that there is. One statement.
    """
    history = baselines(project, stream_of(branch))
    stored = base_of(history[0], branch) if history else None
    by_id = {short_id(column): Base(column) for column in releases}
    known: dict[str, Base | None] = {**({_STORED: stored} if stored else {}), **by_id, _NONE: None}
    asked = query.get("base", "")
    chosen = asked if asked in known else (_STORED if stored else next(reversed(by_id), _NONE))
    options = [
        *([(_STORED, f"{history[0].name} (set for this branch)")] if stored else []),
        (_NONE, "the oldest shown"),
        *zip(by_id, names(releases), strict=True),
    ]
    chip = filters.one_of("base", "Baseline", options, chosen, empty="")
    return BranchBase(known[chosen], chip, history)


def read_base(query: QueryDict, offered: Sequence[Column], at_first: Column) -> tuple[Column, FilterChip]:
    """The baseline among those offered."""
    by_id = {short_id(column): column for column in offered}
    base = by_id.get(query.get("base", ""), at_first)
    options = zip(by_id, names(offered), strict=True)
    return base, filters.one_of("base", "Baseline", options, short_id(base), empty="")


def toggled(query: QueryDict, path: str, workload: str) -> str:
    """The address with the thread counts of a workload shown instead of hidden, or the other way round."""
    opened = query.getlist("open")
    changed = [one for one in opened if one != workload] if workload in opened else [*opened, workload]
    return address_with(path, query, open=changed)
