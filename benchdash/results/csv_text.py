"""The text of CSV files, for pages and API alike."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

# Spreadsheets take a text that begins so for a formula, and would calculate what somebody uploaded.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV: None is an empty cell, and a text that would be calculated gets a ``'``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    # A row of the database is written as its name, which somebody uploaded.
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
