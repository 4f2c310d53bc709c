from functools import partial

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.results.metric_corrections import change_metric
from benchdash.results.models import ProjectMetric, Series, TouchedSeries
from benchdash.results.readings import Reading, reading
from benchdash.results.records import MetricWishes
from benchdash.results.services import RecordError, record_runs
from tests.builders import make_project, make_record, make_upload
from tests.results.concurrency import at_once


def own(metric, value, unit="", direction="unknown"):
    return Reading(metric, value, unit, direction, is_own=True)


def send(project, *readings, metrics=None, **fields):
    """The warnings for an upload of one run that measured tps and these."""
    record = make_record(readings=(reading("tps", 100), *readings), metrics=metrics or {}, **fields)
    return record_runs(project, upload_id=make_upload(project).pk, records=[record]).warnings


def metric_warnings(warnings):
    return [one for one in warnings if "metric" in one or "is better here" in one]


@pytest.fixture
def project(db):
    return make_project()


def test_a_metric_that_nobody_knows_becomes_one_of_the_project(project):
    [warning] = metric_warnings(send(project, own("rss_mb", 512)))
    assert warning == (
        "new metric 'rss_mb': its unit and which direction is better are not said "
        "(as 'rss_mb [unit, lower]' over its column, or on the page Metrics); "
        "until the direction is, the metric is drawn and compared, but neither judged nor watched"
    )
    metric = ProjectMetric.objects.get()
    assert (metric.name, metric.unit, metric.direction, metric.is_own) == ("rss_mb", "", "unknown", True)
    assert (metric.watched, metric.smallest_change, metric.aggregation, metric.kind) == (
        None,
        None,
        "mean",
        "level",
    )
    assert Series.objects.get(metric="rss_mb").direction == "unknown"
    assert metric_warnings(send(project, own("rss_mb", 513), version="10.6.24")) == []


def test_a_file_that_says_all_makes_a_metric_that_lacks_nothing(project):
    [warning] = metric_warnings(send(project, own("rss_mb", 512, "MB", "lower")))
    assert warning == "new metric 'rss_mb' (MB, lower is better)"
    assert Series.objects.get(metric="rss_mb").better == "lower"


def test_what_a_later_file_says_fills_in_what_was_missing_and_turns_older_series(project):
    send(project, own("recall", 0.9))
    other = make_project()
    send(other, own("recall", 0.9))
    TouchedSeries.objects.all().delete()
    [warning] = metric_warnings(send(project, own("recall", 0.9, "1", "higher"), threads=8))
    assert warning == "the metric 'recall' is known better now: 1, higher is better"
    older, newer = Series.objects.filter(project=project, metric="recall").order_by("pk")
    assert (older.unit, older.direction) == (newer.unit, newer.direction) == ("1", "higher")
    # What its files measured is no news.
    assert TouchedSeries.objects.get(series=older).quiet
    assert not TouchedSeries.objects.get(series=newer).quiet
    assert Series.objects.get(project=other, metric="recall").direction == "unknown"


def test_what_contradicts_the_project_is_a_warning_and_the_project_wins(project):
    send(project, own("rss_mb", 512, "MB", "lower"))
    [warning] = metric_warnings(send(project, own("rss_mb", 512, "MB", "higher"), version="10.6.24"))
    assert warning == (
        "for 'rss_mb' higher is better here, but in the project lower is better, and that counts"
    )
    assert Series.objects.get(metric="rss_mb").direction == "lower"


def test_another_size_of_the_unit_is_turned_into_the_projects_and_kept_as_printed(project):
    send(project, own("rss", 512, "MB"))
    send(project, own("rss", 0.5, "GB"), threads=8)
    series = Series.objects.get(metric="rss", threads=8)
    assert (series.unit, series.printed_unit) == ("MB", "GB")
    assert series.measurements.get().value == 500
    # A file that says no unit is in that of the project.
    send(project, own("rss", 600), threads=16)
    assert Series.objects.get(metric="rss", threads=16).unit == "MB"


def test_a_unit_of_another_kind_is_refused(project):
    send(project, own("rss", 512, "MB"))
    with pytest.raises(RecordError, match="'rss' is in 'pages' here, but in 'MB' in the project"):
        send(project, own("rss", 512, "pages"), threads=8)


def test_a_metric_that_a_format_knows_keeps_its_direction(project):
    send(project, Reading("gc.alloc.rate", 10, "MB/s", "lower"))
    send(project, own("gc.alloc.rate", 11), threads=8)
    metric = ProjectMetric.objects.get()
    assert (metric.unit, metric.direction) == ("MB/s", "lower")


def test_a_sender_says_what_is_watched_and_what_matters_as_long_as_nobody_has(project):
    wishes = {"recall": MetricWishes(watched=True, smallest_change_absolute=0.01, kind="total")}
    send(project, own("recall", 0.9), metrics=wishes)
    metric = ProjectMetric.objects.get()
    assert (metric.watched, metric.smallest_change_absolute, metric.kind) == (True, 0.01, "total")
    wishes = {"recall": MetricWishes(smallest_change_absolute=0.02, smallest_change=0.1)}
    warnings = metric_warnings(send(project, own("recall", 0.9), metrics=wishes, threads=8))
    assert (
        "'smallest_change_absolute' of the metric 'recall' is 0.02 here, but 0.01 in the project"
        in warnings[1]
    )
    metric.refresh_from_db()
    assert (metric.smallest_change, metric.smallest_change_absolute) == (0.1, 0.01)


def test_known_metrics_make_none(project):
    send(project, reading("latency_p95", 5))
    assert not ProjectMetric.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_uploads_that_bring_a_metric_at_once_make_one():
    project = make_project()
    uploads = [make_upload(project) for _ in range(4)]
    readings = [own("rss_mb", 1), own("rss_mb", 2, "MB", "lower"), own("recall", 1), own("rss_mb", 3)]

    def record(upload, one, threads):
        record_runs(
            project,
            upload_id=upload.pk,
            records=[make_record(readings=(reading("tps", 100), one), threads=threads)],
        )

    at_once(
        *(
            partial(record, upload, one, threads)
            for threads, (upload, one) in enumerate(zip(uploads, readings, strict=True), 1)
        )
    )
    assert [one.name for one in ProjectMetric.objects.all()] == ["recall", "rss_mb"]
    told = Series.objects.filter(metric="rss_mb").values_list("unit", "direction").distinct()
    assert list(told) == [("MB", "lower")]


# --- several values, and values per operation ---------------------------------------------------------------


def values(project, **fields):
    found = Series.objects.filter(project=project, **fields).order_by("metric")
    return {one.metric: round(one.measurements.get().value, 6) for one in found}


@pytest.mark.parametrize(
    ("aggregation", "value"), [(None, 3), ("median", 2), ("max", 6), ("min", 1), ("last", 6), ("sum", 9)]
)
def test_of_several_values_of_one_run_the_metric_makes_one(project, aggregation, value):
    metrics = {"rss_mb": MetricWishes(aggregation=aggregation)} if aggregation else {}
    send(project, *(own("rss_mb", one) for one in (1, 2, 6)), metrics=metrics)
    assert values(project) == {"rss_mb": value, "tps": 100}


def test_two_values_of_a_known_metric_are_refused(project):
    with pytest.raises(RecordError, match="'tps' stands twice"):
        send(project, reading("tps", 1))


def test_a_rate_is_also_told_per_operation(project):
    warnings = metric_warnings(send(project, own("spins_per_s", 250, "1/s", "lower")))
    assert warnings == [
        "new metric 'spins_per_s' (1/s, lower is better)",
        "new metric 'spins_per_op' (1/op, lower is better)",
    ]
    assert values(project) == {"spins_per_op": 2.5, "spins_per_s": 250, "tps": 100}


def test_a_total_is_told_per_operation_where_the_length_of_the_run_is_known(project):
    metrics = {"smtx": MetricWishes(kind="total")}
    send(project, own("smtx", 5000, "", "lower"), metrics=metrics, duration_s=10)
    assert values(project)["smtx_per_op"] == 5
    send(project, own("smtx", 5000, "", "lower"), threads=8)
    assert values(project, threads=8) == {"smtx": 5000, "tps": 100}


def test_a_level_has_no_figure_per_operation_and_one_in_the_file_is_kept(project):
    send(project, own("rss_mb", 512, "MB", "lower"), own("icsw_per_s", 10, "1/s"), own("icsw_per_op", 7))
    assert values(project) == {"icsw_per_op": 7, "icsw_per_s": 10, "rss_mb": 512, "tps": 100}


def test_what_is_said_of_a_rate_holds_for_its_figure_per_operation(project):
    send(project, own("icsw_per_s", 10, "1/s"))
    change_metric(project, "icsw_per_s", {"direction": "lower"}, by=NOBODY)
    told = ProjectMetric.objects.values_list("name", "direction")
    assert dict(told) == {"icsw_per_s": "lower", "icsw_per_op": "lower"}
    assert set(Series.objects.exclude(metric="tps").values_list("direction", flat=True)) == {"lower"}
