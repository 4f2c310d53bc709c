"""JMH's text whatever its order."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.jmh import jmh_text
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

FIXTURES = real_files.FIXTURES / "jmh_text"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *(FIXTURES / "gc-profiler.txt").read_text().splitlines(),
                *(FIXTURES / "table-of-four-modes.txt").read_text().splitlines(),
                "Iteration   1: <failure>",
            ]
        ),
        max_size=60,
    )
)
def test_lines_in_any_order_are_read_or_refused(lines):
    with suppress(FormatError):
        report = jmh_text.parse(Source(("\n".join(lines) + "\n").encode()))
        assert len({run.key for run in report.runs}) == len(report.runs)
