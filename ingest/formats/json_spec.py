r"""A reader for the JSON of a tool: a declaration that says where the values of a run stand.

    HYPERFINE = JsonSpec(
        tool="hyperfine",
        keys=("results", "command", "times"),
        runs="results[]",
        values={"workload": "command", "total_time:s": "mean"},
        required={"total_time": "no mean"},
    )

A path has the keys of objects, parted by ``/``, or is one key that has it. Behind ``[]`` stand the items of a
list or the values of an object. Of several paths, parted by `` | ``, the first that is there counts. Names
of values are those of ``ToolSpec``, with the unit of the number; a unit in braces is the path to it:
``score:{time_unit}``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ingest.formats.json_source import line_of, lines_of_items, load, load_lines, object_at
from ingest.formats.outputs import Read, bounded, missing_line_end, read_runs
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.run_values import RunValues
from ingest.formats.source import Source

_JSON = re.compile(rb"^[ \t]*[{\[]", re.MULTILINE)


class PathError(FormatError):
    """A value that cannot be understood, with the path to it."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True, eq=False)
class JsonRows:
    """Rows of a run that are operations: where they stand, what names one, and the values of each."""

    path: str
    operation: str
    values: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class JsonSpec:
    """A tool that writes JSON: how its files are recognised, where its runs are, and their values.

    ``keys`` are all in the head of a file, of several parted by ``|`` one. ``head`` are values of the whole
    file. ``left_out`` are paths with a pattern of the text there of what is computed from runs, ``failed`` is
    a path with the pattern of a run that failed, and ``success`` one with the text of all executions that did
    not. ``take_other`` is called with each value of a run that has no place. If each line is a run of JSON by
    itself, ``lines_named_by`` is its key there, and ``keys_of_others`` are on no first line. The rest is as
    of ``ToolSpec``.
    """

    tool: str
    keys: Sequence[str]
    values: Mapping[str, str]
    required: Mapping[str, str]
    runs: str = ""
    head: Mapping[str, str] = field(default_factory=dict)
    rows: Sequence[JsonRows] = ()
    left_out: tuple[str, str] | None = None
    failed: tuple[str, str] | None = None
    success: tuple[str, str] | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    take_other: Callable[[RunValues, str, str | float], None] | None = None
    lines_named_by: str = ""
    keys_of_others: Sequence[str] = ()
    workload: str = ""
    finish: Callable[[RunValues], Iterable[str]] = lambda _: ()

    @cached_property
    def _keys(self) -> Sequence[re.Pattern[bytes]]:
        # Each by itself: one pattern for all would go over the head once for each of their places.
        return [re.compile(rf'"(?:{key})"\s{{0,9}}:'.encode()) for key in self.keys]

    def recognise(self, head: bytes) -> bool:
        if self.lines_named_by:
            fields = object_at(head.lstrip().partition(b"\n")[0].decode("utf-8", "replace"))
            named = [[name for name in key.split("|") if name in fields] for key in self.keys]
            # An object there is of another tool, too.
            is_run = all(named) and not any(isinstance(fields[name], dict) for name in chain(*named))
            return is_run and fields.keys().isdisjoint(self.keys_of_others)
        return _JSON.search(head) is not None and all(key.search(head) for key in self._keys)

    def parse(self, source: Source) -> ParsedReport:
        """Read each run of the file. Raise FormatError where none is whole; of several one is left out."""
        if self.lines_named_by:
            return self._parse_lines(source)
        json = _without_text_around(source)
        warnings = missing_line_end(source) if json is not source else []
        source, whole = json, load(json)
        items, lines = [whole], [1]
        if self.runs:
            items = list(_found(whole, self.runs))
            lines = lines_of_items(source, *self.runs.removesuffix("[]").split("/")) if items else []
        source.limits.check("runs", len(items))
        outputs = [
            self._values_of(source, whole, item, line)
            for item, line in zip(items, lines or [1] * len(items), strict=False)
            if self.left_out is None or not re.fullmatch(self.left_out[1], _text(item, self.left_out[0]))
        ]
        if not outputs:
            why = "; what is there was computed from runs: send the runs themselves" if items else ""
            raise FormatError(f"no run of {self.tool} under {self.runs!r}{why}", 1)
        runs, _, notes = read_runs(outputs, self._read, ())
        return ParsedReport(runs, facts={"tool": self.tool}, warnings=bounded(warnings + notes))

    def _parse_lines(self, source: Source) -> ParsedReport:
        """Read each line as a run. Raise FormatError where two of them have one key."""
        outputs: list[RunValues] = []
        lines: dict[str, int] = {}
        for position, (line, item) in enumerate(load_lines(source)):
            key = str(next(_found(item, self.lines_named_by), position))
            if key in lines:
                raise FormatError(f"{self.lines_named_by} {key} stands on line {lines[key]} already", line)
            lines[key] = line
            outputs.append(self._values_of(source, None, item, line))
            outputs[-1].texts["key"] = key
        runs, _, notes = read_runs(outputs, self._read, ())
        return ParsedReport(runs, warnings=bounded(missing_line_end(source) + notes))

    def _values_of(self, source: Source, whole: object, item: object, line: int) -> RunValues:
        run = RunValues(self.tool, self.own, line=line, last_line=line)
        try:
            for part, values in ((whole, self.head), (item, self.values)):
                _take(run, part, values)
            for rows in self.rows:
                for row in _found(item, rows.path):
                    operation = next(_found(row, rows.operation), "")
                    _take(run, row, rows.values, str(operation))
            self._take_others(run, item)
            self._check_end(run, item)
        except PathError as error:
            keys = [error.path] if isinstance(item, dict) and error.path in item else error.path.split("/")
            run.error = FormatError(error.message, (None if self.runs else line_of(source, *keys)) or line)
        return run

    def _take_others(self, run: RunValues, item: object) -> None:
        if self.take_other and isinstance(item, dict):
            known = {path for paths in self.values.values() for path in paths.split(" | ")}
            known |= {self.lines_named_by, *(self.failed or ())[:1]}
            for name, value in item.items():
                if isinstance(value, str | int | float) and name not in known:
                    self.take_other(run, name, value)

    def _check_end(self, run: RunValues, item: object) -> None:
        if self.failed and re.fullmatch(self.failed[1], _text(item, self.failed[0])):
            raise PathError("the run ended with an error", self.failed[0])
        if self.success:
            path, text = self.success
            ends = [str(end) for end in _found(item, path)]
            if failures := [end for end in ends if end != text]:
                counted = f"{len(failures)} of {len(ends)} {path.removesuffix('[]')} are not {text}"
                run.warn(f"{counted}, what failed is measured too", failures[0], run.line)

    def _read(self, run: RunValues, key: str) -> Read:
        if run.error:
            raise run.error
        key = run.texts.pop("key", key)
        if not run.readings and not self.runs and not self.lines_named_by:
            raise FormatError(
                f"no value stands where {self.tool} writes it: is its JSON within another? Send it alone",
                run.line,
            )
        notes = [*run.notes, *self.finish(run)]
        return run.parsed(key, self.required, self.workload), (), notes


def _without_text_around(source: Source) -> Source:
    """Return the JSON of a file in its lines, without what tools print above and below it."""
    text = source.text
    begin = re.search(r"^[ \t]*[{\[]", text, re.MULTILINE)
    closed = max(text.rfind("\n}"), text.rfind("\n]"))
    end = len(text) - len(text[closed + 1 :].lstrip("]} \t")) if closed >= 0 else len(text)
    if begin is None or not (text[: begin.start()].strip() or text[end:].strip()):
        return source
    lines_above = "\n" * text.count("\n", 0, begin.start())
    json = f"{lines_above}{text[begin.start() : end]}"
    return Source(json.encode(), source.name, source.limits, metric=source.metric)


def _take(run: RunValues, item: object, values: Mapping[str, str], operation: str = "") -> None:
    for place, paths in values.items():
        name, _, unit = place.partition(":")
        if unit.startswith("{"):
            unit = str(next(_found(item, unit.strip("{}")), ""))
        for path in paths.split(" | "):
            value = next(_found(item, path), None)
            if isinstance(value, str | int | float):
                text = str(value).lower() if isinstance(value, bool) else str(value)
                try:
                    run.take(name, text, run.line, unit=unit, operation=operation)
                except FormatError as error:
                    raise PathError(f"{path!r}: {error.message}", path) from None
                break


def _text(item: object, paths: str) -> str:
    return next((str(value) for path in paths.split(" | ") for value in _found(item, path)), "")


def _found(item: object, path: str) -> Iterator[object]:
    """Yield what stands at a path, nothing where it leads nowhere."""
    is_key = isinstance(item, dict) and path in item
    first, _, rest = (path, "", "") if is_key else path.partition("/")
    name, many = first.removesuffix("[]"), first.endswith("[]")
    if name:
        if not isinstance(item, dict) or name not in item:
            return
        item = item[name]
    parts = (item.values() if isinstance(item, dict) else item) if many else [item]
    for part in parts if isinstance(parts, list | type({}.values())) else ():
        yield from _found(part, rest) if rest else [part]
