"""One execution of JMH in its text: the benchmarks as they ran, and the table that sums them up."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.formats.jmh.header import JmhHeader, parameters_of
from ingest.formats.jmh.places import Part
from ingest.formats.jmh.results import (
    PERCENTILES,
    Result,
    Row,
    Score,
    metric_name,
    score_percentile,
    score_scale,
    workload_name,
)
from ingest.formats.jmh.score_table import ScoreTable
from ingest.formats.jmh.table import (
    BenchmarkEntries,
    BenchmarkEntry,
    Key,
    Printed,
    applicable,
    printed_number,
    warnings_of,
)
from ingest.formats.report import Fact, FormatError, listed

_RESULT = re.compile(r'(Secondary result|Result|Run result)(?:\s+"([^"]*)")?\s*:(.*)')
_PERCENTILE = re.compile(r"(?:p\( *([0-9]{1,3}[.,][0-9]{1,9})\)|(max)) = (.*)")
_LINES_TO_A_NUMBER = 2


@dataclass(frozen=True, slots=True)
class BenchmarkFailure:
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.reason} (line {self.line})"


@dataclass(slots=True, eq=False)
class BenchmarkBlock:
    """One benchmark as it ran: its header, its iterations and its result.

    ``results`` are the lines that say what was measured, each with those below it. ``is_headless``: only they
    are there, and they do not say the parameters.
    """

    line: int
    benchmark: str
    header: JmhHeader
    is_headless: bool = False
    parameters: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    fork: int | None = None
    forks: int | None = None
    score: Score | None = None
    secondary: dict[str, Score] = field(default_factory=dict)
    iterations: list[Row] = field(default_factory=list)
    results: list[list[str]] = field(default_factory=list)
    failure: BenchmarkFailure | None = None
    entry: BenchmarkEntry | None = None
    measured: Score | None = None

    @property
    def mode(self) -> str | None:
        return self.header.mode

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)

    def add_iteration(self, iteration: int, text: str) -> None:
        printed = printed_number(text)
        scale = score_scale(printed.unit) if printed else None
        if printed and printed.measured and scale and self.fork:
            # A power of ten tells not even the first digit.
            is_known = printed.measured.score == 0 or not printed.measured.approximate
            score = printed.measured.score * scale.factor if is_known else None
            self.iterations.append((self.fork, iteration, score))

    def result(self, score: Score) -> Result:
        forks: dict[str, Fact] = {} if self.forks is None else {"forks": self.forks}
        return Result(
            benchmark=self.benchmark,
            params=self.params,
            mode=self.mode,
            score=score,
            threads=self.header.threads,
            secondary={**self.secondary, **self.entry.secondary} if self.entry else self.secondary,
            options={**forks, **self.header.options},
            environment=self.header.environment,
            iterations=tuple(self.iterations),
        )


class Execution:
    """The benchmarks of one execution of JMH, and the table that sums them up; or one of both.

    ``headings`` and ``caption`` are what stands above it in a document. ``is_excerpt``: the document shows it
    within code, so that what is missing was left out on purpose. ``header`` is one that the document shows by
    itself, and holds for a table without output.
    """

    def __init__(self) -> None:
        self.headings: tuple[str, ...] = ()
        self.caption = ""
        self.is_excerpt = False
        self.header: JmhHeader | None = None
        self.blocks: list[BenchmarkBlock] = []
        self.table: ScoreTable | None = None
        self.entries = BenchmarkEntries()
        self.is_complete = False

    @property
    def is_bare(self) -> bool:
        """Return whether it is a table alone."""
        return self.table is not None and not self.blocks

    def finish(self) -> None:
        """Read the table, which shortens the names, and find its rows for each benchmark that ran.

        Raise FormatError for numbers and units that cannot be read, and for results that nothing tells apart.
        """
        if self.table:
            self.entries = self.table.entries()
            self.blocks = [block for block in self.blocks if not block.is_headless]
        names = Counter(block.benchmark for block in self.blocks if block.is_headless)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise FormatError(
                f"{names[twice]} results of {twice}, and nothing tells them apart: their parameters stand in "
                "the header of each benchmark and in the table at the end; send one of these too"
            )
        self._match()
        for block in self.blocks:
            _settle(block)

    def _match(self) -> None:
        names = frozenset(self.table.columns.params if self.table else ())
        has_mode = bool(self.table and self.table.columns.has_mode)
        waiting: dict[Key, list[BenchmarkEntry]] = {}
        for entry in self.entries:
            waiting.setdefault((_last_names(entry.benchmark), *entry.key[1:]), []).append(entry)
        for block in self.blocks:
            block.params = parameters_of(block.parameters, names)
            mode = block.mode if has_mode else None
            candidates = waiting.get((_last_names(block.benchmark), applicable(block.params), mode), [])
            places = (
                place
                for place, entry in enumerate(candidates)
                if _may_be_called(block.benchmark, entry.benchmark)
            )
            if (block.results or not block.failure) and (place := next(places, None)) is not None:
                block.entry = candidates.pop(place)

    def part(self) -> Part:
        line = self.table.line if self.table else self.blocks[0].line if self.blocks else 0
        is_bare = all(block.is_headless for block in self.blocks)
        return Part(line, self.headings, self.caption, is_bare, list(self._results()))

    def give_secondary_results(self, scored: dict[Key, BenchmarkEntry]) -> None:
        """Give what stands here without a score to the benchmark above whose score it belongs to.

        ``scored`` are the benchmarks above; those of this execution are added.
        """
        kept = []
        for entry in self.entries:
            above = None if entry.printed else scored.get(entry.key)
            if above and not above.secondary.keys() & entry.secondary.keys():
                above.secondary.update(entry.secondary)
                continue
            kept.append(entry)
            if entry.printed:
                scored[entry.key] = entry
        self.entries[:] = kept

    def _results(self) -> Iterator[Result]:
        for block in self.blocks:
            if score := block.measured:
                yield block.result(score)
        for entry in self._nameless():
            if result := entry.result:
                yield _with_header(result, self.header) if self.is_bare and self.header else result

    def warnings(self) -> Iterator[str]:
        for block in self.blocks:
            if block.failure and block.measured:
                yield f"part of {block.workload} failed, the score is of the rest: {block.failure}"
            elif block.failure:
                yield f"{block.workload} failed and was left out: {block.failure}"
            elif not block.measured:
                problem = block.entry.problem if block.entry else "the output has no score of it"
                yield f"{block.workload} was left out: {problem}"
        yield from warnings_of(self._nameless())
        if self.table:
            yield from self.table.warnings(is_of_jmh=bool(self.blocks))
        if self.blocks and (self.table or not self.is_excerpt) and (unlisted := self._unlisted()):
            yield (
                f"the table has no row for {listed(unlisted)}: the score is that printed above it; "
                "rows were deleted, or the file is cut off"
            )
        if self.blocks and (nameless := self._nameless()):
            names = listed([entry.workload for entry in nameless])
            yield f"only the table tells of {names}; it may have shortened the name"

    def warnings_of_the_end(self) -> Iterator[str]:
        """Yield a warning of rows that the last benchmark of the table lacks, though it was measured."""
        block = next((block for block in self.blocks if block.entry in self.entries[-1:]), None)
        if not block or not block.entry:
            return
        _read_results(block)
        metrics = {metric for entry in self.entries for metric in entry.secondary}
        has_percentiles = score_percentile(0) in metrics
        missing = [
            metric
            for metric in block.secondary
            if metric not in block.entry.secondary and (has_percentiles or not metric.startswith("score_p"))
        ]
        if missing:
            yield f"the table ends before the rows of {listed(missing)} of {block.workload}: it is cut off"

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

    def _unlisted(self) -> list[str]:
        return [block.workload for block in self.blocks if block.measured and not block.entry]

    def _nameless(self) -> list[BenchmarkEntry]:
        matched = {id(block.entry) for block in self.blocks}
        return [entry for entry in self.entries if id(entry) not in matched]


def _with_header(result: Result, header: JmhHeader) -> Result:
    threads = header.threads if result.threads is None else result.threads
    return result._replace(threads=threads, options=header.options, environment=header.environment)


def _settle(block: BenchmarkBlock) -> None:
    """Decide what was measured: by the table, where there is one, for a benchmark may print such lines."""
    block.measured = block.entry.score if block.entry else None
    # Old tables have no percentiles.
    if not block.measured or block.mode == "sample":
        _read_results(block)
        block.measured = block.measured or block.score


def _read_results(block: BenchmarkBlock) -> None:
    """Read what was measured where it is printed.

    The first result of a benchmark is its score. JMH 1.0 to 1.10 names no others, and the table has them.
    """
    results, block.results = block.results, []
    for line, *below in results:
        if match := _RESULT.fullmatch(line):
            kind, name, number = match.groups()
            printed = _result_number(number, below)
            if kind != "Secondary result" and not block.score:
                _read_score(block, printed, below)
            elif printed and printed.measured and name:
                label, method = name.rpartition(":")[2], block.benchmark.rpartition(".")[2]
                block.secondary[metric_name(label, method)] = printed.measured


def _read_score(block: BenchmarkBlock, printed: Printed | None, below: Sequence[str]) -> None:
    if printed and printed.measured and printed.measured.score and score_scale(printed.unit):
        block.score = printed.measured
    for line in below if block.mode == "sample" else ():
        if match := _PERCENTILE.fullmatch(line.strip()):
            percentile = 100.0 if match[2] else float(match[1].replace(",", "."))
            number = printed_number(match[3].strip())
            if percentile in PERCENTILES and number and number.measured:
                block.secondary[score_percentile(percentile)] = number.measured


def _result_number(beside: str, below: Sequence[str]) -> Printed | None:
    """Return the number of a result, which stands in the same line or below it."""
    texts = [text for text in (beside.strip(), *map(str.strip, below[:_LINES_TO_A_NUMBER])) if text]
    text = next((text for text in texts if not text.startswith("N = ")), "")
    return printed_number(text.removeprefix("mean =").partition("[")[0].strip())


def _last_names(benchmark: str) -> str:
    """Return class and method."""
    return ".".join(benchmark.rsplit(".", 2)[-2:])


def _may_be_called(benchmark: str, name: str) -> bool:
    """Return whether the table may shorten the benchmark to this name: fewer or shorter packages."""
    if benchmark == name or benchmark.endswith(f".{name}"):
        return True
    whole, short = benchmark.split("."), name.split(".")
    return len(whole) == len(short) and all(map(str.startswith, whole, short))
