"""The columns of comparisons: versions at places, how they are chosen and called, and what they contain."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, Final, NamedTuple

from django.db.models import Count, F, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId
from benchdash.regressions.comparison.cells import ColumnKey, threads_in, workloads_named
from benchdash.results.branches import branch_called
from benchdash.results.controls import is_control
from benchdash.results.models import UNKNOWN_VERSION, Measurement, Run, Series, ServerVersion, VersionPlace
from benchdash.results.place import Place
from benchdash.results.points import MeasuredVersion, measured_versions
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.readings import DERIVED
from benchdash.results.version_places import MeasuredPlace, measured_places, nearest_version, versions_at
from benchdash.results.versions import parse_version

MAX_CANDIDATES: Final = 20
_SHORT_COMMIT: Final = 10
_OF_VERSION: Final = frozenset({"product", "version", "build", "commit"})
# The fields of runs that name their column, in the order of MeasuredPlace.
_OF_RUN: Final = (
    "version",
    "branch",
    "hardware",
    "hardware__name",
    "configuration",
    "configuration__name",
    "counterpart",
)


class SelectorError(Exception):
    """A selector that names nothing, or more than one thing; ``candidates`` are what it could mean.

    ``field`` says which: a side, a part of a place, or ``metric``, which none of the versions has.
    """

    def __init__(self, message: str, candidates: Sequence[Mapping[str, Any]] = (), *, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class Selector:
    """Which runs make one column. What is None may be anything, as long as one thing is meant in the end."""

    id: int | None = None
    product: str | None = None
    version: str | None = None
    build: str | None = None
    commit: str | None = None
    branch: str | None = None
    hardware: str | None = None
    configuration: str | None = None
    counterpart: str | None = None
    hardware_id: int | None = None
    configuration_id: int | None = None

    @classmethod
    def of_id(cls, column: ColumnId) -> "Selector":
        version, hardware, configuration, branch, counterpart = column
        return cls(
            id=version,
            branch=branch,
            counterpart=counterpart,
            hardware_id=hardware,
            configuration_id=configuration,
        )

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.given.items()) or "(empty)"

    @property
    def given(self) -> dict[str, int | str]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def conditions(self) -> Q:
        """Which runs fit. Old names and version texts as packages write them count too."""
        exact = {
            "id": "version",
            "build": "version__build",
            "commit": "version__commit__startswith",
            "counterpart": "counterpart",
            "hardware_id": "hardware",
            "configuration_id": "configuration",
        }
        named = {"product": "version__product", "hardware": "hardware", "configuration": "configuration"}
        found = Q()
        for name, value in self.given.items():
            if path := named.get(name):
                found &= Q(**{f"{path}__name": value}) | Q(**{f"{path}__aliases__name": value})
            elif name == "branch":
                found &= Q(branch=branch_called(str(value)))
            elif name == "version":
                texts = {value, parse_version(str(value)).version}
                found &= Q(version__version__in=texts) | Q(version__aliases__name=value)
            else:
                found &= Q(**{exact[name]: value})
        return found

    def completed_by(self, filters: Mapping[str, str]) -> "Selector":
        """Take the rest from a query's filters of the same names. An id says all of its thing already."""
        taken = self.given.keys() | (_OF_VERSION if self.id is not None else set())
        taken |= {name for name in ("hardware", "configuration") if f"{name}_id" in taken}
        missing = asdict(self).keys() - taken
        added: dict[str, Any] = {name: value for name, value in filters.items() if name in missing}
        return replace(self, **added)


class Column(NamedTuple):
    """One version at one place: what a selector means in the end."""

    version: ServerVersion | MeasuredVersion
    branch: str
    hardware: str
    configuration: str
    counterpart: str
    hardware_id: int
    configuration_id: int

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.version.pk,
            "product": self.version.product.name,
            "version": self.version.version,
            "build": self.version.build,
            "commit": self.version.commit,
            "branch": self.branch,
            "hardware": self.hardware,
            "configuration": self.configuration,
            "counterpart": self.counterpart,
        }

    @property
    def key(self) -> ColumnKey:
        return self.version.pk, self.branch, self.hardware_id, self.configuration_id, self.counterpart

    @property
    def place(self) -> Place:
        """The place of its histories, of every version and branch."""
        product = self.version.product
        return Place(
            project_id=product.project_id,
            product_id=product.pk,
            build=self.version.build,
            branch="",
            line="",
            hardware_id=self.hardware_id,
            configuration_id=self.configuration_id,
            counterpart=self.counterpart,
        )


# --- finding ----------------------------------------------------------------------------------------------


def included_runs(
    project: Project,
    *,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
    metric: str = "",
) -> QuerySet[Run]:
    """Return the runs of some workloads, also by their old names, and thread counts; empty means all.

    A derived ``metric`` is of whole curves: it stands at no thread count.
    """
    runs = Run.objects.filter(project=project, excluded_at=None)
    if workloads:
        runs = runs.filter(workload__in=workloads_named(project.pk, workloads))
    if metric in DERIVED:
        return runs.none() if threads and None not in threads else runs
    return runs.filter(threads_in(threads)) if threads else runs


def find_column(project: Project, selector: Selector, *, field: str) -> Column:
    """Find the one column that a selector means in a project. Raises SelectorError for ``field``."""
    [column] = _resolve(included_runs(project), [(selector, field)])
    return column


def chosen_columns(
    runs: QuerySet[Run], base: Selector, against: Sequence[Selector], filters: Mapping[str, str]
) -> tuple[Column, list[Column]]:
    """Find the base and the columns against it, by default all versions of its product at its place.

    Raises SelectorError where a selector is ambiguous or nothing fits.
    """
    selectors = [(base.completed_by(filters), "base")]
    selectors += [(one.completed_by(filters), "against") for one in against]
    base_column, *columns = _resolve(runs, selectors)
    return base_column, columns if against else _other_versions(runs, base_column)


def columns_of(project: Project, selector: Selector) -> list[Column]:
    """List every version at every place that fits, in the order of versions."""
    if selector == Selector():
        return _without_pull_requests(columns_at(measured_places(project)))
    return _fitting(included_runs(project), selector)


def columns_of_runs(runs: QuerySet[Run]) -> list[Column]:
    """List the columns of some runs in the order of versions; two statements."""
    return columns_at(_places_of_runs(runs))


def _places_of_runs(runs: QuerySet[Run]) -> list[MeasuredPlace]:
    return list(runs.order_by().values_list(*_OF_RUN).distinct())


def _key(place: MeasuredPlace) -> ColumnKey:
    version, branch, hardware, _, configuration, _, counterpart = place
    return version, branch, hardware, configuration, counterpart


def neighbour(
    column: Column, *, workloads: QuerySet[Any, Any] | None = None, or_next: bool = True
) -> Column | None:
    """Return the version before a column at its place with one of these workloads, else the one after it.

    Without ``or_next`` there is none then.
    """
    runs = column.place.runs.filter(branch=column.branch, excluded_at=None).order_by()
    runs = runs if workloads is None else runs.filter(workload__in=workloads)
    names = ("version", "branch", "hardware", "configuration", "counterpart")
    at = VersionPlace.objects.filter(**dict(zip(names, column.key, strict=True))).first()
    nearest = nearest_version(runs, at, or_next=or_next) if at else None
    if nearest is None:
        return None
    place = (column.hardware_id, column.hardware, column.configuration_id, column.configuration)
    return columns_at([(nearest, column.branch, *place, column.counterpart)])[0]


def columns_at(places: Collection[MeasuredPlace]) -> list[Column]:
    """Make columns of places, in the order of versions; one statement."""
    versions = measured_versions({version for version, *_ in places})
    columns = [
        Column(versions[version], branch, hardware, configuration, counterpart, hardware_id, configuration_id)
        for version, branch, hardware_id, hardware, configuration_id, configuration, counterpart in places
    ]
    return sorted(columns, key=_order)


def column_of(run: Run) -> Column:
    """Return the column to which a run belongs."""
    return Column(
        version=run.version,
        branch=run.branch,
        hardware=run.hardware.name,
        configuration=run.configuration.name,
        counterpart=run.counterpart,
        hardware_id=run.hardware_id,
        configuration_id=run.configuration_id,
    )


def _fitting(runs: QuerySet[Run], selector: Selector) -> list[Column]:
    return _meant(selector, columns_of_runs(runs.filter(selector.conditions)))


def _meant(selector: Selector, fitting: list[Column]) -> list[Column]:
    """Return what a selector means: pull requests where it names one or nothing else fits."""
    return fitting if selector.branch else _without_pull_requests(fitting) or fitting


def _without_pull_requests(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if not is_of_pull_request(column.branch)]


def _resolve(runs: QuerySet[Run], selectors: Sequence[tuple[Selector, str]]) -> list[Column]:
    """Return the one column that each selector means, which came in a field; a statement each, and one."""
    places = [_places_of_runs(runs.filter(selector.conditions)) for selector, _ in selectors]
    columns = columns_at(set(chain.from_iterable(places)))
    found = []
    for (selector, field), of_selector in zip(selectors, places, strict=True):
        fits = set(map(_key, of_selector))
        found.append(_only(selector, [column for column in columns if column.key in fits], field=field))
    return found


def _only(selector: Selector, fitting: list[Column], *, field: str) -> Column:
    found = _meant(selector, fitting)
    if not found:
        raise SelectorError(f"no run fits the selector {selector}", field=field)
    if len(found) > 1:
        candidates = [column.as_json() for column in found[:MAX_CANDIDATES]]
        raise SelectorError(
            f"the selector {selector} fits {len(found)} columns; say more", candidates, field=field
        )
    return found[0]


def _other_versions(runs: QuerySet[Run], base: Column) -> list[Column]:
    """List the other versions of a product at the place of ``base``; two statements.

    Controls are left out, which tell of the machine and not of the product.
    """
    product = base.version.product
    ids = versions_at(runs, product.project_id, product.pk, base.key[1:])
    versions = measured_versions(set(ids) - {base.version.pk}).values()
    columns = (base._replace(version=one) for one in versions if not is_control(one.build))
    return sorted(columns, key=_order)


def _order(column: Column) -> tuple[Any, ...]:
    version = column.version
    return (
        version.product.name,
        version.sort_key,
        version.committed_at.timestamp() if version.committed_at else 0,
        version.build,
        version.commit or "",
        column.branch,
        column.hardware,
        column.configuration,
        column.counterpart,
    )


# --- names ------------------------------------------------------------------------------------------------


def short_id(column: Column) -> str:
    """Return the id of a column in addresses."""
    return str(id_at(column.version.pk, column))


def id_at(version: int, place: Column | Run | Series) -> ColumnId:
    return ColumnId(version, place.hardware_id, place.configuration_id, place.branch, place.counterpart)


def names(columns: Sequence[Column]) -> list[str]:
    """Name each column by its version and by what else is not the same in all of them."""
    parts = [(one.branch, one.hardware, one.configuration, one.counterpart) for one in columns]
    differ = [len(set(of_part)) > 1 for of_part in zip(*parts, strict=True)]
    return [
        ", ".join(filter(None, [version, *(part for part, tells in zip(of, differ, strict=True) if tells)]))
        for version, of in zip(_version_names(columns), parts, strict=True)
    ]


def _version_names(columns: Sequence[Column]) -> list[str]:
    """Product where they differ, version and build; a commit where it says more than the version does."""
    with_product = len({column.version.product_id for column in columns}) > 1
    plain = [_version_name(column, with_product=with_product) for column in columns]
    versions_by_name: dict[str, set[int]] = defaultdict(set)
    for name, column in zip(plain, columns, strict=True):
        versions_by_name[name].add(column.version.pk)
    return [
        f"{name} {short_commit(column)}".strip() if len(versions_by_name[name]) > 1 else name
        for name, column in zip(plain, columns, strict=True)
    ]


def _version_name(column: Column, *, with_product: bool) -> str:
    version = column.version
    known = version.version
    if known == UNKNOWN_VERSION:
        known = short_commit(column) or ("" if with_product else UNKNOWN_VERSION)
    return " ".join(filter(None, [version.product.name if with_product else "", known, version.build]))


def short_commit(column: Column) -> str:
    """Return the beginning of the commit of a column, empty where it has none."""
    return (column.version.commit or "")[:_SHORT_COMMIT]


def are_versions_in_order(columns: Sequence[Column]) -> bool:
    """Tell whether these are versions of one product, each once, so that colours may follow their order."""
    versions = {column.version.pk for column in columns}
    return len(versions) == len(columns) and len({column.version.product_id for column in columns}) < 2


# --- contents ---------------------------------------------------------------------------------------------


class ColumnContents(NamedTuple):
    """Metrics, workloads and thread counts that were measured of some columns, to choose from.

    ``metrics`` have the number of their series, ``workloads`` are names by id, in order of names. The last of
    ``threads`` may be None, for runs with an unknown thread count.
    """

    metrics: dict[str, int]
    workloads: dict[int, str]
    threads: Sequence[int | None]


def contents_of(project: Project, columns: Sequence[Column]) -> ColumnContents:
    """Return what was measured of these columns; one statement.

    A little more is found where columns of several products stand at several places.
    """
    found = Series.objects.filter(
        project=project,
        product__in={column.version.product_id for column in columns},
        build__in={column.version.build for column in columns},
        **_common(columns),
    )
    rows = found.order_by("workload__name", F("threads").asc(nulls_last=True)).values_list(
        "metric", "workload", "workload__name", "threads", "is_derived"
    )
    metrics: Counter[str] = Counter()
    workloads: dict[int, str] = {}
    threads: set[int | None] = set()
    for metric, workload, name, count, is_derived in rows:
        metrics[metric] += 1
        workloads[workload] = name
        if not is_derived:
            threads.add(count)
    return ColumnContents(metrics, workloads, sorted(threads, key=lambda count: (count is None, count or 0)))


def metrics_in_common(project: Project, columns: Sequence[Column]) -> dict[str, int]:
    """Return the metrics that were measured of each of these columns, with the number of their series.

    One statement.
    """
    versions = {column.version.pk for column in columns}
    measured = Measurement.objects.filter(
        run__excluded_at=None, run__project=project, run__version__in=versions, **_common(columns, "run__")
    )
    of_version, of_series = (Count(name, distinct=True) for name in ("run__version", "series"))
    rows = measured.order_by().values("series__metric").annotate(versions=of_version, number=of_series)
    return dict(rows.filter(versions=len(versions)).values_list("series__metric", "number"))


def _common(columns: Sequence[Column], of: str = "") -> dict[str, Any]:
    """Return conditions of runs and series at any of the places of these columns."""
    return {
        f"{of}branch__in": {column.branch for column in columns},
        f"{of}hardware__in": {column.hardware_id for column in columns},
        f"{of}configuration__in": {column.configuration_id for column in columns},
        f"{of}counterpart__in": {column.counterpart for column in columns},
    }
