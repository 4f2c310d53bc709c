"""The selection in the address of a page under Compare, and the default where it does not say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.compare.versions import meant_by
from benchdash.dashboard.shell.filters import FilterChip, unseen
from benchdash.dashboard.shell.selection import EMPTY, PLACE, whole_number
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.default_columns import PlaceNames, default_columns, newest_columns
from benchdash.results.versions import release_line

# Default number of versions.
DEFAULT_COLUMNS: Final = 6
MAX_COLUMNS: Final = 40
UNSAID_THREADS: Final = "none"
SCALES: Final = ("linear", "log")


@dataclass(frozen=True)
class ChosenColumns:
    """The chosen columns, in the order of versions, with the base among them, or none.

    ``gone`` are ids in the address that mean nothing here; ``unclear`` are those that mean several columns,
    with these; ``left_out`` is how many were chosen beyond what a page can hold.
    """

    chosen: tuple[Column, ...] = ()
    base: Column | None = None
    gone: tuple[str, ...] = ()
    unclear: tuple[tuple[str, tuple[Column, ...]], ...] = ()
    left_out: int = 0

    @property
    def machine(self) -> str:
        """The name of the machine, where there is only one."""
        machines = {column.hardware for column in self.chosen}
        return next(iter(machines)) if len(machines) == 1 else ""

    @property
    def others(self) -> list[Column]:
        return [column for column in self.chosen if column != self.base]


def read_columns(
    query: QueryDict, available: Sequence[Column], project: Project, *, at_first: int = DEFAULT_COLUMNS
) -> ChosenColumns:
    """Return the columns that ``v`` and ``base`` choose, the newest versions where they choose none."""
    asked = list(dict.fromkeys(text for text in [*query.getlist("v"), query.get("base", "")] if text))
    if not asked:
        chosen = default_columns(newest_columns(asked_place(query, available), project), at_first)
        return ChosenColumns(chosen=tuple(chosen), base=chosen[0])
    meant = {text: meant_by(text, available) for text in asked}
    wanted = {
        columns[0].key for text, columns in meant.items() if len(columns) == 1 and text in query.getlist("v")
    }
    base = meant.get(query.get("base", ""), [])
    # Without any other choice the base stands alone.
    if not wanted and len(base) == 1:
        wanted = {base[0].key}
    in_order = [column for column in available if column.key in wanted]
    chosen = in_order[:MAX_COLUMNS]
    return ChosenColumns(
        chosen=tuple(chosen),
        base=base[0] if len(base) == 1 and base[0] in chosen else next(iter(chosen), None),
        gone=tuple(text for text, columns in meant.items() if not columns),
        unclear=tuple((text, tuple(columns)) for text, columns in meant.items() if len(columns) > 1),
        left_out=len(in_order) - len(chosen),
    )


def asked_place(query: QueryDict, available: Sequence[Column]) -> Sequence[Column]:
    """Return the columns at the place that an address names, as far as there are any."""
    for name in PLACE:
        asked = {"" if text in EMPTY else text for text in query.getlist(name) if text}
        if asked:
            found = [column for column in available if _part_of_place(column, name) in asked]
            available = found or available
    return available


def _part_of_place(column: Column, name: str) -> str:
    if name == "line":
        return release_line(column.version.product.name, column.version.version)
    return str(getattr(PlaceNames.of(column), name))


def place_checks(query: QueryDict, available: Sequence[Column]) -> list[FilterChip]:
    """Return chips that check the place that an address names."""
    return [
        replace(
            unseen(name, sorted({_part_of_place(column, name) or "none" for column in available})), also=EMPTY
        )
        for name in PLACE
        if query.get(name)
    ]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The selection of a page under Compare; what is empty was not chosen. Workloads are ids or names."""

    metrics: Sequence[str] = ()
    workloads: Sequence[str] = ()
    threads: Sequence[int | None] = ()

    @property
    def versions(self) -> Mapping[str, str | Sequence[str]]:
        """Return query parameters: the versions and the reference, or what stands in their place."""
        raise NotImplementedError

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Return query parameters: the choices that no filter says."""
        return []

    def address(self, path: str, **changes: str | Sequence[str]) -> str:
        """Return the address of this selection with some parameters changed; empty ones are left out."""
        parameters = {
            **self.versions,
            "metric": self.metrics,
            "workload": self.workloads,
            "threads": threads_texts(self.threads),
            **dict(self.kept),
            **changes,
        }
        lists = [(name, [value] if isinstance(value, str) else value) for name, value in parameters.items()]
        return f"{path}?{urlencode([(name, text) for name, texts in lists for text in texts if text])}"


def workload_ids(texts: Iterable[str], workloads: Mapping[int, str]) -> list[str]:
    """Return ids for what an address says: ids, or the names that other pages use."""
    ids = {name: str(pk) for pk, name in workloads.items()}
    ids |= {pk: pk for pk in ids.values()}
    return list(dict.fromkeys(ids.get(text, text) for text in texts))


def read_measured(query: QueryDict) -> dict[str, Any]:
    """Read the metrics, workloads and threads of a selection."""
    return {
        "metrics": list(dict.fromkeys(query.getlist("metric"))),
        "workloads": list(dict.fromkeys(query.getlist("workload"))),
        "threads": read_threads(query),
    }


def is_log(scale: str) -> bool | None:
    return {"log": True, "linear": False}.get(scale)


def threads_texts(threads: Iterable[int | None]) -> list[str]:
    return [UNSAID_THREADS if count is None else str(count) for count in threads]


def one_known(query: QueryDict, name: str, known: Sequence[str]) -> str:
    """Return the value of a parameter if it is known, else nothing."""
    text = query.get(name, "")
    return text if text in known else ""


def read_threads(query: QueryDict) -> list[int | None]:
    """Return the thread counts in order, None last; anything else is left out."""
    texts = query.getlist("threads")
    counts = sorted({count for text in texts if (count := whole_number(text)) is not None})
    return [*counts, None] if UNSAID_THREADS in texts else [*counts]
