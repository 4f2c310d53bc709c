"""A queryset as the text of a part of a larger statement."""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet


def subquery(rows: QuerySet[Any, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return SQL of one column and its parameters, even for a queryset that can find nothing."""
    try:
        chosen, parameters = rows.order_by().query.sql_with_params()
    except EmptyResultSet:
        return "SELECT NULL::bigint WHERE false", ()
    return chosen, tuple(parameters)
