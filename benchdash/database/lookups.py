"""``__in`` with an array: one parameter of a statement, however many values there are.

PostgreSQL takes at most 65,535 parameters, and a list of runs may well be longer.
"""

from typing import Any

from django.db.models import Field
from django.db.models.fields.related import ForeignObject
from django.db.models.fields.related_lookups import RelatedIn
from django.db.models.lookups import In


class _AsArray(In):
    """``= ANY(array)`` in place of ``IN (value, value, ...)``."""

    def process_rhs(self, compiler: Any, connection: Any) -> Any:
        placeholders, values = super().process_rhs(compiler, connection)
        if not self.rhs_is_direct_value() or set(placeholders.strip("()").split(", ")) != {"%s"}:
            return placeholders, values  # a subquery, or expressions among the values
        return "%s", [list(values)]

    def get_rhs_op(self, connection: Any, rhs: str) -> str:
        return "= ANY(%s)" if rhs == "%s" else super().get_rhs_op(connection, rhs)


class _RelatedAsArray(_AsArray, RelatedIn):
    pass


def send_lists_as_arrays() -> None:
    """Use arrays for every ``__in``, including those that Django itself makes."""
    Field.register_lookup(_AsArray)
    ForeignObject.register_lookup(_RelatedAsArray)
