"""Many files at once: a folder, an archive."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from ingest.companions import CompanionFile
from ingest.errors import FieldsError
from ingest.metadata import Metadata
from ingest.services import Received, accept_upload
from ingest.storage import RawData


@dataclass(frozen=True, slots=True)
class Arrival:
    """One file of many, with all that is said of it."""

    file_name: str
    data: RawData
    metadata: Metadata
    companions: Sequence[CompanionFile] = ()
    warnings: Sequence[str] = ()


def accept_many(
    project: Project, *, by: Viewer, arrivals: Sequence[Arrival], quiet: bool = False
) -> list[Received | FieldsError]:
    """What became of each, in their order; a FieldsError where neither sender nor file says what is required.

    One bad file does not stop the rest.
    """
    return [_accept(project, by=by, arrival=arrival, quiet=quiet) for arrival in arrivals]


def _accept(project: Project, *, by: Viewer, arrival: Arrival, quiet: bool) -> Received | FieldsError:
    try:
        return accept_upload(
            project,
            by=by,
            file_name=arrival.file_name,
            data=arrival.data,
            metadata=arrival.metadata,
            companions=arrival.companions,
            warnings=arrival.warnings,
            quiet=quiet,
        )
    except FieldsError as error:
        return error
