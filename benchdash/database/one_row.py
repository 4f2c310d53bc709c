"""One row by its key, which every request asks for: writing its SQL takes longer than running it."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

_Row = TypeVar("_Row", bound=Model)
_Converter = Callable[[Any], Any]


def one_row(
    model: type[_Row], condition: str, parameters: Sequence[Any], *, related: str = ""
) -> _Row | None:
    """Return a row that fulfils the condition, or None.

    ``condition`` is SQL in which the table is called ``found``. ``related`` is a foreign key, never null,
    whose row is read too.
    """
    with connection.cursor() as cursor:
        cursor.execute(_statement(model, condition, related), parameters)
        values = cursor.fetchone()
    if values is None:
        return None
    columns = len(model._meta.concrete_fields)
    found = _made(model, values[:columns])
    if related:
        field: Any = model._meta.get_field(related)
        field.set_cached_value(found, _made(field.related_model, values[columns:]))
    return found


@cache
def _statement(model: type[Model], condition: str, related: str) -> str:
    tables, columns = f"{model._meta.db_table} found", _columns(model, "found")
    if related:
        field: Any = model._meta.get_field(related)
        other = field.related_model
        tables += (
            f" JOIN {other._meta.db_table} other ON other.{other._meta.pk.column} = found.{field.column}"
        )
        columns += _columns(other, "other")
    return f"SELECT {', '.join(columns)} FROM {tables} WHERE {condition} LIMIT 1"  # noqa: S608 - our own names


def _columns(model: type[Model], table: str) -> list[str]:
    return [f'{table}."{field.column}"' for field in model._meta.concrete_fields]


def _made(model: type[_Row], values: Sequence[Any]) -> _Row:
    names, converters = _reading(model)
    converted = list(values)
    for at, convert in converters:
        converted[at] = convert(converted[at])
    return model.from_db("default", names, converted)


@cache
def _reading(model: type[Model]) -> tuple[list[str], list[tuple[int, _Converter]]]:
    """Return the attributes of a row, and the converters of fields such as JSON, by position."""
    fields = model._meta.concrete_fields
    converters = [
        (at, _converter(field, convert))
        for at, field in enumerate(fields)
        for convert in field.get_db_converters(connection)
    ]
    return [field.attname for field in fields], converters


def _converter(field: Any, convert: Callable[..., Any]) -> _Converter:
    column = field.get_col(field.model._meta.db_table)
    return lambda value: convert(value, column, connection)
