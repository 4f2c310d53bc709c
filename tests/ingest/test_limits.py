"""The limits of formats are settings."""

import pytest

from ingest.formats.limits import DEFAULT_LIMITS
from ingest.formats.report import FormatError
from ingest.limits import result_limits
from ingest.metadata import Metadata
from ingest.reading import parse


def test_the_settings_have_the_limits_that_formats_have_without_them():
    assert result_limits() == DEFAULT_LIMITS


def test_a_file_is_read_within_the_limits_of_the_settings(settings):
    settings.RESULT_FILE_MAX_BYTES = 10
    with pytest.raises(FormatError, match=r"the file has 11 bytes, more than 10 \(RESULT_FILE_MAX_BYTES\)"):
        parse(b"hello world", "hello.txt", Metadata())
