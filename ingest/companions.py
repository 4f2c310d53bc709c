"""Files that come beside an upload. Configuration files are read; all others are kept."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.configuration import Content, read_content
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.masking import mask_text
from ingest.models import Companion, Upload
from ingest.storage import RawData, read

_LONGEST_NAME = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
# A longer one is no configuration file.
_MOST_BYTES = 1024 * 1024


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


def content_of(files: Iterable[tuple[str, bytes]]) -> tuple[Content | None, list[str]]:
    """The content of the configuration files, of which later ones win, and why some were not read.

    None where there is none that could be read.
    """
    texts, warnings = [], []
    for name, data in files:
        try:
            texts.append(_text(name, data))
        except FormatError as error:
            warnings.append(f"the configuration file '{name}' is kept and was not read: {error.message}")
    return (read_content("\n".join(texts)) if texts else None), warnings


def content_received(companions: Sequence[CompanionFile]) -> tuple[Content | None, list[str]]:
    """As content_of, for companions that are not stored yet."""
    wanted = [one for one in companions if one.kind == Companion.Kind.CONFIGURATION]
    return content_of((clean_file_name(one.name), one.data.read()) for one in wanted)


def content_stored(upload: Upload) -> tuple[Content | None, list[str]]:
    """As content_of, for the companions of an upload."""
    wanted = upload.companions.filter(kind=Companion.Kind.CONFIGURATION).select_related("raw").order_by("pk")
    return content_of((one.name, read(one.raw)) for one in wanted)


def _text(name: str, data: bytes) -> str:
    if len(data) > _MOST_BYTES:
        raise FormatError(f"it is longer than {_MOST_BYTES} bytes")
    return Source(data, name).text
