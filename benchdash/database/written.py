"""Querysets whose SQL is written once: Django takes five times as long for it as for asking and reading."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Expression, QuerySet
from django.db.models.query import ModelIterable, ValuesListIterable, get_related_populators

_Row = TypeVar("_Row")

# Of one queryset: each has a text of its own for each shape, as of each limit.
_MOST_SHAPES = 200


class Given(Expression):
    """Stands in a queryset for a value that is given whenever it is asked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:  # noqa: ARG002 - Django's signature
        return "%s", (self,)


def written(build: Callable[..., "QuerySet[Any, _Row]"]) -> Callable[..., list[_Row]]:
    """A function that asks the queryset which ``build`` gives.

    What the SQL depends on are positional arguments, and go to ``build``; values of ``Given`` are named ones,
    as the driver takes them. The queryset gives rows of its model or tuples, and fetches nothing by further
    statements.
    """

    @lru_cache(maxsize=_MOST_SHAPES)
    def statement(*shape: Hashable) -> "_Statement[_Row]":
        return _Statement(build(*shape))

    def ask(*shape: Hashable, **given: Any) -> list[_Row]:
        return statement(*shape).rows(given)

    return ask


class _Statement(Generic[_Row]):
    """What Django makes of a queryset before it asks, and how it reads the answer."""

    def __init__(self, queryset: "QuerySet[Any, _Row]") -> None:
        self._compiler: Any = queryset.query.get_compiler(connection=connection)
        self._sql, self._parameters = self._compiler.as_sql()
        self._converters = self._compiler.get_converters(
            [column for column, *_ in self._compiler.select[: self._compiler.col_count]]
        )
        making = _MAKING[queryset._iterable_class]
        self._made = making(self._compiler)

    def rows(self, given: dict[str, Any]) -> list[_Row]:
        parameters = [given[part.name] if isinstance(part, Given) else part for part in self._parameters]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, parameters)
            found: Any = cursor.fetchall()
        if self._converters:
            found = self._compiler.apply_converters(found, self._converters)
        return list(map(self._made, found))


def _tuples(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    # Columns that only give the order stand behind the others.
    return lambda row: tuple(row[: compiler.col_count])


def _models(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """As Django's ModelIterable makes them."""
    described, select = compiler.klass_info, compiler.select
    start, end = described["select_fields"][0], described["select_fields"][-1] + 1
    names = [column.target.attname for column, *_ in select[start:end]]
    related = get_related_populators(described, select, "default")  # type: ignore[call-arg] # of Django 6
    annotated = (compiler.annotation_col_map or {}).items()

    def made(row: Sequence[Any]) -> Any:
        one = described["model"].from_db("default", names, row[start:end])
        for populator in related:
            populator.populate(row, one)
        for name, at in annotated:
            setattr(one, name, row[at])
        return one

    return made


_MAKING: Mapping[type, Callable[[Any], Callable[[Sequence[Any]], Any]]] = {
    ModelIterable: _models,
    ValuesListIterable: _tuples,
}
