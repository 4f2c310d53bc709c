"""JMH's text whatever its order and its size."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import lines
from ingest.formats.jmh import jmh_text
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

FIXTURES = real_files.FIXTURES / "jmh_text"


def test_a_large_output_is_read_as_a_small_one_is(monkeypatch):
    data = (FIXTURES / "decimal-commas-1.21.txt").read_bytes()
    whole = jmh_text.parse(Source(data))
    for size in (16, 100, 1000, 10_000):
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        assert jmh_text.parse(Source(data)) == whole, size


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
