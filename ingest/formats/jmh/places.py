"""Tells the results of one benchmark apart that stand in several tables of a document."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.formats.jmh.columns import key_of
from ingest.formats.jmh.results import Result
from ingest.formats.places import CONFIGURATION, decision, kind_of, names_of


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
    names = names_of(kept, nameless="table") if is_needed else [""] * len(kept)
    are_threads_open = all(result.threads is None for part in kept for result in part.results)
    kind, meanings = kind_of(names, may_be_threads=are_threads_open)
    is_said = is_needed and kind != CONFIGURATION
    if is_needed:
        warnings.append(decision("the same benchmarks stand in several places", names, kept, kind))
    results = []
    for name, meaning, part in zip(names, meanings, kept, strict=True):
        # A caption that tells the results apart is among the headings, where 'map' finds it.
        headings = (*part.headings, name) if is_said and name not in part.headings else part.headings
        results += [
            result._replace(
                headings=headings,
                place=name,
                is_said=is_said,
                product=meaning.product,
                version=meaning.version,
                threads=meaning.threads or result.threads,
            )
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
    return key_of(name, result.params, result.mode), result.threads, result.score


def _original(result: Result, known: dict[object, list[tuple[Result, Part]]]) -> Part | None:
    """Return where a result with the same figures stands, whose name may be longer or shorter."""
    for other, part in known.get(_figures(result), ()):
        long, short = sorted((other.benchmark, result.benchmark), key=len, reverse=True)
        is_same = long == short or long.endswith(f".{short}")
        if is_same and result.secondary.items() <= other.secondary.items():
            return part
    return None
