"""The tables of histories: rows of which a page has hundreds, written without templates, which take ten times
as long.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from django.utils.safestring import SafeString, mark_safe

from benchdash.accounts.models import Project
from benchdash.dashboard import numbers
from benchdash.dashboard.cells import badge, change_figure, exact
from benchdash.dashboard.histories import Change, Changes, Line, Row, changes_of
from benchdash.dashboard.navigation import page_url
from benchdash.regressions.models import ChangePoint
from benchdash.results.models import Series

_MOST_SWITCHES = 6


@dataclass(frozen=True)
class NamedLine:
    """A line in the table of what is shown. ``colour`` is a token of base.css; ``pair_url`` leads to the
    newest two groups side by side.
    """

    name: str
    line: Line
    colour: str = ""
    pair_url: str = ""


@dataclass(frozen=True)
class Links:
    """Where rows lead: addresses by id; ``compare`` is by change point, where its sides are two versions."""

    run: Callable[[int], str]
    incident: Callable[[int], str]
    series: Callable[[int], str]
    compare: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, compare: Mapping[int, str] | None = None) -> "Links":
        runs, incidents = page_url("runs", project), page_url("incidents", project)
        history = page_url("history", project)
        return cls(
            run=lambda pk: f"{runs}{pk}/",
            incident=lambda pk: f"{incidents}{pk}/",
            series=lambda pk: f"{history}?series={pk}",
            compare=compare or {},
        )


def group_rows(
    rows: Iterable[Row],
    lines: Sequence[NamedLine],
    links: Links,
    *,
    reasons: Mapping[int, str],
    is_relative: bool,
) -> SafeString:
    """A row for each group; ``lines`` are those of the chart, ``reasons`` why runs were excluded, by run."""
    named = {one.line.series.pk: _dotted(one) for one in lines} if len(lines) > 1 else {}
    return _safe(_group_row(row, named, links, reasons, is_relative=is_relative) for row in rows)


def line_rows(lines: Sequence[NamedLine], links: Links) -> SafeString:
    """A row for each line, with what it comes to."""
    changes = changes_of([named.line for named in lines])
    return _safe(_line_row(named, changes[named.line], links) for named in lines)


def _safe(rows: Iterable[str]) -> SafeString:
    return mark_safe("".join(rows))  # noqa: S308 - every part is escaped


# --- groups -----------------------------------------------------------------------------------------------


def _group_row(
    row: Row, named: Mapping[int, str], links: Links, reasons: Mapping[int, str], *, is_relative: bool
) -> str:
    point = row.point
    version = f' <span class="mono quiet">{escape(row.version)}</span>' if row.version else ""
    line = f"<td>{named[row.line.series.pk]}</td>" if named else ""
    share = f'<td class="number">{numbers.share(row.of_base)}</td>' if is_relative else ""
    return (
        f"<tr{_FADED if row.is_excluded else ''}>"
        f'<th scope="row"><a class="mono" href="{escape(links.run(point.run_id))}">{escape(row.name)}</a>'
        f"{version}</th>{line}"
        f'<td class="history-time" data-value="{point.time.isoformat()}">{exact(point.time)}</td>'
        f'<td class="number" data-value="{point.value}">{numbers.number(point.value)}</td>'
        f'<td class="number">{numbers.plus_minus(point.value, point.low, point.high)}</td>{share}'
        f'<td class="number">{numbers.count(point.n)}</td>'
        f'<td class="number">{numbers.change(row.change)}</td>'
        f'<td class="history-events">{_events(row, links, reasons)}</td></tr>\n'
    )


_FADED = ' class="is-faded"'


def _events(row: Row, links: Links, reasons: Mapping[int, str]) -> str:
    """What happened at a group."""
    parts = []
    if row.is_excluded:
        parts.append(f"{badge('excluded')} {escape(reasons.get(row.point.run_id) or '')}")
    if row.shift:
        parts.append(_shift(row.shift, row.line.series, links))
    if row.is_switch:
        words = ", ".join(
            f'<span class="mono">{escape(str(one))}</span>' for one in row.switches[:_MOST_SWITCHES]
        )
        more = len(row.switches) - _MOST_SWITCHES
        parts.append(
            f'<span class="history-switch">▲ {words or "configuration or environment changed"}'
            f"{f' and {more} more' if more > 0 else ''}</span>"
        )
    return "\n".join(parts)


def _shift(shift: ChangePoint, series: Series, links: Links) -> str:
    """A change point in a few words, which lead to its incident."""
    incident, compare = shift.incident_id, links.compare.get(shift.pk)
    return (
        f'<span class="history-shift">{badge(shift.state)} {change_figure(shift.change, series.direction)} '
        f"{numbers.number(shift.before)} → {numbers.number(shift.after)}"
        + (f', <a href="{escape(links.incident(incident))}">incident {incident}</a>' if incident else "")
        + (f', <a href="{escape(compare)}">compare</a>' if compare else "")
        + "</span>"
    )


# --- lines ------------------------------------------------------------------------------------------------


def _dotted(named: NamedLine) -> str:
    return f'<span class="named" style="--dot: {named.colour}">{escape(named.name)}</span>'


def _line_row(named: NamedLine, changes: Changes, links: Links) -> str:
    line, series = named.line, named.line.series
    dot = f'class="named" style="--dot: {named.colour}" ' if named.colour else ""
    return (
        f'<tr><th scope="row"><a {dot}href="{escape(links.series(series.pk))}">{escape(named.name)}</a></th>'
        f"{_state(named, changes, links) if line.newest else _NO_STATE}"
        f'<td class="number">{numbers.count(len(line.points))}</td>'
        f'<td class="number">{numbers.count(line.runs)}</td></tr>\n'
    )


_NO_STATE = '<td colspan="6" class="quiet">all runs are excluded</td>'


def _state(named: NamedLine, changes: Changes, links: Links) -> str:
    """How a line with points does now."""
    line, series, newest = named.line, named.line.series, named.line.points[-1]
    unit = escape(numbers.unit_words(series.metric, series.unit))
    previous = _change(changes.since_previous, series.direction)
    if changes.since_previous and named.pair_url:
        title = "The newest two groups side by side"
        previous = f'<a href="{escape(named.pair_url)}" title="{title}">{previous}</a>'
    last = _shift(line.last_shift, series, links) if line.last_shift else '<span class="quiet">none</span>'
    return (
        f'<td class="number" data-value="{newest.value}">{numbers.number(newest.value)} {unit}</td>'
        f'<td class="number">{numbers.plus_minus(newest.value, newest.low, newest.high)}</td>'
        f'<td class="number">{previous}</td>'
        f'<td class="number">{_change(changes.since_first, series.direction)}</td>'
        f'<td class="number">{numbers.share(line.noise)}</td>'
        f"<td>{last}</td>"
    )


def _change(change: Change | None, direction: str) -> str:
    return change_figure(change.change, direction, change.verdict) if change else "–"
