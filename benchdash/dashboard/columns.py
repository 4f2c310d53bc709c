"""The columns of a comparison in addresses: their short ids, and what these mean."""

from collections.abc import Iterable
from typing import Final

from benchdash.regressions.column_names import short_id
from benchdash.regressions.comparison import Column

_LONGEST_ID: Final = 20

__all__ = ["meant_by", "short_id"]


def meant_by(text: str, columns: Iterable[Column]) -> list[Column]:
    """The columns with this short id. The id of a version alone (``12``) means it at every place."""
    version = text.partition(".")[0]
    if not (version.isascii() and version.isdigit() and len(version) < _LONGEST_ID):
        return []
    # Of the thousands that a project has, few are of the version.
    pk = int(version)
    of_version = (column for column in columns if column.version.pk == pk)
    return [column for column in of_version if text in (short_id(column), str(pk))]
