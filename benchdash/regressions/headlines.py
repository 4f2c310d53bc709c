"""The headline of an incident: the same words on every page and in every mail."""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils import timezone

from benchdash.regressions.models import ChangePoint, Incident, Silence
from benchdash.regressions.used_units import in_used_unit
from benchdash.regressions.watched_metrics import counted
from benchdash.results import wording
from benchdash.results.metrics import is_speed
from benchdash.results.models import DEFAULT_CONFIGURATION, Series
from benchdash.results.readings import DERIVED, LOWER, known_metric, reading

_HOUR_S: Final = 3600.0
_DAY_S: Final = 24 * _HOUR_S
_NIGHTLY: Final = 0.5
# An older day is written with its year.
_THIS_YEAR: Final = timedelta(days=300)


def is_for_the_worse(incident: Incident) -> bool:
    """Tell which way an incident points; a machine may become slower or faster."""
    if incident.kind != Incident.Kind.ENVIRONMENT:
        return incident.kind != Incident.Kind.IMPROVEMENT
    speed = incident.worst if incident.median is None else incident.median
    return speed is None or speed < 0


def comparative(incident: Incident) -> str:
    """``slower``; of anything but throughput and response times, ``worse``; of a silence, ``silent``."""
    if incident.kind == Incident.Kind.SILENCE:
        return "silent"
    is_speed_change = is_speed(incident.metric) or not incident.metric
    if is_for_the_worse(incident):
        return "slower" if is_speed_change else "worse"
    return "faster" if is_speed_change else "better"


def what_happened(incident: Incident) -> str:
    """``became slower``, or only ``may have become slower``; of a control, that it ran on a machine that did.

    Of a silence, ``has sent no results since Tue 17 Nov``; of a drift ``drift_words``.
    """
    if incident.kind == Incident.Kind.SILENCE:
        return _what_stopped(incident)
    if incident.kind == Incident.Kind.DRIFT:
        return drift_words(incident)
    word = comparative(incident)
    if incident.status == Incident.Status.CONFIRMED:
        words = f"{'became' if word in {'slower', 'faster'} else 'got'} {word}"
    else:
        words = f"may have become {word}"
    is_of_control = incident.kind == Incident.Kind.ENVIRONMENT and incident.product_id is not None
    return f"ran on a machine that {words}" if is_of_control else words


def figure(incident: Incident) -> str:
    """Write the headline figure: ``−14.3 %`` of speed, ``+28.7 % rss_mb`` of a metric that is no speed.

    Of what has no per cent, ``0 to 4 a minute``; of a silence, ``silent since Tue 17 Nov``.
    """
    if incident.kind == Incident.Kind.SILENCE:
        return _how_silent(incident)
    text = bare_figure(incident)
    is_named = incident.median is None or is_of_speed(incident)
    return text if is_named else f"{text} {wording.short_metric_name(incident.metric)}"


def bare_figure(incident: Incident) -> str:
    """Write the headline figure where its metric stands beside it."""
    if incident.kind == Incident.Kind.SILENCE:
        return _how_silent(incident)
    if incident.median is None and incident.largest:
        return levels(incident.largest)
    return _in_metric(incident, incident.median)


def recovered_words(incident: Incident) -> str:
    """Write ``recovered``, or ``recovered to −2.6 %`` where so much of the change is left."""
    is_left = incident.remaining is not None
    return f"recovered to {_in_metric(incident, incident.remaining)}" if is_left else "recovered"


def _in_metric(incident: Incident, speed: float | None) -> str:
    """Write a change of speed; of a metric that is no speed, the change of the metric itself."""
    if speed is None or is_of_speed(incident):
        return wording.change(speed)
    return wording.change(1 / (1 + speed) - 1 if _lower_is_better(incident) else speed)


def is_of_speed(incident: Incident) -> bool:
    """Tell whether the headline figure is a change of speed, and not one of memory, costs or recall."""
    return incident.median is not None and (
        is_speed(incident.metric) or not incident.metric or _lower_is_better(incident) is None
    )


def _lower_is_better(incident: Incident) -> bool | None:
    """Tell it of the headline's metric; None where nothing at hand says it."""
    if incident.metric in DERIVED:
        return False
    if known_metric(incident.metric):
        return reading(incident.metric, 0).direction == LOWER
    series = incident.largest.series if incident.largest else None
    if series is None or series.metric != incident.metric:
        return None
    return not series.higher_is_better


def largest_figure(incident: Incident) -> str:
    """Write the largest change: of speed, or of a metric that is no speed."""
    if incident.kind == Incident.Kind.SILENCE:
        return ""
    largest = incident.largest
    if largest and (incident.worst is None or not is_speed(largest.series.metric)):
        return change_words(largest)
    return wording.change(incident.worst)


def largest_words(incident: Incident) -> str:
    """Say behind the largest change what it is of: ``of speed (8.1 to 9.9 ms)``, ``(699 to 901 MB)``."""
    if incident.largest is None or incident.worst is None:
        return ""
    of = "of speed " if is_speed(incident.largest.series.metric) else ""
    return f"{of}({levels(incident.largest)})"


def levels(change_point: ChangePoint) -> str:
    """Write ``0.28 to 0.36 ms``, ``0 to 4 a minute``."""
    change_point = in_used_unit(change_point)
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
    """Write the change of speed of one series, slower is minus; of another thing nothing."""
    speed = change_point.speed_change if is_speed(change_point.series.metric) else None
    return "" if speed is None else wording.change(speed)


def series_words(series: Series) -> str:
    """Write ``response time p95 of oltp_read_only at 4 threads``."""
    threads = "" if series.threads is None or series.is_derived else f" at {threads_words(series.threads)}"
    return f"{wording.short_metric_name(series.metric)} of {series.workload.name}{threads}"


def threads_words(threads: int) -> str:
    return f"{wording.count(threads)} thread{'' if threads == 1 else 's'}"


def drift_words(incident: Incident) -> str:
    """``lost 9.6 % over 60 nights (10 Sep to 9 Nov), about 0.16 % a night; no single commit``."""
    points, last_at = incident.points or 1, incident.last_at or incident.started_at
    days = (last_at - incident.started_at) / timedelta(days=1)
    noun = "night" if abs(days / max(points - 1, 1) - 1) < _NIGHTLY else "point"
    culprit = "commit" if incident.branch else "version"
    is_speed_lost = incident.median is not None and is_of_speed(incident)
    lost = (
        f"lost {wording.share(abs(incident.median or 0))}" if is_speed_lost else f"went by {figure(incident)}"
    )
    between = f"{_day_of_month(incident.started_at)} to {_day_of_month(last_at)}"
    each = f"{100 * abs(incident.per_point or 0):.2g}{wording.NO_BREAK}%"
    return f"{lost} over {points} {noun}s ({between}), about {each} a {noun}; no single {culprit}"


def _day_of_month(time: datetime) -> str:
    return day(time).partition(" ")[2]


# --- silences ---------------------------------------------------------------------------------------------


def silence_words(incident: Incident) -> str:
    """``no results from bench-03 since Tue 17 Nov; it used to report every night``."""
    silence = _silence_of(incident)
    if silence is None:
        return f"no results from {incident.subject}"
    source = "from" if silence.product_id is None else "of"
    usual = f"it used to report {rhythm(silence.cadence_s)}"
    if silence.ended_at is None:
        return f"no results {source} {silent_name(silence)} since {day(silence.last_run_at)}; {usual}"
    between = f"between {day(silence.last_run_at)} and {day(silence.ended_at)}"
    return f"no results {source} {silent_name(silence)} {between}; {usual}, and reports again"


def silent_name(silence: Silence) -> str:
    """Name what is silent: ``bench-03``, ``MariaDB main on bench-03``, ``oltp_read_only of ...``."""
    if silence.product is None:
        return str(silence.hardware)
    parts = [silence.product.name, silence.build, silence.branch or silence.line]
    configuration = silence.configuration
    if configuration and configuration.name != DEFAULT_CONFIGURATION:
        parts.append(f"({configuration.name})")
    if silence.counterpart:
        parts.append(f"with {silence.counterpart}")
    job = f"{' '.join(filter(None, parts))} on {silence.hardware}"
    return f"{silence.workload.name} of {job}" if silence.workload else job


def rhythm(interval_s: float) -> str:
    """Say how often something reports that does so every so many seconds: ``every night``."""
    if interval_s < 1.5 * _HOUR_S:
        return "every hour"
    if interval_s < 0.75 * _DAY_S:
        return f"every {round(interval_s / _HOUR_S)} hours"
    if interval_s < 1.15 * _DAY_S:
        return "every night"
    if interval_s < 1.6 * _DAY_S:
        return "on most nights"
    days = round(interval_s / _DAY_S)
    return "every week" if days == 7 else f"about every {days} days"


def day(time: datetime) -> str:
    """Write ``Tue 17 Nov``, in UTC; with the year where it is long ago."""
    time = time.astimezone(UTC)
    year = "" if abs(timezone.now() - time) < _THIS_YEAR else f" {time.year}"
    return f"{time:%a} {time.day} {time:%b}{year}"


def _what_stopped(incident: Incident) -> str:
    silence = _silence_of(incident)
    if silence is None:
        return "stopped sending results"
    if silence.ended_at is None:
        return f"has sent no results since {day(silence.last_run_at)}"
    return f"sent no results between {day(silence.last_run_at)} and {day(silence.ended_at)}"


def _how_silent(incident: Incident) -> str:
    silence = _silence_of(incident)
    if silence is None:
        return "silent"
    if silence.ended_at is None:
        return f"silent since {day(silence.last_run_at)}"
    return f"silent until {day(silence.ended_at)}"


def _silence_of(incident: Incident) -> Silence | None:
    return getattr(incident, "silence", None)
