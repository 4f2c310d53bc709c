"""The insert benchmark's published tables; the fixtures say how the rest is read."""

from pathlib import Path

import pytest

from ingest.formats import parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source

WILD = Path(__file__).parents[5] / "shared/wild/ibench"


def test_published_tables_are_read_or_refused_as_relative():
    files = [path for path in sorted(WILD.rglob("*")) if path.is_file()]
    if not files:
        pytest.skip("../shared/wild is not here")
    for path in files:
        source = Source(path.read_bytes())
        if path.name.startswith("rel."):
            with pytest.raises(FormatError, match="relative figures"):
                parse(source)
            continue
        _, report = parse(source)
        rows = [line.split("\t") for line in path.read_text().splitlines() if line.count("\t") > 3]
        assert [run.readings[0].value for run in report.runs] == [
            float(row[0]) for row in rows if row[0] != "ips"
        ]
