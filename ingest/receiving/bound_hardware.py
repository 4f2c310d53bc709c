"""Holds what a token bound to a machine sends to runs of that machine, by its name or an old one.

A result file does not name its machine: whatever does is in its metadata, also of each file in an archive.
"""

from collections.abc import Iterator
from dataclasses import replace

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.models import Project, Token
from benchdash.results.models import Hardware
from benchdash.results.queries import ids_called
from ingest.errors import FieldError, FieldsError
from ingest.metadata.fields import Metadata, read_field
from ingest.metadata.meta import read_meta
from ingest.metadata.upload_metadata import metadata_from_json
from ingest.models import Upload
from ingest.receiving.arrivals import Arrival


def of_bound_token(project: Project, arrival: Arrival, token: Token | None) -> Arrival:
    """Return a file as this token sends it: where nobody names a machine, it is the token's.

    An archive of a bound token is no other archive, even of the same bytes: its files are read by other
    rules. Raises FieldsError where another machine is named.
    """
    if token is None or not token.hardware:
        return arrival
    fitting = arrival.with_fitting_metadata()
    metadata = bound_metadata(project, fitting.metadata, token, is_archive=arrival.is_archive)
    return replace(fitting, metadata=metadata, bound_to=token.hardware if arrival.is_archive else "")


def bound_metadata(
    project: Project, metadata: Metadata, token: Token | None, *, is_archive: bool
) -> Metadata:
    """Return what is said of a file, with the machine of the token where nobody names one.

    Each file of an archive is asked for its machine by itself. Raises FieldsError where another is named.
    """
    if token is None or not token.hardware:
        return metadata
    own = str(read_field("hardware", token.hardware)[0])
    named = list(_named(metadata))
    own_ids = ids_called(Hardware, [own], project) if any(name != own for _, name in named) else []
    errors = [
        FieldError(field, f"must be '{own}', to which the token is bound; '{name}' is another machine")
        for field, name in named
        if name != own and not (len(own_ids) == 1 and ids_called(Hardware, [name], project) == own_ids)
    ]
    if errors:
        raise FieldsError(errors)
    is_said = any(field in ("hardware", "meta.hardware", "defaults") for field, _ in named)
    return metadata if is_said or is_archive else replace(metadata, hardware=own)


def require_own_runs(upload: Upload, token: Token | None) -> None:
    """Refuse a bound token that would change an upload which is not, or no more, of its machine.

    Raises NotAllowed.
    """
    if token is None or not token.hardware:
        return
    said = metadata_from_json(upload.metadata)
    try:
        is_own = bound_metadata(upload.project, said, token, is_archive=upload.is_archive) is said
    except FieldsError:
        is_own = False
    if not is_own:
        raise NotAllowed(f"the token is bound to '{token.hardware}', and this upload is of another machine")


def _named(metadata: Metadata) -> Iterator[tuple[str, str]]:
    """Yield each machine that is named, with the field that names it."""
    meta = read_meta(metadata.meta).fields
    by_default = metadata.defaults.get("hardware")
    named = {"hardware": metadata.hardware, "meta.hardware": meta.get("hardware"), "defaults": by_default}
    for field, name in named.items():
        if name:
            yield field, name
    maps = {
        "map": metadata.map,
        "meta.map": meta.get("map", {}),
        "defaults": metadata.defaults.get("map", {}),
    }
    for field, entries in maps.items():
        for pattern, entry in entries.items():
            if name := entry.get("hardware"):
                yield f"{field}.{pattern}.hardware"[:100], name
