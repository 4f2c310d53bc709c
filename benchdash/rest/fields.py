"""``?fields=id,readings.metric``: the members of an answer that are wanted, and no others."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from rest_framework.request import Request

from benchdash.rendering import FastJSONRenderer
from benchdash.rest import parameters
from benchdash.rest.operations import Operation

PARAMETER: Final = "fields"
_PAGE: Final = frozenset({"results", "next"})

SELECTION: Final = parameters.parameter(
    PARAMETER,
    "only these members of the answer (of a list: of its rows), with commas, those of inner objects after a"
    " dot: `id,readings.value`. What is not asked for is left out, whatever is required otherwise",
    {"type": "string"},
)

# By name: what is wanted of a member; empty: all of it.
Wanted = dict[str, Any]


def is_selectable(operation: Operation) -> bool:
    """Return whether the operation answers with an object, or rows, whose members have names."""
    return bool(operation.answer) and bool(_rows(operation))


def wanted_fields(request: Request, operation: Operation) -> Wanted | None:
    """Return the members that a request asks for; None for all. Raises rest_framework's ValidationError."""
    asked = parameters.text(request, PARAMETER)
    if asked is None:
        return None
    if parameters.text(request, "format") not in (None, "json"):
        raise parameters.refuse(PARAMETER, "only an answer in JSON can be had in part")
    wanted: Wanted = {}
    whole: set[str] = set()
    for path in asked.split(","):
        names = path.strip().split(".")
        _require_known(names, operation)
        if any(".".join(names[:end]) in whole for end in range(1, len(names))):
            continue
        inner = wanted
        for name in names[:-1]:
            inner = inner.setdefault(name, {})
        inner[names[-1]] = {}
        whole.add(".".join(names))
    return wanted


def only(data: Any, wanted: Wanted) -> Any:
    """Return what is wanted of an answer that can be rendered as JSON."""
    plain = orjson.loads(FastJSONRenderer().render(data))
    if isinstance(plain, dict) and plain.keys() == _PAGE:
        return {**plain, "results": _part(plain["results"], wanted)}
    return _part(plain, wanted)


def _part(value: Any, wanted: Wanted) -> Any:
    if not wanted:
        return value
    if isinstance(value, list):
        return [_part(one, wanted) for one in value]
    if isinstance(value, dict):
        return {name: _part(value[name], inner) for name, inner in wanted.items() if name in value}
    return value


def _rows(operation: Operation) -> Mapping[str, Any] | None:
    members = operation.members(operation.answer)
    return operation.members(members["results"]) if members and members.keys() == _PAGE else members


def _require_known(names: Sequence[str], operation: Operation) -> None:
    members = _rows(operation)
    for place, name in enumerate(names):
        if members is None:
            return
        if name not in members:
            outer = f" in `{'.'.join(names[:place])}`" if place else ""
            raise parameters.refuse(PARAMETER, parameters.unknown(name, members, what=f"field{outer}"))
        members = operation.members(members[name])
