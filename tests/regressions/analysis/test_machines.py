"""A step of a machine is one incident, and nobody is told of a regression for it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.regressions.models import Incident
from benchdash.regressions.queries import evidence, incidents, open_filter
from benchdash.regressions.services import analyse_touched
from benchdash.results.controls import control_build
from benchdash.results.models import Run, Series
from benchdash.results.services import touch
from tests.builders import make_project
from tests.regressions.nights import night_time, record_nights

pytestmark = pytest.mark.django_db

STEP = [1.0] * 20 + [0.8] * 6


@pytest.fixture
def project():
    return make_project()


def measure(project, product, levels, **fields):
    record_nights(project, levels, product=product, **fields)
    analyse_touched()


def of_machine():
    return Incident.objects.get(kind="environment")


def of_product(product):
    return Incident.objects.get(product__name=product, kind="regression")


def look_again():
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()


def test_what_two_products_show_at_once_is_one_incident_of_their_machine(project):
    measure(project, "MariaDB", STEP)
    measure(project, "PostgreSQL", STEP)
    machine = of_machine()
    assert (machine.status, machine.hardware.name, machine.product) == ("confirmed", "box", None)
    assert machine.started_at == night_time(21)
    assert machine.median == pytest.approx(-0.2, abs=0.02)
    assert machine.looked_at == 6
    assert {of_product(name).folded_into for name in ("MariaDB", "PostgreSQL")} == {machine}
    assert list(incidents(project).filter(open_filter())) == [machine]
    assert {one.what for one in of_product("MariaDB").events.all()} == {"detected", "confirmed", "folded"}


def test_the_incident_of_a_machine_shows_the_series_that_it_explains(project):
    measure(project, "MariaDB", STEP)
    measure(project, "PostgreSQL", STEP)
    listed = incidents(project).get(kind="environment")
    assert listed.series_count == len(evidence(listed)) == 6
    assert listed.workloads == ["oltp_point_select", "oltp_read_only", "oltp_read_write"]
    assert listed.last_good_at == night_time(20)


def test_it_changed_as_many_series_as_are_watched_at_most(project):
    for product in ("MariaDB", "PostgreSQL"):
        for night, level in enumerate(STEP, 1):
            readings = {"tps": 1000 * level + night % 3, "qps": 20_000 * level + night % 3}
            record_nights(project, [level], first=night, product=product, readings=readings)
    analyse_touched()
    listed = incidents(project).get(kind="environment")
    assert (listed.series_count, listed.looked_at) == (12, 12)


def test_what_changed_about_the_machine_is_the_cause(project):
    for product in ("MariaDB", "PostgreSQL"):
        record_nights(project, [1.0] * 20, product=product, environment={"kernel": "6.8"})
        record_nights(project, [0.8] * 6, first=21, product=product, environment={"kernel": "6.11"})
    analyse_touched()
    assert of_machine().cause == "kernel went from 6.8 to 6.11"


def test_a_loss_of_one_product_is_its_own(project):
    measure(project, "MariaDB", STEP)
    measure(project, "PostgreSQL", [1.0] * 26)
    assert of_product("MariaDB").folded_into is None
    assert not Incident.objects.filter(kind="environment").exists()


def test_one_workload_of_another_product_does_not_explain_a_loss(project):
    measure(project, "MariaDB", STEP)
    measure(project, "PostgreSQL", STEP, workloads=["oltp_read_only"])
    measure(project, "PostgreSQL", [1.0] * 26, workloads=["oltp_insert", "oltp_delete"])
    assert of_product("MariaDB").folded_into is None


def test_a_product_that_lost_much_more_than_the_others_is_not_explained(project):
    measure(project, "MariaDB", [1.0] * 20 + [0.5] * 6)
    measure(project, "PostgreSQL", [1.0] * 20 + [0.95] * 6)
    assert of_product("MariaDB").folded_into is None


def test_changes_weeks_apart_are_not_the_machine(project):
    measure(project, "MariaDB", [1.0] * 10 + [0.8] * 16)
    measure(project, "PostgreSQL", STEP)
    assert not Incident.objects.filter(kind="environment").exists()


def test_a_connector_and_the_server_that_it_runs_against_are_not_two(project):
    measure(project, "MariaDB", STEP)
    measure(project, "Connector", STEP, counterpart="MariaDB 10.11")
    assert not Incident.objects.filter(kind="environment").exists()


def test_what_two_machines_show_is_explained_when_both_stepped(project):
    for hardware in ("bench-03", "bench-04"):
        measure(project, "MariaDB", STEP, hardware=hardware)
    measure(project, "PostgreSQL", STEP, hardware="bench-03")
    assert of_product("MariaDB").folded_into is None
    measure(project, "PostgreSQL", STEP, hardware="bench-04")
    assert Incident.objects.filter(kind="environment").count() == 2
    assert of_product("MariaDB").folded_into is not None
    folded = of_product("MariaDB").folded_into
    look_again()
    assert of_product("MariaDB").folded_into == folded
    machines = incidents(project).filter(kind="environment")
    assert [(one.series_count, len(evidence(one))) for one in machines] == [(6, 6), (6, 6)]
    assert of_product("MariaDB").events.filter(what="folded").count() == 1


def test_a_control_that_steps_explains_what_stepped_with_it(project):
    record_nights(project, [1.0] * 5 + [0.8] * 6)
    record_nights(project, [1.0] * 5 + [0.8] * 6, build=control_build(""))
    analyse_touched()
    machine = of_machine()
    assert (machine.product.name, machine.hardware.name) == ("MariaDB", "box")
    for one in Incident.objects.filter(kind="regression"):
        assert one.folded_into == machine


def test_a_machine_that_recovers_has_its_incident_fixed_until_the_loss_returns(project):
    for product in ("MariaDB", "PostgreSQL"):
        measure(project, product, [1.0] * 10 + [0.8] * 6 + [1.0] * 6)
    slower, faster = Incident.objects.filter(kind="environment").order_by("started_at")
    assert (slower.state, slower.recovered_by) == ("fixed", faster)
    for product in ("MariaDB", "PostgreSQL"):
        measure(project, product, [0.8] * 6, first=23)
    assert not Incident.objects.filter(kind="environment", state="fixed").exists()


def test_a_control_that_recovers_ends_its_loss(project):
    record_nights(project, [1.0] * 10 + [0.8] * 6 + [1.0] * 6, build=control_build(""))
    analyse_touched()
    slower, faster = Incident.objects.order_by("started_at")
    assert (slower.kind, slower.state, slower.recovered_by) == ("environment", "fixed", faster)


def test_what_people_say_of_a_machine_is_kept(project):
    measure(project, "MariaDB", STEP)
    measure(project, "PostgreSQL", STEP)
    Incident.objects.filter(kind="environment").update(state="investigating", reason="the new kernel?")
    look_again()
    assert (of_machine().state, of_machine().reason) == ("investigating", "the new kernel?")


def test_without_its_machine_an_incident_stands_for_itself_again(project):
    measure(project, "MariaDB", STEP)
    measure(project, "PostgreSQL", STEP)
    of_postgresql = Run.objects.filter(version__product__name="PostgreSQL", started_at__gte=night_time(21))
    of_postgresql.update(excluded_at=night_time(30))
    look_again()
    assert of_machine().status == "withdrawn"
    assert of_product("MariaDB").folded_into is None
    assert of_product("MariaDB").events.last().what == "unfolded"
    assert list(incidents(project).filter(open_filter())) == [of_product("MariaDB")]


def test_a_regression_waits_until_the_other_products_of_the_night_are_measured(project):
    tonight = night_time(30)
    for night in range(1, 30):
        record_nights(project, [1.0], first=night, commit=f"{night:040x}", committed_at=night_time(night))
    record_nights(project, [1.0] * 29, product="PostgreSQL")
    analyse_touched()
    for number in range(4):
        at = tonight + timedelta(minutes=10 * number)
        commit = {"commit": f"{30 + number:040x}", "committed_at": at, "started_at": at}
        record_nights(project, [0.5], first=30 + number, **commit)
    analyse_touched()
    held = of_product("MariaDB")
    assert held.change_points.filter(state="confirmed").exists()
    assert held.status == "suspected"
    record_nights(project, [1.0], first=30, product="PostgreSQL", started_at=tonight + timedelta(hours=2))
    analyse_touched()
    assert of_product("MariaDB").status == "confirmed"
    assert [one.what for one in held.events.all()] == ["detected", "confirmed"]


def test_what_a_machine_did_is_not_confirmed_before_all_products_of_the_night_are_analysed(project):
    for night in range(1, 30):
        commit = {"commit": f"{night:040x}", "committed_at": night_time(night)}
        for product in ("MariaDB", "PostgreSQL"):
            record_nights(project, [1.0], first=night, product=product, **commit)
    analyse_touched()
    for number in range(4):
        at = night_time(30) + timedelta(minutes=10 * number)
        commit = {"commit": f"{30 + number:040x}", "committed_at": at, "started_at": at}
        for product in ("MariaDB", "PostgreSQL"):
            record_nights(project, [0.5], first=30 + number, product=product, **commit)
    analyse_touched()
    assert of_machine().status == "confirmed"
    # MariaDB was analysed first, and committed for itself.
    events = [one.what for one in of_product("MariaDB").events.all()]
    assert "confirmed" not in events[: events.index("folded")]


@pytest.mark.parametrize(("hours", "status"), [(1, "confirmed"), (24, "suspected")])
def test_a_regression_waits_for_a_control_that_did_not_run_in_its_session(project, hours, status):
    """The control ran an hour before it, or the last time in the night before."""
    tonight = timezone.now() - timedelta(hours=4)
    nights_before = [tonight - timedelta(days=day) for day in range(29, 0, -1)]
    for night, at in enumerate(nights_before, 1):
        record_nights(project, [1.0], first=night, started_at=at, commit=f"{night:040x}", committed_at=at)
    for night, at in enumerate([*nights_before[1:], tonight], 1):
        before = at - timedelta(hours=hours)
        record_nights(project, [1.0], first=night, build=control_build(""), started_at=before)
    analyse_touched()
    for number in range(4):
        at = tonight + timedelta(minutes=10 * number)
        commit = {"commit": f"{30 + number:040x}", "committed_at": at, "started_at": at}
        record_nights(project, [0.5], first=30 + number, **commit)
    analyse_touched()
    assert of_product("MariaDB").status == status
