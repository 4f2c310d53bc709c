"""Tells the results of one benchmark apart that stand in several tables of a document."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from ingest.formats.jmh.results import Result
from ingest.formats.jmh.table import applicable, listed
from ingest.formats.product_names import split_product_version
from ingest.masking import mask_text

_MAX_NAME_LENGTH = 150
_VERSION = re.compile(r"(?:(?:version|release)\s+)?v?(?P<version>\d+(?:\.\d+)+\S*)", re.IGNORECASE)
# What a benchmark ran on is no product that it measured.
_RUNTIMES = re.compile(
    r"(?:jdk|java|jvm|openjdk|graal\w*|corretto|zulu|temurin|node|python|jmh)\b", re.IGNORECASE
)


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
    several tables are no repetitions: the headings of the tables, or what else stands above them, tell them
    apart, as versions or as configurations. Outputs of JMH one after the other are repetitions.
    """
    kept, warnings = _without_copies([part for part in parts if part.results])
    seen: dict[tuple[str, int | None], list[Part]] = defaultdict(list)
    for part in kept:
        for workload in part.workloads():
            seen[workload].append(part)
    is_needed = any(len(found) > 1 and any(part.is_bare for part in found) for found in seen.values())
    names = _names(kept) if is_needed else [""] * len(kept)
    versions = [_version_in(name) for name in names] if is_needed else []
    has_versions = bool(versions) and all(versions)
    if is_needed:
        warnings.append(_decision(names, kept, as_versions=has_versions))
    results = []
    for place, part in enumerate(kept):
        product, version = versions[place] or (None, None) if has_versions else (None, None)
        results += [
            result._replace(headings=part.headings, place=names[place], product=product, version=version)
            for result in part.results
        ]
    return results, warnings


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
        name = " ".join(mask_text(name[:_MAX_NAME_LENGTH]).split())
        choices = [name, *([f"{name}: {part.caption}"[:_MAX_NAME_LENGTH]] if own and part.caption else [])]
        choices += [f"{name} ({count})" for count in range(2, len(parts) + 2)]
        chosen = next(choice for choice in choices if used[choice].isdisjoint(part.workloads()))
        used[chosen] |= part.workloads()
        names.append(chosen)
    return names


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """Return how many of their first items all of the paths have in common."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*paths, strict=False)))


def _version_in(name: str) -> tuple[str | None, str] | None:
    """Return product, or None, and version of a name that says nothing else."""
    if found := _VERSION.fullmatch(name):
        return None, found["version"]
    product, version = split_product_version(name)
    is_version = version is not None and _VERSION.fullmatch(version) is not None
    return (product, str(version)) if is_version and not _RUNTIMES.match(product) else None


def _decision(names: Sequence[str], parts: Sequence[Part], *, as_versions: bool) -> str:
    """Return the sentence about what was made of the names, and how the sender says otherwise."""
    distinct = list(dict.fromkeys(names))
    shown = listed([repr(name) for name in distinct])
    has_headings = any(part.headings or part.caption for part in parts)
    why = "their headings tell" if has_headings else "nothing but their order tells"
    kind = "version" if as_versions else "configuration"
    example = distinct[0].replace('"', "?")
    return (
        f"the same benchmarks stand in several tables, which {why} apart: each is a {kind} ({shown}). "
        f"If they are machines or anything else, say so in the field 'map', such as "
        f'{{"{example}": {{"hardware": "..."}}}}; if they are repetitions, send one {kind} for all'
    )
