"""Cuts real files short, and says where a cut file is taken for a whole one.

Run as a program it sweeps over all real files, fixtures and those beside the checkout: every line end and 200
other places of each. ``make cuts`` runs it; the tests take samples.
"""

import random
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ingest.formats.report import FormatError
from tests.ingest.formats.real_files import SHARED, accepted, read, recognised_by, understood

OFFSETS = 200
# What a report must hold to be one where more may follow or not.
NEEDED = {"pgbench": b"\ntps = ", "hammerdb": b" NOPM"}


def behind_lines_and_at_offsets(data):
    """Where to cut: behind every line, and at 200 seeded offsets."""
    offsets = random.Random(2026).sample(range(1, len(data)), min(OFFSETS, len(data) - 1))
    return [*(index + 1 for index, byte in enumerate(data) if byte == 10), *offsets]


def places(data, *, most=None):
    """Where to cut: behind every line, before every line end, and at 200 seeded offsets; ``most`` of each."""
    ends = [at + 1 for at in range(len(data) - 1) if data[at : at + 1] == b"\n"]
    ends.append(len(data) - 1)
    chosen = random.Random(len(data))
    offsets = [chosen.randrange(1, len(data)) for _ in range(OFFSETS)]
    if most is None:
        return sorted({*ends, *(end - 1 for end in ends), *offsets} - {0})
    # The ends of a file hold what a cut loses most easily: half of the sample is of its last lines.
    sample = [*ends[-most // 2 :], *chosen.sample(ends, min(len(ends), most // 2))]
    return sorted({*sample, *(end - 1 for end in sample), *offsets[:most]} - {0})


def troubles(name, data, *, most=None):
    """A sentence for each cut that is neither refused, nor warned of, nor without a loss."""
    whole = read(name, data)
    return [
        f"cut to {place} of {len(data)} bytes: {trouble}"
        for place in places(data, most=most)
        if (trouble := _trouble(name, data[:place], whole))
    ]


def _trouble(name, data, whole):
    others = set(recognised_by(data)) - {name}
    if others:
        return f"recognised as {' and '.join(sorted(others))}"
    try:
        cut = understood(name, data)
    except Exception as error:  # noqa: BLE001 - that it is none other than FormatError is what is asked
        return f"{type(error).__name__}: {error}"
    if cut is None or cut.found == whole.found or cut.warnings - whole.warnings:
        return None
    if data.endswith((b"\n", b"\r")) and cut.parts <= whole.parts and NEEDED.get(name, b"") in data:
        # A table that ends behind a row, or samples that end behind a line, are whole for all that one sees.
        return None
    return f"less is found, without a warning; it ends with {data[-60:]!r}"


def _swept(path):
    data = path.read_bytes()
    try:
        names = recognised_by(data)
        return path, [trouble for name in names for trouble in troubles(name, data)]
    except FormatError:
        return path, []


def main():
    files = [*accepted(), *(path for path in sorted(SHARED.rglob("*")) if path.is_file())]
    if folders := [Path(folder).resolve() for folder in sys.argv[1:]]:
        files = [path for path in files if any(path.is_relative_to(folder) for folder in folders)]
    found = 0
    with ProcessPoolExecutor(2) as pool:
        for path, sentences in pool.map(_swept, files, chunksize=4):
            found += len(sentences)
            for sentence in sentences[:5]:
                print(f"{path}: {sentence}")
    print(f"{len(files)} files, {found} cuts that are taken for whole files")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
