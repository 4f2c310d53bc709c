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
