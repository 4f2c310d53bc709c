from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry
from benchdash.alerts.models import Subscription
from benchdash.regressions.models import Incident
from benchdash.results.corrections import (
    CorrectionError,
    Effect,
    exclude_run,
    merge,
    rename,
    restore_run,
)
from benchdash.results.models import (
    Alias,
    Configuration,
    Hardware,
    Measurement,
    Product,
    Run,
    Series,
    ServerVersion,
    TouchedSeries,
    Workload,
)
from benchdash.results.points import history
from benchdash.results.readings import Reading
from tests.builders import (
    START,
    make_project,
    make_record,
    make_run,
    make_runs,
    make_series,
    make_upload,
    make_user,
)
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def alice(project):
    return Viewer(user=make_user("alice", member_of=project))


def everything():
    """All rows that a correction may change."""
    models = [Product, ServerVersion, Hardware, Configuration, Workload, Alias, Run, Series, Measurement]
    return [list(model.objects.order_by("pk").values()) for model in [*models, TouchedSeries, AuditEntry]]


def forget_touched():
    TouchedSeries.objects.all().delete()


def touched():
    """The touched series with their quietness."""
    return {(row.series_id, row.quiet) for row in TouchedSeries.objects.all()}


def things_of(run):
    return run.version.product, run.version, run.hardware, run.configuration, run.workload


# --- renaming ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "which", range(5), ids=["product", "version", "hardware", "configuration", "workload"]
)
def test_uploads_find_a_renamed_thing_by_both_names(project, alice, which):
    run = make_run(project=project, configuration="tuned")
    thing = things_of(run)[which]
    new = "10.6.99" if isinstance(thing, ServerVersion) else "renamed"
    assert rename(thing, f" {new} ", by=alice, reason="typed wrongly") == Effect(runs=1, uploads=1, series=1)
    assert str(thing) == new
    name = "product", "version", "hardware", "configuration", "workload"
    again = make_run(project=project, configuration="tuned")
    by_new_name = make_run(project=project, **{"configuration": "tuned", name[which]: new})
    assert things_of(again)[which] == things_of(by_new_name)[which] == thing


def test_a_rename_is_in_the_audit_log(project, alice):
    run = make_run(project=project)
    rename(run.hardware, "rack", by=alice, reason="that is its name")
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.action, entry.subject) == (alice.user, "hardware renamed", "box → rack")
    assert entry.reason == "that is its name"
    assert entry.detail == {"id": run.hardware_id, "runs": 1, "uploads": 1, "series": 1, "merged": 0}


def test_a_thing_can_be_given_its_old_name_back(project, alice):
    hardware = make_run(project=project).hardware
    rename(hardware, "rack", by=alice)
    rename(hardware, "box", by=alice)
    assert list(Alias.objects.values_list("name", flat=True)) == ["rack"]
    assert make_run(project=project, hardware="rack").hardware == hardware


def test_a_taken_name_is_refused_with_the_advice_to_merge(project, alice):
    box = make_run(project=project, hardware="box").hardware
    rack = make_run(project=project, hardware="rack").hardware
    with pytest.raises(CorrectionError, match="there is a hardware 'rack' already; merge the two instead"):
        rename(box, "rack", by=alice)
    rename(rack, "tower", by=alice)
    with pytest.raises(CorrectionError, match="'rack' is an old name of the hardware 'tower'; merge the two"):
        rename(box, "rack", by=alice)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("  ", "the new name is empty"),
        ("box", "the hardware is called 'box' already"),
        ("x" * 101, "the new name has 101 characters, more than 100"),
        ("a\0b", "the new name holds a character that cannot be shown"),
    ],
)
def test_a_name_that_cannot_be_stored_is_refused(project, alice, name, sentence):
    hardware = make_run(project=project).hardware
    with pytest.raises(CorrectionError, match=sentence):
        rename(hardware, name, by=alice)
    assert not AuditEntry.objects.exists()


def test_names_of_another_project_are_free(project, alice):
    make_run(project=make_project(), hardware="rack")
    rename(make_run(project=project).hardware, "rack", by=alice)


def test_a_renamed_version_sorts_and_streams_by_its_new_name(project, alice):
    series = make_series([100.0, 200.0, 300.0], project=project)
    forget_touched()
    rename(ServerVersion.objects.get(version="10.6.2"), "10.6.4-MariaDB-log", by=alice)
    assert [point.version.version for point in history(series)] == ["10.6.1", "10.6.3", "10.6.4"]
    assert touched() == {(series.pk, True)}
    rename(ServerVersion.objects.get(version="10.6.1"), "10.5.1", by=alice)
    other = Series.objects.get(line="10.5")
    assert [point.value for point in history(other)] == [100.0]
    assert touched() == {(series.pk, True), (other.pk, True)}


def test_a_version_keeps_its_build_and_commit_when_renamed(project, alice):
    version = make_run(project=project, build="debug", commit="abcdef0").version
    rename(version, "10.6.24", by=alice)
    assert (version.version, version.build, version.commit) == ("10.6.24", "debug", "abcdef0")
    assert make_run(project=project, build="debug", commit="abcdef0").version == version
    assert make_run(project=project, build="debug").version != version


def test_what_was_not_said_does_not_become_what_was_once_called_so(project, alice):
    run = make_run(project=project, version="unknown")
    rename(run.version, "10.6.24", by=alice)
    rename(run.configuration, "tuned", by=alice)
    later = make_run(project=project, version="unknown")
    assert (later.version.version, later.configuration.name) == ("unknown", "default")


def test_a_renamed_product_streams_by_the_rule_of_its_new_name(project, alice):
    product = make_run(project=project, product="Marai", version="10.6.1").version.product
    make_run(project=project, product="Marai", version="10.5.1")
    assert [series.line for series in Series.objects.all()] == [""]
    rename(product, "MariaDB", by=alice)
    assert sorted(series.line for series in Series.objects.all()) == ["10.5", "10.6"]


# --- merging ----------------------------------------------------------------------------------------------


def test_merged_hardware_continues_the_series_of_its_target(project, alice):
    kept = make_series([100.0], project=project, hardware="box")
    gone = make_series([110.0, 200.0], project=project, hardware="bxo")
    make_run(project=project, hardware="bxo", threads=8)
    forget_touched()
    box, bxo = Hardware.objects.order_by("name")
    assert merge(bxo, box, by=alice, reason="typed wrongly") == Effect(runs=3, uploads=2, series=2, merged=1)
    assert [(point.value, point.n) for point in history(kept)] == [(105.0, 2), (200.0, 1)]
    assert not Series.objects.filter(pk=gone.pk).exists()
    assert not Hardware.objects.filter(name="bxo").exists()
    assert touched() == {(series.pk, True) for series in Series.objects.all()}
    assert make_run(project=project, hardware="bxo").hardware == box


@pytest.mark.parametrize("kind", ["hardware", "configuration", "workload"])
def test_everything_with_a_name_can_be_merged(project, alice, kind):
    one = make_run(project=project, **{kind: "one"})
    two = make_run(project=project, **{kind: "two"})
    merge(getattr(one, kind), getattr(two, kind), by=alice)
    assert Series.objects.count() == 1
    assert {getattr(run, kind) for run in Run.objects.all()} == {getattr(two, kind)}


def test_old_names_of_a_merged_thing_find_the_target(project, alice):
    oldest = make_run(project=project, hardware="oldest").hardware
    target = make_run(project=project, hardware="target").hardware
    rename(oldest, "old", by=alice)
    merge(oldest, target, by=alice)
    assert {make_run(project=project, hardware=name).hardware for name in ("oldest", "old")} == {target}


def test_merged_products_merge_their_versions_too(project, alice):
    for product in ("MariaDB", "Maria"):
        make_series([100.0, 200.0], project=project, product=product)
    make_run(300.0, project=project, product="Maria", version="10.6.3", commit="abcdef0")
    maria, mariadb = Product.objects.order_by("name")
    merge(maria, mariadb, by=alice)
    assert Product.objects.get() == mariadb
    assert sorted(map(str, mariadb.versions.all())) == ["10.6.1", "10.6.2", "10.6.3 abcdef0"]
    assert [(point.value, point.n) for point in history(Series.objects.get())] == [
        (100.0, 2),
        (200.0, 2),
        (300.0, 1),
    ]
    assert make_run(project=project, product="Maria", version="10.6.1").version.product == mariadb


def test_merged_versions_are_one_group(project, alice):
    series = make_series([100.0, 200.0], project=project)
    first, second = ServerVersion.objects.order_by("sort_key")
    merge(first, second, by=alice)
    assert [(point.version.pk, point.value) for point in history(series)] == [(second.pk, 150.0)]
    assert make_run(project=project, version="10.6.1").version == second


def test_a_version_merged_into_another_line_takes_its_runs_there(project, alice):
    source = make_run(project=project, version="10.5.1").version
    target = make_run(project=project, version="10.6.1").version
    merge(source, target, by=alice)
    assert Series.objects.get().line == "10.6"


def test_what_others_hold_of_a_merged_thing_is_kept(project, alice):
    source = make_run(project=project, product="Maria").version
    target = make_run(project=project, product="MariaDB").version
    incident = Incident.objects.create(
        project=project,
        product=source.product,
        kind="regression",
        status="confirmed",
        since=source,
        until=source,
        started_at=START,
        worst=-0.1,
        median=-0.1,
    )
    for address, products in (
        ("alice@example.org", [source.product, target.product]),
        ("bob@example.org", [source.product]),
    ):
        for product in products:
            Subscription.objects.create(project=project, address=address, product=product)
    merge(source.product, target.product, by=alice)
    incident.refresh_from_db()
    assert (incident.product, incident.since, incident.until) == (target.product, target, target)
    subscriptions = Subscription.objects.order_by("address").values_list("address", "product")
    assert list(subscriptions) == [
        ("alice@example.org", target.product_id),
        ("bob@example.org", target.product_id),
    ]


def test_things_that_do_not_belong_together_are_not_merged(project, alice):
    run = make_run(project=project)
    elsewhere = make_run(project=make_project())
    mysql = make_run(project=project, product="MySQL")
    for source, target, sentence in (
        (run.hardware, run.workload, "only two things of one kind and one project"),
        (run.hardware, elsewhere.hardware, "only two things of one kind and one project"),
        (run.hardware, run.hardware, "a thing cannot be merged with itself"),
        (run.version, mysql.version, "versions of different products cannot be merged; merge the products"),
    ):
        with pytest.raises(CorrectionError, match=sentence):
            merge(source, target, by=alice)


def test_series_in_different_units_are_not_merged_and_nothing_changes(project, alice):
    for hardware, unit in (("box", "ns/op"), ("bxo", "ms/op")):
        make_run(project=project, hardware=hardware, readings=[Reading("score", 1.0, unit, "lower")])
    box, bxo = Hardware.objects.order_by("name")
    before = everything()
    with pytest.raises(CorrectionError, match="this cannot be one series: 'score' is in 'ms/op' here"):
        merge(bxo, box, by=alice)
    assert everything() == before


def test_what_was_merged_meanwhile_is_gone(project, alice):
    box = make_run(project=project, hardware="box").hardware
    bxo = make_run(project=project, hardware="bxo").hardware
    merge(bxo, box, by=alice)
    with pytest.raises(CorrectionError, match="this is gone"):
        rename(bxo, "rack", by=alice)


def test_a_merge_is_in_the_audit_log(project, alice):
    source = make_run(project=project, commit="abcdef0").version
    target = make_run(project=project, version="10.6.24").version
    merge(source, target, by=alice, reason="same build")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject) == ("version merged", "10.6.23 abcdef0 → 10.6.24")
    assert (entry.reason, entry.detail["id"], entry.detail["runs"]) == ("same build", target.pk, 1)


def statements_of_a_merge(alice, number):
    project = make_project()
    for product in ("Maria", "MariaDB"):
        records = [make_record(product=product, version=f"10.6.{n}", workload=f"w{n}") for n in range(number)]
        make_runs(records, project=project)
    source, target = Product.objects.filter(project=project).order_by("name")
    with CaptureQueriesContext(connection) as captured:
        merge(source, target, by=alice)
    assert Series.objects.filter(project=project).count() == number
    return len(captured)


def test_a_merge_of_many_series_takes_as_many_statements_as_one_of_few(alice):
    assert statements_of_a_merge(alice, 40) == statements_of_a_merge(alice, 2)


@pytest.mark.django_db(transaction=True)
def test_uploads_that_come_while_their_hardware_is_merged_lose_nothing():
    project = make_project()
    alice = Viewer(user=make_user("alice", member_of=project))
    box = make_run(project=project, hardware="box").hardware
    bxo = make_run(project=project, hardware="bxo").hardware
    uploads = [
        partial(
            make_runs, [make_record(key=str(n), hardware="bxo", threads=n) for n in range(20)], upload=upload
        )
        for upload in (make_upload(project), make_upload(project), make_upload(project))
    ]
    at_once(uploads[0], partial(merge, bxo, box, by=alice), *uploads[1:])
    assert Hardware.objects.get() == box
    assert Run.objects.filter(hardware=box).count() == Measurement.objects.count() == 62
    assert Series.objects.count() == 20


# --- runs -------------------------------------------------------------------------------------------------


def test_an_excluded_run_is_out_of_its_points_until_it_is_restored(project, alice):
    series = make_series([[100.0, 900.0]], project=project)
    run = Run.objects.get(measurements__value=900.0)
    forget_touched()
    assert exclude_run(run, by=alice, reason="the disk was full") == Effect(runs=1, uploads=1, series=1)
    assert run.is_excluded
    assert touched() == {(series.pk, True)}
    assert history(series)[0].value == 100.0
    restore_run(run, by=alice, reason="it was not")
    assert history(series)[0].value == 500.0
    assert run.excluded_reason == ""
    entries = AuditEntry.objects.order_by("pk").values_list("action", "reason")
    assert list(entries) == [("run excluded", "the disk was full"), ("run restored", "it was not")]


def test_a_run_is_excluded_for_a_reason_and_once(project, alice):
    run = make_run(project=project)
    with pytest.raises(CorrectionError, match="say why the run is excluded"):
        exclude_run(run, by=alice, reason=" ")
    with pytest.raises(CorrectionError, match="the run is not excluded"):
        restore_run(run, by=alice)
    exclude_run(run, by=alice, reason="the disk was full")
    with pytest.raises(CorrectionError, match="the run is excluded already"):
        exclude_run(run, by=alice, reason="again")


# --- previews ---------------------------------------------------------------------------------------------


def test_a_correction_rolled_back_tells_what_it_would_change_and_changes_nothing(project, alice):
    make_series([100.0], project=project, hardware="box")
    make_run(project=project, hardware="bxo", version="10.6.1")
    box, bxo = Hardware.objects.order_by("name")
    before = everything()
    with transaction.atomic():
        assert merge(bxo, box, by=alice) == Effect(runs=1, uploads=1, series=1, merged=1)
        transaction.set_rollback(True)
    assert everything() == before
