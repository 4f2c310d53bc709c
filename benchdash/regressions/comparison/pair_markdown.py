"""A pair as Markdown, to be pasted into a ticket."""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import Final

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.pair_words import summary
from benchdash.regressions.comparison.pairs import Known, Pair, side_names
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.results.metrics import telling
from benchdash.results.wording import NOTHING, change, metric_name, number, p_value, unit_words

_MAX_ROWS: Final = 60
_MAX_DIFFERENCES: Final = 30
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(pair: Pair, *, url: str) -> str:
    """Summary, doubts, the most telling metrics with what is significant first, and what differs.

    ``url`` is the address of the page.
    """
    base, other = side_names(pair)
    parts = [
        f"**{_plain(summary(pair.tables, base, other))}**",
        "\n".join(f"- {_plain(doubt.text)}" for doubt in pair.doubts),
        _table(pair.tables, base, other),
        _differences("Settings", pair.settings, base, other),
        _differences("Environment", pair.environment, base, other),
        _differences("Hardware", pair.hardware, base, other),
        f"<{url}>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(tables: Sequence[ComparisonTable], base: str, other: str) -> str:
    by_metric = {table.metric: table for table in tables}
    shown = telling({table.metric: len(table.rows) for table in tables}) if tables else []
    rows = [(by_metric[metric], row) for metric in shown for row in by_metric[metric].rows]
    # The order of metrics and rows stays among those of one rank.
    rows.sort(key=lambda one: _rank(one[1]))
    head = ["Workload", "Threads", "Metric", base, other, "Change", "95 % interval", "p", "Verdict", "n"]
    lines = _lines(head, (_row(table, row) for table, row in rows[:_MAX_ROWS]))
    more = len(rows) - _MAX_ROWS
    return "\n".join(lines) + (f"\n\n{more:,} more rows are on the page." if more > 0 else "")


def _rank(row: Row) -> tuple[bool, float]:
    one = row.comparisons[0]
    if one is None or one.ratio is None or one.verdict not in {"worse", "better"}:
        return True, 0.0
    return False, -abs(log(one.ratio))


def _row(table: ComparisonTable, row: Row) -> list[str]:
    one, sides = row.comparisons[0], (row.base, row.cells[0])
    unit = unit_words(table.metric, row.unit)
    interval = (
        ""
        if one is None or one.low is None or one.high is None
        else (f"{change(one.low - 1)} to {change(one.high - 1)}")
    )
    return [
        row.workload,
        "" if row.threads is None else str(row.threads),
        metric_name(table.metric) + (f" ({unit})" if unit else ""),
        *(number(side.value) if side else NOTHING for side in sides),
        change(one.ratio - 1) if one and one.ratio else NOTHING,
        interval,
        p_value(one.p) if one else NOTHING,
        one.verdict if one else NOTHING,
        " / ".join(_count(side) for side in sides),
    ]


def _count(cell: Cell | None) -> str:
    return str(cell.n) if cell else "0"


def _differences(what: str, known: Known, base: str, other: str) -> str:
    if not known.differences:
        return ""
    rows = ([one.name, one.before or "not set", one.after or "not set"] for one in known.differences)
    lines = _lines([what, base, other], list(rows)[:_MAX_DIFFERENCES])
    more = len(known.differences) - _MAX_DIFFERENCES
    return "\n".join(lines) + (f"\n\n{more:,} more differ." if more > 0 else "")


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _line(list(map(_plain, head)))
    yield _line(["---"] * len(head))
    for row in rows:
        yield _line(list(map(_plain, row)))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """One line in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
