"""Incidents: the list, and one with its evidence."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.addresses import absolute
from benchdash.answers.incidents import ChangePointSerializer, IncidentDetailSerializer, IncidentSerializer
from benchdash.assistants.shapes import (
    Branch,
    Id,
    ListTool,
    Machine,
    Moment,
    Name,
    Project,
    Refusal,
    Tool,
    ids_named,
    short,
    told,
    with_names,
)
from benchdash.regressions.headlines import figure, what_happened
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import (
    described,
    evidence,
    incidents,
    is_of_one_session,
    open_filter,
    seen_on,
)
from benchdash.regressions.used_units import in_used_unit
from benchdash.results.branches import branch_called
from benchdash.results.models import Hardware, Product

# Told in other words: `change`, `from` and `to`.
_TWICE: Final = ("median", "from_version", "to_version")

State = Literal["new", "acknowledged", "investigating", "expected", "wontfix", "fixed", "invalid"]
Kind = Literal["regression", "improvement", "environment", "silence", "drift"]


class Incidents(ListTool):
    """List incidents: changes of level that one cause made, found in the history, the latest begun first.

    By default those that somebody should look at. `change` is of speed, whatever the direction of the
    metric: -0.1 is 10 % slower, in the median over the `series` that changed, of the `of` that were
    looked at. `from` is the last version or commit of the old level, `to` the first of the new one.
    `status` is what analysis says (`suspected` is not certain), `state` what people say.
    """

    name = "incidents"
    title = "List incidents"
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

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        project = viewer.project(self.project)
        found = incidents(project)
        if self.state == "open":
            found = found.filter(open_filter())
        elif self.state != "all":
            found = found.filter(state=self.state)
        if self.state != "all":
            found = found.exclude(status=Incident.Status.WITHDRAWN)
        if self.kind:
            found = found.filter(kind=self.kind)
        found = with_names(found, self, project, {"product": Product})
        if self.hardware:
            found = found.filter(seen_on(ids_named(Hardware, self.hardware, project)))
        if self.branch is not None:
            found = found.filter(branch=branch_called(self.branch))
        if self.since:
            found = found.filter(started_at__gte=self.since)
        total = found.count()
        others = 0 if total else Incident.objects.filter(project=project).count()
        hint = f"No incident fits; {others} others are found by state 'all' without filters."
        return {
            **self.listed("incidents", incident_answers(self.shown(found)), total),
            "note": hint if others else "",
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


class OneIncident(Tool):
    """Read one incident with its evidence.

    The evidence are the series that changed, before and after, confidence, what else changed with it,
    and between which versions it began. The `change` of a series is relative and in its own unit.
    Measuring `next_to_measure` halves the range of versions.
    """

    name = "incident"
    title = "Read an incident"
    incident: Annotated[Id, Field(description="The id of an incident, as incidents gives it.")]

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        one = described(Incident.objects.filter(project__in=viewer.projects(), pk=self.incident)).first()
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
