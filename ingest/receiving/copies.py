"""Finds the same measurement in another form, and links it to the run that is there: it counts once.

A file is a copy where all of its runs agree with runs that are there for the same version, place, workload
and thread count; so is a file that is wholly contained in one that comes later. How much must agree to
exclude chance is said in ``agreement`` beside this. Of each run the form with most information is kept.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Q

from benchdash.accounts.models import Project
from benchdash.results.models import IntervalSamples, Measurement, Run, run_identity
from benchdash.results.readings import Reading
from benchdash.results.records import RunRecord
from benchdash.results.services import Recorded, delete_runs, hold_results, record_runs
from benchdash.results.sessions import session_of
from ingest.models import Copy, Upload
from ingest.receiving.agreement import MIN_DIGITS, StoredReading, ToldRun, agree, agreement, proves


@dataclass(frozen=True, slots=True)
class Form:
    """A stored run as its file tells of it. ``measured`` is what is the same of repeats."""

    run_id: int
    upload_id: int
    key: str
    measured: tuple[object, ...]
    told: ToldRun


# Rows of one statement.
_AT_ONCE = 100

# One run that several files tell of: its forms, that with most information first.
Repeat = Sequence[Form]


@dataclass(frozen=True, slots=True)
class AgreeingPair:
    """Two forms that agree in all that both have. ``digits`` weigh how much that proves."""

    one: Form
    other: Form
    digits: float


class RepeatsError(Exception):
    """Runs that were just recorded are there already: to be rolled back, and recorded by ``record_alone``."""


def record_first(upload: Upload, records: Sequence[RunRecord]) -> Recorded:
    """Record the runs of a held upload. Raises RepeatsError."""
    Copy.objects.filter(upload=upload).delete()
    recorded = record_runs(upload.project, upload_id=upload.pk, records=records, quiet=upload.quiet)
    if repeats_among({upload.pk: recorded}):
        raise RepeatsError
    return recorded


def record_alone(upload: Upload, records: Sequence[RunRecord]) -> Recorded:
    """Record the runs of a held upload, apart from those that repeat what is there.

    Where its form of a run has more information, that takes the place of the one that is there: so nobody
    else may be recording. The transaction has recorded nothing before.
    """
    project, quiet = upload.project, upload.quiet
    hold_results(project, alone=True)
    Copy.objects.filter(upload=upload).delete()
    recorded = record_runs(project, upload_id=upload.pk, records=records, quiet=quiet)
    repeats = repeats_among({upload.pk: recorded})
    if not repeats:
        return recorded
    left_out = _settle(upload, repeats)
    kept = [record for record in records if record.key not in left_out]
    if not kept:
        return Recorded([], [], [], recorded.warnings)
    return record_runs(project, upload_id=upload.pk, records=kept, quiet=quiet)


def hand_over(project: Project, upload_ids: Collection[int]) -> None:
    """Give the runs of uploads that go to another form of theirs, which is then to be read again."""
    hold_results(project, alone=True)
    Copy.objects.filter(upload__in=upload_ids).delete()
    heirs: dict[int, Copy] = {}
    for copy in Copy.objects.filter(run__upload_id__in=upload_ids).order_by("pk"):
        heirs.setdefault(copy.run_id, copy)
    runs = [Run(pk=run_id, upload_id=heir.upload_id, key=heir.key) for run_id, heir in heirs.items()]
    Run.objects.bulk_update(runs, ["upload_id", "key"], batch_size=_AT_ONCE)
    Copy.objects.filter(pk__in=[heir.pk for heir in heirs.values()]).delete()


def _settle(upload: Upload, repeats: Sequence[Repeat]) -> set[str]:
    """Keep one run of each repeat, link its other forms to it, and return the keys of those in the upload.

    Where the upload has the best form, the oldest run becomes what that says: what points at it still does.
    """
    kept: dict[int, Form] = {}
    stays: dict[int, int] = {}
    copies: list[Copy] = []
    for best, *others in repeats:
        forms = [best, *others]
        is_ours = best.upload_id == upload.pk
        run_id = min(form.run_id for form in forms) if is_ours else best.run_id
        kept[run_id] = best
        stays |= {form.run_id: run_id for form in forms if form.run_id != run_id}
        copies += [Copy(upload_id=one.upload_id, key=one.key, run_id=run_id) for one in others]
    moved = list(Copy.objects.filter(run__in=stays))
    for copy in moved:
        copy.run_id = stays[copy.run_id]
    Copy.objects.bulk_update(moved, ["run"], batch_size=_AT_ONCE)
    delete_runs(upload.project, Run.objects.filter(pk__in=stays), quiet=upload.quiet)
    runs = [Run(pk=run_id, upload_id=best.upload_id, key=best.key) for run_id, best in kept.items()]
    Run.objects.bulk_update(runs, ["upload_id", "key"], batch_size=_AT_ONCE)
    Copy.objects.bulk_create(copies, batch_size=_AT_ONCE)
    return {copy.key for copy in copies if copy.upload_id == upload.pk}


# --- finding ------------------------------------------------------------------------------------------------


def repeats_among(recorded: Mapping[int, Recorded]) -> list[Repeat]:
    """Return the runs of uploads, by id, which were just recorded, that other files tell of too.

    One statement, unless some file is much like another.
    """
    alike = _alike(recorded)
    if not alike:
        return []
    uploads = {upload_id for pair in alike for upload_id in pair}
    forms: dict[int, list[Form]] = defaultdict(list)
    for form in _forms(uploads):
        forms[form.upload_id].append(form)
    contents = dict(Upload.objects.filter(pk__in=uploads).values_list("pk", "raw_id"))
    proven: list[AgreeingPair] = []
    of_upload: dict[int, list[AgreeingPair]] = defaultdict(list)
    for one, other in alike:
        pairs = pairs_of(forms[one], forms[other])
        proven += proven_of(pairs, forms[one], forms[other], same_bytes=contents[one] == contents[other])
        for upload_id in (one, other):
            of_upload[upload_id] += pairs
    # A table may repeat what came in several files.
    for upload_id in recorded:
        if _all_agree(forms[upload_id], of_upload[upload_id]):
            proven += of_upload[upload_id]
    return _joined(proven)


def _alike(recorded: Mapping[int, Recorded]) -> list[tuple[int, int]]:
    """Return the pairs of uploads of which, by one figure of each run, one may be contained in the other."""
    probes: dict[int, Reading] = {}
    asked: dict[str, list[int]] = defaultdict(list)
    for one in recorded.values():
        for run_id, record in zip(one.run_ids, one.records, strict=True):
            if probe := _probe(record):
                probes[run_id] = probe
                asked[probe.metric].append(run_id)
    if not probes:
        return []
    wanted = Q()
    for metric, run_ids in asked.items():
        wanted |= Q(series__metric=metric, run__in=run_ids)
    # Runs of one version in one series are of one place, workload and thread count.
    rows = Measurement.objects.filter(wanted, series__measurements__run__version=F("run__version"))
    other = "series__measurements__"
    found: dict[tuple[int, int], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for run_id, upload_id, other_id, other_upload, value in rows.values_list(
        "run_id", "run__upload_id", f"{other}run_id", f"{other}run__upload_id", f"{other}value"
    ):
        probe = probes[run_id]
        if upload_id != other_upload and agree(_figure(probe), StoredReading(value, probe.unit)):
            for runs, one in zip(found[upload_id, other_upload], (run_id, other_id), strict=True):
                runs.add(one)
    return _containing(found) if found else []


def _probe(record: RunRecord) -> Reading | None:
    """Return the first figure of a run that is not the same in every run."""
    readings = [one for one in record.readings if one.value]
    return next((one for one in readings if _figure(one).is_clocked), next(iter(readings), None))


def _figure(reading: Reading) -> StoredReading:
    return StoredReading(reading.value, reading.unit, reading.low, reading.high)


def _containing(found: Mapping[tuple[int, int], tuple[set[int], set[int]]]) -> list[tuple[int, int]]:
    """Return the pairs of uploads of which all runs of one are among those found to be alike."""
    runs = Run.objects.filter(upload_id__in={upload_id for pair in found for upload_id in pair})
    number = Counter(dict(runs.order_by().values_list("upload_id").annotate(Count("pk"))))
    ours: dict[int, set[int]] = defaultdict(set)
    for (one, _), (run_ids, _) in found.items():
        ours[one] |= run_ids
    pairs = {
        tuple(sorted((one, other)))
        for (one, other), (_, theirs) in found.items()
        if len(ours[one]) == number[one] or len(theirs) == number[other]
    }
    return sorted((one, other) for one, other in pairs)


def _forms(uploads: Iterable[int]) -> Iterator[Form]:
    """Yield the stored runs of these uploads as their files tell of them."""
    runs = Run.objects.filter(upload_id__in=uploads).select_related("version").order_by("pk")
    figures: dict[int, dict[str, StoredReading]] = defaultdict(dict)
    measured = Measurement.objects.filter(run__in=runs.values("pk"), series__is_derived=False)
    for run_id, metric, value, unit, low, high in measured.values_list(
        "run_id", "series__metric", "value", "series__unit", "low", "high"
    ):
        figures[run_id][metric] = StoredReading(value, unit, low, high)
    samples: Counter[int] = Counter()
    sampled = IntervalSamples.objects.filter(run__in=runs.values("pk"))
    for run_id, columns, rows in sampled.values_list("run_id", "columns__len", "rows__len"):
        samples[run_id] += columns * rows
    for run in runs:
        told = ToldRun(
            figures[run.pk],
            samples=samples[run.pk],
            started_at=None if run.started_at_is_assumed else run.started_at,
            repetition=run.repetition,
            session=session_of(run.tags) or "",
        )
        yield Form(run.pk, run.upload_id, run.key, (run.version_id, *run_identity(run).values()), told)


def pairs_of(ours: Sequence[Form], theirs: Sequence[Form]) -> list[AgreeingPair]:
    """Return the runs of two files that agree, each with one of the other at most."""
    there: dict[object, list[Form]] = defaultdict(list)
    for form in theirs:
        there[form.measured].append(form)
    found = [
        AgreeingPair(one, other, digits)
        for one in ours
        for other in there[one.measured]
        if (digits := agreement(one.told, other.told)) is not None
    ]
    taken: set[int] = set()
    pairs = []
    for pair in sorted(found, key=lambda pair: -pair.digits):
        runs = {pair.one.run_id, pair.other.run_id}
        if not runs & taken:
            taken |= runs
            pairs.append(pair)
    return pairs


def proven_of(
    pairs: Sequence[AgreeingPair], ours: Sequence[Form], theirs: Sequence[Form], *, same_bytes: bool = False
) -> Sequence[AgreeingPair]:
    """Return the pairs where they prove that all runs of one of two files are those of the other."""
    digits = MIN_DIGITS if same_bytes else 0
    return pairs if any(_all_agree(forms, pairs, digits=digits) for forms in (ours, theirs)) else ()


def _all_agree(forms: Sequence[Form], pairs: Iterable[AgreeingPair], *, digits: float = 0) -> bool:
    """Return whether these, all runs of a file, are in pairs, and that cannot be chance.

    ``digits`` are those that prove it already.
    """
    best: dict[int, AgreeingPair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.digits):
        best |= {pair.one.run_id: pair, pair.other.run_id: pair}
    if any(form.run_id not in best for form in forms):
        return False
    of_forms = [best[form.run_id] for form in forms]
    digits += sum(pair.digits for pair in of_forms)
    return proves(((pair.one.told, pair.other.told) for pair in of_forms), digits)


def _joined(pairs: Iterable[AgreeingPair]) -> list[Repeat]:
    """Return the forms of each run, that with most information first, and of equal ones the oldest."""
    groups: dict[int, dict[int, Form]] = {}
    for pair in pairs:
        joined = {
            **groups.get(pair.one.run_id, {pair.one.run_id: pair.one}),
            **groups.get(pair.other.run_id, {pair.other.run_id: pair.other}),
        }
        groups |= dict.fromkeys(joined, joined)
    repeats = {min(group): group.values() for group in groups.values()}
    return [
        sorted(forms, key=lambda form: ([-part for part in form.told.information], form.run_id))
        # Two runs of one file are two runs, however like a third they are.
        for forms in repeats.values()
        if len({form.upload_id for form in forms}) == len(forms)
    ]
