"""The executions of JMH in a text: the benchmarks as they ran, and the tables that sum them up."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ingest.formats.jmh.header import header_of, parameters_of
from ingest.formats.jmh.numbers import measured
from ingest.formats.jmh.results import (
    PERCENTILES,
    Result,
    Score,
    metric_name,
    score_percentile,
    score_scale,
)
from ingest.formats.jmh.score_table import Key, ScoreTable, key_of, warnings_of
from ingest.formats.places import CONFIGURATION, decision, kind_of, names_of
from ingest.formats.report import FormatError, listed

RESULT = re.compile(r'(Secondary result|Result|Run result)(?:\s+"([^"]*)")?\s*:(.*)')
_PERCENTILE = re.compile(r"(?:p\( *([0-9]{1,3}[.,][0-9]{1,9})\)|(max)) = (.*)")
LINES_TO_A_NUMBER = 2


class BenchmarkFailure(NamedTuple):
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.reason} (line {self.line})"


@dataclass(slots=True, eq=False)
class BenchmarkBlock:
    """One benchmark as it ran: its header, its iterations and its result.

    ``texts`` are the lines that say what was measured, each with those below it. ``is_headless``: only they
    are there, and they do not say the parameters. ``row`` is what the table has of it.
    """

    result: Result
    comments: list[str]
    is_headless: bool = False
    fork: int | None = None
    forks: int | None = None
    texts: list[tuple[re.Match[str], list[str]]] = field(default_factory=list)
    failure: BenchmarkFailure | None = None
    row: Result | None = None

    def read_header(self, parameters: Collection[str]) -> None:
        """Read the comments beside the name of the benchmark; ``parameters`` are those of the table."""
        header = header_of(self.comments)
        self.result.mode, self.result.threads = header.get("mode"), header.get("threads")
        self.result.params = parameters_of(self.comments, parameters)
        self.result.settings = header if self.forks is None else header | {"forks": self.forks}

    def add_iteration(self, iteration: int, text: str) -> None:
        score = measured(text)
        scale = score_scale(score.unit) if score else None
        if score and scale and self.fork:
            # A power of ten tells not even the first digit.
            is_known = score.score == 0 or not score.approximate
            number = score.score * scale.factor if is_known else None
            self.result.iterations.append((self.fork, iteration, number))

    def read_results(self) -> None:
        """Read what was measured: the table decides, for a benchmark may print such lines itself.

        The first result of a benchmark is its score. JMH 1.0 to 1.10 names no others.
        """
        result = self.result
        for match, below in self.texts:
            kind, name, beside = match.groups()
            number = _result_number(beside, below)
            if kind != "Secondary result" and not result.score:
                result.score = number if number and number.score and score_scale(number.unit) else None
                self._read_percentiles(below)
            elif number and name:
                result.secondary[metric_name(name.rpartition(":")[2], result.benchmark)] = number
        if self.row:
            result.score = self.row.score or result.score
            result.secondary |= self.row.secondary
        if not result.score:
            result.problem = self.row.problem if self.row else "the output has no score of it"

    def _read_percentiles(self, below: Sequence[str]) -> None:
        for line in below if self.result.mode == "sample" else ():
            if match := _PERCENTILE.fullmatch(line.strip()):
                percentile = 100.0 if match[2] else float(match[1].replace(",", "."))
                number = measured(match[3])
                if percentile in PERCENTILES and number:
                    self.result.secondary[score_percentile(percentile)] = number


@dataclass(slots=True, eq=False)
class Execution:
    """The benchmarks of one execution of JMH, and the table that sums them up; or one of both.

    ``headings`` and ``caption`` are what stands above it in a document. ``is_excerpt``: the document shows it
    within code, so that what is missing was left out on purpose. ``header`` is one that the document shows by
    itself, and holds for a table without output. ``unmatched`` are the rows of no benchmark that ran here,
    ``results`` what was measured.
    """

    headings: tuple[str, ...] = ()
    caption: str = ""
    is_excerpt: bool = False
    header: Mapping[str, Any] | None = None
    blocks: list[BenchmarkBlock] = field(default_factory=list)
    table: ScoreTable | None = None
    unmatched: list[Result] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    is_complete: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.blocks or self.table)

    @property
    def is_bare(self) -> bool:
        """Return whether there are only figures: a table, or results without a header."""
        return all(block.is_headless for block in self.blocks)

    def workloads(self) -> set[tuple[str, int | None]]:
        return {(result.workload, result.threads) for result in self.results}

    def finish(self) -> int:
        """Read the table, which shortens the names, and find its rows for each benchmark that ran.

        Return how many benchmarks the table has. Raise FormatError for numbers and units that cannot be read,
        and for results that nothing tells apart.
        """
        rows = self.table.results() if self.table else []
        if self.table:
            self.blocks = [block for block in self.blocks if not block.is_headless]
        names = Counter(block.result.benchmark for block in self.blocks if block.is_headless)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise FormatError(
                f"{names[twice]} results of {twice}, and nothing tells them apart: their parameters stand in "
                "the header of each benchmark and in the table at the end; send one of these too"
            )
        self._match(rows)
        for block in self.blocks:
            block.read_results()
        matched = [block.row for block in self.blocks]
        self.unmatched = [row for row in rows if row not in matched]
        if not self.blocks and self.header:
            for row in self.unmatched:
                row.threads = self.header.get("threads") if row.threads is None else row.threads
                row.settings = dict(self.header)
        measured = [*(block.result for block in self.blocks), *self.unmatched]
        self.results = [result for result in measured if result.score]
        return len(rows)

    def _match(self, rows: Sequence[Result]) -> None:
        columns = self.table.columns if self.table else None
        waiting: dict[Key, list[Result]] = {}
        for row in rows:
            key = key_of(_last_names(row.benchmark), row.params, row.mode)
            waiting.setdefault(key, []).append(row)
        for block in self.blocks:
            result = block.result
            block.read_header(columns.params if columns else ())
            mode = result.mode if columns and "mode" in columns.places else None
            candidates = waiting.get(key_of(_last_names(result.benchmark), result.params, mode), [])
            same = (row for row in candidates if _may_be_called(result.benchmark, row.benchmark))
            if (block.texts or not block.failure) and (found := next(same, None)):
                candidates.remove(found)
                block.row = found

    def warnings(self) -> Iterator[str]:
        for block in self.blocks:
            workload, failure = block.result.workload, block.failure
            if failure and block.result.score:
                yield f"part of {workload} failed, the score is of the rest: {failure}"
            elif failure:
                yield f"{workload} failed and was left out: {failure}"
            elif block.result.problem:
                yield block.result.left_out
        yield from warnings_of(self.unmatched)
        if self.table:
            yield from self.table.warnings(is_of_jmh=bool(self.blocks))
        unlisted = [block.result.workload for block in self.blocks if block.result.score and not block.row]
        if unlisted and (self.table or not self.is_excerpt):
            yield (
                f"the table has no row for {listed(unlisted)}: the score is that printed above it; "
                "rows were deleted, or the file is cut off"
            )
        if self.blocks and self.unmatched:
            names = listed([row.workload for row in self.unmatched])
            yield f"only the table tells of {names}; it may have shortened the name"

    def refuse_a_cut(self, last_line: int) -> None:
        """Raise FormatError where the end of the output is missing."""
        if not self.blocks or self.is_excerpt:
            return
        missing = ([] if self.is_complete else ["'# Run complete'"]) + ([] if self.table else ["the table"])
        if missing:
            missed = " and ".join(missing)
            raise FormatError(
                f"the output ends here, before {missed}: JMH was stopped or the file is cut off", last_line
            )


def _result_number(beside: str, below: Sequence[str]) -> Score | None:
    """Return the number of a result, which stands in the same line or below it.

    Only a mean has an error: JMH prints one beside a sum too, and neither in the table nor in its JSON.
    """
    texts = [text for text in (beside.strip(), *map(str.strip, below[:LINES_TO_A_NUMBER])) if text]
    text = next((text for text in texts if not text.startswith("N = ")), "")
    number, _, kind = text.removeprefix("mean =").partition("[")
    score = measured(number)
    return score._replace(interval=None) if score and kind and not kind.startswith("Average") else score


def _last_names(benchmark: str) -> str:
    """Return class and method."""
    return ".".join(benchmark.rsplit(".", 2)[-2:])


def _may_be_called(benchmark: str, name: str) -> bool:
    """Return whether the table may shorten the benchmark to this name: fewer or shorter packages."""
    if benchmark == name or benchmark.endswith(f".{name}"):
        return True
    whole, short = benchmark.split("."), name.split(".")
    return len(whole) == len(short) and all(map(str.startswith, whole, short))


def told_apart(executions: Sequence[Execution]) -> tuple[list[Result], list[str]]:
    """Return all results, each with its place where it needs one, and what was decided.

    A table that only repeats figures above it is left out. Of the rest, the results of one benchmark in
    several places are no repetitions: the headings of the tables, or what else stands above them, tell them
    apart, as versions, thread counts or configurations. Outputs of JMH one after the other are repetitions.
    """
    kept, warnings = _without_copies(executions)
    seen: dict[tuple[str, int | None], list[Execution]] = defaultdict(list)
    for execution in kept:
        for workload in execution.workloads():
            seen[workload].append(execution)
    is_needed = any(len(places) > 1 and any(place.is_bare for place in places) for places in seen.values())
    names = names_of(kept, nameless="table") if is_needed else [""] * len(kept)
    are_threads_open = all(result.threads is None for execution in kept for result in execution.results)
    kind, meanings = kind_of(names, may_be_threads=are_threads_open)
    is_said = is_needed and kind != CONFIGURATION
    if is_needed:
        warnings.append(decision("the same benchmarks stand in several places", names, kept, kind))
    results = []
    for name, meaning, execution in zip(names, meanings, kept, strict=True):
        # A caption that tells the results apart is among the headings, where 'map' finds it.
        is_heading = is_said and name not in execution.headings
        results += [
            replace(
                result,
                headings=(*execution.headings, name) if is_heading else execution.headings,
                place=name,
                is_said=is_said,
                product=meaning.product,
                version=meaning.version,
                threads=meaning.threads or result.threads,
            )
            for result in execution.results
        ]
    return results, warnings


def _without_copies(executions: Sequence[Execution]) -> tuple[list[Execution], list[str]]:
    """Return those with results, without tables of which every row stands above with the same figures."""
    known: dict[object, list[tuple[Result, int]]] = defaultdict(list)
    kept: list[Execution] = []
    warnings: list[str] = []
    for execution in executions:
        line = execution.table.line if execution.table else 0
        originals = [_line_of_original(result, known) for result in execution.results]
        if execution.is_bare and originals and all(originals):
            first = min(filter(None, originals))
            warnings.append(
                f"the table in line {line} repeats figures of the one in line {first}: "
                "they are not counted again"
            )
        elif execution.results:
            kept.append(execution)
            for result in execution.results:
                known[_figures(result)].append((result, line or execution.blocks[0].result.line))
    return kept, warnings


def _figures(result: Result) -> object:
    name = result.benchmark.rpartition(".")[2]
    return key_of(name, result.params, result.mode), result.threads, result.score


def _line_of_original(result: Result, known: Mapping[object, Sequence[tuple[Result, int]]]) -> int | None:
    """Return where a result with the same figures stands, whose name may be longer or shorter."""
    for other, line in known.get(_figures(result), ()):
        long, short = sorted((other.benchmark, result.benchmark), key=len, reverse=True)
        is_same = long == short or long.endswith(f".{short}")
        if is_same and result.secondary.items() <= other.secondary.items():
            return line
    return None
