"""Tables as CSV files."""

import csv
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """``name`` is without its ``.csv``. None is an empty cell; numbers are written in full."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    # Spreadsheets take a file without this mark for one of the system's old encoding.
    answer.write("\N{BYTE ORDER MARK}")
    writer = csv.writer(answer)
    writer.writerow(columns)
    writer.writerows(rows)
    return answer
