"""Formats of the files that lie beside a result: one module each, found by being here.

A companion format is a module with ``recognise(head: bytes) -> bool`` and
``parse(source: Source) -> CompanionReport``. ``recognise`` is exclusive, as for results.
"""

import importlib
import pkgutil
from typing import Protocol, cast

from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source


class CompanionFormat(Protocol):
    def recognise(self, head: bytes) -> bool: ...
    def parse(self, source: Source) -> CompanionReport: ...


def _find_formats() -> dict[str, CompanionFormat]:
    modules = {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    }
    return {
        name: cast(CompanionFormat, module)
        for name, module in sorted(modules.items())
        if hasattr(module, "recognise")
    }


COMPANION_FORMATS: dict[str, CompanionFormat] = _find_formats()


def recognise(source: Source) -> str | None:
    """The name of the one companion format that knows this file, or None.

    Raises FormatError for a file that is no text, and where more than one format knows it.
    """
    source.text  # noqa: B018 - refuses empty and binary files with a better sentence
    names = [name for name, format_ in COMPANION_FORMATS.items() if format_.recognise(source.head)]
    if len(names) > 1:
        raise FormatError(f"the file looks like {' and like '.join(names)}")
    return names[0] if names else None
