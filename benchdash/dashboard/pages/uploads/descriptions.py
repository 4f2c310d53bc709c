"""Descriptions of uploads: their runs, their senders, their troubles and their changes."""

import codecs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Max, Min, Value
from django.db.models.functions import Concat

from benchdash.accounts.models import AuditEntry, Project, Token, User
from benchdash.dashboard.shell import numbers
from benchdash.results.models import (
    Run,
)
from ingest.errors import FileUnavailableError
from ingest.masking import mask_text
from ingest.metadata.fields import ALL_FIELDS
from ingest.models import Upload
from ingest.queries import RunSummary
from ingest.storage import raw_bytes

_LINES_EACH_SIDE: Final = 2
_MAX_LINE_LENGTH: Final = 300


@dataclass(frozen=True)
class Held:
    """The runs of an upload, as a row of the list says them."""

    versions: Sequence[str]
    workloads: Sequence[str]
    runs: int
    min_threads: int | None
    max_threads: int | None

    @property
    def threads(self) -> str:
        """``4 threads``, ``1 to 64 threads``; empty where nobody said it."""
        if self.min_threads is None:
            return ""
        if self.min_threads == self.max_threads:
            return numbers.counted(self.min_threads, "thread")
        return f"{numbers.count(self.min_threads)} to {numbers.count(self.max_threads)} threads"


def held_by(uploads: Iterable[Upload]) -> dict[int, Held]:
    """Describe the runs of each upload, by its id, in one statement; nothing for one without runs."""
    version = Concat("version__product__name", Value(" "), "version__version")
    rows = (
        Run.objects.filter(upload_id__in=[upload.pk for upload in uploads])
        .order_by()
        .values_list("upload_id")
        .annotate(
            versions=ArrayAgg(version, distinct=True),
            workloads=ArrayAgg("workload__name", distinct=True),
            runs=Count("pk"),
            min_threads=Min("threads"),
            max_threads=Max("threads"),
        )
    )
    return {upload: Held(*held) for upload, *held in rows}


def senders(project: Project) -> list[tuple[str, str]]:
    """Return the senders of a project's uploads: (``token-3`` or ``user-4``, a name)."""
    sent = Upload.objects.filter(project=project).order_by()
    tokens = Token.objects.filter(pk__in=sent.values("token")).order_by("name", "pk")
    users = User.objects.filter(pk__in=sent.values("user")).order_by("name", "email")
    return [
        *((f"token-{token.pk}", str(token)) for token in tokens),
        *((f"user-{user.pk}", str(user)) for user in users),
    ]


def is_small(upload: Upload) -> bool:
    """Tell whether it is read while somebody waits."""
    return upload.raw.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES and not upload.is_archive


@dataclass(frozen=True)
class FileLine:
    number: int
    text: str
    is_meant: bool


@dataclass(frozen=True)
class FileTrouble:
    """Why a file was refused, and the lines of the file around it."""

    line: int | None
    message: str
    lines: Sequence[FileLine] = ()


def troubles(errors: Iterable[Mapping[str, Any]], data: bytes | None) -> list[FileTrouble]:
    """Describe the errors of an upload; ``data`` is None for a file that is too large to look into."""
    return [
        FileTrouble(
            line=error["line"],
            message=str(error["message"]),
            lines=lines_around(data, error["line"]) if data and error["line"] else (),
        )
        for error in errors
    ]


def troubles_of(upload: Upload, errors: Sequence[Mapping[str, Any]]) -> list[FileTrouble]:
    """Describe the errors of a stored file; those of an archive have no lines of their own."""
    is_wanted = is_small(upload) and any(error["line"] for error in errors)
    try:
        return troubles(errors, raw_bytes.read(upload.raw) if is_wanted else None)
    except FileUnavailableError:
        return troubles(errors, None)


def lines_around(data: bytes, number: int) -> list[FileLine]:
    """Return masked and cut lines around the one that a message names; none of a binary file."""
    if b"\0" in data:
        return []
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    first, last = max(1, number - _LINES_EACH_SIDE), min(len(lines), number + _LINES_EACH_SIDE)
    return [
        FileLine(one, mask_text(lines[one - 1][:_MAX_LINE_LENGTH]), is_meant=one == number)
        for one in range(first, last + 1)
    ]


@dataclass(frozen=True)
class FieldChange:
    """One thing that differs; empty texts are what was not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class RunChange:
    """A run before and after a change of its upload."""

    before: RunSummary | None
    after: RunSummary | None

    @property
    def changes_something(self) -> bool:
        return self.before != self.after

    @property
    def cells(self) -> list[FieldChange]:
        """Each column of a table of runs."""
        names = ("product", "version", "hardware", "workload", "threads")
        return [
            FieldChange(name, *(in_words(getattr(run, name, None)) for run in (self.before, self.after)))
            for name in names
        ]


def run_changes(before: Sequence[RunSummary], after: Sequence[RunSummary]) -> list[RunChange]:
    """Return each run as it was and would be: it keeps its identity."""
    old, new = {run.id: run for run in before}, {run.id: run for run in after}
    return [RunChange(old.get(run), new.get(run)) for run in dict.fromkeys([*old, *new])]


@dataclass(frozen=True)
class AuditedChange:
    """A row of the audit log about an upload."""

    entry: AuditEntry
    changes: Sequence[FieldChange]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """(``runs``, 12) for one that was deleted, (``changed readings``, 3) for one that was read again."""
        return [(name, value) for name, value in self.entry.detail.items() if isinstance(value, int)]


def told_of(upload: Upload) -> list[AuditedChange]:
    """Return the changes of an upload in the audit log, newest first."""
    entries = AuditEntry.objects.filter(
        project=upload.project_id, action__startswith="upload ", subject__startswith=f"{upload.pk} "
    ).select_related("user", "token")
    return [AuditedChange(entry, _changes(entry.detail)) for entry in entries]


def _changes(detail: Mapping[str, Any]) -> list[FieldChange]:
    before, after = detail.get("before", {}), detail.get("after", {})
    return [
        FieldChange(name, in_words(before.get(name)), in_words(after.get(name)))
        for name in ALL_FIELDS
        if name in before or name in after
    ]


def in_words(value: Any) -> str:
    """Write a value of some metadata on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {in_words(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value))
    return "" if value is None else str(value)
