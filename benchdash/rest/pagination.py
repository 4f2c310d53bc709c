"""Lists in pages: ``{"results": [...], "next": url or null}``."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db.models import Q
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from benchdash.rest import parameters

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000

_LIMIT: Final = {**parameters.whole_number(least=1), "default": DEFAULT_LIMIT}
_PARAMETERS: Final = (
    parameters.parameter("limit", f"how many at most; more than {MAX_LIMIT} are given in pages", _LIMIT),
    parameters.parameter("cursor", "where a page begins; taken from `next`", {"type": "string"}),
)
# For views that page by themselves.
PAGE_PARAMETERS: Final = [
    OpenApiParameter(one["name"], one["schema"], description=one["description"]) for one in _PARAMETERS
]


class Pages(BasePagination):
    """Pages by a cursor: each begins after the last row of the one before, whatever is added or removed.

    The view's ``order`` names fields that are never null and together unique; "-" before all or none.
    """

    _next: str | None = None

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        order, limit = _order(view), self.limit(request)
        if cursor := parameters.text(request, "cursor"):
            queryset = queryset.filter(_behind(_opened(cursor, _salt(request)), order))
        return self.page(list(queryset.order_by(*order)[: limit + 1]), limit, request, view)

    def limit(self, request: Request) -> int:
        value = parameters.text(request, "limit")
        return min(parameters.integer("limit", value, least=1), MAX_LIMIT) if value else DEFAULT_LIMIT

    def page_of(self, rows: Sequence[Any], request: Request, view: APIView) -> list[Any]:
        """Return a page of rows that are no query, in the order of the view's first field."""
        limit, [name, *_] = self.limit(request), _order(view)
        if cursor := parameters.text(request, "cursor"):
            [last, *_] = _opened(cursor, _salt(request))
            rows = [row for row in rows if getattr(row, name) > last]
        return self.page(list(rows[: limit + 1]), limit, request, view)

    def page(self, rows: list[Any], limit: int, request: Request, view: APIView | None) -> list[Any]:
        """Return at most ``limit`` rows; one more in ``rows`` means that another page follows."""
        if len(rows) > limit:
            # Signed without a time: the same page is the same bytes.
            cursor = Signer(salt=_salt(request)).sign_object(_values(rows[limit - 1], _order(view)))
            self._next = replace_query_param(
                f"{settings.SITE_URL}{request.get_full_path()}", "cursor", cursor
            )
        return rows[:limit]

    def get_paginated_response(self, data: Any) -> Response:
        headers = {"Link": f'<{self._next}>; rel="next"'} if self._next else None
        return Response({"results": data, "next": self._next}, headers=headers)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["results", "next"],
            "properties": {
                "results": schema,
                "next": {
                    "type": ["string", "null"],
                    "format": "uri",
                    "description": "the address of the next page; null on the last one",
                },
            },
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:  # noqa: ARG002 - DRF calls it so
        return list(_PARAMETERS)


def _order(view: APIView | None) -> Sequence[str]:
    order: Sequence[str] = getattr(view, "order", ("pk",))
    return order


def _salt(request: Request) -> str:
    return f"cursor of {request.path}"


def _opened(cursor: str, salt: str) -> list[Any]:
    try:
        values: list[Any] = Signer(salt=salt).unsign_object(cursor)
    except BadSignature:
        raise parameters.refuse("cursor", "this is not a cursor of this list") from None
    return values


def _values(row: Any, order: Sequence[str]) -> list[Any]:
    return [_value(row, name.removeprefix("-")) for name in order]


def _value(row: Any, field: str) -> Any:
    for name in field.split("__"):
        row = getattr(row, name)
    return row.isoformat() if isinstance(row, datetime) else row


def _behind(values: Sequence[Any], order: Sequence[str]) -> Q:
    """Select the rows that come after the one with these values."""
    condition = Q()
    for name, value in reversed(list(zip(order, values, strict=True))):
        field, comparison = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
        further = Q(**{f"{field}__{comparison}": value})
        condition = further | (Q(**{field: value}) & condition) if condition else further
    return condition
