"""STORAGE_URL: where raw files too large for a row are kept, a folder or S3."""

from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_KNOWN_PARAMETERS: Final = frozenset({"region", "endpoint"})


def storage_of(url: str) -> dict[str, Any]:
    """Return the entry of Django's STORAGES for this address.

    ``file:///folder`` or ``s3://[key:secret@]bucket[/prefix][?region=...&endpoint=...]``. Raises
    ImproperlyConfigured. No message repeats the address: it may hold a secret.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return _folder(parts)
    if parts.scheme == "s3":
        return _s3(parts)
    raise ImproperlyConfigured("STORAGE_URL must begin with file:/// or s3://")


def _folder(parts: SplitResult) -> dict[str, Any]:
    folder = unquote(parts.path)
    is_absolute = folder.startswith("/") and folder.strip("/") != ""
    if parts.netloc or parts.query or not is_absolute:
        raise ImproperlyConfigured("STORAGE_URL names a folder as file:///an/absolute/path")
    return {"BACKEND": "ingest.storage.folder.FolderStorage", "OPTIONS": {"location": folder}}


def _s3(parts: SplitResult) -> dict[str, Any]:
    parameters = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if unknown := sorted(parameters.keys() - _KNOWN_PARAMETERS):
        raise ImproperlyConfigured(f"STORAGE_URL knows region and endpoint, not {', '.join(unknown)}")
    if not parts.hostname:
        raise ImproperlyConfigured("STORAGE_URL names a bucket as s3://bucket or s3://bucket/prefix")
    if bool(parts.username) != bool(parts.password):
        raise ImproperlyConfigured(
            "STORAGE_URL holds a key and its secret, or neither: s3://key:secret@bucket"
        )
    options = {
        "bucket_name": parts.hostname,
        "location": unquote(parts.path).strip("/"),
        "region_name": parameters.get("region"),
        "endpoint_url": parameters.get("endpoint"),
    }
    if parts.username and parts.password:
        options |= {"access_key": unquote(parts.username), "secret_key": unquote(parts.password)}
    return {"BACKEND": "ingest.storage.s3.S3FileStorage", "OPTIONS": options}
