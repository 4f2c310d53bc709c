import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import run_lines
from ingest.formats.report import FormatError
from ingest.formats.source import Source


def parse(text):
    return run_lines.parse(Source(text.encode()))


def test_a_run_that_ended_badly_is_left_out_with_a_warning():
    report = parse('{"time": "2026-01-02", "tps": 1}\n{"time": "2026-01-03", "tps": 9, "exit_code": 2}\n')
    assert [run.readings[0].value for run in report.runs] == [1]
    assert report.warnings == ("line 2: left out, the tool ended with exit code 2",)


def test_errors_are_counted_per_second():
    report = parse('{"time": "2026-01-02", "tps": 1, "errors": 6, "total_time_s": 3}\n')
    assert {one.metric: one.value for one in report.runs[0].readings}["errors_per_s"] == 2


def test_several_switched_settings_are_told_apart():
    report = parse('{"time": "2026-01-02", "tps": 1, "state": "slow_query_log=ON long_query_time=0"}\n')
    assert report.runs[0].settings == {"slow_query_log": "ON", "long_query_time": "0"}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"time": "2026-01-02", "tps": 1}\n{"time": "soon", "tps": 1}\n', 2, "no ISO 8601 time"),
        ('{"time": "2026-01-02", "tps": -1}\n', 1, "not negative"),
        ('{"time": "2026-01-02", "tps": "fast"}\n', 1, "must be a number"),
        ('{"time": "2026-01-02", "loadavg1": 1}\n', 1, "no figure"),
        ('{"time": "2026-01-02", "tps": 1}\n[1]\n', 2, "must be a JSON object"),
        (
            '{"index": 3, "time": "2026-01-02", "tps": 1}\n{"index": 3, "time": "2026-01-02", "tps": 2}\n',
            2,
            "line 1",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(text, line, reason):
    with pytest.raises(FormatError, match=reason) as refused:
        parse(text)
    assert refused.value.line == line


@given(
    st.text(max_size=200)
    | st.dictionaries(st.sampled_from(["time", "tps", "state", "index"]), st.text()).map(str)
)
def test_no_text_raises_anything_but_a_format_error(text):
    with contextlib.suppress(FormatError):
        parse(text)
