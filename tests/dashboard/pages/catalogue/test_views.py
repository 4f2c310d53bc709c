import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import expect

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Role
from benchdash.results.corrections import rename
from benchdash.results.models import Hardware, Merge, Run, Series, ServerVersion, Workload
from tests.builders import START, make_project, make_run, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

PAGES = ("versions", "hardware", "configurations", "workloads")


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def shown(client, page, **query):
    return text_of(client.get(f"/p/nightly/{page}/", query))


def rows_of(client, page, **query):
    answer = client.get(f"/p/nightly/{page}.csv", query)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


# --- the lists --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, *(f"{page}.csv" for page in PAGES)])
def test_anyone_reads_the_lists_of_a_public_project_and_no_outsider_those_of_a_private_one(
    client, project, page
):
    make_run(project=make_project("secret"))
    address = page if page.endswith(".csv") else f"{page}/"
    assert client.get(f"/p/nightly/{address}").status_code == 200
    assert client.get(f"/p/secret/{address}").status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_list_says_what_will_be_there(client, project, page):
    assert "appear" in shown(client, page)


@pytest.mark.parametrize("page", PAGES)
def test_a_list_takes_as_many_statements_for_one_row_as_for_many(client, project, member, page):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            shown(client, page)
        return len(captured)

    def add(name):
        make_run(
            project=project,
            product=f"product {name}",
            hardware=name,
            configuration=name,
            workload=name,
            settings={"a": name},
        )

    add("a")
    one = statements()
    for name in "bcdef":
        add(name)
    assert statements() == one


def test_versions_stand_by_product_the_newest_first(client, project):
    for product, version in [
        ("MySQL", "8.0.44"),
        ("MariaDB", "10.6.9"),
        ("MariaDB", "10.6.23"),
        ("MariaDB", "unknown"),
    ]:
        make_run(project=project, product=product, version=version)
    text = shown(client, "versions")
    places = [text.index(name) for name in ("MariaDB 10.6.23", "10.6.9", "unknown", "MySQL 8.0.44")]
    assert places == sorted(places)
    assert [row["version"] for row in rows_of(client, "versions")] == [
        "10.6.23",
        "10.6.9",
        "unknown",
        "8.0.44",
    ]
    assert [row["version"] for row in rows_of(client, "versions", product="MySQL")] == ["8.0.44"]


def test_a_version_is_told_with_its_build_commit_and_runs(client, project):
    place = {
        "project": project,
        "version": "10.6.23",
        "build": "debug",
        "commit": "0123456789abcdef",
        "branch": "10.6",
    }
    make_run(**place, committed_at=START)
    make_run(**place, started_at=START + timedelta(days=1))
    ServerVersion.objects.update(released_at="2026-03-01T00:00Z")
    text = shown(client, "versions")
    assert "10.6.23 10.6 debug 0123456789" in text
    assert "2026-03-01 10.6 2" in text
    [row] = rows_of(client, "versions")
    assert row == {
        "product": "MariaDB",
        "version": "10.6.23",
        "line": "10.6",
        "build": "debug",
        "commit": "0123456789abcdef",
        "committed_at": "2026-03-02T04:00:00+00:00",
        "released_on": "2026-03-01",
        "sorts_as": "",
        "branches": "10.6",
        "runs": "2",
    }


def test_old_names_are_told(client, project):
    run = make_run(project=project, hardware="bench-3", workload="oltp_ro", version="10.6.9")
    by = make_user()
    for thing, name in (
        (run.hardware, "bench-03"),
        (run.workload, "oltp_read_only"),
        (run.version, "10.6.10"),
    ):
        rename(thing, name, by=Viewer(user=by))
    assert "bench-03 1 run" in shown(client, "hardware")
    assert "Uploads also find it as bench-3 ." in shown(client, "hardware")
    assert "Uploads also find it as oltp_ro ." in shown(client, "workloads")
    assert "10.6.10 was 10.6.9" in shown(client, "versions")


def test_a_machine_is_told_with_its_facts(client, project):
    make_run(
        project=project, hardware="bench-03", hardware_facts={"cpu_model": "EPYC", "cores": 64, "notes": ""}
    )
    text = shown(client, "hardware")
    assert "bench-03" in text
    assert "1 run , the last" in text
    assert "cores 64 cpu model EPYC" in text
    assert rows_of(client, "hardware") == [
        {"hardware": "bench-03", "runs": "1", "cores": "64", "cpu_model": "EPYC"}
    ]


def test_a_workload_is_told_with_its_threads_and_options(client, project):
    for threads in (16, 1, 4):
        make_run(project=project, workload="oltp_read_only", threads=threads, options={"tables": 8})
    text = shown(client, "workloads")
    assert "oltp_read_only 1, 4, 16 3 3" in text
    assert "1 option tables 8" in text
    assert rows_of(client, "workloads") == [
        {"workload": "oltp_read_only", "threads": "1 4 16", "series": "3", "runs": "3", "options": "tables=8"}
    ]


def test_a_configuration_is_told_with_what_it_held_and_what_changed(client, project):
    for day, size in enumerate(["8G", "8G", "12M"]):
        make_run(
            project=project,
            configuration="tuned",
            settings={"buffer_pool": size, "flush": "2", "port": "3306"},
            branch="main",
            started_at=START + timedelta(days=day),
        )
    place = {"project": project, "configuration": "tuned", "started_at": START - timedelta(days=9)}
    make_run(**place, branch="main")
    text = shown(client, "configurations")
    assert "tuned 4 runs" in text
    assert "MariaDB, main" in text
    assert "1 setting changed Name Before After buffer_pool 8G 12M" in text
    assert "2 settings buffer_pool 12M flush 2" in text
    assert "Settings not known , 1 run" in text
    assert [(row["setting"], row["value"], row["runs"]) for row in rows_of(client, "configurations")] == [
        ("buffer_pool", "12M", "1"),
        ("flush", "2", "1"),
        ("buffer_pool", "8G", "2"),
        ("flush", "2", "2"),
    ]


def test_what_a_configuration_held_for_another_product_is_no_change_of_it(client, project):
    for day, product in enumerate(["MariaDB", "PostgreSQL", "MariaDB"]):
        settings = {"only in": product}
        make_run(project=project, product=product, settings=settings, started_at=START + timedelta(days=day))
    assert "changed" not in shown(client, "configurations").split("Ports, paths")[1]


def test_any_two_contents_can_be_compared(client, project):
    for name, size in (("small", "12M"), ("large", "8G")):
        make_run(project=project, configuration=name, settings={"buffer_pool": size})
    digests = dict(Run.objects.values_list("configuration__name", "content__digest"))
    text = shown(client, "configurations", **{"from": digests["large"], "to": digests["small"]})
    assert "buffer_pool 8G 12M" in text
    assert "buffer_pool 8G 12M" not in shown(
        client, "configurations", **{"from": "x", "to": digests["small"]}
    )
    same = shown(client, "configurations", **{"from": digests["large"], "to": digests["large"]})
    assert "Their settings are the same" in same


def test_a_content_that_is_only_a_text_is_shown_as_it_is(client, project):
    make_run(project=project, configuration_text="[mysqld]\nfoo")
    assert "The text [mysqld] foo" in shown(client, "configurations")


# --- corrections ------------------------------------------------------------------------------------------


def correct(client, kind, thing, **sent):
    return client.post(f"/p/nightly/{kind}/{thing.pk}/correct/", sent)


@pytest.mark.parametrize(
    ("kind", "field", "page"),
    [
        ("products", "version.product", "versions"),
        ("versions", "version", "versions"),
        ("hardware", "hardware", "hardware"),
        ("configurations", "configuration", "configurations"),
        ("workloads", "workload", "workloads"),
    ],
)
def test_a_thing_is_renamed_after_a_preview(client, project, member, kind, field, page):
    run = make_run(project=project, configuration="tuned")
    thing = run
    for part in field.split("."):
        thing = getattr(thing, part)
    sent = {"correction": "rename", "rename-name": "10.6.99", "rename-reason": "a typing mistake"}
    preview = correct(client, kind, thing, **sent)
    assert "1 run of 1 upload and 1 series change." in text_of(preview)
    assert 'name="confirmed"' in preview.content.decode()
    assert not AuditEntry.objects.exists()
    assert (
        type(thing)
        .objects.filter(pk=thing.pk, **{"version" if kind == "versions" else "name": "10.6.99"})
        .count()
        == 0
    )
    answer = correct(client, kind, thing, **sent, confirmed="yes")
    assert answer["Location"] == f"/p/nightly/{page}/"
    assert "corrected. 1 run of 1 upload and 1 series change." in text_of(client.get(answer["Location"]))
    assert "10.6.99" in shown(client, page)
    assert AuditEntry.objects.get().reason == "a typing mistake"


def test_two_things_are_merged_after_a_preview(client, project, member):
    source = make_run(project=project, hardware="bench-3").hardware
    target = make_run(project=project, hardware="bench-03").hardware
    sent = {"correction": "merge", "merge-into": target.pk, "merge-reason": "one machine"}
    preview = text_of(correct(client, "hardware", source, **sent))
    assert "1 run of 1 upload and 1 series change; 1 of the series continue in ones that are there" in preview
    assert Hardware.objects.count() == 2
    correct(client, "hardware", source, **sent, confirmed="yes")
    assert Hardware.objects.get() == target
    assert Series.objects.count() == 1


def test_a_merge_is_taken_apart_after_a_preview(client, project, member):
    source = make_run(project=project, hardware="bench-3").hardware
    target = make_run(project=project, hardware="bench-03").hardware
    sent = {"correction": "merge", "merge-into": target.pk, "confirmed": "yes"}
    correct(client, "hardware", source, **sent)
    later = make_run(project=project, hardware="bench-3")
    merge = Merge.objects.get()
    page = text_of(client.get(f"/p/nightly/hardware/{target.pk}/correct/"))
    assert "Take bench-3 out again" in page
    assert "Take the 1 run along that came in since as bench-3" in page
    assert f"{later.pk} oltp_read_only, 4 threads, 10.6.23" in page
    name = f"unmerge-{merge.pk}"
    sent = {"correction": name, f"{name}-with_later": "on", f"{name}-reason": "two machines"}
    preview = correct(client, "hardware", target, **sent)
    assert "2 runs of 2 uploads and 1 series change." in text_of(preview)
    assert Hardware.objects.count() == 1
    correct(client, "hardware", target, **sent, confirmed="yes")
    assert sorted(Hardware.objects.values_list("name", "runs")) == [
        ("bench-03", Run.objects.get(hardware=target).pk),
        ("bench-3", later.pk - 2),
        ("bench-3", later.pk),
    ]
    assert AuditEntry.objects.first().reason == "two machines"


def test_a_version_can_only_be_merged_into_one_of_its_product(client, project, member):
    source = make_run(project=project, version="10.6.9").version
    make_run(project=project, version="10.6.10")
    other = make_run(project=project, product="MySQL", version="8.0.44").version
    page = client.get(f"/p/nightly/versions/{source.pk}/correct/").content.decode()
    assert ">10.6.10</option>" in page
    assert ">8.0.44</option>" not in page
    assert (
        correct(client, "versions", source, correction="merge", **{"merge-into": other.pk}).status_code == 422
    )


def test_the_commit_of_a_version_and_its_time_are_corrected_after_a_preview(client, project, member):
    version = make_run(project=project, branch="main", commit="0123456789", committed_at=START).version
    sent = {
        "correction": "build",
        "build-commit": "ABCDEF0123",
        "build-committed_at": "2026-03-01 12:00",
        "build-released_at": "",
    }
    assert "1 run of 1 upload and 1 series change." in text_of(correct(client, "versions", version, **sent))
    version.refresh_from_db()
    assert version.commit == "0123456789"
    correct(client, "versions", version, **sent, confirmed="yes")
    version.refresh_from_db()
    assert (version.commit, version.committed_at) == ("abcdef0123", datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"correction": "rename", "rename-name": "10.6.23"}, "The version is called '10.6.23' already."),
        ({"correction": "rename", "rename-name": "10.6.24"}, "There is a version '10.6.24' already"),
        ({"correction": "rename", "rename-name": ""}, "This field is required."),
        ({"correction": "merge", "merge-into": ""}, "This field is required."),
        ({"correction": "build", "build-commit": "xyz"}, "A commit is 7 to 40 hex digits."),
        ({"correction": "build", "build-committed_at": "tomorrow"}, "Enter a valid date/time."),
        ({"correction": "build"}, "Nothing is different from what is known."),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_a_sentence(client, project, member, sent, sentence):
    version = make_run(project=project, version="10.6.23").version
    make_run(project=project, version="10.6.24")
    answer = correct(client, "versions", version, **sent, confirmed="yes")
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not AuditEntry.objects.exists()


def test_who_may_not_triage_does_not_correct(client, project):
    run = make_run(project=project)
    address = f"/p/nightly/hardware/{run.hardware_id}/correct/"
    assert client.get(address)["Location"] == f"/sign-in/?next={address}"
    client.force_login(make_user(member_of=project, role=Role.READER))
    sent = {"correction": "rename", "rename-name": "x", "confirmed": "yes"}
    assert client.get(address).status_code == client.post(address, sent).status_code == 403
    assert "Rename or merge" not in shown(client, "hardware")
    assert Hardware.objects.get().name == "box"


def test_what_is_not_there_or_elsewhere_is_not_found(client, project, member):
    elsewhere = make_run(project=make_project())
    for address in (
        f"hardware/{elsewhere.hardware_id}",
        "hardware/999999999999999999",
        "products/0",
        f"runs/{elsewhere.pk}",
    ):
        assert client.get(f"/p/nightly/{address}/correct/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_workload_is_renamed_in_the_browser(chromium_page, sign_in):
    project = make_project("nightly")
    make_run(project=project, workload="oltp_ro")
    sign_in(make_user(member_of=project))
    page = chromium_page
    page.goto("/p/nightly/workloads/")
    page.get_by_role("link", name="Rename or merge").click()
    page.get_by_label("New name").fill("oltp_read_only")
    rename_form = page.locator("form#rename")
    rename_form.get_by_role("button", name="Preview").click()
    expect(rename_form).to_contain_text("1 run of 1 upload and 1 series change.")
    rename_form.get_by_role("button", name="Rename it").click()
    expect(page.locator("main")).to_contain_text("Uploads also find it as oltp_ro.")
    assert Workload.objects.get().name == "oltp_read_only"
