"""Archives on pages: what their files would become and became, and how an archive is mended."""

import gzip
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from playwright.sync_api import expect

from benchdash.accounts.models import AuditEntry
from benchdash.results.models import Run
from ingest import tasks
from ingest.models import ArchiveFile, Upload
from tests.builders import make_project, make_upload, make_user
from tests.dashboard.page_text import text_of
from tests.ingest.packing import tar_of, zip_of

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[4] / "ingest/samples/watch/nightly/mariadb-10.11.19"
REPORT = (SAMPLES / "000/oltp_read_only.txt").read_bytes()
OTHER = (SAMPLES / "001/oltp_read_only.txt").read_bytes()
CUT = REPORT[:700]
LINE = "line 19: the report is not complete: no 'total time:' up to this line (read as sysbench)"
FILES = {
    "10.6.1/reads.txt": REPORT,
    "10.6.1/cut.txt": CUT,
    "10.6.2/reads.txt": OTHER,
    "10.6.2/my.cnf": b"[mysqld]\nsync_binlog = 1\n",
    "README.md": b"how it was measured\n",
}
SAID = {"product": "MariaDB", "hardware": "box", "pattern": "{version}/{workload}.txt"}


@pytest.fixture
def project():
    return make_project("mine", name="Mine")


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def url(name, project, *args):
    return reverse(f"dashboard:{name}", args=[project.slug, *args])


def packed(files=FILES, name="nights.tar"):
    return SimpleUploadedFile(name, tar_of(files))


def send(client, project, *files, step="upload", **fields):
    fields = {**SAID, **fields}
    return client.post(url("upload_new", project), {"file": files, "step": step, **fields})


def imported(client, project, files=FILES, **fields):
    """An archive whose job is done."""
    send(client, project, packed(files), **fields)
    archive = Upload.objects.filter(is_archive=True).latest("pk")
    tasks.import_upload(archive.pk)
    archive.refresh_from_db()
    client.get(
        url("upload", project, archive.pk)
    )  # opens the chart where these are its project's first results
    return archive


def shown(client, project, archive, **query):
    return text_of(client.get(url("upload", project, archive.pk), query))


def upload_of(name):
    return ArchiveFile.objects.get(name=name).upload


# --- checking -----------------------------------------------------------------------------------------------


def test_a_check_says_what_each_file_would_become_and_stores_nothing(client, project, member):
    page = text_of(send(client, project, packed(), step="check"))
    assert "✓ understood as tar ; nothing is stored yet" in page
    assert "× refused 1 ✓ would be imported 2 – ignored 1" in page
    assert f"10.6.1/cut.txt {LINE}" in page
    assert "10.6.1/reads.txt ✓ would be imported sysbench" in page
    assert "10.6.2/reads.txt with 1 file beside it ✓ would be imported sysbench" in page
    assert "MariaDB 10.6.2 reads 4 17" in page
    assert "1 ignored file README.md it does not fit the pattern" in page
    assert not Upload.objects.exists()


def test_refused_files_stand_first(client, project, member):
    page = text_of(send(client, project, packed(), step="check"))
    assert page.index("10.6.1/cut.txt") < page.index("10.6.1/reads.txt") < page.index("10.6.2/reads.txt")


def test_a_check_counts_what_it_had_no_time_to_look_at(client, project, member, settings):
    settings.ARCHIVE_DRY_RUN_SECONDS = 0
    page = text_of(send(client, project, packed(), step="check"))
    assert "… not looked at 3" in page
    assert "3 files were not looked at, for want of time; an upload reads them all." in page
    assert "✓ understood" in page


def test_an_archive_of_which_nothing_would_be_imported_is_refused(client, project, member):
    page = text_of(send(client, project, packed(), step="check", pattern="{version}/none-{workload}.txt"))
    assert "× refused none of its files would be imported" in page
    page = text_of(
        send(client, project, SimpleUploadedFile("a.tgz", gzip.compress(b"x" * 999)[:20]), step="check")
    )
    assert "the file breaks off, and nothing of it can be read" in page


def test_a_checked_archive_that_is_there_is_known_already(client, project, member):
    imported(client, project)
    page = text_of(send(client, project, packed(), step="check"))
    assert "known already the same file with the same words is there" in page
    assert "× refused 1 = known already 2 – ignored 1" in page


def test_what_is_an_archive_is_seen_in_its_bytes(client, project, member):
    page = text_of(send(client, project, SimpleUploadedFile("x.txt", zip_of(FILES)), step="check"))
    assert "as zip ;" in page
    page = text_of(
        send(
            client,
            project,
            SimpleUploadedFile("x.zip", REPORT),
            version="1",
            workload="w",
            step="check",
            pattern="",
        )
    )
    assert "as sysbench , 1 run" in page


def test_a_pattern_that_cannot_be_meant_is_told_at_its_field_and_unfolds_the_form(client, project, member):
    answer = send(client, project, packed(), step="check", pattern="{version")
    assert list(answer.context["form"].errors) == ["pattern"]
    assert '<details class="card form wide archive-fields" open>' in answer.content.decode()
    answer = send(client, project, packed(), step="check", path_map='{"version": 1}')
    assert list(answer.context["form"].errors) == ["path_map"]
    answer = send(client, project, packed(), step="check", companion_pattern="*.log\nsb.{range}")
    assert list(answer.context["form"].errors) == ["companion_pattern"]


def test_patterns_stay_for_the_next_file_and_do_not_concern_plain_ones(client, project, member):
    answer = send(
        client, project, SimpleUploadedFile("reads.txt", REPORT), version="10.6.1", workload="reads"
    )
    assert 'value="{version}/{workload}.txt"' in answer.content.decode()
    upload = Upload.objects.get()
    assert "pattern" not in upload.metadata
    assert not any("{version}" in warning for warning in upload.warnings)


# --- importing ----------------------------------------------------------------------------------------------


def test_an_uploaded_archive_leads_to_its_page_which_shows_how_far_it_is(client, project, member):
    answer = send(client, project, packed())
    archive = Upload.objects.get()
    assert answer["Location"] == url("upload", project, archive.pk)
    page = client.get(answer["Location"])
    assert 'hx-trigger="every 1s" hx-select="#import"' in page.content.decode()
    assert "The archive is safe." in text_of(page)
    archive.state, archive.format, archive.done, archive.total = "importing", "tar", 320, 1000
    archive.save()
    page = client.get(answer["Location"])
    assert "320 of 1,000 files, 32 %" in text_of(page)
    assert '<progress max="1000" value="320" aria-label="320 of 1,000 files">' in page.content.decode()
    assert "Change metadata" not in text_of(page)


def test_the_list_says_what_each_file_became_and_why_not(client, project, member):
    archive = imported(client, project)
    page = shown(client, project, archive)
    assert "! partial tar" in page
    assert "4 files × refused 1 ✓ imported 2 – ignored 1" in page
    assert f"10.6.1/cut.txt × refused {LINE}" in page
    assert "10.6.1/reads.txt ✓ imported sysbench MariaDB 10.6.1 · reads · 4 threads" in page
    assert "README.md – ignored it does not fit the pattern" in page
    assert "every 1s" not in client.get(url("upload", project, archive.pk)).content.decode()
    member_page = url("upload", project, upload_of("10.6.1/reads.txt").pk)
    assert f'href="{member_page}"' in client.get(url("upload", project, archive.pk)).content.decode()


def test_the_list_is_filtered_by_state_and_name(client, project, member):
    archive = imported(client, project)

    def names(**query):
        page = shown(client, project, archive, **query)
        return [name for name in FILES if name in page]

    assert names() == ["10.6.1/reads.txt", "10.6.1/cut.txt", "10.6.2/reads.txt", "README.md"]
    assert names(state="imported") == ["10.6.1/reads.txt", "10.6.2/reads.txt"]
    assert names(state=["refused", "ignored"]) == ["10.6.1/cut.txt", "README.md"]
    assert names(state="imported", q="10.6.2") == ["10.6.2/reads.txt"]
    assert "Nothing fits the filters above." in shown(client, project, archive, q="nothing like it")


def test_the_list_can_be_taken_away_as_csv(client, project, member, settings):
    settings.SITE_URL = "https://bench.example.org"
    archive = imported(client, project)
    address = url("upload_files_csv", project, archive.pk)
    answer = client.get(address)
    assert answer["Content-Disposition"] == f'attachment; filename="mine-upload-{archive.pk}-files.csv"'
    rows = answer.content.decode().splitlines()
    member_page = url("upload", project, upload_of("10.6.1/reads.txt").pk)
    assert rows[0] == "\ufefffile,state,format,runs,reasons,upload"
    assert rows[1].startswith(f"10.6.1/cut.txt,refused,,0,{LINE},https://bench.example.org/p/mine/uploads/")
    assert rows[2] == f"10.6.1/reads.txt,imported,sysbench,1,,https://bench.example.org{member_page}"
    assert rows[4] == "README.md,ignored,,0,it does not fit the pattern,"
    assert len(client.get(address, {"state": "refused"}).content.decode().splitlines()) == 2


def test_a_long_list_comes_in_pages_with_the_same_number_of_statements(
    client, project, member, django_assert_max_num_queries
):
    archive = imported(client, project)
    with django_assert_max_num_queries(20) as few:
        shown(client, project, archive)
    ArchiveFile.objects.bulk_create(
        ArchiveFile(archive=archive, number=number, name=f"{number}.txt", state="ignored")
        for number in range(100, 400)
    )
    with django_assert_max_num_queries(len(few)):
        page = shown(client, project, archive)
    assert "1 to 100 of 304 files Next" in page


def test_an_archive_without_a_good_file_says_so(client, project, member):
    archive = imported(client, project, {"10.6.1/cut.txt": CUT})
    page = shown(client, project, archive)
    assert "× refused tar" in page
    assert "1 file × refused 1" in page
    assert page.count(LINE) == 1, "in the list alone"
    nothing = imported(client, project, {"README.md": b"no"})
    assert "Why it was refused the archive holds no file that fits the pattern" in shown(
        client, project, nothing
    )


def test_reasons_are_for_members(client, project, member):
    archive = imported(client, project)
    project.visibility = "public"
    project.save()
    client.logout()
    page = shown(client, project, archive)
    assert "10.6.1/reads.txt" in page
    assert "cut.txt" not in page
    assert "cut.txt" not in client.get(url("upload_files_csv", project, archive.pk)).content.decode()


def test_a_file_leads_back_to_its_archive(client, project, member):
    archive = imported(client, project)
    answer = client.get(url("upload", project, upload_of("10.6.2/reads.txt").pk))
    assert "out of nights.tar" in text_of(answer)
    assert "Out of nights.tar , 10.6.2/reads.txt" in text_of(answer)
    assert f'href="{url("upload", project, archive.pk)}"' in answer.content.decode()
    alone = make_upload(project)
    assert "out of" not in shown(client, project, alone).lower()


def test_an_archive_is_one_row_in_the_list_of_uploads(client, project, member):
    imported(client, project)
    page = text_of(client.get(url("uploads", project)))
    assert "nights.tar ! partial tar × refused 1 ✓ imported 2 – ignored 1 1 warning 2 just now" in page
    assert "reads.txt" not in page


@pytest.mark.parametrize("name", ['<img src=x onerror="alert(1)">/reads.txt', "x" * 400 + "/reads.txt"])
def test_a_hostile_name_in_an_archive_stays_text(client, project, member, name):
    archive = imported(client, project, {name: REPORT}, pattern="*/{workload}.txt", version="10.6.1")
    assert archive.state == "imported"
    for page in (
        send(client, project, packed({name: REPORT}), pattern="*/{workload}.txt", step="check"),
        client.get(url("upload", project, archive.pk)),
        client.get(url("upload", project, ArchiveFile.objects.get().upload_id)),
    ):
        assert "<img" not in page.content.decode()


# --- mending ------------------------------------------------------------------------------------------------


def change(client, project, archive, step, **fields):
    fields = {**archive.metadata, **fields}
    return client.post(url("upload_change", project, archive.pk), {"step": step, **fields})


def test_the_pattern_of_an_archive_is_changed_after_a_preview(client, project, member):
    archive = imported(client, project)
    page = text_of(change(client, project, archive, "preview", pattern="{version}/{workload}s.txt"))
    assert "What this does" in page
    assert "reads read" in page
    assert set(Run.objects.values_list("workload__name", flat=True)) == {"reads"}
    answer = change(
        client, project, archive, "change", pattern="{version}/{workload}s.txt", reason="no plural"
    )
    assert answer["Location"] == url("upload", project, archive.pk)
    tasks.import_upload(archive.pk)
    assert set(Run.objects.values_list("workload__name", flat=True)) == {"read"}
    page = shown(client, project, archive)
    assert "pattern {version}/{workload}.txt → {version}/{workload}s.txt" in page
    assert AuditEntry.objects.get(action="upload changed").reason == "no plural"


def test_a_preview_lists_only_what_changes(client, project, member):
    archive = imported(client, project)
    page = text_of(change(client, project, archive, "preview", notes="after the move"))
    assert "No series changes." in page
    assert "2 runs stay as they are." in page


def test_patterns_are_asked_for_archives_alone(client, project, member):
    archive = imported(client, project)
    page = client.get(url("upload_change", project, archive.pk)).content.decode()
    assert 'value="{version}/{workload}.txt"' in page
    plain = make_upload(project)
    assert "Path pattern" not in client.get(url("upload_change", project, plain.pk)).content.decode()


def test_deleting_an_archive_spares_what_came_alone_too(client, project, member):
    archive = imported(client, project, pattern="{version}/reads.txt", workload="reads")
    alone = upload_of("10.6.1/reads.txt")
    alone.came_alone = True
    alone.save()
    address = url("upload_delete", project, archive.pk)
    assert "Its 1 run leaves the history. What came alone too" in text_of(client.get(address))
    client.post(address)
    assert Run.objects.get().upload_id == alone.pk
    page = shown(client, project, archive)
    assert "× deleted" in page
    assert "its runs are gone; it can be restored" in page
    assert "Restore" in page
    client.post(url("upload_restore", project, archive.pk))
    tasks.import_upload(archive.pk)
    assert Run.objects.count() == 2


# --- in the browser -----------------------------------------------------------------------------------------


def drop(page, name, data):
    page.evaluate(
        """([name, bytes]) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
            document.querySelector(".drop-zone").dispatchEvent(
                new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        [name, list(data)],
    )


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_an_archive_is_dropped_checked_uploaded_and_its_reasons_are_read(chromium_page, sign_in, worker):
    project = make_project("browsed")
    sign_in(make_user(member_of=project))
    chromium_page.goto("/p/browsed/uploads/new/")
    pattern = chromium_page.get_by_label("Path pattern")
    expect(pattern).to_be_hidden()
    drop(chromium_page, "nights.tgz", gzip.compress(tar_of(FILES)))
    expect(pattern).to_be_visible()
    for label, text in {"Product": "MariaDB", "Hardware": "box", "Path pattern": SAID["pattern"]}.items():
        chromium_page.get_by_label(label, exact=True).fill(text)

    chromium_page.get_by_role("button", name="Check").click()
    tried = chromium_page.locator(".file-row .outcome")
    expect(tried).to_contain_text("nothing is stored yet")
    expect(tried.locator("tbody tr")).to_have_count(3)
    expect(tried.locator("tbody tr").first).to_contain_text(LINE)
    assert not Upload.objects.exists()

    chromium_page.get_by_role("button", name="Upload", exact=True).click()
    expect(chromium_page.get_by_role("heading", level=1)).to_have_text("nights.tgz")
    files = chromium_page.locator("#file-rows tbody tr")
    expect(files).to_have_count(4)
    expect(chromium_page.locator(".lead")).to_contain_text("partial")
    expect(chromium_page.locator("#import")).to_have_count(0)
    expect(files.first).to_contain_text(LINE)

    chromium_page.locator("#files .file-states").get_by_role("link", name="imported").click()
    expect(files).to_have_count(2)
    files.first.get_by_role("link", name="reads.txt").click()
    expect(chromium_page.locator(".lead")).to_contain_text("out of nights.tgz")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_progress_is_followed_to_the_end_and_nothing_jumps(chromium_page, sign_in):
    project = make_project("browsed")
    sign_in(make_user(member_of=project))
    archive = make_upload(
        project, state=Upload.State.IMPORTING, is_archive=True, format="tar", done=320, total=1000
    )
    chromium_page.goto(f"/p/browsed/uploads/{archive.pk}/")
    bar = chromium_page.get_by_role("progressbar")
    expect(bar).to_have_attribute("value", "320")
    chromium_page.locator("#content h1").evaluate("heading => heading.dataset.was = 'here'")
    Upload.objects.filter(pk=archive.pk).update(done=640)
    expect(chromium_page.locator("#import")).to_contain_text("640 of 1,000 files, 64 %")
    expect(chromium_page.locator("h1[data-was]")).to_have_count(1)
    Upload.objects.filter(pk=archive.pk).update(done=1000, state=Upload.State.IMPORTED)
    expect(chromium_page.locator("#import")).to_have_count(0)
    expect(chromium_page.get_by_role("link", name="Change metadata")).to_be_visible()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_mapping_is_taken_from_a_file(chromium_page, sign_in):
    project = make_project("browsed")
    sign_in(make_user(member_of=project))
    chromium_page.goto("/p/browsed/uploads/new/")
    report = {"name": "t04.txt", "mimeType": "text/plain", "buffer": b"nothing yet"}
    chromium_page.locator("input[name=file]").set_input_files(report)
    chromium_page.get_by_text("Files in folders and archives").click()
    mapping = json.dumps({"version": {"ma101114": "10.11.14"}})
    chromium_page.get_by_label("From a file").set_input_files(
        {"name": "map.json", "mimeType": "application/json", "buffer": mapping.encode()}
    )
    expect(chromium_page.get_by_label("Mapping", exact=True)).to_have_value(mapping)
    chromium_page.get_by_label("From a file").set_input_files(
        {"name": "map.json", "mimeType": "application/json", "buffer": b" " * 1_000_001}
    )
    expect(chromium_page.locator("[data-field=path_map]")).to_contain_text(
        "map.json is too large for a mapping."
    )
