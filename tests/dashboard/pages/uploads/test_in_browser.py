"""Folders, pasted texts and reports, from the upload page to the stored runs, with little typing."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchdash.results.models import Run
from ingest import tasks
from ingest.models import Companion, Upload
from tests.builders import make_project, make_user
from tests.first_charts import JMH_REPORT, TABLE, THREADS, Person, reports

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

VMSTAT = Path(__file__).parents[3] / "ingest/fixtures_companions/vmstat/plain.txt"


# The same files under names as three people publish theirs.
STYLES = {
    "by threads": {f"sysbench_10.11.5_{n}thr.log": text for n, text in reports().items()},
    "by series": {f"series26/res01/sysbench.ro.{n}.res": text for n, text in reports().items()},
    "by version": {f"mariadb/10.11.5/Tier12G_RO_{n}th.sysbench.txt": text for n, text in reports().items()},
}
TYPED = {
    "by threads": {"product": "MariaDB", "hardware": "box"},
    "by series": {"product": "MariaDB", "version": "10.11.5", "hardware": "box"},
    "by version": {"hardware": "box"},
}


@pytest.fixture
def project():
    return make_project("browsed")


@pytest.fixture
def person(chromium_page, sign_in, project):
    sign_in(make_user(member_of=project))
    chromium_page.goto("/p/browsed/uploads/new/")
    return Person(chromium_page)


def summary(person):
    return person.page.locator("[data-summary]")


@pytest.mark.parametrize("style", STYLES)
def test_a_dropped_folder_is_packed_and_only_what_its_names_lack_is_typed(person, style):
    person.drop_folder(STYLES[style])
    expect(summary(person)).to_contain_text("hardware is missing in all 7 files")
    person.type(**TYPED[style])
    expect(summary(person)).to_have_text("7 of 7 files are complete.")
    person.upload()
    expect(person.page).to_have_url(re.compile(r"/uploads/\d+/$"))
    archive = Upload.objects.get()
    assert archive.name == "results.tar.gz"
    tasks.import_upload(archive.pk)
    runs = Run.objects.order_by("threads")
    assert [run.threads for run in runs] == list(THREADS)
    [said] = {(run.version.product.name, run.version.version, run.workload.name) for run in runs}
    assert said == ("MariaDB", "10.11.5", "oltp_read_only")
    expect(person.page.locator(".upload-done")).to_contain_text(
        "7 runs, 1 curve: oltp_read_only at 1 to 64 threads, MariaDB 10.11.5 on box"
    )
    person.click("Open the curve", "link")
    expect(person.page).to_have_url(re.compile(r"/compare/matrix/.*open="))
    drops, clicks, keys = person.counts()
    assert (drops, clicks) == (1, len(TYPED[style]) + 2)
    assert keys == sum(map(len, TYPED[style].values()))


def test_a_pasted_table_is_seen_after_three_words_and_two_clicks(person):
    person.paste(TABLE)
    expect(person.page.locator(".file-title")).to_have_text("pasted.txt")
    expect(summary(person)).to_contain_text("hardware is missing")
    # Its workload is called as the file, until somebody says otherwise.
    expect(person.page.get_by_label("Workload", exact=True)).to_have_value("pasted")
    person.type(product="MySQL", version="8.0.45", hardware="box")
    expect(summary(person)).to_have_text("1 of 1 file is complete.")
    person.upload()
    person.click("Open the curve", "link")
    person.page.locator("figure.chart[data-drawn]").first.wait_for()
    assert sorted(run.threads for run in Run.objects.all()) == [16, 32, 64]
    assert person.counts() == (1, 5, len("MySQL8.0.45box"))


def test_a_report_of_jmh_needs_product_version_and_machine_alone(person):
    person.choose(JMH_REPORT)
    expect(summary(person)).to_have_text(
        "0 of 1 file is complete, product is missing, version is missing, hardware is missing."
    )
    person.type(product="MariaDB Connector/J", version="3.5.6", hardware="box")
    expect(summary(person)).to_have_text("1 of 1 file is complete.")
    person.upload()
    expect(person.page.locator(".upload-done a")).to_have_text(re.compile("Open the "))
    person.page.locator(".upload-done a").click()
    person.page.locator("figure.chart[data-drawn]").first.wait_for()
    assert {run.version.version for run in Run.objects.all()} == {"3.5.6"}
    assert person.counts()[:2] == (1, 4)


def test_a_guess_is_corrected_for_all_files_with_that_part_or_for_one(person):
    files = {
        f"a/{build}/sysbench.{workload}.{threads}.res": text
        for build, workload in (("my8044", "ro"), ("ma101114", "ro"), ("my8044", "xx"), ("ma101114", "xx"))
        for threads, text in list(reports().items())[2:4]
    }
    person.drop_folder(files)
    page = person.page
    cell = page.get_by_label("Version of results/a/my8044/sysbench.ro.4.res")
    expect(cell).to_have_value("8.0.44")
    cell.fill("8.0.45")
    cell.blur()
    other = page.get_by_label("Version of results/a/my8044/sysbench.xx.8.res")
    expect(other).to_have_value("8.0.45")
    expect(page.get_by_label("Version of results/a/ma101114/sysbench.xx.8.res")).to_have_value("10.11.14")
    page.get_by_label("that file alone").check()
    other.fill("8.4.7")
    other.blur()
    expect(page.get_by_label("Version of results/a/my8044/sysbench.xx.4.res")).to_have_value("8.0.45")
    person.type(hardware="box")
    person.upload()
    expect(page).to_have_url(re.compile(r"/uploads/\d+/$"))
    tasks.import_upload(Upload.objects.get().pk)
    found = Run.objects.values_list("version__product__name", "version__version", "workload__name", "threads")
    assert set(found) == {
        *(("MySQL", "8.0.45", "oltp_read_only", n) for n in (4, 8)),
        *(("MariaDB", "10.11.14", workload, n) for workload in ("oltp_read_only", "xx") for n in (4, 8)),
        ("MySQL", "8.0.45", "xx", 4),
        ("MySQL", "8.4.7", "xx", 8),
    }


def test_what_was_said_stays_for_the_next_visit_and_gives_way_to_what_names_say(person):
    person.drop_folder(STYLES["by threads"])
    person.type(product="MariaDB", hardware="box")
    person.upload()
    expect(person.page).to_have_url(re.compile(r"/uploads/\d+/$"))
    page = person.page
    page.goto("/p/browsed/uploads/new/")
    for label, text in (("Product", "MariaDB"), ("Version", "10.11.5"), ("Hardware", "box")):
        expect(page.get_by_label(label, exact=True)).to_have_value(text)
    expect(page.locator(".field[data-field=hardware]")).to_contain_text("as the last time")
    newer = {name.replace("10.11.5", "10.11.6"): text for name, text in STYLES["by threads"].items()}
    person.drop_folder(newer)
    expect(page.get_by_label("Version", exact=True)).to_have_value("10.11.6")
    expect(summary(person)).to_have_text("7 of 7 files are complete.")
    page.get_by_role("button", name="Empty").click()
    expect(page.get_by_label("Hardware", exact=True)).to_have_value("")
    expect(summary(person)).to_contain_text("hardware is missing in all 7 files")


def test_a_folder_that_cannot_be_sent_is_told_in_a_sentence(person, settings):
    person.drop_folder({})
    expect(person.page.locator(".drop-error")).to_have_text("results: the folder holds no files.")
    settings.ARCHIVE_MAX_FILES = 3
    person.page.reload()
    person.drop_folder(STYLES["by threads"])
    expect(person.page.locator(".drop-error")).to_contain_text("more than 3 files, the most that an archive")
    expect(person.page.locator(".file-row")).to_have_count(0)


def test_loose_files_get_a_pattern_and_what_is_missing_is_told_once(person):
    """Companions pair by content, and a file that comes later is not read by the pattern of others."""
    page = person.page
    vmstat = VMSTAT.read_text()
    files = {f"ma_10.11.{v}_{n}th.log": text for v in (5, 6) for n, text in list(reports().items())[:2]}
    files |= {"ma_10.11.5_1th.cpu": vmstat, "cut.log": reports()[64][:700]}
    page.locator("input[name=file]").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in files.items()]
    )
    expect(summary(person)).to_contain_text("hardware is missing in all 4 files")
    expect(page.locator(".file-row", has_text="ma_10.11.5_1th.log")).to_contain_text(
        "with ma_10.11.5_1th.cpu"
    )
    page.get_by_role("button", name="Check").click()
    status = page.get_by_role("status")
    expect(status).to_have_text("4 incomplete, 1 refused")
    expect(page.locator("[data-missing]")).to_have_text("hardware is missing in 4 of 5 files.")
    expect(page.locator(".file-row", has_text="cut.log")).to_contain_text("no final report")
    person.type(hardware="box")
    person.upload()
    expect(status).to_have_text("4 uploaded, 1 refused")
    found = Run.objects.values_list("version__product__name", "version__version", "threads")
    assert sorted(found) == [("MariaDB", f"10.11.{v}", n) for v in (5, 6) for n in (1, 2)]
    assert [one.format for one in Companion.objects.all()] == ["vmstat"]
    done = page.locator(".upload-done")
    expect(done).to_contain_text(
        "4 runs, 2 curves: oltp_read_only at 1 to 2 threads, MariaDB 10.11.5 and 10.11.6"
    )
    expect(done.get_by_role("link", name="Open the 2 curves")).to_be_focused()
