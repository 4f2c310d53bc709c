"""The columns of a comparison in addresses: their short ids, and what these mean."""

from collections.abc import Iterable

from benchdash.regressions.column_names import short_id
from benchdash.regressions.comparison import Column

__all__ = ["meant_by", "short_id"]


def meant_by(text: str, columns: Iterable[Column]) -> list[Column]:
    """The columns with this short id. The id of a version alone (``12``) means it at every place."""
    return [column for column in columns if text in (short_id(column), str(column.version.pk))]
