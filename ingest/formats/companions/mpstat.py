"""mpstat of sysstat: one line an interval and CPU, of which ``all`` is read, and the averages at the end.

With ``-P`` there are lines for each CPU, with ``-I`` or ``-A`` tables of interrupts, each with a heading of
its own. The word for the averages and the decimal comma depend on the locale.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.formats.companions.sampling import (
    TIME,
    Recording,
    banner_facts,
    numbers,
    seconds_after,
    time_of_day,
    total,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_CLOCK_TEXT = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[^\n0-9]{0,3}[AaPp][Mm])?"
_HEADING_TEXT = rf"{_CLOCK_TEXT}[ \t]+CPU[ \t]+(?:%us(?:e)?r)\b"
_HEADING_IN_HEAD = re.compile(rf"^{_HEADING_TEXT}".encode(), re.MULTILINE)
_LINE = re.compile(rf"(?P<clock>{_CLOCK_TEXT}|[^\W\d][^\s:]{{0,30}}:)[ \t]+(?P<words>\S.*)")

# What makes up each of ours; a name of an older version after the newer one.
_USER = ("%usr", "%user", "%nice", "%guest", "%gnice")
_SYSTEM = ("%sys", "%system", "%irq", "%soft")
_SINGLE = {
    "%iowait": "cpu_wait",
    "%idle": "cpu_idle",
    "%steal": "cpu_steal",
    "intr/s": "interrupts_per_s",
}


def recognise(head: bytes) -> bool:
    return _HEADING_IN_HEAD.search(head) is not None


def parse(source: Source) -> CompanionReport:
    """Read the means that mpstat printed; where it was stopped before, compute those of the samples.

    Raise FormatError where there is no line of all CPUs.
    """
    lines, warnings = whole_lines(source)
    reading = _Reading()
    for number, line in enumerate(lines, 1):
        reading.take(line, number)
    if not reading.by_clock and not reading.averages:
        raise FormatError("no line of mpstat for all CPUs")
    if lacking := reading.lacking_at_the_end():
        warnings.append(f"at the end {', '.join(lacking)} are missing: the file may be cut off")
    recording = Recording("mpstat", began_s=reading.started)
    for cells, number in reading.by_clock.values():
        recording.add(cells, number)
    hardware, environment = banner_facts(lines)
    recording.left_out += reading.left_out
    return recording.report(
        means=reading.averages, hardware=hardware, environment=environment, warnings=warnings
    )


@dataclass
class _Reading:
    """Lines of all CPUs: by the time at which their interval ended, and the averages."""

    columns: list[str] = field(default_factory=list)
    started: int | None = None
    by_clock: dict[int, tuple[dict[str, float], int]] = field(default_factory=dict)
    averages: dict[str, float] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)

    def take(self, line: str, number: int) -> None:
        found = _LINE.fullmatch(line.strip())
        if found is None:
            return
        words = found["words"].split()
        clock = time_of_day(found["clock"])
        if words[0] in ("CPU", "NODE", "CORE"):
            self.columns = words
            if self.started is None:
                self.started = clock
        elif self.columns[:1] == ["CPU"] and words[0] == "all":
            self._take_all(clock, words, number)

    def lacking_at_the_end(self) -> list[str]:
        """Return the metrics of the samples that the averages, or else the last sample, lack."""
        sampled: set[str] = {name for cells, _ in self.by_clock.values() for name in cells} - {TIME}
        last = self.averages or (list(self.by_clock.values())[-1][0] if self.by_clock else {})
        return sorted(sampled - last.keys())

    def _take_all(self, clock: int | None, words: Sequence[str], number: int) -> None:
        values = numbers(words[1:])
        if values is None or len(words) != len(self.columns):
            self.left_out.append(number)
            return
        cells = _cells(dict(zip(self.columns[1:], values, strict=True)))
        if clock is None:
            self.averages.update(cells)
        elif cells:
            after = seconds_after(self.started or 0, clock)
            known, _ = self.by_clock.setdefault(after, ({TIME: float(after)}, number))
            known.update(cells)


def _cells(printed: Mapping[str, float]) -> dict[str, float]:
    cells = {}
    if any(name in printed for name in _USER[:2]):
        cells["cpu_user"] = total(*(printed.get(name, 0) for name in _USER))
        cells["cpu_system"] = total(*(printed.get(name, 0) for name in _SYSTEM))
    cells |= {ours: printed[name] for name, ours in _SINGLE.items() if name in printed}
    return cells
