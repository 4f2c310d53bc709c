"""What the address of the compare page chooses, and what is chosen where it does not say."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.columns import meant_by, short_id
from benchdash.dashboard.places import Place, recent_use
from benchdash.regressions.comparison import Column

# At first, so many of the newest versions.
AT_FIRST: Final = 6
MOST_COLUMNS: Final = 40
UNSAID_THREADS: Final = "none"
SCALES: Final = ("linear", "log")


@dataclass(frozen=True)
class Columns:
    """``chosen`` are in the order of versions, with the base among them, or empty.

    ``gone`` are ids in the address that mean nothing here; ``unclear`` are those that mean several columns,
    with these; ``left_out`` is how many were chosen beyond what a page can hold.
    """

    chosen: tuple[Column, ...] = ()
    base: Column | None = None
    gone: tuple[str, ...] = ()
    unclear: tuple[tuple[str, tuple[Column, ...]], ...] = ()
    left_out: int = 0

    @property
    def others(self) -> list[Column]:
        return [column for column in self.chosen if column != self.base]


@dataclass(frozen=True)
class View:
    """How the numbers are drawn. ``scale`` is ``linear``, ``log``, or empty: as the numbers need it."""

    relative: bool = False
    scale: str = ""

    @property
    def kept(self) -> list[tuple[str, str]]:
        """As query parameters, nothing for what is so by itself."""
        said = [("values", "relative" if self.relative else ""), ("axis", self.scale)]
        return [(name, value) for name, value in said if value]


def read_columns(
    query: QueryDict, available: Sequence[Column], project: Project, *, at_first: int = AT_FIRST
) -> Columns:
    """The columns that ``v`` and ``base`` choose. An address that chooses none gets the newest versions."""
    asked = list(dict.fromkeys(text for text in [*query.getlist("v"), query.get("base", "")] if text))
    if not asked:
        chosen = newest_columns(available, project)[-at_first:]
        return Columns(chosen=tuple(chosen), base=chosen[0])
    meant = {text: meant_by(text, available) for text in asked}
    wanted = {
        columns[0].key for text, columns in meant.items() if len(columns) == 1 and text in query.getlist("v")
    }
    base = meant.get(query.get("base", ""), [])
    # Without any other choice the base stands alone.
    if not wanted and len(base) == 1:
        wanted = {base[0].key}
    in_order = [column for column in available if column.key in wanted]
    chosen = in_order[:MOST_COLUMNS]
    return Columns(
        chosen=tuple(chosen),
        base=base[0] if len(base) == 1 and base[0] in chosen else next(iter(chosen), None),
        gone=tuple(text for text, columns in meant.items() if not columns),
        unclear=tuple((text, tuple(columns)) for text, columns in meant.items() if len(columns) > 1),
        left_out=len(in_order) - len(chosen),
    )


def newest_columns(available: Sequence[Column], project: Project) -> list[Column]:
    """The newest versions of the product measured last, at the place where it is measured most.

    Where it has one version there, the versions of other products there stand beside it.
    """
    offered = Counter(map(Place.of, available))
    use = {place: runs for place, runs in recent_use(project).items() if place in offered} or offered
    product = next(iter(use)).product
    of_product = [place for place in use if place.product == product]
    releases = [place for place in of_product if not place.branch]
    place = max(releases or of_product, key=use.__getitem__)
    at_place = [column for column in available if Place.of(column) == place]
    if len(at_place) == 1:
        at_place = [column for column in available if _are_neighbours(column, at_place[0])]
    return at_place


def _are_neighbours(column: Column, other: Column) -> bool:
    return (column.branch, column.hardware, column.configuration, column.counterpart) == (
        other.branch,
        other.hardware,
        other.configuration,
        other.counterpart,
    )


@dataclass(frozen=True)
class Choice:
    """All that an address chooses; empty metrics, workloads (their ids) or threads were not chosen."""

    columns: Columns
    metrics: Sequence[str]
    workloads: Sequence[str]
    threads: Sequence[int | None]
    view: View

    def address(self, path: str, **changes: str | Sequence[str]) -> str:
        """The address of this choice, with some parameters changed; an empty one goes."""
        base = self.columns.base
        parameters: dict[str, str | Sequence[str]] = {
            "v": [short_id(column) for column in self.columns.chosen],
            "base": short_id(base) if base else "",
            "metric": self.metrics,
            "workload": self.workloads,
            "threads": threads_texts(self.threads),
            **dict(self.view.kept),
            **changes,
        }
        return address_of(path, parameters)


def address_of(path: str, parameters: Mapping[str, str | Sequence[str]]) -> str:
    """With these parameters in its query; an empty one is left out."""
    said = [
        (name, text)
        for name, value in parameters.items()
        for text in ([value] if isinstance(value, str) else value)
        if text
    ]
    return f"{path}?{urlencode(said)}"


def read_choice(query: QueryDict, columns: Columns) -> Choice:
    return Choice(
        columns=columns,
        metrics=list(dict.fromkeys(query.getlist("metric"))),
        workloads=list(dict.fromkeys(query.getlist("workload"))),
        threads=read_threads(query),
        view=_read_view(query),
    )


def threads_texts(threads: Iterable[int | None]) -> list[str]:
    return [UNSAID_THREADS if count is None else str(count) for count in threads]


def read_threads(query: QueryDict) -> list[int | None]:
    """In order, None last; what is no thread count is left out."""
    texts = query.getlist("threads")
    numbers = [text for text in texts if text.isascii() and text.isdigit() and len(text) < 10]
    counts = sorted({int(text) for text in numbers})
    return [*counts, None] if UNSAID_THREADS in texts else [*counts]


def _read_view(query: QueryDict) -> View:
    scale = query.get("axis", "")
    return View(relative=query.get("values") == "relative", scale=scale if scale in SCALES else "")
