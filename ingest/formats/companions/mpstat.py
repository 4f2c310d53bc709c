"""mpstat of sysstat: one line an interval and CPU, of which ``all`` is read, and the averages at the end.

With ``-P`` there are lines for each CPU, with ``-I`` or ``-A`` tables of interrupts, each with a heading of
its own. The word for the averages and the decimal comma depend on the locale.
"""

import re
from collections.abc import Mapping, Sequence

from ingest.formats.companions.sampling import (
    TIME,
    Samples,
    banner_facts,
    cells_of,
    numbers_of,
    seconds_after,
    time_of_day,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_CLOCK_TEXT = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[^\n0-9]{0,3}[AaPp][Mm])?"
_HEADING_IN_HEAD = re.compile(rf"^{_CLOCK_TEXT}[ \t]+CPU[ \t]+(?:%us(?:e)?r)\b".encode(), re.MULTILINE)
_LINE = re.compile(rf"(?P<clock>{_CLOCK_TEXT}|[^\W\d][^\s:]{{0,30}}:)[ \t]+(?P<words>\S.*)")
_METRICS = {
    **dict.fromkeys(("%usr", "%user", "%nice", "%guest", "%gnice"), "cpu_user"),
    **dict.fromkeys(("%sys", "%system", "%irq", "%soft"), "cpu_system"),
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
    samples = Samples("mpstat")
    columns: Sequence[str] = ()
    averages: dict[str, float] = {}
    # By the time at which their interval ended: each table has a line of it.
    by_time: dict[float, tuple[dict[str, float], int]] = {}
    for number, line in enumerate(lines, 1):
        printed = _LINE.fullmatch(line.strip())
        if printed is None:
            continue
        words, clock = printed["words"].split(), time_of_day(printed["clock"])
        if words[0] in ("CPU", "NODE", "CORE"):
            columns = words
            samples.began_s = clock if samples.began_s is None else samples.began_s
        elif columns[:1] == ["CPU"] and words[0] == "all":
            values = numbers_of(columns[1:], words[1:])
            cells = cells_of(values or {}, _METRICS)
            if values is None:
                samples.left_out.append(number)
            elif clock is None:
                averages |= cells
            elif cells:
                time = seconds_after(samples.began_s or 0, clock)
                by_time.setdefault(time, ({TIME: time}, number))[0].update(cells)
    if not by_time and not averages:
        raise FormatError("no line of mpstat for all CPUs")
    if missing := _missing_at_the_end([cells for cells, _ in by_time.values()], averages):
        warnings.append(f"at the end {', '.join(missing)} are missing: the file may be cut off")
    for cells, number in by_time.values():
        samples.add(cells, number)
    hardware, environment = banner_facts(lines)
    return samples.report(means=averages, hardware=hardware, environment=environment, warnings=warnings)


def _missing_at_the_end(
    samples: Sequence[Mapping[str, float]], averages: Mapping[str, float]
) -> Sequence[str]:
    """Return the metrics of the samples that the averages, or else the last sample, lack."""
    sampled = {name for cells in samples for name in cells} - {TIME}
    last = averages or (samples[-1] if samples else {})
    return sorted(sampled - last.keys())
