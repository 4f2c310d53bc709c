"""The time line of a run, its stalls, and other runs to lay over it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from benchdash.dashboard.pages.runs import figure as timeline
from benchdash.dashboard.pages.runs.details import RunDetails
from benchdash.dashboard.pages.runs.figure import MachineSamples, TimeLine
from benchdash.dashboard.shell import numbers
from benchdash.results.models import IntervalSamples, Run
from benchdash.results.stability import (
    RUN_TIME,
    THROUGHPUT,
    TIME,
    Rule,
    Stability,
    Stall,
    stability_of_run,
    stall_rule,
    throughput_metric,
)

# The tools that sample a machine. Where two say the same, the first counts, as for the means of a run.
_OF_THE_MACHINE: Final = ("mpstat", "iostat", "dstat", "pmrep", "vmstat")
# The duration of a run over the number of its samples, at most so far from whole seconds.
_MAX_DISTANCE_FROM_WHOLE: Final = 0.1
_MAX_LAID_OVER: Final = 3
_MAX_OFFERED: Final = 12
_MAX_STALLS: Final = 100
# Filters of interval samples.
_OVER_TIME: Final[Mapping[str, Any]] = {
    "columns__contains": [TIME],
    "columns__overlap": list(THROUGHPUT),
}


@dataclass(frozen=True)
class Other:
    """A run that is laid over the one of the page, or may be."""

    run: Run
    is_chosen: bool
    steadiness: Stability | None


@dataclass(frozen=True)
class WithinRun:
    """The time line of a run. ``source`` leads the chart, ``drawn`` are all sources in it.

    ``steadiness`` is None of a run with too few intervals.
    """

    source: str
    drawn: frozenset[str]
    time_line: TimeLine
    rule: Rule
    steadiness: Stability | None
    notes: Sequence[str]
    others: Sequence[Other]
    max_laid_over: int = _MAX_LAID_OVER

    @property
    def laid_over(self) -> Sequence[Other]:
        return [other for other in self.others if other.is_chosen]

    @property
    def stalls(self) -> Sequence[Stall]:
        """The longest, in their order."""
        found = self.steadiness.stalls if self.steadiness else []
        longest = sorted(found, key=lambda stall: -stall.seconds)[:_MAX_STALLS]
        return sorted(longest, key=lambda stall: stall.start)


def within_run(details: RunDetails, asked: Sequence[int]) -> WithinRun | None:
    """Draw a run over time; None where its tool did not print its throughput over time.

    ``asked`` are the ids of runs to lay over it; those that the project has not, or that were not sampled,
    are left out. A constant number of statements.
    """
    tool = _tool_of(details.samples.values())
    if tool is None:
        return None
    run = details.run
    rule = stall_rule(details.upload.project)
    steadiness = _steadiness(run, tool, rule)
    beside, notes = _beside(details)
    others = _others(details, list(dict.fromkeys(asked))[:_MAX_LAID_OVER], rule)
    chosen = [(other, samples) for other, samples in others if other.is_chosen and samples]
    if chosen:
        named = [(_name(run), tool), *((_name(other.run), samples) for other, samples in chosen)]
        time_line = timeline.overlaid(named, steadiness=steadiness)
        drawn, notes = {tool.source}, []
    else:
        time_line = timeline.together(tool, beside=list(beside.values()), steadiness=steadiness)
        drawn = {tool.source, *beside}
    if time_line is None:
        return None
    shown = [other for other, _ in others]
    return WithinRun(tool.source, frozenset(drawn), time_line, rule, steadiness, notes, shown)


def _tool_of(tables: Iterable[IntervalSamples]) -> IntervalSamples | None:
    ordered = sorted(tables, key=lambda samples: samples.source)
    return next((one for one in ordered if TIME in one.columns and throughput_metric(one)), None)


def _steadiness(run: Run, samples: IntervalSamples, rule: Rule) -> Stability | None:
    return stability_of_run([samples], said=run.options, duration_s=run.duration_s, rule=rule)


def _name(run: Run) -> str:
    return f"run {run.pk}, {run.version}"


def _beside(details: RunDetails) -> tuple[Mapping[str, MachineSamples], list[str]]:
    """Return by source how samples of the machine were laid on the time of the run, with notes on that."""
    known = [name for name in details.samples if name.split()[0] in _OF_THE_MACHINE]
    known.sort(key=lambda name: (_OF_THE_MACHINE.index(name.split()[0]), name))
    found: dict[str, MachineSamples] = {}
    notes = []
    for name in known:
        if laid := _laid(details.samples[name], details.run.duration_s):
            found[name] = laid
            notes.append(_note(name, laid))
    return found, notes


def _laid(samples: IntervalSamples, duration_s: float | None) -> MachineSamples | None:
    """Lay samples on the time of a run; None where nothing tells how far they lie apart."""
    if RUN_TIME in samples.columns or TIME in samples.columns:
        return MachineSamples(samples)
    if timeline.SAMPLE not in samples.columns or not duration_s or not samples.rows:
        return None
    apart = duration_s / len(samples.rows)
    whole = round(apart)
    is_whole = whole >= 1 and abs(apart - whole) <= _MAX_DISTANCE_FROM_WHOLE * whole
    return MachineSamples(samples, step_s=float(whole)) if is_whole else None


def _note(name: str, laid: MachineSamples) -> str:
    if RUN_TIME in laid.samples.columns:
        return f"{name} stands at the times of day that it printed"
    begun = f"{name} is taken to have begun with the run"
    if laid.step_s is None:
        return f"{begun}: the times of its samples are counted from its own start"
    samples = numbers.count(len(laid.samples.rows))
    return (
        f"{begun}, with a sample every {laid.step_s:g} s: "
        f"it printed no times, and {samples} samples for the duration of the run"
    )


def _others(
    details: RunDetails, asked: Sequence[int], rule: Rule
) -> list[tuple[Other, IntervalSamples | None]]:
    """Return the runs asked for in their order, then others of this version and of the group before."""
    chosen = _chosen(details.run, asked)
    samples = _samples_of(chosen)
    laid_over = [
        (Other(run, is_chosen=True, steadiness=_steadiness(run, samples[pk], rule)), samples[pk])
        for pk, run in chosen.items()
        if pk in samples
    ]
    offered = [run for run in _offered(details) if run.pk not in chosen][:_MAX_OFFERED]
    return [*laid_over, *((Other(run, is_chosen=False, steadiness=None), None) for run in offered)]


def _chosen(run: Run, asked: Sequence[int]) -> dict[int, Run]:
    if not asked:
        return {}
    found = _sampled(run).filter(pk__in=asked).in_bulk()
    return {pk: found[pk] for pk in asked if pk in found}


def _offered(details: RunDetails) -> Iterable[Run]:
    """Return runs of the same workload: the latest of this version, and that of the group before."""
    run = details.run
    before = Q(pk=details.before.pk) if details.before else Q()
    alike = _sampled(run).filter(
        workload=run.workload_id, threads=run.threads, hardware=run.hardware_id, excluded_at=None
    )
    found = alike.filter(Q(version=run.version_id) | before)
    return found.order_by("-started_at", "-pk")[: _MAX_OFFERED + _MAX_LAID_OVER]


def _sampled(run: Run) -> QuerySet[Run]:
    """Return the other runs of its project whose tools printed throughput over time."""
    samples = IntervalSamples.objects.filter(run=OuterRef("pk"), **_OVER_TIME)
    runs = Run.objects.filter(Exists(samples), project=run.project_id).exclude(pk=run.pk)
    return runs.select_related("version__product", "workload")


def _samples_of(runs: Collection[int]) -> dict[int, IntervalSamples]:
    by_run: dict[int, list[IntervalSamples]] = {}
    for one in IntervalSamples.objects.filter(run__in=runs, **_OVER_TIME) if runs else ():
        by_run.setdefault(one.run_id, []).append(one)
    return {pk: tool for pk, tables in by_run.items() if (tool := _tool_of(tables))}
