"""The JSON of sysbench's hooks beyond the fixtures: its defects, whose figures count, every cut of a file."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import FORMATS
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench

FINAL = 0


def report(time, tps=100.0, threads=4, latency=7.5, total=2000.0):
    """One object as sysbench's ``report_json`` writes it; no thread runs any more in the final one."""
    return f"""\
  {{
    "time": {time:>4},
    "threads": {threads},
    "tps": {tps},
    "qps": {{
      "total": {total},
      "reads": 1400.00,
      "writes": 400.00,
      "other": 200.00
    }},
    "latency": {latency},
    "errors": 0.00,
    "reconnects": 0.00
  }}"""


def final(time, tps=100.0, **figures):
    return report(time, tps, threads=FINAL, **figures)


def listed(*reports):
    return "[\n" + ",\n".join(reports) + "\n]\n"


def parse(text):
    return sysbench.parse(Source(text.encode()))


def values(text):
    return {reading.metric: reading.value for reading in parse(text).runs[0].readings}


@pytest.mark.parametrize(
    "text",
    [
        report(1) + ",\n" + final(1) + ",\n",
        "[\n" + report(1) + ",\n" + final(1) + ",\n]\n",
        (listed(report(1)) + listed(final(1))).replace('"other": 200.00\n', '"other": 200.00,\n'),
        "Threads started!\n" + listed(report(1)) + "Done.\n" + listed(final(1)),
        "".join(json.dumps(json.loads(one)) + "\n" for one in (report(1), final(1))),
        json.dumps([json.loads(report(1)), json.loads(final(1))]) + "\n",
    ],
    ids=["no-brackets", "comma-at-the-end", "comma-within", "text-around", "lines", "one-line"],
)
def test_its_defects_and_other_shapes_change_nothing(text):
    assert values(text) == values(listed(report(1)) + listed(final(1)))
    assert [name for name, other in FORMATS.items() if other.recognise(text.encode())] == ["sysbench"]


def test_a_test_without_queries_counts_events():
    assert values(listed(report(1, total="0.00"), final(1, 99, total="0.00", latency=0))) == {
        "events_per_s": 99
    }


def test_other_json_is_not_recognised():
    for text in (
        "{}",
        '[{"time": 1, "tps": 2}]',
        listed(report(1).replace("tps", "rate")),
        "[1, 2]",
        '{"a": {',
    ):
        assert not sysbench.recognise(text.encode())


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (listed(final(4, "nan")), 2, "'nan' is not a number"),
        (listed(final(4, "-nan")), 2, "is not a number that sysbench measures"),
        (listed(final(4, "inf")), 2, "is not a number that sysbench measures"),
        (listed(final(4, "NaN")), 2, "is not a number that sysbench measures"),
        (listed(final(4, -1)), 2, "'-1' is not a number"),
        (listed(final(4, "1e999")), 2, "is not a number that sysbench measures"),
        (listed(final(4, "9" * 400)), 2, "is not a number that sysbench measures"),
        (listed(final(4, '"fast"')), 2, "'fast' is not a number"),
        (listed(final(4, 0)), 2, "not one event was completed"),
        (listed(report(1), report(1)), 16, "a report for second 1 follows one for second 1"),
        (listed(report(1)).removesuffix("]\n"), 15, "no final report"),
        (listed(report(1)), 16, "no final report"),
        ("[]\n", 1, "no run of sysbench"),
    ],
)
def test_what_cannot_have_been_measured_is_refused_with_its_line(text, line, reason):
    with pytest.raises(FormatError, match=reason) as refused:
        parse(text)
    assert refused.value.line == line


def test_lines_of_windows_are_read_alike():
    text = listed(report(1)) + listed(final(1))
    assert parse(text.replace("\n", "\r\n")) == parse(text)


_PIECES = st.sampled_from(
    [
        *(
            "[\n",
            "]\n",
            ",\n",
            "{",
            "}",
            report(1),
            report(2, "nan"),
            final(2),
            report(1)[:80],
            "FATAL: no\n",
        ),
        *("Number of threads: 8\n", "SQL statistics:\n", report(3, 1e300), report(0), '{"qps": 1}', "\n"),
    ]
)


@given(st.lists(_PIECES | st.text(max_size=20), max_size=12))
def test_no_pieces_raise_anything_but_a_format_error(pieces):
    with suppress(FormatError):
        parse("".join(pieces))
