"""Tells the results of one benchmark apart that stand in several tables of a document."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from ingest.formats.headings import said_alone
from ingest.formats.jmh.results import Result
from ingest.formats.jmh.table import applicable, listed
from ingest.masking import mask_text

_MAX_NAME_LENGTH = 150


@dataclass(slots=True)
class Part:
    """The results of one table, or of one output of JMH, with what stands above them.

    ``line`` is that of the table. ``is_bare``: nothing but a table, without the output that it sums up.
    """

    line: int
    headings: tuple[str, ...]
    caption: str
    is_bare: bool
    results: list[Result]

    def workloads(self) -> set[tuple[str, int | None]]:
        return {(result.workload, result.threads) for result in self.results}


def told_apart(parts: Sequence[Part]) -> tuple[list[Result], list[str]]:
    """Return the results of all parts, each with its place where it needs one, and what was decided.

    A table that only repeats figures above it is left out. Of the rest, the results of one benchmark in
    several places are no repetitions: the headings of the tables, or what else stands above them, tell them
    apart, as versions, thread counts or configurations. Outputs of JMH one after the other are repetitions.
    """
    kept, warnings = _without_copies([part for part in parts if part.results])
    seen: dict[tuple[str, int | None], list[Part]] = defaultdict(list)
    for part in kept:
        for workload in part.workloads():
            seen[workload].append(part)
    is_needed = any(len(found) > 1 and any(part.is_bare for part in found) for found in seen.values())
    names = _names(kept) if is_needed else [""] * len(kept)
    said = [said_alone(name) for name in names]
    kind = "configuration"
    if all(one.version for one in said):
        kind = "version"
    elif all(one.threads for one in said) and all(
        one.threads is None for part in kept for one in part.results
    ):
        kind = "thread count"
    if is_needed:
        warnings.append(_decision(names, kept, kind))
    results = []
    for name, one, part in zip(names, said, kept, strict=True):
        is_said = is_needed and kind != "configuration"
        results += [
            result._replace(
                headings=_with_place(part.headings, name) if is_said else part.headings,
                place=name,
                is_said=is_said,
                product=one.product if is_said else None,
                version=one.version if is_said else None,
                threads=one.threads if is_said and one.threads else result.threads,
            )
            for result in part.results
        ]
    return results, warnings


def _with_place(headings: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the headings and a caption that tells the results apart as they do, so that ``map`` finds it."""
    return headings if name in headings else (*headings, name)


def _without_copies(parts: Sequence[Part]) -> tuple[list[Part], list[str]]:
    """Return the parts without tables of which every row stands above with the same figures."""
    known: dict[object, list[tuple[Result, Part]]] = defaultdict(list)
    kept: list[Part] = []
    warnings: list[str] = []
    for part in parts:
        originals = [_original(result, known) for result in part.results] if part.is_bare else []
        if originals and all(originals):
            first = min(original.line for original in originals if original)
            warnings.append(
                f"the table in line {part.line} repeats figures of the one in line {first}: "
                "they are not counted again"
            )
            continue
        kept.append(part)
        for result in part.results:
            known[_figures(result)].append((result, part))
    return kept, warnings


def _figures(result: Result) -> object:
    name = result.benchmark.rpartition(".")[2]
    return name, applicable(result.params), result.mode, result.threads, result.score


def _original(result: Result, known: dict[object, list[tuple[Result, Part]]]) -> Part | None:
    """Return where a result with the same figures stands, whose name may be longer or shorter."""
    for other, part in known.get(_figures(result), ()):
        long, short = sorted((other.benchmark, result.benchmark), key=len, reverse=True)
        if long == short or long.endswith(f".{short}"):
            return part
    return None


def _names(parts: Sequence[Part]) -> list[str]:
    """Return a name for each part: parts with results of the same benchmark have different ones."""
    paths = [part.headings for part in parts]
    above = _shared(paths)
    below = _shared([path[above:][::-1] for path in paths])
    names: list[str] = []
    used: dict[str, set[tuple[str, int | None]]] = defaultdict(set)
    for number, (part, path) in enumerate(zip(parts, paths, strict=True), start=1):
        own = path[above : len(path) - below]
        name = " / ".join(own) or part.caption or (path[-1] if path else f"table {number}")
        name = " ".join(mask_text(name[:_MAX_NAME_LENGTH]).split()).rstrip(":：")
        choices = [name, *([f"{name}: {part.caption}"[:_MAX_NAME_LENGTH]] if own and part.caption else [])]
        choices += [f"{name} ({count})" for count in range(2, len(parts) + 2)]
        chosen = next(choice for choice in choices if used[choice].isdisjoint(part.workloads()))
        used[chosen] |= part.workloads()
        names.append(chosen)
    return names


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """Return how many of their first items all of the paths have in common."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*paths, strict=False)))


def _decision(names: Sequence[str], parts: Sequence[Part], kind: str) -> str:
    """Return the sentence about what was made of the names, and how the sender says otherwise."""
    distinct = list(dict.fromkeys(names))
    shown = listed([repr(name) for name in distinct])
    has_headings = any(part.headings or part.caption for part in parts)
    why = "their headings tell" if has_headings else "nothing but their order tells"
    example = distinct[0].replace('"', "?")
    return (
        f"the same benchmarks stand in several places, which {why} apart: each is a {kind} ({shown}). "
        f"If they are machines or anything else, say so in the field 'map', such as "
        f'{{"{example}": {{"hardware": "..."}}}}; if they are repetitions, send one {kind} for all'
    )
