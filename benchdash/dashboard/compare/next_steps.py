"""The end of an upload: all that it holds in one sentence, and the one page that shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId, HistoryQuery, MatrixQuery, SweepQuery, place_fields
from benchdash.dashboard.compare.selection import MAX_COLUMNS
from benchdash.dashboard.shell.navigation import Link, page_url
from benchdash.dashboard.shell.numbers import count, counted
from benchdash.regressions.comparison.columns import Column, names, short_id
from benchdash.regressions.comparison.default_columns import PlaceNames
from benchdash.regressions.next_steps import Outlook, outlook_of
from benchdash.results.models import DEFAULT_CONFIGURATION, Run
from benchdash.results.wording import listed

# An address that names more workloads than this is long, and few of them are seen at once.
_MAX_NAMED: Final = 12
_MAX_IN_SENTENCE: Final = 3


@dataclass(frozen=True)
class NextStep:
    """A sentence that sums up some runs, and a link to the page that shows them all.

    ``needed`` are sentences that say what a fuller page would need.
    """

    sentence: str
    link: Link
    needed: Sequence[str]


def next_step(project: Project, runs: QuerySet[Run]) -> NextStep | None:
    """Return what runs of the project lead to; None where none of them counts."""
    outlook = outlook_of(runs)
    if outlook is None:
        return None
    return NextStep(_sentence(outlook), _link(project, outlook), list(_needed(outlook)))


def _sentence(outlook: Outlook) -> str:
    """``7 runs, 1 curve: oltp_read_only at 1 to 64 threads, PostgreSQL 16.4 on bench-07``."""
    numbers = [counted(outlook.runs, "run"), counted(outlook.curves, "curve") if outlook.curves else ""]
    products = {column.version.product.name: None for column in outlook.columns}
    product = f"{next(iter(products))} " if len(products) == 1 else ""
    # A machine is named once, and not with each version.
    versions = dict.fromkeys(names([column._replace(hardware="") for column in outlook.columns]))
    machines = dict.fromkeys(column.hardware for column in outlook.columns)
    workloads = _some([*outlook.workloads.values()], "workload")
    return (
        f"{', '.join(filter(None, numbers))}: {workloads}{_at_threads(outlook)}, "
        f"{product}{_some([*versions], 'version')} on {_some([*machines], 'machine')}"
    )


def _at_threads(outlook: Outlook) -> str:
    if outlook.threads is None:
        return ""
    low, high = outlook.threads
    return f" at {counted(high, 'thread')}" if low == high else f" at {count(low)} to {count(high)} threads"


def _some(texts: Sequence[str], noun: str) -> str:
    if len(texts) > _MAX_IN_SENTENCE:
        shown = _MAX_IN_SENTENCE - 1
        texts = [*texts[:shown], counted(len(texts) - shown, f"more {noun}")]
    return listed(texts)


def _link(project: Project, outlook: Outlook) -> Link:
    """Link the page that shows all runs, beside the version before them where there is one."""
    several = len(outlook.columns) > 1
    if several and outlook.are_of_one_place and (outlook.newest.branch or len(outlook.columns) > MAX_COLUMNS):
        return Link("Open the history", _history_url(project, outlook))
    if outlook.neighbour:
        beside = [outlook.neighbour, outlook.newest]
        return Link(f"Compare with {names(beside)[0]}", _rows_url(project, outlook, beside))
    if outlook.run is not None and not outlook.curves:
        return Link("Open the run", f"{page_url('run', project, outlook.run)}#while-it-ran")
    if outlook.varies and not outlook.curves:
        one = outlook.newest
        subject = ColumnId(one.version.pk, branch=one.branch, counterpart=one.counterpart)
        return Link("Open the sweep", SweepQuery(versions=(str(subject),)).url(project))
    if outlook.curves:
        label = "Open the curve" if outlook.curves == 1 else f"Open the {count(outlook.curves)} curves"
    else:
        label = "Open the comparison" if several else "Open the figures"
    return Link(label, _rows_url(project, outlook, outlook.columns))


def _rows_url(project: Project, outlook: Outlook, columns: Sequence[Column]) -> str:
    """Return the address of a matrix of some versions, the oldest the reference, with open rows."""
    ids = tuple(short_id(column) for column in columns[-MAX_COLUMNS:])
    workloads = _workloads(outlook)
    query = MatrixQuery(
        versions=ids, base=ids[0], over="versions", workloads=workloads, open=workloads or ("all",)
    )
    return query.url(project)


def _history_url(project: Project, outlook: Outlook) -> str:
    place = place_fields(PlaceNames.of(outlook.newest)._asdict())
    return HistoryQuery(**place, workloads=_workloads(outlook)).url(project)


def _workloads(outlook: Outlook) -> tuple[str, ...]:
    ids = tuple(map(str, outlook.workloads))
    return ids if len(ids) <= _MAX_NAMED else ()


def _needed(outlook: Outlook) -> Iterator[str]:
    one = outlook.newest
    if outlook.threads is None:
        yield ("Nobody said how many threads there were, so there is no curve: say it in the field threads.")
    elif not outlook.curves:
        yield f"A curve needs one workload of {one.version} at another number of threads."
    if len(outlook.columns) == 1 and outlook.neighbour is None:
        what = f"{one.version.product.name} on {one.hardware}"
        if one.configuration != DEFAULT_CONFIGURATION:
            what += f" with the configuration {one.configuration}"
        yield f"A comparison and a history need another version of {what}, measured with the same workload."
