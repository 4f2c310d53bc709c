"""What an incident says in one line: the same words on every page and in every mail."""

from typing import Final

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results import wording
from benchdash.results.metrics import family
from benchdash.results.models import Series

_PER: Final = {"1/s": "a second", "1/min": "a minute"}
_SPEEDS: Final = frozenset({"Throughput", "Response time"})


def comparative(incident: Incident) -> str:
    """``slower``; of anything but throughput and response times, ``worse``."""
    is_worse = incident.kind != Incident.Kind.IMPROVEMENT
    if family(incident.metric) in _SPEEDS or not incident.metric:
        return "slower" if is_worse else "faster"
    return "worse" if is_worse else "better"


def what_happened(incident: Incident) -> str:
    """``became slower``, or only ``may have become slower``."""
    word = comparative(incident)
    if incident.status != Incident.Status.CONFIRMED:
        return f"may have become {word}"
    return f"{'became' if word in {'slower', 'faster'} else 'got'} {word}"


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
    if change_point.change is None:
        # Without a per cent, levels stand where no name of a metric says what they are per.
        unit = _PER.get(series.unit, unit)
    text = f"{wording.number(change_point.before)} to {wording.number(change_point.after)}"
    return f"{text}{wording.NO_BREAK}{unit}" if unit else text


def change_words(change_point: ChangePoint) -> str:
    """Write the change of one series in its own unit, ``+28.6 %``, or ``0 to 4 a minute``."""
    return levels(change_point) if change_point.change is None else wording.change(change_point.change)


def speed_words(change_point: ChangePoint) -> str:
    """Write the change of speed of one series, slower is minus; nothing where the change has no per cent."""
    return "" if change_point.change is None else wording.change(change_point.speed_change)


def series_words(series: Series) -> str:
    """Write ``response time p95 of oltp_read_only at 4 threads``."""
    threads = "" if series.threads is None or series.is_derived else f" at {threads_words(series.threads)}"
    return f"{wording.short_metric_name(series.metric)} of {series.workload.name}{threads}"


def threads_words(threads: int) -> str:
    return f"{wording.count(threads)} thread{'' if threads == 1 else 's'}"
