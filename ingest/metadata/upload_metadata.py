"""The words of a sender about a file: read strictly, masked, and in one canonical form."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.utils import timezone

from ingest.errors import FieldError, FieldsError
from ingest.masking import IDENTITIES, mask_path_map, mask_said, mask_settings, mask_text
from ingest.metadata.clocks import future_trouble
from ingest.metadata.fields import (
    ALL_FIELDS,
    ARCHIVE_FIELDS,
    FIELDS,
    FieldKind,
    Metadata,
    fields_of_kind,
    read_field,
)
from ingest.metadata.meta import read_meta
from ingest.metadata.path_patterns import PathMap, PathPattern, PathRules, PatternError
from ingest.metadata.values import read_json, unknown_field_warnings

JSON_FIELDS: Final = fields_of_kind(FieldKind.OBJECT)
_LIST_FIELDS: Final = fields_of_kind(FieldKind.LIST)
_TIMES: Final = sorted(fields_of_kind(FieldKind.TIME))


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
        if name in _LIST_FIELDS:
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
    if not errors and not read.keys().isdisjoint(ARCHIVE_FIELDS):
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
    for name in _TIMES:
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
