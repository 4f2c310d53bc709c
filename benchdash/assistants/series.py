"""Series: found by what they are of, and read as histories."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from django.db.models import Model, Q, QuerySet
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
    Threads,
    Tool,
    ToolAnswer,
    left_out_words,
    table,
)
from benchdash.regressions.models import Sensitivity
from benchdash.regressions.queries import by_index, marks
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.branches import branch_called
from benchdash.results.models import Configuration, Hardware, Product, Series, Workload
from benchdash.results.points import read_points
from benchdash.results.queries import ids_called
from benchdash.results.readings import UNKNOWN
from benchdash.results.thinning import thinned
from benchdash.results.wording import change, counted, metric_name, number, share

_MAX_WORDS: Final = 10
_DEFAULT_GROUPS: Final = 60
_MAX_GROUPS: Final = 300
_MAX_NAMES: Final = 2000

_DIRECTIONS: Final = {"higher": "higher is better", "lower": "lower is better", UNKNOWN: "no direction known"}


class SeriesArguments(Arguments):
    project: Project
    text: Annotated[
        Text,
        Field(description="Words that must all stand in names of the series, in any order and case."),
    ] = ""
    product: Annotated[Text, Field(description="Exact name.")] = ""
    workload: Annotated[Text, Field(description="Exact name.")] = ""
    threads: Threads | None = None
    hardware: Annotated[Text, Field(description="Exact name of a machine.")] = ""
    configuration: Annotated[Text, Field(description="Exact name.")] = ""
    metric: Annotated[Text, Field(description="Such as tps, qps, latency_p95, score.")] = ""
    branch: Annotated[
        Text | None, Field(description="A branch; the empty text: releases only; left out: both.")
    ] = None
    line: Annotated[Text, Field(description="A release line, such as 10.6.")] = ""
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


class SeriesAnswer(AnswerPart):
    """One line on a chart. A series of releases has a ``line`` and no ``branch``.

    ``smallest_change`` is the relative loss that would be found in it, null where that is not known.
    """

    id: int
    product: str
    build: str
    branch: str
    line: str
    hardware: str
    configuration: str
    counterpart: str
    workload: str
    threads: int | None
    metric: str
    metric_in_words: str
    unit: str
    direction: str
    is_derived: bool
    smallest_change: float | None
    url: str

    @property
    def place(self) -> str:
        parts = (self.product, self.build, self.branch or self.line, self.counterpart)
        return " ".join(filter(None, parts))


class FoundSeries(ToolAnswer):
    total: int
    series: list[SeriesAnswer]
    left_out: str

    def in_words(self) -> str:
        head = ("id", "of", "workload", "threads", "metric", "unit", "better", "hardware", "configuration")
        rows = [
            (
                *(one.id, one.place, one.workload, one.threads, one.metric, one.unit, one.direction),
                *(one.hardware, one.configuration),
            )
            for one in self.series
        ]
        return f"{table(head, rows)}\n\n{self.left_out}".strip()


class HistoryArguments(Arguments):
    series: Annotated[Id, Field(description="The id of a series, as find_series gives it.")]
    since: Annotated[
        Moment | None,
        Field(description="Only groups that began then or later; ISO 8601, UTC without offset."),
    ] = None
    max_groups: Annotated[int, Field(ge=2, le=_MAX_GROUPS, description="How many groups at most.")] = (
        _DEFAULT_GROUPS
    )


class GroupAnswer(AnswerPart):
    """One version, or on a branch one commit: the median of its runs and the 95 % interval of that."""

    version: str
    commit: str | None
    time: datetime
    value: float
    low: float | None
    high: float | None
    runs: int
    sessions: int


class ChangeAnswer(AnswerPart):
    """A change of level that begins with the group of ``version`` and ``commit``.

    ``change`` is relative and in the unit of the series; ``is_regression`` says whether it is for the worse.
    """

    version: str
    commit: str | None
    time: datetime
    state: str
    before: float
    after: float
    change: float | None
    is_regression: bool | None
    confidence: float | None
    incident: int | None
    incident_url: str | None


class SensitivityAnswer(AnswerPart):
    """``noise`` is that of a group; a loss of ``smallest_change`` is found in eight of ten cases. Shares."""

    noise: float | None
    smallest_change: float | None
    groups: int


class HistoryAnswer(ToolAnswer):
    """``groups`` are in order; of many, the extremes and both sides of each change are among those shown."""

    series: SeriesAnswer
    groups: list[GroupAnswer]
    total: int
    left_out: str
    changes: list[ChangeAnswer]
    sensitivity: SensitivityAnswer | None
    is_watched: bool
    is_analysed: bool
    url: str

    def in_words(self) -> str:
        one = self.series
        threads = "" if one.threads is None else f" at {counted(one.threads, 'thread')}"
        unit = f" in {one.unit}" if one.unit else ""
        head = (
            f"{one.metric_in_words}{unit} ({_DIRECTIONS[one.direction]}) of {one.workload}{threads},"
            f" {one.place} on {one.hardware}, configuration {one.configuration}:"
            f" {counted(self.total, 'group')}."
        )
        rows = [
            (
                *(group.version, (group.commit or "")[:10], f"{group.time:%Y-%m-%d}", number(group.value)),
                *(number(group.low), number(group.high), group.runs, group.sessions),
            )
            for group in self.groups
        ]
        columns = ("version", "commit", "day", "value", "low", "high", "runs", "sessions")
        parts = [head, *map(_change_words, self.changes)]
        if not self.is_watched:
            parts.append("Changes of level are not looked for in it: judge nothing by their absence.")
        elif not self.changes:
            parts.append("No change of level is known in it.")
        if self.is_watched and not self.is_analysed:
            parts.append("Newer results have not been looked at yet; ask again in a minute.")
        if self.sensitivity and self.sensitivity.smallest_change is not None:
            parts.append(f"Changes below {share(self.sensitivity.smallest_change)} would not be found in it.")
        return "\n\n".join(filter(None, [*parts, table(columns, rows), self.left_out, self.url]))


def _change_words(one: ChangeAnswer) -> str:
    kind = {True: "regression", False: "improvement", None: "change"}[one.is_regression]
    at = " ".join(filter(None, [one.version, (one.commit or "")[:10], f"({one.time:%Y-%m-%d})"]))
    by = f" ({change(one.change)})" if one.change is not None else ""
    link = f" {one.incident_url}" if one.incident_url else ""
    return f"{one.state.capitalize()} {kind} at {at}: {number(one.before)} to {number(one.after)}{by}.{link}"


# --- finding ----------------------------------------------------------------------------------------------


_PARTS: Final[tuple[tuple[str, type[Model]], ...]] = (
    ("product", Product),
    ("workload", Workload),
    ("hardware", Hardware),
    ("configuration", Configuration),
)
_TEXTS: Final = (
    *("product__name", "workload__name", "hardware__name", "configuration__name"),
    *("metric", "branch", "line", "build", "counterpart"),
)


def _find(viewer: Viewer, asked: SeriesArguments) -> FoundSeries:
    project = viewer.project(asked.project)
    found = _matching(project, asked)
    total = found.count()
    if not total:
        raise Refusal(_nothing_fits(project, asked))
    rows = found.select_related(
        "product", "workload", "hardware", "configuration", "project", "sensitivity"
    ).order_by(
        *("product__name", "branch", "line", "workload__name", "threads", "metric", "hardware__name", "pk")
    )[asked.offset : asked.offset + asked.limit]
    shown = [series_answer(one) for one in rows]
    return FoundSeries(
        total=total, series=shown, left_out=left_out_words(len(shown), total, offset=asked.offset)
    )


def _matching(project: ProjectRow, asked: SeriesArguments) -> QuerySet[Series]:
    found = Series.objects.filter(project=project)
    for name, model in _PARTS:
        if value := getattr(asked, name):
            found = found.filter(**{f"{name}__in": ids_called(model, [value], project)})
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


def _nothing_fits(project: ProjectRow, asked: SeriesArguments) -> str:
    """Say which name is not known, with the nearest ones; else that no series has all of them."""
    said = ["no series fits"]
    for name, model in _PARTS:
        value = getattr(asked, name)
        if value and not ids_called(model, [value], project):
            known = model._default_manager.filter(project=project).values_list("name", flat=True)
            said.append(nearest_words(name, value, list(known[:_MAX_NAMES])))
    for name in ("metric", "line", "branch", "threads"):
        value = getattr(asked, name)
        if value not in ("", None):
            known = Series.objects.filter(project=project).order_by().values_list(name, flat=True).distinct()
            names = [str(one) for one in known[:_MAX_NAMES] if one not in ("", None)]
            if str(value) not in names:
                said.append(nearest_words(name, str(value), names))
    if len(said) == 1:
        said.append("each name is known, but no series has all of them; leave some out")
    return "; ".join(said)


def series_answer(one: Series) -> SeriesAnswer:
    known = _sensitivity(one)
    return SeriesAnswer(
        id=one.pk,
        product=one.product.name,
        build=one.build,
        branch=one.branch,
        line=one.line,
        hardware=one.hardware.name,
        configuration=one.configuration.name,
        counterpart=one.counterpart,
        workload=one.workload.name,
        threads=one.threads,
        metric=one.metric,
        metric_in_words=metric_name(one.metric),
        unit=one.used.unit,
        direction=one.direction,
        is_derived=one.is_derived,
        smallest_change=known.smallest_change if known else None,
        url=_url(one),
    )


def _url(series: Series) -> str:
    return f"{absolute('dashboard:history', series.project.slug)}?series={series.pk}"


def _sensitivity(series: Series) -> Sensitivity | None:
    return getattr(series, "sensitivity", None)


# --- a history --------------------------------------------------------------------------------------------


def _history(viewer: Viewer, asked: HistoryArguments) -> HistoryAnswer:
    known = Series.objects.select_related(
        "product", "workload", "hardware", "configuration", "project", "sensitivity"
    )
    one = known.filter(pk=asked.series, project__in=viewer.projects()).first()
    if one is None:
        raise Refusal("there is no such series here, or none that you may see; find_series names them")
    points = read_points({one.pk: one})
    found = by_index((mark for mark in marks(one.pk) if mark.per_point is None), points.index_of)
    used = one.used
    columns = {
        name: points.column(name) for name in ("version", "commit", "time", "value", "low", "high", "n")
    }
    sessions = points.independent.tolist()
    earliest = asked.since.timestamp() if asked.since else float("-inf")
    since = [at for at, time in enumerate(columns["time"]) if time >= earliest]
    shown = _thinned(since, columns["value"], asked.max_groups, set(found))
    # "low" and "high" are null of one run whose tool says nothing of its error.
    groups = [
        GroupAnswer(
            version=columns["version"][at],
            commit=columns["commit"][at],
            time=_moment(columns["time"][at]),
            value=used.of(columns["value"][at]),
            low=used.maybe(columns["low"][at]),
            high=used.maybe(columns["high"][at]),
            runs=columns["n"][at],
            sessions=sessions[at],
        )
        for at in shown
    ]
    changes = [
        ChangeAnswer(
            version=columns["version"][at],
            commit=columns["commit"][at],
            time=_moment(columns["time"][at]),
            state=mark.state,
            before=used.of(mark.before),
            after=used.of(mark.after),
            change=mark.change,
            is_regression=(mark.after < mark.before) == one.higher_is_better if one.has_direction else None,
            confidence=mark.confidence,
            incident=mark.incident_id,
            incident_url=(
                absolute("dashboard:incident", one.project.slug, mark.incident_id)
                if mark.incident_id
                else None
            ),
        )
        for at, mark in found.items()
        if columns["time"][at] >= earliest
    ]
    left = len(columns["time"]) - len(shown)
    known_of, rules = _sensitivity(one), rules_of(one.project_id)
    return HistoryAnswer(
        series=series_answer(one),
        groups=groups,
        total=len(columns["time"]),
        left_out=_not_shown(left, len(columns["time"]), is_thinned=len(shown) < len(since)),
        changes=changes[-_MAX_GROUPS:],
        sensitivity=(
            SensitivityAnswer(
                noise=known_of.noise, smallest_change=known_of.smallest_change, groups=known_of.groups
            )
            if known_of
            else None
        ),
        is_watched=rules.watches(one) or rules.counted(one.metric) is not None,
        is_analysed=not Series.objects.filter(pk=one.pk, touched__isnull=False).exists(),
        url=_url(one),
    )


def _not_shown(left: int, total: int, *, is_thinned: bool) -> str:
    if not left:
        return ""
    which = "; extremes and both sides of changes are among those shown" if is_thinned else ""
    return f"{left} of {counted(total, 'group')} are not shown{which}."


def _thinned(among: Sequence[int], values: Sequence[float], most: int, begins: set[int]) -> list[int]:
    """Return those of the groups that are shown: at most so many, unless the sides of changes are more.

    Of more changes than any answer holds, the newest groups are.
    """
    places = {place for place, at in enumerate(among) if at in begins}
    keep = places | {place - 1 for place in places if place}
    if len(keep) + 2 > _MAX_GROUPS:
        return list(among[-most:])
    return [among[place] for place in thinned([values[at] for at in among], most, keep=keep)]


def _moment(epoch: Any) -> datetime:
    return datetime.fromtimestamp(float(epoch), UTC)


FIND_SERIES: Final = Tool(
    name="find_series",
    title="Find series",
    description=(
        "Find series: lines on charts, each one metric of one workload and thread count of one product on one"
        " machine. Gives the ids that `history` wants. Names that are not known are answered with the nearest"
        " ones."
    ),
    arguments=SeriesArguments,
    answers=FoundSeries,
    function=_find,
)
HISTORY: Final = Tool(
    name="history",
    title="Read the history of a series",
    description=(
        "Read one series: the value of each version or commit in order, and where its level changed, with the"
        " incident of each change. Says which changes are too small to be found in it."
    ),
    arguments=HistoryArguments,
    answers=HistoryAnswer,
    function=_history,
)
