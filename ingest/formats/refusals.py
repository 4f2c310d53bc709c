"""Puts into words why no format recognises a file: what it is nearest to, what is missing, what to do."""

import json
import re
from collections.abc import Sequence

from ingest.budget import check_budget
from ingest.formats.report import FormatError, NearMiss
from ingest.formats.tables import qps_table
from ingest.formats.unread_texts import EXAMPLE_HEAD, INCOMPLETE_TEXTS, refusal_of_foreign_tool

_JSON_SHAPES = (
    "read are the JSON of JMH (-rf json), YCSB, {}, and a list of results such as "
    '[{{"workload": "oltp_read_only", "version": "10.11.19", "threads": 4, "tps": 730.96}}]'
)
_MAX_KEYS = 8
_KEY = re.compile(r'"([^"\\\n]{1,60})"\s*:')
_JSON = re.compile(r"\s*(?:\{\s*(?:[\"}]|$)|\[\s*(?:[\[{\"\]]|-?[0-9.]+\s*,|$)|\")")
_MARKUP = re.compile(r"<(?:!doctype|html|\?xml)\b|\{\\rtf", re.IGNORECASE)
_HTML_TABLE = re.compile(r"<t[rd]\b[^<>]*>", re.IGNORECASE)


def refusal(source_head: bytes, json_tools: Sequence[str]) -> FormatError:
    """Return the error for a file that none of the formats recognises.

    The nearest format is the one with most marks. ``json_tools`` are those of which JSON is read.
    """
    head = source_head.decode("utf-8", "replace")
    lines = head.removesuffix("\n").split("\n")
    if foreign := refusal_of_foreign_tool(head):
        return foreign
    if nearest := _nearest(lines):
        name, miss = nearest
        return FormatError(f"the file is nearest to {name}, but {miss.message}", miss.line)
    if _JSON.match(head):
        return _refusal_of_json(head, json_tools)
    if found := _HTML_TABLE.search(head):
        return FormatError(
            "its table is written in HTML; copy it from the page that a browser shows, and send that text",
            head.count("\n", 0, found.start()) + 1,
        )
    if _MARKUP.match(head.lstrip()):
        return FormatError(
            "a web page or another document, not a result file; send the text of its results or tables", 1
        )
    return _refusal_of_text(lines)


def _nearest(lines: Sequence[str]) -> tuple[str, NearMiss] | None:
    misses = []
    for text in INCOMPLETE_TEXTS:
        check_budget()
        if miss := text.near_miss(lines):
            misses.append((text.format, miss))
    if miss := qps_table.near_miss(lines):
        misses.append(("qps_table", miss))
    return max(misses, key=lambda pair: pair[1].marks, default=None)


def _refusal_of_json(head: str, json_tools: Sequence[str]) -> FormatError:
    try:
        value: object = json.loads(head)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, str):
        return FormatError("the JSON is one text in quotes; send what is in the text as a file of its own", 1)
    keys = list(dict.fromkeys(value if isinstance(value, dict) else _KEY.findall(head)))[:_MAX_KEYS]
    found = f"its keys are {', '.join(map(repr, keys))}" if keys else "it has no keys"
    shapes = _JSON_SHAPES.format(", ".join(json_tools))
    return FormatError(f"JSON of a shape that benchdash does not read: {found}; {shapes}", 1)


def _refusal_of_text(lines: Sequence[str]) -> FormatError:
    line = next((number for number, line in enumerate(lines, start=1) if line.strip()), 1)
    first = lines[line - 1].strip()
    return FormatError(
        f"not a result file that benchdash knows: it begins with {first[:80]!r}. Send all that sysbench, "
        "pgbench, JMH, YCSB, HammerDB or another tool printed, from its first line on, or a table whose "
        f"first line names its columns, such as {EXAMPLE_HEAD}",
        line,
    )
