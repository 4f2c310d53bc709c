"""Files that come beside an upload."""

import re
from dataclasses import dataclass

from ingest.masking import mask_text
from ingest.storage import RawData

_LONGEST_NAME = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class CompanionFile:
    """A file beside an upload, as it was received. ``kind`` is a Companion.Kind."""

    kind: str
    name: str
    data: RawData


def clean_file_name(name: str) -> str:
    """A sender's file name, made fit to be shown: without its path, control characters and secrets."""
    base = re.split(r"[/\\]", _CONTROL.sub("", name))[-1].strip()
    return mask_text(base)[:_LONGEST_NAME] or "file"
