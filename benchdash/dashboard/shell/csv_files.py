"""Tables as CSV files, for spreadsheets."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

from benchdash.results.csv_text import csv_text


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """``name`` is without its ``.csv``."""
    # Spreadsheets take a file without this mark for one of the system's old encoding.
    text = "\N{BYTE ORDER MARK}" + csv_text(columns, rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
