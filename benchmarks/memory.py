"""How much memory an import takes, as a ratio to the size of the file: ``python -m benchmarks.memory``.

Each file is received and imported by a process of its own, as a worker does it, with everything stored. The
figures are what the process grew by at its peak. A file is held to three times its size, or to 300 MB.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.database import empty_database

_FIXTURES = Path(__file__).parents[1] / "tests" / "ingest" / "fixtures"
_MB = 1_000_000
_FLOOR = 300 * _MB


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    chunks: Callable[[], Iterable[bytes]]


def cases() -> list[Case]:
    return [
        Case("200 MB of sysbench runs", lambda: _repeated(_SYSBENCH, 200 * _MB)),
        Case("14 MB of sysbench runs", lambda: _repeated(_SYSBENCH, 14 * _MB)),
        Case("200 MB of a log around one sysbench run", _sysbench_in_a_log),
        Case("95,000 interval lines of sysbench", lambda: _with_interval_lines(95_000)),
        Case("390,000 interval lines of sysbench", lambda: _with_interval_lines(390_000)),
        Case("380,000 reports of sysbench's hooks", lambda: _with_reports_of_hooks(380_000)),
        Case("380,000 progress lines of pgbench", lambda: _with_progress_lines(380_000)),
        Case("380,000 status lines of YCSB", lambda: _with_status_lines(380_000)),
        Case("one line of 100 MB", lambda: repeat(b"x" * 1000, 100_000)),
        Case(
            "one line of 100 MB in a sysbench run", lambda: chain([_SYSBENCH], repeat(b"x y " * 250, 100_000))
        ),
        Case("100 MB of JMH text", lambda: _repeated(_JMH_TEXT, 100 * _MB)),
        Case("390,000 iterations of JMH", lambda: _with_iterations(390_000)),
        Case("100 MB of JMH JSON", lambda: _jmh_json(100 * _MB, b"\n" + b" " * 20)),
        Case("30 MB of JMH JSON, indented", lambda: _jmh_json(30 * _MB, b"\n" + b" " * 20)),
        Case("11 MB of JMH JSON, on one line", lambda: _jmh_json(11 * _MB, b"")),
        Case("14 MB of times sampled by JMH", lambda: _jmh_samples(14 * _MB)),
        Case("a table of 9,900 results", lambda: _table(9_900)),
        Case("JSON Lines of 9,900 results", lambda: _json_lines(9_900)),
        Case("100 MB of UTF-16", lambda: _utf_16(_repeated(_SYSBENCH, 50 * _MB))),
        Case("JSON nested 100,000 deep", lambda: [b"[" * 100_000]),
    ]


_SYSBENCH = (_FIXTURES / "sysbench" / "oltp_read_write-nightly.txt").read_bytes()
_SYSBENCH_JSON = (_FIXTURES / "sysbench" / "lua-report-json.txt").read_bytes()
_PGBENCH = (_FIXTURES / "pgbench" / "select-only.txt").read_bytes()
_YCSB = (_FIXTURES / "ycsb" / "workloada-8-threads-target.txt").read_bytes()
_JMH_TEXT = (_FIXTURES / "jmh_text" / "average-time.txt").read_bytes()
_JMH_JSON = (_FIXTURES / "jmh_json" / "average-time.json").read_bytes()


def _repeated(text: bytes, size: int) -> Iterable[bytes]:
    return repeat(text, size // len(text))


def _sysbench_in_a_log() -> Iterable[bytes]:
    return chain(
        [_SYSBENCH], repeat(b"2026-11-20 15:30:30 explain: " + b"ref const PRIMARY; " * 25 + b"\n", 392_000)
    )


def _with_interval_lines(number: int) -> Iterator[bytes]:
    first = re.search(rb"^\[ 1s \](.*\n)", _SYSBENCH, re.MULTILINE)
    if first is None:
        raise ValueError("the fixture has no interval lines")
    yield _SYSBENCH[: first.start()]
    for second in range(1, number + 1):
        yield b"[ %ds ]%b" % (second, first[1])
    yield _SYSBENCH[first.end() :]


def _with_reports_of_hooks(number: int) -> Iterator[bytes]:
    """Each on one line, as a script may print them."""
    before, _, after = _SYSBENCH_JSON.partition(b"[\n")
    report, _, _ = after.partition(b",\n  {")
    _, _, final = after.rpartition(b"[\n")
    yield before
    line = re.sub(rb"\s+", b" ", report)
    for second in range(1, number + 1):
        yield re.sub(rb'"time": \d+', b'"time": %d' % second, line) + b",\n"
    yield re.sub(rb'"time": +\d+', b'"time": %d' % number, final)


def _with_progress_lines(number: int) -> Iterator[bytes]:
    progress = re.search(rb"^progress: \S+ s(.*\n)", _PGBENCH, re.MULTILINE)
    if progress is None:
        raise ValueError("the fixture has no progress lines")
    yield _PGBENCH[: progress.start()]
    for second in range(1, number + 1):
        yield b"progress: %d.0 s%b" % (second, progress[1])
    yield re.sub(rb"^progress: .*\n", b"", _PGBENCH[progress.end() :], flags=re.MULTILINE)


def _with_status_lines(number: int) -> Iterator[bytes]:
    status = re.search(rb"^(\S+ \S+) [1-9][0-9]* sec:(.*\n)", _YCSB, re.MULTILINE)
    if status is None:
        raise ValueError("the fixture has no status lines")
    yield _YCSB[: status.start()]
    for second in range(1, number + 1):
        yield b"%b %d sec:%b" % (status[1], second, status[2])
    yield _YCSB[status.end() :]


def _with_iterations(number: int) -> Iterator[bytes]:
    before, _, after = _JMH_TEXT.partition(b"Iteration   1:")
    yield before
    for iteration in range(1, number + 1):
        yield b"Iteration %3d: %d.123 us/op\n" % (iteration, iteration % 1000)
    yield after.partition(b"\n")[2]


def _jmh_json(size: int, between: bytes) -> Iterator[bytes]:
    """One benchmark with so many iterations that the file has this size."""
    before, _, after = _JMH_JSON.partition(b'"rawData" :')
    _, _, rest = after.partition(b"]")
    yield before + b'"rawData" : [['
    score = between + b"40.12345678"
    for _ in range(size // (len(score) + 1)):
        yield score + b","
    yield score + b"]" + rest


def _jmh_samples(size: int) -> Iterator[bytes]:
    """One benchmark in sample mode, with so many different times that the file has this size."""
    before, _, after = _JMH_JSON.partition(b'"rawData" :')
    yield before.replace(b'"avgt"', b'"sample"') + b'"rawDataHistogram" : [[['
    for number in range(size // 44):
        yield b"\n" + b" " * 24 + b"[ %11.6f, 1 ]," % (20 + number / 7)
    end = after.index(b"]", after.index(b"]", after.index(b"]") + 1) + 1)
    yield b"[ 9.5, 1 ]]]]" + after[end + 1 :]


def _table(rows: int) -> Iterator[bytes]:
    yield b"workload,product,version,threads,tps\n"
    for row in range(rows):
        yield b"w%d,MariaDB,10.11.%d,4,%d.5\n" % (row % 100, row // 100, row)


def _json_lines(rows: int) -> Iterator[bytes]:
    line = (_FIXTURES / "run_lines" / "mariadb-read-only.jsonl").read_bytes().partition(b"\n")[0]
    for row in range(rows):
        yield re.sub(rb'"index": \d+', b'"index": %d' % row, line) + b"\n"


def _utf_16(chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield "\ufeff".encode("utf-16-le")
    for chunk in chunks:
        yield chunk.decode().encode("utf-16-le")


def main() -> None:
    wanted = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    sys.stdout.write(
        "| file | MB | peak, MB | to the file | allowed | comes to |\n|---|---:|---:|---:|---|---|\n"
    )
    with empty_database(), TemporaryDirectory() as folder:
        path = Path(folder) / "result"
        for case in cases():
            if wanted.search(case.name):
                with path.open("wb") as file:
                    file.writelines(case.chunks())
                _in_a_process_of_its_own(lambda name=case.name: _measure(name, path))  # type: ignore[misc]


def _in_a_process_of_its_own(action: Callable[[], None]) -> None:
    from django.db import connections  # noqa: PLC0415 - Django is set up by now

    connections.close_all()
    sys.stdout.flush()
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        action()
    finally:
        sys.stdout.flush()
        os._exit(0)


def _measure(name: str, path: Path) -> None:
    from django.test import override_settings  # noqa: PLC0415 - Django is set up by now

    from benchdash.accounts.access import NOBODY  # noqa: PLC0415
    from benchdash.accounts.services import create_project  # noqa: PLC0415
    from benchdash.results.models import Run  # noqa: PLC0415
    from ingest.metadata.upload_metadata import read_metadata  # noqa: PLC0415
    from ingest.receiving.arrivals import Arrival  # noqa: PLC0415
    from ingest.receiving.imports import import_upload  # noqa: PLC0415
    from ingest.receiving.reception import receive_one  # noqa: PLC0415
    from ingest.storage.raw_bytes import RawData  # noqa: PLC0415

    fields = {"product": "MariaDB", "version": "10.11.19", "hardware": "bench-01", "workload": "oltp"}
    project = create_project(f"bench-{os.getpid()}", public=False)
    size = path.stat().st_size
    with path.open("rb") as file:
        arrival = Arrival(name, RawData(file), read_metadata(fields)[0])
        # Left to a job, so that it is stored and not yet imported.
        with override_settings(UPLOAD_IMPORT_AT_ONCE_BYTES=0):
            upload = receive_one(project, by=NOBODY, arrival=arrival).upload
    # From here on, the peak is that of the import.
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    import_upload(upload)
    grown = _peak() - before
    verdict = "yes" if grown <= max(3 * size, _FLOOR) else "NO"
    upload.refresh_from_db()
    runs = Run.objects.filter(upload_id=upload.pk).count()
    outcome = upload.errors[0]["message"][:60] if upload.errors else f"{runs} runs"
    sys.stdout.write(
        f"| {name} | {size / _MB:.1f} | {grown / _MB:.0f} | {grown / size:.2f} | {verdict} | {outcome} |\n"
    )


def _peak() -> int:
    """Bytes of memory that this process had at most."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    if found is None:
        raise OSError("the kernel does not say how much memory was used")
    return int(found[1]) * 1024


if __name__ == "__main__":
    main()
