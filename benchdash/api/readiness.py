"""The parts of an installation, and the trouble of each."""

import logging
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Min, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from benchdash.alerts.models import Alert
from benchdash.alerts.owing import still_owed
from benchdash.heartbeat import BEAT, Sign, sign_of
from benchdash.regressions.analysis.failing_places import due_touches
from benchdash.results.models import TouchedSeries
from ingest.models import Upload
from ingest.storage.identity import storage_trouble

logger = logging.getLogger(__name__)

_MB = 2**20


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of a part; ``only_degrades`` where the installation works, late or not for long."""

    sentence: str
    only_degrades: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """The number of rows that wait, and the age of the oldest in seconds."""

    number: int
    age: float


def troubles_by_part() -> dict[str, Trouble | None]:
    """Check every part. Without PostgreSQL or Redis the parts that depend on it are not known."""
    troubles: dict[str, Trouble | None] = {"database": _database(), "redis": _redis()}
    for part, needed, check in _CHECKS:
        troubles[part] = Trouble(f"not known without {needed}") if troubles.get(needed) else check()
    return troubles


def waiting() -> dict[str, Waiting]:
    """Count what waits to be imported, analysed and mailed."""
    return {
        "uploads": _waiting(Upload.objects.exclude(state__in=Upload.FINISHED), since="queued_at"),
        "analysis": _waiting(due_touches(), since="due_since"),
        "alerts": _waiting(still_owed(), since="owed_at"),
    }


def signs() -> dict[str, Sign | None]:
    """Return the last signs of life of beat and of the workers of each queue, as far as Redis has them."""
    try:
        return {of: sign_of(of) for of in [BEAT, *settings.QUEUES]}
    except RedisError:
        return dict.fromkeys([BEAT, *settings.QUEUES])


def disks() -> dict[str, int]:
    """Return the free bytes in the folders of data, of large files, and of files being received."""
    folders: dict[str, Path | str] = {
        "var": settings.VAR_DIR,
        "storage": settings.STORAGES["default"]["OPTIONS"].get("location", settings.VAR_DIR),
        "temporary": settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir(),
    }
    return {name: shutil.disk_usage(_existing(Path(folder))).free for name, folder in folders.items()}


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest existing one above it."""
    return next(path for path in (folder, *folder.parents) if path.exists())


# --- the parts --------------------------------------------------------------------------------------------


def _database() -> Trouble | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.warning("the database does not answer: %s", error)
        return Trouble("the database does not answer")
    return None


def _redis() -> Trouble | None:
    try:
        cache.get("readyz")
    except RedisError as error:
        logger.warning("Redis does not answer: %s", error)
        return Trouble("Redis does not answer")
    return None


def _migrations() -> Trouble | None:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return Trouble(f"{len(missing)} migrations are not applied") if missing else None


def _beat() -> Trouble | None:
    sign = sign_of(BEAT)
    if sign is None:
        return Trouble("beat has sent nothing yet")
    if sign.age > settings.BEAT_SILENT_AFTER_S:
        return Trouble(f"beat has sent nothing for {sign.age:.0f} s")
    return None


def _workers_of(queue: str) -> Callable[[], Trouble | None]:
    def check() -> Trouble | None:
        sign = sign_of(queue)
        if sign is None:
            return Trouble(f"no worker of the queue '{queue}' has run anything yet")
        if sign.job and sign.age > settings.JOB_SILENT_AFTER_S:
            return Trouble(f"the workers of the queue '{queue}' are at {sign.job} since {sign.age:.0f} s")
        if not sign.job and sign.age > settings.WORKER_SILENT_AFTER_S:
            return Trouble(f"no worker of the queue '{queue}' has run anything for {sign.age:.0f} s")
        return None

    return check


def _disk() -> Trouble | None:
    try:
        name, free = min(disks().items(), key=lambda disk: disk[1])
    except OSError as error:
        return Trouble(f"a folder cannot be used: {error}")
    sentence = f"the disk of the folder '{name}' has {free // _MB} MB left"
    if free < settings.DISK_FULL_BYTES:
        return Trouble(sentence)
    return Trouble(sentence, only_degrades=True) if free < settings.DISK_LOW_BYTES else None


def _storage() -> Trouble | None:
    try:
        sentence = storage_trouble()
    except OSError as error:
        logger.warning("the storage of files does not answer: %s", error)
        sentence = "the storage of files does not answer"
    return Trouble(sentence) if sentence else None


def _oldest(kind: str, limit: str, sentence: str) -> Callable[[], Trouble | None]:
    def check() -> Trouble | None:
        age = waiting()[kind].age
        is_old = age > getattr(settings, limit)
        return Trouble(f"{sentence} for {age:.0f} s", only_degrades=True) if is_old else None

    return check


def _waiting(rows: QuerySet[Upload] | QuerySet[TouchedSeries] | QuerySet[Alert], *, since: str) -> Waiting:
    found = rows.order_by().aggregate(number=Count("pk"), oldest=Min(since))
    oldest: datetime | None = found["oldest"]
    return Waiting(found["number"], (timezone.now() - oldest).total_seconds() if oldest else 0.0)


# The name of each further part, what must be there to know, and its check.
_CHECKS: list[tuple[str, str, Callable[[], Trouble | None]]] = [
    ("migrations", "database", _migrations),
    ("beat", "redis", _beat),
    *((f"workers of {queue}", "beat", _workers_of(queue)) for queue in settings.QUEUES),
    ("disk", "", _disk),
    ("storage", "migrations", _storage),
    ("oldest import", "migrations", _oldest("uploads", "OLDEST_IMPORT_S", "uploads wait to be imported")),
    (
        "oldest analysis",
        "migrations",
        _oldest("analysis", "OLDEST_ANALYSIS_S", "a series waits for analysis"),
    ),
    ("oldest mail", "migrations", _oldest("alerts", "OLDEST_MAIL_S", "mails wait to be sent")),
]
