"""The text of a file, decoded once, with its lines counted."""

import codecs
from functools import cached_property

from ingest.formats.report import FormatError

HEAD_BYTES = 64 * 1024


class Source:
    """A file as a format reads it. ``name`` is the sender's file name, for messages only."""

    def __init__(self, data: bytes, name: str = "") -> None:
        self.data = data
        self.name = name

    @property
    def head(self) -> bytes:
        """The first bytes, for ``recognise``; without a byte order mark."""
        return self.data[:HEAD_BYTES].removeprefix(codecs.BOM_UTF8)

    @cached_property
    def text(self) -> str:
        """The whole file as text with ``\\n`` line ends.

        Raises FormatError for an empty file, binary data, and any encoding but UTF-8.
        """
        data = self.data.removeprefix(codecs.BOM_UTF8)
        if not data.strip():
            raise FormatError("the file is empty")
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise FormatError("the file is UTF-16; save it as UTF-8 and send it again", line=1)
        if (nul := data.find(b"\0")) >= 0:
            raise FormatError("a NUL byte: this is not a text file", line=_line_of(data, nul))
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = _line_of(data, error.start)
            raise FormatError(
                "the text is not UTF-8; convert the file to UTF-8 and send it again", line
            ) from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; line number n of a message is ``lines[n - 1]``."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines

    @property
    def ends_with_newline(self) -> bool:
        return self.text.endswith("\n")


def _line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
