"""Results whose start nobody said, as a plain sysbench 1.0 and curl send them, through the public door."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from rest_framework.test import APIClient

from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run, ServerVersion
from ingest.models import Upload
from ingest.receiving.reimports import reimport
from ingest.tasks import import_upload
from tests.builders import make_project, make_token
from tests.clock import clock_at
from tests.dashboard.page_text import text_of
from tests.ingest.packing import zip_of
from tests.sysbench_text import sysbench_report

pytestmark = pytest.mark.django_db

WORKLOADS = ("oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_delete")
MEND = "send started_at, or name the date in the path pattern ({date})"
WARNING = f"between releases; {MEND}"
EVENING = datetime.now(UTC).replace(hour=20, minute=0, second=0, microsecond=0) - timedelta(days=40)


@pytest.fixture
def project():
    project = make_project("amber", public=True)
    Subscription.objects.create(
        project=project, address="dba@example.org", confirmed_at=EVENING - timedelta(days=1)
    )
    return project


@pytest.fixture
def api(project):
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
    return api


def of_evenings(mood, *, repeats=3, seed=1):
    """Three repeats of each workload by equal versions; the second one was measured in a slow hour."""
    numbers = random.Random(seed)
    return {
        f"{version}/{workload}.{repeat}.txt": sysbench_report(
            1000 * (at + 1) * speed * numbers.lognormvariate(0, 0.01)
        ).encode()
        for version, speed in (("10.6.21", 1.0), ("10.6.22", mood))
        for at, workload in enumerate(WORKLOADS)
        for repeat in range(repeats)
    }


SAID = {"product": "MariaDB", "hardware": "box"}


def by_curl(api, files, **said):
    answers = []
    for name, data in files.items():
        version, file_name = name.split("/")
        fields = {**SAID, "version": version, "workload": file_name.split(".")[0], **said}
        answers.append(api.post("/api/v1/uploads/", {"file": SimpleUploadedFile(file_name, data), **fields}))
    return [answer.json()["warnings"] for answer in answers]


def by_zip(api, files):
    fields = {**SAID, "pattern": "{version}/{workload}.{repetition}.txt"}
    answer = api.post(
        "/api/v1/uploads/", {"file": SimpleUploadedFile("results.zip", zip_of(files)), **fields}
    ).json()
    import_upload(answer["id"])
    return [api.get(f"/api/v1/uploads/{answer['id']}/").json()["warnings"]]


def by_folder(_api, files, *, folder, capsys):
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    pattern = "--pattern={version}/{workload}.{repetition}.txt"
    said = [f"--set={name}={value}" for name, value in SAID.items()]
    call_command("import_folder", "--project=amber", pattern, *said, str(folder))
    return [capsys.readouterr().err.splitlines()]


def send(way, api, files, tmp_path, capsys):
    if way == "folder":
        return by_folder(api, files, folder=tmp_path, capsys=capsys)
    return {"curl": by_curl, "zip": by_zip}[way](api, files)


def tell():
    analyse_touched()
    owe_alerts()
    send_owed_alerts()


GATE = {"project": "amber", "product": "MariaDB", "version": "10.6.22"}


@pytest.mark.parametrize("way", ["curl", "zip", "folder"])
def test_a_slow_hour_of_an_equal_release_is_likely_at_most_and_the_mend_is_named(
    way, api, client, smtp, tmp_path, capsys
):
    warnings = send(way, api, of_evenings(0.5), tmp_path, capsys)
    assert all(sum(WARNING in one for one in of_upload) == 1 for of_upload in warnings)
    tell()
    assert not ChangePoint.objects.filter(state="confirmed").exists()
    assert (smtp.mails, Alert.objects.count()) == ([], 0)
    incident = Incident.objects.get()
    assert incident.status == "suspected"
    assert MEND in text_of(client.get(f"/p/amber/incidents/{incident.pk}/"))

    gate = client.get("/api/v1/gate/", GATE).json()
    assert gate["verdict"] == "unknown"
    cells = [cell for row in gate["rows"] for cell in row["cells"]]
    assert {cell["basis"] for cell in cells} == {"assumed start"}
    assert {cell["sessions"] for cell in cells} == {1}
    assert {cell["verdict"] for cell in cells} <= {"likely_worse", "unknown"}
    assert "likely_worse" in {cell["verdict"] for cell in cells}
    assert sum(MEND in reason for reason in gate["reasons"]) == 1
    markdown = client.get("/api/v1/gate/", {**GATE, "format": "md"}).content.decode()
    assert markdown.replace("\\", "").count(MEND) == 1
    assert text_of(client.get("/p/amber/gate/", GATE)).count(MEND) == 1

    base, other = (ServerVersion.objects.get(version=name).pk for name in ("10.6.21", "10.6.22"))
    table = client.get(f"/api/v1/compare/?project=amber&metric=tps&base={base}&against={other}").json()
    assert {cell["verdict"] for row in table["rows"] for cell in row["cells"]} == {"likely_worse"}
    pair = client.get(f"/api/v1/difference/?project=amber&base={base}&against={other}").json()
    assert sum(MEND in warning["text"] for warning in pair["warnings"]) == 1
    for page in (f"pair/?base={base}&against={other}", f"matrix/?base={base}&v={base}&v={other}"):
        assert text_of(client.get(f"/p/amber/compare/{page}")).count(MEND) == 1


def test_receipts_on_several_days_prove_no_more(api, client, smtp):
    for day in range(4):
        with clock_at(EVENING + timedelta(days=day)):
            by_curl(api, of_evenings(0.6, repeats=1, seed=day))
            tell()
    gate = client.get("/api/v1/gate/", GATE).json()
    cells = [cell for row in gate["rows"] for cell in row["cells"]]
    assert {cell["sessions"] for cell in cells} == {4}
    assert gate["verdict"] == "unknown"
    assert {cell["verdict"] for cell in cells} <= {"likely_worse", "unknown"}
    assert not ChangePoint.objects.filter(state="confirmed").exists()
    assert smtp.mails == []


def test_with_their_starts_the_same_files_say_what_they_prove(api, client):
    for day in range(4):
        start = EVENING + timedelta(days=day)
        by_curl(api, of_evenings(0.6, repeats=1, seed=day), started_at=start.isoformat())
    analyse_touched()
    gate = client.get("/api/v1/gate/", GATE).json()
    assert gate["verdict"] == "fail"
    assert not any(MEND in reason for reason in gate["reasons"])


def test_versions_of_one_table_without_starts_share_no_session(api, client):
    table = "workload,version,threads,tps\n" + "".join(
        f"{workload},{version},4,{1000 * (at + 1) * speed + 3 * repeat}\n"
        for version, speed in (("10.6.21", 1.0), ("10.6.22", 0.7))
        for at, workload in enumerate(WORKLOADS)
        for repeat in range(3)
    )
    for _ in range(2):
        file = SimpleUploadedFile("table.csv", table.encode())
        assert api.post("/api/v1/uploads/", {"file": file, **SAID}).status_code in (200, 201)
    analyse_touched()
    gate = client.get("/api/v1/gate/", GATE).json()
    assert gate["verdict"] == "unknown"
    assert {cell["basis"] for row in gate["rows"] for cell in row["cells"]} == {"assumed start"}


def test_a_receipt_stays_what_it_was_when_a_file_is_read_again(api):
    with clock_at(EVENING):
        by_curl(api, of_evenings(1.0, repeats=1))
    before = dict(Run.objects.values_list("key", "started_at"))
    assert set(before.values()) == {EVENING}
    upload = Upload.objects.first()
    api.patch(f"/api/v1/uploads/{upload.pk}/", {"notes": "on the new disk"}, format="json")
    for one in Upload.objects.all():
        reimport(one)
    assert dict(Run.objects.values_list("key", "started_at")) == before
    run = api.get(f"/api/v1/runs/{Run.objects.first().pk}/").json()
    assert run["started_at_assumed"]
    assert datetime.fromisoformat(run["started_at"]) == EVENING


def nights(api, speeds, *, gap=timedelta(days=1), commits=False):
    """The nightly job: each night one report of each workload by curl, then the look and the mails."""
    numbers = random.Random(7)
    for night, speed in enumerate(speeds):
        with clock_at(EVENING + night * gap):
            for at, workload in enumerate(WORKLOADS):
                report = sysbench_report(1000 * (at + 1) * speed * numbers.lognormvariate(0, 0.01))
                fields = {"version": "11.8.0", "workload": workload, "branch": "main", **SAID}
                fields |= {"commit": f"{night + 1:040x}"} if commits else {}
                file = SimpleUploadedFile(f"{workload}.txt", report.encode())
                answer = api.post("/api/v1/uploads/", {"file": file, **fields})
                assert not any(MEND in warning for warning in answer.json()["warnings"])
            tell()


FALL = [1.0] * 12 + [0.8] * 5


def test_a_nightly_job_without_starts_is_told_of_its_fall_with_the_assumption(api, smtp):
    nights(api, FALL)
    [incident] = Incident.objects.filter(status="confirmed")
    assert (incident.kind, incident.started_at) == ("regression", EVENING + timedelta(days=12))
    [mail] = smtp.mails
    assert "start assumed" in mail.text
    assert "start assumed" in mail.html


@pytest.mark.parametrize("minutes", [0, 10])
def test_builds_of_a_branch_received_one_after_the_other_are_suspected_at_most(api, client, smtp, minutes):
    nights(api, FALL, gap=timedelta(minutes=minutes), commits=True)
    assert {one.state for one in ChangePoint.objects.all()} == {"suspected"}
    assert smtp.mails == []
    asked = {"project": "amber", "product": "MariaDB", "branch": "main", "commit": f"{13:040x}"}
    gate = client.get("/api/v1/gate/", asked).json()
    assert gate["verdict"] == "unknown"
    assert sum(MEND in reason for reason in gate["reasons"]) == 1


def test_nine_builds_of_one_evening_are_no_two_levels(api, smtp):
    """Each was measured once, and their starts are known."""
    numbers = random.Random(3)
    for build in range(9):
        start = EVENING + timedelta(minutes=12 * build)
        speed = 1.0 if build < 5 else 0.7
        files = {
            f"10.6.{build}/{workload}.1.txt": sysbench_report(
                1000 * (at + 1) * speed * numbers.lognormvariate(0, 0.005)
            ).encode()
            for at, workload in enumerate(WORKLOADS)
        }
        with clock_at(start):
            by_curl(api, files, started_at=start.isoformat())
            tell()
    assert ChangePoint.objects.exists()
    assert {one.state for one in ChangePoint.objects.all()} <= {"suspected", "withdrawn"}
    assert smtp.mails == []


def test_nine_builds_of_nine_evenings_are_told(api, smtp):
    numbers = random.Random(3)
    for build in range(9):
        start = EVENING + timedelta(days=build)
        speed = 1.0 if build < 5 else 0.7
        files = {
            f"10.6.{build}/{workload}.1.txt": sysbench_report(
                1000 * (at + 1) * speed * numbers.lognormvariate(0, 0.005)
            ).encode()
            for at, workload in enumerate(WORKLOADS)
        }
        with clock_at(start):
            by_curl(api, files, started_at=start.isoformat())
            tell()
    assert Incident.objects.get(status="confirmed").since.version == "10.6.4"
    [mail] = smtp.mails
    assert "start assumed" not in mail.text
