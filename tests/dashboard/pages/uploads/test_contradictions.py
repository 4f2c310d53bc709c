"""On the upload page the file wins over the last upload, and a person is asked who typed something else."""

import html
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from playwright.sync_api import expect

from benchdash.results.models import Run
from ingest import tasks
from ingest.models import Upload
from tests.builders import make_project, make_user
from tests.first_charts import Person
from tests.ingest.packing import zip_of

SYSBENCH = Path(__file__).parents[3] / "ingest/fixtures/sysbench/oltp_read_only-histogram.txt"
LAST = {"product": "MariaDB", "version": "10.11.19", "hardware": "box", "workload": "oltp_read_only"}
TABLE = """workload,product,version,tps
reads,MariaDB,10.6.23,1000
reads,MariaDB,10.11.19,1100
reads,MariaDB,11.4.2,1200
writes,MariaDB,10.6.23,500
writes,MariaDB,10.11.19,510
writes,MariaDB,11.4.2,520
"""
SIX = {
    (version, workload) for version in ("10.6.23", "10.11.19", "11.4.2") for workload in ("reads", "writes")
}


@pytest.fixture
def project():
    return make_project("mine")


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def address(project):
    return reverse("dashboard:upload_new", args=[project.slug])


def send(client, project, file=None, *, step="upload", **fields):
    """Send the form of this page as a browser without a script does, with what somebody changed in it."""
    page = client.get(address(project)).content.decode()
    form = client.get(address(project)).context["form"]
    remembered = html.unescape(re.search(r'name="remembered" value="([^"]*)"', page)[1])
    values = {**form.initial, "remembered": remembered, "step": step, **fields}
    if file is not None:
        values["file"] = file
    return client.post(address(project), values).content.decode()


def said_before(client, project):
    send(client, project, SimpleUploadedFile("first.txt", SYSBENCH.read_bytes()), **LAST)
    assert Run.objects.count() == 1


def measured():
    runs = Run.objects.exclude(upload_id=Upload.objects.earliest("pk").pk)
    return set(runs.values_list("version__version", "workload__name"))


# --- without a script ---------------------------------------------------------------------------------------

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_pasted_table_wins_over_what_the_last_upload_said(client, project, member):
    said_before(client, project)
    send(client, project, pasted=TABLE)
    assert measured() == SIX
    assert set(Run.objects.values_list("hardware__name", flat=True)) == {"box"}


def test_what_a_file_does_not_say_is_still_as_the_last_time(client, project, member):
    said_before(client, project)
    another = SYSBENCH.read_bytes().replace(b"48.55", b"58.55")
    send(client, project, SimpleUploadedFile("second.txt", another))
    assert measured() == {("10.11.19", "oltp_read_only")}


def test_the_same_file_again_is_known_already(client, project, member):
    said_before(client, project)
    page = send(client, project, SimpleUploadedFile("first.txt", SYSBENCH.read_bytes()))
    assert "known already" in page
    assert Upload.objects.count() == 1


def test_an_archive_wins_over_the_last_upload_file_by_file(client, project, member):
    said_before(client, project)
    another = SYSBENCH.read_bytes().replace(b"48.55", b"58.55")
    archive = zip_of({"a/table.csv": TABLE.encode(), "a/plain.txt": another})
    send(client, project, SimpleUploadedFile("x.zip", archive))
    tasks.import_upload(Upload.objects.get(is_archive=True).pk)
    assert measured() == SIX | {("10.11.19", "oltp_read_only")}
    # And the next visit still knows it.
    assert client.get(address(project)).context["form"].initial == LAST


def test_facts_beside_a_file_win_over_the_last_upload(client, project, member):
    said_before(client, project)
    another = SYSBENCH.read_bytes().replace(b"48.55", b"58.55")
    meta = b'{"version": "11.8.1", "hardware": "bench-07", "branch": "main"}'
    files = [SimpleUploadedFile("t.txt", another), SimpleUploadedFile("t.meta.json", meta)]
    send(client, project, files)
    run = Run.objects.latest("pk")
    assert (run.version.version, run.hardware.name, run.branch) == ("11.8.1", "bench-07", "main")


def test_what_was_typed_against_the_file_is_asked_and_stored_when_it_is_answered(client, project, member):
    said_before(client, project)
    page = send(client, project, pasted=TABLE, workload="oltp_write_only")
    assert "you typed something else than the file says" in page
    assert "reads, writes" in page
    assert "oltp_write_only" in page
    assert measured() == set()
    send(client, project, pasted=TABLE, workload="oltp_write_only", step="upload file")
    assert measured() == SIX
    send(client, project, pasted=TABLE.replace("00", "01"), workload="oltp_write_only", step="upload mine")
    assert {workload for _, workload in measured()} == {"reads", "writes", "oltp_write_only"}
    assert client.get(address(project)).context["form"].initial["workload"] == "oltp_write_only"


def test_a_check_asks_too_and_stores_nothing(client, project, member):
    page = send(client, project, pasted=TABLE, step="check", **{**LAST, "version": "9.9"})
    assert 'value="check file"' in page
    page = send(client, project, pasted=TABLE, step="check file", **{**LAST, "version": "9.9"})
    assert "6 runs; nothing is stored yet" in page
    assert not Upload.objects.exists()


def test_an_archive_is_asked_about_before_it_is_stored(client, project, member):
    archive = SimpleUploadedFile("x.zip", zip_of({"a/table.csv": TABLE.encode()}))
    page = send(client, project, archive, product="MySQL", hardware="box")
    assert "you typed something else than the file says" in page
    assert not Upload.objects.exists()
    archive.seek(0)
    send(client, project, archive, product="MySQL", hardware="box", step="upload file")
    tasks.import_upload(Upload.objects.get().pk)
    assert set(Run.objects.values_list("version__product__name", flat=True)) == {"MariaDB"}


# --- in a browser -------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_in_a_browser_the_pasted_table_wins_and_a_typed_field_asks(chromium_page, sign_in, client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    said_before(client, project)
    sign_in(user)
    page, person = chromium_page, Person(chromium_page)
    page.goto("/p/mine/uploads/new/")
    expect(page.get_by_label("Workload", exact=True)).to_have_value("oltp_read_only")
    person.type(version="9.9")
    person.paste(TABLE)
    person.upload()
    question = page.locator(".outcome[data-outcome=contradicted]")
    expect(question).to_contain_text("you typed something else than the file says")
    expect(question.locator("tbody tr")).to_have_count(1)
    expect(question).to_contain_text("9.9")
    assert measured() == set()
    person.click("Use the file's")
    expect(page.locator("[data-outcome=imported]")).to_be_visible()
    assert measured() == SIX


@pytest.mark.browser
def test_in_a_browser_a_field_typed_again_as_it_was_is_typed(chromium_page, sign_in, client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    said_before(client, project)
    sign_in(user)
    page, person = chromium_page, Person(chromium_page)
    page.goto("/p/mine/uploads/new/")
    person.type(version="")
    person.type(version="10.11.19")
    person.paste(TABLE)
    person.upload()
    expect(page.locator("[data-outcome=contradicted]")).to_be_visible()
    person.click("Use mine")
    expect(page.locator("[data-outcome=imported]")).to_be_visible()
    assert {version for version, _ in measured()} == {"10.11.19"}
