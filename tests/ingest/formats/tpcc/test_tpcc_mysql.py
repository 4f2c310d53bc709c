"""tpcc-mysql beyond the fixtures: several runs, sums that do not fit, lines that are missing."""

from pathlib import Path

import pytest

from ingest.formats import parse as parse_any
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.tpcc import tpcc_mysql
from tests.ingest.formats.cuts import behind_lines_and_at_offsets

FIXTURES = Path(__file__).parents[2] / "fixtures/tpcc_mysql"
NEW = (FIXTURES / "new-intervals.txt").read_text()
OLD = (FIXTURES / "old-intervals.txt").read_text()
STOPPED = (FIXTURES / "stopped.txt").read_text()


def parse(text):
    return tpcc_mysql.parse(Source(text.encode()))


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def test_runs_one_after_another_are_told_apart_and_one_without_a_rate_is_left_out():
    report = parse(OLD + STOPPED + "8 of 9 done\n" + NEW)
    assert [(run.key, run.threads, values(run)["nopm"]) for run in report.runs] == [
        ("1", 16, 45220),
        ("3", 32, 24600),
    ]
    assert "run 2: left out: no 'TpmC' line" in report.warnings[0]
    assert [table.run for table in report.intervals] == ["1", "3"]


def test_the_end_of_an_output_alone_is_a_result_with_a_warning():
    report = parse(NEW[NEW.index("<TpmC>") :])
    assert values(report.runs[0]) == {"nopm": 24600}
    assert [warning.partition(":")[0] for warning in report.warnings] == [
        "'<Raw Results>' is missing or not complete",
        "how many connections there were is missing",
    ]


def test_the_last_line_is_whole_without_its_end():
    report = parse(OLD.rstrip("\n"))
    assert values(report.runs[0])["nopm"] == 45220
    assert report.warnings[0].endswith("has no line end: the file may be cut off")


def test_a_rate_that_its_counts_do_not_make_is_refused():
    with pytest.raises(
        FormatError, match=r"24601\.000 TpmC, but the counts above make 24600\.000"
    ) as refused:
        parse(NEW.replace("24600.000 TpmC", "24601.000 TpmC"))
    assert refused.value.line == NEW[: NEW.index("24600.000 TpmC")].count("\n") + 1


@pytest.mark.parametrize(
    ("rate", "reason"),
    [
        ("0.000", "0 TpmC: not one order was placed"),
        ("-nan", "'-nan' is not a rate that tpcc-mysql prints"),
        ("24.600,000", "'24.600,000' is not a rate that tpcc-mysql prints"),
    ],
)
def test_no_rate_is_refused(rate, reason):
    with pytest.raises(FormatError, match=reason):
        parse(NEW.replace("24600.000 TpmC", f"{rate} TpmC"))


def test_times_that_clients_spent_on_the_cpu_are_no_response_times():
    report = parse(OLD)
    named = [*values(report.runs[0]), *report.intervals[0].columns]
    assert not [name for name in named if "latency" in name]


def test_the_password_is_left_where_it_is():
    text = NEW.replace("option p with value ''", "option p with value 'hunter2'")
    text = text.replace("[pass]: ", "[pass]: hunter2")
    assert "hunter2" not in repr(parse(text))


def test_no_cut_of_an_output_gives_another_rate():
    data = NEW.encode()
    for place in behind_lines_and_at_offsets(data):
        try:
            report = tpcc_mysql.parse(Source(data[:place]))
        except FormatError:
            continue
        assert values(report.runs[0])["nopm"] == 24600


def test_rates_that_were_picked_out_are_refused_with_what_to_do():
    with pytest.raises(FormatError, match="nearest to tpcc_mysql, but its rates stand alone"):
        parse_any(Source(b"a.log:        24600.000 TpmC\nb.log:        23600.000 TpmC\n"))


def test_the_command_says_connections_where_the_output_does_not():
    end = NEW[NEW.index("<Raw Results>") :].replace("TpmC\n", "Tpmc\n")
    (run,) = parse(f"$ ./tpcc_start -h db -w 80 -c200 -r 300 -l 1800\n{end}").runs
    assert (run.threads, run.options["warehouses"], values(run)["nopm"]) == (200, 80, 24600)
    (whole,) = parse(f"$ ./tpcc_start -h db -w 80 -c200\n{NEW}").runs
    assert whole.threads == 32
