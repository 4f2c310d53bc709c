"""Addresses of pages: how what a page shows is read from one and written to one.

Each page has a query, whose fields are the parameters of its addresses. Whoever leads to a page, whether
another page, a mail or an answer of the API, makes its query and writes it; nobody else spells addresses.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, time
from functools import cache, lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse
from django.utils.dateparse import parse_date, parse_datetime

from benchdash.database.ids import ids_in

if TYPE_CHECKING:
    from benchdash.accounts.models import Project

Texts = tuple[str, ...]
Q = TypeVar("Q", bound="ViewQuery")

PLACE: Final = ("product", "branch", "build", "line", "hardware", "configuration", "counterpart")
NOTHING: Final = "none"
"""In an address: no branch (a release), no build, no counterpart, no thread count."""
OLD_NOTHING: Final = "~"
"""The same, as some pages wrote it once."""
_MAY_BE_NOTHING: Final = frozenset({*PLACE, "threads"})
_MAX_VALUES: Final = 200


def absolute(name: str, *args: object) -> str:
    """Return the whole address of a named page or resource."""
    return f"{settings.SITE_URL}{reverse(name, args=args)}"


# --- values -------------------------------------------------------------------------------------------------


def texts_of(query: QueryDict, name: str) -> Texts:
    """Return the values of a parameter, each once, without empty ones and without NUL, as names are."""
    found = dict.fromkeys(text.replace("\0", "") for text in query.getlist(name))
    may_be_nothing = name in _MAY_BE_NOTHING
    texts = (NOTHING if may_be_nothing and text == OLD_NOTHING else text for text in found if text)
    return tuple(texts)[:_MAX_VALUES]


def to_text(value: object) -> str:
    """Write a part of a place or a thread count, which may be nothing."""
    return NOTHING if value is None or value == "" else str(value)


def from_text(text: str) -> str:
    """Read a part of a place, empty where it is nothing."""
    return "" if text == NOTHING else text


def place_fields(parts: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a query that names a place by these parts."""
    return {name: (to_text(part),) for name, part in parts.items()}


def whole_number(text: str) -> int | None:
    """Read a number of at most nine digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def moment(text: str, *, of_day: time = time.min) -> datetime | None:
    """Read a time, in UTC where it does not say otherwise; a day means its time ``of_day``."""
    try:
        day = parse_date(text)
        found = datetime.combine(day, of_day) if day else parse_datetime(text)
        return found and (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class ColumnId(NamedTuple):
    """A version and where it was measured: ``12.3.1`` with the ids of hardware and configuration.

    ``~branch`` and ``~counterpart`` follow where it has them. ``12~branch`` is the version on any hardware;
    ``12`` alone is the version everywhere: what is None may be anything.
    """

    version: int
    hardware: int | None = None
    configuration: int | None = None
    branch: str | None = None
    counterpart: str | None = None

    @classmethod
    def of(cls, text: str) -> "ColumnId | None":
        """Read one; None for anything else."""
        numbers, *surroundings = text.split("~", 2)
        branch, counterpart, *_ = *surroundings, "", ""
        parts = numbers.split(".")
        match ids_in(parts):
            case [version] if len(parts) == 1:
                return cls(version, None, None, branch, counterpart) if surroundings else cls(version)
            case [version, hardware, configuration] if len(parts) == 3:
                return cls(version, hardware, configuration, branch, counterpart)
        return None

    def __str__(self) -> str:
        text = ".".join(str(number) for number in self[:3] if number is not None)
        if self.branch or self.counterpart:
            text += f"~{self.branch or ''}"
        return f"{text}~{self.counterpart}" if self.counterpart else text

    def fits(self, other: "ColumnId") -> bool:
        return all(own in (None, part) for own, part in zip(self, other, strict=True))


# --- queries ------------------------------------------------------------------------------------------------


class _Parameter(NamedTuple):
    """A field of a query: its name in addresses, and its values, or None where it may have any."""

    field: str
    name: str
    known: Texts | None
    default: Any


@cache
def _parameters_of(page: type["ViewQuery"]) -> list[_Parameter]:
    hints, found = get_type_hints(page, include_extras=True), []
    for one in fields(page):
        hint, name = hints[one.name], one.name
        if get_origin(hint) is Annotated:
            hint, name = get_args(hint)
        known = get_args(hint) if get_origin(hint) is Literal else None
        found.append(_Parameter(one.name, name, known, one.default))
    return found


@lru_cache(maxsize=1000)
def _path(page: str, slug: str) -> str:
    # A matrix has thousands of links.
    return reverse(f"dashboard:{page}", args=[slug])


@dataclass(frozen=True, kw_only=True)
class ViewQuery:
    """The selection of a page: sides, place, workloads, metrics; pages add how it is shown.

    A field of texts is repeated, another comes once; a value that a field does not know is as if it were not
    there. A field is called as its parameter, unless its annotation names that.
    """

    page: ClassVar[str]

    versions: Annotated[Texts, "v"] = ()
    base: str = ""
    against: str = ""
    runs: Annotated[Texts, "run"] = ()
    series: Texts = ()
    product: Texts = ()
    branch: Texts = ()
    build: Texts = ()
    line: Texts = ()
    hardware: Texts = ()
    configuration: Texts = ()
    counterpart: Texts = ()
    workloads: Annotated[Texts, "workload"] = ()
    threads: Texts = ()
    metrics: Annotated[Texts, "metric"] = ()

    @classmethod
    def _parameters(cls) -> list[_Parameter]:
        return _parameters_of(cls)  # type: ignore[arg-type]  # mypy takes no class for hashable

    @classmethod
    def of(cls, query: QueryDict | str) -> Self:
        """Read the query of an address."""
        query = QueryDict(query) if isinstance(query, str) else query
        found: dict[str, Any] = {}
        for one in cls._parameters():
            texts = texts_of(query, one.name)
            if isinstance(one.default, tuple):
                found[one.field] = texts
            elif texts and (one.known is None or texts[-1] in one.known):
                found[one.field] = texts[-1]
        return cls(**found)

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Names and values, in one order for all pages, without what goes without saying."""
        found = ((one, getattr(self, one.field)) for one in self._parameters())
        return [
            (one.name, text)
            for one, value in found
            if value != one.default
            for text in ([value] if isinstance(value, str) else value)
            if text
        ]

    def __str__(self) -> str:
        return urlencode(self.parameters)

    def url(self, project: "Project", **changes: Any) -> str:
        """Return the address of the page, with some fields changed."""
        address, query = _path(self.page, project.slug), str(replace(self, **changes) if changes else self)
        return f"{address}?{query}" if query else address

    def absolute(self, slug: str) -> str:
        """Return the whole address of the page."""
        return f"{settings.SITE_URL}{_path(self.page, slug)}?{self}"

    def numbers(self, project: "Project", api: str, **more: str) -> str:
        """Return the address of the same numbers in the API, where workloads go by their names."""
        parameters = [
            ("project", project.slug),
            *self._sides,
            *(("workload", text) for text in self.workloads),
            *(("threads", text) for text in self.threads),
            *more.items(),
        ]
        return f"{reverse(f'api:{api}')}?{urlencode([one for one in parameters if one[1]])}"

    @property
    def _sides(self) -> list[tuple[str, str]]:
        """The sides of a comparison and its metric as the API calls them."""
        if self.runs:
            return [("run", text) for text in self.runs[:2]]
        base = self.base or next(iter(self.versions), "")
        others = [self.against] if self.against else [text for text in self.versions if text != base]
        against = [("against", text) for text in others or self.versions]
        return [*(("metric", text) for text in self.metrics), ("base", base), *against]

    def without(self, name: str) -> Self:
        """Return the query without a parameter."""
        defaults: dict[str, Any] = {one.field: one.default for one in self._parameters() if one.name == name}
        return replace(self, **defaults)

    def kept(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return what a form with fields of these ``names`` keeps: what is no side and no place."""
        left = {*names, "v", "base", "against", "run", "series", *PLACE}
        return [(name, text) for name, text in self.parameters if name not in left]

    @property
    def place(self) -> dict[str, Any]:
        """The parts of a place that are named."""
        return {name: texts for name in PLACE if (texts := getattr(self, name))}

    @property
    def thread_counts(self) -> list[int | None]:
        """The thread counts in order, None last; what is no number is left out."""
        counts = sorted({count for text in self.threads if (count := whole_number(text)) is not None})
        return [*counts, None] if NOTHING in self.threads else [*counts]

    def of_page(self, there: type[Q]) -> Q:
        """Return the same selection on another page, without what only this page knows."""
        columns, base = self.versions, self.base
        base_id, of_sweep = ColumnId.of(base), self.page == SweepQuery.page
        if base_id is None or (of_sweep and base_id.hardware is None):
            # A baseline of a branch, or a value of a setting.
            base = ""
        if of_sweep and there.page != self.page:
            # There a version is meant wherever it was measured; the other pages would have to ask where.
            columns = tuple(text for text in columns if "." in text)
        if self.page == PairQuery.page:
            sides = tuple(text for text in (base, self.against) if text)
            if not {*sides} <= {*columns}:
                columns, base = sides, sides[0]
        against = ""
        if there.page == PairQuery.page:
            # The reference, or the oldest, against the newest of the others.
            base = base or next(iter(columns), "")
            others = [text for text in columns if text != base]
            against = others[-1] if others else ""
            columns = columns if len(columns) > len([text for text in (base, against) if text]) else ()
        return there(
            versions=columns,
            base=base,
            against=against,
            workloads=self.workloads,
            threads=self.threads,
            metrics=self.metrics,
            **self.place,
        )


@dataclass(frozen=True, kw_only=True)
class OverviewQuery(ViewQuery):
    page = "overview"

    show: str = ""
    open: Texts = ()
    rows: Literal["", "all"] = ""


@dataclass(frozen=True, kw_only=True)
class MatrixQuery(ViewQuery):
    """``open`` are ids of workloads, or ``all``, or ``each``; ``until`` is the last night."""

    page = "matrix"

    over: Literal["", "versions", "nights"] = ""
    show: str = ""
    find: str = ""
    until: str = ""
    values: Literal["relative", "absolute", "both"] = "relative"
    relative_to: Literal["base", "previous"] = "base"
    sort: Literal["name", "last", "worst"] = "name"
    rows: Literal["grouped", "flat", "groups"] = "grouped"
    changed: Literal["", "1"] = ""
    colours: Literal["certain", "size"] = "certain"
    charts: Literal["", "percentiles"] = ""
    operation: str = ""
    drawn: Literal["", "relative"] = ""
    axis: Literal["", "linear", "log"] = ""
    open: Texts = ()
    format: Literal["", "csv"] = ""

    @property
    def _sides(self) -> list[tuple[str, str]]:
        return [*super()._sides, ("relative_to", "" if self.relative_to == "base" else self.relative_to)]


@dataclass(frozen=True, kw_only=True)
class RowsQuery(ViewQuery):
    """The query of a page that became rows of the matrix: articles and embeds show it still."""

    page = "compare"

    values: Literal["", "relative"] = ""
    axis: Literal["", "linear", "log"] = ""
    operation: str = ""
    fewest: Annotated[str, "from"] = ""
    most: Annotated[str, "to"] = ""

    @property
    def _sides(self) -> list[tuple[str, str]]:
        return [*super()._sides, ("from", self.fewest), ("to", self.most)]


@dataclass(frozen=True, kw_only=True)
class PairQuery(ViewQuery):
    page = "pair"

    rows: Literal["", "all"] = ""


@dataclass(frozen=True, kw_only=True)
class SweepQuery(ViewQuery):
    """One ``setting``, the key of a factor, of one version; ``only`` are conditions as ``key=value``.

    ``values`` ``hidden`` leaves out all absolute figures.
    """

    page = "sweep"

    setting: str = ""
    only: Annotated[Texts, "with"] = ()
    x: Literal["", "value", "threads"] = ""
    values: Literal["", "relative", "hidden"] = ""
    axis: Literal["", "linear", "log"] = ""

    @property
    def _sides(self) -> list[tuple[str, str]]:
        return [
            ("subject", next(iter(self.versions), "")),
            ("setting", self.setting),
            ("base", self.base),
            *(("metric", text) for text in self.metrics),
            *(("hardware", text) for text in self.hardware),
            *(("with", text) for text in self.only),
            ("values", self.values if self.values == "hidden" else ""),
        ]


@dataclass(frozen=True, kw_only=True)
class HistoryQuery(ViewQuery):
    """An empty field leaves the choice to the lines. ``open`` is a series of the workload drawn large.

    ``everywhere`` asks for all places; without any choice it would be where was measured last.
    """

    page = "history"

    everywhere: Annotated[Literal["", "any"], "place"] = ""
    x: Literal["versions", "time"] = "versions"
    scale: Literal["", "linear", "log"] = ""
    relative: Literal["", "0", "1"] = ""
    control: Literal["", "1"] = ""
    charts: Literal["", "small"] = ""
    open: str = ""


@dataclass(frozen=True, kw_only=True)
class IncidentsQuery(ViewQuery):
    page = "incidents"

    tab: str = ""
    state: Texts = ()
    status: Texts = ()
    kind: Texts = ()
    assignee: str = ""


def history_of(*series: int) -> HistoryQuery:
    return HistoryQuery(series=tuple(map(str, series)))


_QUERIES: Final = (OverviewQuery, MatrixQuery, PairQuery, SweepQuery, HistoryQuery)
QUERIES: Final[dict[str, type[ViewQuery]]] = {one.page: one for one in _QUERIES}
"""The pages that share a selection, by their names."""
