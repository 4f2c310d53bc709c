"""The values of one run as a declaration names them, with their units converted to those of the metrics."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from benchdash.results.readings import HIGHER, LOWER, UNKNOWN, Direction, Reading, known_metric, reading
from ingest.formats.outputs import MAX_THREADS, given_twice, in_order, option, quoted
from ingest.formats.report import Fact, FormatError, ParsedRun

TEXTS = frozenset({"workload", "operation", "version", "product"})
"""Values of a run that are texts; ``option.`` begins the names of those that stay with it as options."""

OPTION = "option."
COUNT = "count."
"""Numbers for ``finish``, from which it may compute metrics."""

_NUMBER = re.compile(r"([0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][-+]?[0-9]{1,2})?)\s?([A-Za-zµμ/%]{0,8})")
_DURATION_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,12})?)(h|ms|m|s|ns|us|µs|μs)")
_MICRO = dict.fromkeys(("us", "µs", "μs", "usec"), "1e-3")
_MS = {"ns": "1e-6", **_MICRO, "ms": "1", "msec": "1", "m": "60000", "min": "60000", "h": "3600000"} | (
    dict.fromkeys(("s", "sec", "secs", "seconds"), "1000")
)
_COUNTS = {"": "1", "k": "1e3", "K": "1e3", "M": "1e6", "G": "1e9"}
_KIB = "0.0009765625"
_MIB = {
    "B": "9.5367431640625e-7",
    "KB": _KIB,
    "KiB": _KIB,
    "MB": "1",
    "MiB": "1",
    "GB": "1024",
    "GiB": "1024",
}
# How much one of a printed unit is, in the unit of the metric; decimal, so that digits stay as printed.
_SCALES: Mapping[str, Mapping[str, str]] = {
    "ms": _MS,
    "s": {unit: f"{ms}e-3" if "e" not in ms else f"1e{int(ms[2:]) - 3}" for unit, ms in _MS.items()},
    "1/s": _COUNTS,
    "1/min": _COUNTS,
    "MiB/s": _MIB,
    "%": {"%": "1", "": "1"},
    "ns/op": {"ns/op": "1", "ns": "1", "us": "1e3", "ms": "1e6", "s": "1e9"},
}
_DIRECTIONS: Mapping[str, Direction] = {"higher": HIGHER, "lower": LOWER, "": UNKNOWN}
_IN_ORDER = ("latency_min", "latency_avg", "latency_max")
_PERCENTILES_IN_ORDER = re.compile(r"latency_p([0-9]{1,3}(?:_[0-9]+)?)")


def metric_of(unit: str) -> str:
    """Return the metric that a unit names: ``allocs_per_op`` for ``allocs/op``."""
    return re.sub(r"\W+", "_", unit.replace("/", " per ")).strip("_").lower()


def direction_of(unit: str) -> Direction:
    """Return which is better of what is counted for an operation or for a second."""
    return LOWER if unit.endswith("/op") else HIGHER if unit.endswith(("/s", "/sec")) else UNKNOWN


def errors_per_second(run: "RunValues") -> Sequence[str]:
    """Take all counts for errors, and add their rate."""
    if run.duration_s:
        run.add("errors_per_s", sum(run.counts.values()) / run.duration_s)
    return ()


@dataclass(slots=True)
class RunValues:
    """Readings by metric, other values by name, and the lines between which they stand.

    ``own`` are metrics that only this tool has, with unit and better direction: ``ns/op, lower``. ``renamed``
    are metrics by the units that name them.
    """

    tool: str
    own: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    line: int = 0
    last_line: int = 1
    readings: dict[str, Reading] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    options: dict[str, Fact] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    threads: int | None = None
    duration_s: float | None = None
    is_closed: bool = False

    def take(self, name: str, text: str, line: int, *, unit: str = "", operation: str = "") -> None:
        """Note a value under the name of a metric, an option, or something else that a run has.

        ``unit`` is that of a number printed without one. Raise FormatError for what is no such value, or
        another one than was noted before.
        """
        if name in TEXTS:
            # Names are never masked: those that look like a token are refused with the record.
            self.texts[name] = text[:200]
        elif name.startswith(OPTION):
            self.options[name.removeprefix(OPTION)] = option(text)
        elif name.startswith(COUNT):
            self.counts[name.removeprefix(COUNT)] = self._converted(text, unit, "1/s", line)
        elif name == "threads":
            self.threads = self._whole(text, line)
        elif name == "duration_s":
            self.duration_s = self._converted(text, unit, "s", line)
        else:
            prefix, _, base = name.rpartition(".")
            self._measure(base, text, unit, operation.lower() or prefix, line)

    def take_pairs(self, text: str, line: int) -> None:
        """Note numbers with their units behind them, each as the metric that its unit names."""
        words = text.split()
        for number, unit in zip(words[::2], words[1::2], strict=False):
            name = self.renamed.get(unit) or metric_of(unit)
            value = self._converted(number, unit, unit, line)
            self._note(Reading(name, value, unit, direction_of(unit), is_own=not known_metric(name)), line)

    def leave_out(self, operation: str) -> None:
        """Forget what was read of an operation."""
        mine = f"{operation}."
        self.readings = {name: one for name, one in self.readings.items() if not name.startswith(mine)}

    def copy(self) -> "RunValues":
        """Return a run of its own with the same texts and options."""
        return replace(
            self, line=0, readings={}, counts={}, texts=dict(self.texts), options=dict(self.options)
        )

    def parsed(self, key: str, required: Mapping[str, str], workload: str) -> ParsedRun:
        """Return the run.

        Raise FormatError where nothing was measured, and with the sentence of a required metric that is
        missing or 0.
        """
        for metric, sentence in required.items():
            found = self.readings.get(metric)
            if found is None:
                raise FormatError(
                    f"{sentence}: {self.tool} was stopped, or the file is cut off", self.last_line
                )
            if not found.value:
                raise FormatError(f"{metric} is 0: nothing was measured", self.last_line)
        if not self.readings:
            raise FormatError(f"no figure of {self.tool} that can be compared", self.last_line)
        self._check_order()
        return ParsedRun(
            tuple(self.readings.values()),
            key=key,
            workload=self.texts.get("workload") or workload or None,
            product=self.texts.get("product"),
            version=self.texts.get("version"),
            threads=self.threads,
            duration_s=self.duration_s or None,
            options=self.options,
        )

    def add(self, metric: str, value: float) -> None:
        """Add a reading that was computed from the others."""
        self.readings[metric] = reading(metric, value)

    def _measure(self, name: str, text: str, unit: str, operation: str, line: int) -> None:
        metric = f"{operation}.{name}" if operation else name
        if name in self.own:
            target, _, direction = self.own[name].partition(", ")
            value = self._converted(text, unit or target, target, line)
            measured = Reading(metric, value, target, _DIRECTIONS[direction], is_own=True)
        elif known_metric(name):
            known = reading(name, 0.0)
            value = self._converted(text, unit, known.unit, line)
            measured = known._replace(metric=metric, value=value)
        else:
            raise KeyError(name)
        self._note(measured, line)

    def _note(self, measured: Reading, line: int) -> None:
        if self.readings.get(measured.metric, measured) != measured:
            raise given_twice(measured.metric, line)
        self.readings[measured.metric] = measured

    def _whole(self, text: str, line: int) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:8]) <= MAX_THREADS):
            raise FormatError(f"{quoted(text)} is not a number of threads", line)
        return int(text)

    def _converted(self, text: str, unit: str, target: str, line: int) -> float:
        scales = {target: "1", **_SCALES.get(target, {"": "1"})}
        found = _NUMBER.fullmatch(text)
        if found and (scale := scales.get(found[2] or unit)) is not None:
            return float(Decimal(found[1]) * Decimal(scale))
        parts = _DURATION_PART.findall(text) if target in ("ms", "s") else []
        if parts and "".join(number + of for number, of in parts) == text:
            return float(sum(Decimal(number) * Decimal(scales[of]) for number, of in parts))
        raise FormatError(f"{quoted(text)} is not a number that {self.tool} prints", line)

    def _check_order(self) -> None:
        """Raise FormatError where least, average and greatest time are not in this order, or percentiles."""
        for operation in {metric.rpartition(".")[0] for metric in self.readings}:
            dot = f"{operation}." if operation else ""
            times = {
                metric.removeprefix(dot): found.value
                for metric, found in self.readings.items()
                if metric.rpartition(".")[0] == operation
            }
            ranked = sorted(
                (float(found[1].replace("_", ".")), times[metric])
                for metric in times
                if (found := _PERCENTILES_IN_ORDER.fullmatch(metric))
            )
            if not in_order(*(times[one] for one in _IN_ORDER if one in times)) or not in_order(
                *(value for _, value in ranked)
            ):
                of = f" of {operation}" if operation else ""
                raise FormatError(f"the response times{of} are not in order", self.last_line)
