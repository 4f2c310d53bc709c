"""Incidents: the list, and one with its evidence."""

from typing import Annotated, Any, Final, Literal

from django.db.models import Q
from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.addresses import absolute
from benchdash.answers.incidents import ChangePointSerializer, IncidentDetailSerializer, IncidentSerializer
from benchdash.assistants.shapes import (
    DEFAULT_LIMIT,
    Arguments,
    Branch,
    Id,
    Limit,
    Machine,
    Moment,
    Name,
    Offset,
    Project,
    Refusal,
    Tool,
    ids_named,
    left_out_words,
    short,
    told,
)
from benchdash.regressions.headlines import figure, what_happened
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import evidence, incidents, is_of_one_session, open_filter, seen_on
from benchdash.regressions.used_units import in_used_unit
from benchdash.results.branches import branch_called
from benchdash.results.models import Hardware, Product

# Told in other words: `change`, `from` and `to`.
_TWICE: Final = ("median", "from_version", "to_version")

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
    product: Name = ""
    hardware: Machine = ""
    branch: Branch = None
    since: Moment | None = None
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


def _incidents(viewer: Viewer, asked: IncidentsArguments) -> dict[str, Any]:
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
        found = found.filter(product__in=ids_named(Product, asked.product, project))
    if asked.hardware:
        found = found.filter(seen_on(ids_named(Hardware, asked.hardware, project)))
    if asked.branch is not None:
        found = found.filter(branch=branch_called(asked.branch))
    if asked.since:
        found = found.filter(started_at__gte=asked.since)
    total = found.count()
    others = 0 if total else Incident.objects.filter(project=project).count()
    shown = incident_answers(found[asked.offset : asked.offset + asked.limit])
    return {
        "total": total,
        "incidents": shown,
        "left_out": left_out_words(len(shown), total, offset=asked.offset),
        "note": f"No incident fits; {others} others are found by state 'all' without filters."
        if others
        else "",
        "page": absolute("dashboard:incidents", project.slug),
    }


def incident_answers(found: Any) -> list[dict[str, Any]]:
    """Return incidents as lists show them; ``found`` has what ``described`` adds."""
    rows = found.select_related("project", "recovered_by__project", "folded_into__project")
    return [
        {
            "headline": _headline(one),
            **told(IncidentSerializer, one, *_TWICE, "change_points", "recovers"),
            **short({"workloads": one.workloads}, most=10),
        }
        for one in rows
    ]


def _headline(one: Incident) -> str:
    """Write ``MariaDB main became slower: −14.3 %``."""
    words = f"{one.subject} {what_happened(one)}"
    has_figure = one.kind not in {Incident.Kind.SILENCE, Incident.Kind.DRIFT}
    return f"{words}: {figure(one)}" if has_figure else words


class IncidentArguments(Arguments):
    incident: Annotated[Id, Field(description="The id of an incident, as incidents gives it.")]


def _incident(viewer: Viewer, asked: IncidentArguments) -> dict[str, Any]:
    known = Incident.objects.filter(Q(project__in=viewer.projects()), pk=asked.incident)
    plain = known.select_related("project").first()
    one = incidents(plain.project).filter(pk=plain.pk).first() if plain else None
    if one is None:
        raise Refusal("there is no such incident here, or none that you may see; incidents lists them")
    found = evidence(one)
    alone = "One session on each side is all there is: it cannot be told from a change of the machine."
    return {
        "headline": _headline(one),
        **told(IncidentDetailSerializer, one, *_TWICE, "change_points"),
        "note": alone if is_of_one_session(found) else "",
        **short({"change_points": ChangePointSerializer(map(in_used_unit, found), many=True).data}),
    }


INCIDENTS: Final = Tool(
    name="incidents",
    title="List incidents",
    description=(
        "List incidents: changes of level that one cause made, found in the history, the latest begun first."
        " By default those that somebody should look at. `change` is of speed, whatever the direction of the"
        " metric: -0.1 is 10 % slower, in the median over the `series` that changed, of the `of` that were"
        " looked at. `from` is the last version or commit of the old level, `to` the first of the new one."
        " `status` is what analysis says (`suspected` is not certain), `state` what people say."
    ),
    arguments=IncidentsArguments,
    function=_incidents,
)
INCIDENT: Final = Tool(
    name="incident",
    title="Read an incident",
    description=(
        "Read one incident with its evidence: the series that changed, before and after, confidence, what"
        " else changed with it, and between which versions it began. The `change` of a series is relative and"
        " in its own unit. Measuring `next_to_measure` halves the range of versions."
    ),
    arguments=IncidentArguments,
    function=_incident,
)
