"""The open incidents of a project, or of a part of it, in a few words: for a badge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.addresses import from_text
from benchdash.regressions.headlines import is_for_the_worse
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.morning.missing import missing_of
from benchdash.regressions.morning.news import flag, still_lost
from benchdash.regressions.morning.nights import NightRuns, night_of
from benchdash.regressions.morning.sentences import day, holding_words
from benchdash.regressions.queries import LIVE, open_filter
from benchdash.results.cadence import LOOK_BACK, Reporter
from benchdash.results.models import Hardware, Series, TouchedSeries
from benchdash.results.queries import find_runs, find_series, ids_called
from benchdash.results.wording import counted

Tone = Literal["good", "bad", "doubtful"]


@dataclass(frozen=True, slots=True)
class ProjectPart:
    """A part of a project by names, old ones too; an empty one is no condition."""

    product: str = ""
    branch: str = ""
    hardware: str = ""
    metric: str = ""

    def __bool__(self) -> bool:
        return any((self.product, self.branch, self.hardware, self.metric))


@dataclass(frozen=True, slots=True)
class Status:
    """``2 regressions``, ``nothing open``, ``no data since 12 Nov``."""

    words: str
    tone: Tone


class UnknownPartError(Exception):
    """A name that nothing in the project has, in a few words."""


def status_of(project: Project, part: ProjectPart, *, now: datetime | None = None) -> Status:
    """Say what is open, as the morning page counts it: confirmed, for the worse, and not put aside.

    Where nothing is, the old losses that still hold are counted.

    Where results of the last night are missing, or there are none, that is said: nothing open is good news
    only of what was measured. A constant number of statements. Raises UnknownPartError.
    """
    now = now or timezone.now()
    series = series_of(project, part)
    newest = _newest(project, part, now=now)
    if newest is None:
        return Status("no results", "doubtful")
    runs = night_of(project, now=now)
    if part:
        runs = _narrowed(runs, series)
    found = list(_open_or_lost(project, part, series, {project.pk: runs.newest.at} if runs.newest else {}))
    is_open = [one for one in found if one.is_open]  # type: ignore[attr-defined]  # annotated there
    lost = [one for one in found if not one.is_open]  # type: ignore[attr-defined]
    silences = [one for one in is_open if one.kind == Incident.Kind.SILENCE]
    told = [
        one
        for one in is_open
        if one.kind != Incident.Kind.SILENCE
        and one.status == Incident.Status.CONFIRMED
        and is_for_the_worse(one)
    ]
    missing = missing_of(runs, silences)
    is_over = newest <= now - LOOK_BACK and not project.is_sample
    parts = _open_words(told)
    if is_over or (missing and not (runs.came or runs.others)):
        parts.append(f"no data since {day(newest, now=now)}")
    else:
        is_waiting = not parts and TouchedSeries.objects.filter(series__in=series).exists()
        nothing = holding_words(lost) or "nothing open"
        parts = parts or ["not analysed yet" if is_waiting else nothing]
        if missing:
            parts.append(f"{len(missing)} missing")
    is_good = parts == ["nothing open"]
    return Status(", ".join(parts), "bad" if told else "good" if is_good else "doubtful")


def series_of(project: Project, part: ProjectPart) -> QuerySet[Series]:
    """Return the series of a part. Raises UnknownPartError for a name that none of them has."""
    branch = from_text(part.branch) if part.branch else None
    found = find_series(project, product=part.product or None, branch=branch)
    for name, value in (("product", part.product), ("branch", part.branch)):
        if value and not found.exists():
            raise UnknownPartError(f"no {name} {value}")
    if part.hardware:
        found = found.filter(hardware__in=ids_called(Hardware, [part.hardware], project))
        if not found.exists():
            raise UnknownPartError(f"no hardware {part.hardware}")
    if part.metric:
        found = found.filter(metric=part.metric)
        if not found.exists():
            raise UnknownPartError(f"no metric {part.metric}")
    return found.order_by()


def _open_words(told: Sequence[Incident]) -> list[str]:
    machines = sum(one.kind == Incident.Kind.ENVIRONMENT for one in told)
    drifts = sum(one.kind == Incident.Kind.DRIFT for one in told)
    regressions = len(told) - machines - drifts
    numbers = ((regressions, "regression"), (drifts, "drift"), (machines, "slower machine"))
    return [counted(number, noun) for number, noun in numbers if number]


def _narrowed(runs: NightRuns, series: QuerySet[Series]) -> NightRuns:
    """Keep of a night what is of these series; one statement."""
    known = set(series.values_list("product", "build", "branch", "hardware", "workload").distinct())

    def kept(reporters: Sequence[Reporter]) -> list[Reporter]:
        found = []
        for one in reporters:
            place = one.place
            stream = place.product_id, place.build, place.branch
            if (*stream, place.hardware_id, one.workload_id) in known:
                found.append(one)
        return found

    return replace(
        runs,
        reporters=kept(runs.reporters),
        came=kept(runs.came),
        late=kept(runs.late),
        others=kept(runs.others),
    )


def _open_or_lost(
    project: Project, part: ProjectPart, series: QuerySet[Series], newest: Mapping[int, datetime]
) -> QuerySet[Incident]:
    """Return what is open, or still lost, in these series, and those of the machines of these."""
    is_told = Q(project=project) & (open_filter() | still_lost(newest))
    found = Incident.objects.filter(is_told).annotate(is_open=flag(open_filter()))
    found = found.select_related(*(f"silence__{name}" for name in ("product", "hardware", "workload")))
    if not part:
        return found
    changed = ChangePoint.objects.filter(LIVE, incident=OuterRef("pk"), series__in=series)
    of_job = Q(silence__branch="") | Q(silence__branch__in=series.values("branch"))
    silent = Q(silence__product=None) | Q(of_job, silence__product__in=series.values("product"))
    is_of_machine = Q(kind=Incident.Kind.ENVIRONMENT) | (Q(kind=Incident.Kind.SILENCE) & silent)
    return found.filter(Exists(changed) | (is_of_machine & Q(hardware__in=series.values("hardware"))))


def _newest(project: Project, part: ProjectPart, *, now: datetime) -> datetime | None:
    filters = {"product": part.product, "hardware": part.hardware, "branch": part.branch}
    given: dict[str, str | int | None] = {name: from_text(value) for name, value in filters.items() if value}
    runs = find_runs(project, excluded=False, **given).filter(started_at__lte=now)
    if part.metric:
        runs = runs.filter(measurements__series__metric=part.metric)
    return runs.values_list("started_at", flat=True).first()
