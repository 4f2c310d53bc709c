"""Notes of merges, by which they can be taken apart again.

A merge is noted with the runs that it moved, and one of products with their versions. Runs that come in
later under the name of the source are noted too; they stay where they are unless somebody asks for them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.db.models import QuerySet

from benchdash.accounts.models import Project
from benchdash.results.models import (
    KINDS,
    Alias,
    Merge,
    MergedRun,
    MergedVersion,
    Product,
    Run,
    ServerVersion,
)

_BATCH: Final = 10_000
# The fields of each kind with which a thing is made again, beside its project.
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "product": ("name",),
    "version": ("version", "sort_key", "build", "commit", "committed_at", "released_at", "order"),
    "hardware": ("name", "facts"),
    "configuration": ("name",),
    "workload": ("name", "options"),
}


def merges_of(project: Project) -> QuerySet[Merge]:
    """Return the merges that can be taken apart, the newest first."""
    targets = Merge.objects.filter(project=project, parent=None).select_related(*KINDS, "version__product")
    return targets.order_by("-pk")


def later_runs(merge: Merge) -> QuerySet[Run]:
    """Return the runs that came in under the old name since, and are where it leads."""
    came = MergedRun.objects.filter(merge=merge, came_later=True).values("run_id")
    return runs_at(merge.kind, merge.target).filter(pk__in=came).order_by("-pk")


def twin_of(merge: Merge) -> Any:
    """Return a thing that now has the name of the source of a merge; None where there is none."""
    model, fields = KINDS[merge.kind], {"name": merge.source.get("name")}
    if merge.kind == "version":
        fields = {name: merge.source[name] for name in ("version", "build", "commit")}
        fields["product"] = merge.target.product_id
    return model._default_manager.filter(project=merge.project_id, **fields).first()


# --- noting -------------------------------------------------------------------------------------------------


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
    if kind == "product":
        versions = source.versions.values_list("pk", flat=True)
        noted = (MergedVersion(merge=merge, version_id=pk) for pk in versions)
        MergedVersion.objects.bulk_create(noted, batch_size=_BATCH)
    else:
        _note_runs((merge.pk, pk) for pk in runs_at(kind, source).values_list("pk", flat=True))
    return merge


def _note_runs(moved: Iterable[tuple[int, int]], *, came_later: bool = False) -> None:
    """Note runs by the ids of their merge and their own."""
    noted = (MergedRun(merge_id=merge, run_id=run, came_later=came_later) for merge, run in moved)
    MergedRun.objects.bulk_create(noted, batch_size=_BATCH, ignore_conflicts=came_later)


def note_same_versions(merge: Merge, same: Sequence[tuple[ServerVersion, ServerVersion]]) -> None:
    """Note the versions that both products of a merge have: any number of them by few statements."""
    if not same:
        return
    product = same[0][0].product_id
    aliases, merged = _by_version(Alias, product), _by_version(Merge, product)
    parts = Merge.objects.bulk_create(
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
    part_of = {part.source["id"]: part.pk for part in parts}
    runs = Run.objects.filter(version__in=list(part_of)).values_list("version", "pk")
    _note_runs((part_of[version], pk) for version, pk in runs)


def _by_version(model: type[Alias] | type[Merge], product: int) -> Mapping[int, list[int]]:
    """Return the ids of these rows by the version of this product that they lead to."""
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
    aliases = {alias for alias, _ in followed}
    merge_of = dict(Merge.objects.filter(alias__in=aliases).values_list("alias", "pk"))
    noted = [(merge_of[alias], run) for alias, run in followed if alias in merge_of]
    if noted:
        _note_runs(noted, came_later=True)


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


# --- taking apart -------------------------------------------------------------------------------------------


def take_apart(merge: Merge, *, with_later: bool) -> Any:
    """Make the source of a merge again, with the runs that it had, and return it.

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
    """Make the source of a merge again, with its old names and what had been merged into it."""
    model = KINDS[merge.kind]
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
    """Give back the runs that are still where the merge put them."""
    moved = MergedRun.objects.filter(merge=merge)
    if not with_later:
        moved = moved.filter(came_later=False)
    runs = runs_at(merge.kind, merge.target).filter(pk__in=moved.values("run_id"))
    runs.update(**{merge.kind: thing})


def _give_back_later_versions(merge: Merge, product: Product) -> None:
    """Give back the runs that came in later: they are of versions that the target has."""
    later = later_runs(merge).order_by()
    for version in ServerVersion.objects.filter(pk__in=later.values("version")):
        own, _ = ServerVersion.objects.get_or_create(
            project=product.project,
            product=product,
            version=version.version,
            build=version.build,
            commit=version.commit,
            defaults={
                name: getattr(version, name) for name in ("sort_key", "committed_at", "released_at", "order")
            },
        )
        later.filter(version=version).update(version=own)


def runs_at(kind: str, thing: Any) -> QuerySet[Run]:
    """Return the runs of a thing."""
    return Run.objects.filter(**{"version__product" if kind == "product" else kind: thing})
