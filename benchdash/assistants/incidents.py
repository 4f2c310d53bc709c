"""Incidents: the list, and one with its evidence."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from django.db.models import Q
from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project as ProjectRow
from benchdash.addresses import absolute
from benchdash.assistants.names import nearest_words
from benchdash.assistants.shapes import (
    DEFAULT_LIMIT,
    AnswerPart,
    Arguments,
    Id,
    Limit,
    Moment,
    Offset,
    Project,
    Refusal,
    Text,
    Tool,
    ToolAnswer,
    left_out_words,
    table,
)
from benchdash.regressions.counters import moved_counters
from benchdash.regressions.headlines import drift_words, figure, silence_words, what_happened
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import (
    evidence,
    incidents,
    is_of_one_session,
    open_filter,
    seen_on,
    what_changed,
)
from benchdash.regressions.ranges import range_of
from benchdash.regressions.used_units import in_used_unit
from benchdash.results.branches import branch_called
from benchdash.results.models import Hardware, Product, ServerVersion
from benchdash.results.queries import ids_called
from benchdash.results.wording import change, metric_name, number, share

_MAX_EVIDENCE: Final = 40
_MAX_WORKLOADS: Final = 10
_MAX_BETWEEN: Final = 30
_MAX_DIFFERENCES: Final = 30
_MAX_TEXT: Final = 300
_NEARLY_CERTAIN: Final = 0.999

State = Literal["new", "acknowledged", "investigating", "expected", "wontfix", "fixed", "invalid"]
Kind = Literal["regression", "improvement", "environment", "silence", "drift"]


class IncidentsArguments(Arguments):
    project: Project
    state: Annotated[
        Literal["open", "all"] | State,
        Field(
            description=(
                "`open`: what somebody should look at; `all`: everything, old and settled ones too; else what"
                " people said of it."
            )
        ),
    ] = "open"
    kind: Annotated[
        Kind | None,
        Field(
            description=(
                "`environment`: the machine changed, not the product; `silence`: results stopped to come."
            )
        ),
    ] = None
    product: Annotated[Text, Field(description="Exact name.")] = ""
    hardware: Annotated[Text, Field(description="Exact name of a machine.")] = ""
    branch: Annotated[Text | None, Field(description="A branch; the empty text: releases.")] = None
    since: Annotated[
        Moment | None, Field(description="Only what began then or later; ISO 8601, in UTC without an offset.")
    ] = None
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


class IncidentAnswer(AnswerPart):
    """``change`` is of speed: -0.1 is 10 % slower, whatever the direction of the metric.

    It is the median over the ``series`` that changed, of the ``of`` that were looked at; null where there is
    no per cent. ``since`` is the last version of the old level, ``until`` the first of the new one: commits
    on a branch. ``status`` is what analysis says (`suspected` is not certain), ``state`` what people say.
    """

    id: int
    headline: str
    kind: str
    status: str
    state: str
    is_historical: bool
    product: str | None
    branch: str
    line: str
    hardware: str | None
    since: str | None
    until: str | None
    change: float | None
    worst: float | None
    metric: str
    series: int
    of: int
    workloads: list[str]
    more_workloads: int
    started_at: datetime
    detected_at: datetime
    confirmed_at: datetime | None
    recovered_by: int | None
    remaining: float | None
    url: str

    @property
    def is_within_one_version(self) -> bool:
        return self.since is not None and self.since == self.until

    @property
    def line_in_words(self) -> str:
        """One line of a list."""
        said = [self.status, str(Incident.State(self.state).label)]
        if self.is_historical:
            said.append("historical")
        if self.recovered_by:
            left = "" if self.remaining is None else f", but for {change(self.remaining)}"
            said.append(f"ended by incident {self.recovered_by}{left}")
        began = f"began {self.started_at:%Y-%m-%d} {self.range_in_words}"
        return f"Incident {self.id}: {self.headline}, {began}; {', '.join(said)}. {self.url}"

    @property
    def range_in_words(self) -> str:
        if self.is_within_one_version:
            return f"while {self.until} was measured"
        if self.until is None:
            return ""
        return f"with {self.until}, after {self.since}" if self.since else f"with {self.until}"


class IncidentsAnswer(ToolAnswer):
    total: int
    others: int
    incidents: list[IncidentAnswer]
    left_out: str
    url: str

    def in_words(self) -> str:
        if not self.incidents:
            others = f" {self.others} others are found by state 'all' without filters." if self.others else ""
            return f"No incident fits.{others} {self.url}"
        lines = [f"- {one.line_in_words}" for one in self.incidents]
        return "\n\n".join(filter(None, ["\n".join(lines), self.left_out]))


class EvidenceAnswer(AnswerPart):
    """The change of one series; ``change`` is relative and in its unit, ``speed_change`` one of speed."""

    series: int
    workload: str
    threads: int | None
    metric: str
    metric_in_words: str
    hardware: str
    configuration: str
    state: str
    before: float
    after: float
    unit: str
    direction: str
    change: float | None
    speed_change: float | None
    confidence: float | None
    noise: float | None
    groups_before: int
    groups_after: int


class FactDifference(AnswerPart):
    """A setting or fact that differs between the last good run and the first of the new level."""

    name: str
    before: str | None
    after: str | None


class CounterAnswer(AnswerPart):
    """A cost of an operation that moved with the largest change."""

    metric: str
    metric_in_words: str
    unit: str
    before: float
    after: float
    change: float


class IncidentDetails(ToolAnswer):
    """``between`` are known versions between the two levels; ``next_to_measure`` halves that range."""

    incident: IncidentAnswer
    cause: str
    evidence: list[EvidenceAnswer]
    evidence_left_out: int
    is_of_one_session: bool
    what_changed: list[FactDifference]
    counters: list[CounterAnswer]
    between: list[str]
    next_to_measure: str | None
    recovers: list[int]
    url: str

    def in_words(self) -> str:
        one = self.incident
        head = (
            "workload",
            "threads",
            "metric",
            "before",
            "after",
            "unit",
            "change of speed",
            "confidence",
            "groups",
        )
        rows = [
            (
                *(
                    each.workload,
                    each.threads,
                    each.metric,
                    number(each.before),
                    number(each.after),
                    each.unit,
                ),
                change(each.speed_change) if each.speed_change is not None else "",
                _confidence_words(each.confidence),
                f"{each.groups_before} before, {each.groups_after} after",
            )
            for each in self.evidence
        ]
        parts = [
            one.line_in_words,
            f"{one.series} of the {one.of} series that were looked at changed.",
            self.cause,
            "One session on each side is all there is: it cannot be told from a change of the machine."
            if self.is_of_one_session
            else "",
            table(head, rows) if rows else "",
            f"{self.evidence_left_out} more series are on the page." if self.evidence_left_out else "",
            _difference_words(self.what_changed),
            "Costs that moved with it: "
            + "; ".join(f"{each.metric_in_words} {change(each.change)}" for each in self.counters)
            if self.counters
            else "",
            f"Measure next: {self.next_to_measure}." if self.next_to_measure else "",
            self.url,
        ]
        return "\n\n".join(filter(None, parts))


def _confidence_words(confidence: float | None) -> str:
    if confidence is None:
        return "not known"
    return "> 99.9 %" if confidence > _NEARLY_CERTAIN else share(confidence)


def _difference_words(found: list[FactDifference]) -> str:
    if not found:
        return "No setting or fact that is known changed with it."
    listed = (f"{one.name}: {one.before or 'not set'} → {one.after or 'not set'}" for one in found)
    return f"Changed with it: {'; '.join(listed)}"


# --- the list ---------------------------------------------------------------------------------------------


def _incidents(viewer: Viewer, asked: IncidentsArguments) -> IncidentsAnswer:
    project = viewer.project(asked.project)
    found = incidents(project)
    if asked.state == "open":
        found = found.filter(open_filter())
    elif asked.state != "all":
        found = found.filter(state=asked.state)
    if asked.state != "all":
        found = found.exclude(status=Incident.Status.WITHDRAWN)
    if asked.kind:
        found = found.filter(kind=asked.kind)
    if asked.product:
        found = found.filter(product__in=_ids(Product, "product", asked.product, project))
    if asked.hardware:
        found = found.filter(seen_on(_ids(Hardware, "hardware", asked.hardware, project)))
    if asked.branch is not None:
        found = found.filter(branch=branch_called(asked.branch))
    if asked.since:
        found = found.filter(started_at__gte=asked.since)
    total = found.count()
    shown = [incident_answer(one) for one in found[asked.offset : asked.offset + asked.limit]]
    return IncidentsAnswer(
        total=total,
        others=0 if total else Incident.objects.filter(project=project).count(),
        incidents=shown,
        left_out=left_out_words(len(shown), total, offset=asked.offset),
        url=absolute("dashboard:incidents", project.slug),
    )


def _ids(model: type[Product] | type[Hardware], what: str, name: str, project: ProjectRow) -> list[int]:
    found = ids_called(model, [name], project)
    if not found:
        known = model._default_manager.filter(project=project).values_list("name", flat=True)
        raise Refusal(nearest_words(what, name, list(known)))
    return found


def incident_answer(one: Any) -> IncidentAnswer:
    """Return an incident as lists show it; ``one`` has what ``described`` adds."""
    workloads = list(one.workloads)
    return IncidentAnswer(
        id=one.pk,
        headline=_headline(one),
        kind=one.kind,
        status=one.status,
        state=str(Incident.State(one.state).value),
        is_historical=one.historical,
        product=one.product.name if one.product else None,
        branch=one.branch,
        line=one.line,
        hardware=one.hardware.name if one.hardware else None,
        since=_end(one.since),
        until=_end(one.until),
        change=one.median,
        worst=one.worst,
        metric=one.metric,
        series=one.series_count,
        of=one.looked_at,
        workloads=workloads[:_MAX_WORKLOADS],
        more_workloads=max(0, len(workloads) - _MAX_WORKLOADS),
        started_at=one.started_at,
        detected_at=one.detected_at,
        confirmed_at=one.confirmed_at,
        recovered_by=one.recovered_by_id,
        remaining=one.remaining,
        url=absolute("dashboard:incident", one.project.slug, one.pk),
    )


def _headline(one: Incident) -> str:
    """Write ``MariaDB main became slower: −14.3 % (transactions per second)``."""
    if one.kind == Incident.Kind.SILENCE:
        words = silence_words(one)
        return f"{words[:1].upper()}{words[1:]}"
    if one.kind == Incident.Kind.DRIFT:
        return f"{one.subject} {drift_words(one)}"
    what = f" ({metric_name(one.metric)})" if one.metric else ""
    return f"{one.subject} {what_happened(one)}: {figure(one)}{what}"


def _end(version: ServerVersion | None) -> str | None:
    return (version.commit or version.version) if version else None


# --- one --------------------------------------------------------------------------------------------------


class IncidentArguments(Arguments):
    incident: Annotated[Id, Field(description="The id of an incident, as incidents gives it.")]


def _incident(viewer: Viewer, asked: IncidentArguments) -> IncidentDetails:
    known = Incident.objects.filter(Q(project__in=viewer.projects()), pk=asked.incident)
    plain = known.select_related("project").first()
    one = incidents(plain.project).filter(pk=plain.pk).first() if plain else None
    if one is None:
        raise Refusal("there is no such incident here, or none that you may see; incidents lists them")
    found = evidence(one)
    versions = range_of(one)
    return IncidentDetails(
        incident=incident_answer(one),
        cause=one.cause[:_MAX_TEXT],
        evidence=[_evidence(each) for each in found[:_MAX_EVIDENCE]],
        evidence_left_out=max(0, len(found) - _MAX_EVIDENCE),
        is_of_one_session=is_of_one_session(found),
        what_changed=[
            FactDifference(
                name=each.name[:_MAX_TEXT],
                before=each.before and each.before[:_MAX_TEXT],
                after=each.after and each.after[:_MAX_TEXT],
            )
            for each in what_changed(found)[:_MAX_DIFFERENCES]
        ],
        counters=[
            CounterAnswer(
                metric=each.metric,
                metric_in_words=metric_name(each.metric),
                unit=each.series.unit,
                before=each.before,
                after=each.after,
                change=each.change,
            )
            for each in moved_counters(found)
        ],
        between=[str(_end(each)) for each in versions.between[:_MAX_BETWEEN]],
        next_to_measure=_end(versions.next_to_measure),
        recovers=list(one.recovers.order_by("pk").values_list("pk", flat=True)),
        url=absolute("dashboard:incident", one.project.slug, one.pk),
    )


def _evidence(one: ChangePoint) -> EvidenceAnswer:
    shown, speed = in_used_unit(one), one.speed_change
    return EvidenceAnswer(
        series=one.series_id,
        workload=one.series.workload.name,
        threads=None if one.series.is_derived else one.series.threads,
        metric=one.series.metric,
        metric_in_words=metric_name(one.series.metric),
        hardware=one.series.hardware.name,
        configuration=one.series.configuration.name,
        state=one.state,
        before=shown.before,
        after=shown.after,
        unit=shown.series.unit,
        direction=one.series.direction,
        change=one.change,
        speed_change=speed,
        confidence=one.confidence,
        noise=one.noise,
        groups_before=one.groups_before,
        groups_after=one.groups_after,
    )


INCIDENTS: Final = Tool(
    name="incidents",
    title="List incidents",
    description=(
        "List incidents: changes of level that one cause made, found in the history, the latest begun first."
        " By default those that somebody should look at."
    ),
    arguments=IncidentsArguments,
    answers=IncidentsAnswer,
    function=_incidents,
)
INCIDENT: Final = Tool(
    name="incident",
    title="Read an incident",
    description=(
        "Read one incident with its evidence: the series that changed, before and after, confidence, what"
        " else changed with it, and between which versions it began."
    ),
    arguments=IncidentArguments,
    answers=IncidentDetails,
    function=_incident,
)
