"""The checks of records that come in; each trouble is a sentence for the sender."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django.db.models import Model

from benchdash.results.models import Configuration, Hardware, Product, Run, Series, ServerVersion, Workload
from benchdash.results.readings import DERIVED, HIGHER, LOWER, UNKNOWN, Reading
from benchdash.results.records import RunRecord, SampleTable
from benchdash.results.versions import parse_version

_MAX_INTEGER = 2**31 - 1
_MAX_SOURCE_LENGTH = 50
_MAX_COLUMN_LENGTH = 100
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}")


class RecordError(Exception):
    """Records that cannot be stored, with a sentence for the person who sent them."""


def check_records(records: Sequence[RunRecord]) -> None:
    """Refuse records that the history cannot hold. Raises RecordError for the first trouble."""
    keys: set[str] = set()
    for record in records:
        if record.key in keys:
            raise RecordError(f"two runs of this file have the same key {record.key!r}")
        keys.add(record.key)
        for trouble in _troubles(record):
            raise RecordError(f"run {record.key!r}: {trouble}" if record.key else trouble)


def _troubles(record: RunRecord) -> Iterator[str]:
    for name, text, longest in _names(record):
        yield from _text_troubles(name, text, longest=longest)
    for name in ("product", "hardware", "workload", "configuration"):
        if not getattr(record, name).strip():
            yield f"the {name} is empty"
    for tag in record.tags:
        yield from _text_troubles("a tag", tag, longest=100)
    for name, text in (("notes", record.notes), ("configuration", record.configuration_text or "")):
        yield from _text_troubles(name, text)
    for name in ("options", "facts", "settings", "environment", "hardware_facts"):
        yield from _facts_troubles(name.replace("_", " "), getattr(record, name))
    for name in ("threads", "repetition"):
        number = getattr(record, name)
        if number is not None and not 0 <= number <= _MAX_INTEGER:
            yield f"{name} is {number}, which is not between 0 and {_MAX_INTEGER}"
    if record.commit is not None and not _COMMIT.fullmatch(record.commit):
        yield f"the commit {record.commit!r} is not 7 to 40 hex digits"
    for name in ("started_at", "committed_at"):
        moment = getattr(record, name)
        if moment is not None and moment.tzinfo is None:
            yield f"{name} says no time zone"
    if record.duration_s is not None and not math.isfinite(record.duration_s):
        yield f"the duration is {record.duration_s}, which is not a finite number"
    yield from _reading_troubles(record.readings)
    yield from _sample_troubles(record.samples)


def _names(record: RunRecord) -> Iterator[tuple[str, str, int]]:
    """Yield each name of a record: what it names, the name, and how long that may be."""
    yield "key", record.key, _longest(Run, "key")
    yield "product", record.product, _longest(Product, "name")
    yield "version", parse_version(record.version).version, _longest(ServerVersion, "version")
    yield "build", record.build, _longest(ServerVersion, "build")
    yield "branch", record.branch, _longest(Run, "branch")
    yield "hardware", record.hardware, _longest(Hardware, "name")
    yield "configuration", record.configuration, _longest(Configuration, "name")
    yield "counterpart", record.counterpart, _longest(Run, "counterpart")
    yield "workload", record.workload, _longest(Workload, "name")


@cache
def _longest(model: type[Model], field: str) -> int:
    longest: int = model._meta.get_field(field).max_length  # type: ignore[union-attr,assignment]
    return longest


def _text_troubles(name: str, text: str, *, longest: int | None = None) -> Iterator[str]:
    if longest is not None and len(text) > longest:
        yield f"{name} has {len(text)} characters, more than {longest}: {text[:50]!r}…"
    if _UNSTORABLE.search(text):
        yield f"{name} holds a character that cannot be stored"


def _facts_troubles(name: str, facts: Any) -> Iterator[str]:
    """Yield the troubles of facts, which are any JSON."""
    if isinstance(facts, Mapping):
        for key, value in facts.items():
            yield from _text_troubles(f"a name in {name}", key)
            yield from _facts_troubles(f"{key!r} in {name}", value)
    elif isinstance(facts, list | tuple):
        for value in facts:
            yield from _facts_troubles(name, value)
    elif isinstance(facts, str):
        yield from _text_troubles(name, facts)
    elif isinstance(facts, float) and not math.isfinite(facts):
        yield f"{name} is {facts}, which is not a finite number"


def _reading_troubles(readings: Iterable[Reading]) -> Iterator[str]:
    metrics: set[str] = set()
    for metric, value, unit, direction, low, high, printed_unit, is_own in readings:
        if not metric.strip():
            yield "a reading has no metric"
        if metric in DERIVED:
            yield f"the metric '{metric}' is computed of the others and cannot be sent"
        yield from _text_troubles("metric", metric, longest=_longest(Series, "metric"))
        yield from _text_troubles("unit", unit, longest=_longest(Series, "unit"))
        yield from _text_troubles("unit", printed_unit, longest=_longest(Series, "printed_unit"))
        if direction not in (HIGHER, LOWER, UNKNOWN):
            yield f"the direction of '{metric}' is neither 'higher' nor 'lower' nor 'unknown'"
        # The project makes one of several values of an own metric.
        if metric in metrics and not is_own:
            yield f"the metric '{metric}' stands twice in one run"
        metrics.add(metric)
        for number in (value, low, high):
            if number is not None and not math.isfinite(number):
                yield f"'{metric}' is {number}, which is not a finite number"


def _sample_troubles(samples: Iterable[SampleTable]) -> Iterator[str]:
    sources: set[str] = set()
    for table in samples:
        if table.source in sources:
            yield f"there are two sample tables from '{table.source}'"
        sources.add(table.source)
        yield from _text_troubles("source", table.source, longest=_MAX_SOURCE_LENGTH)
        for column in table.columns:
            yield from _text_troubles("column", column, longest=_MAX_COLUMN_LENGTH)
        for row in table.rows:
            if len(row) != len(table.columns):
                yield f"a row of '{table.source}' has {len(row)} cells under {len(table.columns)} columns"
            if any(cell is not None and not math.isfinite(cell) for cell in row):
                yield f"'{table.source}' holds a number that is not finite"
