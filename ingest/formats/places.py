"""The places of a document that results of the same workload stand in, and the names that tell them apart."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Protocol

from ingest.formats.documents import BlockKind, DocumentBlock, document_blocks, plain_text
from ingest.formats.headings import Said, said_alone, said_by
from ingest.formats.report import ParsedRun, listed

VERSION, WORKLOAD, THREAD_COUNT, CONFIGURATION = "version", "workload", "thread count", "configuration"
_MAX_NAME_LENGTH = 150
# Names of repetitions: of one setting, at another time.
_REPETITION = re.compile(
    r"(?:\W*+(?:runs?|iterations?|repetitions?|repeat|rounds?|trials?|attempts?|pass|samples?)?\W*+"
    r"(?:no\W*+)?(?:[0-9]{1,4}(?:st|nd|rd|th)?)?\W*+(?:of [0-9]{1,4})?"
    r"(?:runs?|iterations?|repetitions?|rounds?|trials?|attempts?|pass)?\W*+"
    r"|.{0,20}(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})(?![0-9]).{0,40}"
    r"|.{0,40}[0-9]{1,2}:[0-9]{2}:[0-9]{2}.{0,20})",
    re.IGNORECASE,
)


class DocumentPlace(Protocol):
    """The headings above results, and the place that they name."""

    @property
    def headings(self) -> tuple[str, ...]: ...
    @property
    def caption(self) -> str: ...
    def workloads(self) -> AbstractSet[object]: ...


def names_of(places: Sequence[DocumentPlace], *, nameless: str = "") -> list[str]:
    """Return a name for each place: places with results of the same workload have different ones.

    A place without any text above it is called ``nameless`` with its number.
    """
    paths = [place.headings for place in places]
    above = _shared(paths)
    below = _shared([path[above:][::-1] for path in paths])
    names: list[str] = []
    used: dict[str, set[object]] = defaultdict(set)
    for number, (place, path) in enumerate(zip(places, paths, strict=True), start=1):
        own = path[above : len(path) - below]
        name = " / ".join(own) or place.caption or (path[-1] if path else nameless and f"{nameless} {number}")
        name = " ".join(name[:_MAX_NAME_LENGTH].split()).rstrip(":：")
        choices = [name, *([f"{name}: {place.caption}"[:_MAX_NAME_LENGTH]] if own and place.caption else [])]
        choices += [f"{name} ({count})" for count in range(2, len(places) + 2)]
        chosen = next(choice for choice in choices if used[choice].isdisjoint(place.workloads()))
        used[chosen] |= place.workloads()
        names.append(chosen)
    return names


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """Return how many of their first items all of the paths have in common."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*paths, strict=False)))


def kind_of(
    names: Sequence[str], *, may_be_threads: bool = False, may_be_workloads: bool = False
) -> tuple[str, list[Said]]:
    """Return what the names are, and what each says: versions, say, if all of them say that alone.

    Names that are configurations say nothing.
    """
    said = [said_alone(name) for name in names]
    if all(one.version for one in said):
        return VERSION, said
    if may_be_workloads and all(one.workload for one in said):
        return WORKLOAD, said
    if may_be_threads and all(one.threads for one in said):
        return THREAD_COUNT, said
    return CONFIGURATION, [Said()] * len(names)


def decision(what: str, names: Sequence[str], places: Sequence[DocumentPlace], kind: str) -> str:
    """Return the sentence about what was made of the names, and how the sender says otherwise."""
    distinct = list(dict.fromkeys(filter(None, names)))
    shown = listed([repr(name) for name in distinct])
    has_headings = any(place.headings or place.caption for place in places)
    why = "their headings tell" if has_headings else "nothing but their order tells"
    example = distinct[0].replace('"', "?")
    return (
        f"{what}, which {why} apart: each is a {kind} ({shown}). "
        f"If they are machines or anything else, say so in the field 'map', such as "
        f'{{"{example}": {{"hardware": "..."}}}}; if they are repetitions, send one {kind} for all'
    )


# --- outputs of tools in a document -----------------------------------------------------------------------


@dataclass(slots=True)
class _Place:
    """The runs under the same headings and the same text, by their positions."""

    headings: tuple[str, ...]
    caption: str
    positions: list[int] = field(default_factory=list)
    identities: set[object] = field(default_factory=set)

    def workloads(self) -> AbstractSet[object]:
        return self.identities


def told_apart(
    runs: Sequence[ParsedRun], first_lines: Sequence[int], lines: Sequence[str]
) -> tuple[list[ParsedRun], list[str]]:
    """Return runs with their headings, and a warning where those tell runs of one workload apart.

    ``first_lines`` are the numbers of the lines in which the runs begin. Where runs of one workload stand
    under different headings, or below different texts, these say what they are, or are their configurations.
    Where they stand under the same ones, or these only count them, they are repetitions.
    """
    identities = _identities(runs)
    if len(set(identities)) == len(runs):
        return list(runs), []
    places = _places(identities, first_lines, lines)
    seen: dict[object, list[_Place]] = defaultdict(list)
    for place in places:
        for identity in place.workloads():
            seen[identity].append(place)
    names = names_of(places)
    by_place = dict(zip(map(id, places), names, strict=True))
    shared = [[by_place[id(place)] for place in found] for found in seen.values() if len(found) > 1]
    is_needed = any(not all(map(_REPETITION.fullmatch, found)) for found in shared)
    kind, said = kind_of(
        names if is_needed else [""] * len(places),
        may_be_threads=all(run.threads is None for run in runs),
        may_be_workloads=all(run.workload is None for run in runs),
    )
    result = list(runs)
    for place, name, one in zip(places, names, said, strict=True):
        for position in place.positions:
            run = runs[position]
            result[position] = replace(
                run,
                headings=place.headings or ((place.caption,) if place.caption else ()),
                heading=name if is_needed and kind == CONFIGURATION else "",
                product=run.product or one.product,
                version=run.version or one.version,
                workload=run.workload or one.workload,
                threads=run.threads or one.threads,
                lost=() if one.threads else run.lost,
            )
    if not is_needed:
        return result, []
    what = "the same workload was run in several places of the document"
    return result, [decision(what, names, places, kind)]


def _identities(runs: Sequence[ParsedRun]) -> list[object]:
    """Return what tells each run from others by itself: not what its sender may say of it."""
    told = [
        (run.workload, run.threads, run.product, run.version, run.build, run.configuration) for run in runs
    ]
    said = [None not in values for values in zip(*told, strict=True)]
    return [tuple(value for value, is_said in zip(one, said, strict=True) if is_said) for one in told]


def _places(identities: Sequence[object], first_lines: Sequence[int], lines: Sequence[str]) -> list[_Place]:
    blocks = list(document_blocks(lines))
    starts = [block.line for block in blocks]
    found: dict[tuple[tuple[str, ...], str], _Place] = {}
    before: tuple[DocumentBlock, str] | None = None
    for position, (identity, line) in enumerate(zip(identities, first_lines, strict=True)):
        block = blocks[max(bisect_right(starts, line) - 1, 0)]
        caption = _caption(block, line, lines)
        if not caption and before and before[0] is block:
            caption = before[1]
        before = block, caption
        place = found.setdefault((block.headings, caption), _Place(block.headings, caption))
        place.positions.append(position)
        place.identities.add(identity)
    return list(found.values())


def _caption(block: DocumentBlock, line: int, lines: Sequence[str]) -> str:
    """Return the text above code, or a line with a colon right above a run; empty if it says nothing."""
    if block.kind is BlockKind.CODE:
        text = " ".join(one.lstrip("*-\u2022 ") for one in block.caption)
    else:
        near = [one.strip() for one in lines[max(line - 3, block.line - 1) : line - 1]]
        above = next(filter(None, reversed(near)), "")
        text = plain_text(above) if above.endswith((":", "：")) else ""
    return "" if said_by(text).is_empty else text.rstrip(":：")[:_MAX_NAME_LENGTH]
