"""Distributions of versions against each other, from stored histograms."""

from datetime import timedelta

import pytest

from benchdash.accounts.access import Viewer
from benchdash.regressions.comparison import latency
from benchdash.regressions.comparison.columns import Selector, SelectorError, columns_of_runs
from benchdash.regressions.comparison.latency import (
    SHARES,
    LatencyRowKey,
    compare_columns,
    compare_latencies,
    latency_doubts,
    sampled_rows,
    sampled_runs,
)
from benchdash.regressions.detection.quantiles import compared_percentiles, percentiles_of_runs
from benchdash.regressions.options import EQUIVALENCE_MARGIN
from benchdash.results.corrections import exclude_run
from benchdash.results.distributions import Bounds, distribution_of
from benchdash.results.records import SampleTable
from tests.builders import START, in_sessions, make_project, make_record, make_run, make_runs, make_user

pytestmark = pytest.mark.django_db

ROW = LatencyRowKey("oltp_read_only", 4)


def histogram(*rows, source="histogram"):
    return SampleTable(source, ("from_ms", "to_ms", "count"), tuple(map(tuple, rows)))


def measure(project, version, *tables, **fields):
    """A run, and a session where no tag says otherwise, for each of the tables."""
    records = [make_record(version=version, samples=(table,), **fields) for table in tables]
    return make_runs(in_sessions(records), project=project)


def sampled_columns(project):
    """The versions at places that have a histogram."""
    return columns_of_runs(sampled_runs(project))


def compared(project, row=ROW):
    base, *others = sampled_columns(project)
    table = compare_columns(project, base=base, columns=others, row=row)
    return table.rows[0] if table.rows else None


@pytest.fixture
def project():
    return make_project()


def test_the_buckets_of_repeats_are_summed(project):
    measure(project, "10.6.1", histogram((1, 2, 900), (8, 16, 100)), histogram((1, 2, 10), (8, 16, 90)))
    cell = compared(project).base
    assert (cell.runs, cell.measured, cell.operations) == (2, 2, 1100)
    assert cell.distribution.counts.tolist() == [910, 190]
    median, p90, *_, p999 = cell.percentiles
    assert (median.bounds, p90.bounds, p999.bounds) == (Bounds(1, 2), Bounds(8, 16), Bounds(8, 16))


def test_a_version_is_compared_with_the_base_percentile_by_percentile(project):
    measure(project, "10.6.1", *(histogram((1, 1.01, 900), (2, 2.02, 100)) for _ in range(3)))
    measure(project, "10.6.2", *(histogram((1, 1.01, 900), (4, 4.04, 100)) for _ in range(3)))
    (cell,) = compared(project).cells
    median, p90, p95, *_ = [one.comparison for one in cell.percentiles]
    assert (median.ratio, median.verdict) == (pytest.approx(1), "same")
    assert p90.verdict == "same"
    assert (p95.ratio, p95.verdict) == (pytest.approx(2), "worse")
    assert p95.low < 2 < p95.high < 2.1


def test_without_repeats_there_is_no_test(project):
    measure(project, "10.6.1", histogram((1, 2, 100)))
    measure(project, "10.6.2", histogram((2, 4, 100)))
    (cell,) = compared(project).cells
    one = cell.percentiles[0].comparison
    assert (one.ratio, one.p, one.verdict) == (pytest.approx(2), None, "unknown")


def test_runs_of_one_session_count_as_one(project):
    """Three runs in two sessions: the two of the first are merged before anything is drawn."""
    first, second = histogram((1, 1.01, 100)), histogram((2, 2.02, 100))
    for version in ("10.6.1", "10.6.2"):
        measure(project, version, first, first, tags=(f"session:{version}-a",))
        measure(project, version, second, tags=(f"session:{version}-b",))
    row = compared(project)
    (cell,) = row.cells
    assert (cell.runs, cell.sessions, cell.operations) == (3, 2, 300)
    columns = first.columns
    sessions = [distribution_of(columns, [(1, 1.01, 200)]), distribution_of(columns, [(2, 2.02, 100)])]
    alone = percentiles_of_runs(sessions, SHARES)
    assert [one.comparison.high for one in cell.percentiles] == [
        one.high for one in compared_percentiles(alone, alone)
    ]


def test_repeats_within_a_single_session_are_no_test(project):
    for version, slow in (("10.6.1", 1), ("10.6.2", 4)):
        runs = [histogram((slow, slow * 1.01, 100))] * 4
        measure(project, version, *runs, tags=(f"session:{version}",))
    (cell,) = compared(project).cells
    one = cell.percentiles[0].comparison
    assert (cell.runs, cell.sessions) == (4, 1)
    assert (one.ratio, one.p, one.verdict) == (pytest.approx(4), None, "unknown")


@pytest.mark.parametrize(("margin", "verdict"), [(0.02, "worse"), (0.2, "same")])
def test_the_margin_of_the_project_says_what_does_not_matter(project, margin, verdict):
    project.options = {EQUIVALENCE_MARGIN: margin}
    project.save(update_fields=["options"])
    measure(project, "10.6.1", *[histogram((1, 1.001, 1000))] * 4)
    measure(project, "10.6.2", *[histogram((1.1, 1.101, 1000))] * 4)
    (cell,) = compared(project).cells
    assert cell.percentiles[0].comparison.verdict == verdict


def test_what_else_than_the_version_differs_is_named(project):
    for version, hardware, size, value in (("10.6.1", "box", 1000, "1"), ("10.6.2", "other", 5000, "2")):
        measure(
            project,
            version,
            histogram((1, 2, 5)),
            hardware=hardware,
            options={"table_size": size},
            duration_s=size / 100,
            settings={"a": value},
            configuration_text=f"a={value}",
        )
    base, *others = sampled_columns(project)
    table = compare_columns(project, base=base, columns=others, row=ROW)
    texts = [doubt.text for doubt in latency_doubts(table)]
    assert texts == [
        "Different hardware: box; other.",
        "Different sizes of tables: table_size: 1000 → 5000.",
        "Different durations: duration: 10 s → 50 s.",
        "Different settings or environments: a.",
    ]


def test_a_percentile_that_one_side_cannot_tell_is_not_compared(project):
    measure(project, "10.6.1", histogram((1, 2, 10_000)))
    measure(project, "10.6.2", histogram((1, 2, 50)))
    (cell,) = compared(project).cells
    assert [one.bounds is None for one in cell.percentiles] == [False, False, False, True, True]
    assert cell.percentiles[3].comparison.ratio is None


def test_excluded_runs_and_older_surroundings_do_not_count(project):
    first, *_ = measure(project, "10.6.1", histogram((1, 2, 5)), histogram((1, 2, 7)))
    exclude_run(first, by=Viewer(user=make_user()), reason="the disk was full")
    assert compared(project).base.operations == 7
    make_run(
        project=project,
        version="10.6.1",
        samples=(histogram((4, 8, 3)),),
        started_at=START + timedelta(days=9),
        configuration_text="a=2",
        settings={"a": "2"},
    )
    assert (compared(project).base.operations, compared(project).base.measured) == (3, 1)


def test_of_very_many_runs_the_newest_are_merged(project, monkeypatch):
    monkeypatch.setattr(latency, "MAX_RUNS", 2)
    measure(project, "10.6.1", *(histogram((1, 2, count)) for count in (1, 10, 100)))
    cell = compared(project).base
    assert (cell.runs, cell.measured, cell.operations) == (2, 3, 110)


def test_the_operations_of_ycsb_are_rows_of_their_own(project):
    for source in ("read histogram", "update histogram"):
        measure(project, "10.6.1", histogram((1, 2, 5), source=source))
    columns = sampled_columns(project)
    assert sampled_rows(project, columns) == {
        LatencyRowKey("oltp_read_only", 4, "read"): 1,
        LatencyRowKey("oltp_read_only", 4, "update"): 1,
    }
    assert compared(project, LatencyRowKey("oltp_read_only", 4, "read")).base.operations == 5


def test_only_versions_with_a_histogram_can_be_chosen(project):
    make_run(project=project, version="10.6.1")
    seconds = SampleTable("sysbench", ("time_s", "tps"), ((1.0, 90.0),))
    make_run(project=project, version="10.6.2", samples=(seconds,))
    assert sampled_columns(project) == []
    measure(project, "10.6.3", histogram((1, 2, 5)))
    assert [column.version.version for column in sampled_columns(project)] == ["10.6.3"]


def test_rows_are_counted_by_the_columns_that_have_them(project):
    for version, threads in (("10.6.1", 4), ("10.6.2", 4), ("10.6.2", 64), ("10.6.2", None)):
        measure(project, version, histogram((1, 2, 5)), threads=threads)
    assert sampled_rows(project, sampled_columns(project)) == {
        LatencyRowKey("oltp_read_only", None): 1,
        LatencyRowKey("oltp_read_only", 4): 2,
        LatencyRowKey("oltp_read_only", 64): 1,
    }


def test_a_column_without_a_histogram_in_the_row_has_no_cell(project):
    measure(project, "10.6.1", histogram((1, 2, 5)), threads=1)
    measure(project, "10.6.2", histogram((1, 2, 5)))
    row = compared(project)
    assert row.base is None
    assert row.cells[0].percentiles[0].comparison is None
    assert compared(project, LatencyRowKey("nothing", 4)) is None


def test_a_histogram_that_counts_nothing_is_none(project):
    measure(project, "10.6.1", histogram((1, 2, 0)))
    assert compared(project) is None


def test_selectors_choose_among_the_versions_with_histograms(project):
    measure(project, "10.6.1", histogram((1, 2, 5)))
    measure(project, "10.6.2", histogram((1, 2, 5)))
    make_run(project=project, version="10.6.3")
    table = compare_latencies(project, base=Selector(version="10.6.1"), workloads=["oltp_read_only"])
    assert [column.version.version for column in table.columns] == ["10.6.2"]
    with pytest.raises(SelectorError, match="no run fits"):
        compare_latencies(project, base=Selector(version="10.6.3"))


def test_too_large_a_table_is_refused(project, monkeypatch):
    monkeypatch.setattr(latency, "MAX_CELLS", 1)
    for version in ("10.6.1", "10.6.2"):
        measure(project, version, histogram((1, 2, 5)))
    with pytest.raises(SelectorError, match="these are 2 distributions, and at most 1"):
        compare_latencies(project, base=Selector(version="10.6.1"))


def test_more_runs_and_columns_take_no_more_statements(project, django_assert_num_queries):
    for number in range(1, 3):
        measure(project, f"10.6.{number}", *[histogram((1, 2, 5))] * number)
    columns = sampled_columns(project)
    with django_assert_num_queries(3):
        compare_columns(project, base=columns[0], columns=columns[1:], row=ROW)
    for number in range(3, 9):
        measure(project, f"10.6.{number}", *[histogram((1, 2, 5))] * number)
    columns = sampled_columns(project)
    with django_assert_num_queries(3):
        compare_columns(project, base=columns[0], columns=columns[1:], row=ROW)
