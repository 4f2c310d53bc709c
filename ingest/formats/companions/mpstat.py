"""mpstat of sysstat: one line an interval and CPU, of which ``all`` is read, and the averages at the end.

With ``-P`` there are lines for each CPU, with ``-I`` or ``-A`` tables of interrupts, each with a heading of
its own. The word for the averages and the decimal comma depend on the locale.
"""

import re
from collections.abc import Sequence

from ingest.formats.companions.sampling import SamplingTool, ToolSample, moment, numbers_of

_CLOCK_TEXT = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[^\n0-9]{0,3}[AaPp][Mm])?"
_HEADING = re.compile(rf"{_CLOCK_TEXT}[ \t]+CPU[ \t]+(?:%us(?:e)?r)\b")
_LINE = re.compile(rf"(?P<clock>{_CLOCK_TEXT}|[^\W\d][^\s:]{{0,30}}:)[ \t]+(?P<words>\S.*)")
_METRICS = {
    **dict.fromkeys(("%usr", "%user", "%nice", "%guest", "%gnice"), "cpu_user"),
    **dict.fromkeys(("%sys", "%system", "%irq", "%soft"), "cpu_system"),
    "%iowait": "cpu_wait",
    "%idle": "cpu_idle",
    "%steal": "cpu_steal",
    "intr/s": "interrupts_per_s",
}


def _heads(_: str, line: str) -> Sequence[str]:
    return line.split() if _HEADING.match(line) else ()


def _recorded(lines: Sequence[str], warnings: list[str]) -> Sequence[ToolSample]:
    """Return a sample for each time; the first heading, with the time before it, stands for the start."""
    samples: list[ToolSample] = []
    columns: Sequence[str] = ()
    for number, line in enumerate(lines, 1):
        if not (printed := _LINE.fullmatch(line.strip())):
            continue
        words, time = printed["words"].split(), moment(printed["clock"])
        if words[0] in ("CPU", "NODE", "CORE"):
            columns = words
            samples = samples or [ToolSample(number, {}, time)]
        elif columns[:1] == ["CPU"] and words[0] == "all":
            values = numbers_of(columns[1:], words[1:])
            known = values and {name: value for name, value in values.items() if name in _METRICS}
            last = samples[-1]
            if known and last.values and last.time == time:
                # Each table has a line of the interval.
                samples[-1] = last._replace(values={**last.values, **known})
            elif known or values is None:
                samples.append(ToolSample(number, known, time, is_mean=time is None))
    measured = [set(sample.values) for sample in samples if sample.values]
    if measured and (lacking := set().union(*measured) - measured[-1]):
        warnings.append(f"at the end {', '.join(sorted(lacking))} are missing: the file may be cut off")
    return samples if len(samples) > 1 else ()


FORMAT = SamplingTool(name="mpstat", heads=_heads, recorded=_recorded, metrics=_METRICS)
