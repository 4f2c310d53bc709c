"""Tells runs of one workload apart that stand under different headings of a document."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ingest.formats.documents import BlockKind, document_blocks
from ingest.formats.headings import said_by
from ingest.formats.report import ParsedRun
from ingest.masking import mask_text

_MAX_NAME_LENGTH = 150
_REPETITION = re.compile(
    r"(?:(?:run|test|round|pass|loop|trial|attempt|iteration|repetition)\s*)?#?[0-9]*", re.IGNORECASE
)

Path = tuple[str, ...]


def places_of(lines: Sequence[str], numbers: Sequence[int]) -> list[tuple[Path, Path]]:
    """Return for each number of a line, in their order, the headings of its block of code, and its caption.

    Both are empty where the line stands in no block of code: a log of several runs has none.
    """
    found: dict[int, tuple[Path, Path]] = {}
    blocks = (block for block in document_blocks(lines) if block.kind is BlockKind.CODE)
    block = next(blocks, None)
    for number in numbers:
        while block and block.line + len(block.lines) <= number:
            block = next(blocks, None)
        if block and block.line <= number:
            found[number] = block.headings, block.caption[-1:]
    return [found.get(number, ((), ())) for number in numbers]


def told_apart(
    runs: Sequence[ParsedRun], places: Sequence[tuple[Path, Path]]
) -> tuple[tuple[ParsedRun, ...], list[str]]:
    """Return the runs, where some of one workload stand in different places with their place, and a warning.

    The place is what stands above the run alone: its headings or, where they are the same, the line before
    it. It is the version where it says nothing else, or else the configuration.
    """
    workloads = [(run.workload, run.threads) for run in runs]
    by_headings = [headings for headings, _ in places]
    by_captions = [headings + caption for headings, caption in places]
    of_headings, of_captions = (
        len({*zip(workloads, paths, strict=True)}) for paths in (by_headings, by_captions)
    )
    paths = by_headings if of_headings == of_captions else by_captions
    if max(of_headings, of_captions) == len({*workloads}) or not all(paths):
        return tuple(runs), []
    shared = sum(1 for _ in takewhile(lambda parts: len({*parts}) == 1, zip(*paths, strict=False)))
    names = [" / ".join(path[shared:] or path[-1:]) for path in paths]
    names = [" ".join(mask_text(name[:_MAX_NAME_LENGTH]).split()).strip("-*: ") for name in names]
    if all(map(_REPETITION.fullmatch, names)):
        return tuple(runs), []
    said = [said_by(name) for name in names]
    are_versions = all(one.version and one.product and not one.rest for one in said)
    placed = tuple(
        replace(run, headings=path, product=one.product, version=one.version)
        if are_versions
        else replace(run, headings=path, heading=name)
        for run, path, name, one in zip(runs, paths, names, said, strict=True)
    )
    return placed, [_decision(names, "version" if are_versions else "configuration")]


def _decision(names: Sequence[str], kind: str) -> str:
    """Return the sentence about what was made of the names, and how the sender says otherwise."""
    shown = ", ".join(map(repr, dict.fromkeys(names)))
    example = names[0].replace('"', "?")
    return (
        f"reports of one workload stand under different headings: each is a {kind} ({shown[:300]}). If they "
        f"are machines or anything else, say so in the field 'map', such as {{\"{example}\": "
        f'{{"hardware": "..."}}}}; if they are repetitions, send one {kind} for all'
    )
