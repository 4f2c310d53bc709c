"""What a merge moved, so that it can be taken apart again.

A merge is noted with the runs that it moved, and that of products with their versions. Runs that come in
later under the name that went are noted too; they stay where they are unless somebody asks for them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import connection
from django.db.models import Model, QuerySet

from benchdash.accounts.models import Project
from benchdash.results.models import (
    Alias,
    Configuration,
    Hardware,
    Merge,
    MergedRun,
    MergedVersion,
    Product,
    Run,
    ServerVersion,
    Workload,
)

_MODELS: Final[Mapping[str, type[Model]]] = {
    "product": Product,
    "version": ServerVersion,
    "hardware": Hardware,
    "configuration": Configuration,
    "workload": Workload,
}
_BATCH: Final = 1000
# What a thing is, beside its place in the project: it is made again with these.
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "product": ("name",),
    "version": ("version", "sort_key", "build", "commit", "committed_at", "released_on"),
    "hardware": ("name", "facts"),
    "configuration": ("name",),
    "workload": ("name", "options"),
}


def merges_of(project: Project) -> QuerySet[Merge]:
    """Those that can be taken apart, the newest first."""
    targets = Merge.objects.filter(project=project, parent=None).select_related(*_MODELS, "version__product")
    return targets.order_by("-pk")


def later_runs(merge: Merge) -> QuerySet[Run]:
    """The runs that came in under the old name since, and are where it leads."""
    came = MergedRun.objects.filter(merge=merge, came_later=True).values("run_id")
    return _runs_at(merge.kind, merge.target).filter(pk__in=came).order_by("-pk")


def twin_of(merge: Merge) -> Any:
    """What is called as the thing that went, where there is such a thing now; else None."""
    model, fields = _MODELS[merge.kind], {"name": merge.source.get("name")}
    if merge.kind == "version":
        fields = {name: merge.source[name] for name in ("version", "build", "commit")}
        fields["product"] = merge.target.product_id
    return model._default_manager.filter(project=merge.project_id, **fields).first()


# --- noting -------------------------------------------------------------------------------------------------

_NOTE_RUNS: Final = """
    INSERT INTO results_mergedrun (merge_id, run_id, came_later)
    SELECT %(merge)s, id, false FROM results_run WHERE {}_id = %(source)s
"""
_NOTE_RUNS_OF_PARTS: Final = """
    INSERT INTO results_mergedrun (merge_id, run_id, came_later)
    SELECT part.id, run.id, false
    FROM results_merge part JOIN results_run run ON run.version_id = (part.source ->> 'id')::bigint
    WHERE part.parent_id = %(merge)s
"""
_NOTE_VERSIONS: Final = """
    INSERT INTO results_mergedversion (merge_id, version_id)
    SELECT %(merge)s, id FROM results_serverversion WHERE product_id = %(source)s
"""
_NOTE_LATER_RUNS: Final = """
    INSERT INTO results_mergedrun (merge_id, run_id, came_later)
    SELECT merge.id, given.run_id, true
    FROM unnest(%(aliases)s::bigint[], %(runs)s::bigint[]) AS given (alias_id, run_id)
    JOIN results_merge merge ON merge.alias_id = given.alias_id
    ON CONFLICT DO NOTHING
"""


def note_merge(kind: str, source: Any, target: Any, *, name: str) -> Merge:
    """Note what is about to be merged; ``name`` is that of the source."""
    merge = _merge_of(
        kind,
        source,
        target,
        name=name,
        aliases=list(source.aliases.values_list("pk", flat=True)),
        merged=list(source.merges.values_list("pk", flat=True)),
    )
    merge.save()
    statement = _NOTE_VERSIONS if kind == "product" else _NOTE_RUNS.format(kind)
    with connection.cursor() as cursor:
        cursor.execute(statement, {"merge": merge.pk, "source": source.pk})
    return merge


def note_same_versions(merge: Merge, same: Sequence[tuple[ServerVersion, ServerVersion]]) -> None:
    """Note the versions that both products of a merge have, as many as there are, by few statements."""
    if not same:
        return
    product = same[0][0].product_id
    aliases, merged = _by_version(Alias, product), _by_version(Merge, product)
    Merge.objects.bulk_create(
        (
            _merge_of(
                "version",
                source,
                target,
                name=str(source),
                aliases=aliases[source.pk],
                merged=merged[source.pk],
                parent=merge,
            )
            for source, target in same
        ),
        batch_size=_BATCH,
    )
    with connection.cursor() as cursor:
        cursor.execute(_NOTE_RUNS_OF_PARTS, {"merge": merge.pk})


def _by_version(model: type[Alias] | type[Merge], product: int) -> Mapping[int, list[int]]:
    """The ids of these rows by the version of this product that they lead to."""
    found: dict[int, list[int]] = defaultdict(list)
    rows = model._default_manager.filter(version__product=product)
    for version, pk in rows.values_list("version", "pk"):
        found[version].append(pk)
    return found


def _merge_of(
    kind: str,
    source: Any,
    target: Any,
    *,
    name: str,
    aliases: Sequence[int],
    merged: Sequence[int],
    parent: Merge | None = None,
) -> Merge:
    fields = {field: _plain(getattr(source, field)) for field in _FIELDS[kind]}
    described = {"id": source.pk, **fields, "aliases": aliases, "merges": merged}
    return Merge(project_id=target.project_id, parent=parent, name=name, source=described, **{kind: target})


def note_later_runs(followed: Sequence[tuple[int, int]]) -> None:
    """Note runs that came in under an old name, by the ids of alias and run. A mere rename is no merge."""
    aliases, runs = map(list, zip(*followed, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_NOTE_LATER_RUNS, {"aliases": aliases, "runs": runs})


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


# --- taking apart -------------------------------------------------------------------------------------------


def take_apart(merge: Merge, *, with_later: bool) -> Any:
    """Make the thing that went again, with the runs that it had; the thing.

    Its measurements are left in the series of the target: the caller puts them where they belong.
    """
    thing = _made_again(merge, product=getattr(merge.target, "product", None))
    if isinstance(thing, Product):
        moved = MergedVersion.objects.filter(merge=merge).values("version_id")
        merge.target.versions.filter(pk__in=moved).update(product=thing)
        for part in merge.parts.select_related("version__product"):
            _give_back(part, _made_again(part, product=thing), with_later=with_later)
        if with_later:
            _give_back_later_versions(merge, thing)
    else:
        _give_back(merge, thing, with_later=with_later)
    merge.delete()
    return thing


def _made_again(merge: Merge, *, product: Product | None) -> Any:
    """With its old names, and what had been merged into it."""
    model = _MODELS[merge.kind]
    fields = {name: merge.source[name] for name in _FIELDS[merge.kind]}
    if merge.kind == "version":
        fields["product"] = product
    thing = model._default_manager.create(project_id=merge.project_id, **fields)
    if merge.alias:
        merge.alias.delete()
    Alias.objects.filter(pk__in=merge.source["aliases"]).update(**{merge.kind: thing})
    Merge.objects.filter(pk__in=merge.source["merges"]).update(**{merge.kind: thing})
    return thing


def _give_back(merge: Merge, thing: Any, *, with_later: bool) -> None:
    """The runs that are still where the merge put them."""
    moved = MergedRun.objects.filter(merge=merge)
    if not with_later:
        moved = moved.filter(came_later=False)
    runs = _runs_at(merge.kind, merge.target).filter(pk__in=moved.values("run_id"))
    runs.update(**{merge.kind: thing})


def _give_back_later_versions(merge: Merge, product: Product) -> None:
    """Of a product, runs that came in later are of versions that the target has."""
    later = later_runs(merge).order_by()
    for version in ServerVersion.objects.filter(pk__in=later.values("version")):
        own, _ = ServerVersion.objects.get_or_create(
            project=product.project,
            product=product,
            version=version.version,
            build=version.build,
            commit=version.commit,
            defaults={name: getattr(version, name) for name in ("sort_key", "committed_at", "released_on")},
        )
        later.filter(version=version).update(version=own)


def _runs_at(kind: str, thing: Any) -> QuerySet[Run]:
    return Run.objects.filter(**{"version__product" if kind == "product" else kind: thing})
