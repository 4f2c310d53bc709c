"""Versions against each other, and one version against the version before it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project as ProjectRow
from benchdash.addresses import MatrixQuery, PairQuery
from benchdash.answers.comparison import ColumnSerializer, ComparisonRowSerializer, ComparisonSerializer
from benchdash.answers.differences import pair_answer
from benchdash.assistants.incidents import incident_answers
from benchdash.assistants.shapes import (
    MAX_NAMES,
    Branch,
    Machine,
    Metric,
    Name,
    Project,
    Refusal,
    Text,
    Threads,
    Tool,
    ids_named,
    nearest_words,
    short,
    told,
)
from benchdash.regressions.comparison.columns import (
    Column,
    Selector,
    SelectorError,
    columns_of,
    names,
    neighbour,
    short_id,
)
from benchdash.regressions.comparison.comparability import doubts
from benchdash.regressions.comparison.pair_words import summary_of
from benchdash.regressions.comparison.pairs import Pair, pair_of_columns
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import Row, have_two_directions
from benchdash.regressions.comparison.shown_units import table_in_used_units
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.verdict_words import counts_in_words, is_likely, note, side_of
from benchdash.regressions.comparison.verdicts import of_table
from benchdash.regressions.comparison.version_table import compare_columns
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import incidents
from benchdash.results.controls import is_control
from benchdash.results.metrics import telling
from benchdash.results.models import Product, Series, ServerVersion, Workload
from benchdash.results.queries import ids_called
from benchdash.results.versions import COMMIT, order_kind
from benchdash.results.wording import some_of

MAX_AGAINST: Final = 8
_MAX_CELLS: Final = 160
_MAX_CANDIDATES: Final = 8
_MAX_PLACES: Final = 3
_MAX_CHANGED: Final = 25
_PLACE: Final = ("branch", "hardware", "configuration", "counterpart")

_Version = Annotated[
    Text,
    Field(
        description=(
            "A version such as 10.6.23, a commit of 7 to 40 hex digits, or either after the name of its"
            " product: `MariaDB 10.6.23`."
        )
    ),
]


class _Where(Tool):
    """The fields that tell the places of a version apart."""

    project: Project
    hardware: Machine = ""
    configuration: Name = ""
    counterpart: Annotated[Text | None, Field(description="The other side; the empty text: none.")] = None
    branch: Branch = None
    build: Annotated[Text | None, Field(description="A build; the empty text: the plain one.")] = None
    product: Annotated[Text, Field(description="Of versions that do not name theirs.")] = ""

    @property
    def filters(self) -> dict[str, str]:
        """The given fields, as filters that complete selectors."""
        said = {name: getattr(self, name) or None for name in ("hardware", "configuration", "product")}
        said |= {name: getattr(self, name) for name in ("counterpart", "branch", "build")}
        return {name: value for name, value in said.items() if value is not None}


class Compare(_Where):
    """Compare versions with a base in one metric, workload by workload and thread count by thread count.

    Gives values, ratio (value / base) with its 95 % interval `low` to `high`, and the verdict with the
    `basis` of what is known of the noise. `more_runs` of each side would settle an open verdict. Of
    each version `geomean` is the mean of the ratios of all rows.
    """

    name = "compare"
    title = "Compare versions"
    metric: Metric
    base: _Version
    against: Annotated[
        list[_Version],
        Field(min_length=1, max_length=MAX_AGAINST, description="Versions to hold against it."),
    ]
    workload: Annotated[Text, Field(description="Only this workload; exact name.")] = ""
    threads: Annotated[Threads | None, Field(description="Only this thread count.")] = None

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        project = viewer.project(self.project, relative=True)
        if self.workload:
            ids_named(Workload, self.workload, project)
        workloads = [self.workload] if self.workload else []
        threads = [] if self.threads is None else [self.threads]
        base, *columns = _columns(project, [self.base, *self.against], self.filters)
        if base in columns:
            raise Refusal("against: this is the base itself; name another version, or another place of it")
        try:
            measured = compare_columns(
                project, metric=self.metric, base=base, columns=columns, workloads=workloads, threads=threads
            )
        except SelectorError as error:
            if workloads or threads:
                only = "this workload and thread count alone; leave them out to see what was measured"
                raise Refusal(f"{error.message} (asked of {only})") from None
            raise
        found = table_in_used_units(measured)
        is_relative = not viewer.may_see_absolute(project)
        if is_relative:
            found = table_for_others(found)
        named = list(zip([base, *columns], names([base, *columns]), strict=True))
        careful = doubts([found], named, base, for_others=is_relative)
        ids = tuple(short_id(column) for column, _ in named)
        query = MatrixQuery(versions=ids, base=ids[0], metrics=(found.metric,), over="versions")
        return {
            **_table([name for _, name in named], found),
            "warnings": [one.text for one in careful],
            "is_relative": is_relative,
            "page": query.absolute(project.slug),
        }


class WhatChanged(_Where):
    """Say what differs between a version (or commit) and the version measured before it, at each place.

    Gives regressions and improvements over all metrics, settings, environment and hardware that differ
    (`not_known`: nobody sent them with one of the sides), and the incidents that begin with it or while
    it was measured.
    """

    name = "what_changed"
    title = "What changed in a version"
    version: _Version
    against: Annotated[
        Text, Field(description="Hold it against this version; left out: the one measured before it there.")
    ] = ""

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        project = viewer.project(self.project)
        found = _meant(project, self.version, self.filters, field="version")
        version = found[0].version
        if any(column.version.pk != version.pk for column in found):
            candidates = [column.as_json() for column in found]
            message = f"{self.version!r} means several versions; say more"
            raise SelectorError(message, candidates, field="version")
        places, alone = [], []
        for column in found[:_MAX_PLACES]:
            before = _before(project, column, self)
            if before is None:
                alone.append(told(ColumnSerializer, column, "id", "version", "build", "commit"))
            else:
                places.append(_place_change(project, pair_of_columns(project, before, column)))
        begun = incidents(project).filter(until=version.pk).exclude(status=Incident.Status.WITHDRAWN)
        waiting = Series.objects.filter(project=project, product=version.product_id, touched__isnull=False)
        pending = "Newer results have not been looked at for incidents yet; ask again in a minute."
        return {
            "places": places,
            "without_earlier": alone,
            "more_places": max(0, len(found) - _MAX_PLACES),
            "incidents": incident_answers(begun[:_MAX_CHANGED]),
            "note": pending if waiting.exists() else "",
        }


def selector_words(error: SelectorError) -> str:
    """Say what a selector could mean, and how to choose."""
    said = error.message
    if error.field == "metric" or not error.candidates:
        return said
    parts = ("product", "version", "build", "commit", *_PLACE)
    differ = [name for name in parts if len({str(candidate.get(name)) for candidate in error.candidates}) > 1]
    candidates = (
        ", ".join(f"{name}={candidate.get(name) or ''!r}" for name in differ)
        for candidate in error.candidates
    )
    listed = some_of(candidates, _MAX_CANDIDATES, "; ")
    return f"{error.field}: {said}. Say {' or '.join(differ)}: {listed}"


# --- compare ----------------------------------------------------------------------------------------------


def _table(column_names: Sequence[str], found: ComparisonTable[Column]) -> dict[str, Any]:
    """Return as many rows of a table as fit, and of each column the mean and verdict of all rows."""
    most = max(1, _MAX_CELLS // (len(found.columns) + 1))
    answer = told(ComparisonSerializer, replace(found, rows=()), "rows", "groups", "geomean", "geomean_rows")
    answer["base"] = {"name": column_names[0], **answer["base"]}
    answer["columns"] = [
        {
            "name": name,
            **column,
            "geomean": found.geomean[at],
            "geomean_over": found.mean.coverage(at),
            "verdict": of_table(found.rows, at, margin=found.margin) or "unknown",
            "counts": counts_in_words(
                (one.verdict for row in found.rows if (one := row.comparisons[at])), found.metric
            ),
        }
        for at, (name, column) in enumerate(zip(column_names[1:], answer["columns"], strict=True))
    ]
    answer["rows"] = [told(ComparisonRowSerializer, row, "group") for row in found.rows[:most]]
    for row in answer["rows"]:
        row["cells"] = dict(zip(column_names[1:], row["cells"], strict=True))
    left = len(found.rows) - most
    notes = [
        note([one for row in found.rows for one in row.comparisons if one], margin=found.margin),
        "More is better in some rows and worse in others: the means are of speeds, above 1 is faster."
        if have_two_directions(found.rows)
        else "",
    ]
    return {
        **answer,
        "left_out": f"{left} more rows are on the page; what is said of columns counts them."
        if left > 0
        else "",
        "note": " ".join(filter(None, notes)),
    }


def _columns(project: ProjectRow, texts: Sequence[str], filters: Mapping[str, str]) -> list[Column]:
    """Find the one column that each text means, that of the base first.

    Where some mean several, the one place is meant at which each of them was measured. Raises SelectorError
    where there is none or several, and Refusal for a version that is not known.
    """
    meant = [_meant(project, text, filters, field=_field(at)) for at, text in enumerate(texts)]
    if any(len(columns) > 1 for columns in meant):
        shared = set.intersection(*({_where(column) for column in columns} for columns in meant))
        if len(shared) == 1:
            meant = [[one for one in columns if _where(one) in shared] for columns in meant]
    for at, columns in enumerate(meant):
        if len(columns) > 1:
            candidates = [one.as_json() for one in columns if not shared or _where(one) in shared]
            message = f"{texts[at]!r} was measured in {len(columns)} ways; say more"
            raise SelectorError(message, candidates, field=_field(at))
    return [column for [column] in meant]


def _field(at: int) -> str:
    return "against" if at else "base"


def _where(column: Column) -> tuple[object, ...]:
    """Return what two columns share that differ in the version alone."""
    return column.version.build, *column.key[1:]


def _meant(project: ProjectRow, text: str, filters: Mapping[str, str], *, field: str) -> list[Column]:
    """List the columns that a text may mean, without controls where it may mean others. Raises Refusal."""
    found = columns_of(project, _selector(project, text).completed_by(filters))
    if not found:
        raise Refusal(_unknown_version(project, text, filters, field=field))
    return [column for column in found if not is_control(column.version.build)] or found


def _selector(project: ProjectRow, text: str) -> Selector:
    """Read ``10.6.23``, ``3f9a2c1a``, ``MariaDB 10.6.23``; the case counts if nothing else does."""
    products = Product.objects.filter(project=project).values_list("name", flat=True)
    named = [name for name in products if text.casefold().startswith(f"{name.casefold()} ")]
    product = max(named, key=lambda name: (len(name), text.startswith(name)), default=None)
    said = text[len(product or "") :].strip()
    is_version = ServerVersion.objects.filter(project=project, version=said).exists()
    if COMMIT.fullmatch(said.lower()) and not is_version:
        return Selector(product=product, commit=said.lower())
    return Selector(product=product, version=said)


def _unknown_version(project: ProjectRow, text: str, filters: Mapping[str, str], *, field: str) -> str:
    selector = _selector(project, text)
    if filters and columns_of(project, selector):
        said = ", ".join(f"{name} {value!r}" for name, value in filters.items())
        return f"{field}: {text!r} was not measured with {said}; versions says where it was"
    known = ServerVersion.objects.filter(project=project).order_by("-sort_key")
    what = "version"
    if product := selector.product or filters.get("product"):
        known = known.filter(product__in=ids_called(Product, [product], project))
        what = f"version of {product}"
    texts = list(dict.fromkeys(known.values_list("version", flat=True)[:MAX_NAMES]))
    return f"{field}: {nearest_words(what, selector.version or selector.commit or '', texts)}"


# --- what changed -----------------------------------------------------------------------------------------


def _before(project: ProjectRow, column: Column, asked: WhatChanged) -> Column | None:
    """Return what a column is held against: the version asked for, or the one before it at its place."""
    if asked.against:
        for one in _meant(project, asked.against, asked.filters, field="against"):
            if _where(one) == _where(column) and one.key != column.key:
                return one
        return None
    before = neighbour(column, or_next=False)
    kinds = {order_kind(one.version.sort_key) for one in (column, before) if one}
    return before if column.branch or (len(kinds) == 1 and "" not in kinds) else None


def _place_change(project: ProjectRow, pair: Pair) -> dict[str, Any]:
    """Return two versions at one place: the rows that differ, what is certain first, and what else does."""
    query = PairQuery(base=short_id(pair.base.column), against=short_id(pair.other.column))
    answer = short(pair_answer(replace(pair, tables=()), query.absolute(project.slug)))
    shown = set(telling({one.metric: len(one.rows) for one in pair.tables}) if pair.tables else ())
    differing = sorted(
        (
            (found.metric, row)
            for found in (table_in_used_units(one) for one in pair.tables if one.rows)
            for row in found.rows
            if row.base and row.comparisons[0] and side_of(row.comparisons[0].verdict)
        ),
        key=lambda one: (one[0] not in shown, *_rank(one[1])),
    )
    listed = [(metric, row) for metric, row in differing if metric in shown or not _is_likely(row)]
    compared = [one.verdict for found in pair.tables for row in found.rows for one in row.comparisons if one]
    rows = [
        {"metric": metric, **told(ComparisonRowSerializer, row, "group")}
        for metric, row in listed[:_MAX_CHANGED]
    ]
    for row in rows:
        [row["cell"]] = row.pop("cells")
    differences = answer["differences"]
    for option in differences["options"]:
        del option["rows"]
    return {
        "summary": summary_of(pair),
        "base": answer["base"],
        "against": answer["against"],
        "rows": rows,
        "rows_left_out": len(differing) - len(rows),
        "rows_compared": len(compared),
        "counts": counts_in_words(compared) or "nothing was measured of both",
        "differences": {name: found for name, found in differences.items() if found is not None},
        "not_known": [name for name, found in differences.items() if found is None],
        "warnings": [one.text for one in pair.doubts],
        "page": answer["page"],
    }


def _is_likely(row: Row) -> bool:
    return any(one and is_likely(one.verdict) for one in row.comparisons)


def _rank(row: Row) -> tuple[bool, float]:
    """Sort what is certain first, then by the size of the change."""
    ratio = row.ratios[0] or 1.0
    return _is_likely(row), -max(ratio, 1 / ratio)
