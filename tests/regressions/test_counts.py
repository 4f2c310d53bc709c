"""Stalls and errors, through the public door: files in, pages, API and mail out."""

import json
from datetime import timedelta
from random import Random

import pytest
from django.core import mail

from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import ProjectMetric
from tests.builders import make_project
from tests.dashboard.page_text import text_of
from tests.regressions.test_release_lines import Door, told
from tests.sysbench_text import sysbench_report

pytestmark = pytest.mark.django_db

NIGHTS = 56
FIRST_WITH_STALLS = 46


@pytest.fixture
def door():
    project = make_project("servers", public=True)
    subscribe(project, "dba@example.org")
    return Door(project)


def upload_nights(door, reports):
    for night, report in enumerate(reports):
        started_at = door.now - timedelta(days=len(reports) - night)
        door.upload(
            report,
            version="10.11.19",
            branch="main",
            commit=f"{night + 1:040x}",
            committed_at=started_at.isoformat(),
            started_at=started_at.isoformat(),
            workload="oltp_read_write",
        )


def tps(night):
    return 1000 * Random(night).gauss(1, 0.01)


def test_stalls_from_none_to_four_a_minute_are_one_incident_and_one_mail(door, client):
    numbers = Random(3)
    stalls = [
        sorted(numbers.sample(range(5, 60, 3), numbers.randint(3, 5))) if night >= FIRST_WITH_STALLS else []
        for night in range(NIGHTS)
    ]
    upload_nights(
        door, [sysbench_report(tps(night), stalled=stalled) for night, stalled in enumerate(stalls)]
    )
    analyse_touched()

    [incident] = door.incidents()
    assert (incident["kind"], incident["status"]) == ("regression", "confirmed")
    assert (incident["worst"], incident["median"]) == (None, None)
    [change] = incident["change_points"]
    assert (change["metric"], change["change"], change["before"]) == ("stalls_per_min", None, 0)
    assert change["after"] == pytest.approx(4, abs=0.3)
    points = door.api.get(f"/api/v1/series/{change['series']}/points/").json()
    assert [one["index"] for one in points["change_points"]] == [FIRST_WITH_STALLS]

    [subject] = told()
    words = f"0 to {change['after']:.2g} stalls a minute"
    assert words in subject
    assert words in mail.outbox[0].body
    for page in ("", "incidents/", f"incidents/{incident['id']}/", f"history/?series={change['series']}"):
        assert words in text_of(client.get(f"/p/servers/{page}")), page


def test_errors_that_begin_are_told_and_what_was_always_there_is_not(door):
    numbers = Random(5)
    usual = [numbers.randint(0, 30) for _ in range(30)]
    upload_nights(door, [sysbench_report(tps(night), errors=errors) for night, errors in enumerate(usual)])
    analyse_touched()
    assert door.incidents() == []


def test_errors_from_none_are_counted_over_the_length_of_the_runs(door):
    errors = [0] * 20 + [30, 24, 36, 28, 31, 33, 29, 27]
    upload_nights(door, [sysbench_report(tps(night), errors=one) for night, one in enumerate(errors)])
    analyse_touched()
    [incident] = door.incidents()
    assert incident["status"] == "confirmed"
    [change] = incident["change_points"]
    assert (change["metric"], change["before"]) == ("errors_per_s", 0)
    assert change["after"] == pytest.approx(0.5, abs=0.05)
    assert "0 to 30 errors a minute" in told()[0]


def test_six_nights_of_stalls_after_fifteen_without_any_are_told(door):
    numbers = Random(7)
    stalls = [[]] * 15 + [numbers.sample(range(5, 60, 3), numbers.randint(4, 6)) for _ in range(6)]
    upload_nights(door, [sysbench_report(tps(night), stalled=one) for night, one in enumerate(stalls)])
    analyse_touched()
    [incident] = door.incidents()
    assert (incident["kind"], incident["status"]) == ("regression", "confirmed")
    assert len(told()) == 1


def upload_sessions(door, number, stalls):
    """A commit that was measured in as many sessions, a day apart."""
    for session, stalled in enumerate(stalls):
        door.upload(
            sysbench_report(tps(10 * number + session), stalled=stalled),
            version="10.11.19",
            branch="main",
            commit=f"{number:040x}",
            committed_at=(door.now - timedelta(days=20 - number)).isoformat(),
            started_at=(door.now - timedelta(days=10 - 3 * number - session)).isoformat(),
            workload="oltp_read_write",
        )


SIX_STALLS = [[5, 10, 15, 20, 25, 30], [7, 12, 22, 33, 44, 50], [8, 17, 27, 36, 41, 55]]
NO_STALLS = [[], [], []]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (NO_STALLS, SIX_STALLS, "worse"),
        (SIX_STALLS, NO_STALLS, "better"),
        (NO_STALLS, [*SIX_STALLS[:1], [], []], "unknown"),
    ],
    ids=["that begin", "that end", "of one session"],
)
def test_stalls_of_three_sessions_each_are_told_by_comparison_and_gate(door, before, after, verdict):
    ProjectMetric.objects.create(project=door.project, name="stalls_per_min", is_own=False, watched=True)
    upload_sessions(door, 1, before)
    upload_sessions(door, 2, after)
    analyse_touched()
    base, against = (json.dumps({"product": "MySQL", "commit": f"{number:040x}"}) for number in (1, 2))
    query = {"project": "servers", "branch": "main", "metric": "stalls_per_min"}
    answer = door.api.get("/api/v1/compare/", {**query, "base": base, "against": against}).json()
    assert [cell["verdict"] for cell in answer["rows"][0]["cells"]] == [verdict]
    query = {"project": "servers", "product": "MySQL", "branch": "main", "commit": f"{2:040x}"}
    gate = door.api.get("/api/v1/gate/", query).json()
    [row] = [row for row in gate["rows"] if row["metric"] == "stalls_per_min"]
    assert row["cells"][0]["verdict"] == verdict
    assert (gate["verdict"] == "fail") == (verdict == "worse")
