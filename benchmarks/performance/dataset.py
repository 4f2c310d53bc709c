"""Histories as a team has them, of any size: releases and two years of nights, loaded by COPY.

What the measured requests look at is the same in every size (60 workloads, 40 versions, 730 nights, one long
series of 1,000 and one of 5,000 points, and what benchmarks.performance.detail adds); what grows is what lies
around it in the same tables: thread counts, metrics, machines, projects.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import numpy as np
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, transaction
from django.db.models import Max
from numpy.typing import NDArray

from benchdash.accounts.models import Project, Scope, User
from benchdash.accounts.services import create_project, create_token
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import (
    Configuration,
    ConfigurationContent,
    Environment,
    Hardware,
    Product,
    Run,
    Series,
    ServerVersion,
    Workload,
)
from benchdash.results.readings import reading
from benchdash.results.summaries import recount_all
from benchdash.results.versions import parse_version
from benchmarks.performance.loaded import Loaded

WORKLOADS = 60
VERSIONS = 40
NIGHTS = 730
LINE = "10.6"
BRANCH = "main"
THREADS = (16, 1, 2, 4, 8, 32, 64, 128)
METRICS = (
    "tps",
    "latency_p95",
    "latency_avg",
    "qps",
    "latency_p99",
    "cpu_per_op",
    "cs_per_op",
    "events_per_s",
)
EPOCH = datetime(2024, 11, 1, tzinfo=UTC)
_NOISE = 0.02
_SERIES_PER_INCIDENT = 20


@dataclass(frozen=True, slots=True)
class Size:
    """How many of everything that grows; ``nightly`` is how many workloads run every night."""

    name: str
    projects: int
    threads: int
    metrics: int
    machines: int
    nightly: int


SIZES = (
    Size("10 thousand", projects=1, threads=1, metrics=1, machines=1, nightly=4),
    Size("1 million", projects=3, threads=2, metrics=4, machines=2, nightly=60),
    Size("10 million", projects=3, threads=8, metrics=8, machines=4, nightly=60),
)


def load(size: Size) -> Loaded:
    """Into the empty database of Django's settings; some minutes for ten million."""
    rng = np.random.default_rng(1)
    identifiers = Identifiers()
    projects = [_load_project(size, number, identifiers, rng) for number in range(size.projects)]
    identifiers.remember()
    return _loaded(projects[0])


def _loaded(project: Project) -> Loaded:
    _, token = create_token(project, "bench", list(Scope))
    series = Series.objects.filter(project=project)
    nightly = series.filter(branch=BRANCH, metric="tps", threads=16).order_by("pk")
    runs = Run.objects.filter(project=project, branch="").order_by("pk")
    return Loaded(
        slug=project.slug,
        token=token,
        session=_session(User.objects.create_superuser("bench@localhost.example", "measured twice")),
        measurements=0,
        bytes_of_measurements=0,
        bytes_of_database=0,
        nightly_series=list(nightly.values_list("pk", flat=True)[:4]),
        long={length: series.get(branch=_long(length)).pk for length in LONG},
        run_ids=list(runs.values_list("pk", flat=True)[:2000]),
        incident_ids=list(Incident.objects.filter(project=project).values_list("pk", flat=True)[:100]),
    )


def _session(user: User) -> str:
    """The cookie of somebody who signed in."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


# --- a project --------------------------------------------------------------------------------------------

LONG = (1000, 5000)


def _long(length: int) -> str:
    return f"long-{length}"


@dataclass
class Identifiers:
    """Of rows that are loaded by COPY, and so do not come from the database."""

    runs: Iterator[int] = field(default_factory=lambda: count(1))

    @classmethod
    def following(cls) -> "Identifiers":
        """Those after all that are in the database."""
        return cls(count(1 + (Run.objects.aggregate(last=Max("pk"))["last"] or 0)))

    def remember(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence('results_run', 'id'), max(id)) FROM results_run"
            )


@dataclass(frozen=True, slots=True)
class Dimensions:
    project: Project
    product: Product
    workloads: Sequence[Workload]
    machines: Sequence[Hardware]
    configuration: Configuration
    content: ConfigurationContent
    environment: Environment


@dataclass(frozen=True, slots=True)
class Stream:
    """Versions measured one after the other on one machine: releases, or the commits of a branch."""

    branch: str
    machine: Hardware
    versions: Sequence[ServerVersion]
    workloads: Sequence[Workload]
    threads: Sequence[int]
    metrics: Sequence[str]
    every: timedelta


def _load_project(size: Size, number: int, identifiers: Identifiers, rng: np.random.Generator) -> Project:
    dimensions = _dimensions(size, number)
    for stream in _streams(size, number, dimensions):
        with transaction.atomic():
            load_stream(dimensions, stream, identifiers, rng)
    recount_all(dimensions.project)
    series = Series.objects.filter(project=dimensions.project).order_by("pk")
    load_incidents(dimensions, list(series)[::_SERIES_PER_INCIDENT])
    return dimensions.project


def _dimensions(size: Size, number: int) -> Dimensions:
    project = create_project(f"bench-{number}", public=True)
    product = Product.objects.create(project=project, name="MariaDB")
    return Dimensions(
        project=project,
        product=product,
        workloads=Workload.objects.bulk_create(
            [Workload(project=project, name=f"workload-{at:02}", options={}) for at in range(WORKLOADS)]
        ),
        machines=Hardware.objects.bulk_create(
            [Hardware(project=project, name=f"bench-{at:02}") for at in range(size.machines)]
        ),
        configuration=Configuration.objects.create(project=project, name="default"),
        content=ConfigurationContent.objects.create(project=project, digest="0" * 64, text="", settings={}),
        environment=Environment.objects.create(project=project, digest="0" * 64, facts={"kernel": "6.1"}),
    )


def _uploads(project: Project, number: int) -> list[int]:
    """One for each version that was measured on a machine; runs know no more of files than a number."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH raw AS ("
            " INSERT INTO ingest_rawfile (project_id, sha256, size, content, storage_name)"
            " SELECT %(project)s, encode(sha256(convert_to(random()::text || at, 'UTF8')), 'hex'), 0, '', ''"
            " FROM generate_series(1, %(number)s) at RETURNING id)"
            " INSERT INTO ingest_upload (project_id, raw_id, name, metadata, metadata_digest, state, format,"
            " errors, warnings, done, total, attempts, quiet, is_archive, came_alone, received_at)"
            " SELECT %(project)s, raw.id, 'night.json', '{}', '', 'imported', 'qps_json', '[]', '[]',"
            " 1, 1, 0, true, false, true, now() FROM raw RETURNING id",
            {"project": project.pk, "number": number},
        )
        return [pk for (pk,) in cursor.fetchall()]


def _streams(size: Size, number: int, dimensions: Dimensions) -> Iterator[Stream]:
    workloads, first = dimensions.workloads, dimensions.machines[0]
    threads, metrics = THREADS[: size.threads], METRICS[: size.metrics]
    releases = versions(dimensions, VERSIONS, branch="")
    for machine in dimensions.machines:
        yield Stream("", machine, releases, workloads, threads, metrics, timedelta(days=30))
    nights = versions(dimensions, NIGHTS, branch=BRANCH)
    yield Stream(BRANCH, first, nights, workloads[: size.nightly], threads, metrics, timedelta(days=1))
    if number == 0:
        for length in LONG:
            commits = versions(dimensions, length, branch=_long(length))
            yield Stream(
                _long(length), first, commits, workloads[:1], THREADS[:1], METRICS[:1], timedelta(hours=3)
            )


def versions(dimensions: Dimensions, number: int, *, branch: str) -> list[ServerVersion]:
    """Releases of one line, or a build for each commit of a branch."""
    texts = [f"{LINE}.{at}" if not branch else "10.7.0" for at in range(1, number + 1)]
    return ServerVersion.objects.bulk_create(
        [
            ServerVersion(
                project=dimensions.project,
                product=dimensions.product,
                version=text,
                sort_key=parse_version(text).sort_key,
                commit=hashlib.sha1(f"{branch} {at}".encode()).hexdigest() if branch else None,  # noqa: S324 - a name
                committed_at=EPOCH + timedelta(hours=3 * at) if branch else None,
            )
            for at, text in enumerate(texts)
        ]
    )


def load_stream(
    dimensions: Dimensions, stream: Stream, identifiers: Identifiers, rng: np.random.Generator
) -> None:
    """Measurements are written series by series, as a table that was clustered once has them."""
    places = [(workload, threads) for workload in stream.workloads for threads in stream.threads]
    runs = np.array(
        [[next(identifiers.runs) for _ in places] for _ in stream.versions], dtype=np.int64
    )  # versions x places
    _copy_runs(dimensions, stream, places, runs)
    series = Series.objects.bulk_create(
        [
            _series(dimensions, stream, workload, threads, metric)
            for workload, threads in places
            for metric in stream.metrics
        ]
    )
    each = len(stream.versions)
    alone = rng.uniform(100, 10_000, size=(len(stream.workloads), 1, len(stream.metrics)))
    levels = (alone * np.array([_speedup(threads) for threads in stream.threads])[:, None]).ravel()
    noise = rng.normal(0, _NOISE, size=(len(series), each))
    # One loss of a tenth somewhere in each of the histories.
    drops = rng.integers(each // 4, each, size=len(series))
    lost = np.where(np.arange(each) >= drops[:, None], np.log(0.9), 0)
    # With two decimals, as tools print them.
    values = np.round(levels[:, None] * np.exp(noise + lost), 2)
    of_place = np.repeat(np.arange(len(places)), len(stream.metrics))
    _copy_measurements(
        series=np.repeat([one.pk for one in series], each),
        runs=runs.T[of_place].ravel(),
        values=values.ravel(),
    )


def _speedup(threads: int) -> float:
    """To one thread, where some of the work waits and some is told to all others."""
    return threads / (1 + 0.02 * (threads - 1) + 0.0003 * threads * (threads - 1))


def _series(dimensions: Dimensions, stream: Stream, workload: Workload, threads: int, metric: str) -> Series:
    known = reading(metric, 1.0)
    return Series(
        project=dimensions.project,
        product=dimensions.product,
        branch=stream.branch,
        line="" if stream.branch else LINE,
        hardware=stream.machine,
        configuration=dimensions.configuration,
        workload=workload,
        threads=threads,
        metric=metric,
        unit=known.unit,
        direction=known.direction,
    )


# --- COPY -------------------------------------------------------------------------------------------------


def _copy_runs(
    dimensions: Dimensions,
    stream: Stream,
    places: Sequence[tuple[Workload, int]],
    runs: NDArray[np.int64],
) -> None:
    same = Run(
        project=dimensions.project,
        upload_id=0,
        branch=stream.branch,
        hardware=stream.machine,
        environment=dimensions.environment,
        configuration=dimensions.configuration,
        content=dimensions.content,
        duration_s=60.0,
        version=stream.versions[0],
        workload=places[0][0],
        started_at=EPOCH,
        recorded_at=EPOCH,
    )
    names = [one.column for one in Run._meta.concrete_fields]
    template: list[Any] = [
        one.get_db_prep_save(getattr(same, one.attname), connection) for one in Run._meta.concrete_fields
    ]
    changing = ("id", "key", "version_id", "workload_id", "threads", "started_at", "upload_id")
    varying = [names.index(name) for name in changing]
    uploads = _uploads(dimensions.project, len(stream.versions))
    columns = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor, cursor.copy(f"COPY results_run ({columns}) FROM STDIN") as copy:
        for at, version in enumerate(stream.versions):
            started_at = EPOCH + at * stream.every
            for (workload, threads), run in zip(places, runs[at].tolist(), strict=True):
                changed = (run, f"{run}", version.pk, workload.pk, threads, started_at, uploads[at])
                for column, value in zip(varying, changed, strict=True):
                    template[column] = value
                copy.write_row(template)


_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_ROW = np.dtype(
    [
        ("fields", ">i2"),
        *(part for name in ("series", "run") for part in ((f"{name}_bytes", ">i4"), (name, ">i8"))),
        ("value_bytes", ">i4"),
        ("value", ">f8"),
        ("low_bytes", ">i4"),
        ("high_bytes", ">i4"),
    ]
)
_NULL = -1
_CHUNK = 1_000_000


def _copy_measurements(
    *, series: NDArray[np.int64], runs: NDArray[np.int64], values: NDArray[np.float64]
) -> None:
    """In PostgreSQL's binary form; ``low`` and ``high`` are null, as of runs whose tool tells no error."""
    statement = (
        "COPY results_measurement (series_id, run_id, value, low, high) FROM STDIN WITH (FORMAT binary)"
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_HEADER)
        for start in range(0, len(series), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            rows = np.empty(len(series[chunk]), dtype=_ROW)
            rows["fields"] = 5
            rows["series_bytes"] = rows["run_bytes"] = rows["value_bytes"] = 8
            rows["series"], rows["run"], rows["value"] = series[chunk], runs[chunk], values[chunk]
            rows["low_bytes"] = rows["high_bytes"] = _NULL
            copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


# --- opinions ---------------------------------------------------------------------------------------------


def load_incidents(dimensions: Dimensions, chosen: Sequence[Series]) -> None:
    """A change point and an incident for each of these, as years of analysis leave them."""
    incidents = Incident.objects.bulk_create(
        [
            Incident(
                project=dimensions.project,
                product=dimensions.product,
                branch=series.branch,
                line=series.line,
                kind=Incident.Kind.REGRESSION,
                status=Incident.Status.CONFIRMED,
                started_at=EPOCH + timedelta(hours=at),
                detected_at=EPOCH + timedelta(hours=at),
                worst=-0.1,
                median=-0.1,
                looked_at=len(chosen),
            )
            for at, series in enumerate(chosen)
        ]
    )
    half = (
        "SELECT run_id FROM results_measurement WHERE series_id = %(series)s ORDER BY run_id"
        " OFFSET (SELECT count(*) / 2 FROM results_measurement WHERE series_id = %(series)s) LIMIT 1"
    )
    points = []
    with connection.cursor() as cursor:
        for series, incident in zip(chosen, incidents, strict=True):
            cursor.execute(half, {"series": series.pk})
            points.append(
                ChangePoint(
                    series=series,
                    run_id=cursor.fetchone()[0],
                    incident=incident,
                    state=ChangePoint.State.CONFIRMED,
                    before=1000,
                    after=900,
                    change=-0.1,
                    confidence=0.99,
                    groups_before=20,
                    groups_after=20,
                )
            )
    ChangePoint.objects.bulk_create(points)
