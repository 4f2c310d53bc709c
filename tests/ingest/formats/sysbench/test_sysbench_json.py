"""The JSON of sysbench's hooks beyond the fixtures: its defects, whose figures count, every cut of a file."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import FORMATS
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench_json
from tests.ingest.formats import real_files
from tests.ingest.formats.cuts import behind_lines_and_at_offsets

FIXTURES = real_files.FIXTURES
REAL = sorted(
    path for path in (FIXTURES / "sysbench_json").glob("*") if not path.name.endswith(".expected.json")
)
DATA = real_files.SHARED

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
    return sysbench_json.parse(Source(text.encode()))


def only_run(text):
    (run,) = parse(text).runs
    return run


def values(text):
    return {reading.metric: reading.value for reading in only_run(text).readings}


def test_the_final_report_gives_the_figures_and_the_others_the_threads():
    run = only_run(listed(report(1, 90), report(2, 110)) + listed(final(2, 101)))
    assert {one.metric: one.value for one in run.readings}["tps"] == 101
    assert (run.threads, run.duration_s) == (4, 2)


@pytest.mark.parametrize(
    "text",
    [
        report(1) + ",\n" + final(1) + ",\n",
        "[\n" + report(1) + ",\n" + final(1) + ",\n]\n",
        (listed(report(1)) + listed(final(1))).replace('"other": 200.00\n', '"other": 200.00,\n'),
        "Threads started!\n" + listed(report(1)) + "Done.\n" + listed(final(1)),
        "".join(json.dumps(json.loads(one)) + "\n" for one in (report(1), final(1))),
        json.dumps([json.loads(report(1)), json.loads(final(1))]) + "\n",
        json.dumps([json.loads(report(1)), json.loads(final(1))], indent=1, sort_keys=True) + "\n",
    ],
    ids=["no-brackets", "comma-at-the-end", "comma-within", "text-around", "lines", "one-line", "sorted"],
)
def test_its_defects_and_other_shapes_change_nothing(text):
    assert values(text) == values(listed(report(1)) + listed(final(1)))
    assert [name for name, other in FORMATS.items() if other.recognise(text.encode())] == ["sysbench_json"]


def test_means_of_intervals_are_weighted_by_their_length():
    found = parse(listed(report(10, 100), report(20, 100), report(25, 400)))
    assert {one.metric: one.value for one in found.runs[0].readings}["tps"] == (1000 + 1000 + 2000) / 25
    assert found.warnings[0].startswith(
        "no final report is there: the rates are the means of 3 intervals up to second 25"
    )


def test_the_first_interval_of_a_file_that_begins_late_is_no_longer_than_the_next():
    assert values(listed(report(60, 100), report(61, 300)))["tps"] == 200


def test_a_percentile_of_intervals_is_none_of_the_run():
    assert "latency_pct" not in values(listed(report(1), report(2)))


def test_a_percentile_that_was_switched_off_is_left_out():
    assert "latency_pct" not in values(listed(report(1), latency_off := final(1, latency="0.00"))), (
        latency_off
    )


def test_a_test_without_queries_counts_events():
    assert values(listed(report(1, total="0.00"), final(1, 99, total="0.00", latency=0))) == {
        "events_per_s": 99
    }


def test_threads_that_end_early_do_not_make_the_run_smaller():
    assert only_run(listed(report(1), report(2, threads=2)) + listed(final(2))).threads == 4


def test_threads_of_the_header_count():
    assert only_run("Number of threads: 16\n" + listed(final(4))).threads == 16
    assert only_run(listed(final(4))).threads is None


def test_a_list_in_which_time_begins_anew_is_another_run():
    runs = parse(listed(report(1), report(2)) + listed(report(1, threads=8), report(2, threads=8))).runs
    assert [(run.key, run.threads) for run in runs] == [("1", 4), ("2", 8)]


def test_a_final_report_of_the_rest_of_a_run_is_doubted():
    found = parse(listed(report(10), report(20)) + listed(final(20, 7)))
    assert "the final report says 7 events a second, the intervals 100" in found.warnings[0]


def test_what_stands_under_a_banner_is_left_to_sysbenchs_own_format():
    text = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n" + listed(final(4))
    assert not sysbench_json.recognise(text.encode())


def test_other_json_is_not_recognised():
    for text in (
        "{}",
        '[{"time": 1, "tps": 2}]',
        listed(report(1).replace("tps", "rate")),
        "[1, 2]",
        '{"a": {',
    ):
        assert not sysbench_json.recognise(text.encode())


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (listed(final(4, "nan")), 2, "tps is 'nan', which is not a number"),
        (listed(final(4, "-nan")), 2, "is not a number that sysbench measures"),
        (listed(final(4, "inf")), 2, "is not a number that sysbench measures"),
        (listed(final(4, "NaN")), 2, "is not a number that sysbench measures"),
        (listed(final(4, -1)), 2, "tps is '-1'"),
        (listed(final(4, "1e999")), 2, "is not a number that sysbench measures"),
        (listed(final(4, "9" * 400)), 2, "is not a number that sysbench measures"),
        (listed(final(4, '"fast"')), 2, "tps is 'fast'"),
        (listed(final(4, 0)), 2, "not one event was completed"),
        (listed(report(1), report(1)), 16, "a report for second 1 follows one for second 1"),
        (listed(report(2), report(1)), 16, "a report for second 1 follows one for second 2"),
        (listed(report(1, threads=1.5)), 2, "1.5 is not a number of threads"),
        (listed(report(1)).removesuffix("]\n"), 15, "no final report, and the list is not closed"),
        ("FATAL: unable to connect\n" + listed(report(1)), 1, "sysbench failed: 'unable to connect'"),
        (listed(report(1)) + "General statistics:\n", 17, "sysbench's banner before it is missing"),
        ("text\n" + report(1)[:60], 2, "the report that begins here is not complete"),
        ("[]\n", 1, "no report of sysbench that is complete"),
    ],
)
def test_what_cannot_have_been_measured_is_refused_with_its_line(text, line, reason):
    with pytest.raises(FormatError, match=reason) as refused:
        parse(text)
    assert refused.value.line == line


def test_a_secret_in_a_failure_is_masked():
    with pytest.raises(FormatError) as refused:
        parse("FATAL: connect to postgresql://sb:geheim@db failed\n" + listed(report(1)))
    assert "geheim" not in refused.value.message


def test_lines_of_windows_are_read_alike():
    text = listed(report(1)) + listed(final(1))
    assert parse(text.replace("\n", "\r\n")) == parse(text)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_cut_file_is_understood_refused_or_warned_about(path):
    """Behind the final report of one of several runs, a file is a complete file of those before."""
    data = path.read_bytes()
    whole = _parsed(data)
    for end in behind_lines_and_at_offsets(data):
        found = _parsed(data[:end])
        if found is None:
            continue
        percentile = whole.warnings[-1:]
        figures = [run.readings for run in found.runs]
        is_whole = figures == [run.readings for run in whole.runs][: len(figures)]
        told = [warning for warning in found.warnings if warning not in percentile]
        assert told or is_whole, data[:end][-80:]
        assert told or data[:end].endswith(b"\n"), data[:end][-80:]


def _parsed(data):
    try:
        return sysbench_json.parse(Source(data))
    except FormatError:
        return None


def test_no_other_file_is_recognised():
    others = [path for path in FIXTURES.glob("*/*") if path.is_file() and path.parent.name != "sysbench_json"]
    assert not [path for path in others if sysbench_json.recognise(Source(path.read_bytes()).head)]


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of measured files is not there")
def test_no_measured_file_of_another_tool_is_recognised():
    files = [path for path in DATA.rglob("*") if path.is_file() and path.stat().st_size]
    assert not [path for path in files if sysbench_json.recognise(Source(path.read_bytes()).head)]


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
