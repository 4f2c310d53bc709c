import pytest

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import (
    Difference,
    change_points,
    differences,
    evidence,
    incidents,
    open_filter,
    what_changed,
)
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Series
from tests.builders import make_project, make_run
from tests.regressions.nights import night_time, record_nights

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def incident(project):
    """Two workloads that became slower from night 21 on, when the buffer pool shrank; a third did not."""
    for workload, level in [("oltp_read_only", 0.7), ("oltp_read_write", 0.8), ("oltp_insert", 1.0)]:
        kernel = {"kernel": "6.1"}
        before, after = ({"buffer_pool": size, "port": "3306"} for size in ("8G", "12M"))
        record_nights(project, [1.0] * 20, workloads=[workload], settings=before, environment=kernel)
        record_nights(
            project, [level] * 6, first=21, workloads=[workload], settings=after, environment=kernel
        )
    analyse_touched()
    return Incident.objects.get()


def test_the_evidence_is_sorted_by_size_and_takes_one_statement(incident, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = [
            (
                one.series.workload.name,
                one.series.hardware.name,
                one.run.version.version,
                one.last_good.pk > 0,
            )
            for one in evidence(incident)
        ]
    assert found == [
        ("oltp_read_only", "box", "10.11.19", True),
        ("oltp_read_write", "box", "10.11.19", True),
    ]


def test_evidence_leaves_out_what_was_withdrawn(incident):
    incident.change_points.filter(series__workload__name="oltp_read_only").update(state="withdrawn")
    assert [one.series.workload.name for one in evidence(incident)] == ["oltp_read_write"]


def test_what_else_changed_is_said_once_for_all_workloads(incident, django_assert_num_queries):
    found = evidence(incident)
    with django_assert_num_queries(0):
        assert what_changed(found) == [Difference("buffer_pool", "8G", "12M")]


def test_differences_are_of_settings_and_facts_with_what_was_not_set_before():
    before = make_run(settings={"a": "1", "b": "1"}, environment={"kernel": "6.1", "governor": "performance"})
    after = make_run(settings={"a": "1", "b": "2", "c": "3"}, environment={"kernel": "6.2"})
    found = differences(before, after)
    assert [str(one) for one in found] == [
        "b: 1 → 2",
        "c: not set → 3",
        "governor: performance → not set",
        "kernel: 6.1 → 6.2",
    ]


def test_a_run_of_which_nothing_is_known_differs_in_nothing():
    assert differences(make_run(), make_run(settings={"a": "1"}, environment={"kernel": "6.2"})) == []


def test_a_list_of_incidents_takes_one_statement(incident, project, django_assert_num_queries):
    with django_assert_num_queries(1):
        [listed] = incidents(project)
        assert (listed.product.name, str(listed.since), str(listed.until)) == (
            "MariaDB",
            "10.11.19",
            "10.11.19",
        )
    assert listed.series_count == 2
    assert listed.workloads == ["oltp_read_only", "oltp_read_write"]
    assert listed.last_good_at == night_time(20)


def test_an_incident_without_change_points_is_listed_too(incident, project):
    ChangePoint.objects.all().delete()
    [listed] = incidents(project)
    assert (listed.series_count, listed.workloads, listed.last_good_at) == (0, [], None)


def test_incidents_of_other_projects_are_not_listed(incident):
    assert not incidents(make_project()).exists()


@pytest.mark.parametrize(
    ("fields", "is_open"),
    [
        ({}, True),
        ({"state": "investigating"}, True),
        ({"state": "expected"}, False),
        ({"status": "withdrawn"}, False),
        ({"status": "suspected"}, True),
        ({"kind": "environment", "median": -0.1}, True),
        ({"kind": "environment", "median": 0.1}, False),
        ({"kind": "silence"}, True),
        ({"kind": "improvement"}, False),
        ({"historical": True}, False),
        ({"snoozed_until": night_time(40)}, False),
        ({"snoozed_until_version": "10.11.20"}, False),
    ],
)
def test_open_incidents_wait_for_somebody(incident, project, fields, is_open):
    Incident.objects.update(historical=False)
    Incident.objects.update(**fields)
    assert incidents(project).filter(open_filter()).exists() == is_open


def test_what_a_machine_explains_is_not_open(incident, project):
    of_machine = Incident.objects.create(
        project=project, kind="environment", status="confirmed", started_at=incident.started_at
    )
    Incident.objects.exclude(pk=of_machine.pk).update(historical=False, folded_into=of_machine)
    assert list(incidents(project).filter(open_filter())) == [of_machine]


def test_change_points_come_by_series_in_one_statement(incident, django_assert_num_queries):
    slower = Series.objects.get(workload__name="oltp_read_only")
    same = Series.objects.get(workload__name="oltp_insert")
    with django_assert_num_queries(1):
        found = change_points({slower.pk: slower, same.pk: same})
    assert [one.run.started_at for one in found[slower.pk]] == [night_time(21)]
    assert found.get(same.pk, []) == []
