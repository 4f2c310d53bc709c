"""Fields of the form that contradict the files: the file wins over the last upload, and a person is asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from benchdash.results.versions import parse_version
from ingest.archives import services as archive_services
from ingest.metadata.fields import MAY_BE_DEFAULTS, Metadata
from ingest.receiving.arrivals import Arrival

USE_FILE: Final = "file"
_MAX_SHOWN: Final = 5


@dataclass(frozen=True)
class Contradiction:
    """A field that somebody typed, and what the files say instead."""

    field: str
    typed: str
    told: Sequence[str]
    more: int


def settle(
    arrival: Arrival, *, remembered: Collection[str], choice: str
) -> tuple[Arrival, list[Contradiction]]:
    """Return a file with what is said of it once the file has had its say, or what is to be asked first.

    ``remembered`` are fields that stand in the form from the last upload or by a guess: they give way to the
    file. The others were typed: with USE_FILE as ``choice`` they do, too, and without a choice it is asked.
    """
    metadata = arrival.metadata
    told = archive_services.told(arrival)
    said = {name: value for name in told if (value := getattr(metadata, name)) is not None}
    typed = {name: value for name, value in said.items() if name not in remembered}
    against = [name for name, value in typed.items() if _differs(name, value, told[name])]
    if against and not choice:
        return arrival, [_contradiction(name, typed[name], told[name]) for name in against]
    yielding = {*remembered, *(against if choice == USE_FILE else ())}
    otherwise = yielding.intersection(MAY_BE_DEFAULTS)
    if arrival.is_read_at_once:
        # All is known that it says: the rest holds as if it was typed, and the same upload stays the same.
        yielding = {name for name in yielding if name in told or (name == "map" and _gives(metadata, told))}
        otherwise = yielding.intersection(remembered)
    given = {name: value for name in yielding if (value := getattr(metadata, name))}
    without = {name: getattr(Metadata(), name) for name in given}
    defaults = {name: value for name, value in given.items() if name in otherwise}
    return replace(arrival, metadata=replace(metadata, **without, defaults=defaults)), []


def _differs(name: str, typed: Any, told: Collection[Any]) -> bool:
    if name == "version":
        typed, told = parse_version(typed).version, {parse_version(one).version for one in told}
    return set(told) != {typed}


def _gives(metadata: Metadata, told: Mapping[str, Any]) -> bool:
    """Return whether the map gives a field that the file says itself."""
    return any(name in told for entry in metadata.map.values() for name in entry)


def _contradiction(name: str, typed: Any, told: Collection[Any]) -> Contradiction:
    texts = sorted(map(str, told))
    return Contradiction(name, str(typed), texts[:_MAX_SHOWN], more=max(0, len(texts) - _MAX_SHOWN))
