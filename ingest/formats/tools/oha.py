"""oha, which prints its text as hey does, and above it the share of requests that had a response."""

from dataclasses import replace

from ingest.formats.tool_spec import PrintedLine
from ingest.formats.tools import hey

FORMAT = replace(
    hey.FORMAT,
    tool="oha",
    recognised_by=r"^Summary:\s+Success rate:\s+[0-9.]+",
    lines=(
        PrintedLine("Success rate: {count.success_share:%}%", once_a_run=True),
        PrintedLine("Success rate: {count.success_share}", once_a_run=True),
        *hey.LINES,
    ),
)
