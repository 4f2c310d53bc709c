"""HammerDB beyond the fixtures: what names a product, what is refused, what warns, every cut of a file."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import hammerdb
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.cuts import behind_lines_and_at_offsets

FIXTURES = Path(__file__).parents[1] / "fixtures"
FILES = sorted(path for path in (FIXTURES / "hammerdb").glob("*") if not path.name.endswith(".expected.json"))
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

RESULT = "TEST RESULT : System achieved 1000 NOPM from 2300 PostgreSQL TPM"


def output(result=RESULT, users=4, before=(), after=(), complete=True):
    lines = ["HammerDB CLI v4.9", *before, "Vuser 1:RUNNING", "Vuser 2:RUNNING"]
    lines += [
        "Vuser 1:Timing test period of 5 in minutes",
        f"Vuser 1:{users} Active Virtual Users configured",
    ]
    lines += [f"Vuser 1:{result}", *after]
    return "\n".join([*lines, *(["ALL VIRTUAL USERS COMPLETE"] if complete else [])]) + "\n"


def summary(*rows, ends=True):
    head = [">>>>> SUMMARY OF 4 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 1000ms"]
    return "\n".join([*head, *rows, *(["+-+-+-+-+-+-+-+-+"] if ends else [])]) + "\n"


NEW_ORDER = (
    ">>>>> PROC: NEWORD",
    "CALLS: 322104\tMIN: 2.269ms\tAVG: 9.236ms\tMAX: 36.366ms\tTOTAL: 2975206.250ms",
    "P99: 14.197ms\tP95: 12.399ms\tP50: 9.087ms\tSD: 1808.882\tRATIO: 41.115%",
)


def parse(text):
    return hammerdb.parse(Source(text.encode()))


def only_run(text):
    (run,) = parse(text).runs
    return run


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def test_a_result_is_two_rates_at_a_number_of_users():
    run = only_run(output())
    assert values(run) == {"nopm": 1000, "tpm": 2300}
    assert (run.threads, run.workload, run.duration_s) == (4, "TPROC-C", 300)
    assert parse(output()).warnings == ()


@pytest.mark.parametrize(
    ("database", "product"),
    [
        ("Oracle", "Oracle"),
        ("SQL Server", "SQL Server"),
        ("Db2", "Db2"),
        ("MariaDB", "MariaDB"),
        ("MySQL", None),
        ("PostgreSQL", None),
    ],
)
def test_a_driver_that_others_use_too_names_no_product(database, product):
    run = only_run(output(f"TEST RESULT : System achieved 1000 NOPM from 2300 {database} TPM"))
    assert (run.product, run.options["database"]) == (product, database)


def test_a_server_of_mariadb_says_so_to_the_driver_of_mysql():
    result = "TEST RESULT : System achieved 1000 NOPM from 2300 MySQL TPM"
    run = only_run(output(result, before=["Vuser 1:DBVersion:10.11.19-MariaDB-log"]))
    assert (run.product, run.version) == ("MariaDB", "10.11.19")
    assert only_run(output(result, before=["Vuser 1:DBVersion:8.0.44"])).version == "8.0.44"


def test_transactions_that_were_not_counted_are_left_out():
    found = parse(output("TEST RESULT : System achieved 0 Oracle TPM at 27975 NOPM"))
    assert values(found.runs[0]) == {"nopm": 27975}
    assert found.warnings == ("0 TPM was not measured and is left out (line 6)",)


def test_the_name_of_the_benchmark_is_that_of_the_file():
    assert only_run(output(before=["Benchmark set to TPC-C for PostgreSQL"])).workload == "TPC-C"
    assert only_run(output(before=["Benchmark set to TPROC-C for MariaDB"])).workload == "TPROC-C"


def test_options_are_read_whatever_the_driver_calls_them():
    for name in ("pg_count_ware", "mssqls_count_ware", "count_ware"):
        changed = f"Changed tpcc:{name} from 1 to 400 for PostgreSQL"
        assert only_run(output(before=[changed])).options["warehouses"] == 400
        assert only_run(output(before=[f" {name}       = 400"])).options["warehouses"] == 400


def test_no_password_is_kept():
    secrets = [
        "Changed tpcc:pg_pass from tpcc to geheim for PostgreSQL",
        " pg_superuserpass    = geheim",
        "hammerdb>diset tpcc pg_pass geheim",
    ]
    assert "geheim" not in str(parse(output(before=secrets)))


def test_results_in_a_list_of_a_line_are_read_too():
    listed = ["6A1F", "2026-11-20 18:31:07", "8 Active Virtual Users configured", RESULT]
    run = only_run(json.dumps(listed) + "\n")
    assert (values(run)["nopm"], run.threads, run.started_at.hour) == (1000, 8, 18)


def test_output_of_a_job_alternates_with_the_numbers_of_its_users():
    said = ["Vuser 1:RUNNING", "5 Active Virtual Users configured", RESULT, "ALL VIRTUAL USERS COMPLETE"]
    text = json.dumps([part for one in said for part in ("1", one)], indent=2) + "\n"
    assert only_run(text).threads == 5


def test_a_summary_of_results_gives_a_run_for_each():
    found = parse(f"Vuser 1:{RESULT}\nVuser 1:{RESULT}\n")
    assert [run.key for run in found.runs] == ["1", "2"]
    assert "how many virtual users were active is missing" in found.warnings[0]


def test_the_prompt_may_stand_before_a_line():
    assert values(only_run(f"Vuser 1:RUNNING\nhammerdb>Vuser 1:{RESULT}\n"))["tpm"] == 2300


def test_a_profile_of_two_runs_belongs_to_the_result_before_it():
    profile = summary(*NEW_ORDER)
    first, second = parse(output() + profile + output() + profile.replace("9.087", "9.5")).runs
    assert values(first)["neword.latency_p50"] == 9.087
    assert values(second)["neword.latency_p50"] == 9.5


def test_what_was_never_called_has_no_times():
    never = [">>>>> PROC: SLEV", "CALLS: 0\tMIN: 0ms\tAVG: NaNms\tMAX: 0ms", "P99: 0ms\tP95: 0ms\tP50: 0ms"]
    assert not [name for name in values(only_run(summary(*NEW_ORDER, *never))) if name.startswith("slev")]


def test_the_counter_is_kept_up_to_the_result():
    (table,) = parse(
        output(before=["0 PostgreSQL tpm", "2310 PostgreSQL tpm"], after=["0 PostgreSQL tpm"])
    ).intervals
    assert table.rows == ((1, 0), (2, 2310))


def test_a_run_that_was_stopped_is_left_out_of_several():
    stopped = output().partition("Vuser 1:4 Active")[0]
    found = parse(output() + stopped + output(users=8))
    assert [(run.key, run.threads) for run in found.runs] == [("1", 4), ("3", 8)]
    assert found.warnings[0].startswith("run 2: left out: no 'TEST RESULT'")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (output(RESULT.replace("1000", "0")), 6, "0 NOPM"),
        (output(RESULT.replace("1000", "-5")), 6, "'-5' is not a whole number"),
        (output(RESULT.replace("1000", "NaN")), 6, "'NaN' is not a whole number"),
        (output(RESULT.replace("1000", "1e999")), 6, "is not a (whole )?number"),
        (output(RESULT.replace("1000", "9" * 5000)), 6, "is not how HammerDB writes its result"),
        (output(RESULT.replace("1000", "٣")), 6, "is not a (whole )?number"),
        (output(RESULT.replace("1000", "124.500")), 6, "'124.500' is not a whole number"),
        (output(users=0), 5, "0 is not a number of virtual users"),
        (output(before=["Benchmark set to TPC-H for PostgreSQL"]), 3, "TPROC-H is not read"),
        (output(before=["Vuser 3:RUNNING", "Vuser 3:FINISHED FAILED"]), 3, "1 virtual users failed"),
        ("HammerDB CLI v4.9\n", 1, "no test was run"),
        (summary(">>>>> PROC: NEWORD"), 1, "holds no times"),
        (summary(*NEW_ORDER).replace("2.269", "10.5"), 3, "not in this order"),
    ],
)
def test_what_is_no_result_is_refused_with_its_line(text, line, reason):
    with pytest.raises(FormatError, match=reason) as refused:
        parse(text)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (output(complete=False), "'ALL VIRTUAL USERS COMPLETE' is missing"),
        (output(after=["Vuser 1:FINISHED FAILED"]), "a virtual user failed after the result (line 7)"),
        (output() + summary(*NEW_ORDER, ends=False), "that begins in line 8 does not end"),
        (output() + summary(*NEW_ORDER[:2]), "the times of NEWORD are not complete: no P99, P95, P50"),
        (output() + "Vuser 1:", "has no line end and was not read"),
    ],
)
def test_what_is_missing_is_named(text, warning):
    (found,) = parse(text).warnings
    assert warning in found


def test_lines_of_windows_are_read_alike():
    assert parse(output().replace("\n", "\r\n")) == parse(output())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_cut_file_is_understood_refused_or_warned_about(path):
    """Before a profile, and between two runs, a file is a complete file of what stands there."""
    data = path.read_bytes()
    whole = _parsed(data)
    for end in behind_lines_and_at_offsets(data):
        found = _parsed(data[:end])
        if found is None:
            continue
        rates = [reading for run in found.runs for reading in run.readings if "." not in reading.metric]
        all_rates = [reading for run in whole.runs for reading in run.readings if "." not in reading.metric]
        lost_times = [
            run
            for run, complete in zip(found.runs, whole.runs, strict=False)
            if 0
            < sum("." in metric for metric in values(run))
            < sum("." in metric for metric in values(complete))
        ]
        assert found.warnings or (rates == all_rates[: len(rates)] and not lost_times), data[:end][-80:]
        assert found.warnings or data[:end].endswith(b"\n"), data[:end][-80:]


def _parsed(data):
    try:
        return hammerdb.parse(Source(data))
    except FormatError:
        return None


def test_no_other_file_is_recognised():
    others = [path for path in FIXTURES.glob("*/*") if path.is_file() and path.parent.name != "hammerdb"]
    assert not [path for path in others if hammerdb.recognise(Source(path.read_bytes()).head)]


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of measured files is not there")
def test_no_measured_file_of_another_tool_is_recognised():
    files = [path for path in DATA.rglob("*") if path.is_file() and path.stat().st_size]
    assert not [path for path in files if hammerdb.recognise(Source(path.read_bytes()).head)]


_LINES = st.sampled_from(
    [
        *output(before=["Benchmark set to TPC-C for Oracle", "12 Oracle tpm"]).splitlines(),
        *summary(*NEW_ORDER).splitlines(),
        *("{", "}", '"NEWORD": {', '"p95_ms": "1e999",', '"calls": "x"', "Vuser 2:FINISHED FAILED"),
        *("Vuser 1:DBVersion:8.0", "2026-99-99 99:99:99", "P95: NaNms\tMIN: -1ms"),
    ]
)


@given(st.lists(_LINES | st.text(max_size=40), max_size=25))
def test_no_lines_raise_anything_but_a_format_error(lines):
    with suppress(FormatError):
        parse("\n".join(lines) + "\n")
