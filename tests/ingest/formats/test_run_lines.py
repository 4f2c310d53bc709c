"""Lines of JSON with one run each, beyond the fixtures."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import run_lines
from ingest.formats.report import FormatError
from ingest.formats.source import Source


@given(
    st.text(max_size=200)
    | st.dictionaries(st.sampled_from(["time", "tps", "state", "index"]), st.text()).map(str)
)
def test_no_text_raises_anything_but_a_format_error(text):
    with contextlib.suppress(FormatError):
        run_lines.FORMAT.parse(Source(text.encode()))
