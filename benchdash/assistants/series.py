"""Series: found by what they are of, and read as histories."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from django.db.models import Q, QuerySet
from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project as ProjectRow
from benchdash.addresses import history_of
from benchdash.answers.runs import SeriesSerializer, points_answer
from benchdash.assistants.shapes import (
    MAX_NAMES,
    Branch,
    Id,
    ListTool,
    Machine,
    Metric,
    Moment,
    Name,
    Project,
    Refusal,
    Text,
    Threads,
    Tool,
    nearest_words,
    told,
    with_names,
)
from benchdash.regressions.used_units import series_in_unit
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.branches import branch_called
from benchdash.results.models import Configuration, Hardware, Product, Series, Workload
from benchdash.results.points import read_points

_MAX_WORDS: Final = 10
_DEFAULT_GROUPS: Final = 60
_MAX_GROUPS: Final = 300
_NAMED: Final = {
    "product": Product,
    "workload": Workload,
    "hardware": Hardware,
    "configuration": Configuration,
}
_OWN: Final = ("metric", "branch", "line")
_TEXTS: Final = (*(f"{name}__name" for name in _NAMED), *_OWN, "build", "counterpart")
_GROUP: Final = ("version", "commit", "time")
_FIGURES: Final = ("value", "low", "high")


class FindSeries(ListTool):
    """Find series: lines on charts.

    Each is one metric of one workload and thread count of one product on one machine. Gives the ids
    that `history` wants. Names that are not known are answered with the nearest ones. A series of
    releases has a `line` and no `branch`.
    """

    name = "find_series"
    title = "Find series"
    project: Project
    text: Annotated[
        Text,
        Field(description="Words that must all stand in names of the series, in any order and case."),
    ] = ""
    product: Name = ""
    workload: Name = ""
    threads: Threads | None = None
    hardware: Machine = ""
    configuration: Name = ""
    metric: Metric = ""
    branch: Branch = None
    line: Annotated[Text, Field(description="A release line, such as 10.6.")] = ""

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        project = viewer.project(self.project)
        found = _matching(project, self)
        total = found.count()
        if not total:
            raise Refusal(_nothing_fits(project, self))
        rows = found.select_related(*_NAMED, "project").order_by(
            *("product__name", "branch", "line", "workload__name", "threads", "metric"),
            *("hardware__name", "pk"),
        )
        return self.listed("series", [_series(one, "points") for one in self.shown(rows)], total)


class ReadHistory(Tool):
    """Read one series: the value of each version or commit in order, and where its level changed.

    Each change has its incident. A row is a group: the median of its `n` runs and the 95 % interval of
    that. A change point begins with the group that it names; its `change` is relative, in the unit of
    the series. A `drift` is a loss that came little by little, `per_point` from group to group.
    """

    name = "history"
    title = "Read the history of a series"
    series: Annotated[Id, Field(description="The id of a series, as find_series gives it.")]
    since: Moment | None = None
    max_groups: Annotated[int, Field(ge=2, le=_MAX_GROUPS, description="How many groups at most.")] = (
        _DEFAULT_GROUPS
    )

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        known = Series.objects.select_related(*_NAMED, "project")
        one = known.filter(pk=self.series, project__in=viewer.projects()).first()
        if one is None:
            raise Refusal("there is no such series here, or none that you may see; find_series names them")
        since = self.since.timestamp() if self.since else None
        answer = points_answer(
            one,
            read_points({one.pk: one}),
            columns=(*_GROUP, *_FIGURES, "n", "sessions"),
            since=since,
            most=self.max_groups,
        )
        groups = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
        for group in groups:
            group["time"] = datetime.fromtimestamp(group["time"], UTC).isoformat(timespec="seconds")
            group |= {name: one.used.maybe(group[name]) for name in _FIGURES}
        changes = [dict(one) for one in answer["change_points"]]
        for change in changes:
            group = groups[change.pop("index")]
            change |= {name: group[name] for name in _GROUP}
            change |= {name: one.used.of(change[name]) for name in ("before", "after")}
        drift = answer["drift"] and dict(answer["drift"])
        if drift:
            drift |= {f"{end}_time": groups[drift.pop(f"{end}_index")]["time"] for end in ("from", "to")}
            drift |= {name: one.used.of(drift[name]) for name in ("before", "after")}
        # The newest groups, where there are more changes than any answer holds.
        groups = groups[-_MAX_GROUPS:]
        return {
            "series": _series(one),
            "groups": groups,
            "left_out": _not_shown(len(groups), answer["series"]["points"]),
            "change_points": changes[-_MAX_GROUPS:],
            "drift": drift,
            "note": _note(one, has_changes=bool(changes or drift)),
        }


def _matching(project: ProjectRow, asked: FindSeries) -> QuerySet[Series]:
    found = with_names(Series.objects.filter(project=project), asked, project, _NAMED)
    for name in ("metric", "line"):
        if value := getattr(asked, name):
            found = found.filter(**{name: value})
    if asked.branch is not None:
        found = found.filter(branch=branch_called(asked.branch))
    if asked.threads is not None:
        found = found.filter(threads=asked.threads)
    for word in asked.text.split()[:_MAX_WORDS]:
        anywhere = Q()
        for field in _TEXTS:
            anywhere |= Q(**{f"{field}__icontains": word})
        found = found.filter(anywhere)
    return found


def _nothing_fits(project: ProjectRow, asked: FindSeries) -> str:
    """Say which name is not known, with the nearest ones; else that no series has all of them."""
    said = ["no series fits"]
    for name in (*_OWN, "threads"):
        value = getattr(asked, name)
        if value not in ("", None):
            known = Series.objects.filter(project=project).order_by().values_list(name, flat=True).distinct()
            names = [str(one) for one in known[:MAX_NAMES] if one not in ("", None)]
            if str(value) not in names:
                said.append(nearest_words(name, str(value), names))
    if len(said) == 1:
        said.append("each name is known, but no series has all of them; leave some out")
    return "; ".join(said)


def _series(one: Series, *without: str) -> dict[str, Any]:
    page = history_of(one.pk).absolute(one.project.slug)
    return {**told(SeriesSerializer, series_in_unit(one, one.used), *without), "page": page}


def _not_shown(shown: int, total: int) -> str:
    if shown == total:
        return ""
    which = "of those asked for, extremes and both sides of changes are"
    return f"{total - shown} of {total} groups are not shown; {which}."


def _note(one: Series, *, has_changes: bool) -> str:
    """Say what the change points, or their absence, do not tell."""
    rules, said = rules_of(one.project_id), []
    if not (rules.watches(one) or rules.counted(one.metric)):
        said.append("Changes of level are not looked for in it: judge nothing by their absence.")
    else:
        if not has_changes:
            said.append("No change of level is known in it.")
        if Series.objects.filter(pk=one.pk, touched__isnull=False).exists():
            said.append("Newer results have not been looked at yet; ask again in a minute.")
    return " ".join(said)
