"""The verdict of a gate in words: in sentences, as Markdown, as plain text, and as a JUnit report."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from benchdash.regressions.comparison.gate import Gate, GateRow
from benchdash.regressions.comparison.markdown_text import plain, table_lines
from benchdash.regressions.comparison.verdict_words import (
    STARTS_ASSUMED,
    counts_in_words,
    is_of_assumed_starts,
    short_words,
    side_of,
    words,
    would_settle,
)
from benchdash.regressions.detection.excluded_losses import MAX_SESSIONS
from benchdash.results.models import Series
from benchdash.results.wording import (
    NO_BREAK,
    NOTHING,
    change,
    counted,
    metric_name,
    number,
    p_value,
    some_of,
    unit_words,
)

_MAX_CHANGED: Final = 20
_MAX_OTHERS: Final = 100
_MAX_NAMED: Final = 5
_ASK_OF_BRANCH: Final = " What was measured on a branch is asked for by branch or commit."
_ORDER: Final = ("worse", "likely_worse", "better", "likely_better")
TOO_NOISY: Final = (
    f"Sessions scatter so much that more than {MAX_SESSIONS} would be needed: measure both sides in"
    " turns beside a control, measure on a quieter machine, or set wider margins of the gate."
)
"""Advice for rows that more sessions do not help."""

_NOT_XML: Final = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]"
)
_HEAD: Final = ("Workload", "Threads", "Metric", "Place", "Base", "Measured", "Change", "p", "Verdict")


def summary(gate: Gate) -> str:
    """Say the verdict in a sentence."""
    name, against = gate.sides.subject.name, _against(gate)
    counts = [one.verdict for one in gate.rows if one.verdict]
    worse, compared = counts.count("worse"), len(counts)
    if gate.verdict == "fail":
        return f"Fail: {name} is worse than {against} in {worse} of {counted(compared, 'row')}."
    if gate.verdict == "pass":
        better = counts.count("better")
        rest = f", {better} of them better" if better else ""
        return f"Pass: {name} against {against}: {_excluded(gate, compared)}{rest}."
    if not gate.rows:
        return f"Unknown: {_nothing_of(gate)}."
    if not compared:
        return f"Unknown: there is nothing to hold {name} against."
    # Not enough to tell whether they differ, and enough to exclude the loss that counts.
    others = [
        one.verdict for one in gate.rows if one.verdict and not (one.verdict == "unknown" and one.passes)
    ]
    excluded = compared - len(others)
    parts = [counts_in_words(others)]
    if excluded:
        parts.insert(0, f"{counted(excluded, 'row')} lost less than {_margins(gate)[0]}")
    return f"Unknown: {name} against {against}: {', '.join(filter(None, parts))}."


def _excluded(gate: Gate, rows: int) -> str:
    """``no row lost 10 %, the mean of 24 rows lost less than 3 %``."""
    of_row, of_mean = _margins(gate)
    if rows == 1:
        return f"its row lost less than {of_mean}"
    return f"no row lost {of_row}, the mean of {counted(rows, 'row')} lost less than {of_mean}"


def _margins(gate: Gate) -> tuple[str, str]:
    """Write the losses to exclude; of a row the largest, where a metric has a margin of its own."""
    of_row = max([gate.margins.row, *(one.margin for one in gate.rows)])
    return _loss(of_row), _loss(gate.margins.mean)


def _loss(share: float) -> str:
    return f"{round(100 * share, 1):g}{NO_BREAK}%"


def _bounds(gate: Gate) -> str:
    """Say which losses are excluded, and which are to be where those are too large."""
    of_row, of_mean = (None if bound is None else _loss(max(-bound, 0.0)) for bound in gate.bounds.values())
    if of_row is None or of_mean is None or (gate.verdict == "unknown" and gate.excludes_losses):
        return ""
    level = f" against its level over {counted(gate.nights, 'night')}" if gate.nights else ""
    compared = sum(bool(one.verdict) for one in gate.rows)
    if compared == 1:
        said = f"The row lost {of_mean} at most{level}"
    else:
        rows = counted(compared, "row")
        said = f"No row lost more than {of_row}{level}, nor the mean of {rows} more than {of_mean}"
    to_pass = f"; to pass, {_margins(gate)[0]} and {_margins(gate)[1]} are to be excluded"
    return f"{said} (95{NO_BREAK}% sure){to_pass if gate.verdict == 'unknown' else ''}."


def _nothing_of(gate: Gate) -> str:
    subject, product = gate.sides.subject, gate.sides.asked_product
    if gate.sides.is_measured:
        return f"no run of {subject.name} counts"
    if subject.commit or subject.version:
        return f"nothing was measured of {f'{product} ' if product else ''}{subject.name}"
    return f"nothing was measured{f' of {product}' if product else ''} on {subject.branch}"


def _against(gate: Gate) -> str:
    if not gate.bases:
        return gate.sides.base.name if gate.sides.base else "what came before"
    if len(gate.bases) == 1:
        return gate.bases[0]
    return f"{gate.bases[0]} and {counted(len(gate.bases) - 1, 'other')}"


def reasons(gate: Gate) -> list[str]:
    """Say in sentences what the verdict rests on, and what keeps it from being another."""
    return list(_reasons(gate))


def _reasons(gate: Gate) -> Iterator[str]:
    sides, name = gate.sides, gate.sides.subject.name
    if not gate.rows:
        yield (
            f"There are runs of {name}, and none that counts: all are excluded, controls, of other workloads"
            " than were asked about, or of metrics that nobody watches."
            if sides.is_measured
            else f"{_sentence(_nothing_of(gate))}{_ASK_OF_BRANCH if sides.subject.version else ''}"
        )
    if gate.rows and gate.unmeasured:
        names = ", ".join(map(repr, gate.unmeasured[:_MAX_NAMED]))
        yield f"Neither side has a workload {names}: measure it, or mend its name in the question."
    if sides.base_trouble:
        yield _sentence(sides.base_trouble)
    without = [one for one in gate.rows if not one.verdict]
    if without and not sides.base_trouble:
        base = sides.base.name if sides.base else "what came before"
        yield f"Of {counted(len(without), 'row')} nothing was measured in {base}: {_named(without)}."
    if gate.missing:
        lacks = _listed([_name(one) for one in gate.missing])
        yield (
            f"{name} lacks {counted(len(gate.missing), 'row')} that {_against(gate)} has: {lacks}. "
            "Measure them, or ask about the workloads that count."
        )
    if likely := [one for one in gate.rows if one.verdict == "likely_worse"]:
        yield f"{counted(len(likely), 'row')} likely worse, by a single session: {_named(likely)}."
    if of_machine := [one for one in gate.rows if one.is_of_machine]:
        yield (
            f"{counted(len(of_machine), 'row')} worse, but so is the control of the same sessions, a build"
            f" that never changes, and what is lost beyond it is not certain: {_named(of_machine)}."
        )
    unsettled = [
        one for one in gate.rows if one.verdict == "unknown" and not (one.is_of_machine or one.passes)
    ]
    if unsettled:
        yield f"{counted(len(unsettled), 'row')} not enough to tell: {_named(unsettled)}."
    if any(is_of_assumed_starts(one) for row in gate.rows for one in row.row.comparisons):
        yield STARTS_ASSUMED
    if bounds := _bounds(gate):
        yield bounds
    if gate.more_sessions:
        yield f"{would_settle(gate.more_sessions, 'it')}."
    elif gate.wanted_sessions:
        yield TOO_NOISY
    if not gate.is_analysed:
        yield "Results are still being read or analysed: ask again."
    if gate.set_aside:
        yield (
            f"The analysis of {counted(gate.set_aside, 'place')} failed several times and was set aside; an"
            " administrator can have it tried again."
        )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _named(rows: Sequence[GateRow]) -> str:
    return _listed([_name(one.series) for one in rows])


def _listed(names: Iterable[str]) -> str:
    return some_of(dict.fromkeys(names), _MAX_NAMED, "; ")


def _name(series: Series) -> str:
    threads = "" if series.threads is None else f", {counted(series.threads, 'thread')}"
    return f"{series.workload.name}{threads}, {series.metric}"


def in_order(rows: Iterable[GateRow]) -> list[GateRow]:
    """Put what is worst first: what changed by its size, then all others as they are."""
    return sorted(rows, key=_rank)


def _rank(one: GateRow) -> tuple[int, float]:
    [comparison] = one.row.comparisons
    if one.verdict not in _ORDER or comparison is None or not comparison.ratio:
        return len(_ORDER), 0.0
    return _ORDER.index(one.verdict), -abs(log(comparison.ratio))


def verdict_words(one: GateRow) -> str:
    if one.is_of_machine:
        return "not certainly worse than the control"
    return words(one.verdict, one.series.metric, direction=one.row.direction) if one.verdict else "no base"


def place_words(series: Series) -> str:
    """Name where it was measured, as far as that tells it apart."""
    parts = (series.hardware.name, series.configuration.name, series.build, series.counterpart)
    return ", ".join(part for part in parts if part and part != "default")


# --- Markdown -----------------------------------------------------------------------------------------------


def markdown(gate: Gate, *, url: str) -> str:
    """Headline, what it rests on, the changed rows with the worst first, and all others folded.

    ``url`` is the address of the page.
    """
    rows = in_order(gate.rows)
    changed = [one for one in rows if side_of(one.verdict) or one.is_of_machine]
    others = [one for one in rows if one not in changed]
    parts = [
        f"**{plain(summary(gate))}**",
        "\n".join(f"- {plain(reason)}" for reason in reasons(gate)),
        _table(changed, _MAX_CHANGED),
        _folded(f"{counted(len(others), 'row')} without a difference that is certain", others),
        f"<{url}>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(rows: Sequence[GateRow], most: int) -> str:
    if not rows:
        return ""
    lines = table_lines(_HEAD, map(_row, rows[:most]))
    more = len(rows) - most
    return "\n".join(lines) + (f"\n\n{more:,} more rows are on the page." if more > 0 else "")


def _folded(title: str, rows: Sequence[GateRow]) -> str:
    if not rows:
        return ""
    return f"<details><summary>{title}</summary>\n\n{_table(rows, _MAX_OTHERS)}\n\n</details>"


def _row(one: GateRow) -> list[str]:
    row, series = one.row, one.series
    [comparison], [cell] = row.comparisons, row.cells
    unit = unit_words(series.metric, row.unit)
    return [
        row.workload,
        "" if row.threads is None else str(row.threads),
        metric_name(series.metric) + (f" ({unit})" if unit else ""),
        place_words(series),
        number(row.base.value) if row.base else NOTHING,
        number(cell.value) if cell else NOTHING,
        change(comparison.ratio - 1) if comparison and comparison.ratio else NOTHING,
        p_value(comparison.p) if comparison else NOTHING,
        verdict_words(one),
    ]


# --- plain text ---------------------------------------------------------------------------------------------

_TEXT_WIDTH: Final = 100
_TEXT_HEAD: Final = ("workload", "threads", "metric", "base", "now", "change in % (95 %)", "verdict")
_MAX_TEXT_ROWS: Final = 50
_MIN_WORKLOAD_WIDTH: Final = 12
_FIGURES: Final = (1, 3, 4)


def plain_text(gate: Gate, *, url: str) -> str:
    """Return the rows by place, the worst first, and what the verdict rests on, for a terminal."""
    rows = in_order(gate.rows)
    shown = [(place_words(row.series) or "default", _text_cells(row)) for row in rows[:_MAX_TEXT_ROWS]]
    widths = [
        max(map(len, column)) for column in zip(_TEXT_HEAD, *(cells for _, cells in shown), strict=True)
    ]
    spare = _TEXT_WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(spare, _MIN_WORKLOAD_WIDTH))
    lines = []
    for place in dict.fromkeys(place for place, _ in shown):
        table = [_TEXT_HEAD, *(cells for where, cells in shown if where == place)]
        lines += [place, *(_text_line(cells, widths) for cells in table)]
    if more := len(rows) - len(shown):
        lines.append(f"and {counted(more, 'more row')}")
    for sentence in (summary(gate), *reasons(gate), url):
        lines += textwrap.wrap(sentence, _TEXT_WIDTH, break_long_words=False, break_on_hyphens=False)
    return _xml("\n".join(lines).replace(NO_BREAK, " ")) + "\n"


def _text_cells(one: GateRow) -> list[str]:
    """Return the cells of ``_row`` in fewer letters, without the place and with the interval for p."""
    workload, threads, _, _, base, measured, *_ = _row(one)
    [comparison], unit = one.row.comparisons, one.row.unit
    bounds = (comparison.ratio, comparison.low, comparison.high) if comparison else (None, None, None)
    ratio, low, high = (change(bound and bound - 1).removesuffix(f"{NO_BREAK}%") for bound in bounds)
    return [
        workload,
        threads or NOTHING,
        one.series.metric if unit in ("", "1/s") else f"{one.series.metric} {unit}",
        base,
        measured,
        ratio if NOTHING in (low, high) else f"{ratio} ({low} to {high})",
        short_words(one.verdict, one.series.metric, one.row.direction) if one.verdict else "no base",
    ]


def _text_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name = cells[0]
    workload = name if len(name) <= widths[0] else name[: widths[0] - 1] + "…"
    padded = (
        text.rjust(width) if at in _FIGURES else text.ljust(width)
        for at, (text, width) in enumerate(zip([workload, *cells[1:]], widths, strict=True))
    )
    return "  ".join(padded).rstrip()


# --- JUnit --------------------------------------------------------------------------------------------------


def junit(gate: Gate, *, url: str) -> str:
    """Return a report with a test case for each row and one for the verdict.

    A row that is worse has a ``failure``, and one of which nothing is decided is ``skipped``.
    """
    cases = [_whole(gate), *map(_case, in_order(gate.rows)), *map(_missing_case, gate.missing)]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
        "errors": 0,
    }
    texts = {name: str(value) for name, value in counts.items()}
    suites = Element("testsuites", {"name": "benchdash", **texts})
    suite = SubElement(
        suites, "testsuite", {"name": _xml(f"benchdash gate of {gate.sides.subject.name}"), **texts}
    )
    properties = SubElement(suite, "properties")
    said = {
        "verdict": gate.verdict,
        "analysis": "done" if gate.is_analysed else "pending",
        "product": gate.sides.product.name if gate.sides.product else "",
        "of": gate.sides.subject.name,
        "base": ", ".join(gate.bases),
        **{
            f"bound of {name}": "" if bound is None else f"{bound:.4f}" for name, bound in gate.bounds.items()
        },
        "url": url,
    }
    for name, value in said.items():
        SubElement(properties, "property", {"name": name, "value": _xml(value)})
    suite.extend(cases)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _whole(gate: Gate) -> Element:
    case = Element("testcase", {"classname": "gate", "name": "verdict"})
    if gate.verdict == "unknown":
        SubElement(case, "skipped", {"message": _xml(" ".join([summary(gate), *reasons(gate)]))})
    SubElement(case, "system-out").text = _xml("\n".join([summary(gate), *reasons(gate)]))
    return case


def _case(one: GateRow) -> Element:
    case = _named_case(one.series)
    _, _, _, _, base, measured, changed, p, verdict = _row(one)
    said = f"{verdict}: {changed}, {base} to {measured} {one.row.unit}, p {p}"
    if one.verdict == "worse":
        failure = SubElement(case, "failure", {"message": _xml(said), "type": "worse"})
        failure.text = _xml(f"{_name(one.series)} at {place_words(one.series)}: {said}")
    elif not one.passes:
        excluded = (
            "" if one.bound is None else f"; a loss of more than {_loss(max(-one.bound, 0.0))} is excluded"
        )
        SubElement(case, "skipped", {"message": _xml(said + excluded)})
    return case


def _missing_case(series: Series) -> Element:
    case = _named_case(series)
    SubElement(case, "skipped", {"message": "the base has it, and it was not measured"})
    return case


def _named_case(series: Series) -> Element:
    return Element("testcase", {"classname": _xml(place_words(series)), "name": _xml(_name(series))})


def _xml(text: str) -> str:
    """Take out what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
