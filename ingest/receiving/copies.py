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
from benchdash.results.dimensions import RowsOfRun
from benchdash.results.models import IntervalSamples, Measurement, Run
from benchdash.results.probes import Probe
from benchdash.results.records import RunRecord
from benchdash.results.services import Check, Recorded, delete_runs, hold_results, record_runs, remove_runs
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
    """A run as its file tells of it. ``measured`` is what is the same of repeats, by ``_MEASURED``."""

    run_id: int
    upload_id: int
    key: str
    measured: tuple[Any, ...]
    told: ToldRun


# Rows of one statement.
_AT_ONCE: Final = 100
# If more runs have a figure, the newest are looked at: it tells them apart no more.
_MAX_ALIKE: Final = 20
# Uploads that may have the runs of one upload between them.
_MAX_PARTS: Final = 8
# Runs of all uploads that are held against one; a file has 10,000 at most.
_MAX_COMPARED_RUNS: Final = 30_000

# A table of a thousand versions takes no more locks than this, of which PostgreSQL has some thousand.
_LOCKS: Final = 128
# The ids of runs that are not stored yet begin here.
_NOT_STORED: Final = 2**62
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


# Every upload asks this, mostly for nothing, and the ORM would build its text each time.
_SAME_AND_TWIN: Final = f"""
    SELECT upload.id FROM ingest_rawfile raw JOIN ingest_upload upload ON upload.raw_id = raw.id
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
    with connection.cursor() as cursor:
        cursor.execute(_SAME_AND_TWIN, {"project": project.pk, "sha256": sha256, "digest": digest})
        ids = [upload_id for (upload_id,) in cursor]
    uploads = Upload.objects.in_bulk(ids) if ids else {}
    for one in uploads.values():
        one.project = project
    return [uploads[upload_id] for upload_id in ids if upload_id in uploads]


class RepeatsError(Exception):
    """Runs that were about to be recorded are there already: to be recorded by ``record_alone``."""

    def __init__(self, repeats: Sequence[Repeat]) -> None:
        super().__init__()
        self.repeats = repeats


def refuse_repeats(
    upload_ids: Sequence[int], places: Sequence[RowsOfRun], records: Sequence[RunRecord]
) -> None:
    """Raise RepeatsError for runs that other files tell of too.

    Uploads of one version and machine that arrive at once wait for each other before they look: the later
    one finds what the earlier one wrote.
    """
    locks = {(31 * place.version.pk + place.hardware.pk) % _LOCKS for place in places}
    projects = {place.version.project_id for place in places}
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_FORMS, [max(projects, default=0), sorted(locks)])
    if repeats := repeats_among(forms_of(upload_ids, places, records)):
        raise RepeatsError(repeats)


# A statement of its own: one that waited for a lock itself would not see what was written meanwhile.
_HOLD_FORMS: Final = """
    SELECT pg_advisory_xact_lock(hashtextextended('forms in project ' || %s, number))
    FROM unnest(%s::bigint[]) AS number
"""


def record_first(upload: Upload, records: Sequence[RunRecord]) -> Recorded:
    """Record the runs of a held upload. Raises RepeatsError, with nothing recorded."""
    Copy.objects.filter(upload=upload).delete()
    return _record_runs(upload, records, refuse_repeats)


def record_alone(upload: Upload, records: Sequence[RunRecord]) -> Recorded:
    """Record the runs of a held upload, apart from those that repeat what is there.

    Where its form of a run has more information, that takes the place of the one that is there: so nobody
    else may be recording.
    """
    hold_results(upload.project, alone=True)
    Copy.objects.filter(upload=upload).delete()
    stored = dict(Run.objects.filter(upload_id=upload.pk).values_list("key", "pk"))

    def check(*about: Any) -> None:
        if repeats := repeats_among(forms_of(*about, stored=stored)):
            raise RepeatsError(repeats)

    try:
        return _record_runs(upload, records, check)
    except RepeatsError as error:
        left_out = _settle(upload, error.repeats)
    # Older runs that are this upload's now get what it says of them.
    kept = [record for record in records if record.key not in left_out]
    if kept:
        return _record_runs(upload, kept)
    remove_runs(upload.project, upload_id=upload.pk, quiet=upload.quiet)
    return Recorded([], [], [], [])


def _record_runs(upload: Upload, records: Sequence[RunRecord], check: Check | None = None) -> Recorded:
    return record_runs(upload.project, upload_id=upload.pk, records=records, quiet=upload.quiet, check=check)


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
        stays |= {form.run_id: run_id for form in forms if run_id != form.run_id < _NOT_STORED}
        copies += [Copy(upload_id=one.upload_id, key=one.key, run_id=run_id) for one in others]
    moved = list(Copy.objects.filter(run__in=stays))
    for copy in moved:
        copy.run_id = stays[copy.run_id]
    Copy.objects.bulk_update(moved, ["run"], batch_size=_AT_ONCE)
    if stays:
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


def forms_of(
    upload_ids: Sequence[int],
    places: Sequence[RowsOfRun],
    records: Sequence[RunRecord],
    *,
    stored: Mapping[str, int] | None = None,
) -> dict[int, list[Form]]:
    """Return the runs of uploads, by id, as they are about to be recorded.

    ``stored`` are the ids of those of a single upload that are there, by key. Others have one beyond all
    ids: they are the youngest.
    """
    run_ids = stored or {}
    forms: dict[int, list[Form]] = {upload_id: [] for upload_id in upload_ids}
    for number, (upload_id, place, record) in enumerate(zip(upload_ids, places, records, strict=True)):
        ids = place.version.pk, record.branch, place.hardware.pk, place.configuration_id
        told = ToldRun(
            {one.metric: StoredReading(one.value, one.unit, one.low, one.high) for one in record.readings},
            samples=sum(len(table.columns) * len(table.rows) for table in record.samples),
            started_at=None if record.started_at_is_assumed else record.started_at,
            repetition=record.repetition,
            session=session_of(record.tags) or "",
        )
        measured = (*ids, record.counterpart, place.workload.pk, record.threads)
        run_id = run_ids.get(record.key, _NOT_STORED + number)
        forms[upload_id].append(Form(run_id, upload_id, record.key, measured, told))
    return forms


def repeats_among(own: Mapping[int, Sequence[Form]]) -> list[Repeat]:
    """Return the runs of uploads, by id, that other files tell of too, stored ones or others of these.

    One statement, unless some file is much like another.
    """
    alike = _alike(own)
    if not alike:
        return []
    contents = dict(
        Upload.objects.filter(pk__in={pk for pair in alike for pk in pair}).values_list("pk", "raw_id")
    )
    may_prove = {upload_id for upload_id, of_upload in own.items() if _may_prove(of_upload)}
    alike = [pair for pair in alike if may_prove.intersection(pair) or contents[pair[0]] == contents[pair[1]]]
    forms: dict[int, list[Form]] = defaultdict(list, {pk: list(of_upload) for pk, of_upload in own.items()})
    for form in _forms({pk for pair in alike for pk in pair} - own.keys()):
        forms[form.upload_id].append(form)
    proven: list[AgreeingPair] = []
    of_upload: dict[int, list[AgreeingPair]] = defaultdict(list)
    for one, other in alike:
        pairs = pairs_of(forms[one], forms[other])
        proven += proven_of(pairs, forms[one], forms[other], same_bytes=contents[one] == contents[other])
        for upload_id in (one, other):
            of_upload[upload_id] += pairs
    # A table may repeat what came in several files.
    for upload_id in own:
        if forms[upload_id] and _all_agree(forms[upload_id], of_upload[upload_id]):
            proven += of_upload[upload_id]
    return _joined(proven)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A span in which other forms of some runs of an upload have their probes."""

    upload_id: int
    measured: tuple[Any, ...]
    span: tuple[float, float]
    runs: list[int]


# The limit comes before the place, so that no history makes a look-up longer.
_FIND_ALIKE: Final = f"""
    SELECT wanted.upload_id, alike.upload_id, array_agg(wanted.at), array_agg(alike.id)
    FROM unnest(
        %(upload_id)s::bigint[], %(version_id)s::bigint[], %(branch)s::varchar[], %(hardware_id)s::bigint[],
        %(configuration_id)s::bigint[], %(counterpart)s::varchar[], %(workload_id)s::bigint[],
        %(threads)s::integer[], %(lowest)s::float8[], %(highest)s::float8[], %(most)s::integer[]
    ) WITH ORDINALITY AS wanted (upload_id, {", ".join(_MEASURED)}, lowest, highest, most, at)
    CROSS JOIN LATERAL (
        SELECT * FROM results_run
        WHERE version_id = wanted.version_id AND workload_id = wanted.workload_id
            AND probe BETWEEN wanted.lowest AND wanted.highest AND upload_id <> wanted.upload_id
        ORDER BY probe DESC, id DESC LIMIT wanted.most
    ) alike
    WHERE ({", ".join(f"alike.{name}" for name in _MEASURED)})
        IS NOT DISTINCT FROM ({", ".join(f"wanted.{name}" for name in _MEASURED)})
    GROUP BY wanted.upload_id, alike.upload_id
"""  # noqa: S608 - of our own names
# The runs of an upload that are like some of another one, and those of the other, by the two.
_Found = Mapping[int, Mapping[int, tuple[set[int], set[int]]]]


def _alike(own: Mapping[int, Sequence[Form]]) -> list[tuple[int, int]]:
    """Return the pairs of uploads of which, by the probes of their runs, one may be within the other."""
    lookups = _lookups(own)
    if not lookups:
        return []
    columns = map(list, zip(*(one.measured for one in lookups), strict=True))
    parameters: dict[str, Any] = {
        **dict(zip(_MEASURED, columns, strict=True)),
        "upload_id": [one.upload_id for one in lookups],
        "lowest": [one.span[0] for one in lookups],
        "highest": [one.span[1] for one in lookups],
        "most": [len(one.runs) + _MAX_ALIKE for one in lookups],
    }
    found: dict[int, dict[int, tuple[set[int], set[int]]]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_FIND_ALIKE, parameters)
        for upload_id, other, places, others in cursor.fetchall():
            if other not in own:
                ours = {run_id for at in places for run_id in lookups[at - 1].runs}
                found[upload_id][other] = ours, set(others)
    if len(own) > 1:
        _add_alike_among(own, lookups, found)
    return _containing(found, own) if found else []


def _add_alike_among(
    own: Mapping[int, Sequence[Form]],
    lookups: Iterable[_Lookup],
    found: dict[int, dict[int, tuple[set[int], set[int]]]],
) -> None:
    """Add what is alike among uploads that come together, of which none is stored yet."""
    there = _by_place(form for of_upload in own.values() for form in of_upload)
    for lookup in lookups:
        for form in _within(lookup.span, there[lookup.measured], len(lookup.runs) + _MAX_ALIKE):
            if form.upload_id != lookup.upload_id:
                ours, others = found[lookup.upload_id].setdefault(form.upload_id, (set(), set()))
                ours.update(lookup.runs)
                others.add(form.run_id)


def _lookups(own: Mapping[int, Sequence[Form]]) -> Sequence[_Lookup]:
    """Return what to look for; runs of one place whose figures are the same share it."""
    lookups: dict[object, _Lookup] = {}
    for upload_id, forms in own.items():
        for form in forms:
            probe = form.told.probe
            for span in spans_of_prints(probe) if probe else ():
                new = _Lookup(upload_id, form.measured, span, [])
                lookups.setdefault((upload_id, form.measured, span), new).runs.append(form.run_id)
    return list(lookups.values())


def _containing(found: _Found, own: Mapping[int, Sequence[Form]]) -> list[tuple[int, int]]:
    """Return the pairs of uploads of which all runs of one are among those found to be alike.

    Several uploads may have those of one between them.
    """
    others = {other for of_upload in found.values() for other in of_upload}
    runs = Run.objects.filter(upload_id__in=others - own.keys())
    number = Counter(dict(runs.order_by().values_list("upload_id").annotate(Count("pk"))))
    number.update({upload_id: len(forms) for upload_id, forms in own.items()})
    pairs: set[tuple[int, int]] = set()
    for one, of_upload in found.items():
        most_alike = sorted(of_upload, key=lambda pk: (len(of_upload[pk][0]), pk), reverse=True)
        parts = most_alike[:_MAX_PARTS]
        if len(set[int]().union(*(of_upload[other][0] for other in parts))) < number[one]:
            parts = []
        chosen = [pk for pk in most_alike if pk in parts or len(of_upload[pk][1]) == number[pk]]
        compared = accumulate(number[other] for other in chosen)
        pairs |= {
            (min(one, other), max(one, other))
            for other, runs_so_far in zip(chosen, compared, strict=True)
            if runs_so_far <= _MAX_COMPARED_RUNS
        }
    return sorted(pairs)


def _may_prove(forms: Iterable[Form]) -> bool:
    """Return whether the figures of an upload have so many digits that another form could prove it a copy."""
    told = {form.told.content: form.told for form in forms}
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
    paired = {pair.other.run_id for pair in pairs}
    there = _by_place(form for form in theirs if form.run_id not in paired)
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


def _by_place(forms: Iterable[Form]) -> Mapping[object, list[tuple[float, Form]]]:
    """Return forms with their probes, in the order of these, by where they were measured."""
    there: dict[object, list[tuple[float, Form]]] = defaultdict(list)
    for form in forms:
        if probe := form.told.probe:
            there[form.measured].append((probe.value, form))
    for of_place in there.values():
        of_place.sort(key=itemgetter(0))
    return there


def _near(probe: Probe | None, forms: Sequence[tuple[float, Form]]) -> Iterator[Form]:
    """Yield forms, which are in the order of their probes, whose probe may be another print of this one."""
    for span in spans_of_prints(probe) if probe and forms else ():
        yield from _within(span, forms, _MAX_ALIKE)


def _within(span: tuple[float, float], forms: Sequence[tuple[float, Form]], most: int) -> Iterator[Form]:
    start = bisect_left(forms, span[0], key=itemgetter(0))
    yield from (form for value, form in forms[start : start + most] if value <= span[1])


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
