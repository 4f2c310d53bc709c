"""go-ycsb beyond the fixtures: several runs, runs that did not end, figures that do not fit."""

from pathlib import Path

import pytest

from ingest.formats import go_ycsb
from ingest.formats.report import FormatError
from ingest.formats.source import Source

WHOLE = (Path(__file__).parents[1] / "fixtures/go_ycsb/workloada.txt").read_text()
END = WHOLE[WHOLE.index("Run finished") :]
OLD_END = "".join(line for line in END.splitlines(keepends=True) if not line.startswith("TOTAL"))


def parse(text):
    return go_ycsb.parse(Source(text.encode()))


def values(run):
    return {reading.metric: reading.value for reading in run.readings}


def test_runs_in_a_document_have_the_workload_of_their_commands():
    load = "$ go-ycsb load mysql -P workloads/workloadb --threads=8\n"
    report = parse(f"# Loading\n```\n{load}{OLD_END}```\n# Running\n```\n{WHOLE}```\n")
    found = [(run.key, run.workload, run.threads) for run in report.runs]
    assert found == [("1", "workloadb load", 8), ("2", "workloada", 16)]


def test_without_a_total_the_rates_of_the_operations_are_added_up():
    run = parse(OLD_END.replace("24.25s", "1h2m3.5s")).runs[0]
    assert values(run)["ops_per_s"] == 8254.0 + 8245.5
    assert values(run)["total_time"] == 3723.5
    assert "latency_avg" not in values(run)


def test_lines_without_an_end_of_the_run_are_read_with_a_warning_and_an_end_that_is_cut_too():
    alone = parse("".join(OLD_END.splitlines(keepends=True)[1:]))
    assert "whether this is the whole run is not said" in alone.warnings[0]
    cut = parse(WHOLE[: WHOLE.rindex("UPDATE - ")])
    assert "no line of UPDATE, UPDATE_ERROR up to line 23" in " ".join(cut.warnings)


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        (
            "Avg(us): 697,",
            "Avg(us): 97,",
            "the least, average and greatest time of READ are not in this order",
        ),
        ("takes 24.25s", "takes soon", "'soon' is not a time that go-ycsb prints"),
        ("OPS: 16499.5", "OPS: NaN", "'NaN' is not a number that go-ycsb prints"),
        ("Takes(s): 24.2, Count: 200100,", "Takes(s): 24.2,", "the line is not whole"),
    ],
)
def test_what_does_not_fit_is_refused(was, becomes, reason):
    with pytest.raises(FormatError) as refused:
        parse(WHOLE.replace(was, becomes))
    assert refused.value.message.startswith(reason)
