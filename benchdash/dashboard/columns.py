"""The columns of a comparison in addresses: short ids."""

from collections.abc import Iterable

from benchdash.regressions.comparison import Column


def short_id(column: Column) -> str:
    """``12.3.1``: version, hardware, configuration; ``~branch`` and ``~counterpart`` where it has them."""
    text = f"{column.version.pk}.{column.hardware_id}.{column.configuration_id}"
    if column.branch or column.counterpart:
        text += f"~{column.branch}"
    return f"{text}~{column.counterpart}" if column.counterpart else text


def meant_by(text: str, columns: Iterable[Column]) -> list[Column]:
    """The columns with this short id. The id of a version alone (``12``) means it at every place."""
    return [column for column in columns if text in (short_id(column), str(column.version.pk))]
