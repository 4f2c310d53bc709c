"""The result of a format: a parsed report, or an error that names the line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from benchdash.results.readings import Reading

Fact = str | int | float | bool | None


_MAX_MESSAGE_LENGTH = 1000
_MAX_LISTED = 3


def listed(names: Sequence[str]) -> str:
    """Return the first names for a message, and how many more there are."""
    beyond = len(names) - _MAX_LISTED
    return ", ".join(names[:_MAX_LISTED]) + (f" and {beyond} more" if beyond > 0 else "")


class FormatError(Exception):
    """A file that cannot be understood, with a sentence for the person who sent it.

    ``line`` counts from 1 and is None where no single line is to blame. ``read_as`` is the format that the
    file was read as, empty where none recognises it.
    """

    def __init__(self, message: str, line: int | None = None, *, read_as: str = "") -> None:
        message = message if len(message) <= _MAX_MESSAGE_LENGTH else f"{message[:_MAX_MESSAGE_LENGTH]}…"
        super().__init__(message)
        self.message = message
        self.line = line
        self.read_as = read_as

    @property
    def sentence(self) -> str:
        """The message, with the format that the file was read as where it does not name it."""
        tool = self.read_as.partition("_")[0]
        names_it = tool.casefold() in self.message.casefold()
        return self.message if names_it else f"{self.message} (read as {self.read_as})"


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Why a file that resembles a format is none of it.

    ``message`` finishes the sentence "the file is nearest to sysbench, but ...": what is missing, and what to
    do. ``marks`` is how many lines are such as this format has; of several formats the one with most counts.
    """

    message: str
    line: int | None = None
    marks: int = 1


@dataclass(frozen=True, slots=True)
class ParsedRun:
    """One execution that a file tells of. What the file does not say is None.

    ``key`` names the run within its file and stays the same when a better parser reads the file again:
    ``""`` where the file holds one run, else made of what tells the runs apart (``DO 1/ConnectorJ-5.1``).
    ``column`` is the text that a sender's ``map`` is matched against: a column, row or benchmark name; so are
    ``headings``, those that it stands under in a document, the outermost first. ``heading`` is what tells it
    from runs of the same workload under other headings, empty where nothing needs to: it is the configuration
    of the run, unless the sender says what else it is. ``command`` is the line that called the tool, masked.
    ``settings`` are server settings that the file says were switched for this run. ``lost`` names fields
    (``threads``) that the tool always prints and this file lost: the sender must say them.
    """

    readings: tuple[Reading, ...]
    key: str = ""
    column: str | None = None
    headings: tuple[str, ...] = ()
    heading: str = ""
    product: str | None = None
    version: str | None = None
    build: str | None = None
    commit: str | None = None
    committed_at: datetime | None = None
    configuration: str | None = None
    counterpart: str | None = None
    workload: str | None = None
    threads: int | None = None
    repetition: int | None = None
    started_at: datetime | None = None
    duration_s: float | None = None
    command: str = ""
    options: Mapping[str, Fact] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intervals:
    """Numbers that a tool printed while it ran, or a distribution: a small table that belongs to one run.

    ``source`` is ``sysbench`` (one row a report interval), ``iterations`` (JMH's raw data) or ``histogram``
    (columns ``latency_ms``, ``count``, or ``from_ms``, ``to_ms``, ``count``); that of one operation is called
    ``read histogram``. Missing cells are None.
    """

    run: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """All that a format found in one file. ``facts`` hold for every run: tool, its version."""

    runs: tuple[ParsedRun, ...]
    intervals: tuple[Intervals, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompanionReport:
    """The words of a file beside a result about the machine, and of the run during which it was written.

    ``samples`` belong to the run ``""``. ``means`` are readings over the run (``cpu_user``,
    ``context_switches_per_s``), without what was measured before it. ``hardware`` facts stay as long as the
    machine does (CPU model, CPUs), ``environment`` facts are those of the moment (kernel, governor).
    ``began_s`` is the time of day, in seconds and in a zone that nobody knows, at which ``time_s`` of the
    samples is 0; None where the tool printed no time of day.
    """

    samples: tuple[Intervals, ...] = ()
    began_s: float | None = None
    means: tuple[Reading, ...] = ()
    hardware: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
