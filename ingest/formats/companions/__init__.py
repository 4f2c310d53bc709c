"""Formats of the files that lie beside a result: one module each, found by being here.

A companion format is a module with ``recognise(head: bytes) -> bool`` and
``parse(source: Source) -> CompanionReport``. ``recognise`` is exclusive, as for results.
"""

from typing import Protocol, cast

from ingest.budget import check_budget
from ingest.formats import find_formats
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source


class CompanionFormat(Protocol):
    def recognise(self, head: bytes) -> bool: ...
    def parse(self, source: Source) -> CompanionReport: ...


COMPANION_FORMATS = {
    name: cast(CompanionFormat, module) for name, module in sorted(find_formats(__name__, __path__))
}


def recognise(source: Source) -> str | None:
    """Return the name of the one companion format that knows this file, or None.

    Raise FormatError for a file that is no text, and where more than one format knows it.
    """
    source.check()
    names = []
    for name, format_ in COMPANION_FORMATS.items():
        check_budget()
        if format_.recognise(source.head):
            names.append(name)
    if len(names) > 1:
        raise FormatError(f"the file looks like {' and like '.join(names)}")
    return names[0] if names else None
