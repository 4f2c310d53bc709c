"""How much memory the processes take, and whether it grows: ``python -m benchmarks.performance.endurance``.

Several clients read, look at pages and send files for an hour, at random. Each minute the proportional set
size of every process of the web server and of the workers is a line of the Markdown table that is printed.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from benchmarks.performance.goals import MAX_WEB_MB, MAX_WORKER_MB
from benchmarks.performance.stack import databases

if TYPE_CHECKING:
    from benchmarks.performance.load import Client
    from benchmarks.performance.requests import Kind

_REPORT = Path("tests/ingest/fixtures/sysbench/oltp_read_write-nightly.txt")
_UPLOAD_SHARE = 0.05
_SAMPLE_S = 60
# Of the second quarter: what is loaded once, is loaded by then.
_FLAT = 1.05
_LEAST_SAMPLES = 8

Sample = Mapping[str, Sequence[float]]
"""MB of each process, by ``web`` and ``worker``."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--size", type=int, choices=[0, 1, 2], default=0)
    parser.add_argument("--keep", type=Path, help="a folder where filled databases stay for the next run")
    options = parser.parse_args()
    with ExitStack() as ending:
        folder = options.keep or Path(
            ending.enter_context(tempfile.TemporaryDirectory(prefix="benchdash-bench-"))
        )
        var = (folder / f"size-{options.size}").resolve()
        ending.enter_context(databases(var))
        import django  # noqa: PLC0415 - the environment says now where everything is

        django.setup()
        _endure(options.size, var, minutes=options.minutes, clients=options.clients)


def _endure(size: int, var: Path, *, minutes: float, clients: int) -> None:
    from benchdash.launcher import static_files  # noqa: PLC0415 - Django is set up by now
    from benchmarks.performance.filling import filled  # noqa: PLC0415
    from benchmarks.performance.load import Client  # noqa: PLC0415
    from benchmarks.performance.requests import PAGES, READS, writes  # noqa: PLC0415
    from benchmarks.performance.stack import stack  # noqa: PLC0415

    loaded = filled(size, var)
    static_files.collect()
    reads = [kind for kind in (*READS, *PAGES) if not kind.is_bare]
    with stack(var) as started:
        asking = [
            # Unlike what an earlier run sent.
            _Asking(Client(started, loaded, time.time_ns() + number), reads, writes(_REPORT.read_text()))
            for number in range(clients)
        ]
        for one in asking:
            one.start()
        samples = _sampled(started.memory_of_each_mb, asking, minutes)
        for one in asking:
            one.stop()
    sys.stdout.write(f"\n{verdict(samples)}\n")


class _Asking(Thread):
    """One client that asks without a pause. The first answer that is no success ends it."""

    def __init__(self, client: "Client", reads: Sequence["Kind"], uploads: Sequence["Kind"]) -> None:
        super().__init__(daemon=True)
        self._client, self._reads, self._uploads = client, reads, uploads
        self._rng = random.Random(os.urandom(8))  # noqa: S311 - nothing is secret
        self._is_over = Event()
        self.done = 0
        self.failure = ""

    def run(self) -> None:
        while not self._is_over.is_set():
            kinds = self._uploads if self._rng.random() < _UPLOAD_SHARE else self._reads
            try:
                self._client.ask(self._rng.choice(kinds))
            except Exception as failure:  # noqa: BLE001 - told in the table
                self.failure = f"{type(failure).__name__}: {failure}"
                return
            self.done += 1

    def stop(self) -> None:
        self._is_over.set()
        self.join()


def _sampled(measure: Callable[[], Sample], asking: Sequence[_Asking], minutes: float) -> list[Sample]:
    """Prints each sample as it comes. Raises RuntimeError where a request failed."""
    sys.stdout.write("| minute | requests | web processes, MB | workers, MB |\n|---:|---:|---|---|\n")
    start, samples = time.monotonic(), list[Sample]()
    while (passed := time.monotonic() - start) <= 60 * minutes:
        samples.append(measure())
        sys.stdout.write(
            f"| {passed / 60:.0f} | {sum(one.done for one in asking):,} | {_listed(samples[-1]['web'])}"
            f" | {_listed(samples[-1]['worker'])} |\n"
        )
        sys.stdout.flush()
        for one in asking:
            if one.failure:
                raise RuntimeError(one.failure)
        time.sleep(_SAMPLE_S)
    return samples


def _listed(sizes: Sequence[float]) -> str:
    return ", ".join(f"{size:.0f}" for size in sizes)


def verdict(samples: Sequence[Sample]) -> str:
    """``web: 120 MB at most (goal 150: met), flat (1.01 x)``; of the largest process in each sample."""
    return "\n".join(
        _of_processes(name, [max(sample[name]) for sample in samples], most)
        for name, most in (("web", MAX_WEB_MB), ("worker", MAX_WORKER_MB))
    )


def _of_processes(name: str, sizes: Sequence[float], most: float) -> str:
    reached = "met" if max(sizes) <= most else "missed"
    return f"{name}: {max(sizes):.0f} MB at most (goal {most}: {reached}), {_growth(sizes)}"


def _growth(sizes: Sequence[float]) -> str:
    """From the second quarter of the time to the last."""
    if len(sizes) < _LEAST_SAMPLES:
        return "too short a time to say whether it grows"
    quarter = len(sizes) // 4
    growth = statistics.median(sizes[-quarter:]) / statistics.median(sizes[quarter : 2 * quarter])
    return f"{'flat' if growth <= _FLAT else 'growing'} ({growth:.2f} x)"


if __name__ == "__main__":
    main()
