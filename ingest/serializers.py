"""The shapes in which uploads are answered. Their names are those of the contract."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.addresses import absolute
from ingest.archives.services import NOT_LOOKED_AT
from ingest.metadata.fields import ALL_FIELDS, FIELD_OF, REQUIRED, FieldKind
from ingest.models import ArchiveFile, Companion, Upload
from ingest.queries import RunSummary, copies_of, files_of, is_analysed, may_see_raw, run_summaries
from ingest.receiving.imports import Received


class _AddressField(serializers.CharField):
    """The address of the view of this name, for the id that is its source."""

    def __init__(self, view: str, **options: Any) -> None:
        super().__init__(read_only=True, **options)
        self.view = view

    def to_representation(self, value: object) -> str:
        return absolute(self.view, value)


def _declared(name: str, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    """Return the field of the schema that shows a field of an upload as it is declared."""
    field = FIELD_OF[name]
    about = f"required unless {field.required_unless} says it" if field.required_unless else field.about
    options = {"required": False, "help_text": about, **options}
    match field.kind:
        case FieldKind.NUMBER:
            return serializers.IntegerField(min_value=field.least, max_value=field.most, **options)
        case FieldKind.YES_OR_NO:
            return serializers.BooleanField(**options)
        case FieldKind.TIME:
            return serializers.DateTimeField(**options)
        case FieldKind.COMMIT:
            return serializers.RegexField("^[0-9a-fA-F]{7,40}$", **options)
        case FieldKind.LIST:
            return serializers.ListField(child=serializers.CharField(), max_length=field.most, **options)
        case FieldKind.OBJECT:
            return serializers.JSONField(**options)
    return serializers.CharField(**options)


class UploadRequestSerializer(serializers.Serializer[Any]):
    """The fields that may be sent with a file. For the schema alone: ingest.metadata reads it."""

    file = serializers.FileField()
    project = serializers.SlugField(required=False, help_text="by default that of the token")
    configuration_file = serializers.FileField(required=False)
    companion = serializers.ListField(child=serializers.FileField(), required=False)
    dry_run = serializers.BooleanField(required=False)

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), **{name: _declared(name) for name in ALL_FIELDS}}


class UploadChangeSerializer(serializers.Serializer[Any]):
    """Any metadata of an upload; null takes a field back. For the schema alone."""

    reason = serializers.CharField(required=False)
    preview = serializers.BooleanField(
        required=False, help_text="nothing is changed; the answer says what would be"
    )

    def get_fields(self) -> dict[str, Any]:
        return {
            **{name: _declared(name, allow_null=True, help_text="") for name in REQUIRED},
            **super().get_fields(),
        }


class RunSummarySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(allow_null=True)
    url = _AddressField("api:run-detail", source="id", allow_null=True)
    product = serializers.CharField()
    version = serializers.CharField()
    workload = serializers.CharField()
    threads = serializers.IntegerField(allow_null=True)
    readings = serializers.IntegerField(help_text="how many")


class RunCopySerializer(serializers.Serializer[Any]):
    """A run that is there already, and the upload that holds it."""

    run = serializers.IntegerField()
    of_upload = serializers.IntegerField()


class ReceivedSerializer(serializers.Serializer[Received]):
    """The answer to an upload."""

    id = serializers.IntegerField(source="upload.pk", allow_null=True)
    url = _AddressField("ingest:upload-detail", source="upload.pk")
    page = serializers.SerializerMethodField(help_text="where people see it, with links to its charts")
    state = serializers.CharField(source="upload.state")
    format = serializers.CharField(source="upload.format")
    sha256 = serializers.CharField(source="upload.raw.sha256")
    duplicate = serializers.BooleanField()
    runs = serializers.SerializerMethodField()
    copies = serializers.SerializerMethodField(
        help_text="runs of the file that are there already, told by another file: none is counted twice"
    )
    warnings = serializers.ListField(source="upload.warnings", child=serializers.CharField())

    def get_page(self, received: Received) -> str:
        upload = received.upload
        return absolute("dashboard:upload", upload.project.slug, upload.pk)

    @extend_schema_field(RunSummarySerializer(many=True))
    def get_runs(self, received: Received) -> list[dict[str, Any]]:
        return _runs(received.upload) if received.runs is None else _shown(received.runs)

    @extend_schema_field(RunCopySerializer(many=True))
    def get_copies(self, received: Received) -> list[dict[str, Any]]:
        return _copies(received.upload) if received.runs is None else []


@extend_schema_field({"type": "null"})
class _NullField(serializers.ReadOnlyField):
    """Nothing is stored, so there is no id and no address."""


class _TriedSerializer(serializers.Serializer[Any]):
    """The answer to an upload that was only tried: nothing is stored."""

    id = _NullField(default=None)
    url = _NullField(default=None)
    state = serializers.CharField(read_only=True, default="dry_run")
    format = serializers.CharField()
    sha256 = serializers.CharField()
    duplicate = serializers.BooleanField()


class DryRunSerializer(_TriedSerializer):
    """A file as it would be recorded."""

    runs = RunSummarySerializer(many=True)
    copies = RunCopySerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())


class TriedFileSerializer(serializers.Serializer[Any]):
    """A file of an archive as it would be recorded."""

    name = serializers.CharField(source="path")
    state = serializers.CharField()
    format = serializers.CharField()
    runs = RunSummarySerializer(many=True)
    copies = RunCopySerializer(many=True)
    errors = serializers.ListField(child=serializers.DictField())  # type: ignore[assignment] # a field
    warnings = serializers.ListField(child=serializers.CharField())
    companions = serializers.ListField(child=serializers.CharField())


class ProposalSerializer(serializers.Serializer[Any]):
    """A guess, to be looked at and then sent as it is or corrected."""

    pattern = serializers.CharField()
    path_map = serializers.DictField(help_text="with `fields`, which hold for all files")
    companion_pattern = serializers.ListField(source="companion_patterns", child=serializers.CharField())
    reasons = serializers.DictField(
        child=serializers.CharField(), help_text="why each field is proposed, in a sentence"
    )


class ArchiveDryRunSerializer(_TriedSerializer):
    """An archive as it would be recorded, file by file."""

    files = TriedFileSerializer(many=True)
    proposal = ProposalSerializer(
        allow_null=True, help_text="of names of files, where no pattern was sent and fields are missing"
    )
    not_looked_at = serializers.SerializerMethodField(help_text="files for which the time did not go")
    warnings = serializers.ListField(child=serializers.CharField())

    def get_not_looked_at(self, tried: Any) -> int:
        return sum(file.state == NOT_LOOKED_AT for file in tried.files)


class PreviewSerializer(serializers.Serializer[Any]):
    """The effects of a change."""

    before = RunSummarySerializer(many=True)
    after = RunSummarySerializer(many=True)
    series_left = serializers.IntegerField()
    series_entered = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.CharField())


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """An item of the list. ``run_count`` is annotated; ``counts`` of the context are those of archives."""

    url = _AddressField("ingest:upload-detail", source="pk")
    project = serializers.CharField(source="project.slug")
    sha256 = serializers.CharField(source="raw.sha256")
    size = serializers.IntegerField(source="raw.size")
    progress = serializers.SerializerMethodField()
    files = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()
    raw = _AddressField("ingest:upload-raw", source="pk")

    class Meta:
        model = Upload
        fields: tuple[str, ...] = (
            "id",
            "url",
            "project",
            "name",
            "state",
            "format",
            "sha256",
            "size",
            "received_at",
            "finished_at",
            "progress",
            "is_archive",
            "files",
            "counts",
            "warnings",
            "raw",
        )

    def get_progress(self, upload: Upload) -> dict[str, int]:
        return {"done": upload.done, "total": upload.total}

    def get_files(self, upload: Upload) -> list[dict[str, Any]]:
        runs = getattr(upload, "run_count", 0)
        return [{"name": upload.name, "state": upload.state, "runs": runs, "errors": upload.errors}]

    def get_counts(self, upload: Upload) -> dict[str, int]:
        """Count the files of an archive by their state."""
        return dict(self.context["counts"].get(upload.pk, {}))


class UploadPageSerializer(serializers.Serializer[Any]):
    """For the schema alone."""

    results = UploadSerializer(many=True)
    next = serializers.URLField(allow_null=True)


class CompanionSerializer(serializers.ModelSerializer[Companion]):
    sha256 = serializers.CharField(source="raw.sha256")
    size = serializers.IntegerField(source="raw.size")
    raw = serializers.SerializerMethodField()

    class Meta:
        model = Companion
        fields = ("id", "kind", "name", "format", "sha256", "size", "raw")

    def get_raw(self, companion: Companion) -> str:
        return absolute("ingest:companion-raw", companion.upload_id, companion.pk)


class ArchiveFileSerializer(serializers.ModelSerializer[ArchiveFile]):
    """A file of an archive; ``id`` and ``url`` are those of the upload that it became."""

    id = serializers.IntegerField(source="upload_id", allow_null=True)
    url = _AddressField("ingest:upload-detail", source="upload_id", allow_null=True)
    state = serializers.CharField(source="current_state", read_only=True)
    runs = serializers.IntegerField(source="run_count")
    errors = serializers.ListField(  # type: ignore[assignment] # a field
        source="reasons", child=serializers.DictField(), read_only=True
    )

    class Meta:
        model = ArchiveFile
        fields = ("name", "state", "runs", "errors", "id", "url")


class UploadDetailSerializer(UploadSerializer):
    """One upload with its runs, the metadata as it was given, and the files beside it.

    ``files`` of an archive are all of its files, whose runs are theirs.
    """

    runs = serializers.SerializerMethodField()
    copies = serializers.SerializerMethodField()
    metadata = serializers.DictField()
    companions = serializers.SerializerMethodField()
    analysis = serializers.SerializerMethodField(help_text="whether changes were looked for in its series")

    class Meta(UploadSerializer.Meta):
        fields = (*UploadSerializer.Meta.fields, "runs", "copies", "metadata", "companions", "analysis")

    @extend_schema_field(serializers.ChoiceField(choices=["done", "pending"]))
    def get_analysis(self, upload: Upload) -> str:
        return "done" if is_analysed(upload) else "pending"

    def get_runs(self, upload: Upload) -> list[dict[str, Any]]:
        return _runs(upload)

    @extend_schema_field(RunCopySerializer(many=True))
    def get_copies(self, upload: Upload) -> list[dict[str, Any]]:
        return _copies(upload)

    def get_files(self, upload: Upload) -> list[dict[str, Any]]:
        if not upload.is_archive:
            return super().get_files(upload)
        sees_reasons = may_see_raw(self.context["viewer"], upload)
        return list(ArchiveFileSerializer(files_of(upload, sees_reasons=sees_reasons), many=True).data)

    def get_companions(self, upload: Upload) -> list[dict[str, Any]]:
        rows = upload.companions.select_related("raw").defer("raw__content").order_by("pk")
        return list(CompanionSerializer(rows, many=True).data)


def _runs(upload: Upload) -> list[dict[str, Any]]:
    """Return the runs of an upload; those of an archive are its files', which may be thousands."""
    return [] if upload.is_archive else _shown(run_summaries(upload))


def _shown(runs: Iterable[RunSummary]) -> list[dict[str, Any]]:
    """Return runs in the shape of RunSummarySerializer, which takes long for thousands."""
    before, _, after = absolute("api:run-detail", 0).rpartition("0")
    names = ("product", "version", "workload", "threads", "readings")
    return [
        {"id": run.id, "url": f"{before}{run.id}{after}", **{name: getattr(run, name) for name in names}}
        for run in runs
    ]


def _copies(upload: Upload) -> list[dict[str, Any]]:
    return list(RunCopySerializer(copies_of(upload), many=True).data)
