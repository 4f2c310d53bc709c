"""Limits of the cost of one file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from ingest.budget import OverBudgetError, cpu_budget
from ingest.formats.report import FormatError

_BYTES_PER_SECOND = 1_000_000
_SEND_PARTS = "send what is in it as several files"
_REFUSALS = {
    "file_bytes": f"the file has {{}} bytes, more than {{}} (RESULT_FILE_MAX_BYTES); {_SEND_PARTS}",
    "line_bytes": (
        "a line of {} bytes, more than {} (RESULT_LINE_MAX_BYTES): a tool does not print such lines"
    ),
    "json_bytes": f"JSON of {{}} bytes, more than {{}} (RESULT_JSON_MAX_BYTES); {_SEND_PARTS}",
    "json_values": f"JSON of up to {{}} values, more than {{}} (RESULT_JSON_MAX_VALUES); {_SEND_PARTS}",
    "lines": f"the file has {{}} lines, more than {{}} (RESULT_MAX_LINES); {_SEND_PARTS}",
    "cells": f"a table of up to {{}} cells, more than {{}} (RESULT_TABLE_MAX_CELLS); {_SEND_PARTS}",
    "cpu_seconds": (
        "reading it took more than {} s of CPU time (RESULT_MAX_CPU_SECONDS); send only what the tool "
        "printed, and much of it as several files"
    ),
    "runs": "more than {1} runs (RESULT_MAX_RUNS); send them as several files",
}


_Found = TypeVar("_Found")
_MAX_REMEMBERED_LENGTH = 100


def remembering(function: Callable[[str], _Found]) -> Callable[[str], _Found]:
    """Return the function of a text with what it returned for short texts kept.

    Every file has the heads of the one before; long texts would only fill the memory.
    """
    remembered = lru_cache(maxsize=2000)(function)

    @wraps(function)
    def answer(text: str) -> _Found:
        return remembered(text) if len(text) <= _MAX_REMEMBERED_LENGTH else function(text)

    return answer


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is read of one file. Ingest takes them from its settings, which the refusals name."""

    file_bytes: int = 200 * 1024 * 1024
    line_bytes: int = 1024 * 1024
    json_bytes: int = 50 * 1024 * 1024
    json_values: int = 1_000_000
    lines: int = 400_000
    cells: int = 100_000
    samples: int = 100_000
    runs: int = 10_000
    # And one more for each megabyte, of which tools' files take a quarter of a second.
    cpu_seconds: float = 10

    def check(self, limit: str, size: int, line: int | None = None) -> None:
        """Raise FormatError where a size is beyond the limit of this name."""
        most = getattr(self, limit)
        if size > most:
            raise FormatError(_REFUSALS[limit].format(size, most), line)

    @contextmanager
    def budget(self, file_bytes: int) -> Iterator[None]:
        """Raise FormatError where what is read within takes more CPU time than a file of this size may."""
        seconds = self.cpu_seconds + file_bytes / _BYTES_PER_SECOND
        try:
            with cpu_budget(seconds):
                yield
        except OverBudgetError as error:
            raise FormatError(_REFUSALS["cpu_seconds"].format(f"{seconds:.3g}"), error.line) from None

    def samples_beyond(self, missing: int) -> str:
        """Return the warning about interval samples that a report leaves out."""
        return f"{missing} interval samples beyond {self.samples} (RESULT_MAX_SAMPLES) are not kept"


DEFAULT_LIMITS = Limits()
