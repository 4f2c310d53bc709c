import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Project
from benchdash.regressions.models import ChangePoint, FailingPlace, Incident
from benchdash.regressions.services import analyse_touched, recompute
from benchdash.regressions.triage import comment, triage
from benchdash.results.models import Product, Run, Series, TouchedSeries
from benchdash.results.services import remove_runs, touch
from tests.builders import START, make_project, make_series, make_upload, make_user
from tests.regressions.nights import night_time, record_nights
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

A_FIFTH_SLOWER = [1.0] * 20 + [0.8] * 6


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def incident(project):
    """A confirmed regression by a fifth, from night 21 on."""
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    return Incident.objects.get()


def live_change_points():
    return ChangePoint.objects.exclude(state="withdrawn").order_by("series__workload__name")


# --- finding ----------------------------------------------------------------------------------------------


def test_a_step_is_suspected_and_then_confirmed_as_nights_come_in(project):
    record_nights(project, [1.0] * 20)
    analyse_touched()
    states = []
    for night in range(21, 28):
        record_nights(project, [0.8], first=night)
        analyse_touched()
        states += Incident.objects.values_list("status", flat=True)
    assert states == sorted(states, reverse=True)
    assert set(states) == {"suspected", "confirmed"}
    change_points = live_change_points()
    assert [one.run.started_at for one in change_points] == [night_time(21)] * 3
    assert [one.last_good.started_at for one in change_points] == [night_time(20)] * 3
    assert [one.state for one in change_points] == ["confirmed"] * 3
    for one in change_points:
        assert one.before == pytest.approx(1000, rel=0.01)
        assert one.after == pytest.approx(800, rel=0.01)
        assert one.change == pytest.approx(-0.2, abs=0.01)
        assert one.confidence > 0.99
        assert one.noise == pytest.approx(0.01, abs=0.006)
        assert (one.groups_before, one.groups_after) == (20, 7)


def test_nothing_is_found_where_nothing_changed(project):
    record_nights(project, [1.0] * 40)
    assert analyse_touched() == 3
    assert not ChangePoint.objects.exists()
    assert not Incident.objects.exists()
    assert not TouchedSeries.objects.exists()


def test_one_bad_night_is_withdrawn_when_the_next_ones_are_good(project):
    record_nights(project, [1.0] * 20)
    record_nights(project, [0.8], first=21)
    analyse_touched()
    assert Incident.objects.get().status == "suspected"
    record_nights(project, [1.0] * 3, first=22)
    analyse_touched()
    assert not live_change_points().exists()
    assert Incident.objects.get().status == "withdrawn"


def test_a_faster_response_is_an_improvement(project):
    make_series([10.0, 10.1, 9.9] * 7 + [5.0, 5.1, 4.9] * 3, project=project, metric="latency_p95")
    analyse_touched()
    assert Incident.objects.get().kind == "improvement"
    assert Incident.objects.get().worst == pytest.approx(1.0, rel=0.05)


def test_what_follows_from_other_metrics_is_not_watched(project):
    make_series([10.0, 10.1, 9.9] * 7 + [5.0, 5.1, 4.9] * 3, project=project, metric="latency_max")
    analyse_touched()
    assert not ChangePoint.objects.exists()


def test_analysis_again_changes_nothing(incident):
    before = [list(model.objects.order_by("pk").values()) for model in (ChangePoint, Incident)]
    touch(Series.objects.values_list("pk", flat=True), quiet=False)
    analyse_touched()
    assert [list(model.objects.order_by("pk").values()) for model in (ChangePoint, Incident)] == before


def test_a_suspicion_that_is_confirmed_is_the_same_change_point_at_its_place(project):
    # Two nights on the way down: they are the beginning of what comes after.
    record_nights(project, [1.0] * 20 + [0.93] * 2)
    analyse_touched()
    before = {one.series_id: one.pk for one in live_change_points()}
    incident = Incident.objects.get()
    assert {one.state for one in live_change_points()} == {ChangePoint.State.SUSPECTED}
    record_nights(project, [0.7] * 6, first=23)
    analyse_touched()
    after = {one.series_id: one.pk for one in live_change_points()}
    assert {one.run.started_at for one in live_change_points()} == {night_time(21)}
    assert {one.state for one in live_change_points()} == {ChangePoint.State.CONFIRMED}
    assert before.items() <= after.items()
    assert Incident.objects.get() == incident


def test_a_change_point_that_comes_back_is_the_same_row(incident, project):
    before = set(ChangePoint.objects.values_list("pk", flat=True))
    Run.objects.filter(started_at__gte=night_time(21)).update(excluded_at=night_time(30))
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()
    assert not live_change_points().exists()
    Run.objects.update(excluded_at=None)
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()
    assert set(live_change_points().values_list("pk", flat=True)) == before
    assert Incident.objects.get() == incident


def test_statements_do_not_grow_with_the_number_of_groups(project):
    def statements(nights):
        record_nights(project, [1.0] * nights)
        with CaptureQueriesContext(connection) as captured:
            analyse_touched()
        return len(captured)

    assert statements(10) == statements(40)


# --- who is to be told ------------------------------------------------------------------------------------


def test_what_began_lately_is_news(incident):
    assert not incident.historical
    assert not incident.quiet


def test_what_began_long_before_its_files_came_in_is_historical(project):
    make_series([100, 101, 99] * 7 + [70, 71, 69] * 3, project=project, start=START)
    analyse_touched()
    assert set(live_change_points().values_list("historical", flat=True)) == {True}
    assert Incident.objects.get().historical


def test_how_old_historical_is_can_be_set(project, settings):
    settings.HISTORICAL_AFTER = timedelta(days=5)
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    assert Incident.objects.get().historical


def test_a_project_says_for_itself_how_old_historical_is(project):
    project.options = {"historical_after_days": 5}
    project.save()
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    assert Incident.objects.get().historical


def test_what_a_quiet_upload_brings_is_quiet(project):
    record_nights(project, A_FIFTH_SLOWER, quiet=True)
    analyse_touched()
    assert set(live_change_points().values_list("quiet", flat=True)) == {True}
    assert Incident.objects.get().quiet


def test_what_a_loud_night_confirms_is_not_quiet_because_it_was_suspected_quietly(project):
    record_nights(project, A_FIFTH_SLOWER[:22], quiet=True)
    analyse_touched()
    assert Incident.objects.get().quiet
    record_nights(project, [0.8] * 4, first=23)
    analyse_touched()
    assert not Incident.objects.get().quiet


def test_a_correction_beside_a_nightly_run_does_not_silence_it(project):
    record_nights(project, A_FIFTH_SLOWER)
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()
    assert not Incident.objects.get().quiet


# --- everything anew --------------------------------------------------------------------------------------


def test_of_a_very_large_place_the_newest_part_is_looked_at_and_older_changes_stay(project, settings):
    record_nights(project, [1.0] * 20 + [0.8] * 26)
    analyse_touched()
    settings.ANALYSIS_MOST_VALUES = 3 * 24
    record_nights(project, [0.6] * 6, first=47)
    analyse_touched()
    found = live_change_points().order_by("run__started_at", "pk")
    assert [one.run.started_at for one in found] == [night_time(21)] * 3 + [night_time(47)] * 3
    assert {one.state for one in found} == {"confirmed"}
    assert {one.groups_before for one in found[3:]} == {22}


@pytest.mark.parametrize("nights_that_count", [0, 3], ids=["excluded", "stopped before the newest part"])
def test_a_workload_without_points_keeps_nothing_of_its_place_from_being_found(
    project, settings, nights_that_count
):
    record_nights(project, A_FIFTH_SLOWER)
    workload = Series.objects.earliest("pk").workload
    later = Run.objects.filter(workload=workload, started_at__gt=night_time(nights_that_count))
    later.update(excluded_at=night_time(30))
    settings.ANALYSIS_MOST_VALUES = 3 * 16
    analyse_touched()
    assert not FailingPlace.objects.exists()
    assert live_change_points().exclude(series__workload=workload).count() == 2


def recomputed(**which):
    return list(recompute(**which))


def all_rows():
    return [list(model.objects.order_by("pk").values()) for model in (ChangePoint, Incident)]


def test_a_recompute_tells_how_far_it_is_place_by_place(project):
    for hardware in ("bench-01", "bench-02", "bench-03"):
        record_nights(project, [1.0] * 8, hardware=hardware)
    assert [(one.done, one.total, one.per_cent) for one in recomputed()] == [
        (1, 3, 33),
        (2, 3, 66),
        (3, 3, 100),
    ]


def test_a_recompute_changes_nothing_where_opinions_stay_the_same(incident):
    before = all_rows()
    recomputed()
    assert all_rows() == before


def test_a_recompute_finds_quietly_what_was_not_found(incident):
    ChangePoint.objects.all().delete()
    Incident.objects.all().delete()
    recomputed()
    assert {one.state for one in live_change_points()} == {"confirmed"}
    assert set(live_change_points().values_list("quiet", flat=True)) == {True}
    assert Incident.objects.get().quiet


def test_a_recompute_takes_back_quietly_what_its_history_does_not_show(incident):
    before = set(ChangePoint.objects.values_list("pk", flat=True))
    Run.objects.filter(started_at__gte=night_time(21)).update(excluded_at=night_time(30))
    recomputed()
    assert set(ChangePoint.objects.values_list("pk", "state")) == {(pk, "withdrawn") for pk in before}
    assert Incident.objects.get().status == "withdrawn"


def test_news_that_a_recompute_meets_first_stays_news(project):
    record_nights(project, A_FIFTH_SLOWER)
    recomputed()
    assert not TouchedSeries.objects.exists()
    assert not Incident.objects.get().quiet


def test_what_a_recompute_finds_beside_old_news_is_not_mailed(incident):
    ChangePoint.objects.filter(series__workload__name="oltp_read_only").delete()
    ChangePoint.objects.update(historical=True)
    Project.objects.update(options={"historical_after_days": 5})
    recomputed()
    Project.objects.update(options={})
    recomputed()
    assert not Incident.objects.get().historical
    assert Incident.objects.get().quiet


def test_a_recompute_keeps_to_its_project_or_product(project):
    record_nights(project, A_FIFTH_SLOWER, product="MariaDB")
    record_nights(project, A_FIFTH_SLOWER, product="MySQL")
    record_nights(make_project(), A_FIFTH_SLOWER)
    mysql = Product.objects.get(name="MySQL")
    assert [one.total for one in recomputed(product_id=mysql.pk)] == [1]
    assert set(Incident.objects.values_list("product", flat=True)) == {mysql.pk}
    assert [one.total for one in recomputed(project=project)] == [2, 2]
    assert set(Incident.objects.values_list("project", flat=True)) == {project.pk}


def test_a_place_that_fails_does_not_hold_up_the_others(project):
    record_nights(project, A_FIFTH_SLOWER, product="Broken")
    record_nights(project, A_FIFTH_SLOWER, product="Sound")
    broken = Product.objects.get(name="Broken")
    with connection.cursor() as cursor:
        cursor.execute(
            f"ALTER TABLE regressions_incident ADD CONSTRAINT broken CHECK (product_id <> {broken.pk})"
        )
    assert [one.failed for one in recomputed()] == [1, 1]
    assert Incident.objects.get().product.name == "Sound"


# --- several workers, and what is due ---------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_find_everything_once(project):
    record_nights(project, A_FIFTH_SLOWER)
    start = threading.Barrier(2)

    def work():
        start.wait()
        return analyse_in_a_thread()

    with ThreadPoolExecutor() as pool:
        done = [future.result() for future in [pool.submit(work) for _ in range(2)]]
    assert sorted(done) == [0, 3]
    assert live_change_points().count() == 3
    assert Incident.objects.count() == 1
    assert not TouchedSeries.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_is_touched_again_during_analysis_is_looked_at_again(project):
    record_nights(project, A_FIFTH_SLOWER)

    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            hold_back_writing("regressions_changepoint")
            future = pool.submit(analyse_in_a_thread)
            wait_until(somebody_waits_for_a_lock)
            with ThreadPoolExecutor() as other:
                other.submit(touch_one).result()
        assert future.result() == 3
    assert TouchedSeries.objects.count() == 1
    assert analyse_touched() == 1
    assert live_change_points().count() == 3
    assert not TouchedSeries.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_people_say_during_analysis_is_kept(project):
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    incident = Incident.objects.get()
    # Only what is not as it should be is written.
    Incident.objects.update(looked_at=0)
    touch(Series.objects.values_list("pk", flat=True), quiet=True)

    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            Incident.objects.select_for_update().get(pk=incident.pk)
            future = pool.submit(analyse_in_a_thread)
            wait_until(somebody_waits_for_a_lock)
            triage(incident, by=Viewer(user=make_user(member_of=project)), state="expected", reason="a trade")
        future.result()
    incident.refresh_from_db()
    assert (incident.state, incident.reason, incident.status) == ("expected", "a trade", "confirmed")
    assert incident.looked_at > 0


def hold_back_writing(table):
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN SHARE MODE")


def somebody_waits_for_a_lock():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]


def touch_one():
    touch([Series.objects.earliest("pk").pk], quiet=False)
    connections.close_all()


def analyse_in_a_thread():
    try:
        return analyse_touched()
    finally:
        connections.close_all()


def test_a_product_whose_analysis_fails_does_not_hold_up_the_others(project):
    record_nights(project, A_FIFTH_SLOWER, product="Broken")
    record_nights(project, A_FIFTH_SLOWER, product="Sound")
    broken = Series.objects.filter(product__name="Broken").first().product
    with connection.cursor() as cursor:
        cursor.execute(
            f"ALTER TABLE regressions_incident ADD CONSTRAINT broken CHECK (product_id <> {broken.pk})"
        )
    assert analyse_touched() == 3
    assert Incident.objects.get().product.name == "Sound"
    assert set(TouchedSeries.objects.values_list("series__product__name", flat=True)) == {"Broken"}
    assert not ChangePoint.objects.filter(series__product=broken).exists()


def test_an_incident_whose_series_are_gone_is_withdrawn(project):
    upload = make_upload(project)
    record_nights(project, A_FIFTH_SLOWER, upload=upload)
    analyse_touched()
    remove_runs(project, upload_id=upload.pk)
    analyse_touched()
    assert not Series.objects.exists()
    assert Incident.objects.get().status == "withdrawn"


# --- what people think ------------------------------------------------------------------------------------


def test_what_people_said_survives_the_next_analysis(incident, project):
    alice = make_user(member_of=project)
    triage(incident, by=Viewer(user=alice), state="investigating", assignee=alice, reason="bisecting")
    record_nights(project, [0.8] * 3, first=27)
    analyse_touched()
    incident = Incident.objects.get()
    assert (incident.state, incident.assignee, incident.reason) == ("investigating", alice, "bisecting")


def test_triage_is_in_the_audit_log_with_what_changed(incident, project):
    alice = make_user(member_of=project)
    triage(incident, by=Viewer(user=alice), state="acknowledged", assignee=alice, reason="seen")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.user, entry.reason) == ("incident triaged", alice, "seen")
    assert entry.subject == f"incident {incident.pk}: regression of MariaDB main"
    assert entry.detail == {"state": "new → acknowledged", "assignee": "Alice"}


def test_triage_that_changes_nothing_is_not_recorded(incident):
    triage(incident, by=Viewer(user=make_user()), state="new")
    assert not AuditEntry.objects.exists()


def test_an_assignee_can_be_taken_away(incident, project):
    alice = make_user(member_of=project)
    triage(incident, by=Viewer(user=alice), assignee=alice)
    triage(incident, by=Viewer(user=alice), unassign=True)
    incident.refresh_from_db()
    assert incident.assignee is None


def test_only_members_can_be_assigned_and_only_known_states_set(incident):
    outsider = make_user()
    with pytest.raises(ValidationError, match="Alice is not a member"):
        triage(incident, by=Viewer(user=outsider), assignee=outsider)
    with pytest.raises(ValidationError, match="no state 'done'"):
        triage(incident, by=Viewer(user=outsider), state="done")
    incident.refresh_from_db()
    assert (incident.state, incident.assignee) == ("new", None)


def test_a_comment_keeps_the_name_of_its_author(incident, project):
    alice = make_user(member_of=project)
    comment(incident, by=Viewer(user=alice), text="Since the new build host?")
    alice.delete()
    said = incident.comments.get()
    assert (said.author, said.author_name, said.text) == (None, "Alice", "Since the new build host?")
