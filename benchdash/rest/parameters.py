"""Query parameters: reading them, filtering lists by them, and describing them in the schema.

Every reader raises rest_framework's ValidationError, which names the parameter.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from django.db.models import Model, Q, QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request
from rest_framework.views import APIView

from benchdash import addresses
from benchdash.addresses import NOTHING
from benchdash.results.branches import branch_called
from benchdash.results.queries import ids_called
from benchdash.results.versions import COMMIT, parse_version
from benchdash.results.wording import nearest

MAX_INTEGER = 2**31 - 1
# An error names so many of the known names at most.
MAX_NAMES = 40
MAX_ID = 2**63 - 1
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)

# How the schema describes texts that are read here. An empty one is left out.
EMPTY_TEXT = {"type": "string", "maxLength": 0}
COMMIT_TEXT = {"type": "string", "pattern": "^([0-9a-fA-F]{7,40})?$"}
THREADS_TEXT = {"type": "string", "pattern": "^([0-9]{1,9}|null|none)?$"}
MOMENT_TEXT = {
    "anyOf": [
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "date"},
        EMPTY_TEXT,
    ]
}


def whole_number(*, least: int = 0, most: int = MAX_INTEGER) -> dict[str, Any]:
    """Describe what ``integer`` reads."""
    return {"type": "integer", "minimum": least, "maximum": most}


# --- one value --------------------------------------------------------------------------------------------


def refuse(name: str, message: str) -> ValidationError:
    return ValidationError({name: [message]})


def unknown(name: str, known: Iterable[str], *, what: str) -> str:
    """Return a sentence about a name that is none of the known ones."""
    names = sorted(known)
    near = nearest(name[:100], names)
    there_is = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names[:MAX_NAMES])}"
    return f"{name[:50]!r} is no {what} here; {there_is if names else 'there is none'}"


def texts(request: Request, name: str) -> list[str]:
    """Return all values of a repeatable parameter."""
    values = request.query_params.getlist(name)
    if any("\0" in value for value in values):
        raise refuse(name, "a text cannot hold the character NUL")
    return list(map(branch_called, values)) if name == "branch" else values


def text(request: Request, name: str) -> str | None:
    """Return the value of a parameter that may be given once, or None without it."""
    values = texts(request, name)
    if len(values) > 1:
        raise refuse(name, "this may be given only once")
    return values[0] if values else None


def required_text(request: Request, name: str) -> str:
    value = text(request, name)
    if not value:
        raise refuse(name, "this is required")
    return value


def integer(name: str, value: str, *, least: int = 0, most: int = MAX_INTEGER) -> int:
    if not _DIGITS.fullmatch(value) or not least <= int(value) <= most:
        raise refuse(name, f"{value[:50]!r} is not a whole number from {least} to {most}")
    return int(value)


def share(name: str, value: str) -> float:
    """Read a number from 0 to 1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    # NaN is within no bounds either.
    if not 0 <= number <= 1:
        raise refuse(name, f"{value[:50]!r} is not a number from 0 to 1")
    return number


def threads(value: str) -> int | None:
    """Read a thread count; None for ``null``, or ``none`` as pages write it, where nobody said."""
    return None if value in ("null", NOTHING) else integer("threads", value)


def choice(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise refuse(name, f"{value[:50]!r} is none of {', '.join(choices)}")
    return value


def boolean(name: str, value: str) -> bool:
    return choice(name, value.lower(), ("true", "false", "1", "0")) in {"true", "1"}


def wants_csv(request: Request) -> bool:
    """Say whether ``?format=csv`` is asked for; the default is ``json``."""
    return answer_format(request, "csv") == "csv"


def answer_format(request: Request, *others: str) -> str:
    """Return the format that ``?format=`` asks for: one of ``others``, or ``json``, the default."""
    return choice("format", text(request, "format") or "json", ("json", *others))


def moment(name: str, value: str, *, of_day: time = time.min) -> datetime:
    """Read a time or a day in ISO 8601, in UTC without an offset; a day means its time ``of_day``."""
    parsed = addresses.moment(value, of_day=of_day)
    if parsed is None:
        raise refuse(name, f"{value[:50]!r} is not a time in ISO 8601")
    return parsed


def commit(name: str, value: str) -> str:
    """Read a commit or the beginning of one, in lower case."""
    if not COMMIT.fullmatch(value.lower()):
        raise refuse(name, f"{value[:50]!r} is not 7 to 40 hex digits")
    return value.lower()


# --- filters of lists -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """A repeatable parameter of a list, which keeps the rows whose ``field`` has any of its values.

    An empty value is no filter, unless ``empty_counts``.
    """

    name: str
    field: str
    about: str
    empty_counts: bool = False

    def condition(self, values: Sequence[str]) -> Q:
        wanted = [value for value in values if value or self.empty_counts]
        if not wanted:
            return Q()
        return self.any_of(wanted)

    def any_of(self, values: Sequence[str]) -> Q:
        condition = self.fits(values[0])
        for value in values[1:]:
            condition |= self.fits(value)
        return condition

    def fits(self, value: str) -> Q:
        return Q(**{self.field: value})

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFilter(Filter):
    """A filter by name, current or old; ``field`` is a foreign key to ``model``."""

    model: type[Model]

    def any_of(self, values: Sequence[str]) -> Q:
        return Q(**{f"{self.field}__in": ids_called(self.model, values)})


class VersionFilter(Filter):
    """A filter by version that takes the text of a package too: ``10.6.23-MariaDB`` finds 10.6.23."""

    def fits(self, value: str) -> Q:
        return Q(**{f"{self.field}__in": {value, parse_version(value).version}})


class CommitFilter(Filter):
    def fits(self, value: str) -> Q:
        return Q(**{f"{self.field}__startswith": commit(self.name, value)})

    @property
    def schema(self) -> dict[str, Any]:
        return COMMIT_TEXT


class ThreadsFilter(Filter):
    def fits(self, value: str) -> Q:
        return Q(**{self.field: threads(value)})

    @property
    def schema(self) -> dict[str, Any]:
        return THREADS_TEXT


class IdFilter(Filter):
    def fits(self, value: str) -> Q:
        return Q(**{self.field: integer(self.name, value, most=MAX_ID)})

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [whole_number(most=MAX_ID), EMPTY_TEXT]}


class TagFilter(Filter):
    """A filter by an element of an array."""

    def fits(self, value: str) -> Q:
        return Q(**{f"{self.field}__contains": [value]})


class BooleanFilter(Filter):
    """A filter by a lookup that takes a boolean."""

    def fits(self, value: str) -> Q:
        return Q(**{self.field: boolean(self.name, value)})

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "boolean"}, EMPTY_TEXT]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceFilter(Filter):
    choices: Sequence[str]

    def fits(self, value: str) -> Q:
        return Q(**{self.field: choice(self.name, value, self.choices)})

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": [*self.choices, *([] if "" in self.choices else [""])]}


class Filters(BaseFilterBackend):
    """The filter backend that applies the ``filters`` of a list view."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        for one in _filters(view):
            queryset = queryset.filter(one.condition(texts(request, one.name)))
        return queryset

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """Describe the filters, and the project, which RowsView reads itself."""
        about = "the slug of a project; everything that you may see where it is left out"
        return [
            parameter("project", about, {"type": "string"}),
            *(
                parameter(one.name, one.about, {"type": "array", "items": one.schema})
                for one in _filters(view)
            ),
        ]


def parameter(name: str, about: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a query parameter that may be left out."""
    return {"name": name, "in": "query", "required": False, "description": about, "schema": schema}


def _filters(view: APIView) -> Sequence[Filter]:
    filters: Sequence[Filter] = getattr(view, "filters", ())
    return filters
