"""Tables as CSV."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

from benchdash.results.csv_text import csv_text


def csv_answer(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """Return a CSV file to download; without a byte order mark, as programs expect it."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(csv_text(columns, rows), content_type="text/csv; charset=utf-8", headers=headers)
