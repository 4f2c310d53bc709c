"""One size of everything, from the filled database to the figures."""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import connection

from benchdash.launcher import static_files
from benchdash.results.models import TouchedSeries
from benchmarks.performance.dataset import SIZES
from benchmarks.performance.filling import filled
from benchmarks.performance.limits import copied_row, one_row_insert
from benchmarks.performance.load import Client, measure, rate, warm_up
from benchmarks.performance.loaded import Loaded
from benchmarks.performance.report import Figures
from benchmarks.performance.requests import PAGES, READS, Kind, writes
from benchmarks.performance.stack import Stack, stack

_COLD_REQUESTS = 5
# Uploads before those that are measured, and those; fewer of the large ones, which fill the database.
_WARM_UPLOADS = 40
_UPLOADS = 40
_LARGE_UPLOADS = 16
_LARGE_UPLOAD = 1000
_RATE_S = 3.0
_ANALYSED_WITHIN_S = 600


def measure_all(size: int, var: Path, *, report: str, requests: int, only: str, reads_only: bool) -> Figures:
    """``report`` is a sysbench file. ``only`` is a part of the names of what is asked; empty: everything."""
    loaded = filled(size, var)
    static_files.collect()
    rows: dict[str, Mapping[str, Any]] = {}
    with stack(var) as started:

        def database_cpu_ms() -> float:
            return started.cpu_ms()["database"]

        memory = started.memory_mb()
        for kind in (*READS, *PAGES):
            if only in kind.name or kind.is_bare:
                rows[kind.name] = _read(started, loaded, kind, requests)
        for kind in () if reads_only else writes(report):
            if only in kind.name:
                rows[kind.name] = _write(started, loaded, kind)
        after = started.memory_mb()
        insert, copied = one_row_insert(database_cpu_ms), copied_row(database_cpu_ms)
    return Figures(
        size=SIZES[size].name,
        measurements=loaded.measurements,
        bytes_per_measurement=loaded.bytes_of_measurements / loaded.measurements,
        bytes_of_database=loaded.bytes_of_database,
        bytes_beside=loaded.bytes_beside,
        insert=asdict(insert),
        copied=asdict(copied),
        memory_mb={"before": memory, "after": after},
        rows=rows,
    )


def _read(started: Stack, loaded: Loaded, kind: Kind, requests: int) -> dict[str, Any]:
    # What all others are divided by is to be known well.
    number = 5 * requests if kind.is_bare else max(1, requests // 4) if kind.heavy else requests
    cold: dict[str, float] = {}
    if not kind.is_bare:
        started.empty_cache_of_database()
        # A connection of its own for each thread is not what is measured.
        connection.close()
        Client(started, loaded, 0).ask(READS[0])
        found = measure(started, loaded, kind, requests=_COLD_REQUESTS, seed=1)
        cold = {"cpu": found.cpu, "p50": found.percentile(0.5), "p95": found.percentile(0.95)}
    # Several clients at once first: afterwards each process and connection has answered, and is warm.
    requests_per_s = rate(started, loaded, kind, seconds=_RATE_S, seed=3)
    warm = measure(started, loaded, kind, requests=number, seed=2)
    return {
        "goal": asdict(kind.goal),
        "points": kind.points,
        "cold": cold,
        "cpu": warm.cpu,
        "cpu_ms": warm.cpu_ms,
        "p50": warm.percentile(0.5),
        "p95": warm.percentile(0.95),
        "p99": warm.percentile(0.99),
        "rate": requests_per_s,
        "bytes": warm.bytes,
        "packed": warm.packed,
        "statements": warm.statements,
    }


def _write(started: Stack, loaded: Loaded, kind: Kind) -> dict[str, Any]:
    """The requests while the workers are held, then the analysis that they asked for."""
    _analysed()
    for worker in started.workers:
        os.killpg(worker.pid, signal.SIGSTOP)
    is_large = kind.readings >= _LARGE_UPLOAD
    uploads = _LARGE_UPLOADS if is_large else _UPLOADS
    warm_uploads = _LARGE_UPLOADS if is_large else _WARM_UPLOADS
    # Unlike those of an earlier run into the same database, which would be known.
    warm_up(started, loaded, kind, requests=warm_uploads, seed=time.time_ns())
    found = measure(started, loaded, kind, requests=uploads, seed=time.time_ns())
    before = started.cpu_ms()
    for worker in started.workers:
        os.killpg(worker.pid, signal.SIGCONT)
    _analysed()
    after = started.cpu_ms()
    start = time.perf_counter()
    Client(started, loaded, time.time_ns()).ask(kind)
    _analysed()
    seen_s = time.perf_counter() - start
    # One upload more counted the statements, and one the packed bytes.
    readings = kind.readings * (warm_uploads + uploads + 2)
    return {
        "goal": asdict(kind.goal),
        "readings": kind.readings,
        "cpu": found.cpu,
        "cpu_ms": found.cpu_ms,
        "p50": found.percentile(0.5),
        "p95": found.percentile(0.95),
        "p99": found.percentile(0.99),
        "rate": 1000 * uploads / sum(found.latencies),
        "bytes": found.bytes,
        "packed": found.packed,
        "statements": found.statements,
        "per_reading": found.cpu / kind.readings,
        "analysis_per_reading": sum(after[name] - before[name] for name in after) / readings,
        "seen_s": seen_s,
    }


def _analysed() -> None:
    """Waits until nothing is due. Raises TimeoutError."""
    until = time.monotonic() + _ANALYSED_WITHIN_S
    while TouchedSeries.objects.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"{TouchedSeries.objects.count()} series were not analysed")
        time.sleep(0.1)
    connection.close()
