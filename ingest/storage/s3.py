"""Keeps files in S3. Nobody imports this module, and with it boto3, unless STORAGE_URL chooses S3."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from ingest.errors import StorageAwayError

# A file that is read lies in memory up to here, beyond on the disk.
_MAX_BYTES_IN_MEMORY: Final = 8 * 1024 * 1024
_CONNECT_TIMEOUT_S: Final = 5
_READ_TIMEOUT_S: Final = 30
_MAX_ATTEMPTS: Final = 3


@contextmanager
def _telling_failures() -> Iterator[None]:
    try:
        yield
    except (Boto3Error, BotoCoreError, ClientError) as error:
        raise StorageAwayError(f"S3: {error}") from error


class S3FileStorage(S3Storage):  # type: ignore[misc] # it ships no types
    """A bucket of S3, or of a server that speaks the same. Its failures are StorageAwayErrors."""

    def __init__(self, *, endpoint_url: str | None = None, **options: Any) -> None:
        client_config = Config(
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_READ_TIMEOUT_S,
            retries={"max_attempts": _MAX_ATTEMPTS, "mode": "standard"},
            # Few servers other than Amazon's have a name for each bucket, or know its newer checksums.
            s3={"addressing_style": "path" if endpoint_url else "auto"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(
            endpoint_url=endpoint_url,
            client_config=client_config,
            # One part after another: ten at once would hold 80 MB in memory.
            transfer_config=TransferConfig(use_threads=False),
            max_memory_size=_MAX_BYTES_IN_MEMORY,
            object_parameters={"ContentType": "application/octet-stream"},
            **options,
        )

    @_telling_failures()
    def _open(self, name: str, mode: str = "rb") -> Any:
        file = super()._open(name, mode)
        file.seek(0)  # fetches it now, and not at the first read
        return file

    _save = _telling_failures()(S3Storage._save)
    delete = _telling_failures()(S3Storage.delete)
    exists = _telling_failures()(S3Storage.exists)
    listdir = _telling_failures()(S3Storage.listdir)
    get_modified_time = _telling_failures()(S3Storage.get_modified_time)
