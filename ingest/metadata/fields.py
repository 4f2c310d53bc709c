"""The fields of an upload, each declared once: its meaning, its type, its limits, and how it is read.

The API's schema, the page's form and the checks are made from ``Metadata``.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import Any, Final

from benchdash.results.branches import new_branch
from benchdash.results.models import (
    Configuration,
    Hardware,
    Product,
    ProjectMetric,
    PullRequest,
    Run,
    Series,
    ServerVersion,
    Workload,
)
from benchdash.results.pull_requests import MAX_NUMBER
from benchdash.results.sessions import SESSION_TAG
from benchdash.results.wording import COUNTERPART
from ingest.formats import FORMATS
from ingest.masking import mask_text
from ingest.metadata.values import (
    as_identity,
    choice_of,
    commit_of,
    line_of,
    list_of,
    metric_of,
    name_of,
    notes_of,
    number_between,
    object_of,
    path_map_of,
    positive,
    read_yes_or_no,
    shortened,
    time_of,
)

MAX_PATTERN_LENGTH: Final = 500
_MAX_THREADS: Final = 1_000_000
_MAX_REPETITION: Final = 2**31 - 1
_MAX_TAGS: Final = 50
_MAX_TAG_LENGTH: Final = 100
_MAX_PATTERNS: Final = 20

# The rest of a request, beside these fields.
OF_THE_REQUEST: Final = ("project", "file", "configuration_file", "companion", "dry_run")
# Fields that a sender may give to a single column, benchmark or heading of a file.
MAPPED: Final = ("product", "version", "build", "hardware", "configuration", "workload")
# Fields that may be given for where neither the sender's other words nor the file say them.
MAY_BE_DEFAULTS: Final = (*MAPPED, "branch", "counterpart", "tags", "map")


_Reader = Callable[[Any], Any]


class FieldKind(Enum):
    """The type of a field's values, by which schema and form show it."""

    NAME = "name"  # of something that the project may know already
    LINE = "line"
    TEXT = "text"
    COMMIT = "commit"
    NUMBER = "number"
    TIME = "time"
    YES_OR_NO = "yes or no"
    FORMAT = "format"
    LIST = "list"  # may be given several times
    OBJECT = "object"  # JSON


@dataclass(frozen=True, slots=True)
class UploadField:
    """The declaration of a field.

    ``required_unless`` says who may say it instead. ``most`` is the highest number, or the length of a list.
    ``suggests`` names the field whose values in the project may be meant, where that is another one.
    """

    kind: FieldKind
    read: _Reader
    about: str = ""
    label: str = ""
    example: str = ""
    required_unless: str = ""
    suggests: str = ""
    least: int = 0
    most: int | None = None
    is_of_archive: bool = False


def _field(kind: FieldKind, read: _Reader, about: str = "", **options: Any) -> Any:
    """Declare a field of ``Metadata``, which is empty where it was not given."""
    metadata = {"field": UploadField(kind, read, about, **options)}
    match kind:
        case FieldKind.OBJECT:
            return dataclasses.field(default_factory=dict, metadata=metadata)
        case FieldKind.LIST:
            return dataclasses.field(default=(), metadata=metadata)
    return dataclasses.field(default=None, metadata=metadata)


_line: Final = partial(_field, FieldKind.LINE)
_time: Final = partial(_field, FieldKind.TIME, time_of, example="2026-11-20T15:56:28Z")
_object: Final = partial(_field, FieldKind.OBJECT)


def _name(model: Any, column: str = "name", about: str = "", **options: Any) -> Any:
    return _field(FieldKind.NAME, name_of(_longest(model, column)), about, **options)


def _branch(model: Any, column: str, about: str, **options: Any) -> Any:
    read = name_of(_longest(model, column))
    return _field(FieldKind.NAME, lambda value: new_branch(read(value)), about, example="main", **options)


def _number(least: int, most: int, about: str = "") -> Any:
    return _field(FieldKind.NUMBER, number_between(least, most), about, least=least, most=most)


def _lines(read: _Reader, most: int, about: str = "", **options: Any) -> Any:
    return _field(FieldKind.LIST, list_of(read, most), about, most=most, **options)


def _longest(model: Any, column: str = "name") -> int:
    longest: int = model._meta.get_field(column).max_length
    return longest


def _map(value: Any) -> dict[str, dict[str, Any]]:
    """Read entries such as ``{"A-*": {"product": "A", "version": "16"}}``."""
    for pattern in object_of(value):
        as_identity(pattern)
    return _entries(value, {name: FIELD_OF[name].read for name in MAPPED}, "column")


def _metrics(value: Any) -> dict[str, dict[str, Any]]:
    """Read entries such as ``{"rss_mb": {"unit": "MB", "direction": "lower"}}``."""
    read = name_of(_longest(ProjectMetric))
    entries = _entries(value, _METRIC_READERS, "metric")
    named: dict[str, dict[str, Any]] = {}
    for name, entry in entries.items():
        try:
            named[read(name)] = entry
        except ValueError as error:
            raise ValueError(f"'{shortened(name)}': {error}") from None
    return named


def _entries(value: Any, readers: Mapping[str, _Reader], noun: str) -> dict[str, dict[str, Any]]:
    """Read a JSON object of objects with these keys. Raises ValueError."""
    entries: dict[str, dict[str, Any]] = {}
    for name, given in object_of(value).items():
        if not isinstance(given, Mapping):
            raise ValueError(f"must give a JSON object for '{shortened(name)}'")  # noqa: TRY004
        if unknown := [key for key in given if key not in readers]:
            raise ValueError(
                f"'{shortened(name)}' gives '{shortened(unknown[0])}'; "
                f"a {noun} can be given {', '.join(readers)}"
            )
        entries[name] = {}
        for key, inner in given.items():
            if inner in (None, ""):
                continue
            try:
                entries[name][key] = readers[key](inner)
            except ValueError as error:
                raise ValueError(f"'{shortened(name)}': {key} {error}") from None
    return entries


def _defaults(value: Any) -> dict[str, Any]:
    given = {name: inner for name, inner in object_of(value).items() if inner not in (None, "")}
    if unknown := [name for name in given if name not in MAY_BE_DEFAULTS]:
        raise ValueError(f"gives '{shortened(unknown[0])}'; it may give {', '.join(MAY_BE_DEFAULTS)}")
    read = {name: FIELD_OF[name].read(inner) for name, inner in given.items()}
    return {name: tuple(map(mask_text, inner)) if name == "tags" else inner for name, inner in read.items()}


_METRIC_READERS: Final[Mapping[str, _Reader]] = {
    "unit": name_of(_longest(ProjectMetric, "unit")),
    "direction": choice_of(Series.Direction.values),
    "watched": read_yes_or_no,
    "smallest_change": positive,
    "smallest_change_absolute": positive,
    "aggregation": choice_of(ProjectMetric.Aggregation.values),
    "kind": choice_of(ProjectMetric.Kind.values),
}


@dataclass(frozen=True, slots=True)
class Metadata:
    """The fields of an upload as its sender gave them, masked; None and empty is what was not given.

    ``meta`` stays as it was sent: ingest.metadata.meta reads it when the file is imported. The fields of
    archives say how the names of files are read; the others hold for a file, or for every file in an archive.
    """

    product: str | None = _name(Product, example="MariaDB", required_unless="the file")
    version: str | None = _name(ServerVersion, "version", example="10.11.7", required_unless="the file")
    hardware: str | None = _name(Hardware, example="bench-01", required_unless="meta")
    workload: str | None = _name(Workload, example="oltp_read_only", required_unless="the file")
    threads: int | None = _number(1, _MAX_THREADS, "the number that the tool printed wins")
    started_at: datetime | None = _time("without one, the time of receipt")  # noqa: RUF009
    build: str | None = _name(
        ServerVersion, "build", "a flavour of the version, such as debug or asan", example="debug"
    )
    branch: str | None = _branch(Run, "branch", "without one it is a release")
    pull_request: int | None = _number(
        1, MAX_NUMBER, "its number; its runs are kept apart from all branches, as pull/<number>"
    )
    base_branch: str | None = _branch(
        PullRequest, "base_branch", "where the pull request is to be merged", suggests="branch"
    )
    commit: str | None = _field(FieldKind.COMMIT, commit_of, "7 to 40 hex digits")
    committed_at: datetime | None = _time()  # noqa: RUF009
    configuration: str | None = _name(
        Configuration,
        about="the name of a set of settings, 'default' without one; its file goes beside it",
        example="default",
    )
    counterpart: str | None = _name(
        Run, "counterpart", "the server behind a connector", example="MariaDB 10.11.19", label=COUNTERPART
    )
    repetition: int | None = _number(0, _MAX_REPETITION)
    format: str | None = _field(FieldKind.FORMAT, choice_of(FORMATS, "must be one of {1}"))
    control: bool | None = _field(
        FieldKind.YES_OR_NO,
        read_yes_or_no,
        "a build that never changes: it tells the speed of the machine alone",
    )
    session: str | None = _line(
        name_of(_MAX_TAG_LENGTH - len(SESSION_TAG)),
        "runs of one version that were measured in one go count once",
        example="monday-2",
    )
    tags: tuple[str, ...] = _lines(name_of(_MAX_TAG_LENGTH), _MAX_TAGS, example="nightly, cold")
    notes: str | None = _field(FieldKind.TEXT, notes_of)
    options: Mapping[str, Any] = _object(object_of, 'facts of the workload, such as {"tables": 4}')
    metric: str | None = _line(
        metric_of, "what the numbers of a plain table are: tps, p95 (us), rss_mb [MB, lower]", example="tps"
    )
    metrics: Mapping[str, Mapping[str, Any]] = _object(
        _metrics, f"what the project's own metrics are: name to {', '.join(_METRIC_READERS)}"
    )
    map: Mapping[str, Mapping[str, str]] = _object(
        _map, f"column, benchmark or heading pattern to {', '.join(MAPPED)}"
    )
    meta: Mapping[str, Any] = _object(
        object_of, "any of these fields, and what else is known; the fields win"
    )
    defaults: Mapping[str, Any] = _object(
        _defaults, "fields that hold where nothing else says them, not even the file"
    )
    pattern: str | None = _line(
        line_of(MAX_PATTERN_LENGTH),
        "which files of an archive, and what their paths mean; of a single file, its name",
        label="Path pattern",
        is_of_archive=True,
    )
    path_map: Mapping[str, Any] = _object(
        path_map_of, "what parts of paths mean", label="Mapping", is_of_archive=True
    )
    companion_pattern: tuple[str, ...] = _lines(
        line_of(MAX_PATTERN_LENGTH),
        _MAX_PATTERNS,
        "files that go with the results of which the same names are the same",
        label="Companion patterns",
        is_of_archive=True,
    )

    def as_json(self) -> dict[str, Any]:
        """Return what was given, times in UTC: equal for equal metadata."""
        given = {name: getattr(self, name) for name in ALL_FIELDS}
        return {name: _plain(value) for name, value in given.items() if value not in (None, (), {})}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


FIELD_OF: Final[Mapping[str, UploadField]] = {
    field.name: field.metadata["field"] for field in dataclasses.fields(Metadata)
}
ALL_FIELDS: Final = tuple(FIELD_OF)
# How the names of files in an archive are read.
ARCHIVE_FIELDS: Final = tuple(name for name, field in FIELD_OF.items() if field.is_of_archive)
# Fields of a single file, or of every file in an archive.
FIELDS: Final = tuple(name for name in FIELD_OF if name not in (*ARCHIVE_FIELDS, "defaults"))
REQUIRED: Final = tuple(name for name, field in FIELD_OF.items() if field.required_unless)


def fields_of_kind(kind: FieldKind) -> frozenset[str]:
    return frozenset(name for name, field in FIELD_OF.items() if field.kind is kind)


def read_field(name: str, value: Any) -> tuple[Any, str]:
    """Return a field's clean value and a warning, mostly empty. Raises ValueError with a sentence."""
    field = FIELD_OF[name]
    return field.read(value) if field.kind is FieldKind.TIME else (field.read(value), "")
