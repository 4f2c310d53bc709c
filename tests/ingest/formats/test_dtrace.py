"""DTrace's distributions beyond the fixtures: keys, units, and what is refused."""

import pytest

from ingest.formats import dtrace
from ingest.formats.report import FormatError
from ingest.formats.source import Source

HEADING = "           value  ------------- Distribution ------------- count    \n"


def rows(*counted):
    return "".join(f"{value:>16} |@@{' ' * 38} {count:<9}\n" for value, count in counted)


def table(key="", *counted):
    above = f"  {key}\n" if key else "\n"
    return f"{above}{HEADING}{rows(*(counted or ((512, 0), (1024, 7), (2048, 0))))}\n"


def read(text):
    return dtrace.parse(Source(text.encode()))


def refusal(text):
    with pytest.raises(FormatError) as error:
        read(text)
    return error.value.line, error.value.message


@pytest.mark.parametrize(
    ("key", "name", "milliseconds"),
    [
        ("select (ns)", "select histogram", 0.001024),
        ("read latency in usecs", "read latency histogram", 1.024),
        ("microseconds", "histogram", 1.024),
        ("[ms] wait", "wait histogram", 1024),
        ("fsync, seconds", "fsync histogram", 1024e3),
        ("transmissions", "transmissions histogram", 0.001024),
        ("SELECT c FROM sbtest1 WHERE id=?", "select c from sbtest1 where id histogram", 0.001024),
    ],
)
def test_the_key_says_operation_and_unit(key, name, milliseconds):
    (histogram,) = read(table(key)).intervals
    assert histogram.source == name
    assert histogram.rows == ((pytest.approx(milliseconds), pytest.approx(2 * milliseconds), 7),)


def test_what_the_tool_says_is_no_key():
    text = "dtrace: script 'x.d' matched 1 probe\nCPU     ID                    FUNCTION:NAME\n^C\n"
    text = f"# dtrace -s x.d\n{text}"
    assert [one.source for one in read(text + table()).intervals] == ["histogram"]


def test_the_last_of_several_under_one_key_is_read():
    text = table("a (ns)", (1, 5), (2, 0)) + table("b (ns)") + table("a (ns)", (1, 9), (2, 0))
    report = read(text)
    assert {one.source: one.rows[0][-1] for one in report.intervals} == {"a histogram": 9, "b histogram": 7}
    assert report.warnings == ("the distribution 'a' is printed 2 times; the last, in line 13, was read",)
    readings = {one.metric: one.value for one in report.runs[0].readings}
    assert readings == {"a.total_events": 9, "b.total_events": 7}


def test_a_distribution_that_breaks_off_is_left_out():
    report = read(table("a (ns)") + table("b (ns)", (1, 5), (2, 6)))
    assert [one.source for one in report.intervals] == ["a histogram"]
    assert report.warnings == ("the distribution that begins in line 8 breaks off and was not read",)
    assert refusal(HEADING) == (1, "the distribution breaks off in this line; was the file cut off?")


def test_a_distribution_with_nothing_behind_it_may_be_cut():
    assert read(table().rstrip("\n") + "\n").warnings[0] == "nothing follows line 5: the file may be cut off"


def test_more_keys_than_anybody_looks_at_are_left_out():
    report = read("".join(table(f"query {number} (ns)") for number in range(105)))
    assert len(report.intervals) == 100
    assert report.warnings == ("only 100 of 105 distributions were read",)


def test_what_cannot_be_times_is_refused():
    assert refusal(table("", (-2, 3), (-1, 0))) == (3, "3 values below 0, which no time can be")
    assert refusal(table("", (2, 3), (1, 0))) == (4, "the values of a distribution must rise")
    assert refusal(table("", (1, 0), (2, 0))) == (
        2,
        "the distributions are empty: nothing was measured",
    )


# --- single times -------------------------------------------------------------------------------------------

HEADING_OF_PROBES = "CPU     ID                    FUNCTION:NAME\n"


def timings(*times, probe="mysql_parse:select_finish"):
    return "".join(f"  0  18672 {probe} {time}\n\n" for time in times)


def test_times_that_are_printed_one_by_one_are_counted_as_quantize_does():
    text = HEADING_OF_PROBES + timings(61634, 70000, 131072) + timings(500, probe=":update_finish")
    report = read(text)
    readings = {one.metric: one.value for one in report.runs[0].readings}
    assert readings == {
        "select_finish.total_events": 3,
        "select_finish.latency_min": pytest.approx(0.061634),
        "select_finish.latency_avg": pytest.approx(262706 / 3e6),
        "select_finish.latency_max": pytest.approx(0.131072),
        "update_finish.total_events": 1,
        "update_finish.latency_min": pytest.approx(0.0005),
        "update_finish.latency_avg": pytest.approx(0.0005),
        "update_finish.latency_max": pytest.approx(0.0005),
    }
    assert [one.source for one in report.intervals] == ["select_finish histogram", "update_finish histogram"]
    assert report.intervals[0].rows == (
        (pytest.approx(0.032768), pytest.approx(0.065536), 1),
        (pytest.approx(0.065536), pytest.approx(0.131072), 1),
        (pytest.approx(0.131072), pytest.approx(0.262144), 1),
    )
    assert report.warnings == (
        "no unit stands behind the times of a probe: they were read as nanoseconds",
        "the last time of a probe is in line 8; nothing tells whether more followed",
    )


def test_times_without_the_heading_and_with_a_query_and_a_unit_are_read():
    assert dtrace.recognise(timings(61634).encode())
    text = HEADING_OF_PROBES + timings("select count(*) from latest 61634 us")
    (run,) = read(text).runs
    assert run.readings[2].metric == "select_count_from_latest.latency_avg"
    assert run.readings[2].value == pytest.approx(61.634)


def test_points_in_time_are_no_times():
    text = HEADING_OF_PROBES + timings(26152931955098, 26152931997414)
    line, reason = refusal(text)
    assert (line, reason[:27]) == (2, "these are points in time, n")
    assert refusal(HEADING_OF_PROBES) == (1, "neither a distribution nor a time is printed")


def test_distributions_without_a_key_are_told_apart_by_their_order():
    report = read(table("", (1, 5), (2, 0)) + table("", (1, 9), (2, 0)) + table("c (ns)"))
    assert {one.source: one.rows[0][-1] for one in report.intervals} == {
        "distribution 1 histogram": 5,
        "distribution 2 histogram": 9,
        "c histogram": 7,
    }
    assert report.warnings[0] == (
        "2 distributions have no key above them and are told apart by their order only"
    )


def test_a_distribution_that_was_pasted_from_a_web_page_is_read():
    text = "value ————— Distribution ————— count\n512 | 0\n1024 |@@@@ 61\n2048 | 0\n\n"
    assert dtrace.recognise(text.encode())
    (histogram,) = read(text).intervals
    assert histogram.rows == ((pytest.approx(0.001024), pytest.approx(0.002048), 61),)
