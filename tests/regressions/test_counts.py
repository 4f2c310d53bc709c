"""Stalls and errors, through the public door: files in, pages, API and mail out."""

from datetime import timedelta
from random import Random

import pytest
from django.core import mail

from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.services import analyse_touched
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
