"""The next steps after an upload: pages that show its runs, and what would be needed for others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.db.models import QuerySet

from benchdash.accounts.models import Project
from benchdash.dashboard.compare.selection import MAX_COLUMNS
from benchdash.dashboard.shell.navigation import Link, page_url
from benchdash.dashboard.shell.numbers import count
from benchdash.regressions.comparison.columns import Column, names, short_id
from benchdash.regressions.next_steps import Outlook, outlook_of
from benchdash.regressions.sweeps.subjects import subject_id
from benchdash.results.models import DEFAULT_CONFIGURATION, Run

# An address that names more workloads than this is long, and few of them are seen at once.
_MAX_NAMED: Final = 12
# In an address of History: no branch, no build, no counterpart.
_NONE: Final = "none"


@dataclass(frozen=True)
class NextSteps:
    """``links`` lead to pages that show the runs, the most telling first.

    ``needed`` are sentences that say what other pages would need.
    """

    links: Sequence[Link]
    needed: Sequence[str]

    @property
    def first(self) -> Link:
        return self.links[0]


def next_steps(project: Project, runs: QuerySet[Run]) -> NextSteps | None:
    """Return what runs of the project lead to; None where none of them counts."""
    outlook = outlook_of(runs)
    return None if outlook is None else NextSteps(_links(project, outlook), list(_needed(outlook)))


def _links(project: Project, outlook: Outlook) -> list[Link]:
    """Order them as a beginner would want them: a chart that says most comes first."""
    links = []
    if curves := outlook.curves:
        several = len(curves) > 1 or len(outlook.workloads) > 1
        address = _rows_url(project, outlook, curves)
        links.append(Link("See the curves" if several else "See the curve", address))
    if outlook.has_history:
        links.append(Link("See the history", _history_url(project, outlook)))
    if outlook.varies:
        one = outlook.newest
        subject = subject_id(one.version.pk, one.branch, one.counterpart)
        links.append(Link("Compare the settings", page_url("sweep", project, v=subject)))
    if neighbour := outlook.neighbour:
        beside = [neighbour, outlook.newest]
        links.append(Link(f"Compare with {names(beside)[0]}", _rows_url(project, outlook, beside)))
    elif len(outlook.columns) > 1:
        columns = outlook.columns
        what = " with ".join(names(columns)) if len(columns) == 2 else f"the {count(len(columns))} versions"
        links.append(Link(f"Compare {what}", _rows_url(project, outlook, columns)))
    if outlook.run is not None:
        # Its chart is far down, below what was measured in numbers.
        links.append(Link("See the run", f"{page_url('run', project, outlook.run)}#while-it-ran"))
    elif not links:
        links.append(Link("See the figures", _rows_url(project, outlook, outlook.columns)))
    return links


def _rows_url(project: Project, outlook: Outlook, columns: Sequence[Column]) -> str:
    """Return the address of a matrix of some versions, the oldest the reference, with open rows."""
    ids = [short_id(column) for column in columns[-MAX_COLUMNS:]]
    workloads = _workloads(outlook)
    query = [*(("v", one) for one in ids), ("base", ids[0]), ("over", "versions"), *workloads]
    query += [("open", pk) for _, pk in workloads] or [("open", "all")]
    return f"{page_url('matrix', project)}?{urlencode(query)}"


def _history_url(project: Project, outlook: Outlook) -> str:
    one = outlook.newest
    place = {
        "product": one.version.product.name,
        "build": one.version.build,
        "branch": one.branch,
        "hardware": one.hardware,
        "configuration": one.configuration,
        "counterpart": one.counterpart,
    }
    query = [*((name, text or _NONE) for name, text in place.items()), *_workloads(outlook)]
    return f"{page_url('history', project)}?{urlencode(query)}"


def _workloads(outlook: Outlook) -> list[tuple[str, str]]:
    ids = [("workload", str(pk)) for pk in outlook.workloads]
    return ids if len(ids) <= _MAX_NAMED else []


def _needed(outlook: Outlook) -> Iterator[str]:
    one = outlook.newest
    if not outlook.threads_are_known:
        yield ("Nobody said how many threads there were, so there is no curve: say it in the field threads.")
    elif not outlook.curves:
        yield f"A curve needs one workload of {one.version} at another number of threads."
    if not outlook.has_history:
        what = f"{one.version.product.name} on {one.hardware}"
        if one.configuration != DEFAULT_CONFIGURATION:
            what += f" with the configuration {one.configuration}"
        yield f"A comparison and a history need another version of {what}, measured with the same workload."
