"""A place whose analysis raises: its stored order is no JSON, which a look at it must read."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry
from benchdash.regressions import services
from benchdash.regressions.analysis.failing_places import due_touches, try_again
from benchdash.regressions.models import ChangePoint, FailingPlace, Incident, PlaceOrder
from benchdash.regressions.services import analyse_touched, recompute
from benchdash.results.models import Series, TouchedSeries
from benchdash.results.services import touch
from tests.builders import make_project
from tests.regressions.nights import record_nights
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

A_FIFTH_SLOWER = [1.0] * 20 + [0.8] * 6


@pytest.fixture
def project():
    """A product at two places, both looked at, and then six slower nights at both. A look at one fails."""
    project = make_project()
    for hardware in ("broken", "sound"):
        record_nights(project, [1.0] * 20, hardware=hardware)
    analyse_touched()
    assert PlaceOrder.objects.filter(hardware__name="broken").update(groups="no JSON") == 1
    for hardware in ("broken", "sound"):
        record_nights(project, [0.8] * 6, first=21, hardware=hardware)
    return project


def mend():
    PlaceOrder.objects.update(groups="[]")


def later(**time):
    """As if so much time had passed."""
    for failing in FailingPlace.objects.all():
        failing.next_try_at -= timedelta(**time)
        failing.save()


def set_aside():
    for _ in range(5):
        analyse_touched()
        later(days=1)
    return FailingPlace.objects.get()


def due_machines():
    return set(due_touches().values_list("series__hardware__name", flat=True))


def test_a_place_that_fails_holds_up_no_other_of_its_product(project):
    assert analyse_touched() == 3
    assert Incident.objects.get().status == "confirmed"
    hardware = ChangePoint.objects.values_list("series__hardware__name", flat=True)
    assert set(hardware) == {"sound"}


def test_why_it_failed_is_kept_and_it_stays_due(project):
    analyse_touched()
    failing = FailingPlace.objects.get()
    assert (failing.hardware.name, failing.tries, failing.set_aside_at) == ("broken", 1, None)
    assert failing.error.startswith("json.decoder.JSONDecodeError: Expecting value")
    assert failing.traceback.startswith("Traceback (most recent call last):")
    assert "in keep_order" in failing.traceback
    assert set(TouchedSeries.objects.values_list("series__hardware__name", flat=True)) == {"broken"}


def test_it_is_tried_again_after_longer_and_longer_waits_and_then_set_aside(project):
    waits = []
    for tries in range(1, 6):
        assert analyse_touched() == (3 if tries == 1 else 0)
        failing = FailingPlace.objects.get()
        assert failing.tries == tries
        waits.append(round((failing.next_try_at - timezone.now()).total_seconds() / 60))
        analyse_touched()  # nothing before its time
        assert FailingPlace.objects.get().tries == tries
        assert due_machines() == set()
        assert (failing.set_aside_at is not None) == (tries == 5)
        later(minutes=waits[-1] + 1)
    assert waits == [1, 4, 16, 64, 64]
    later(days=365)
    assert due_machines() == set()


def test_a_try_that_goes_well_tells_what_was_found_and_forgets_the_failure(project):
    analyse_touched()
    mend()
    later(minutes=2)
    assert analyse_touched() == 3
    assert not FailingPlace.objects.exists()
    assert not TouchedSeries.objects.exists()
    incident = Incident.objects.get()
    assert not incident.quiet
    assert set(incident.change_points.values_list("series__hardware__name", flat=True)) == {"broken", "sound"}


def test_what_is_set_aside_is_tried_when_its_data_change(project):
    set_aside()
    assert due_machines() == set()
    mend()
    touch([Series.objects.filter(hardware__name="broken").first().pk], quiet=True)
    assert analyse_touched() == 3
    assert not FailingPlace.objects.exists()


def test_what_is_set_aside_is_tried_when_an_operator_asks(project):
    mend_later = set_aside()
    try_again(mend_later, by=NOBODY)
    assert due_machines() == {"broken"}
    analyse_touched()
    assert FailingPlace.objects.get().set_aside_at is not None  # one more try, and no more
    mend()
    try_again(FailingPlace.objects.get(), by=NOBODY)
    assert analyse_touched() == 3
    assert not FailingPlace.objects.exists()
    assert AuditEntry.objects.filter(action="analysis tried again").count() == 2


def test_a_failing_place_without_series_is_forgotten_when_it_is_tried_again(project):
    failing = set_aside()
    Series.objects.filter(hardware__name="broken").delete()
    try_again(failing, by=NOBODY)
    assert not FailingPlace.objects.exists()


def test_the_work_of_the_night_leaves_out_what_is_set_aside_and_a_command_does_not(project):
    set_aside()
    TouchedSeries.objects.all().delete()
    assert [one.failed for one in recompute(project=project)] == [0]
    with pytest.raises(CommandError, match="1 of 2 places failed"):
        call_command("analyse", f"--project={project.slug}")
    assert FailingPlace.objects.get().tries == 6


def test_a_place_that_fails_in_the_work_of_the_night_is_due_again(project):
    TouchedSeries.objects.all().delete()
    assert [one.failed for one in recompute(project=project)] == [1, 1]
    mend()
    later(minutes=2)
    assert due_machines() == {"broken"}
    analyse_touched()
    assert not FailingPlace.objects.exists()


def test_where_incidents_cannot_be_made_all_places_of_the_branch_failed(project):
    mend()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE regressions_incident ADD CONSTRAINT broken CHECK (kind <> 'regression')")
    assert analyse_touched() == 0
    assert not ChangePoint.objects.exists()
    names = FailingPlace.objects.values_list("hardware__name", flat=True)
    assert set(names) == {"broken", "sound"}
    assert "violates check constraint" in FailingPlace.objects.first().error


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_lost_is_no_fault_of_the_place(project):
    def look():
        with pytest.raises(OperationalError):
            services._analyse_product(project.products.get().pk)
        connections.close_all()

    with ThreadPoolExecutor() as pool:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE regressions_placeorder")
            looking = pool.submit(look)
            cursor.execute("SELECT pg_backend_pid()")
            wait_until(lambda: end_whoever_waits(cursor))
        looking.result()
    assert not FailingPlace.objects.exists()
    mend()
    assert analyse_touched() == 6


def end_whoever_waits(cursor):
    # Other test processes have databases of their own on this server.
    cursor.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
        " WHERE NOT granted AND datname = current_database()"
    )
    return cursor.fetchall()
