"""Versions against each other, and one version against the version before it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project as ProjectRow
from benchdash.addresses import absolute
from benchdash.assistants.incidents import IncidentAnswer, incident_answer
from benchdash.assistants.names import nearest_words
from benchdash.assistants.shapes import (
    AnswerPart,
    Arguments,
    Project,
    Refusal,
    Text,
    Threads,
    Tool,
    ToolAnswer,
    table,
)
from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import (
    Column,
    Selector,
    SelectorError,
    columns_at,
    columns_of,
    included_runs,
    names,
    short_id,
)
from benchdash.regressions.comparison.comparability import doubts
from benchdash.regressions.comparison.pair_words import summary_of
from benchdash.regressions.comparison.pairs import Known, Pair, pair_of_columns, side_names
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import Row, have_two_directions
from benchdash.regressions.comparison.shown_units import table_in_used_units
from benchdash.regressions.comparison.verdict_words import (
    NOISE,
    counts_in_words,
    is_certain,
    is_likely,
    note,
    session_count,
    side_of,
    words,
)
from benchdash.regressions.comparison.verdicts import of_table
from benchdash.regressions.comparison.version_table import ComparisonTable, compare_columns
from benchdash.regressions.detection.compare import Comparison
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import incidents
from benchdash.results.controls import is_control
from benchdash.results.metrics import telling
from benchdash.results.models import Product, Series, ServerVersion, VersionPlace, Workload
from benchdash.results.queries import ids_called
from benchdash.results.version_places import nearest_version
from benchdash.results.versions import COMMIT, order_kind
from benchdash.results.wording import RATIO, change, counted, metric_name, number, quantity

MAX_AGAINST: Final = 8
_MAX_CELLS: Final = 160
_MAX_CANDIDATES: Final = 8
_MAX_PLACES: Final = 3
_MAX_CHANGED: Final = 25
_MAX_DIFFERENCES: Final = 30
_MAX_NAMES: Final = 2000

_Version = Annotated[
    Text,
    Field(
        description=(
            "A version such as 10.6.23, a commit of 7 to 40 hex digits, or either after the name of its"
            " product: `MariaDB 10.6.23`."
        )
    ),
]


class _Where(Arguments):
    """The fields that tell the places of a version apart."""

    project: Project
    hardware: Annotated[Text, Field(description="Exact name of a machine.")] = ""
    configuration: Annotated[Text, Field(description="Exact name.")] = ""
    counterpart: Annotated[Text | None, Field(description="The other side; the empty text: none.")] = None
    branch: Annotated[Text | None, Field(description="A branch; the empty text: releases.")] = None
    build: Annotated[Text | None, Field(description="A build; the empty text: the plain one.")] = None

    @property
    def filters(self) -> dict[str, str]:
        """The given fields, as filters that complete selectors."""
        said = {"hardware": self.hardware or None, "configuration": self.configuration or None}
        said |= {"counterpart": self.counterpart, "branch": self.branch, "build": self.build}
        return {name: value for name, value in said.items() if value is not None}


class CompareArguments(_Where):
    metric: Annotated[Text, Field(description="Such as tps, qps, latency_p95, score.")]
    base: _Version
    against: Annotated[
        list[_Version],
        Field(min_length=1, max_length=MAX_AGAINST, description="Versions to hold against it."),
    ]
    product: Annotated[Text, Field(description="Of all versions that do not name theirs.")] = ""
    workload: Annotated[Text, Field(description="Only this workload; exact name.")] = ""
    threads: Annotated[Threads | None, Field(description="Only this thread count.")] = None


class ColumnAnswer(AnswerPart):
    """A version at a place. ``version_id`` is what addresses of the API take."""

    name: str
    version_id: int
    product: str
    version: str
    build: str
    commit: str | None
    branch: str
    hardware: str
    configuration: str
    counterpart: str

    @classmethod
    def of(cls, column: Column, name: str) -> "ColumnAnswer":
        said = column.as_json()
        return cls(name=name, version_id=said.pop("id"), **said)


class SideAnswer(AnswerPart):
    """``low`` and ``high`` are the 95 % interval of the value, where it is known."""

    value: float
    low: float | None
    high: float | None
    runs: int
    sessions: int


class CellAnswer(SideAnswer):
    """``ratio`` is value / base; ``ratio_low`` and ``ratio_high`` are its 95 % interval.

    ``said`` is what may be said of it, ``noise`` where the scatter is known from. ``more_of_each``:
    so many more sessions of each side would settle an `unknown` or likely verdict (runs or forks where
    ``noise`` is of these); null where that cannot be said, or all is settled.
    """

    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p: float | None
    verdict: str
    said: str
    more_of_each: int | None
    noise: str


class RowAnswer(AnswerPart):
    """``cells`` are in the order of the columns; null where that column, or the base, was not measured."""

    workload: str
    threads: int | None
    unit: str
    direction: str
    base: SideAnswer | None
    cells: list[CellAnswer | None]


class ColumnSummary(AnswerPart):
    """``geomean`` is the geometric mean of the ratios of all rows, ``counts`` their verdicts in words.

    ``verdict`` is that of the mean, `mixed` where rows contradict each other. The mean is one of speeds,
    above 1 is faster, where more is better in some rows and worse in others.
    """

    name: str
    geomean: float | None
    is_of_speeds: bool
    verdict: str
    counts: str
    rows_compared: int


class CompareAnswer(ToolAnswer):
    metric: str
    metric_in_words: str
    unit: str
    direction: str
    base: ColumnAnswer
    columns: list[ColumnAnswer]
    summaries: list[ColumnSummary]
    margin: float
    rows: list[RowAnswer]
    left_out: str
    note: str
    doubts: list[str]
    is_relative: bool
    url: str

    def in_words(self) -> str:
        unit = RATIO if self.is_relative else ""
        lines = [f"{self.metric_in_words}, {self.direction}. Base: {self.base.name} ({_place(self.base)})."]
        for column, one in zip(self.columns, self.summaries, strict=True):
            of = " of speeds" if one.is_of_speeds else ""
            mean = f"geometric mean{of} {change(one.geomean - 1, unit)}" if one.geomean else "no common rows"
            counts = f"; {one.counts}" if one.counts else ""
            lines.append(
                f"{one.name} ({_place(column)}): {mean} over {counted(one.rows_compared, 'row')}{counts}."
            )
        head = ["workload", "threads", self.base.name, *(column.name for column in self.columns)]
        rows = [
            [
                *(
                    row.workload,
                    row.threads,
                    f"{quantity(row.base.value, unit)} {row.unit}" if row.base else "not measured",
                ),
                *(_cell_words(cell, unit) for cell in row.cells),
            ]
            for row in self.rows
        ]
        careful = [f"Careful: {doubt}" for doubt in self.doubts]
        parts = ["\n".join(lines), *careful, table(head, rows), self.left_out, self.note, self.url]
        return "\n\n".join(filter(None, parts))


def _place(column: ColumnAnswer) -> str:
    branch = f"branch {column.branch}" if column.branch else ""
    parts = (column.product, column.hardware, column.configuration, column.counterpart, branch)
    return ", ".join(filter(None, parts))


def _cell_words(cell: CellAnswer | None, unit: str) -> str:
    if cell is None:
        return "not measured"
    by = f"{change(cell.ratio - 1, unit)}, " if cell.ratio else ""
    more = f", {cell.more_of_each} more" if cell.more_of_each else ""
    return f"{quantity(cell.value, unit)} ({by}{cell.said}{more})"


def selector_words(error: SelectorError) -> str:
    """Say what a selector could mean, and how to choose."""
    said = error.message
    if error.field == "metric" or not error.candidates:
        return said
    parts = ("product", "version", "build", "commit", "branch", "hardware", "configuration", "counterpart")
    differ = [name for name in parts if len({str(candidate.get(name)) for candidate in error.candidates}) > 1]
    listed = "; ".join(
        ", ".join(f"{name}={candidate.get(name) or ''!r}" for name in differ)
        for candidate in error.candidates[:_MAX_CANDIDATES]
    )
    more = len(error.candidates) - _MAX_CANDIDATES
    others = f"; and {more} more" if more > 0 else ""
    return f"{error.field}: {said}. Say {' or '.join(differ)}: {listed}{others}"


# --- compare ----------------------------------------------------------------------------------------------


def _compare(viewer: Viewer, asked: CompareArguments) -> CompareAnswer:
    project = viewer.project(asked.project, relative=True)
    if asked.workload and not ids_called(Workload, [asked.workload], project):
        known = Workload.objects.filter(project=project).values_list("name", flat=True)
        raise Refusal(nearest_words("workload", asked.workload, list(known[:_MAX_NAMES])))
    filters = asked.filters | ({"product": asked.product} if asked.product else {})
    workloads = [asked.workload] if asked.workload else []
    threads = [] if asked.threads is None else [asked.threads]
    base, *columns = _columns(project, [asked.base, *asked.against], filters)
    if base in columns:
        raise Refusal("against: this is the base itself; name another version, or another place of it")
    try:
        measured = compare_columns(
            project, metric=asked.metric, base=base, columns=columns, workloads=workloads, threads=threads
        )
    except SelectorError as error:
        if workloads or threads:
            only = "this workload and thread count alone; leave them out to see what was measured"
            raise Refusal(f"{error.message} (asked of {only})") from None
        raise
    found = table_in_used_units(measured)
    named = list(zip([base, *columns], names([base, *columns]), strict=True))
    is_relative = not viewer.may_see_absolute(project)
    if is_relative:
        found = table_for_others(found)
    said = doubts([found], named, base, for_others=is_relative)
    return _answer(project, found, [one.text for one in said], is_relative=is_relative)


def _columns(project: ProjectRow, texts: Sequence[str], filters: Mapping[str, str]) -> list[Column]:
    """Find the one column that each text means, that of the base first.

    Where some mean several, the one place is meant at which each of them was measured. Raises SelectorError
    where there is none or several, and Refusal for a version that is not known.
    """
    meant = [_meant(project, text, filters, field=_field(at)) for at, text in enumerate(texts)]
    if all(len(columns) == 1 for columns in meant):
        return [column for [column] in meant]
    shared = set.intersection(*({_where(column) for column in columns} for columns in meant))
    if len(shared) == 1:
        at_place = [[one for one in columns if _where(one) in shared] for columns in meant]
        if all(len(columns) == 1 for columns in at_place):
            return [column for [column] in at_place]
    at = next(at for at, columns in enumerate(meant) if len(columns) > 1)
    candidates = [column.as_json() for column in meant[at] if not shared or _where(column) in shared]
    message = f"{texts[at]!r} was measured in {len(meant[at])} ways; say more"
    raise SelectorError(message, candidates, field=_field(at))


def _field(at: int) -> str:
    return "against" if at else "base"


def _where(column: Column) -> tuple[object, ...]:
    """Return what two columns share that differ in the version alone."""
    return column.version.build, *column.key[1:]


def _meant(project: ProjectRow, text: str, filters: Mapping[str, str], *, field: str) -> list[Column]:
    """List the columns that a text may mean, without controls where it may mean others. Raises Refusal."""
    found = columns_of(project, _selector(project, text).completed_by(filters))
    if not found:
        raise Refusal(_unknown_version(project, text, filters, field=field))
    return [column for column in found if not is_control(column.version.build)] or found


def _selector(project: ProjectRow, text: str) -> Selector:
    """Read ``10.6.23``, ``3f9a2c1a``, ``MariaDB 10.6.23``; the case counts if nothing else does."""
    products = Product.objects.filter(project=project).values_list("name", flat=True)
    named = [name for name in products if text.casefold().startswith(f"{name.casefold()} ")]
    product = max(named, key=lambda name: (len(name), text.startswith(name)), default=None)
    said = text[len(product or "") :].strip()
    is_version = ServerVersion.objects.filter(project=project, version=said).exists()
    if COMMIT.fullmatch(said.lower()) and not is_version:
        return Selector(product=product, commit=said.lower())
    return Selector(product=product, version=said)


def _unknown_version(project: ProjectRow, text: str, filters: Mapping[str, str], *, field: str) -> str:
    selector = _selector(project, text)
    if filters and columns_of(project, selector):
        said = ", ".join(f"{name} {value!r}" for name, value in filters.items())
        return f"{field}: {text!r} was not measured with {said}; versions says where it was"
    known = ServerVersion.objects.filter(project=project).order_by("-sort_key")
    what = "version"
    if product := selector.product or filters.get("product"):
        known = known.filter(product__in=ids_called(Product, [product], project))
        what = f"version of {product}"
    texts = list(dict.fromkeys(known.values_list("version", flat=True)[:_MAX_NAMES]))
    return f"{field}: {nearest_words(what, selector.version or selector.commit or '', texts)}"


def _answer(
    project: ProjectRow, found: ComparisonTable, said: list[str], *, is_relative: bool
) -> CompareAnswer:
    column_names = names([found.base, *found.columns])
    most = max(1, _MAX_CELLS // (len(found.columns) + 1))
    rows = found.rows[:most]
    comparisons = [one for row in found.rows for one in row.comparisons if one]
    left = len(found.rows) - len(rows)
    return CompareAnswer(
        metric=found.metric,
        metric_in_words=metric_name(found.metric),
        unit=found.unit,
        direction=_BOTH if have_two_directions(found.rows) else _direction(found.direction),
        base=ColumnAnswer.of(found.base, column_names[0]),
        columns=[
            ColumnAnswer.of(column, name)
            for column, name in zip(found.columns, column_names[1:], strict=True)
        ],
        summaries=[_summary(found, at, name) for at, name in enumerate(column_names[1:])],
        margin=found.margin,
        rows=[_row(found, row) for row in rows],
        left_out=f"{left} more rows are on the page; the summaries count them." if left else "",
        note=note(comparisons, margin=found.margin),
        doubts=said,
        is_relative=is_relative,
        url=_matrix_url(project, found),
    )


_BOTH: Final = "more is better in some rows and worse in others"


def _is_settled(comparison: Comparison) -> bool:
    """Tell whether no more sessions are needed."""
    return comparison.verdict == "same" or is_certain(comparison.verdict)


def _direction(direction: str) -> str:
    return str(Series.Direction(direction).label)


def _summary(found: ComparisonTable, at: int, name: str) -> ColumnSummary:
    of_column = [one for row in found.rows if (one := row.comparisons[at])]
    return ColumnSummary(
        name=name,
        geomean=found.geomean[at],
        is_of_speeds=have_two_directions(found.rows),
        verdict=of_table(found.rows, at, margin=found.margin) or "unknown",
        counts=counts_in_words((one.verdict for one in of_column), found.metric, found.direction),
        rows_compared=len(of_column),
    )


def _row(found: ComparisonTable, row: Row) -> RowAnswer:
    return RowAnswer(
        workload=row.workload,
        threads=row.threads,
        unit=row.unit,
        direction=_direction(row.direction),
        base=SideAnswer(**_side(row.base)) if row.base else None,
        cells=[
            _cell(found, row, cell, comparison) if cell else None
            for cell, comparison in zip(row.cells, row.comparisons, strict=True)
        ],
    )


def _side(cell: Cell) -> dict[str, Any]:
    return {
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
        "runs": cell.n,
        "sessions": session_count(cell),
    }


def _cell(found: ComparisonTable, row: Row, cell: Cell, comparison: Comparison | None) -> CellAnswer:
    if comparison is None:
        return CellAnswer(
            **_side(cell),
            ratio=None,
            ratio_low=None,
            ratio_high=None,
            p=None,
            verdict="unknown",
            said="the base was not measured here",
            more_of_each=None,
            noise="",
        )
    said = words(comparison.verdict, found.metric, direction=row.direction, margin=found.margin)
    return CellAnswer(
        **_side(cell),
        ratio=comparison.ratio,
        ratio_low=comparison.low,
        ratio_high=comparison.high,
        p=comparison.p,
        verdict=comparison.verdict,
        said=said,
        more_of_each=None if _is_settled(comparison) else comparison.more_runs,
        noise=NOISE[comparison.basis],
    )


def _matrix_url(project: ProjectRow, found: ComparisonTable) -> str:
    query = [("v", short_id(column)) for column in (found.base, *found.columns)]
    query += [("base", short_id(found.base)), ("metric", found.metric), ("over", "versions")]
    return f"{absolute('dashboard:matrix', project.slug)}?{urlencode(query)}"


# --- what changed -----------------------------------------------------------------------------------------


class WhatChangedArguments(_Where):
    version: _Version
    product: Annotated[Text, Field(description="Where several products have a version of this name.")] = ""
    against: Annotated[
        Text, Field(description="Hold it against this version; left out: the one measured before it there.")
    ] = ""


class DifferingRow(AnswerPart):
    """One metric of one workload whose verdict is not that nothing changed."""

    workload: str
    threads: int | None
    metric: str
    metric_in_words: str
    unit: str
    direction: str
    base: SideAnswer
    cell: CellAnswer


class SettingDifference(AnswerPart):
    """A setting or a fact; null where that side does not have it."""

    name: str
    before: str | None
    after: str | None


class PlaceChange(AnswerPart):
    """A version against the one before it at one place.

    ``settings``, ``environment`` and ``hardware_facts`` are what differs; null where nobody sent them with
    one of the sides. ``doubts`` are reasons why the two may not be compared as they stand.
    """

    base: ColumnAnswer
    version: ColumnAnswer
    summary: str
    base_runs: int
    base_sessions: int
    runs: int
    sessions: int
    changed: list[DifferingRow]
    not_shown: int
    rows_compared: int
    counts: str
    settings: list[SettingDifference] | None
    environment: list[SettingDifference] | None
    hardware_facts: list[SettingDifference] | None
    options: list[SettingDifference]
    doubts: list[str]
    url: str

    def in_words(self) -> str:
        head = ("workload", "threads", "metric", self.base.name, self.version.name, "change", "verdict")
        rows = [
            (
                *(
                    one.workload,
                    one.threads,
                    f"{one.metric_in_words} ({one.unit})" if one.unit else one.metric_in_words,
                ),
                *(number(one.base.value), number(one.cell.value)),
                *(change(one.cell.ratio - 1) if one.cell.ratio else "", one.cell.said),
            )
            for one in self.changed
        ]
        parts = [
            f"On {_place(self.version)}, against {self.base.name}: {self.summary}",
            *(f"Careful: {doubt}" for doubt in self.doubts),
            table(head, rows)
            if rows
            else f"No row is known to differ, of {self.rows_compared}: {self.counts}.",
            f"{self.not_shown} more rows differ, of other metrics too; they are on the page."
            if self.not_shown
            else "",
            _difference_words("Settings", self.settings),
            _difference_words("Environment", self.environment),
            _difference_words("Hardware", self.hardware_facts),
            _difference_words("Options of the workload", self.options),
            self.url,
        ]
        return "\n\n".join(filter(None, parts))


def _difference_words(what: str, found: Sequence[SettingDifference] | None) -> str:
    if found is None:
        return f"{what}: not known, nobody sent them with one of the sides."
    if not found:
        return ""
    listed = "; ".join(f"{one.name}: {one.before or 'not set'} → {one.after or 'not set'}" for one in found)
    return f"{what} that differ: {listed}"


class WhatChangedAnswer(ToolAnswer):
    """``incidents`` are those that began with this version, or while it was measured."""

    places: list[PlaceChange]
    without_earlier: list[str]
    more_places: int
    incidents: list[IncidentAnswer]
    is_analysed: bool

    def in_words(self) -> str:
        parts = [one.in_words() for one in self.places]
        parts += [f"No other version was measured before it at {place}." for place in self.without_earlier]
        if self.more_places:
            parts.append(f"It was measured at {self.more_places} more places; name one by hardware.")
        if self.incidents:
            listed = "\n".join(f"- {one.line_in_words}" for one in self.incidents)
            parts.append(f"Incidents that began with it, or while it was measured:\n{listed}")
        else:
            parts.append("No incident began with it.")
        if not self.is_analysed:
            parts.append("Newer results have not been looked at for incidents yet; ask again in a minute.")
        return "\n\n".join(parts)


def _what_changed(viewer: Viewer, asked: WhatChangedArguments) -> WhatChangedAnswer:
    project = viewer.project(asked.project)
    filters = asked.filters | ({"product": asked.product} if asked.product else {})
    found = _meant(project, asked.version, filters, field="version")
    if len({column.version.pk for column in found}) > 1:
        candidates = [column.as_json() for column in found]
        message = f"{asked.version!r} means several versions; say more"
        raise SelectorError(message, candidates, field="version")
    places, alone = [], []
    for column in found[:_MAX_PLACES]:
        before = _before(project, column, asked, filters)
        if before is None:
            alone.append(_place(ColumnAnswer.of(column, "")))
        else:
            places.append(_place_change(project, pair_of_columns(project, before, column)))
    version = found[0].version
    begun = incidents(project).filter(until=version.pk).exclude(status=Incident.Status.WITHDRAWN)
    waiting = Series.objects.filter(project=project, product=version.product_id, touched__isnull=False)
    return WhatChangedAnswer(
        places=places,
        without_earlier=alone,
        more_places=max(0, len(found) - _MAX_PLACES),
        incidents=[incident_answer(one) for one in begun[:_MAX_CHANGED]],
        is_analysed=not waiting.exists(),
    )


def _before(
    project: ProjectRow, column: Column, asked: WhatChangedArguments, filters: Mapping[str, str]
) -> Column | None:
    """Return what a column is held against: the version asked for, or the one before it at its place."""
    if asked.against:
        for one in _meant(project, asked.against, filters, field="against"):
            if _where(one) == _where(column) and one.key != column.key:
                return one
        return None
    version, *where = column.key
    parts = ("branch", "hardware", "configuration", "counterpart")
    at = VersionPlace.objects.filter(version=version, **dict(zip(parts, where, strict=True))).first()
    nearest = nearest_version(included_runs(project), at) if at else None
    if at is None or nearest is None:
        return None
    place = (column.hardware_id, column.hardware, column.configuration_id, column.configuration)
    [before] = columns_at([(nearest, column.branch, *place, column.counterpart)])
    # If there is none before it, the nearest is the next.
    key = VersionPlace.objects.get(version=nearest, **dict(zip(parts, where, strict=True)))
    is_before = (key.sort_key, key.committed_at) < (at.sort_key, at.committed_at)
    is_known = bool(at.branch) or order_kind(key.sort_key) == order_kind(at.sort_key) != ""
    return before if is_before and is_known else None


def _place_change(project: ProjectRow, pair: Pair) -> PlaceChange:
    base, other = side_names(pair)
    shown = set(telling({one.metric: len(one.rows) for one in pair.tables}) if pair.tables else ())
    rows = [
        changed
        for found in map(table_in_used_units, filter(lambda one: one.rows, pair.tables))
        for row in found.rows
        if (changed := _changed_row(found, row))
    ]
    rows.sort(key=lambda one: (one.metric not in shown, *_rank(one)))
    listed = [one for one in rows if one.metric in shown or not is_likely(one.cell.verdict)]
    compared = [one for found in pair.tables for row in found.rows for one in row.comparisons if one]
    query = urlencode({"base": short_id(pair.base.column), "against": short_id(pair.other.column)})
    return PlaceChange(
        base=ColumnAnswer.of(pair.base.column, base),
        version=ColumnAnswer.of(pair.other.column, other),
        summary=summary_of(pair),
        base_runs=pair.base.runs,
        base_sessions=pair.base.sessions,
        runs=pair.other.runs,
        sessions=pair.other.sessions,
        changed=listed[:_MAX_CHANGED],
        not_shown=len(rows) - len(listed[:_MAX_CHANGED]),
        rows_compared=len(compared),
        counts=counts_in_words(one.verdict for one in compared) or "nothing was measured of both",
        settings=_known(pair.settings),
        environment=_known(pair.environment),
        hardware_facts=_known(pair.hardware),
        options=[_difference(told.difference) for told in pair.told[:_MAX_DIFFERENCES]],
        doubts=[doubt.text for doubt in pair.doubts],
        url=f"{absolute('dashboard:pair', project.slug)}?{query}",
    )


def _changed_row(found: ComparisonTable, row: Row) -> DifferingRow | None:
    [cell], [comparison] = row.cells, row.comparisons
    if not (row.base and cell and comparison and side_of(comparison.verdict)):
        return None
    return DifferingRow(
        workload=row.workload,
        threads=row.threads,
        metric=found.metric,
        metric_in_words=metric_name(found.metric),
        unit=row.unit,
        direction=_direction(row.direction),
        base=SideAnswer(**_side(row.base)),
        cell=_cell(found, row, cell, comparison),
    )


def _rank(one: DifferingRow) -> tuple[bool, float]:
    """Sort what is certain first, then by the size of the change."""
    ratio = one.cell.ratio or 1.0
    return is_likely(one.cell.verdict), -max(ratio, 1 / ratio)


def _known(known: Known) -> list[SettingDifference] | None:
    if not known.is_known:
        return None
    return [_difference(one) for one in known.differences[:_MAX_DIFFERENCES]]


def _difference(one: Any) -> SettingDifference:
    short = (text if text is None else text[:_MAX_VALUE] for text in (one.before, one.after))
    return SettingDifference(name=one.name[:_MAX_VALUE], **dict(zip(("before", "after"), short, strict=True)))


_MAX_VALUE: Final = 200

COMPARE: Final = Tool(
    name="compare",
    title="Compare versions",
    description=(
        "Compare versions with a base in one metric, workload by workload and thread count by thread count:"
        " values, ratio with its 95 % interval, and the verdict with what it rests on."
    ),
    arguments=CompareArguments,
    answers=CompareAnswer,
    function=_compare,
)
WHAT_CHANGED: Final = Tool(
    name="what_changed",
    title="What changed in a version",
    description=(
        "Say what differs between a version (or commit) and the version measured before it, at each place:"
        " regressions and improvements over all metrics, settings, environment and hardware that differ, and"
        " the incidents that begin with it."
    ),
    arguments=WhatChangedArguments,
    answers=WhatChangedAnswer,
    function=_what_changed,
)
