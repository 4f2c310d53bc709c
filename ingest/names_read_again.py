"""Reads names again that an older benchdash kept otherwise: masked, or branches as git calls them.

``intKey=***`` was one workload and is several; ``refs/heads/main`` and ``main`` were two branches.

A series stays with the name that most of its runs have now, and of as many with that of the newest run: so
do its incidents, and what people said of them. A change point whose run has another name goes with its run.
What somebody renamed or merged since stays as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.regressions.models import ChangePoint, Incident, Silence
from benchdash.results.branches import REF_PATTERN
from benchdash.results.corrections import CorrectionError, merge, rename, repoint_all
from benchdash.results.models import NAMED, Baseline, Measurement, Run, Series
from benchdash.results.queries import ids_called
from benchdash.results.services import hold_results
from ingest.archives import services as archives
from ingest.masking import MASK
from ingest.models import ArchiveFile, Upload
from ingest.receiving.dry_runs import nothing_stored
from ingest.receiving.reimports import readable_uploads, reimport

_REASON: Final = "read again: a part of the name was masked"
# The names of a run that its series share, by the columns of Series.
_NAMES: Final = {
    "workload": "workload__name",
    "product": "version__product__name",
    "hardware": "hardware__name",
    "configuration": "configuration__name",
    "build": "version__build",
    "branch": "branch",
    "counterpart": "counterpart",
}
_Names = tuple[str, ...]


@dataclass(slots=True)
class NamesRead:
    """The outcome of the names; ``left`` are runs whose names nobody can tell any more."""

    renamed: list[str] = field(default_factory=list)
    uploads: int = 0
    runs: int = 0
    left: int = 0


@transaction.atomic
def read_names_again(project: Project, *, store: bool = True) -> NamesRead:
    """Read the uploads of a project again of which a name was kept otherwise; or say what would be.

    All or nothing, while uploads to the project wait. Done again, it changes nothing. Nobody is mailed.
    """
    hold_results(project, alone=True)
    masked = Q(*((f"{name}__contains", MASK) for name in _NAMES.values()), _connector=Q.OR)
    runs = Run.objects.filter(masked | Q(branch__regex=REF_PATTERN), project=project)
    of_runs = Q(pk__in=runs.values("upload_id"))
    refused = Q(state=Upload.State.REFUSED, errors__icontains=MASK)
    uploads = list(readable_uploads(project).filter(of_runs | refused))
    before = _names_of(Run.objects.filter(upload_id__in=[upload.pk for upload in uploads]))
    with nothing_stored():
        _read(uploads)
        after = {**before, **_names_of(Run.objects.filter(pk__in=before))}
    read = NamesRead(uploads=len(uploads), runs=sum(after[run] != names for run, names in before.items()))
    heirs = _rename(project, before, after, read)
    _move_series(project, after)
    _move_branches(project, {(names[-2], after[run][-2]) for run, names in before.items()})
    _read(uploads)
    _follow(ChangePoint.objects.filter(run__in=before))
    for thing, name in heirs:
        if heir := type(thing)._default_manager.filter(project=project, name=name).first():
            merge(thing, heir, by=NOBODY, reason=_REASON)
    read.left = runs.count()
    transaction.set_rollback(not store)
    return read


def _names_of(runs: QuerySet[Run]) -> dict[int, _Names]:
    """Return the names of runs by their ids, in the order of their starts."""
    rows = runs.order_by("started_at", "pk").values_list("pk", *_NAMES.values())
    return {pk: tuple(names) for pk, *names in rows}


def _read(uploads: Iterable[Upload]) -> None:
    """Read files again, those of archives with what their paths and the files beside them say."""
    told_by_paths = [upload.pk for upload in uploads if MASK in str(upload.metadata)]
    places = ArchiveFile.objects.filter(upload__in=told_by_paths).exclude(archive__state=Upload.State.DELETED)
    for archive in Upload.objects.filter(pk__in=places.values("archive")):
        archives.read_again(archive)
    for upload in uploads:
        reimport(upload)


def _heir(names: Sequence[Any]) -> Any:
    """Return what most are, of as many the last one."""
    counts = Counter(reversed(names))
    return counts.most_common(1)[0][0]


def _rename(
    project: Project, before: Mapping[int, _Names], after: Mapping[int, _Names], read: NamesRead
) -> list[tuple[Any, str]]:
    """Give masked things the names of their heirs; return those whose name another thing has already."""
    taken = []
    for at, kind in enumerate(_NAMES):
        if kind not in NAMED:
            continue
        things: QuerySet[Any] = NAMED[kind]._default_manager.all()
        for thing in things.filter(project=project, name__contains=MASK):
            names = [after[run][at] for run, own in before.items() if own[at] == thing.name]
            if not names or (name := _heir(names)) == thing.name:
                continue
            read.renamed.append(f"{kind} {thing.name} → {', '.join(dict.fromkeys([name, *sorted(names)]))}")
            try:
                rename(thing, name, by=NOBODY, reason=_REASON)
            except CorrectionError:
                taken.append((thing, name))
    return taken


def _move_series(project: Project, after: Mapping[int, _Names]) -> None:
    """Give each series the names that most of its runs have now, before these runs are read again."""
    runs_of: dict[int, list[int]] = defaultdict(list)
    measured = Measurement.objects.filter(run__in=after).order_by("run__started_at", "run")
    for series_id, run_id in measured.values_list("series_id", "run_id"):
        runs_of[series_id].append(run_id)
    for series in Series.objects.filter(pk__in=runs_of).select_related(*NAMED):
        heir = dict(zip(_NAMES, _heir([after[run] for run in runs_of[series.pk]]), strict=True))
        changed = {name: text for name, text in heir.items() if str(getattr(series, name)) != text}
        for name, text in changed.items():
            setattr(series, name, _thing(project, name, text) if name in NAMED else text)
        try:
            with transaction.atomic():
                series.save(update_fields=changed)
        except IntegrityError:
            twin = Series.objects.get(**{name: getattr(series, name) for name in Series.IDENTITY})
            repoint_all(Series, {series.pk: twin.pk})
            Series.objects.filter(pk=series.pk).delete()


def _move_branches(project: Project, branches: Iterable[tuple[str, str]]) -> None:
    """Let what is said of a branch be said of it by the name that it has now."""
    for old, new in branches:
        if old != new:
            Incident.objects.filter(project=project, branch=old).update(branch=new)
            Silence.objects.filter(incident__project=project, branch=old).update(branch=new)
            Baseline.objects.filter(project=project, branch=old).update(branch=new)


def _thing(project: Project, kind: str, name: str) -> Any:
    model = NAMED[kind]
    called = model._default_manager.filter(pk__in=ids_called(model, [name], project)).first()
    return called or model._default_manager.create(project=project, name=name)


def _follow(change_points: QuerySet[ChangePoint]) -> None:
    """Let change points follow their runs into other series of the same metric."""
    measured = Measurement.objects.filter(run=OuterRef("run"), series__metric=OuterRef("series__metric"))
    strayed = change_points.exclude(Exists(measured.filter(series=OuterRef("series"))))
    for one in strayed.annotate(now_in=Subquery(measured.values("series")[:1])).exclude(now_in=None):
        ChangePoint.objects.filter(pk=one.pk).update(series=one.now_in)
