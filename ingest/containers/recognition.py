"""Tells archives and compressed files from others by their first bytes."""

import tarfile
from typing import Final

HEAD_BYTES: Final = 512

_MAGIC: Final = {
    "zip": (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"),
    "gz": (b"\x1f\x8b\x08",),
    "bz2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    "xz": (b"\xfd7zXZ\x00",),
    "zst": (b"\x28\xb5\x2f\xfd", *(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60))),
}


def recognise(head: bytes) -> str:
    """Return ``zip``, ``tar``, ``gz``, ``bz2``, ``xz`` or ``zst``; empty for what is no archive.

    ``head`` are the first HEAD_BYTES.
    """
    for kind, magic in _MAGIC.items():
        if head.startswith(magic):
            return kind
    return "tar" if is_tar(head) else ""


def is_tar(head: bytes) -> bool:
    if len(head) < HEAD_BYTES:
        return False
    try:
        header = tarfile.TarInfo.frombuf(head[:HEAD_BYTES], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return bool(header.name)
