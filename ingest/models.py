"""Files as received, and what became of them."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from benchdash.accounts.models import Project, Token, User
from benchdash.results.models import Run


class RawFile(models.Model):
    """Bytes as received, stored once per project and content. Exactly one of the two places holds them.

    ``content`` is zlib-compressed; larger files lie in Django's storage under ``storage_name``, which ends in
    ``.zst`` where they are compressed there. ``sha256`` and ``size`` are those of the bytes as received.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="raw_files")
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    content = models.BinaryField(null=True)
    storage_name = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "sha256"], name="raw_file_is_unique"),
            models.CheckConstraint(
                name="raw_file_is_in_one_place",
                condition=models.Q(content__isnull=False, storage_name="")
                | (models.Q(content=None) & ~models.Q(storage_name="")),
            ),
        ]

    def __str__(self) -> str:
        return self.sha256[:10]


class RawStorage(models.Model):
    """The storage in which this installation keeps its large files: one row, made by the first process."""

    identity = models.CharField(max_length=32)  # what its file storage-id says

    class Meta:
        constraints = [
            models.CheckConstraint(name="there_is_one_storage", condition=models.Q(pk=1)),
        ]

    def __str__(self) -> str:
        return self.identity


class Upload(models.Model):
    """A file as received with its metadata. Unique by content and canonical metadata, companions included."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        IMPORTING = "importing", "importing"
        IMPORTED = "imported", "imported"
        PARTIAL = "partial", "partial"
        REFUSED = "refused", "refused"
        DELETED = "deleted", "deleted"  # its runs are gone; the file is kept and can be restored

    FINISHED: ClassVar[frozenset[str]] = frozenset(
        {State.IMPORTED, State.PARTIAL, State.REFUSED, State.DELETED}
    )
    WITH_RUNS: ClassVar[frozenset[str]] = frozenset({State.IMPORTED, State.PARTIAL})

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    raw = models.ForeignKey(RawFile, on_delete=models.PROTECT, related_name="uploads")
    name = models.CharField(max_length=255)
    metadata = models.JSONField(default=dict)  # as canonical as its digest: explicit fields and meta, masked
    metadata_digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    format = models.CharField(max_length=30, blank=True)
    errors = models.JSONField(default=list)  # [{"line": 3 or null, "message": "..."}]
    warnings = models.JSONField(default=list)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=1)
    attempts = models.PositiveSmallIntegerField(default=0)  # of jobs that began to import it
    # How often its file could not be read, which is no attempt, and when that is tried again.
    misses = models.PositiveIntegerField(default=0, db_default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    quiet = models.BooleanField(default=False)  # nobody is mailed for what this upload brings
    is_archive = models.BooleanField(default=False)  # its runs are those of its files
    came_alone = models.BooleanField(default=True)  # at least once, and not only in archives
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    token = models.ForeignKey(Token, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # Tokens that sent the same again: it is theirs to follow as well.
    also_sent_by = models.ManyToManyField(Token, related_name="+")
    received_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(db_default=Now())  # to be imported, at last
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "raw", "metadata_digest"], name="upload_is_unique"),
        ]
        indexes = [
            models.Index(fields=["project", "-received_at"], name="upload_by_time"),
            models.Index(
                fields=["received_at"],
                name="upload_waiting",
                condition=models.Q(state__in=["queued", "importing"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def needs_no_reading(self) -> bool:
        """Tell whether the same upload sent again changes nothing."""
        return self.state in (self.State.IMPORTED, self.State.PARTIAL)

    @property
    def subject(self) -> str:
        """The name of it in the audit log."""
        return f"{self.pk} {self.name}"

    @property
    def bound_to(self) -> str:
        """The machine of which this archive may have runs, that of its token; empty for any."""
        return self.token.hardware if self.is_archive and self.token else ""

    @property
    def is_text(self) -> bool:
        """Tell whether the file was understood, and so can be shown as it is."""
        return bool(self.format) and not self.is_archive


class Removal(models.Model):
    """A project that is being deleted, and how far that is. Its row stays when the project is gone."""

    # No foreign key: it outlives the project.
    project_id = models.BigIntegerField(unique=True)
    slug = models.CharField(max_length=50)
    name = models.CharField(max_length=100)
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    done = models.PositiveBigIntegerField(default=0)  # of its uploads, files and runs
    total = models.PositiveBigIntegerField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]

    def __str__(self) -> str:
        return self.slug

    @property
    def per_cent(self) -> int:
        """It is 100 only when nothing is left."""
        return 100 if self.finished_at else min(99, 100 * self.done // max(1, self.total))


class ArchiveFile(models.Model):
    """A file of an archive. One that can be read is an upload of its own, which other archives may share."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        IMPORTED = "imported", "imported"
        REFUSED = "refused", "refused"
        IGNORED = "ignored", "ignored"

    archive = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    number = models.PositiveIntegerField()  # its place in the archive
    name = models.CharField(max_length=500)  # with its path
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, null=True, related_name="places")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    errors = models.JSONField(default=list)  # as those of an upload

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["archive", "number"], name="archive_file_is_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def current_state(self) -> str:
        """The state of its upload, which may have changed since, unless it is being read again."""
        is_settled = self.upload is not None and self.state != self.State.QUEUED
        return str(self.upload.state if self.upload and is_settled else self.state)

    @property
    def reasons(self) -> list[Any]:
        """Why it was refused or ignored."""
        return list(self.upload.errors if self.upload else self.errors)


class Copy(models.Model):
    """A run of a file that is there already, told by another file: linked to it, and never counted.

    ``key`` is that of the run within the file of ``upload``.
    """

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="copies")
    key = models.CharField(max_length=500, blank=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="copies")

    class Meta:
        verbose_name_plural = "copies"
        constraints = [models.UniqueConstraint(fields=["upload", "key"], name="copy_is_unique")]

    def __str__(self) -> str:
        return f"run {self.run_id} in upload {self.upload_id}"


class Companion(models.Model):
    """A file that came beside an upload: vmstat output, my.cnf, lscpu."""

    class Kind(models.TextChoices):
        CONFIGURATION = "configuration", "configuration"
        OTHER = "companion", "companion"

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="companions")
    raw = models.ForeignKey(RawFile, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=15, choices=Kind)
    name = models.CharField(max_length=255)
    # The kind as which it was read; empty if it is only kept.
    format = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["upload", "raw", "kind"], name="companion_is_unique")]

    def __str__(self) -> str:
        return self.name
