"""The main job, through the public door: files in, an incident, one mail, a change point on the chart."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Series, TouchedSeries
from tests.builders import make_project, make_token
from tests.waiting import wait_until

NIGHTS = Path(__file__).parents[1] / "ingest/samples/watch/nightly/mariadb-10.11.19"
FIRST_NIGHT = 12  # those before tell nothing new, and take as long
FIRST_SWITCH = 26  # performance_schema was switched on before this night
LAST_NIGHT = 34


class Nightly:
    """The script of a CI job: it uploads what was measured in a night and knows nothing but the API."""

    def __init__(self, token):
        self.api = APIClient()
        self.api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        last = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=1)
        self.started_at = [last - timedelta(days=LAST_NIGHT - night) for night in range(LAST_NIGHT + 1)]

    def upload(self, night):
        for file in sorted((NIGHTS / f"{night:03d}").glob("*.txt")):
            meta = json.loads(file.with_suffix(".meta.json").read_text())
            with file.open("rb") as content:
                answer = self.api.post(
                    "/api/v1/uploads/",
                    {
                        "file": content,
                        "product": "MariaDB",
                        "version": meta["version"],
                        "hardware": "bench-03",
                        "workload": meta["workload"],
                        "branch": "10.11",
                        "started_at": self.started_at[night].isoformat(),
                    },
                )
            assert answer.status_code == 201, answer.content


def told(worker):
    """Wait until every touched series was looked at and nothing is left to do."""
    wait_until(lambda: not TouchedSeries.objects.exists(), within=180)
    worker.wait_until_idle()


@pytest.mark.pipeline
@pytest.mark.django_db(transaction=True)
def test_a_real_switch_is_told_once_by_mail_and_nothing_in_the_clean_nights(
    worker, smtp, chromium_page, settings
):
    settings.ANALYSIS_EVERY_S = 0
    project = make_project(slug="nightly", public=True)
    nightly = Nightly(make_token(project))
    call_command("subscribe", "--project=nightly", "dba@example.org")

    for night in range(FIRST_NIGHT, FIRST_SWITCH):
        nightly.upload(night)
        # A look at a few nights at once saves a minute; those around the switch are looked at one by one.
        if night % 4 == 0:
            told(worker)
    told(worker)
    assert not ChangePoint.objects.filter(state=ChangePoint.State.CONFIRMED).exists()
    assert smtp.mails == []

    for night in range(FIRST_SWITCH, LAST_NIGHT + 1):
        nightly.upload(night)
        told(worker)

    incident = Incident.objects.get(status=Incident.Status.CONFIRMED)
    assert incident.kind == Incident.Kind.REGRESSION
    assert incident.started_at.date() == nightly.started_at[FIRST_SWITCH].date()
    assert -0.3 < incident.worst < -0.12
    assert len(smtp.wait_for(1)) == 1
    mail = smtp.mails[0]
    assert mail.recipients == ["dba@example.org"]
    assert "MariaDB" in mail.subject
    for evidence in ("tps", "−", "oltp_read_only", "bench-03", f"/p/nightly/incidents/{incident.pk}/"):
        assert evidence in mail.text
        assert evidence in mail.html

    series = Series.objects.get(workload__name="oltp_read_only", metric="tps")
    points = nightly.api.get(f"/api/v1/series/{series.pk}/points/").json()
    assert len(points["rows"]) == LAST_NIGHT + 1 - FIRST_NIGHT
    [change] = [one for one in points["change_points"] if one["state"] == "confirmed"]
    assert change["index"] == FIRST_SWITCH - FIRST_NIGHT
    assert change["incident"] == incident.pk

    chromium_page.goto(f"/p/nightly/history/?series={series.pk}")
    label = chromium_page.locator(".chart .annotation-text", has_text="%").first
    label.wait_for()
    assert "−" in label.text_content()
