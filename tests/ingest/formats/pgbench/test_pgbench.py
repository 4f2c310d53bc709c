"""pgbench on every measured file there is; the fixtures say how the rest is read."""

import json

import pytest

from ingest.formats import FORMATS
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

PGBENCH = FORMATS["pgbench"]
MEASURED = real_files.SHARED / "pgbench"


@pytest.mark.skipif(not MEASURED.is_dir(), reason="the measured files are not here")
def test_every_measured_file_is_read_right_or_refused_rightly_by_this_format_alone():
    paths = sorted(MEASURED.glob("*/*.txt"))
    assert paths
    for path in paths:
        source = Source(path.read_bytes(), path.name)
        assert [name for name, format_ in FORMATS.items() if format_.recognise(source.head)] == ["pgbench"]
        if path.stem == "init":
            with pytest.raises(FormatError, match="pgbench -i prints none"):
                PGBENCH.parse(source)
            continue
        meta = json.loads(path.with_suffix(".meta.json").read_text())
        parsed = PGBENCH.parse(source)
        (run,) = parsed.runs
        assert (run.product, run.version, run.workload, run.threads) == (
            meta["product"],
            meta["version"],
            meta["workload"],
            meta["clients"],
        )
        assert run.options["scale"] == meta["scale"]
        assert {"tps", "latency_avg", "latency_stddev", "statement_1.latency_avg"} <= {
            reading.metric for reading in run.readings
        }
        assert len(parsed.intervals[0].rows) >= 3
        assert all("but the duration is" in warning for warning in parsed.warnings), path
