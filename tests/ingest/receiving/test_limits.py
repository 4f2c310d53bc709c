"""The limits of formats are settings."""

from pathlib import Path

import pytest

from ingest.formats.limits import DEFAULT_LIMITS
from ingest.formats.report import FormatError
from ingest.metadata.fields import Metadata
from ingest.receiving.parsing import parse, result_limits


def test_the_settings_have_the_limits_that_formats_have_without_them():
    assert result_limits() == DEFAULT_LIMITS


def test_a_file_is_read_within_the_limits_of_the_settings(settings):
    settings.RESULT_FILE_MAX_BYTES = 10
    with pytest.raises(FormatError, match=r"the file has 11 bytes, more than 10 \(RESULT_FILE_MAX_BYTES\)"):
        parse(b"hello world", "hello.txt", Metadata())


def test_samples_beyond_the_limit_are_not_kept_and_missed_with_a_warning(settings):
    settings.RESULT_MAX_SAMPLES = 3
    fixture = Path(__file__).parents[1] / "fixtures" / "sysbench" / "oltp_read_only-histogram.txt"
    _, report = parse(fixture.read_bytes(), fixture.name, Metadata())
    kept = [len(table.rows) for table in report.intervals]
    assert sum(kept) <= 3
    assert any(
        "interval samples beyond 3 (RESULT_MAX_SAMPLES) are not kept" in one for one in report.warnings
    )


def test_a_table_of_too_many_cells_is_refused(settings):
    settings.RESULT_TABLE_MAX_CELLS = 5
    with pytest.raises(
        FormatError, match=r"a table of up to 6 cells, more than 5 \(RESULT_TABLE_MAX_CELLS\)"
    ):
        parse(b"query,A-1.0 qps\nDO 1,812\nDO 2,700\n", "table.csv", Metadata(format="qps_table"))
