"""What a tool was told for a run."""

import pytest

from benchdash.regressions.comparison.run_commands import are_equally_long, data_size, seconds, told

SYSBENCH = (
    "taskset -c 1 sysbench oltp_read_only --mysql-host=127.0.0.1 --mysql-port=23306 --tables=4"
    " --table-size=50000 --threads=8 --time=4 --histogram=on run"
)


def test_what_was_chosen_is_told_and_not_what_was_measured():
    options = {"percentile": 95, "finished_at": "2026-11-20", "contention.loadavg1": 17.5, "errors": 0.0}
    assert told(options) == {"percentile": "95"}


def test_arguments_of_the_command_are_told_by_their_names_but_not_ports_and_hosts():
    assert told({"command": SYSBENCH}) == {
        "-c": "1",
        "--tables": "4",
        "--table-size": "50000",
        "--threads": "8",
        "--time": "4",
        "--histogram": "on",
    }


def test_an_option_that_stands_in_the_command_too_is_told_once():
    assert told({"command": "sysbench --table-size=50000 run", "table_size": 50000}) == {
        "--table-size": "50000"
    }


def test_flags_and_values_after_a_blank_are_read():
    assert told({"command": "pgbench -c 16 -S -T 4 --no-vacuum bench"}) == {
        "-c": "16",
        "-S": "on",
        "-T": "4",
        "--no-vacuum": "bench",
    }


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"command": SYSBENCH}, {"tables": "4", "table_size": "50000"}),
        ({"tables": 8, "table_size": 1000}, {"tables": "8", "table_size": "1000"}),
        ({"scale": 5, "command": "pgbench -S bench"}, {"scale": "5"}),
        ({"percentile": 95}, {}),
    ],
)
def test_the_size_of_tables_is_found_in_options_and_commands(options, size):
    assert data_size(options) == size


@pytest.mark.parametrize(
    ("options", "duration", "expected"),
    [
        ({"command": "sysbench --time=4 run"}, 4.02, 4.0),
        ({"command": "pgbench -T 60"}, None, 60.0),
        ({"duration": "5 s"}, 5.2, 5.0),
        ({}, 5.2, 5.2),
        # The faster the shorter: that is the result and not a difference in how it was measured.
        ({"command": "sysbench --events=1000 --time=0 run"}, 12.0, None),
        ({}, None, None),
    ],
)
def test_how_long_a_run_was_to_last(options, duration, expected):
    assert seconds(options, duration) == expected


def test_durations_may_differ_as_tools_do():
    assert are_equally_long(60.0, 60.4)
    assert not are_equally_long(60.0, 120.0)
