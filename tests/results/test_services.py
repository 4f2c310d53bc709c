from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchdash.results.models import (
    Alias,
    ConfigurationContent,
    Environment,
    Hardware,
    IntervalSamples,
    Measurement,
    Product,
    Run,
    Series,
    ServerVersion,
    TouchedSeries,
    Workload,
)
from benchdash.results.readings import Reading, reading
from benchdash.results.records import SampleTable
from benchdash.results.services import RecordError, record_runs, record_uploads, remove_runs, touch
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series, make_upload
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def record(project, *records, upload=None, **options):
    return record_runs(project, upload_id=(upload or make_upload(project)).pk, records=records, **options)


def runs_of(recorded):
    runs = Run.objects.in_bulk(recorded.run_ids)
    return [runs[run_id] for run_id in recorded.run_ids]


def measurements():
    rows = Measurement.objects.order_by("series__metric", "run__key")
    return list(rows.values_list("series__metric", "run__key", "value"))


# --- runs and measurements --------------------------------------------------------------------------------


def test_a_record_becomes_a_run_with_a_measurement_in_a_series_for_each_reading(project):
    run = make_run(
        project=project, readings={"tps": 1000.5, "latency_p95": 4.25}, build="debug", counterpart="net"
    )
    assert str(run) == "oltp_read_only, 4 threads, 10.6.23 debug"
    series = Series.objects.get(metric="latency_p95")
    assert (series.product.name, series.build, series.branch, series.line) == ("MariaDB", "debug", "", "10.6")
    assert (series.hardware.name, series.configuration.name, series.counterpart) == ("box", "default", "net")
    assert (series.workload.name, series.threads, series.unit, series.direction) == (
        "oltp_read_only",
        4,
        "ms",
        "lower",
    )
    assert measurements() == [("latency_p95", "", 4.25), ("tps", "", 1000.5)]


def test_on_a_branch_a_series_has_no_release_line(project):
    record(project, make_record(branch="10.6", commit="abcdef0"))
    assert Series.objects.get().line == ""


def test_runs_come_back_in_the_order_of_their_records(project):
    runs = make_runs([make_record(key=key) for key in "bac"], project=project)
    assert [run.key for run in runs] == ["b", "a", "c"]
    assert all(Run.objects.get(pk=run.pk).key == run.key for run in runs)


def test_the_interval_that_a_tool_printed_is_kept(project):
    score = Reading("score", 10.0, "ns/op", "lower", low=9.0, high=11.0, printed_unit="us/op")
    record(project, make_record(readings=[score]))
    measurement = Measurement.objects.get()
    assert (measurement.low, measurement.high) == (9.0, 11.0)
    assert Series.objects.get().printed_unit == "us/op"


def test_interval_samples_are_kept_with_their_holes(project):
    table = SampleTable("sysbench", ("time_s", "tps"), ((1.0, 99.0), (2.0, None)))
    empty = SampleTable("histogram", ("latency_ms", "count"), ())
    run = make_run(project=project, samples=(table, empty))
    samples = IntervalSamples.objects.get(run=run, source="sysbench")
    assert samples.columns == ["time_s", "tps"]
    assert samples.rows == [[1.0, 99.0], [2.0, None]]


def test_no_records_are_no_runs(project):
    assert record(project).run_ids == []


# --- again ------------------------------------------------------------------------------------------------


def test_recording_again_changes_nothing(project):
    upload = make_upload(project)
    records = [make_record(key="a"), make_record(200.0, key="b", threads=8)]
    first = record(project, *records, upload=upload)
    before = (measurements(), list(Series.objects.values()), list(Run.objects.values()))
    again = record(project, *records, upload=upload)
    assert (measurements(), list(Series.objects.values()), list(Run.objects.values())) == before
    assert again.run_ids == first.run_ids
    assert again.warnings == []


def test_recording_again_updates_runs_and_removes_those_whose_key_is_gone(project):
    upload = make_upload(project)
    table = SampleTable("sysbench", ("tps",), ((1.0,),))
    first = runs_of(
        record(
            project,
            make_record(key="a", readings={"tps": 1.0, "qps": 20.0}, samples=(table,)),
            make_record(key="b"),
            upload=upload,
        )
    )
    [run] = runs_of(record(project, make_record(2.0, key="a", version="10.6.24"), upload=upload))
    assert run.pk == first[0].pk
    assert Run.objects.get().version.version == "10.6.24"
    assert measurements() == [("tps", "a", 2.0)]
    assert not IntervalSamples.objects.exists()


def test_a_series_that_is_left_empty_is_deleted_and_one_that_is_entered_is_touched(project):
    upload = make_upload(project)
    record(project, make_record(), upload=upload)
    record(project, make_record(threads=8), upload=upload)
    series = Series.objects.get()
    assert series.threads == 8
    assert TouchedSeries.objects.get().series == series


def test_recording_again_keeps_the_exclusion_of_a_run(project):
    upload = make_upload(project)
    record(project, make_record(), upload=upload)
    Run.objects.update(excluded_at=START, excluded_reason="disk was full")
    record(project, make_record(), upload=upload)
    assert Run.objects.get().excluded_reason == "disk was full"


def test_removed_runs_leave_nothing_but_what_others_measured_too(project):
    upload = make_upload(project)
    record(project, make_record(), make_record(key="8", threads=8), upload=upload)
    other = make_run(project=project)
    assert remove_runs(project, upload_id=upload.pk) == 2
    assert list(Run.objects.all()) == [other]
    assert [series.threads for series in Series.objects.all()] == [4]


# --- names ------------------------------------------------------------------------------------------------


def test_new_names_are_warned_of_with_the_nearest_known_one(project):
    first = record(project, make_record())
    assert first.warnings == ["new product 'MariaDB'", "new hardware 'box'", "new workload 'oltp_read_only'"]
    record(project, make_record(workload="select"))
    second = record(project, make_record(workload="oltp_readonly"))
    assert second.warnings == ["new workload 'oltp_readonly'; the nearest known one is 'oltp_read_only'"]


def test_products_are_the_same_in_any_case(project):
    first = record(project, make_record(), make_record(key="2", product="mariadb"))
    later = record(project, make_record(product="MARIADB", version="10.6.24"))
    assert {run.version.product.name for run in [*runs_of(first), *runs_of(later)]} == {"MariaDB"}
    assert first.warnings[0] == "new product 'MariaDB'"
    assert later.warnings == []


def test_names_of_another_project_are_not_known(project):
    make_run(project=make_project(), workload="secret_plan")
    assert record(project, make_record()).warnings[-1] == "new workload 'oltp_read_only'"


def test_old_names_find_what_was_renamed(project):
    run = make_run(project=project)
    for kind in ("hardware", "workload", "configuration"):
        Alias.objects.create(project=project, name=f"old {kind}", **{kind: getattr(run, kind)})
    Alias.objects.create(project=project, name="Maria", product=run.version.product)
    Alias.objects.create(project=project, name="10.6.22 debug", version=run.version)
    recorded = record(
        project,
        make_record(
            product="Maria",
            version="10.6.22",
            build="debug",
            hardware="old hardware",
            workload="old workload",
            configuration="old configuration",
        ),
    )
    day = f"{timezone.now():%Y-%m-%d}"
    assert recorded.warnings == [
        f"product 'Maria' is known as 'MariaDB' since {day}",
        f"hardware 'old hardware' is known as 'box' since {day}",
        f"configuration 'old configuration' is known as 'default' since {day}",
        f"workload 'old workload' is known as 'oltp_read_only' since {day}",
        f"version '10.6.22 debug' is known as '10.6.23' since {day}",
    ]
    assert runs_of(recorded)[0].version == run.version
    assert Series.objects.count() == 1


def test_an_old_name_of_another_product_is_not_this_version(project):
    run = make_run(project=project)
    Alias.objects.create(project=project, name="8.0.44", version=run.version)
    [other] = runs_of(record(project, make_record(product="MySQL", version="8.0.44")))
    assert other.version != run.version


def test_versions_are_stored_without_packaging_and_with_their_sort_key(project):
    [run] = runs_of(record(project, make_record(version="10.6.23-MariaDB-1:10.6.23+maria~ubu2204")))
    assert run.version.version == "10.6.23"
    assert run.version.sort_key > ServerVersion(sort_key="").sort_key


def test_a_commit_is_the_known_one_that_it_begins_or_that_begins_it(project):
    full = "0123456789abcdef0123456789abcdef01234567"
    runs = [
        make_run(project=project, version="main", branch="main", commit=commit)
        for commit in (full, full[:7].upper(), full[:12])
    ]
    assert {run.version.commit for run in runs} == {full}
    short = make_run(project=project, version="main", branch="main", commit="fedcba9").version
    longer = make_run(project=project, version="main", branch="main", commit="fedcba98765").version
    assert longer == short


def test_a_prefix_of_two_commits_is_neither(project):
    for commit in ("aaaaaaa1", "aaaaaaa2"):
        make_run(project=project, commit=commit)
    assert make_run(project=project, commit="aaaaaaa").version.commit == "aaaaaaa"


def test_a_short_and_a_long_commit_of_one_file_are_one(project):
    runs = make_runs([make_record(commit="abcdef0"), make_record(commit="abcdef0123")], project=project)
    assert {run.version.commit for run in runs} == {"abcdef0123"}


def test_a_commit_of_another_product_is_another(project):
    make_run(project=project, product="MySQL", commit="abcdef0123")
    assert make_run(project=project, commit="abcdef0").version.commit == "abcdef0"


def test_a_commit_time_is_filled_in_by_the_first_that_knows_it(project):
    for committed_at in (None, START, START + timedelta(days=1)):
        make_run(project=project, commit="abcdef0", committed_at=committed_at)
    assert ServerVersion.objects.get().committed_at == START


# --- contents and facts -----------------------------------------------------------------------------------


def test_contents_that_differ_in_ports_and_spelling_alone_are_one(project):
    contents = [
        make_run(project=project, configuration_text=text, settings=settings).content
        for text, settings in (
            ("port = 3306", {"port": "3306", "innodb_buffer_pool_size": "1G"}),
            ("port = 3307", {"port": "3307", "loose-innodb-buffer-pool-size": " 1G"}),
        )
    ]
    assert contents[0] == contents[1]
    content = ConfigurationContent.objects.get()
    assert (content.text, content.settings) == ("port = 3306", {"innodb_buffer_pool_size": "1G"})


def test_contents_that_differ_are_two_and_nothing_known_is_none(project):
    large = make_run(project=project, settings={"innodb_buffer_pool_size": "2G"}).content
    small = make_run(project=project, settings={"innodb_buffer_pool_size": "1G"}).content
    assert large != small
    assert make_run(project=project).content is None


def test_a_text_without_understood_settings_is_a_content_of_its_own(project):
    texts = ["<config a='1'/>", "<config a='2'/>"]
    assert len({make_run(project=project, configuration_text=text).content for text in texts}) == 2


def test_equal_environments_are_stored_once_and_none_is_none(project):
    for facts in ({"kernel": "6.1", "governor": "powersave"}, {"governor": "powersave", "kernel": "6.1"}, {}):
        make_run(project=project, environment=facts)
    assert Environment.objects.count() == 1
    assert Run.objects.filter(environment=None).count() == 1


def test_facts_of_hardware_are_filled_in_and_never_overwritten(project):
    make_run(project=project, hardware_facts={"cpus": 8, "memory": None})
    make_run(project=project, hardware_facts={"cpus": 16, "memory": "64 GB", "os": ""})
    assert Hardware.objects.get().facts == {"cpus": 8, "memory": "64 GB"}


def test_options_that_differ_from_the_first_run_of_the_workload_are_warned_of_once(project):
    make_run(project=project, options={"tables": 4, "rows": 1000})
    recorded = record(
        project,
        *(make_record(key=str(n), threads=n, options={"tables": 8, "skew": "pareto"}) for n in (1, 2)),
    )
    sentence = "the options of 'oltp_read_only' differ from those of its first run: rows, skew, tables"
    assert recorded.warnings == [sentence]
    assert [run.warnings for run in Run.objects.exclude(key="")] == [[sentence], [sentence]]
    assert Workload.objects.get().options == {"tables": 4, "rows": 1000}


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"readings": {"tps": float("nan")}}, "'tps' is nan, which is not a finite number"),
        ({"readings": [reading("tps", 1.0)] * 2}, "the metric 'tps' stands twice in one run"),
        (
            {"readings": [Reading("curve_peak", 1.0, "1/s", "higher")]},
            "the metric 'curve_peak' is computed of the others and cannot be sent",
        ),
        ({"product": " "}, "the product is empty"),
        ({"hardware": "x" * 101}, "hardware has 101 characters, more than 100"),
        ({"version": "1." * 51}, "version has 102 characters"),
        ({"notes": "a\0b"}, "notes holds a character that cannot be stored"),
        ({"options": {"seed": float("inf")}}, "'seed' in options is inf"),
        ({"options": {"a": {"b": [1, {"\0": 2}]}}}, "a name in 'b' in 'a' in options holds a character"),
        ({"environment": {"kernel": "\ud800"}}, "'kernel' in environment holds a character"),
        ({"threads": -1}, "threads is -1"),
        ({"threads": 2**31}, "threads is 2147483648"),
        ({"commit": "abc"}, "the commit 'abc' is not 7 to 40 hex digits"),
        ({"started_at": START.replace(tzinfo=None)}, "started_at says no time zone"),
        ({"tags": ("x" * 101,)}, "a tag has 101 characters"),
        ({"duration_s": float("nan")}, "the duration is nan"),
        ({"samples": (SampleTable("s", ("a",), ((1.0, 2.0),)),)}, "a row of 's' has 2 cells under 1 columns"),
        ({"samples": (SampleTable("s", ("a",), ((float("inf"),),)),)}, "'s' holds a number that is not"),
        ({"samples": (SampleTable("s", ("a",), ()),) * 2}, "there are two sample tables from 's'"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_what_cannot_be_stored_is_refused_with_a_sentence(project, fields, sentence):
    with pytest.raises(RecordError) as error:
        record(project, make_record(**fields))
    assert sentence in str(error.value)
    assert not Product.objects.exists()


def test_two_runs_with_one_key_are_refused(project):
    with pytest.raises(RecordError, match="two runs of this file have the same key 'a'"):
        record(project, make_record(key="a"), make_record(key="a"))


def test_another_unit_in_a_known_series_is_refused_and_nothing_is_stored(project):
    make_run(project=project, readings=[Reading("score", 1.0, "ns/op", "lower")])
    with pytest.raises(RecordError) as error:
        record(project, make_record(version="10.6.24", readings=[Reading("score", 1.0, "ops/s", "higher")]))
    assert str(error.value) == "'score' is in 'ops/s' here, but in 'ns/op' in the series where it belongs"
    assert Run.objects.count() == 1
    assert ServerVersion.objects.count() == 1


def test_another_direction_in_a_known_series_is_refused(project):
    make_run(project=project, readings=[Reading("x", 1.0, "1", "lower")])
    with pytest.raises(RecordError, match="for 'x' higher is better here, but lower in the series"):
        record(project, make_record(readings=[Reading("x", 1.0, "1", "higher")]))


def test_two_units_of_one_metric_in_one_file_are_refused(project):
    readings = [Reading("score", 1.0, unit, "lower") for unit in ("ns/op", "ms/op")]
    with pytest.raises(RecordError, match="'score' is in"):
        record(project, *(make_record(key=r.unit, readings=[r]) for r in readings))


def test_a_better_parser_may_mend_the_unit_of_a_series_that_its_upload_has_alone(project):
    upload = make_upload(project)
    record(project, make_record(readings=[Reading("score", 1.0, "ms/op", "lower")]), upload=upload)
    record(project, make_record(readings=[Reading("score", 1.0, "ops/ms", "higher")]), upload=upload)
    series = Series.objects.get()
    assert (series.unit, series.direction) == ("ops/ms", "higher")


# --- what is due for analysis -----------------------------------------------------------------------------


def test_every_series_of_a_recorded_run_is_touched(project):
    record(project, make_record(readings={"tps": 1.0, "qps": 2.0}), quiet=True)
    assert {touched.series.metric for touched in TouchedSeries.objects.all()} == {"tps", "qps"}
    assert all(touched.quiet for touched in TouchedSeries.objects.all())


def test_a_series_touched_loudly_stays_loud_until_it_was_looked_at():
    series = make_series([1.0])
    touch([series.pk], quiet=True)
    assert not TouchedSeries.objects.get().quiet
    TouchedSeries.objects.all().delete()
    touch([series.pk], quiet=True)
    assert TouchedSeries.objects.get().quiet


# --- bulk and concurrency ---------------------------------------------------------------------------------


def many_records(number):
    return [
        make_record(
            key=str(n),
            readings={"tps": n, "qps": n, "latency_p95": n},
            version=f"10.6.{n}",
            commit=f"{n:07x}",
            committed_at=START,
            workload=f"workload {n}",
            hardware=f"box {n}",
            hardware_facts={"cpus": n},
            environment={"kernel": str(n)},
            settings={"a": str(n)},
            options={"tables": n},
            samples=(SampleTable("sysbench", ("tps",), ((1.0,),)),),
        )
        for n in range(number)
    ]


def numbers_of_statements(number):
    """Of recording so many records for the first time, again, elsewhere, and of removing them."""
    project = make_project()
    upload = make_upload(project)
    records = many_records(number)
    moved = [replace(r, threads=8) for r in records]
    actions = [
        lambda: record(project, *records, upload=upload),
        lambda: record(project, *records, upload=upload),
        lambda: record(project, *moved, upload=upload),
        lambda: remove_runs(project, upload_id=upload.pk),
    ]
    counts = []
    for action in actions:
        with CaptureQueriesContext(connection) as captured:
            action()
        counts.append(len(captured))
    return counts


def test_many_records_take_as_many_statements_as_one():
    assert numbers_of_statements(30) == numbers_of_statements(1)
    assert max(numbers_of_statements(1)) < 50


def test_200_records_take_no_more_statements_than_one_to_record():
    one, many = numbers_of_statements(1), numbers_of_statements(200)
    assert many[0] <= one[0]  # for so many new names no near ones are looked for
    assert many[1] == one[1]


@pytest.mark.django_db(transaction=True)
def test_uploads_with_the_same_new_names_at_once_neither_deadlock_nor_duplicate():
    project = make_project()
    orders = [many_records(40), many_records(40)[::-1]] * 2
    uploads = [make_upload(project) for _ in orders]
    at_once(
        *(
            partial(record, project, *records, upload=upload)
            for records, upload in zip(orders, uploads, strict=True)
        )
    )
    assert Workload.objects.count() == Hardware.objects.count() == ServerVersion.objects.count() == 40
    assert Series.objects.count() == 120
    assert Measurement.objects.count() == 480


@pytest.mark.django_db(transaction=True)
def test_one_upload_recorded_by_two_workers_at_once_is_recorded_once():
    project = make_project()
    upload = make_upload(project)
    at_once(*[partial(record, project, *many_records(20), upload=upload)] * 2)
    assert Run.objects.count() == 20
    assert Measurement.objects.count() == 60


def test_whole_numbers_and_fractions_may_stand_in_one_upload():
    run = make_run(readings={"tps": 100, "latency_avg": 2.5})
    assert sorted(run.measurements.values_list("value", flat=True)) == [2.5, 100.0]


# --- several uploads at once --------------------------------------------------------------------------------


def test_several_uploads_are_recorded_as_if_one_came_after_another(project):
    first, second = make_upload(project), make_upload(project)
    recorded = record_uploads(
        project,
        {
            first.pk: [make_record(100.0, key="1"), make_record(200.0, key="2")],
            second.pk: [make_record(300.0, version="10.11.5")],
        },
    )
    assert [run.key for run in runs_of(recorded[first.pk])] == ["1", "2"]
    assert [run.upload_id for run in runs_of(recorded[second.pk])] == [second.pk]
    assert measurements() == [("tps", "", 300.0), ("tps", "1", 100.0), ("tps", "2", 200.0)]


def test_of_several_uploads_the_first_is_warned_of_a_new_name(project):
    uploads = [make_upload(project), make_upload(project)]
    recorded = record_uploads(project, {upload.pk: [make_record()] for upload in uploads})
    first, second = (recorded[upload.pk].warnings for upload in uploads)
    assert [warning.split("'")[0].strip() for warning in first] == [
        "new product",
        "new hardware",
        "new workload",
    ]
    assert second == []


def test_an_upload_recorded_again_beside_a_new_one_loses_only_its_own_runs_that_are_gone(project):
    old, new = make_upload(project), make_upload(project)
    record(project, make_record(100.0, key="1"), make_record(200.0, key="2"), upload=old)
    record_uploads(project, {old.pk: [make_record(150.0, key="1")], new.pk: [make_record(250.0, key="2")]})
    assert measurements() == [("tps", "1", 150.0), ("tps", "2", 250.0)]


def test_the_number_of_statements_does_not_grow_with_the_number_of_uploads(project):
    def statements(number):
        uploads = [make_upload(project) for _ in range(number)]
        with CaptureQueriesContext(connection) as queries:
            record_uploads(project, {upload.pk: [make_record()] for upload in uploads})
        return len(queries)

    statements(1)
    assert statements(30) == statements(2)
