"""The sample projects: measured files, sent through the same door as any upload.

``watch`` is one server whose settings were really switched, night by night. ``releases`` is servers and
connectors by version. The files were measured back to back; where they stand for nights, their times are
set one day apart, up to the night before they are loaded, and the notice of the project says so.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from ingest.metadata.upload_metadata import read_metadata
from ingest.models import Companion, Upload
from ingest.receiving.arrivals import Arrival, CompanionFile
from ingest.receiving.reception import receive_one
from ingest.samples.articles import write_articles
from ingest.storage.raw_bytes import RawData

FOLDER = Path(__file__).parent
HARDWARE = "epyc-2core-vm"

# In the last five of these nights every statement is written to a log: a loss that somebody should look at.
_NIGHTS = 73
_WORKLOADS_OF_A_NIGHT = ("oltp_point_select", "oltp_read_only", "oltp_read_write")
_VMSTAT = ".vmstat.txt"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class SampleProject:
    """``files`` of a sample whose last night began at a time; ``articles`` is a file of articles about it."""

    slug: str
    name: str
    notice: str
    files: Callable[[datetime], Iterator[Arrival]]
    articles: Path | None = None


def load(sample: SampleProject, *, progress: Progress) -> int:
    """Make the project and send its files; return how many were refused. A file sent before counts once.

    Nobody is mailed: sample projects are never told about, and what they bring is quiet.
    """
    project, _ = Project.objects.get_or_create(
        slug=sample.slug,
        defaults={
            "name": sample.name,
            "notice": sample.notice,
            "visibility": Project.Visibility.PUBLIC,
            "is_sample": True,
            "raw_files_are_public": True,
        },
    )
    arrivals = list(sample.files(_night_before(project.created_at)))
    refused = 0
    for done, arrival in enumerate(arrivals, start=1):
        received = receive_one(project, by=NOBODY, arrival=arrival, quiet=True)
        refused += received.upload.state == Upload.State.REFUSED
        progress(done, len(arrivals))
    if sample.articles:
        write_articles(project, sample.articles)
    return refused


def _night_before(moment: datetime) -> datetime:
    """Return the last two o'clock in the morning, UTC, before a time."""
    return (moment - timedelta(hours=2)).replace(hour=2, minute=0, second=0, microsecond=0)


def _watch(last_night: datetime) -> Iterator[Arrival]:
    yield from _nights(last_night)
    truth = json.loads((FOLDER / "watch/labelled/truth.json").read_text())
    for series in truth["series"]:
        path = FOLDER / "watch/labelled" / series["file"]
        if path.exists():
            yield _labelled(path, series, last_night)


def _nights(last_night: datetime) -> Iterator[Arrival]:
    for path in sorted((FOLDER / "watch/nightly").glob("*/*/*.txt")):
        night, workload = int(path.parent.name), path.stem
        if night < _NIGHTS:
            began_at = last_night - timedelta(days=_NIGHTS - 1 - night)
            started_at = began_at + timedelta(minutes=_WORKLOADS_OF_A_NIGHT.index(workload))
            yield _beside_meta(path, branch="nightly", started_at=started_at.isoformat())


def _labelled(path: Path, series: Mapping[str, Any], last_night: datetime) -> Arrival:
    """Return a series of runs with the time of each set one day after the one before."""
    runs = [json.loads(line) for line in path.read_text().splitlines()]
    lines = [
        json.dumps({**run, "time": (last_night - timedelta(days=len(runs) - 1 - run["index"])).isoformat()})
        for run in runs
    ]
    return _arrival(
        path.name,
        "".join(f"{line}\n" for line in lines).encode(),
        {
            "product": series["product"],
            "version": series["version"],
            "workload": series["workload"],
            "threads": series["threads"],
            "hardware": HARDWARE,
            "branch": series["series"],
            "notes": series["description"],
            "meta": {"server_config": series["server_config"], "command": series["command"]},
        },
    )


def _releases(_last_night: datetime) -> Iterator[Arrival]:
    folder = FOLDER / "releases"
    for path in sorted(folder.glob("sysbench/**/*.txt")):
        if not path.name.endswith(_VMSTAT):
            yield _beside_meta(path)
    for path in sorted(folder.glob("settings-sweep/**/*.txt")):
        yield _beside_meta(path, configuration=_swept(path))
    for path in sorted(folder.glob("threadpool/*/*/*/*.txt")):
        # The ways were measured in turns.
        yield _beside_meta(path, configuration=path.parents[1].name, session=path.parent.name)
    for path in sorted(folder.glob("pgbench/*/tpcb-like.txt")):
        # One of them beside work that stalled it.
        yield _beside_meta(path, configuration=path.parent.name)
    for path in sorted([*folder.glob("jmh/*/*.json"), *folder.glob("qps/*.json")]):
        if not path.name.endswith(".meta.json"):
            yield _beside_meta(path)


def _beside_meta(path: Path, **fields: str) -> Arrival:
    """Return a result file with the meta that lies beside it."""
    meta = json.loads(path.with_name(f"{path.stem}.meta.json").read_text())
    name = str(path.relative_to(FOLDER)).replace("/", "-")
    vmstat = path.with_name(f"{path.stem}{_VMSTAT}")
    companions = []
    if vmstat.exists():
        companions.append(CompanionFile(Companion.Kind.OTHER, vmstat.name, RawData(vmstat.read_bytes())))
    return _arrival(name, path.read_bytes(), {"hardware": HARDWARE, "meta": meta, **fields}, companions)


def _arrival(
    name: str, data: bytes, fields: Mapping[str, Any], companions: Sequence[CompanionFile] = ()
) -> Arrival:
    metadata, warnings = read_metadata(fields)
    return Arrival(name, RawData(data), metadata, companions, warnings)


def _swept(path: Path) -> str:
    """Return ``innodb_flush_method=fsync``: a configuration for each value of a setting."""
    meta = json.loads(path.with_name(f"{path.stem}.meta.json").read_text())
    return f"{meta['setting']}={meta['value']}"


SAMPLES = (
    SampleProject(
        slug="watch",
        name="Watch a server",
        notice=(
            "Measured runs of one MariaDB server whose settings were really switched; the charts name the"
            " switches. The runs followed each other on one day of November 2026 on a noisy shared machine;"
            " their dates are set one day apart to stand for nights, up to the one before they were loaded."
        ),
        files=_watch,
    ),
    SampleProject(
        slug="releases",
        name="Compare releases",
        notice=(
            "A noisy shared machine measured this in November 2026, most runs in a few seconds: products and"
            " versions must not be compared by these figures, but for the PostgreSQL releases, which ran side"
            " by side in five sessions."
        ),
        files=_releases,
        articles=FOLDER / "releases/articles.json",
    ),
)
