"""Refusals of the door for files, each with sentences for the sender."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldError:
    """``field`` as the sender wrote it, with a path into its JSON: ``meta.threads``, ``map.A-*.version``.

    ``is_missing`` is true of a required field that neither the sender nor the file says.
    """

    field: str
    message: str
    is_missing: bool = False


class FieldsError(Exception):
    """A request with missing or malformed fields. Nothing is stored of it."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in self.errors))

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(error.field for error in self.errors if error.is_missing)


class FileTooLargeError(Exception):
    """A file beyond settings.UPLOAD_MAX_BYTES."""


class FileRefusedError(Exception):
    """A file that cannot be understood. ``errors`` are those of Upload.errors.

    ``upload_id`` and ``url`` lead to the upload that keeps it; after a dry run there is none.
    """

    def __init__(
        self, errors: list[dict[str, object]], *, upload_id: int | None = None, url: str | None = None
    ) -> None:
        self.errors = errors
        self.upload_id = upload_id
        self.url = url
        super().__init__("; ".join(str(error["message"]) for error in errors))


class UploadBusyError(Exception):
    """An upload that is being imported just now and cannot be changed."""


class StorageAwayError(OSError):
    """A storage on another machine that does not answer, or answers that it cannot."""


class FileUnavailableError(Exception):
    """A file that cannot be stored or read just now, with a sentence. The file itself is not to blame."""


class FileMissingError(FileUnavailableError):
    """A stored file that is not in the storage of this machine."""
