"""A loss that comes little by little is one incident of its own kind, wherever it is told of."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from benchdash.accounts.models import Scope
from benchdash.alerts.models import Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.regressions import headlines
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.mornings import morning_of
from benchdash.regressions.services import analyse_touched
from tests.assistants.conftest import Door
from tests.builders import make_project, make_token
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

PLACES = tuple((workload, threads) for workload in ("read_only", "read_write") for threads in (1, 4, 16))
FLAT, NIGHTS = 20, 50


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def api(project):
    client = APIClient()
    token = make_token(project, Scope.UPLOAD, Scope.READ, Scope.ADMIN)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def figures(nights, *, a_night=0.0, drifting=4, step=None, seed=5):
    """By night and place: 2 % noise, and 1.5 % that a night shares; some of them drift, and all step."""
    rng = np.random.default_rng(seed)
    logs = 0.02 * rng.normal(size=(nights, len(PLACES))) + 0.015 * rng.normal(size=(nights, 1))
    logs[:, :drifting] += a_night * np.clip(np.arange(nights) - FLAT + 1, 0, None)[:, None]
    if step:
        logs[step[0] :] += np.log1p(step[1])
    return 2000 * np.exp(logs)


def send(api, values, nights):
    """Upload some of the nights, and look at them; the last of all nights was yesterday."""
    last = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=1)
    for night in nights:
        started_at = last - timedelta(days=len(values) - 1 - night)
        tables = defaultdict(list)
        for (workload, threads), tps in zip(PLACES, values[night], strict=True):
            tables[workload].append(f"{threads},{tps:.2f}\n")
        for workload, rows in tables.items():
            sent = {
                "file": SimpleUploadedFile(f"{night}.csv", f"threads,tps\n{''.join(rows)}".encode()),
                "product": "MariaDB",
                "version": "10.11.19",
                "branch": "main",
                "hardware": "bench-03",
                "workload": workload,
                "commit": f"{night + 1:x}".ljust(40, "0"),
                "committed_at": (started_at - timedelta(hours=9)).isoformat(),
                "started_at": started_at.isoformat(),
            }
            answer = api.post("/api/v1/uploads/", sent)
            assert answer.status_code == 201, answer.content
    analyse_touched()
    owe_alerts()
    send_owed_alerts()


def incidents(api, **query):
    return api.get("/api/v1/incidents/", {"project": "nightly", **query}).json()["results"]


def test_a_drift_is_one_incident_told_once_and_again_when_it_has_doubled(
    project, api, client, mailoutbox, settings, no_loop_of_the_browser
):
    settings.HISTORICAL_AFTER = timedelta(days=90)
    Subscription.objects.create(
        project=project, address="a@example.com", kinds=["drift"], confirmed_at=datetime.now(UTC)
    )
    values = figures(FLAT + NIGHTS, a_night=-0.004)
    send(api, values, range(FLAT + 15))
    for night in range(FLAT + 15, FLAT + NIGHTS, 2):
        send(api, values, [night, night + 1][: FLAT + NIGHTS - night])
    told = [one for one in incidents(api) if one["status"] == "confirmed"]
    assert [one["kind"] for one in told] == ["drift"]
    [drift] = incidents(api, kind="drift")
    assert drift["change"] == pytest.approx(-0.18, abs=0.02)
    assert drift["per_point"] == pytest.approx(-0.004, abs=0.0005)
    assert 45 <= drift["points"] <= 55
    assert (drift["series"], drift["change_points"]) == (4, [])
    assert drift["to"].strip("0") == f"{FLAT + NIGHTS:x}".strip("0")
    first, again = mailoutbox
    assert "no single commit" in first.subject
    assert again.body.startswith("Grown to twice of what it was: by now lost")
    words = headlines.drift_words(Incident.objects.get(pk=drift["id"])).replace("\N{NO-BREAK SPACE}", " ")
    for address in ("/p/nightly/", f"/p/nightly/incidents/{drift['id']}/"):
        assert words in text_of(client.get(address)).replace("\N{NO-BREAK SPACE}", " ")
    # A drift has no points before it.
    assert "0 / " not in text_of(client.get(f"/p/nightly/incidents/{drift['id']}/"))
    history = "/p/nightly/history/?metric=tps&workload=read_only&threads=1"
    assert f"It drifts : {words}." in text_of(client.get(history)).replace("\N{NO-BREAK SPACE}", " ")
    assert "nothing open" not in text_of(client.get("/p/nightly/"))
    assert b"1 drift" in client.get("/p/nightly/badge.svg").content
    assert b'<category term="drift"/>' in client.get("/p/nightly/feed.atom").content
    series = api.get("/api/v1/series/", {"project": "nightly", "metric": "tps"}).json()["results"]
    points = [api.get(f"/api/v1/series/{one['id']}/points/").json() for one in series]
    assert sum(one["drift"] is not None for one in points) == 4
    assert {one["drift"]["incident"] for one in points if one["drift"]} == {drift["id"]}
    assert not any(one["change_points"] for one in points)
    [drifting, *_] = [one["series"]["id"] for one in points if one["drift"]]
    history = Door().ask("history", series=drifting)
    assert history["drift"]["incident"] == drift["id"]
    assert history["drift"]["from_time"] < history["drift"]["to_time"] == history["groups"][-1]["time"]
    assert "No change of level" not in history["note"]
    asked = {"project": "nightly", "product": "MariaDB", "branch": "main", "commit": drift["to"]}
    gate = api.get("/api/v1/gate/", {**asked, "base": f"{FLAT:x}".ljust(40, "0")}).json()
    assert gate["verdict"] == "fail"


def test_what_is_usual_is_told_around_a_drift_and_not_by_it(project, api):
    send(api, figures(FLAT + 40, a_night=-0.004, drifting=6), range(FLAT + 40))
    rows = api.get("/api/v1/overview/", {"project": "nightly"}).json()["rows"]
    assert {one["verdict"] for one in rows} == {"same"}
    assert all(one["usual"] < 0.12 for one in rows)
    # The curve shows what happened.
    for row in morning_of(project).rows:
        assert np.mean(row.curve[:10]) > 1.1 * np.mean(row.curve[-10:])


def test_forty_quiet_nights_have_no_drift(api):
    send(api, figures(60), range(60))
    assert incidents(api) == []


def test_a_step_beside_a_drift_is_told_beside_it(api):
    send(api, figures(FLAT + 45, a_night=-0.003, drifting=6, step=(FLAT + 30, -0.10)), range(FLAT + 45))
    told = {one["kind"]: one for one in incidents(api) if one["status"] == "confirmed"}
    assert set(told) == {"drift", "regression"}
    assert told["regression"]["change"] == pytest.approx(-0.10, abs=0.02)
    assert told["regression"]["to"].strip("0") == f"{FLAT + 31:x}".strip("0")
    assert told["drift"]["per_point"] == pytest.approx(-0.003, abs=0.0008)


def test_a_drift_ends_when_what_it_lost_is_regained(api):
    values = figures(FLAT + 60, a_night=-0.004)
    values[FLAT + 40 :] = figures(20, seed=9)
    send(api, values, range(FLAT + 40))
    [drift] = incidents(api, kind="drift")
    send(api, values, range(FLAT + 40, FLAT + 60))
    [drift] = incidents(api, kind="drift")
    assert (drift["status"], drift["state"]) == ("confirmed", "fixed")
