"""Whether copies are told from repeats: ``python -m benchmarks.copies [FOLDER]``.

Reads the measured files of a folder (by default ``../shared``) and holds every two of them against each other
that measured the same version, workload and thread count: the forms of one run, which must be taken for
copies, and different runs, which must not, though nothing is said of their start or repetition. Below stands
how often the main figures of different runs agree in their first digits by chance.
"""

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from ingest.receiving.copies import Form

SHARED = Path("../shared")
_META = ".meta.json"
_NEVER_RESULTS = ("vmstat", "iostat")
# Of the few files that say nothing of it.
_UNSAID = {"product": "unsaid", "version": "unsaid", "workload": "unsaid"}
# One measurement of ten drivers, of which a second table has three.
_PRINTED_WITH = {
    f"jdbc-three-drivers-mariadb-10.2.11-rep1{_META}": f"jdbc-all-drivers-mariadb-10.2.11-rep1{_META}"
}
_DIGITS = range(3, 8)


@dataclass
class Counts:
    """Pairs of files, and how many of them were taken for copies.

    ``agreeing`` counts, of ``figures`` pairs of main figures, those that have so many first digits alike.
    """

    files: int = 0
    forms: int = 0
    forms_missed: list[tuple[Path, Path]] = field(default_factory=list)
    repeats: int = 0
    repeats_taken: list[tuple[Path, Path]] = field(default_factory=list)
    figures: int = 0
    agreeing: Counter[int] = field(default_factory=Counter)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")
    django.setup()
    counts = counted(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED)
    sys.stdout.write(
        f"{counts.files} files\n\n| pairs of files | taken for copies |\n|---|---:|\n"
        f"| {counts.forms:,} of forms of one run | {counts.forms - len(counts.forms_missed):,} |\n"
        f"| {counts.repeats:,} of different runs | {len(counts.repeats_taken):,} |\n\n"
        f"| first digits alike | of {counts.figures:,} pairs of different runs |\n|---:|---:|\n"
    )
    for kind, found in (("taken for a copy", counts.repeats_taken), ("missed", counts.forms_missed)):
        for one, other in found:
            sys.stderr.write(f"{kind}: {one} and {other}\n")
    for digits in _DIGITS:
        alike = counts.agreeing[digits]
        sys.stdout.write(f"| {digits} | {alike:,} ({alike / max(1, counts.figures):.1e}) |\n")


def counted(folder: Path) -> Counts:
    """Hold the files below a folder against each other."""
    from ingest.receiving.copies import pairs_of, proven_of  # noqa: PLC0415 - Django is set up by now

    counts = Counts()
    by_place: dict[object, dict[Path, list[Form]]] = defaultdict(lambda: defaultdict(list))
    whole: dict[Path, Sequence[Form]] = {}
    measured: dict[Path, Path] = {}
    for path, meta, forms in _read(folder):
        counts.files += 1
        measured[path] = meta.with_name(_PRINTED_WITH.get(meta.name, meta.name))
        whole[path] = forms
        for form in forms:
            by_place[form.measured][path].append(form)
    pairs = {pair for of_place in by_place.values() for pair in combinations(sorted(of_place), 2)}
    for one, other in sorted(pairs):
        proven = proven_of(pairs_of(whole[one], whole[other]), whole[one], whole[other])
        if measured[one] == measured[other]:
            counts.forms += 1
            counts.forms_missed += [] if proven else [(one, other)]
        else:
            counts.repeats += 1
            counts.repeats_taken += [(one, other)] if proven else []
    for of_place in by_place.values():
        runs = {measured[path]: forms[0] for path, forms in of_place.items() if len(forms) == 1}
        for first, second in combinations([_main_figure(form) for form in runs.values()], 2):
            counts.figures += 1
            for digits in _DIGITS:
                counts.agreeing[digits] += f"{first:.{digits - 1}e}" == f"{second:.{digits - 1}e}"
    return counts


def _read(folder: Path) -> Iterator[tuple[Path, Path, Sequence["Form"]]]:
    """Yield files with the meta of their measurement and their runs, of which nothing else is said."""
    from django.utils import timezone  # noqa: PLC0415 - Django is set up by now

    from ingest.errors import FieldsError  # noqa: PLC0415
    from ingest.formats import parse  # noqa: PLC0415
    from ingest.formats.report import FormatError  # noqa: PLC0415
    from ingest.formats.source import Source  # noqa: PLC0415
    from ingest.metadata.upload_metadata import read_metadata  # noqa: PLC0415
    from ingest.receiving.agreement import StoredReading, ToldRun  # noqa: PLC0415
    from ingest.receiving.copies import Form  # noqa: PLC0415
    from ingest.receiving.records import decide  # noqa: PLC0415

    numbers = count()
    for meta in sorted(folder.rglob(f"*{_META}")):
        said = json.loads(meta.read_text())
        metadata, _ = read_metadata({"hardware": "box", "meta": {**_UNSAID, **said}})
        for path in sorted(meta.parent.glob(f"{_escaped(meta.name.removesuffix(_META))}.*")):
            if path.name.endswith(_META) or any(word in path.name for word in _NEVER_RESULTS):
                continue
            try:
                _, report = parse(Source(path.read_bytes(), path.name))
                records = decide(report, metadata, received_at=timezone.now()).records
            except (FormatError, FieldsError):
                continue
            yield (
                path,
                meta,
                [
                    Form(
                        run_id=next(numbers),
                        upload_id=0,
                        key=one.key,
                        measured=(one.product, one.version, one.counterpart, one.workload, one.threads),
                        told=ToldRun(
                            {r.metric: StoredReading(r.value, r.unit, r.low, r.high) for r in one.readings},
                        ),
                    )
                    for one in records
                ],
            )


def _main_figure(form: "Form") -> float:
    return next(iter(form.told.figures.values())).value


def _escaped(name: str) -> str:
    return name.replace("[", "[[]")


if __name__ == "__main__":
    main()
