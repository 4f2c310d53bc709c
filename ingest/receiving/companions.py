"""The words of files beside a result: the settings, the machine, and what it did meanwhile."""

import logging
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from benchdash.results.readings import Reading
from benchdash.results.records import Fact, SampleTable
from benchdash.results.stability import RUN_TIME, TIME
from ingest.formats import companions as companion_formats
from ingest.formats.configuration import Content, is_configuration, read_content
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source
from ingest.masking import mask_settings, mask_text
from ingest.models import Companion
from ingest.receiving.arrivals import CompanionFile, clean_file_name, distinct_files, result_limits
from ingest.storage.raw_bytes import RawData

logger = logging.getLogger(__name__)

CONFIGURATION: Final = "configuration"
# If two say the same, the one counts that says it more exactly or nearer to its source.
_ORDER: Final = (
    "lscpu",
    "cpuinfo",
    "systeminfo",
    "uname",
    "free",
    "mpstat",
    "iostat",
    "dstat",
    "pmrep",
    "vmstat",
)
# Longer ones are no configuration, and no output of a tool for a run.
_MAX_CONFIGURATION_BYTES: Final = 1024 * 1024
_MAX_BYTES: Final = 8 * 1024 * 1024
_MAX_SAMPLES: Final = 20_000
# The zones of the world differ by multiples of a quarter of an hour, nearly all by multiples of this.
_ZONES_APART_S: Final = 30 * 60


@dataclass(frozen=True, slots=True)
class CompanionFacts:
    """The facts of the files beside one result, masked.

    ``content`` is that of the configuration files, of which later ones win; ``content_found`` that of
    companions which turned out to be some, and is None where ``content`` has them too. ``formats`` are by
    kind and SHA-256 of the files: a companion format, ``configuration``, or nothing for one only kept.
    ``began_s`` is, by source, the time of day at which its samples begin, as far as it was printed.
    """

    content: Content | None = None
    content_found: Content | None = None
    samples: tuple[SampleTable, ...] = ()
    began_s: Mapping[str, float] = field(default_factory=dict)
    means: tuple[Reading, ...] = ()
    hardware: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    formats: Mapping[tuple[str, str], str] = field(default_factory=dict)


NOTHING: Final = CompanionFacts()


@dataclass(frozen=True, slots=True)
class _Read:
    """The facts of one file. ``text`` is that of a configuration, which its sender may have declared."""

    format: str = ""
    text: str | None = None
    report: CompanionReport = field(default_factory=CompanionReport)
    is_declared: bool = False


def facts_of(companions: Iterable[CompanionFile]) -> CompanionFacts:
    """Return what the files beside a result say."""
    distinct = distinct_files(companions)
    if not distinct:
        return NOTHING
    read_as = {key: _read(one) for key, one in distinct.items()}
    found = list(read_as.values())
    reports = [one for one in found if one.format in companion_formats.COMPANION_FORMATS]
    reports.sort(key=lambda one: _ORDER.index(one.format) if one.format in _ORDER else len(_ORDER))
    declared = [one.text for one in found if one.text is not None and one.is_declared]
    recognised = [one.text for one in found if one.text is not None and not one.is_declared]
    content, content_warnings = _content([*recognised, *declared])
    samples, began_s, sample_warnings = _samples(reports)
    return CompanionFacts(
        content=content if declared else None,
        content_found=None if declared else content,
        samples=samples,
        began_s=began_s,
        means=_means(reports),
        hardware=mask_settings(ChainMap(*(dict(one.report.hardware) for one in reports))),
        environment=mask_settings(ChainMap(*(dict(one.report.environment) for one in reports))),
        warnings=(
            *(warning for one in found for warning in one.report.warnings),
            *content_warnings,
            *sample_warnings,
        ),
        formats={key: one.format for key, one in read_as.items()},
    )


def _content(texts: Sequence[str]) -> tuple[Content | None, list[str]]:
    """Return what configurations say, and a warning where they take longer than they may."""
    text = "\n".join(texts)
    try:
        with result_limits().budget(len(text)):
            return (read_content(text) if texts else None), []
    except FormatError as error:
        return None, [f"configuration files are kept and were not read: {error.message}"]


def _read(file: CompanionFile) -> _Read:
    """Read a file. What cannot be read becomes a warning that names it."""
    is_declared = file.kind == Companion.Kind.CONFIGURATION
    name = clean_file_name(file.name)
    try:
        with result_limits().budget(file.data.size):
            found = _parsed(file.data, name, is_declared=is_declared)
    except FormatError as error:
        what = "configuration file" if is_declared else "companion"
        line = f"line {error.line}: " if error.line else ""
        warning = f"the {what} '{name}' is kept and was not read: {line}{mask_text(error.message)}"
        return _Read(report=CompanionReport(warnings=(warning,)))
    warnings = tuple(f"the companion '{name}': {mask_text(one)}" for one in found.report.warnings)
    return replace(found, report=replace(found.report, warnings=warnings))


def _parsed(data: RawData, file_name: str, *, is_declared: bool) -> _Read:
    """Read a companion. Raises FormatError for what is no text, too long, or broken."""
    longest = _MAX_CONFIGURATION_BYTES if is_declared else _MAX_BYTES
    if data.size > longest:
        raise FormatError(f"it is longer than {longest} bytes")
    source = Source(data.read(), file_name)
    if is_declared:
        return _Read(CONFIGURATION, source.text, is_declared=True)
    name = companion_formats.recognise(source)
    if name is None:
        is_settings = data.size <= _MAX_CONFIGURATION_BYTES and is_configuration(source.text)
        return _Read(CONFIGURATION, source.text) if is_settings else _Read()
    try:
        return _Read(name, report=companion_formats.COMPANION_FORMATS[name].parse(source))
    except FormatError:
        raise
    except Exception:
        # The result is no less good for a fault in reading what lies beside it.
        logger.exception("the companion format %s failed on %s", name, file_name)
        raise FormatError("it could not be read because of a fault in benchdash") from None


def _samples(reports: Sequence[_Read]) -> tuple[tuple[SampleTable, ...], dict[str, float], list[str]]:
    """Return the tables under distinct names of sources, the times of day at which they begin, and warnings.

    Tables that are too long are left out.
    """
    tables: dict[str, SampleTable] = {}
    began: dict[str, float] = {}
    warnings = []
    for report, table in ((one.report, table) for one in reports for table in one.report.samples):
        if len(table.rows) > _MAX_SAMPLES:
            warnings.append(
                f"{len(table.rows)} samples of {table.source} are more than {_MAX_SAMPLES}: "
                "their means are kept, they are not"
            )
            continue
        number = sum(name.split()[0] == table.source for name in tables) + 1
        source = table.source if number == 1 else f"{table.source} {number}"
        tables[source] = SampleTable(source, table.columns, table.rows)
        if report.began_s is not None:
            began[source] = report.began_s
    return tuple(tables.values()), began, warnings


def _means(reports: Sequence[_Read]) -> tuple[Reading, ...]:
    means: dict[str, Reading] = {}
    for one in reports:
        for mean in one.report.means:
            means.setdefault(mean.metric, mean)
    return tuple(means.values())


# --- the time of the samples --------------------------------------------------------------------------------


def on_the_time_of_the_run(
    table: SampleTable, began_s: float, started_at: datetime, duration_s: float | None
) -> SampleTable:
    """Count the seconds of a table from the start of the run, in a column ``run_s``.

    ``began_s`` is a time of day in a zone that the tool did not print, ``started_at`` is in UTC. Sampling is
    taken to have begun within a quarter of an hour of the run, which leaves one difference of zones. A table
    that then has nothing of the run stays as it is: one of the two clocks is wrong.
    """
    if TIME not in table.columns or not table.rows:
        return table
    # From minus to plus a quarter of an hour.
    half = _ZONES_APART_S / 2
    midnight = started_at.replace(hour=0, minute=0, second=0, microsecond=0)
    difference = began_s - (started_at - midnight).total_seconds()
    offset = (difference + half) % _ZONES_APART_S - half
    at = table.columns.index(TIME)
    times = [row[at] for row in table.rows if row[at] is not None]
    ends = max((time for time in times if time is not None), default=0.0) + offset
    if ends <= 0 or (duration_s is not None and offset >= duration_s):
        return table
    columns = tuple(RUN_TIME if name == TIME else name for name in table.columns)
    return replace(table, columns=columns, rows=tuple(_shifted(row, at, offset) for row in table.rows))


def _shifted(row: tuple[float | None, ...], at: int, offset: float) -> tuple[float | None, ...]:
    time = row[at]
    return row if time is None else (*row[:at], round(time + offset, 3), *row[at + 1 :])
