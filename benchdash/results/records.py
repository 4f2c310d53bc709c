"""The plain values that the door for files hands to the history."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from benchdash.results.readings import Direction, Reading

Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class MetricWishes:
    """The words of a sender or a person about a metric (see ``ProjectMetric``); None: not said."""

    unit: str | None = None
    direction: Direction | None = None
    watched: bool | None = None
    smallest_change: float | None = None
    smallest_change_absolute: float | None = None
    aggregation: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class SampleTable:
    """Interval samples or a distribution of one run: len(rows) x len(columns) numbers."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run with all its metadata decided, ready to be recorded. Secrets are masked before this.

    ``configuration_text`` is the content of the named configuration (None: not known); ``settings`` are the
    settings in it plus those switched at run time, before noise (ports, paths) is taken out.
    ``base_branch`` is where a pull request is to be merged.
    ``options`` are what the tool was told: a run whose options differ from those of its workload gets a
    warning. ``facts`` are what else is known of this run alone (command line, sequence, load): kept beside
    the options, never compared. ``metrics`` are what the sender says of the project's own metrics, by name.
    """

    key: str
    product: str
    version: str
    hardware: str
    workload: str
    started_at: datetime
    readings: tuple[Reading, ...]
    started_at_is_assumed: bool = False
    build: str = ""
    commit: str | None = None
    committed_at: datetime | None = None
    branch: str = ""
    base_branch: str = ""
    configuration: str = "default"
    configuration_text: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    hardware_facts: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)
    counterpart: str = ""
    threads: int | None = None
    repetition: int | None = None
    duration_s: float | None = None
    options: Mapping[str, Fact] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    notes: str = ""
    warnings: tuple[str, ...] = ()
    samples: tuple[SampleTable, ...] = ()
    metrics: Mapping[str, MetricWishes] = field(default_factory=dict)
