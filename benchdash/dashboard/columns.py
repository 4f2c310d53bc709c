"""The columns of a comparison in addresses: their short ids, and what these mean."""

from collections.abc import Iterable

from benchdash.database.ids import ids_in
from benchdash.regressions.column_names import short_id
from benchdash.regressions.comparison import Column

__all__ = ["meant_by", "short_id"]


def meant_by(text: str, columns: Iterable[Column]) -> list[Column]:
    """The columns with this short id. The id of a version alone (``12``) means it at every place."""
    versions = ids_in([text.partition(".")[0]])
    # Of the thousands that a project has, few are of the version.
    of_version = (column for column in columns if column.version.pk in versions)
    return [column for column in of_version if text in (short_id(column), *map(str, versions))]
