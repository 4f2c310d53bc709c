"""The changes of reading a kept file again, in words and rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.results.models import Run, Series
from ingest.receiving.reimports import ReimportOutcome, Reread

# The first of these that tells two values apart.
_DIGITS: Final = (4, 6, 9, 17)


@dataclass(frozen=True)
class ChangedRow:
    """A reading as it is and as it would be; None where there is none. ``run`` is empty for the only one."""

    run: str
    metric: str
    unit: str
    before: float | None
    after: float | None

    @property
    def texts(self) -> tuple[str, str]:
        """Both values, with as many digits as tell them apart."""
        written = [(numbers.number(self.before, n), numbers.number(self.after, n)) for n in _DIGITS]
        return next((pair for pair in written if pair[0] != pair[1]), written[0])

    @property
    def change(self) -> float | None:
        return self.after / self.before - 1 if self.before and self.after is not None else None


def changed_rows(reread: Reread, *, most: int) -> list[ChangedRow]:
    """The first readings that change; a constant number of statements."""
    shown = reread.changes[:most]
    runs, units = _runs(reread), _units(reread)
    return [
        ChangedRow(runs.get(one.run, one.run), one.metric, units.get(one.metric, ""), one.before, one.after)
        for one in shown
    ]


def _runs(reread: Reread) -> dict[str, str]:
    rows = Run.objects.filter(upload_id=reread.upload.pk).select_related("workload")
    named = {run.key: ", ".join([run.workload.name, *_threads(run)]) for run in rows}
    return named if len(named) > 1 else dict.fromkeys(named, "")


def _threads(run: Run) -> Sequence[str]:
    return [] if run.threads is None else [threads_words(run.threads)]


def _units(reread: Reread) -> dict[str, str]:
    metrics = {one.metric for one in reread.changes}
    known = Series.objects.filter(project=reread.upload.project_id, metric__in=metrics).order_by()
    return dict(known.values_list("metric", "unit").distinct())


def planned_in_words(reread: Reread) -> str:
    readings = _readings(reread)
    return {
        ReimportOutcome.SAME: "Every reading is as it was: there is nothing to change.",
        ReimportOutcome.CHANGED: f"{readings} would change.",
        ReimportOutcome.UNDERSTOOD: (
            f"It was refused, and is understood now: {readings} would come into the history."
        ),
        ReimportOutcome.STILL_REFUSED: "It is refused as before.",
        ReimportOutcome.LEFT: "It is no longer understood, so it would be left as it was.",
        ReimportOutcome.BUSY: "It is being imported just now; try again when that is done.",
        ReimportOutcome.UNAVAILABLE: "Its file cannot be read now, so it would be left as it was.",
    }[reread.outcome]


def done_in_words(reread: Reread) -> str:
    name, readings = reread.upload.name, _readings(reread)
    return {
        ReimportOutcome.SAME: f"Read {name} again: every reading is as it was.",
        ReimportOutcome.CHANGED: f"Read {name} again: {readings} changed.",
        ReimportOutcome.UNDERSTOOD: f"{name} is understood now: {readings} came into the history.",
        ReimportOutcome.STILL_REFUSED: f"{name} is refused as before.",
        ReimportOutcome.LEFT: f"{name} is no longer understood and was left as it was.",
        ReimportOutcome.BUSY: f"{name} is being imported just now; try again when that is done.",
        ReimportOutcome.UNAVAILABLE: f"The file of {name} cannot be read now; nothing was changed.",
    }[reread.outcome]


def _readings(reread: Reread) -> str:
    number = len(reread.changes)
    return f"{numbers.count(number)} reading{'' if number == 1 else 's'}"
