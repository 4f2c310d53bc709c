"""The columns of a comparison as the API takes them."""

import json
from collections.abc import Sequence
from typing import Final

from benchdash.dashboard.compare.selection import ChosenColumns
from benchdash.regressions.comparison.columns import Column

_SELECTOR: Final = ("id", "branch", "hardware", "configuration", "counterpart")


def threads_of_api(counts: Sequence[int | None]) -> list[tuple[str, str]]:
    return [("threads", "null" if count is None else str(count)) for count in counts]


def columns_of_api(columns: ChosenColumns) -> list[tuple[str, str]]:
    against = columns.others or columns.chosen
    return [
        *(("base", selector(column)) for column in [columns.base] if column),
        *(("against", selector(column)) for column in against),
    ]


def selector(column: Column) -> str:
    """Write a column as the API takes it."""
    place = column.as_json()
    return json.dumps({name: place[name] for name in _SELECTOR})
