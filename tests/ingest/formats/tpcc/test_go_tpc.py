"""go-tpc beyond the fixtures: several runs, what does not fit together, what it does not say."""

from pathlib import Path

import pytest

from ingest.formats import parse as parse_any
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.tpcc import go_tpc
from tests.ingest.formats.cuts import behind_lines_and_at_offsets

FIXTURES = Path(__file__).parents[2] / "fixtures/go_tpc"
WHOLE = (FIXTURES / "sixteen-threads.txt").read_text()
SUMMARY = (FIXTURES / "summary-alone.txt").read_text()


def parse(text):
    return go_tpc.parse(Source(text.encode()))


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def test_runs_one_after_another_are_told_apart_by_their_commands_and_rates():
    second = WHOLE.replace("-T 16", "--threads=32").replace("tpmC: 1480.6", "tpmC: 1481.6")
    report = parse(WHOLE + "\n### RISC-V\n" + SUMMARY + second)
    found = [(run.key, run.threads, values(run)["nopm"]) for run in report.runs]
    assert found == [("1", 16, 1480.6), ("2", None, 1480.6), ("3", 32, 1481.6)]
    assert [table.run for table in report.intervals] == ["1", "3"]


def test_an_interval_whose_new_orders_failed_once_is_one_interval():
    (table,) = parse(WHOLE).intervals
    assert [row[0] for row in table.rows] == [1, 2]


def test_the_rates_alone_are_a_result_with_a_warning():
    report = parse("tpmC: 1480.6, tpmTotal: 3276.1, efficiency: 2878.3%")
    assert values(report.runs[0]) == {"nopm": 1480.6, "tpm": 3276.1}
    assert "no '[Summary]' lines: only the rates are read" in report.warnings


def test_a_time_at_the_end_of_its_histogram_is_told():
    report = parse(WHOLE.replace("Max(ms): 104.9\n", "Max(ms): 16106.1\n"))
    assert "those of payment may be longer" in report.warnings[0]


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ("tpmC: 1480.6", "tpmC: 148.6", "tpmC is 148.6, but the summary has 1480.7 new orders a minute"),
        ("tpmC: 1480.6", "tpmC: 0.0", "0 tpmC: not one order was placed"),
        ("tpmC: 1480.6", "tpmC: NaN", "'NaN' is not a number that go-tpc prints"),
        ("Avg(ms): 62.4", "Avg(ms): 624", "the average time of new_order is above its greatest"),
        ("Count: 1480", "Count: -1480", "'-1480' is not a number that go-tpc prints"),
        ("[Summary] STOCK_LEVEL", "[Summary] PAYMENT", "a second summary of payment"),
    ],
)
def test_what_does_not_fit_together_is_refused(was, becomes, reason):
    with pytest.raises(FormatError) as refused:
        parse(WHOLE.replace(was, becomes))
    assert refused.value.message.startswith(reason)


def test_no_cut_of_an_output_gives_another_rate():
    data = WHOLE.encode()
    for place in behind_lines_and_at_offsets(data):
        try:
            report = go_tpc.parse(Source(data[:place]))
        except FormatError:
            continue
        rate = values(report.runs[0])["nopm"]
        assert rate == 1480.6 or (rate == 1480.7 and "those of the summary" in " ".join(report.warnings))


@pytest.mark.parametrize(
    "line",
    [
        "| [Summary] | NEW_ORDER    |     60.0 |  1480 | 1480.7 |",
        '[{"Prefix":"[Summary] ","Operation":"NEW_ORDER","Takes(s)":"60.0","TPM":"1480.7"}]',
    ],
)
def test_the_other_styles_of_output_are_refused_with_what_to_do(line):
    with pytest.raises(FormatError, match="nearest to go_tpc, but its output is a table or JSON"):
        parse_any(Source(f"{line}\n".encode()))


def test_queries_beside_the_transactions_make_another_workload():
    text = WHOLE.replace(
        "[Summary] DELIVERY", "Finished: 48 OLTP workers, 2 OLAP workers\n[Summary] DELIVERY", 1
    )
    (run,) = parse(text).runs
    assert (run.workload, run.threads, run.options["olap_workers"]) == ("CH-benCHmark", 48, 2)


def test_threads_are_those_of_the_run_and_not_of_what_prepared_it():
    prepare = "go-tpc tpcc --warehouses 4 prepare -T 64\n"
    assert parse(f"{prepare}$ tiup bench tpcc --warehouses 4 run -T 8\n{SUMMARY}").runs[0].threads == 8
    assert parse(f"{prepare}$ tiup-bench tpcc --warehouses 4 run\n{SUMMARY}").runs[0].threads is None
