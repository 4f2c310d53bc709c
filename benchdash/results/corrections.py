"""Corrections: things are renamed, merged and taken apart, versions corrected, runs excluded and restored.

Each returns what it changed. For a preview, make the correction in a transaction and roll that back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Case, Count, Max, Model, QuerySet, Value, When
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results import merges
from benchdash.results.checks import RecordError
from benchdash.results.dimensions import version_name
from benchdash.results.models import (
    DEFAULT_CONFIGURATION,
    UNKNOWN_VERSION,
    Alias,
    Configuration,
    Hardware,
    Measurement,
    Merge,
    ParameterCount,
    Product,
    Run,
    Series,
    ServerVersion,
    SubjectCount,
    SurroundingsCount,
    VersionPlace,
    Workload,
    WorkloadCount,
    kind_of,
)
from benchdash.results.services import hold_results, reassign_series, touch, touch_as_old_news
from benchdash.results.summaries import recounted, sort_again
from benchdash.results.versions import parse_version, release_line, sort_key

T = TypeVar("T", bound=Model)
Thing = Product | ServerVersion | Hardware | Configuration | Workload

# Names that people give by saying nothing must not lead to a thing that was once called so.
_NEVER_OLD_NAMES = {("version", UNKNOWN_VERSION), ("configuration", DEFAULT_CONFIGURATION)}


# Fields of a build beside its version, by name.
VERSION_FACTS = ("commit", "committed_at", "released_at", "order")
MAX_RUNS_AT_ONCE = 500
# Each takes two parameters of a statement.
_REPOINTED_AT_ONCE = 400


class CorrectionError(Exception):
    """A correction that cannot be made, with a sentence for the person who wanted it.

    ``field`` is the one that is wrong, where it is not what names the correction.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Effect:
    """The numbers of runs that a correction changes, of the uploads that brought them, and of their series.

    ``merged`` of the series are continued in one that was there before.
    """

    runs: int
    uploads: int
    series: int
    merged: int = 0


def rename(thing: Thing, new_name: str, *, by: Viewer, reason: str = "") -> Effect:
    """Give a thing another name; uploads still find it by the old one.

    A server version keeps its build and commit, and its runs move to the release line of the new name.
    Raises CorrectionError for a name that is taken or cannot be stored.
    """
    with _alone(thing.project):
        old = _name(thing)
        effect = _rename(thing, new_name)
        thing.refresh_from_db()
        _note("renamed", thing, f"{old} → {_name(thing)}", by=by, reason=reason, effect=effect)
    return effect


def merge(source: Thing, target: Thing, *, by: Viewer, reason: str = "") -> Effect:
    """Give all that belongs to ``source`` to ``target``; its names then find the target, and it is deleted.

    Series that both have become one. Raises CorrectionError where their units differ, and for two things
    that are not of one kind, project and, if versions, product.
    """
    with _alone(target.project):
        effect = _merge(source, target)
        _note("merged", target, f"{_name(source)} → {_name(target)}", by=by, reason=reason, effect=effect)
    return effect


def unmerge(merge: Merge, *, by: Viewer, reason: str = "", with_later: bool = False) -> Effect:
    """Take a merge apart: make its source again, with the runs and the names that it had.

    Runs that came in since under its name stay with the target, unless ``with_later``. Raises CorrectionError
    where something else has its name now.
    """
    with _alone(merge.project):
        merge = _as_stored(merge)
        target = merge.target
        runs = _runs_of(target)
        if twin := merges.twin_of(merge):
            kind = kind_of(twin)
            raise CorrectionError(f"there is a {kind} '{_name(twin)}' again; rename that one first")
        with recounted(Run.objects.filter(pk__in=runs)):
            thing = merges.take_apart(merge, with_later=with_later)
        footprint = _Footprint.of(thing)
        reassign_series(thing.project, footprint.runs)
        effect = footprint.effect()
        subject = f"{_name(target)} → {_name(thing)}"
        _note("taken out of a merge", thing, subject, by=by, reason=reason, effect=effect)
    return effect


def correct_version(
    version: ServerVersion, facts: Mapping[str, str | datetime | date | None], *, by: Viewer, reason: str = ""
) -> Effect:
    """Correct what is known of a build; ``facts`` are some of VERSION_FACTS.

    Its series are looked at again: the order of versions or commits may be another. Raises CorrectionError
    where another row is this build at this commit already, and for an order without a number.
    """
    order = str(facts.get("order") or "")
    if order and not sort_key(order, product=version.product.name):
        raise CorrectionError(f"{order!r} does not begin with numbers, as 18.0 does", "order")
    with _alone(version.project):
        detail = {name: f"{getattr(version, name)} → {value}" for name, value in facts.items()}
        for name, value in facts.items():
            setattr(version, name, value)
        try:
            with recounted(Run.objects.filter(version=version)), transaction.atomic():
                version.save(update_fields=list(facts))
                _sort_again(ServerVersion.objects.filter(pk=version.pk))
        except IntegrityError:
            raise CorrectionError("this build is known at this commit already; merge the two") from None
        footprint = _Footprint.of(version)
        touch(footprint.series, quiet=True)
        audit(version.project, by, "version corrected", str(version), reason=reason, detail=detail)
        return footprint.effect()


def exclude_run(run: Run, *, by: Viewer, reason: str) -> Effect:
    """Leave a run out of points and analysis; it stays listed with the reason, which must be given."""
    effect = exclude_runs(run.project, [run.pk], by=by, reason=reason)
    run.refresh_from_db(fields=["excluded_at", "excluded_reason"])
    return effect


def restore_run(run: Run, *, by: Viewer, reason: str = "") -> Effect:
    """Let an excluded run count again."""
    effect = restore_runs(run.project, [run.pk], by=by, reason=reason)
    run.refresh_from_db(fields=["excluded_at", "excluded_reason"])
    return effect


def exclude_runs(project: Project, runs: Collection[int], *, by: Viewer, reason: str) -> Effect:
    """Leave runs out of points and analysis, all for one reason; those that are left out already stay so."""
    if not reason.strip():
        raise CorrectionError(f"say why the run{' is' if len(runs) == 1 else 's are'} excluded")
    return _change_exclusion(project, runs, reason, by=by)


def restore_runs(project: Project, runs: Collection[int], *, by: Viewer, reason: str = "") -> Effect:
    """Let excluded runs count again; those that count stay as they are."""
    return _change_exclusion(project, runs, None, by=by, said=reason)


def _change_exclusion(
    project: Project, runs: Collection[int], reason: str | None, *, by: Viewer, said: str = ""
) -> Effect:
    if len(runs) > MAX_RUNS_AT_ONCE:
        raise CorrectionError(f"these are {len(runs)} runs, more than {MAX_RUNS_AT_ONCE} at once")
    with _alone(project):
        of_project = Run.objects.filter(project=project, pk__in=runs, excluded_at__isnull=reason is not None)
        changed = list(of_project.select_related("version", "workload").order_by("pk"))
        if not changed:
            one = len(runs) == 1
            subject = f"the run{' is' if one else 's are'}"
            raise CorrectionError(f"{subject} {'excluded already' if reason else 'not excluded'}")
        effect = _set_exclusion([run.pk for run in changed], reason)
        action = "run excluded" if reason else "run restored"
        for run in changed:
            detail = {"id": run.pk, **asdict(effect)}
            audit(project, by, action, f"run {run.pk}: {run}", reason=reason or said, detail=detail)
    return effect


# --- the frame of every correction ------------------------------------------------------------------------


@contextmanager
def _alone(project: Project) -> Iterator[None]:
    """Run the block in a transaction that holds the results of the project alone."""
    with transaction.atomic():
        hold_results(project, alone=True)
        try:
            yield
        except RecordError as error:
            raise CorrectionError(f"this cannot be one series: {error}") from error


def _note(action: str, thing: Thing, subject: str, *, by: Viewer, reason: str, effect: Effect) -> None:
    detail = {"id": thing.pk, **asdict(effect)}
    audit(thing.project, by, f"{kind_of(thing)} {action}", subject, reason=reason, detail=detail)


# --- names ------------------------------------------------------------------------------------------------


def _name(thing: Thing) -> str:
    if isinstance(thing, ServerVersion):
        return version_name(thing.version, thing.build, thing.commit)
    return thing.name


def _rename(thing: Thing, new_name: str) -> Effect:
    thing = _as_stored(thing)
    footprint = _Footprint.of(thing)
    old = _name(thing)
    lines = _lines(thing)
    if isinstance(thing, ServerVersion):
        thing.version = parse_version(_storable(thing, "version", new_name)).version
        changed = "version"
    else:
        thing.name = _storable(thing, "name", new_name)
        changed = "name"
    _require_free(thing, was=old)
    with recounted(Run.objects.filter(pk__in=footprint.runs)):
        thing.save(update_fields=[changed])
        if isinstance(thing, Product | ServerVersion):
            to_thing = "product" if isinstance(thing, Product) else "pk"
            _sort_again(ServerVersion.objects.filter(**{to_thing: thing.pk}))
    _add_old_name(thing, old)
    if isinstance(thing, ServerVersion) or _lines(thing) != lines:
        reassign_series(thing.project, footprint.runs)
    return footprint.effect()


def _sort_again(versions: QuerySet[ServerVersion]) -> None:
    """Sort versions by what is known of them now; where that changes, their series are to be looked at."""
    if changed := sort_again(versions):
        runs = Run.objects.filter(version__in=changed, branch="")
        touch_as_old_news(_series_of(runs.values_list("pk", flat=True)))


def _storable(thing: Thing, field: str, name: str) -> str:
    name = name.strip()
    longest = getattr(thing._meta.get_field(field), "max_length", None)
    if not name:
        raise CorrectionError("the new name is empty")
    if longest is not None and len(name) > longest:
        raise CorrectionError(f"the new name has {len(name)} characters, more than {longest}")
    if not name.isprintable():
        raise CorrectionError("the new name holds a character that cannot be shown")
    return name


def _require_free(thing: Thing, *, was: str) -> None:
    """Refuse a name that the thing, not stored yet, may not take. Raises CorrectionError."""
    kind, name = kind_of(thing), _name(thing)
    if name == was:
        raise CorrectionError(f"the {kind} is called '{name}' already")
    if _twins(thing).exists():
        raise CorrectionError(f"there is a {kind} '{name}' already; merge the two instead")
    for alias in _old_names(thing).filter(name=name):
        owner: Thing = getattr(alias, kind)
        if owner.pk != thing.pk:
            known = f"an old name of the {kind} '{_name(owner)}'"
            raise CorrectionError(f"'{name}' is {known}; merge the two or choose another name")
        alias.delete()


def _twins(thing: Thing) -> QuerySet[Any]:
    """Return other things that are called the same."""
    names = ("product", "version", "build", "commit") if isinstance(thing, ServerVersion) else ("name",)
    same = {name: getattr(thing, name) for name in names}
    return type(thing)._default_manager.filter(project=thing.project, **same).exclude(pk=thing.pk)


def _old_names(thing: Thing) -> QuerySet[Alias]:
    """Return all old names of things of this kind; of versions, those of the same product."""
    kind = kind_of(thing)
    aliases = Alias.objects.filter(project=thing.project, **{f"{kind}__isnull": False})
    if isinstance(thing, ServerVersion):
        aliases = aliases.filter(version__product=thing.product_id)
    return aliases.select_related(kind)


def _add_old_name(thing: Thing, name: str) -> Alias | None:
    kind = kind_of(thing)
    if (kind, name) in _NEVER_OLD_NAMES:
        return None
    return Alias.objects.create(project=thing.project, name=name, **{kind: thing})


def _lines(thing: Thing) -> dict[int, str]:
    """Return the release lines of a product's versions: no other kind of thing decides them by its name."""
    if not isinstance(thing, Product):
        return {}
    versions = thing.versions.values_list("pk", "version")
    return {pk: release_line(thing.name, version) for pk, version in versions}


# --- merging ----------------------------------------------------------------------------------------------


def _merge(source: Thing, target: Thing) -> Effect:
    if type(source) is not type(target) or source.project_id != target.project_id:
        raise CorrectionError("only two things of one kind and one project can be merged")
    source, target = _as_stored(source), _as_stored(target)
    if source.pk == target.pk:
        raise CorrectionError("a thing cannot be merged with itself")
    if isinstance(source, ServerVersion) and isinstance(target, ServerVersion):
        _require_one_product(source, target)
    footprint = _Footprint.of(source)
    noted = merges.note_merge(kind_of(source), source, target, name=_name(source))
    with recounted(Run.objects.filter(pk__in=footprint.runs)):
        if isinstance(source, Product) and isinstance(target, Product):
            _merge_same_versions(source, target, noted)
        repoint_all(type(source), {source.pk: target.pk})
        if isinstance(target, Product):
            _sort_again(target.versions.all())
    reassign_series(target.project, footprint.runs)
    type(source)._default_manager.filter(pk=source.pk).delete()
    noted.alias = _add_old_name(target, _name(source))
    noted.save(update_fields=["alias"])
    return footprint.effect()


def _require_one_product(source: ServerVersion, target: ServerVersion) -> None:
    if source.product_id != target.product_id:
        raise CorrectionError("versions of different products cannot be merged; merge the products")


def _merge_same_versions(source: Product, target: Product, noted: Merge) -> None:
    """Merge the versions of the source that the target has too; the others just change hands."""
    known = {(v.version, v.build, v.commit): v for v in target.versions.all()}
    pairs = [
        (v, known[v.version, v.build, v.commit])
        for v in source.versions.all()
        if (v.version, v.build, v.commit) in known
    ]
    merges.note_same_versions(noted, pairs)
    same = {version.pk: one.pk for version, one in pairs}
    if same:
        repoint_all(ServerVersion, same)
        ServerVersion.objects.filter(pk__in=same).delete()


def repoint_all(model: type[Model], targets: Mapping[int, int]) -> None:
    """Let every row that points at a source, in whichever package, point at its target instead.

    Series stay behind: their measurements move, and what is left empty is deleted. Summaries are recounted.
    """
    staying = (Series, VersionPlace, SurroundingsCount, WorkloadCount, SubjectCount, ParameterCount)
    pairs = list(targets.items())
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete and relation.related_model not in staying:
            for start in range(0, len(pairs), _REPOINTED_AT_ONCE):
                some = dict(pairs[start : start + _REPOINTED_AT_ONCE])
                _repoint(relation.related_model, relation.field.name, some)  # type: ignore[union-attr,arg-type]


def _repoint(model: type[Model], field: str, targets: Mapping[int, int]) -> None:
    rows = model._base_manager.filter(**{f"{field}__in": list(targets)})
    whens = [When(**{field: source}, then=Value(target)) for source, target in targets.items()]
    try:
        with transaction.atomic():
            rows.update(**{field: Case(*whens)})
    except IntegrityError:
        for row, source in rows.values_list("pk", field):
            _repoint_or_drop(model, row, field, targets[source])


def _repoint_or_drop(model: type[Model], row: Any, field: str, target: int) -> None:
    """Drop a row that would repeat what another one says of the target already (the same subscription)."""
    rows = model._base_manager.filter(pk=row)
    try:
        with transaction.atomic():
            rows.update(**{field: target})
    except IntegrityError:
        rows.delete()


# --- runs -------------------------------------------------------------------------------------------------


def _set_exclusion(runs: Collection[int], reason: str | None) -> Effect:
    """Exclude runs for a reason; None restores them."""
    now = None if reason is None else timezone.now()
    with recounted(Run.objects.filter(pk__in=runs)):
        Run.objects.filter(pk__in=runs).update(excluded_at=now, excluded_reason=reason or "")
    series = _series_of(runs)
    touch(series, quiet=True)
    uploads = Run.objects.filter(pk__in=runs).aggregate(count=Count("upload_id", distinct=True))["count"]
    return Effect(runs=len(runs), uploads=uploads, series=len(series))


# --- what is changed --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Footprint:
    """The runs of a thing, and where they were measured, before it is changed."""

    runs: list[int]
    series: set[int]
    newest_series: int

    @classmethod
    def of(cls, thing: Thing) -> "_Footprint":
        runs = _runs_of(thing)
        newest = Series.objects.aggregate(newest=Max("pk"))["newest"] or 0
        return cls(runs=runs, series=_series_of(runs), newest_series=newest)

    def effect(self) -> Effect:
        """Count the effect, after the change."""
        now = _series_of(self.runs)
        gone = len(self.series) - Series.objects.filter(pk__in=self.series).count()
        made = sum(pk > self.newest_series for pk in now)
        uploads = Run.objects.filter(pk__in=self.runs).aggregate(Count("upload_id", distinct=True))
        return Effect(
            runs=len(self.runs),
            uploads=uploads["upload_id__count"],
            series=len(self.series),
            merged=max(gone - made, 0),
        )


def _runs_of(thing: Thing) -> list[int]:
    to_thing = "version__product" if isinstance(thing, Product) else kind_of(thing)
    return list(Run.objects.filter(**{to_thing: thing.pk}).values_list("pk", flat=True))


def _series_of(run_ids: Iterable[int]) -> set[int]:
    measured = Measurement.objects.filter(run__in=run_ids, series__is_derived=False)
    return set(measured.values_list("series_id", flat=True).distinct())


def _as_stored(thing: T) -> T:
    """Read the thing again, now that nobody else can change it. Raises CorrectionError where it is gone."""
    stored = type(thing)._default_manager.filter(pk=thing.pk).first()
    if stored is None:
        raise CorrectionError("this is gone: somebody merged or removed it meanwhile")
    return stored
