"""Finds the same measurement in another form, and links it to the run that is there: it counts once.

A file is a copy where all of its runs agree with runs that are there for the same version, place, workload
and thread count; so is a file that is wholly contained in one that comes later. How much must agree to
exclude chance is said in ``agreement`` beside this. Of each run the form with most information is kept.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from django.db import connection
from django.db.models import Count

from benchdash.accounts.models import Project
from benchdash.results.models import IntervalSamples, Measurement, Run
from benchdash.results.probes import Probe, probe_of
from benchdash.results.records import RunRecord
from benchdash.results.services import Recorded, delete_runs, hold_results, record_runs
from benchdash.results.sessions import session_of
from ingest.models import Copy, Upload
from ingest.receiving.agreement import (
    MIN_DIGITS,
    SAME_START_DIGITS,
    StoredReading,
    ToldRun,
    agreement,
    proves,
    spans_of_prints,
)
from ingest.receiving.arrivals import Identity


@dataclass(frozen=True, slots=True)
class Form:
    """A stored run as its file tells of it. ``measured`` is what is the same of repeats."""

    run_id: int
    upload_id: int
    key: str
    measured: tuple[object, ...]
    told: ToldRun


# Rows of one statement.
_AT_ONCE: Final = 100
# If more runs have a figure, the newest are looked at: it tells them apart no more.
_MAX_ALIKE: Final = 20
# Uploads that may have the runs of one upload between them.
_MAX_PARTS: Final = 8
# Runs of all uploads that are held against one; a file has 10,000 at most.
_MAX_COMPARED_RUNS: Final = 30_000

# Fields that tell measurements apart, beside their figures; a version is of one product and build.
_MEASURED: Final = (
    *("version_id", "branch", "hardware_id", "configuration_id", "counterpart", "workload_id", "threads"),
)

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


# Every upload asks this, and the ORM would build its text each time.
_SAME_AND_TWIN: Final = f"""
    SELECT upload.* FROM ingest_rawfile raw JOIN ingest_upload upload ON upload.raw_id = raw.id
    WHERE raw.project_id = %(project)s AND raw.sha256 = %(sha256)s
        AND (metadata_digest = %(digest)s
            OR state NOT IN ('{Upload.State.REFUSED}', '{Upload.State.DELETED}'))
    ORDER BY metadata_digest = %(digest)s DESC, received_at DESC, upload.id DESC LIMIT 2
"""  # noqa: S608 - of our own names


def same_and_twin(project: Project, identity: Identity) -> list[Upload]:
    """Return the upload of this identity, and the newest other one of these bytes that counts.

    A file that comes again with better words than one that was refused or deleted has no twin.
    """
    sha256, digest = identity
    names = {"project": project.pk, "sha256": sha256, "digest": digest}
    uploads = list(Upload.objects.raw(_SAME_AND_TWIN, names))
    for one in uploads:
        one.project = project
    return uploads


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
    if all(best.upload_id != upload.pk for best, *_ in repeats):
        return recorded
    # Older runs that are this upload's now get what it says of them.
    kept = [record for record in records if record.key not in left_out]
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
    runs = [
        Run(pk=run_id, upload_id=best.upload_id, key=best.key)
        for run_id, best in kept.items()
        if run_id != best.run_id
    ]
    Run.objects.bulk_update(runs, ["upload_id", "key"], batch_size=_AT_ONCE)
    Copy.objects.bulk_create(copies, batch_size=_AT_ONCE)
    return {copy.key for copy in copies if copy.upload_id == upload.pk}


# --- finding ------------------------------------------------------------------------------------------------


def repeats_among(recorded: Mapping[int, Recorded]) -> list[Repeat]:
    """Return the runs of uploads, by id, which were just recorded, that other files tell of too.

    One statement, unless some file is much like another. Files that arrive at once find each other: both
    touch the series of their probe, where the later one waits until the earlier one is committed.
    """
    alike = _alike(recorded)
    if not alike:
        return []
    contents = dict(
        Upload.objects.filter(pk__in={pk for pair in alike for pk in pair}).values_list("pk", "raw_id")
    )
    may_prove = {upload_id for upload_id, one in recorded.items() if _may_prove(one)}
    alike = [pair for pair in alike if may_prove.intersection(pair) or contents[pair[0]] == contents[pair[1]]]
    forms: dict[int, list[Form]] = defaultdict(list)
    for form in _forms({pk for pair in alike for pk in pair}):
        forms[form.upload_id].append(form)
    proven: list[AgreeingPair] = []
    of_upload: dict[int, list[AgreeingPair]] = defaultdict(list)
    for one, other in alike:
        pairs = pairs_of(forms[one], forms[other])
        proven += proven_of(pairs, forms[one], forms[other], same_bytes=contents[one] == contents[other])
        for upload_id in (one, other):
            of_upload[upload_id] += pairs
    # A table may repeat what came in several files.
    for upload_id in recorded:
        if forms[upload_id] and _all_agree(forms[upload_id], of_upload[upload_id]):
            proven += of_upload[upload_id]
    return _joined(proven)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A span in which other forms of some runs of an upload have their probes."""

    span: tuple[float, float]
    runs: list[int]


# The limit comes before the place, so that no history makes a look-up longer.
_FIND_ALIKE: Final = """
    SELECT own.upload_id, alike.upload_id, array_agg(wanted.at), array_agg(alike.id)
    FROM unnest(%(runs)s::bigint[], %(lowest)s::float8[], %(highest)s::float8[], %(most)s::integer[])
        WITH ORDINALITY AS wanted (run_id, lowest, highest, most, at)
    JOIN results_run own ON own.id = wanted.run_id
    CROSS JOIN LATERAL (
        SELECT * FROM results_run
        WHERE version_id = own.version_id AND workload_id = own.workload_id
            AND probe BETWEEN wanted.lowest AND wanted.highest AND upload_id <> own.upload_id
        ORDER BY probe DESC, id DESC LIMIT wanted.most
    ) alike
    WHERE (alike.branch, alike.hardware_id, alike.configuration_id, alike.counterpart, alike.threads)
        IS NOT DISTINCT FROM (own.branch, own.hardware_id, own.configuration_id, own.counterpart, own.threads)
    GROUP BY own.upload_id, alike.upload_id
"""
# The runs of an upload that are like some of another one, and those of the other, by the two.
_Found = Mapping[int, Mapping[int, tuple[set[int], set[int]]]]


def _alike(recorded: Mapping[int, Recorded]) -> list[tuple[int, int]]:
    """Return the pairs of uploads of which, by the probes of their runs, one may be within the other."""
    lookups = _lookups(recorded)
    if not lookups:
        return []
    parameters: dict[str, Any] = {
        "runs": [one.runs[0] for one in lookups],
        "lowest": [one.span[0] for one in lookups],
        "highest": [one.span[1] for one in lookups],
        "most": [len(one.runs) + _MAX_ALIKE for one in lookups],
    }
    found: dict[int, dict[int, tuple[set[int], set[int]]]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_FIND_ALIKE, parameters)
        for upload_id, other, places, others in cursor.fetchall():
            ours = {run_id for at in places for run_id in lookups[at - 1].runs}
            found[upload_id][other] = ours, set(others)
    return _containing(found, recorded) if found else []


def _lookups(recorded: Mapping[int, Recorded]) -> Sequence[_Lookup]:
    """Return what to look for; runs of one place whose figures are the same share it."""
    lookups: dict[object, _Lookup] = {}
    for upload_id, one in recorded.items():
        for run_id, place, record in zip(one.run_ids, one.places, one.records, strict=True):
            probe = probe_of(one[:3] for one in record.readings)
            series = (place.version.pk, place.workload.pk, place.hardware.pk, place.configuration_id)
            for span in spans_of_prints(probe) if probe else ():
                key = (upload_id, *series, record.branch, record.counterpart, record.threads, span)
                lookups.setdefault(key, _Lookup(span, [])).runs.append(run_id)
    return list(lookups.values())


def _told(record: RunRecord) -> ToldRun:
    """Return the figures of a record, of which nothing else is said."""
    return ToldRun({r.metric: StoredReading(r.value, r.unit, r.low, r.high) for r in record.readings})


def _containing(found: _Found, recorded: Mapping[int, Recorded]) -> list[tuple[int, int]]:
    """Return the pairs of uploads of which all runs of one are among those found to be alike.

    Several uploads may have those of one between them.
    """
    runs = Run.objects.filter(upload_id__in={other for of_upload in found.values() for other in of_upload})
    number = Counter(dict(runs.order_by().values_list("upload_id").annotate(Count("pk"))))
    pairs: set[tuple[int, int]] = set()
    for one, of_upload in found.items():
        most_alike = sorted(of_upload, key=lambda pk: (len(of_upload[pk][0]), pk), reverse=True)
        parts = most_alike[:_MAX_PARTS]
        if len(set[int]().union(*(of_upload[other][0] for other in parts))) < len(recorded[one].run_ids):
            parts = []
        chosen = [pk for pk in most_alike if pk in parts or len(of_upload[pk][1]) == number[pk]]
        compared = accumulate(number[other] for other in chosen)
        pairs |= {
            (min(one, other), max(one, other))
            for other, runs_so_far in zip(chosen, compared, strict=True)
            if runs_so_far <= _MAX_COMPARED_RUNS
        }
    return sorted(pairs)


def _may_prove(one: Recorded) -> bool:
    """Return whether the figures of an upload have so many digits that another form could prove it a copy."""
    told = {run.content: run for run in map(_told, one.records)}
    digits = sum(agreement(run, run) or 0 for run in told.values())
    return digits + SAME_START_DIGITS >= MIN_DIGITS


def _forms(uploads: Iterable[int]) -> Iterator[Form]:
    """Yield the stored runs of these uploads as their files tell of them."""
    runs = Run.objects.filter(upload_id__in=uploads).order_by("pk")
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
    told_of_a_run = ("started_at_is_assumed", "started_at", "repetition", "tags")
    for run_id, upload_id, key, is_assumed, started_at, repetition, tags, *measured in runs.values_list(
        "pk", "upload_id", "key", *told_of_a_run, *_MEASURED
    ):
        told = ToldRun(
            figures[run_id],
            samples=samples[run_id],
            started_at=None if is_assumed else started_at,
            repetition=repetition,
            session=session_of(tags) or "",
        )
        yield Form(run_id, upload_id, key, tuple(measured), told)


def pairs_of(ours: Sequence[Form], theirs: Sequence[Form]) -> list[AgreeingPair]:
    """Return the runs of two files that agree, each with one of the other at most.

    Runs whose figures are all the same are paired in their order, and each other one is held against the few
    whose probes are other prints of its own: there may be thousands of either.
    """
    same: dict[object, list[Form]] = defaultdict(list)
    for form in reversed(theirs):
        same[form.measured, form.told.content].append(form)
    pairs, others = [], []
    for one in ours:
        twins = same[one.measured, one.told.content]
        if twins and (digits := agreement(one.told, one.told)) is not None:
            pairs.append(AgreeingPair(one, twins.pop(), digits))
        else:
            others.append(one)
    there: dict[object, list[tuple[float, Form]]] = defaultdict(list)
    paired = {pair.other.run_id for pair in pairs}
    for form in theirs:
        if (probe := form.told.probe) and form.run_id not in paired:
            there[form.measured].append((probe.value, form))
    for forms in there.values():
        forms.sort(key=itemgetter(0))
    found = [
        AgreeingPair(one, other, digits)
        for one in others
        for other in _near(one.told.probe, there[one.measured])
        if (digits := agreement(one.told, other.told)) is not None
    ]
    taken: set[int] = set()
    for pair in sorted(found, key=lambda pair: -pair.digits):
        runs = {pair.one.run_id, pair.other.run_id}
        if not runs & taken:
            taken |= runs
            pairs.append(pair)
    return pairs


def _near(probe: Probe | None, forms: Sequence[tuple[float, Form]]) -> Iterator[Form]:
    """Yield forms, which are in the order of their probes, whose probe may be another print of this one."""
    for lowest, highest in spans_of_prints(probe) if probe and forms else ():
        start = bisect_left(forms, lowest, key=itemgetter(0))
        yield from (form for value, form in forms[start : start + _MAX_ALIKE] if value <= highest)


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
    # Figures that a file has several times do not scatter there, and count once.
    digits += sum({(pair.one.measured, pair.one.told.content): pair.digits for pair in of_forms}.values())
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
