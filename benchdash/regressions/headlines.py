"""What an incident says in one line: the same words on every page and in every mail."""

from typing import Final

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.watched_metrics import counted
from benchdash.results import wording
from benchdash.results.metrics import family
from benchdash.results.models import Series

_SPEEDS: Final = frozenset({"Throughput", "Response time"})


def comparative(incident: Incident) -> str:
    """``slower``; of anything but throughput and response times, ``worse``."""
    is_worse = incident.kind != Incident.Kind.IMPROVEMENT
    if incident.kind == Incident.Kind.ENVIRONMENT and incident.median is not None:
        is_worse = incident.median < 0
    if family(incident.metric) in _SPEEDS or not incident.metric:
        return "slower" if is_worse else "faster"
    return "worse" if is_worse else "better"


def what_happened(incident: Incident) -> str:
    word = comparative(incident)
    what = f"{'became' if word in {'slower', 'faster'} else 'got'} {word}"
    return f"{what} as a control: the machine did" if incident.kind == Incident.Kind.ENVIRONMENT else what


def figure(incident: Incident) -> str:
    """Write the headline figure: ``−14.3 %`` of speed, or ``0 to 4 a minute`` of what has no per cent."""
    if incident.median is None and incident.largest:
        return levels(incident.largest)
    return wording.change(incident.median)


def largest_figure(incident: Incident) -> str:
    if incident.worst is None and incident.largest:
        return levels(incident.largest)
    return wording.change(incident.worst)


def levels(change_point: ChangePoint) -> str:
    """Write ``0.28 to 0.36 ms``, ``0 to 4 a minute``."""
    series = change_point.series
    unit = wording.unit_words(series.metric, series.unit)
    if change_point.change is None and (what := counted(series.metric)):
        rates = change_point.before / what.per_s, change_point.after / what.per_s
        return wording.change_of_rate(*rates, noun=what.noun)
    text = f"{wording.number(change_point.before)} to {wording.number(change_point.after)}"
    return f"{text}{wording.NO_BREAK}{unit}" if unit else text


def change_words(change_point: ChangePoint) -> str:
    """Write the change of one series in its own unit, ``+28.6 %``, or ``0 to 4 a minute``."""
    return levels(change_point) if change_point.change is None else wording.change(change_point.change)


def speed_words(change_point: ChangePoint) -> str:
    """Write the change of speed of one series, slower is minus; nothing where the change has no per cent."""
    speed = change_point.speed_change
    return "" if speed is None else wording.change(speed)


def series_words(series: Series) -> str:
    """Write ``response time p95 of oltp_read_only at 4 threads``."""
    threads = "" if series.threads is None or series.is_derived else f" at {_threads(series.threads)}"
    return f"{wording.short_metric_name(series.metric)} of {series.workload.name}{threads}"


def _threads(threads: int) -> str:
    return f"{wording.count(threads)} thread{'' if threads == 1 else 's'}"
