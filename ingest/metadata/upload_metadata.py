"""What a sender says about a file: read strictly, masked, and in one canonical form."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from ingest.archives.path_patterns import PathMap, PathPattern, PathRules, PatternError
from ingest.errors import FieldError, FieldsError
from ingest.masking import IDENTITIES, mask_path_map, mask_said, mask_settings, mask_text
from ingest.metadata.clocks import future_trouble
from ingest.metadata.fields import (
    ALL_FIELDS,
    FIELDS,
    JSON_FIELDS,
    LIST_FIELDS,
    TIMES,
    read_field,
    read_json,
    unknown_field_warnings,
)
from ingest.metadata.meta import read_meta


@dataclass(frozen=True, slots=True)
class Metadata:
    """The fields of an upload as its sender gave them, masked; None and empty is what was not given.

    ``meta`` stays as it was sent: ingest.metadata.meta reads it when the file is imported. ``defaults`` are
    fields that hold where nothing else says them, not even the file. The last three are
    for archives, of which everything else holds for all files.
    """

    product: str | None = None
    version: str | None = None
    hardware: str | None = None
    workload: str | None = None
    threads: int | None = None
    build: str | None = None
    control: bool | None = None
    commit: str | None = None
    committed_at: datetime | None = None
    branch: str | None = None
    pull_request: int | None = None
    base_branch: str | None = None
    configuration: str | None = None
    counterpart: str | None = None
    started_at: datetime | None = None
    repetition: int | None = None
    tags: tuple[str, ...] = ()
    session: str | None = None
    notes: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    map: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metric: str | None = None
    format: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    pattern: str | None = None
    path_map: Mapping[str, Any] = field(default_factory=dict)
    companion_pattern: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what was given, times in UTC, tags sorted: equal for equal metadata."""
        given = {name: getattr(self, name) for name in ALL_FIELDS}
        return {name: _plain(value) for name, value in given.items() if value not in (None, (), {})}


def metadata_from_json(stored: Mapping[str, Any]) -> Metadata:
    """Return the metadata whose ``as_json`` is stored."""
    return _read(stored, [], is_stored=True)[0]


def metadata_digest(
    metadata: Metadata, companions: Iterable[tuple[str, str]] = (), *, bound_to: str = ""
) -> str:
    """Return what makes an upload of the same bytes the same; ``companions`` are kinds and digests.

    ``bound_to`` is the machine to which the token is bound that sent an archive.
    """
    canonical: dict[str, Any] = {"metadata": metadata.as_json(), "companions": sorted(companions)}
    if bound_to:
        canonical["bound_to"] = bound_to
    return hashlib.sha256(json.dumps(canonical, sort_keys=True).encode()).hexdigest()


def read_form(form: Mapping[str, Sequence[str]]) -> tuple[Metadata, list[str]]:
    """Read metadata from the texts of a form, with warnings. Empty texts count as not given.

    Raises FieldsError.
    """
    values, errors = form_values(form)
    return _read(values, errors)


def form_values(form: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], list[FieldError]]:
    """Return the texts of a form as JSON would hold them, None for an empty one, and what is malformed."""
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, given in form.items():
        texts = [text for text in dict.fromkeys(given) if text.strip()]
        if name in LIST_FIELDS:
            values[name] = texts
        elif len(texts) > 1:
            errors.append(FieldError(name[:50], "is given more than once, and differently"))
        elif not texts:
            values[name] = None
        elif name in JSON_FIELDS:
            try:
                values[name] = read_json(texts[0])
            except ValueError as error:
                errors.append(FieldError(name, str(error)))
        else:
            values[name] = texts[0]
    return values, errors


def read_metadata(values: Mapping[str, Any]) -> tuple[Metadata, list[str]]:
    """Read metadata from values as JSON or Python holds them, with warnings. None counts as not given.

    Raises FieldsError.
    """
    return _read(values, [])


def _read(
    values: Mapping[str, Any], errors: list[FieldError], *, is_stored: bool = False
) -> tuple[Metadata, list[str]]:
    read: dict[str, Any] = {}
    warnings = unknown_field_warnings((name for name in values if name not in ALL_FIELDS), ALL_FIELDS)
    for name, value in values.items():
        if name not in ALL_FIELDS or value is None or value == "":
            continue
        try:
            read[name], warning = read_field(name, value)
        except ValueError as error:
            if is_stored and name in IDENTITIES:
                # Its runs have that name, until somebody says another one.
                read[name] = value
                continue
            errors.append(FieldError(name, str(error)))
        else:
            warnings += [warning.format(name)] if warning else []
    try:
        meta = read_meta(read.get("meta", {}))
    except FieldsError as error:
        errors += error.errors
    else:
        if not is_stored:
            errors += [*_future_errors("", read), *_future_errors("meta.", meta.fields)]
    if not errors:
        errors += _pattern_errors(read)
    if errors:
        raise FieldsError(errors)
    if "pattern" in read:
        warnings += PathRules.parse(read["pattern"], PathMap.of(read.get("path_map", {}))).warnings()
    return _masked(Metadata(**read)), warnings


def path_rules(metadata: Metadata) -> PathRules:
    """Return how the paths in an archive are read; what is said of all files is said of each path first."""
    path_map = PathMap.of(metadata.path_map)
    said = {
        name: value
        for name in (*FIELDS, "defaults")
        if (value := getattr(metadata, name)) not in (None, (), {})
    }
    fields = {**path_map.fields, **said}
    return PathRules.parse(
        metadata.pattern, PathMap(path_map.parts, fields), companions=metadata.companion_pattern
    )


def of_single_file(metadata: Metadata, file_name: str) -> tuple[Metadata, list[str]]:
    """Return what pattern and mapping say of a file that came alone, as if its sender had said it.

    A name without folders is held against the last part of the pattern. Raises FieldsError, also where the
    pattern does not fit the name.
    """
    rules = path_rules(metadata)
    names = rules.pattern.match(file_name)
    if names is None and metadata.pattern and "/" not in file_name:
        names = PathPattern.parse(metadata.pattern.rpartition("/")[2]).match(file_name)
    if names is None:
        raise FieldsError([FieldError("pattern", f"does not fit the name of the file, '{file_name}'")])
    of_archive = {"companion_pattern": metadata.companion_pattern}
    return read_metadata({**rules.fields_of(file_name, names), **of_archive})


def _future_errors(prefix: str, read: Mapping[str, Any]) -> Iterator[FieldError]:
    for name in TIMES:
        if name in read and (trouble := future_trouble(read[name], now=timezone.now())):
            yield FieldError(prefix + name, trouble)


def _pattern_errors(read: Mapping[str, Any]) -> list[FieldError]:
    """Return the first thing that is wrong with the patterns."""
    name = "path_map"
    try:
        PathMap.of(read.get(name, {}))
        name = "pattern"
        PathRules.parse(read.get(name))
        name = "companion_pattern"
        PathRules.parse(read.get("pattern"), companions=read.get(name, ()))
    except PatternError as error:
        return [FieldError(name, str(error))]
    return []


def _masked(metadata: Metadata) -> Metadata:
    return replace(
        metadata,
        notes=metadata.notes and mask_text(metadata.notes),
        tags=tuple(sorted(set(map(mask_text, metadata.tags)))),
        options=mask_settings(metadata.options),
        meta=mask_said(metadata.meta),
        path_map=mask_path_map(metadata.path_map),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value
