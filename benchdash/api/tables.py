"""Tables as CSV."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

from benchdash.results.csv_text import csv_text


def csv_answer(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A file to download, for programs: without a byte order mark."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(csv_text(columns, rows), content_type="text/csv; charset=utf-8", headers=headers)
