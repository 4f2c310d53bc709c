"""How long formats take, as a ratio to reading the file and splitting its lines in the same run.

    python -m benchmarks.formats

Files come from the fixtures of the tests. Where one must be larger, the lines that a tool prints while it
runs are repeated.
"""

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.formats import FORMATS
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[1] / "tests" / "ingest" / "fixtures"
_SECONDS = 1.0

# What JMH prints while the forks of a benchmark run, and the classes of its benchmarks.
_FORKS = re.compile(r"(?:# Run progress: .*\n(?:(?:# (?:Fork|Warmup Iter)|Iteration).*\n)+\n)+")
_CLASS = re.compile(r"(?:BatchInsert|PreparedQueries|SimpleQueries)\b")


@dataclass(frozen=True, slots=True)
class Case:
    """A file to be read, and the name of its format."""

    name: str
    format: str
    data: bytes


def cases() -> list[Case]:
    nightly = FIXTURES / "sysbench" / "oltp_read_write-nightly.txt"
    histogram = FIXTURES / "sysbench" / "oltp_read_only-histogram.txt"
    return [
        Case("sysbench, 1.5 kB", "sysbench", nightly.read_bytes()),
        Case("sysbench, 5 kB", "sysbench", with_lines_repeated(nightly, b"[ ", 5_000)),
        Case("sysbench, 12 kB", "sysbench", with_lines_repeated(nightly, b"[ ", 12_000)),
        Case("sysbench with a histogram, 12.5 kB", "sysbench", histogram.read_bytes()),
        Case("JMH, 600 kB, 5 forks of 5 iterations", "jmh_text", jmh_output(600_000, forks=5)),
        Case("JMH, 600 kB, 1 fork of 5 iterations", "jmh_text", jmh_output(600_000, forks=1)),
    ]


def with_lines_repeated(path: Path, begins_with: bytes, size: int) -> bytes:
    """The file with its lines that begin so repeated in turn, behind the last of them, to at least a size."""
    lines = path.read_bytes().splitlines(keepends=True)
    repeated = [line for line in lines if line.startswith(begins_with)]
    last = max(index for index, line in enumerate(lines) if line.startswith(begins_with))
    missing = size - sum(map(len, lines))
    turns = max(0, -(-missing // sum(map(len, repeated))))
    return b"".join([*lines[: last + 1], *(repeated * turns), *lines[last + 1 :]])


def jmh_output(size: int, *, forks: int) -> bytes:
    """A measured output with its benchmarks repeated under other names, each with 5 + 5 iterations a fork.

    JMH's own default is 5 forks.
    """
    text = (FIXTURES / "jmh_text" / "average-time.txt").read_text(encoding="utf-8")
    text = _FORKS.sub(lambda found: _forks(found[0], forks), text)
    blocks, end, rest = text.partition("# Run complete")
    before, head, rows = rest.partition("Benchmark  ")
    turns = range(-(-size // len(text.encode())))
    names, _, rows = rows.partition("\n")
    output = [
        *(_CLASS.sub(rf"\g<0>{turn:04}", blocks) for turn in turns),
        end,
        before,
        "    ",
        head,
        names,
        "\n",
    ]
    output += [_CLASS.sub(rf"\g<0>{turn:04}", rows) for turn in turns]
    return "".join(output).encode()


def _forks(text: str, forks: int) -> str:
    """The forks of one benchmark, made of its iterations."""
    lines = text.splitlines(keepends=True)
    warm_ups = [line for line in lines if line.startswith("# Warmup Iteration")]
    iterations = [line for line in lines if line.startswith("Iteration")]
    progress = lines[0]
    made = []
    for fork in range(forks):
        made += [progress, f"# Fork: {fork + 1} of {forks}\n"]
        made += [_numbered(warm_ups[turn % len(warm_ups)], turn) for turn in range(5)]
        made += [_numbered(iterations[(fork + turn) % len(iterations)], turn) for turn in range(5)]
        made += ["\n"]
    return "".join(made)


def _numbered(iteration: str, turn: int) -> str:
    return re.sub(r"\d+:", f"{turn + 1}:", iteration, count=1)


def main() -> None:
    sys.stdout.write(
        "| file | bytes | read and split, µs | parsed, µs | ratio |\n|---|---:|---:|---:|---:|\n"
    )
    for case in cases():
        bare, parsed = _measure(case)
        sys.stdout.write(
            f"| {case.name} | {len(case.data):,} | {bare * 1e6:,.1f} | {parsed * 1e6:,.1f} "
            f"| {parsed / bare:.1f} |\n"
        )


def _measure(case: Case) -> tuple[float, float]:
    """Seconds to read the file and split its lines, and to parse it, each the least of many."""
    parse = FORMATS[case.format].parse
    with TemporaryDirectory() as folder:
        path = Path(folder) / "result.txt"
        path.write_bytes(case.data)
        return _least(
            lambda: path.read_bytes().decode().splitlines(),
            lambda: parse(Source(case.data)),
        )


def _least(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """The shortest time of each, taken in turn so that what disturbs one disturbs the other."""
    shortest = [float("inf"), float("inf")]
    ends = time.perf_counter() + _SECONDS
    while time.perf_counter() < ends:
        for index, action in enumerate((one, other)):
            begin = time.perf_counter()
            action()
            shortest[index] = min(shortest[index], time.perf_counter() - begin)
    return shortest[0], shortest[1]


if __name__ == "__main__":
    main()
