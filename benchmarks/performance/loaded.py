"""What requests choose from at random, as it is kept beside a filled database."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

_FILE = "loaded.json"


@dataclass(frozen=True, slots=True)
class Detail:
    """What lies on the machine that measured in detail; empty where it was not loaded.

    ``columns`` are the ids of its releases in the addresses of pages, ``releases`` those of the machine that
    measured all; ``commits`` are of its branch, oldest first; ``workloads`` are ids by name.
    """

    releases: Sequence[str] = ()
    columns: Sequence[str] = ()
    commits: Sequence[str] = ()
    workloads: Mapping[str, int] = field(default_factory=dict)
    run_ids: Sequence[int] = ()
    upload_ids: Sequence[int] = ()
    articles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """``long`` are the ids of the long series by their length. ``bytes_beside`` are those of other tables
    than that of measurements, with indexes.
    """

    slug: str
    token: str
    session: str
    measurements: int
    bytes_of_measurements: int
    bytes_of_database: int
    nightly_series: Sequence[int]
    long: dict[int, int]
    run_ids: Sequence[int]
    incident_ids: Sequence[int]
    detail: Detail = field(default_factory=Detail)
    bytes_beside: Mapping[str, int] = field(default_factory=dict)


def read_loaded(var: Path) -> Loaded | None:
    """None where nothing was loaded yet."""
    kept = var / _FILE
    if not kept.exists():
        return None
    found = json.loads(kept.read_text())
    found["long"] = {int(length): pk for length, pk in found["long"].items()}
    found["detail"] = Detail(**found.get("detail", {}))
    return Loaded(**found)


def write_loaded(var: Path, loaded: Loaded) -> None:
    (var / _FILE).write_text(json.dumps(asdict(loaded)))
