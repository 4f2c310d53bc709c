"""The news of a project: what is new, open, lost and recovered, in one sentence wherever it is told of."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db.models import (
    BooleanField,
    Case,
    Count,
    DateTimeField,
    Exists,
    F,
    Func,
    JSONField,
    OuterRef,
    Q,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, TruncDate

from benchdash.accounts.models import Project
from benchdash.regressions import queries
from benchdash.regressions.headlines import is_for_the_worse
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent
from benchdash.regressions.morning import sentences
from benchdash.regressions.morning.missing import Missing
from benchdash.regressions.morning.nights import Ran
from benchdash.regressions.morning.rows import LATELY
from benchdash.results.cadence import LOOK_BACK, MIN_SESSIONS
from benchdash.results.models import Run
from benchdash.results.pull_requests import of_pull_requests
from benchdash.results.wording import counted

_MAX_INCIDENTS: Final = 10_000
_LIGHT: Final = ("project", "kind", "status", "started_at", "median", "worst", "recovered_by")
_PUT_ASIDE: Final = (Incident.State.EXPECTED, Incident.State.WONTFIX, Incident.State.INVALID)


# News since a night began that nobody has put aside. Of what was imported or corrected, only what began since
# then is news. Silences are missing, not new; what the rule of the project leaves out is no news.
_IS_NEW: Final = (
    (Q(detected_at__gt=F("night_began")) | Q(confirmed_at__gt=F("night_began")))
    & (Q(quiet=False) | Q(started_at__gt=F("night_began")))
    & ~Q(kind=Incident.Kind.SILENCE)
    & ~Q(status=Incident.Status.WITHDRAWN)
    & Q(historical=False, folded_into=None, left_out=False)
    & ~Q(state__in=_PUT_ASIDE)
    & Q(snoozed_until=None, snoozed_until_version="")
)
# Losses that a step back ended since then.
_IS_RECOVERED: Final = Q(
    Exists(
        IncidentEvent.objects.filter(
            incident=OuterRef("pk"),
            what=IncidentEvent.What.RECOVERED,
            at__gt=OuterRef("night_began"),
            quiet=False,
        )
    ),
    ~Q(kind=Incident.Kind.SILENCE),
    state=Incident.State.FIXED,
    left_out=False,
)


@dataclass(frozen=True, kw_only=True)
class News:
    """The news of a night.

    ``new`` incidents were detected or confirmed since the night began, improvements among them; the ``open``
    ones are older. ``lost`` are neither, and what is measured lately still is at the level that they made:
    settled, put off or from before anyone could care. ``recovered`` were ended by a step back in the night.
    So many series are ``waiting`` for analysis. ``night_runs`` sums up what ran; None where nothing ever did.
    ``now`` is the end of the night: the sentence names days in the time zone in which it is made.
    """

    project: Project
    now: datetime
    night_runs: Ran | None
    new: Sequence[Incident]
    open: Sequence[Incident]
    lost: Sequence[Incident]
    recovered: Sequence[Incident]
    missing: Sequence[Missing]
    waiting: int = 0
    sentence: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentence", self._sentence())

    def _sentence(self) -> str:
        """Say it all: ``Last night ...; nothing new. 1 open since ... 2 old losses ... Missing: ...``."""
        ran = sentences.ran_words(self.night_runs, now=self.now)
        if self.night_runs is None:
            return f"{ran}."
        is_open = sentences.open_words(self.open, now=self.now)
        holds = sentences.lost_words(self.lost, now=self.now)
        nothing = ""
        if not is_open and not holds and not self.waiting:
            nothing = ", nothing else open" if sentences.named_new(self.new) else ", nothing open"
        new = f"{ran}; {sentences.new_words(self.new, len(self.recovered), self.waiting)}{nothing}"
        missing = sentences.missing_words(self.missing, now=self.now)
        parts = (new, is_open, holds, missing, sentences.waiting_words(self.waiting))
        return " ".join(f"{part}." for part in parts if part)

    @property
    def headline(self) -> str:
        """The same by numbers alone: ``1 new loss. 2 old losses still hold, bench-03 is missing.``."""
        new, missing = sentences.confirmed(self.new), self.missing
        worse, is_open = sum(map(is_for_the_worse, new)), len(sentences.confirmed(self.open))
        better, suspected = len(new) - worse, len(self.new) - len(new)
        found = [
            counted(worse, "new loss") if worse else "",
            counted(better, "improvement") if better else "",
            f"{len(self.recovered)} recovered" if self.recovered else "",
            counted(suspected, "suspected change") if suspected else "",
        ]
        rest = [
            f"{counted(is_open, 'loss')} {'is' if is_open == 1 else 'are'} open" if is_open else "",
            sentences.holding_words(self.lost),
            f"{sentences.missing_name(missing[0])} is missing" if len(missing) == 1 else "",
            f"{len(missing)} jobs are missing" if missing[1:] else "",
        ]
        nothing = "nothing new so far" if self.waiting else "nothing new"
        first = ", ".join(filter(None, found)) or nothing
        said = (first, ", ".join(filter(None, rest)), sentences.waiting_words(self.waiting))
        return " ".join(f"{part[0].upper()}{part[1:]}." for part in said if part)


@dataclass(frozen=True)
class ToldIncidents:
    """The incidents that are news of a project, each kind apart; ``silences`` are those that go on."""

    new: Sequence[Incident] = ()
    open: Sequence[Incident] = ()
    lost: Sequence[Incident] = ()
    recovered: Sequence[Incident] = ()
    silences: Sequence[Incident] = ()

    @classmethod
    def of(cls, found: Collection[Incident]) -> "ToldIncidents":
        """Sort incidents that have the annotations of ``_with_reasons``."""
        recovered = [one for one in found if one.is_recovered]  # type: ignore[attr-defined]
        steps_back = {one.recovered_by_id for one in recovered}
        new = [one for one in found if one.is_new and one.pk not in steps_back]  # type: ignore[attr-defined]
        others = [one for one in found if not (one.is_new or one.is_recovered)]  # type: ignore[attr-defined]
        is_open = [one for one in others if one.is_open]  # type: ignore[attr-defined]
        return cls(
            new=new,
            open=[one for one in is_open if one.kind != Incident.Kind.SILENCE],
            lost=[one for one in others if not one.is_open],  # type: ignore[attr-defined]
            recovered=recovered,
            silences=[one for one in is_open if one.kind == Incident.Kind.SILENCE],
        )

    @property
    def kinds(self) -> "tuple[Sequence[Incident], ...]":
        return self.new, self.open, self.lost, self.recovered, self.silences

    @property
    def open_ids(self) -> set[int]:
        """The ids of all that somebody should look at, new or not."""
        return {one.pk for kind in self.kinds for one in kind if getattr(one, "is_open", False)}

    def largest_first(self) -> "ToldIncidents":
        """Return them with what is confirmed before what is suspected, and the largest change first."""

        def order(one: Incident) -> tuple[object, ...]:
            return one.status != Incident.Status.CONFIRMED, -abs(one.median or 0), -one.pk

        return ToldIncidents(*(sorted(kind, key=order) for kind in self.kinds))

    def known_by(self, described: Mapping[int, Incident]) -> "ToldIncidents":
        return ToldIncidents(*([described.get(one.pk, one) for one in kind] for kind in self.kinds))


def described(several: Iterable[ToldIncidents], listed: int | None = None) -> dict[int, Incident]:
    """Return by id with all that a list shows so many of each kind, and those that a sentence names.

    One statement.
    """
    shown: set[int] = set()
    for told in several:
        named = (sentences.named_new(told.new), sentences.named(told.open), sentences.named(told.lost))
        of_kinds = (kind[:listed] for kind in told.kinds[:-1])
        shown |= {one.pk for kind in (*named, *of_kinds, told.silences) for one in kind}
    found = queries.described(Incident.objects.filter(pk__in=shown))
    of_silence = (f"silence__{name}" for name in ("hardware", "product", "workload"))
    return {one.pk: one for one in found.select_related(*of_silence)}


def incidents_of(since: Mapping[Project, tuple[datetime, Ran | None]]) -> dict[int, ToldIncidents]:
    """Return the news of each project since a time, the latest begun first, with little of each.

    One statement.
    """
    newest = {project.pk: ran.newest.at for project, (_, ran) in since.items() if ran}
    begins = {project.pk: begin for project, (begin, _) in since.items()}
    rows = (
        Incident.objects.filter(project__in=list(begins))
        .alias(night_began=_time_of("project", begins))
        .filter(_IS_NEW | queries.open_filter() | _IS_RECOVERED | still_lost(newest))
        .annotate(is_new=flag(_IS_NEW), is_open=flag(queries.open_filter()), is_recovered=flag(_IS_RECOVERED))
        .only(*_LIGHT)
        .order_by("-started_at", "-pk")
    )
    found: dict[int, list[Incident]] = defaultdict(list)
    for incident in rows[:_MAX_INCIDENTS]:
        found[incident.project_id].append(incident)
    return {pk: ToldIncidents.of(of_project) for pk, of_project in found.items()}


def _time_of(project: str, times: Mapping[int, datetime]) -> Cast:
    """Return the time that is given for the project of a row: one parameter, however many projects there are.

    Null without one. ``project`` is the field that has its id.
    """
    given = Value({str(pk): time.isoformat() for pk, time in times.items()}, output_field=JSONField())
    key = Cast(project, TextField())
    text = Func(given, key, function="jsonb_extract_path_text", output_field=TextField())
    return Cast(text, DateTimeField())


def flag(holds: Q) -> Case:
    return Case(When(holds, then=True), default=False, output_field=BooleanField())


def still_lost(newest: Mapping[int, datetime]) -> Q:
    """Select the incidents for the worse whose level is still that of a series measured lately.

    ``newest`` says by the id of a project when its last run started. Of a series that its machine explains
    it is the incident of the machine. A release counts that is measured regularly; others are compared.
    """
    confirmed = ChangePoint.objects.filter(state=ChangePoint.State.CONFIRMED, origin="")
    later = confirmed.filter(series=OuterRef("series"), run__started_at__gt=OuterRef("run__started_at"))
    faster = Q(incident__median__gte=0) | Q(incident__median=None, incident__worst__gte=0)
    holding = (
        confirmed.alias(newest=_time_of("series__project", newest))
        .filter(
            ~Exists(later) | Q(per_point__isnull=False),
            _is_regular(),
            ~of_pull_requests("series__branch"),
            series__project__in=list(newest),
            incident__kind__in=Incident.FOR_THE_WORSE,
            series__is_derived=False,
        )
        .exclude(faster, incident__kind=Incident.Kind.ENVIRONMENT)
        .annotate(holder=Coalesce(F("incident__folded_into"), F("incident")))
    )
    return Q(pk__in=holding.order_by().values("holder"))


def _is_regular() -> Q:
    """Select the change points of series that were measured lately, of releases regularly.

    They have the start of the newest run of their project as ``newest``.
    """
    place = ("branch", "hardware", "configuration", "counterpart", "workload")
    runs = Run.objects.filter(
        version__product=OuterRef("series__product"),
        version__build=OuterRef("series__build"),
        **{name: OuterRef(f"series__{name}") for name in place},
    ).order_by()
    lately = runs.filter(started_at__gt=OuterRef("newest") - LATELY)
    days = runs.filter(started_at__gt=OuterRef("newest") - LOOK_BACK).values("workload")
    days = days.annotate(days=Count(TruncDate("started_at"), distinct=True))
    return Q(Exists(lately)) & (~Q(series__branch="") | Q(Exists(days.filter(days__gte=MIN_SESSIONS))))
