"""A comparison of two sides in words: in one or two sentences, and as Markdown for a ticket.

Both are made from its figures and from nothing else.

A sentence claims only what verdicts support. A change of the geometric mean is given where that has a certain
verdict and differs by more than what counts as the same. Else the significant rows are counted, or nothing
stands out.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.comparability import SingleSessions, row_words
from benchdash.regressions.comparison.markdown_text import plain, table_lines
from benchdash.regressions.comparison.pairs import Known, Pair, side_names
from benchdash.regressions.comparison.rows import Row, geometric_mean, have_two_directions
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.verdict_words import (
    counts_in_words,
    is_certain,
    is_likely,
    session_count,
    short_words,
    side_of,
    within,
    words,
)
from benchdash.regressions.comparison.verdicts import of_table
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.metrics import is_speed, main_metric, telling
from benchdash.results.readings import HIGHER, LOWER, UNKNOWN, Direction
from benchdash.results.wording import (
    NO_BREAK,
    NOTHING,
    change,
    count,
    counted,
    listed,
    metric_name,
    number,
    p_value,
    unit_words,
)

_MAX_ROWS: Final = 60
_MAX_DIFFERENCES: Final = 30
# Workloads, and thread counts of each, that a sentence names.
_MAX_NAMED: Final = 2
_MAX_THREADS: Final = 4
# Only the first of these that was measured is mentioned.
_RESPONSE_TIMES: Final = {
    "latency_p99": "99th percentile of response time",
    "latency_p95": "95th percentile of response time",
    "latency_avg": "average response time",
}
_SERVER_CPU, _CPU, _SWITCHES = "server_cpu_per_op", "cpu_per_op", "cs_per_op"
_COSTS: Final = {
    _SERVER_CPU: ("spends", "server CPU"),
    _CPU: ("spends", "CPU"),
    "cpu_share_per_op": ("spends", "of all CPUs"),
    _SWITCHES: ("makes", "context switches"),
    "read_kb_per_op": ("reads", ""),
    "write_kb_per_op": ("writes", ""),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """The rows of one metric summed up; ``verdict`` is that of their mean.

    ``rows`` are those that were compared, ``coverage`` says of how many of which ``noun``. ``comparisons``
    belong to them and ``counts`` has their verdicts. ``change`` is that of their geometric mean, None where
    they have none. ``is_of_speeds``: rows differ in direction, and it is a mean of speeds.
    """

    metric: str
    rows: tuple[Row, ...]
    coverage: str
    noun: str
    comparisons: tuple[Comparison, ...]
    change: float | None
    direction: Direction
    is_of_speeds: bool
    counts: Mapping[str, int]
    margin: float
    verdict: str

    @classmethod
    def of(cls, table: ComparisonTable[Column]) -> "Claim":
        rows = tuple(row for row in table.rows if row.comparisons[0] and row.comparisons[0].ratio)
        comparisons = tuple(one for row in rows if (one := row.comparisons[0]))
        is_of_speeds, mean = have_two_directions(rows), geometric_mean(rows, 0)
        return cls(
            metric=table.metric,
            rows=rows,
            coverage=table.mean.coverage(0),
            noun=table.mean.noun,
            comparisons=comparisons,
            change=mean - 1 if mean else None,
            direction=HIGHER if is_of_speeds or not rows else rows[0].direction,
            is_of_speeds=is_of_speeds,
            counts=Counter(str(one.verdict) for one in comparisons),
            margin=table.margin,
            verdict=of_table(table.rows, 0, margin=table.margin),
        )

    @property
    def significant(self) -> int:
        return self.counts.get("better", 0) + self.counts.get("worse", 0)

    @property
    def likely(self) -> int:
        return self.counts.get("likely_better", 0) + self.counts.get("likely_worse", 0)

    @property
    def words(self) -> str:
        """``5 slower, 7 not enough to tell``."""
        return counts_in_words((one.verdict for one in self.comparisons), self.metric, self.direction)

    @property
    def is_clear(self) -> bool:
        return is_certain(self.verdict)

    @property
    def is_small(self) -> bool:
        """Tell whether the mean of several rows hardly changes, though one of them certainly does."""
        return len(self.rows) > 1 and (self.change is None or abs(self.change) < self.margin)


def summary_of(pair: Pair) -> str:
    """Say in one or two sentences how the second side does against the first."""
    return summary(pair.tables, *side_names(pair), are_runs=pair.base.run is not None)


def summary(
    tables: Sequence[ComparisonTable[Column]], base: str, other: str, *, are_runs: bool = False
) -> str:
    """Say in one or two sentences how ``other`` does against ``base``, as the sides are called.

    ``11.4.5 is 8.4 % slower than 11.4.4 (geometric mean of 12 workloads; 5 significantly worse, none
    better) and spends 12 % more server CPU per operation.`` Where each side has one session and nothing tells
    how much sessions scatter, it says so; ``are_runs``: the sides are single runs.
    """
    claims = {table.metric: claim for table in tables if (claim := Claim.of(table)).rows}
    if not claims:
        return f"{base} and {other} have nothing in common that was measured."
    main = claims[main_metric({metric: len(claim.rows) for metric, claim in claims.items()})]
    single = SingleSessions.of(main.rows, [base, other])
    if single.is_everything and not main.significant:
        which = "with assumed starts" if single.assumed else "in one session each"
        said = f"{_measured(main, base, other)}, but {which}: {single.reason}."
        return said if are_runs else f"{said} {single.remedy}".rstrip()
    first, costs = _main_words(main, base, other), _cost_words(claims)
    if main.is_clear and costs:
        is_dearer = any(claims[metric].verdict == "worse" for metric in claims if metric in _COSTS)
        joint = "and" if is_dearer == (main.verdict == "worse") else "but"
        return f"{first} {joint} {costs}."
    sentences = [f"{first}."]
    if not main.is_clear and (times := _time_words(claims)):
        sentences.append(f"Its {times}.")
    if costs:
        sentences.append(f"{other} {costs}.")
    return " ".join(sentences)


def column_summary(table: ComparisonTable[Column], at: int, base: str, other: str) -> str:
    """Say the same of one column of a table, whose base and column are called so."""
    rows = tuple(
        replace(row, cells=(row.cells[at],), comparisons=(row.comparisons[at],))
        for row in table.rows
        if row.base or row.cells[at]
    )
    column = replace(table, columns=(table.columns[at],), rows=rows)
    return summary([column], base, other, are_runs=True)


def _measured(claim: Claim, base: str, other: str) -> str:
    """``18.4 measures −54.0 % against 16.15 in transactions per second (14 workloads; 9 likely slower)``."""
    if claim.change is None:
        return f"{other} was measured against {base} ({_where(claim)})"
    likely = _likely_words(claim)
    what = "speed" if claim.is_of_speeds else metric_name(claim.metric)
    if claim.direction == LOWER:
        what = f"{what}, lower is better"
    elif claim.direction == UNKNOWN:
        what = f"{what}; nobody has said which direction is better"
    return (
        f"{other} measures {_signed(claim.change)} against {base} in {what}"
        f" ({_mean(claim)}{f'; {likely}' if likely else ''})"
    )


def _main_words(claim: Claim, base: str, other: str) -> str:
    if claim.is_clear and claim.change is not None and not claim.is_small:
        size = _per_cent(claim.change)
        if not (claim.is_of_speeds or is_speed(claim.metric)):
            more = "more" if claim.change > 0 else "less"
            what = f"{metric_name(claim.metric)} than {base}, which is {claim.verdict}"
            than = f"{other} measures {size} {more} {what}"
        elif claim.direction == LOWER:
            than = f"{other} takes {size} {'longer' if claim.change > 0 else 'less time'} than {base}"
        else:
            than = f"{other} is {size} {'slower' if claim.verdict == 'worse' else 'faster'} than {base}"
        return f"{than} ({_evidence(claim)})"
    where = _where(claim)
    if claim.direction == UNKNOWN and claim.verdict != "same":
        return _measured(claim, base, other)
    if claim.verdict == "same":
        return f"No difference between {base} and {other} within {within(claim.margin)} ({where})"
    if claim.significant:
        return _counted(claim, base, other)
    if claim.likely:
        return f"{_measured(claim, base, other)}, which is no more than likely: one session says it"
    if claim.change is None or any(one.p is not None for one in claim.comparisons):
        return f"No difference between {base} and {other} stands out of the noise ({where})"
    measured = _measured(claim, base, other)
    return f"{measured}, but without repeats or a history nothing says how much of it is noise"


def _counted(claim: Claim, base: str, other: str) -> str:
    """``18.4 is faster than 13.23 in ro at 4 threads (+36.5 %) and slower in none of 4 workloads``."""
    likely = f"; {words}" if (words := _likely_words(claim)) else ""
    first, second = ("worse", "better") if claim.counts.get("worse") else ("better", "worse")
    than = f"{other} is {_word(claim, first)} than {base} in {_rows_of(claim, first)}"
    if claim.counts.get(second):
        return f"{than} and {_word(claim, second)} in {_rows_of(claim, second)}, of {_where(claim)}{likely}"
    return f"{than} and {_word(claim, second)} in none of {_where(claim)}{likely}"


def _word(claim: Claim, side: str) -> str:
    return short_words(side, "tps" if claim.is_of_speeds else claim.metric, claim.direction)


def _rows_of(claim: Claim, verdict: str) -> str:
    """Name rows and by how much they changed: ``ro at 4 and 16 threads (+2.0 to +9.0 %)``."""
    threads: dict[str, list[int | None]] = defaultdict(list)
    changes: list[float] = []
    for row, comparison in zip(claim.rows, claim.comparisons, strict=True):
        if comparison.verdict == verdict and comparison.ratio:
            threads[row.workload].append(row.threads)
            is_inverted = claim.is_of_speeds and row.direction == LOWER
            changes.append((1 / comparison.ratio if is_inverted else comparison.ratio) - 1)
    all_threads = Counter(row.workload for row in claim.rows)
    named = [
        f"{workload}{_at(counts) if all_threads[workload] > 1 else ''}"
        for workload, counts in list(threads.items())[:_MAX_NAMED]
    ]
    if more := len(threads) - len(named):
        named.append(counted(more, "more workload"))
    least, most = (_signed(end) for end in (min(changes, key=abs), max(changes, key=abs)))
    size = most if least == most else f"{least.removesuffix(' %')} to {most}"
    return f"{listed(named)} ({size})"


def _at(threads: Sequence[int | None]) -> str:
    """`` at 4 and 16 threads``; of many only how many."""
    known = [count(one) for one in threads if one is not None]
    if len(known) < len(threads) or len(known) > _MAX_THREADS:
        return f" at {counted(len(threads), 'thread count')}"
    return f" at {listed(known)} thread{'' if known == ['1'] else 's'}"


def _likely_words(claim: Claim) -> str:
    """``9 likely slower``."""
    return counts_in_words((one.verdict for one in claim.comparisons if is_likely(one.verdict)), claim.metric)


def _mean(claim: Claim) -> str:
    """``geometric mean of 14 workloads``; of one row its name."""
    if len(claim.rows) == 1:
        return _where(claim)
    where = _where(claim, claim.coverage)
    return f"geometric mean of {'the speeds of ' if claim.is_of_speeds else ''}{where}"


def _evidence(claim: Claim) -> str:
    if len(claim.rows) == 1:
        [one] = claim.comparisons
        if one.low is None or one.high is None:
            return _where(claim)
        return f"{_where(claim)}, 95 % interval {_signed(one.low - 1)} to {_signed(one.high - 1)}"
    found = claim.counts.get(claim.verdict, 0)
    opposite = "better" if claim.verdict == "worse" else "worse"
    return f"{_mean(claim)}; {found} significantly {claim.verdict}, none {opposite}"


def _where(claim: Claim, coverage: str = "") -> str:
    """``12 workloads``, ``7 thread counts of oltp_read_only``, ``oltp_read_only, 4 threads``."""
    if len(claim.rows) == 1:
        return row_words((claim.rows[0].workload, claim.rows[0].threads))
    coverage = coverage or counted(len(claim.rows), claim.noun)
    workloads = {row.workload for row in claim.rows}
    if claim.noun == "workload":
        return coverage
    return f"{coverage} of {workloads.pop() if len(workloads) == 1 else counted(len(workloads), 'workload')}"


def _time_words(claims: Mapping[str, Claim]) -> str:
    for metric in _RESPONSE_TIMES:
        claim = claims.get(metric)
        if claim and claim.is_clear and claim.change is not None:
            longer = "longer" if claim.change > 0 else "shorter"
            return f"{_RESPONSE_TIMES[metric]} is {_per_cent(claim.change)} {longer} ({_evidence(claim)})"
    return ""


def _cost_words(claims: Mapping[str, Claim]) -> str:
    """``spends 12 % more server CPU and makes 30 % more context switches per operation``."""
    clear = [metric for metric in _COSTS if metric in claims and claims[metric].is_clear]
    if _SERVER_CPU in clear and _CPU in clear:
        clear.remove(_CPU)
    said = [_cost(metric, claims[metric].change or 0) for metric in clear]
    if not said:
        return ""
    return f"{listed(said)} per operation"


def _cost(metric: str, change: float) -> str:
    verb, what = _COSTS[metric]
    less = "fewer" if metric == _SWITCHES else "less"
    return f"{verb} {_per_cent(change)} {'more' if change > 0 else less} {what}".rstrip()


def _per_cent(change: float) -> str:
    """``8.4 %``, ``12 %``: two digits say enough, but for the small ones."""
    size = round(100 * abs(change), 1)
    return f"{size:,.0f} %" if size >= 10 else f"{size:.1f} %"


def _signed(relative: float) -> str:
    return change(relative).replace(NO_BREAK, " ")


# --- Markdown ---------------------------------------------------------------------------------------------


def markdown(pair: Pair, *, url: str) -> str:
    """Summary, doubts, the most telling metrics with what is significant first, and what differs.

    ``url`` is the address of the page.
    """
    base, other = side_names(pair)
    parts = [
        f"**{plain(summary_of(pair))}**",
        "\n".join(f"- {plain(doubt.text)}" for doubt in pair.doubts),
        _table(pair.tables, base, other),
        _differences("Settings", pair.settings, base, other),
        _differences("Environment", pair.environment, base, other),
        _differences("Hardware", pair.hardware, base, other),
        f"<{url}>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(tables: Sequence[ComparisonTable[Column]], base: str, other: str) -> str:
    by_metric = {table.metric: table for table in tables}
    shown = telling({table.metric: len(table.rows) for table in tables}) if tables else []
    rows = [(by_metric[metric], row) for metric in shown for row in by_metric[metric].rows]
    # The order of metrics and rows stays among those of one rank.
    rows.sort(key=lambda one: _rank(one[1]))
    head = [
        "Workload",
        "Threads",
        "Metric",
        base,
        other,
        "Change",
        "95 % interval",
        "p",
        "Verdict",
        "n in sessions",
    ]
    lines = table_lines(head, (_row(table, row) for table, row in rows[:_MAX_ROWS]))
    more = len(rows) - _MAX_ROWS
    return "\n".join(lines) + (f"\n\n{more:,} more rows are on the page." if more > 0 else "")


def _rank(row: Row) -> tuple[int, float]:
    one = row.comparisons[0]
    if one is None or one.ratio is None or not side_of(one.verdict):
        return 2, 0.0
    return int(is_likely(one.verdict)), -abs(log(one.ratio))


def _row(table: ComparisonTable[Column], row: Row) -> list[str]:
    one, sides = row.comparisons[0], (row.base, row.cells[0])
    unit = unit_words(table.metric, row.unit)
    interval = ""
    if one and one.low is not None and one.high is not None:
        interval = f"{change(one.low - 1)} to {change(one.high - 1)}"
    return [
        row.workload,
        "" if row.threads is None else str(row.threads),
        metric_name(table.metric) + (f" ({unit})" if unit else ""),
        *(number(side.value) if side else NOTHING for side in sides),
        change(one.ratio - 1) if one and one.ratio else NOTHING,
        interval,
        p_value(one.p) if one else NOTHING,
        words(one.verdict, table.metric, direction=row.direction, margin=table.margin) if one else NOTHING,
        " / ".join(_count(side) for side in sides),
    ]


def _count(cell: Cell | None) -> str:
    """``12 in 3``: runs in so many sessions."""
    return f"{cell.n} in {session_count(cell)}" if cell else "0"


def _differences(what: str, known: Known, base: str, other: str) -> str:
    if not known.differences:
        return ""
    rows = ([one.name, one.before or "not set", one.after or "not set"] for one in known.differences)
    lines = table_lines([what, base, other], list(rows)[:_MAX_DIFFERENCES])
    more = len(known.differences) - _MAX_DIFFERENCES
    return "\n".join(lines) + (f"\n\n{more:,} more differ." if more > 0 else "")
