"""The files that people published, each read and held against a reading that shares no code with benchdash.

    python -m tests.ingest.formats.wild ../shared/wild

prints how many files of each family are right, and each file that is wrong, incomplete or refused.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.formats import parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source

RIGHT, WARNED, PARTLY, WRONG, REFUSED = "right", "right, warned", "partly", "wrong silently", "refused"
VERDICTS = (RIGHT, WARNED, PARTLY, WRONG, REFUSED)


@dataclass(frozen=True)
class Outcome:
    """What became of one file: a verdict, and the sentence that goes with it."""

    file: str
    family: str
    verdict: str
    sentence: str = ""
    format: str = ""


def outcomes(folder: Path) -> Iterator[Outcome]:
    """Yield what becomes of each file of the index."""
    for entry in json.loads((folder / "index.json").read_text()):
        yield outcome(entry, (folder / "corpus" / entry["file"]).read_bytes())


def outcome(entry, data):
    """Return what becomes of a file; ``entry`` is its line of the index."""
    file, family, expected = entry["file"], entry["family"], entry["expected"]
    try:
        name, report = parse(Source(data, file))
    except FormatError as error:
        return Outcome(file, family, REFUSED, f"line {error.line}: {error.message}")
    if isinstance(expected, list) and stands_in(data.decode("utf-8", "replace"), expected):
        problem, is_complete = EXPECTED[family](report, expected), True
    else:
        problem, is_complete = COMPARISONS.get(family, compared_with_rates)(
            report, data.decode("utf-8", "replace")
        )
        if not problem and not is_complete and not any(map(_LEFT_OUT.search, report.warnings)):
            problem = "figures were left out, and no warning says so"
    warning = report.warnings[0] if report.warnings else ""
    if problem:
        return Outcome(file, family, WRONG, problem, name)
    if not is_complete:
        return Outcome(file, family, PARTLY, warning, name)
    return Outcome(file, family, WARNED if warning else RIGHT, warning, name)


def stands_in(text, expected):
    """Return whether scores of the independent reading stand in a text; documents were cut down after it."""
    scores = [line["printed"] for line in expected if "printed" in line]
    return not scores or any(f"{score:.3f}" in text.replace(",", ".") for score in scores)


# --- against numbers --------------------------------------------------------------------------------------

_TO_NS_OR_S = {"ns/op": 1, "us/op": 1e3, "µs/op": 1e3, "ms/op": 1e6, "s/op": 1e9, "min/op": 6e10}
_TO_OPS_PER_S = {"ops/s": 1, "ops/ms": 1e3, "ops/us": 1e6, "ops/ns": 1e9, "ops/min": 1 / 60}
_UNITS = _TO_NS_OR_S | _TO_OPS_PER_S


def is_close(found, expected, *, relative=5e-4, absolute=0.0):
    return found is not None and abs(found - expected) <= max(relative * abs(expected), absolute)


def readings_of(run):
    return {reading.metric: reading for reading in run.readings}


def compared_with_jmh(report, expected):
    """Return what differs: a benchmark of each line, with its mode, parameters, score and error."""
    left = [run for run in report.runs if "score" in readings_of(run)]
    for line in expected:
        found = next((run for run in left if _is_benchmark(run, line)), None)
        if found is None:
            return f"no run is {line['name']} {line.get('params', '')} = {line['score']}"
        left.remove(found)
    # Of a score that JMH printed as a power of ten, the independent reading has nothing.
    beyond = [run.key for run in left if not any(run.key in warning for warning in report.warnings)]
    return f"{beyond[0]} stands in no line of the file" if beyond else ""


def _is_benchmark(run, line):
    score = readings_of(run)["score"]
    workload = f"{run.workload} "
    parameters = line.get("params") or {}
    values = parameters.values() if isinstance(parameters, dict) else set(parameters) - {"N/A"}
    error = line.get("err")
    factor = _UNITS[score.unit]
    return (
        ".".join(line["name"].split(".")[-2:]) in workload
        and workload.endswith(f" {line['mode']} ")
        and all(f"={value} " in workload for value in values)
        and ("threads" not in line or run.threads == line["threads"])
        and is_close(score.value * factor, line["score"], relative=1e-9)
        and (error is None or is_close((score.high - score.value) * factor, error, relative=1e-6))
    )


_SYSBENCH = {
    "tps": "tps",
    "qps": "qps",
    "eps": "events_per_s",
    "time": "total_time",
    **{f"lat_{name}": f"latency_{name}" for name in ("min", "avg", "max", "p95", "p99", "sum")},
}


def compared_with_sysbench(report, expected):
    if len(report.runs) != len(expected):
        return f"{len(report.runs)} runs where the file has {len(expected)}"
    for number, (run, line) in enumerate(zip(report.runs, expected, strict=True), start=1):
        found = readings_of(run)
        if run.threads != line["threads"]:
            return f"report {number}: {run.threads} threads, not {line['threads']}"
        for name, metric in _SYSBENCH.items():
            if name in line and not is_close(
                metric in found and found[metric].value, line[name], absolute=0.006
            ):
                return f"report {number}: {metric} is {found.get(metric)}, not {line[name]}"
        if "qtotal" in line and not is_close(found["qps"].value * line["time"], line["qtotal"]):
            return f"report {number}: {found['qps']}, not {line['qtotal']} queries"
    return ""


def compared_with_pgbench(report, expected):
    if len(report.runs) != len(expected):
        return f"{len(report.runs)} runs where the file has {len(expected)}"
    for run, line in zip(report.runs, expected, strict=True):
        found = readings_of(run)
        figures = (found["tps"].value, run.threads, round(found["latency_avg"].value, 3))
        if figures != (line["tps"], line["threads"], line["lat"]):
            return f"{figures} where the file has {tuple(line.values())}"
    return ""


def compared_with_ycsb(report, expected):
    found = [readings_of(run)["ops_per_s"].value for run in report.runs]
    wanted = [line["ops"] for line in expected]
    return "" if found == wanted else f"{found} operations a second, not {wanted}"


EXPECTED = {
    **dict.fromkeys(("jmh_json", "jmh_csv", "jmh_text"), compared_with_jmh),
    "sysbench": compared_with_sysbench,
    "pgbench": compared_with_pgbench,
    "ycsb": compared_with_ycsb,
}


# --- against the rates in the text -----------------------------------------------------------------------

_RATES = re.compile(
    r"(?:\[OVERALL\], Throughput\(ops/sec\), |tps = |\b(?:reads|writes|written|fsyncs)/s: +"
    r"|events per second: +|(?:transactions|queries): +[0-9]+ +\(|achieved )([0-9.]+)"
    r"|<?tpmc>?:? +([0-9.]+)|^ +([0-9.]+) TpmC",
    re.IGNORECASE | re.MULTILINE,
)


def compared_with_rates(report, text):
    """Return what is wrong with a report of a tool's output, and whether every rate in it was read."""
    found = [reading.value for run in report.runs for reading in run.readings]
    printed = [float("".join(match.groups(""))) for match in _RATES.finditer(text)]
    missing = [rate for rate in printed if not any(is_close(value, rate, absolute=0.006) for value in found)]
    return "", not missing


_JMH_ROW = re.compile(
    r"^\W*(?:\[info\]\s+|info\]\s+)?(\S+)\s.*?\b(thrpt|avgt|sample|ss)\s+(?:[0-9]+\s+)?"
    r"([0-9][0-9 .,]*?)(?:\s+(?:±|\?|\+/-)?\s*[0-9][0-9 .,]*)?\s+([a-zµ]+/[a-z]+)\W*$",
    re.MULTILINE,
)
# What JMH prints above its table, where rows of the table are missing.
_JMH_RESULT = re.compile(
    r"^(?:\[info\] )?(?:Result : )?\s*([0-9.,]+) ±\(99[.,]9%\) .*?([a-z]+(?:/[a-z]+)?)(?: \[|$)", re.MULTILINE
)
_OF_HISTOGRAM = re.compile(r"·p[0-9.]+$|:p[0-9.]+$")


def compared_with_rows_of_jmh(report, text):
    """Return what differs from the rows of JMH's tables, and whether each of them was read."""
    left = [run for run in report.runs if "score" in readings_of(run)]
    repeated = any("repeats figures" in warning for warning in report.warnings)
    unread = 0
    for name, mode, score, unit in _rows_of_jmh(text):
        if _OF_HISTOGRAM.search(name) or ":" in name or unit not in _UNITS:
            continue
        value = number_of(re.sub(r"(?<=[0-9]),(?=[0-9]{3}$)", ".", score)) * _UNITS[unit]
        method = re.split(r"[./:]", name)[-1]
        found = next((run for run in left if _is_row(run, method, mode, value)), None)
        unread += found is None
        if found:
            left.remove(found)
    above = [
        float(score.replace(",", ".")) * _UNITS.get(unit, _UNITS.get(f"{unit}/op", 0))
        for score, unit in _JMH_RESULT.findall(text)
    ]
    left = [run for run in left if not any(map(_is_score(run), above))]
    return (f"{left[0].key} stands in no row" if left else ""), not unread or repeated


def _is_score(run):
    score = readings_of(run)["score"]
    return lambda value: is_close(score.value * _UNITS[score.unit], value, relative=1e-9)


def _rows_of_jmh(text):
    """Yield name, mode, score and unit of each row; in a table with bars its head says the cells."""
    titles = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) > 3 and "Score" in cells and "Mode" in cells:
            titles = [cell.removesuffix("s") for cell in cells]
        elif len(cells) == len(titles) and not _RULE.fullmatch(line):
            row = dict(zip(titles, cells, strict=True))
            yield row["Benchmark"], row["Mode"], row["Score"], row["Unit"]
        else:
            yield from _JMH_ROW.findall(line)


def _is_row(run, method, mode, value):
    score = readings_of(run)["score"]
    is_named = method in run.workload and mode in run.workload.split()
    return is_named and is_close(score.value * _UNITS[score.unit], value, relative=1e-9)


# --- against the tables in the text -----------------------------------------------------------------------

_NUMBER = re.compile(r"[0-9]+(?:[, \u00a0\u202f][0-9]{3})*(?:\.[0-9]+)?|[0-9]+[.,][0-9]+|\.[0-9]+")
_UNIT = re.compile(
    r"\s*(?:%|x|倍|ns|[uµ]s|ms|s|k|m|g|[kmg]i?b|qps|tps|tpmc|ops/s|rows/s|c|线程)?", re.IGNORECASE
)
# A figure may be kept in another unit than the one that it was printed in.
_SCALES = (1, 1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9, 60, 1 / 60, 100, 1024, 1 / 1024)
_RULE = re.compile(r"[\s|:=+-]*")
_MEASURED = re.compile(
    r"\b(?:qps|tps|tpmc|ips|o/s|ops/s|score|throughput|events per second|trns p/s)\b", re.IGNORECASE
)
_METRIC_OF_HEAD = (
    (re.compile(r"\bqps\b", re.IGNORECASE), re.compile(r"qps")),
    (re.compile(r"\btps\b(?!/)", re.IGNORECASE), re.compile(r"tps")),
    (re.compile(r"\btpmc\b(?! per)", re.IGNORECASE), re.compile(r"tpm|tpmc|nopm")),
    (re.compile(r"\b(?:p95|95%|95th)", re.IGNORECASE), re.compile(r".*latency_p95")),
    (re.compile(r"\b(?:p99|99%|99th)", re.IGNORECASE), re.compile(r".*latency_p99")),
)
_VERSION = re.compile(r"\b[vV]?([0-9]{1,4}(?:\.[0-9]{1,4}){1,4})\b")


@dataclass(frozen=True)
class Table:
    line: int
    head: list[str]
    rows: list[list[str]]

    @property
    def is_of_results(self):
        return _MEASURED.search(" ".join(self.head)) is not None


def tables_of(text):
    """Return the tables of a text: with bars, separated by commas or tabs, or aligned by blanks."""
    lines = text.splitlines()
    if sum(line.count("|") >= 2 for line in lines) >= 3:
        return list(_tables_with_bars(lines))
    separator = max(",;\t", key=lambda mark: sum(line.count(mark) for line in lines[:20]))
    if all(separator in line for line in lines[:3]):
        return list(_tables_separated(lines, separator))
    return list(_tables_aligned(lines))


def _tables_with_bars(lines):
    block, first = [], 0
    for number, line in enumerate([*lines, ""], start=1):
        if line.count("|") >= 2:
            first = first or number
            if not _RULE.fullmatch(line):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                block.append(cells)
        elif block:
            yield Table(first, block[0], block[1:])
            block, first = [], 0


def _tables_separated(lines, separator):
    head, rows, first = None, [], 1
    for number, line in enumerate([*lines, ""], start=1):
        cells = next(csv.reader([line], delimiter=separator), [])
        is_head = bool(cells) and not any(number_of(cell) is not None for cell in cells)
        if len(cells) < 2 or is_head:
            if head and rows:
                yield Table(first, head, rows)
            head, rows, first = (cells if is_head and len(cells) > 1 else None), [], number
        elif head:
            rows.append(cells)


def _tables_aligned(lines):
    head, rows, first = None, [], 1
    for number, line in enumerate([*lines, ""], start=1):
        cells = line.removeprefix("[info]").split()
        numbers = sum(number_of(cell) is not None for cell in cells)
        if numbers and head:
            rows.append(cells)
        else:
            if head and rows:
                yield Table(first, head, rows)
            # Figures under "relative to ..." are ratios of those above it.
            is_head = len(cells) > 1 and not numbers and "relative" not in line
            head, rows, first = (cells if is_head else None), [], number


def number_of(cell):
    """Return the number in a cell, which may be bold, have thousands separators, a ± and a unit, or None."""
    text = re.sub(r"\\|\*\*|`|<sup>.*?</sup>|[±?$~≈]", "", cell).strip()
    match = _NUMBER.match(text)
    if not match or not _UNIT.fullmatch(text[match.end() :]):
        return None
    digits = match[0]
    if re.fullmatch(r"0,[0-9]+|[0-9]+,(?![0-9]{3}$)[0-9]+", digits):
        digits = digits.replace(",", ".")
    return float(re.sub(r"[, \u00a0\u202f]", "", digits))


def compared_with_tables(report, text):
    """Return what is wrong with a report of a file of tables, and whether every figure of them was read.

    Wrong are a reading that stands nowhere in the text, and one of another row, version or metric than the
    cell that holds it.
    """
    printed = {_rounded(number) for number in map(number_of, _cells_of(text)) if number is not None}
    for run in report.runs:
        for reading in run.readings:
            if not any(_rounded(reading.value * scale) in printed for scale in _SCALES):
                return f"{run.key!r}: {reading.metric} = {reading.value:g} stands nowhere in the file", False
    missing = []
    for table in tables_of(text):
        unread, problem = _unread(table, report)
        if problem:
            return problem, False
        missing += unread
    return "", not missing


def _cells_of(text):
    return {
        *re.split(r"[|\n]|\s+", text),
        *re.findall(_NUMBER, text),
        *(cell.strip() for cell in re.split(r"[|\n]", text)),
        *(cell.strip() for cell in re.split(r"[,;\t\n]", text)),
    }


def _rounded(value):
    return f"{value:.9g}"


def _unread(table, report):
    """Return the figures of a table that no reading has, and what is wrong with those that one has.

    A table of which less than half is found among the readings was not read; what is found is so by chance.
    """
    runs_by_value = {}
    for run in report.runs:
        for reading in run.readings:
            for scale in _SCALES:
                runs_by_value.setdefault(_rounded(reading.value * scale), []).append((run, reading))
    others = {
        _rounded(float(value))
        for run in report.runs
        for value in (run.threads, run.repetition, *run.options.values(), *_numbers_in(run))
        if isinstance(value, int | float)
    }
    unread, misread, fitting = [], [], 0
    for number, row in enumerate(table.rows, start=1):
        labels = [label for cell in row if (label := _label(cell))]
        for head, cell in zip(table.head, row, strict=False):
            value = number_of(cell)
            is_index = not head and value == number - 1
            if value is None or is_index:
                continue
            where = f"row {number} of the table at line {table.line}, {head!r}: {cell!r}"
            found = runs_by_value.get(_rounded(value), [])
            if len(row) != len(table.head) or any(_fits(*one, head, row, labels) for one in found):
                fitting += bool(found)
            elif found and _rounded(value) not in others:
                misread.append(f"{where} became {found[0][1].metric} of {_said_by(found[0][0])[:120]}")
            if not found and _rounded(value) not in others:
                unread.append(where)
    if fitting > len(unread) + len(misread):
        return unread, misread[0] if misread else ""
    return ([*unread, *misread] if table.is_of_results else []), ""


def _numbers_in(run):
    said = _said_by(run)
    texts = [*re.findall(r"[0-9]+(?:\.[0-9]+)?", said), *re.findall(_NUMBER, said)]
    return [number for text in texts if (number := number_of(text)) is not None]


def _said_by(run):
    parts = (run.key, run.column, run.product, run.version, run.build, run.configuration, run.workload)
    options = [f"{name}={value}" for name, value in run.options.items()]
    return " ".join(str(part) for part in (*parts, run.threads, *options, *run.settings.values()) if part)


def _label(cell):
    """Return the words of a cell that is no number, without marks."""
    text = re.sub(r"[\\*`]|<.*?>|\[|\]\(.*?\)", "", cell).strip()
    return "" if number_of(cell) is not None or not re.search(r"\w", text) else text


def _fits(run, reading, head, row, labels):
    """Return whether a reading can be what the cell holds: its row, its version and its metric."""
    said = re.sub(r"\W", "", _said_by(run)).casefold()
    first = number_of(row[0]) if row else None
    is_of_row = (
        not labels
        or any(re.sub(r"\W", "", label).casefold() in said for label in labels)
        or (first is not None and (run.threads == first or f"{first:g}" in said))
    )
    version = _VERSION.search(head)
    is_of_version = not version or re.sub(r"\W", "", version[1]) in said
    metric = next((metric for words, metric in _METRIC_OF_HEAD if words.search(head)), None)
    is_of_metric = not metric or metric.fullmatch(reading.metric) is not None or reading.is_own
    return is_of_row and is_of_version and is_of_metric


COMPARISONS = {"jmh_text": compared_with_rows_of_jmh} | dict.fromkeys(
    (
        "per_operation",
        "qps tables, CSV",
        "missing: BenchBase",
        "missing: insert benchmark",
        "missing: mytools qps.abs",
        "missing: db_bench",
    ),
    compared_with_tables,
)
_LEFT_OUT = re.compile(
    r"left out|not read|not kept|no result|ignored|not taken|skipped|nobody", re.IGNORECASE
)


# --- the command ------------------------------------------------------------------------------------------


def counted(found):
    """Return the table of counts that docs/formats.md has: a row for each family."""
    families = sorted({_family(one) for one in found}, key=str.casefold)
    lines = [
        "| family | files | right | right, with a warning | in part, the rest named | refused with reason |",
        "|---|---|---|---|---|---|",
    ]
    for family in [*families, "all"]:
        counts = Counter(one.verdict for one in found if family in (_family(one), "all"))
        cells = (sum(counts.values()), counts[RIGHT], counts[WARNED], counts[PARTLY], counts[REFUSED])
        lines.append(f"| {family} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _family(one):
    name = one.family.removeprefix("missing: ")
    return {"mytools qps.abs": "tables", "qps tables, CSV": "tables"}.get(name, name)


def main(folder):
    found = list(outcomes(Path(folder)))
    for verdict in (WRONG, PARTLY, REFUSED):
        for one in found:
            if one.verdict == verdict:
                print(f"{verdict}: {one.file} ({one.family}{', ' if one.format else ''}{one.format})")
                print(f"    {one.sentence}")
    print(counted(found))
    print(f"wrong silently: {sum(one.verdict == WRONG for one in found)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
