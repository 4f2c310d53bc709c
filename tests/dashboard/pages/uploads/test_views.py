"""The pages of files as received: the list, the form, one upload, and how mistakes are mended."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from playwright.sync_api import expect

from benchdash.accounts.models import AuditEntry, Role, Scope
from benchdash.accounts.services import create_token
from benchdash.dashboard.pages.uploads.descriptions import lines_around
from benchdash.results.models import Hardware, Run, Workload
from ingest.models import Companion, RawFile, Upload
from ingest.queries import runs_told_by
from ingest.receiving.imports import import_by_job, wait_for_job
from tests.builders import make_project, make_run, make_upload, make_user
from tests.dashboard.shifts import SHIFTS

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).parents[3] / "ingest/fixtures"
SAMPLES = Path(__file__).parents[4] / "ingest/samples"
SYSBENCH = FIXTURES / "sysbench/oltp_read_only-histogram.txt"
ABORTED = FIXTURES / "sysbench/aborted-ctrl-c.txt"
DRIVERS = FIXTURES / "qps_table/three-drivers.txt"
JMH = FIXTURES / "jmh_json/average-time.json"
WITH_META = SAMPLES / "releases/sysbench/mariadb-10.11.19/oltp_read_only/rep1/t04.txt"
SAID = {"product": "MariaDB", "version": "10.11.19", "hardware": "box", "workload": "oltp_read_only"}
HOSTILE = '<img src=x onerror="alert(1)">\u202egpj.txt'


@pytest.fixture
def project():
    return make_project("mine", name="Mine")


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def text_of(answer):
    return answer.content.decode()


def url(name, project, *args):
    return reverse(f"dashboard:{name}", args=[project.slug, *args])


def sent(path, name=None):
    return SimpleUploadedFile(name or path.name, path.read_bytes())


def send(client, project, *files, step="upload", **fields):
    files = [sent(file) if isinstance(file, Path) else file for file in files]
    return client.post(url("upload_new", project), {"file": files, "step": step, **fields})


def uploaded(client, project, file=SYSBENCH, **fields):
    send(client, project, file, **{**SAID, **fields})
    return Upload.objects.latest("pk")


# --- the list -----------------------------------------------------------------------------------------------


def listed(client, project, **query):
    return text_of(client.get(url("uploads", project), query))


def test_a_row_says_what_an_upload_holds(client, project, member):
    uploaded(client, project)
    page = listed(client, project)
    assert "oltp_read_only-histogram.txt" in page
    assert "MariaDB 10.11.19" in page
    assert "8 threads" in page
    assert "alice" in page.lower()


def test_a_refused_file_is_listed_with_line_and_reason_for_members(client, project, member):
    project.visibility = "public"
    project.save()
    upload = uploaded(client, project, ABORTED)
    [error] = upload.errors
    assert error["message"] in listed(client, project).replace("&#x27;", "'")
    client.logout()
    page = listed(client, project)
    assert ABORTED.name not in page
    assert client.get(url("upload", project, upload.pk)).status_code == 404


def test_the_list_is_filtered_by_state_format_sender_and_name(client, project, member):
    token, _ = create_token(project, "nightly", [Scope.UPLOAD])
    make_upload(project, name="a.txt", format="sysbench", user=member)
    make_upload(project, name="b.json", format="jmh_json", token=token)
    make_upload(project, name="c.txt", format="", state=Upload.State.REFUSED, errors=[])

    def names(**query):
        page = listed(client, project, **query)
        return [name for name in ("a.txt", "b.json", "c.txt") if f"<bdi>{name}</bdi>" in page]

    assert names() == ["a.txt", "b.json", "c.txt"]
    assert names(state=["imported", "queued"]) == ["a.txt", "b.json"]
    assert names(format="jmh_json") == ["b.json"]
    assert names(by=f"token-{token.pk}") == ["b.json"]
    assert names(by=[f"token-{token.pk}", f"user-{member.pk}"]) == ["a.txt", "b.json"]
    assert names(q=".TXT") == ["a.txt", "c.txt"]
    assert names(q=Upload.objects.get(name="a.txt").raw.sha256[:12]) == ["a.txt"]
    assert "Nothing fits the filters" in listed(client, project, q="nothing like it")


def test_deleted_uploads_are_listed_where_they_are_asked_for(client, project, member):
    make_upload(project, name="gone.txt", state=Upload.State.DELETED)
    assert "gone.txt" not in listed(client, project)
    assert "gone.txt" in listed(client, project, state="deleted")


def test_senders_are_named_to_members_alone(client):
    project = make_project(public=True)
    user = make_user("grace", member_of=project)
    make_upload(project, user=user)
    assert "Grace" not in listed(client, project)
    assert "By</span>" not in listed(client, project)
    client.force_login(user)
    assert "Grace" in listed(client, project)


def test_a_list_that_waits_asks_again_and_one_that_does_not_stops(client, project, member):
    upload = make_upload(project, state=Upload.State.QUEUED)
    assert 'hx-trigger="every 2s"' in listed(client, project)
    upload.state = Upload.State.IMPORTED
    upload.save()
    assert 'hx-trigger="every 2s"' not in listed(client, project)


def test_an_empty_list_leads_to_the_form(client, project, member):
    assert "Upload the first results" in listed(client, project)


def test_a_reader_is_not_offered_what_readers_may_not(client, project):
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert "Upload the first results" not in listed(client, project)


def test_the_list_takes_the_same_statements_however_long(
    client, project, member, django_assert_max_num_queries
):
    for number in range(3):
        make_run(project=project, upload=make_upload(project), version=f"10.6.{number}")
    with django_assert_max_num_queries(10) as three:
        listed(client, project)
    for number in range(3, 10):
        make_run(project=project, upload=make_upload(project), version=f"10.6.{number}")
    with django_assert_max_num_queries(len(three)):
        listed(client, project)


# --- who may upload -----------------------------------------------------------------------------------------


def test_uploading_needs_the_scope(client):
    project = make_project(public=True)
    address = url("upload_new", project)
    assert client.get(address)["Location"] == f"/sign-in/?next={address}"
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.get(address).status_code == 403
    assert send(client, project, SYSBENCH, **SAID).status_code == 403
    assert not Upload.objects.exists()


def test_the_form_of_a_private_project_does_not_exist_for_others(client, project):
    client.force_login(make_user())
    assert client.get(url("upload_new", project)).status_code == 404


# --- checking and uploading ---------------------------------------------------------------------------------


def test_a_check_says_what_would_be_understood_and_stores_nothing(client, project, member):
    answer = send(client, project, SYSBENCH, step="check", **SAID)
    page = text_of(answer)
    assert answer.status_code == 200
    assert 'data-outcome="checked"' in page
    assert "nothing is stored yet" in page
    assert "8 threads" in page
    assert "17 readings" in page
    assert "New in this project: product MariaDB; " in page
    assert not Upload.objects.exists()
    assert not RawFile.objects.exists()
    assert not Hardware.objects.exists()


def test_a_check_of_a_new_name_tells_the_nearest_known_one(client, project, member):
    uploaded(client, project)
    page = text_of(
        send(client, project, SYSBENCH, step="check", **{**SAID, "workload": "oltp_read_onyl"})
    ).replace("&#x27;", "'")
    assert "new workload 'oltp_read_onyl'" in page
    assert "'oltp_read_only'" in page


def test_several_files_are_uploaded_and_each_says_what_became_of_it(client, project, member):
    page = text_of(send(client, project, SYSBENCH, ABORTED, **SAID))
    good, bad = Upload.objects.order_by("pk")
    assert (good.state, bad.state) == ("imported", "refused")
    assert (good.user, good.token) == (member, None)
    assert f'href="{url("upload", project, good.pk)}"' in page
    assert f'href="{url("upload", project, bad.pk)}"' in page
    [error] = bad.errors
    assert error["message"] in page.replace("&#x27;", "'")
    assert 'value="MariaDB"' in page, "the form keeps what was said, for the next file"


def test_the_same_file_again_is_known_already(client, project, member):
    upload = uploaded(client, project)
    page = text_of(send(client, project, SYSBENCH, **SAID))
    assert 'data-outcome="duplicate"' in page
    assert f"Upload {upload.pk}" in page
    assert Upload.objects.count() == 1
    assert 'data-outcome="duplicate"' in text_of(send(client, project, SYSBENCH, step="check", **SAID))


def test_what_nobody_says_is_asked_for_at_its_field(client, project, member):
    answer = send(client, project, SYSBENCH, **{**SAID, "hardware": "", "threads": "many"})
    assert answer.status_code == 422
    form = answer.context["form"]
    assert list(form.errors) == ["threads"]
    answer = send(client, project, SYSBENCH, **{**SAID, "hardware": ""})
    assert list(answer.context["form"].errors) == ["hardware"]
    assert "a file does not say on which machine it was measured" in text_of(answer)
    assert not Upload.objects.exists()


def test_a_malformed_further_field_unfolds_the_form(client, project, member):
    fold = '<details class="said-further" open>'
    assert fold not in text_of(client.get(url("upload_new", project)))
    answer = send(client, project, DRIVERS, hardware="box", map='{"MariaDB*": {"colour": "x"}}')
    assert fold in text_of(answer)
    assert list(answer.context["form"].errors) == ["map"]


def test_a_table_of_several_versions_is_mapped(client, project, member):
    mapping = {"MariaDB-JDBC-*": {"product": "MariaDB Connector/J"}}
    send(client, project, DRIVERS, hardware="box", map=json.dumps(mapping))
    products = Run.objects.values_list("version__product__name", flat=True).distinct()
    assert "MariaDB Connector/J" in products
    assert "MariaDB-JDBC" not in products


def test_tags_are_separated_by_commas(client, project, member):
    uploaded(client, project, tags="nightly, cold ,")
    assert Run.objects.get().tags == ["cold", "nightly"]


def test_facts_beside_a_result_are_paired_by_name(client, project, member):
    meta = WITH_META.with_suffix(".meta.json")
    page = text_of(send(client, project, WITH_META, meta, hardware="box"))
    upload = Upload.objects.get()
    assert upload.state == "imported"
    assert upload.name == "t04.txt"
    assert upload.metadata["meta"]["product"] == "MariaDB"
    assert Workload.objects.get().name == "oltp_read_only"
    assert 'data-outcome="imported"' in page


def test_facts_without_their_result_are_named(client, project, member):
    page = text_of(send(client, project, WITH_META.with_suffix(".meta.json")))
    assert "this lies beside a result &#x27;t04&#x27;" in page
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "is not valid JSON"),
        (b'"text"', "must be a JSON object"),
        (b"\xff", "which is not UTF-8"),
        (b'{"threads": "many"}', "threads"),
    ],
)
def test_facts_that_cannot_be_read_are_told(client, project, member, content, sentence):
    answer = send(client, project, WITH_META, SimpleUploadedFile("t04.meta.json", content), hardware="box")
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not Upload.objects.exists()


def test_files_beside_go_with_the_results(client, project, member):
    settings = SimpleUploadedFile("my.cnf", b"[mysqld]\ninnodb_buffer_pool_size = 2G\n")
    vmstat = SimpleUploadedFile("a.vmstat.txt", b"procs ---memory---\n")
    result = sent(SYSBENCH, "a.txt")
    lscpu = SimpleUploadedFile("lscpu.out", b"CPU(s): 2\n")
    send(client, project, result, settings, vmstat, companion=[lscpu], **SAID)
    companions = Companion.objects.order_by("name").values_list("name", "kind")
    assert list(companions) == [
        ("a.vmstat.txt", "companion"),
        ("lscpu.out", "companion"),
        ("my.cnf", "configuration"),
    ]
    assert Run.objects.get().content.settings["innodb_buffer_pool_size"] == "2G"


def test_without_a_file_the_form_asks_for_one(client, project, member):
    assert "Choose a result file first." in text_of(send(client, project))


def test_a_script_gets_the_outcome_without_a_page(client, project, member):
    answer = client.post(
        url("upload_new", project),
        {"file": sent(SYSBENCH), "step": "upload", **SAID},
        headers={"X-Requested-With": "upload.js"},
    )
    upload, run = Upload.objects.get(), Run.objects.get()
    text = text_of(answer).strip()
    assert text.startswith(f'<div class="outcome" data-outcome="imported" data-stored="{upload.pk}"')
    assert "1 run: oltp_read_only at 8 threads, MariaDB 10.11.19 on box" in text
    assert f'<a class="button primary" href="/p/mine/runs/{run.pk}/#while-it-ran">Open the run</a>' in text
    assert "<html" not in text


def test_the_last_file_of_many_leads_to_all_of_them(client, project, member, django_assert_num_queries):
    before = [make_run(project=project, upload=make_upload(project), threads=n) for n in range(1, 30)]
    told = " ".join(str(run.upload_id) for run in before)
    answer = text_of(send(client, project, SYSBENCH, sent=f"{told} 0 x {10**30}", **{**SAID, "threads": 64}))
    assert "30 runs" in answer
    uploads = list(Upload.objects.all())
    with django_assert_num_queries(2):
        assert len(runs_told_by(*uploads)) == 30


def test_a_file_beyond_the_limit_is_told_so(client, project, member, settings):
    settings.UPLOAD_MAX_BYTES = 100
    page = text_of(send(client, project, SYSBENCH, **SAID))
    assert "the file is larger than 100 bytes" in page
    assert not Upload.objects.exists()


def test_a_large_file_is_left_to_a_job(client, project, member, settings):
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 100
    page = text_of(send(client, project, SYSBENCH, DRIVERS, **SAID))
    upload = Upload.objects.get(name=SYSBENCH.name)
    assert upload.state == "queued"
    outcome = f'data-outcome="queued" data-stored="{upload.pk}"'
    assert f'{outcome} data-follow="{url("upload", project, upload.pk)}"' in page
    assert f"Upload {upload.pk}" in page


def test_the_only_file_that_a_job_reads_leads_to_its_page(client, project, member, settings):
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 100
    answer = send(client, project, SYSBENCH, **SAID)
    assert answer["Location"] == url("upload", project, Upload.objects.get().pk)


def test_known_names_are_suggested(client, project, member):
    make_run(project=project, product="MariaDB", version="10.6.23", hardware="bench-7", branch="main")
    page = text_of(client.get(url("upload_new", project)))
    for suggestion in ("MariaDB", "10.6.23", "bench-7", "main", "oltp_read_only"):
        assert f'<option value="{suggestion}"></option>' in page


def test_an_address_may_fill_in_fields(client, project, member):
    page = text_of(client.get(url("upload_new", project), {"hardware": "bench-7"}))
    assert 'value="bench-7"' in page


@pytest.mark.parametrize(
    "name", [HOSTILE, "a" * 300 + ".txt", "../../etc/passwd", "\x00.txt", "ab\u202etxt.exe"]
)
def test_a_hostile_file_name_stays_text(client, project, member, name):
    page = text_of(send(client, project, sent(SYSBENCH, name), **SAID))
    upload = Upload.objects.get()
    assert "<img" not in page
    assert "\u202e" not in page
    for address in (
        url("uploads", project),
        url("upload", project, upload.pk),
        url("upload_delete", project, upload.pk),
    ):
        page = text_of(client.get(address))
        assert "<img" not in page
        assert "\u202e" not in page
    disposition = client.get(url("upload_raw", project, upload.pk))["Content-Disposition"]
    assert disposition.startswith("attachment")
    assert "/" not in upload.name


# --- one upload ---------------------------------------------------------------------------------------------


def shown(client, project, upload):
    return text_of(client.get(url("upload", project, upload.pk)))


def test_an_upload_says_what_it_is(client, project, member):
    upload = uploaded(client, project, tags="nightly", notes="after the move")
    page = shown(client, project, upload)
    assert upload.raw.sha256 in page
    assert "sysbench" in page
    assert "after the move" in page
    assert "nightly" in page
    assert "New in this project: product MariaDB;" in page
    assert "new product" not in page
    assert ">17<" in page


def test_forms_of_one_measurement_lead_to_each_other(client, project, member):
    typed = {"step": "upload mine", "remembered": ""}
    first = uploaded(client, project, DRIVERS, **typed)
    other = SimpleUploadedFile("other spaces.txt", DRIVERS.read_bytes().replace(b"\n", b" \n"))
    checked = text_of(send(client, project, other, **{**SAID, **typed, "step": "check mine"}))
    assert f'another form of <a href="{url("upload", project, first.pk)}">' in checked
    other.seek(0)
    copy = uploaded(client, project, other, **typed)
    assert f'Another form of <a href="{url("upload", project, first.pk)}">' in shown(client, project, copy)
    assert f'Also sent as <a href="{url("upload", project, copy.pk)}">' in shown(client, project, first)
    assert f'another form of <a href="{url("upload", project, first.pk)}">' in listed(client, project)
    asked = text_of(client.get(url("upload_delete", project, first.pk)))
    assert "tells of the same measurement in another form, which counts from then on" in asked
    run = Run.objects.filter(upload_id=first.pk).first()
    page = text_of(client.get(reverse("dashboard:run", args=[project.slug, run.pk])))
    assert f'<a href="{url("upload", project, copy.pk)}">upload {copy.pk}</a> (qps_table)' in page


def test_a_run_of_the_control_and_its_session_are_said_in_the_form_and_shown(client, project, member):
    upload = uploaded(client, project, control="true", session="monday 2")
    run = Run.objects.select_related("version").get(upload_id=upload.pk)
    assert (run.version.build, run.tags) == ("control", ["session:monday 2"])
    page = text_of(client.get(reverse("dashboard:run", args=[project.slug, run.pk])))
    assert "control: it never changes, and tells the speed of the machine alone" in page
    assert "<dt>Session</dt><dd>monday 2</dd>" in page


def test_a_refused_upload_shows_the_lines_around_to_members(client, project, member):
    data = SYSBENCH.read_bytes().replace(b"Threads started!", b"Threads started!\nmysql-password=hunter2")
    data = data[: data.index(b"SQL statistics")] + b"FATAL: the server has gone away\n"
    upload = uploaded(client, project, SimpleUploadedFile("broken.txt", data))
    assert upload.state == "refused"
    [error] = upload.errors
    page = shown(client, project, upload)
    assert error["line"] is not None
    assert f"Line {error['line']}:" in page
    assert 'class="is-meant"' in page
    assert "hunter2" not in page


def test_an_upload_that_waits_follows_itself_and_cannot_be_changed(client, project, member):
    upload = make_upload(project, state=Upload.State.IMPORTING, done=3, total=10)
    page = shown(client, project, upload)
    assert 'hx-trigger="every 2s"' in page
    assert '<progress max="10" value="3"' in page
    assert "Change metadata" not in page
    upload.state = Upload.State.IMPORTED
    upload.save()
    page = shown(client, project, upload)
    assert 'hx-trigger="every 2s"' not in page
    assert "Change metadata" in page


def test_an_upload_of_another_project_is_not_found_under_this_one(client, project, member):
    other = make_upload(make_project(public=True))
    for name in ("upload", "upload_raw", "upload_change", "upload_delete"):
        assert client.get(url(name, project, other.pk)).status_code == 404
    assert client.get(url("upload", project, 10**30)).status_code == 404


def test_the_raw_file_is_a_download_for_members(client, project, member):
    upload = uploaded(client, project)
    answer = client.get(url("upload_raw", project, upload.pk))
    assert b"".join(answer.streaming_content) == SYSBENCH.read_bytes()
    assert answer["Content-Disposition"] == f'attachment; filename="{SYSBENCH.name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_raw_file_that_is_missing_is_told_on_a_page(client, project, member, stored_files):
    upload = uploaded(client, project)
    (stored_files / upload.raw.storage_name).unlink()
    answer = client.get(url("upload_raw", project, upload.pk))
    assert answer.status_code == 404
    assert "the file is not in the storage of this machine" in text_of(answer)
    assert shown(client, project, upload)
    answer = client.post(
        url("upload_change", project, upload.pk), {"step": "change", "version": "11.4.2", "reason": "typo"}
    )
    assert answer.status_code == 422
    assert "the file is not in the storage of this machine" in text_of(answer)
    assert "cannot be read now" in text_of(client.get(url("upload_reread", project, upload.pk)))


def test_an_upload_whose_file_is_missing_says_why_it_waits(client, project, member, stored_files):
    upload = uploaded(client, project)
    (stored_files / upload.raw.storage_name).unlink()
    wait_for_job(upload)
    import_by_job(upload.pk)
    page = shown(client, project, upload)
    assert "cannot be read now: the file is not in the storage of this machine." in page
    assert "This is tried again " in page
    assert "Why it was refused" not in page


def test_raw_files_of_a_public_project_are_for_members_unless_it_opens_them(client):
    project = make_project(public=True)
    user = make_user(member_of=project)
    client.force_login(user)
    upload = uploaded(client, project, configuration_file=SimpleUploadedFile("my.cnf", b"a = 1\n"))
    companion = upload.companions.get()
    addresses = [
        url("upload_raw", project, upload.pk),
        url("upload_companion", project, upload.pk, companion.pk),
    ]
    client.logout()
    assert addresses[0] not in shown(client, project, upload)
    assert [client.get(address).status_code for address in addresses] == [302, 302]
    client.force_login(make_user("stranger"))
    assert [client.get(address).status_code for address in addresses] == [403, 403]
    project.raw_files_are_public = True
    project.save()
    client.logout()
    assert [client.get(address).status_code for address in addresses] == [200, 200]
    assert addresses[0] in shown(client, project, upload)


def test_files_beside_an_upload_can_be_downloaded(client, project, member):
    upload = uploaded(client, project, companion=SimpleUploadedFile("vmstat.out", b"procs\n"))
    companion = upload.companions.get()
    answer = client.get(url("upload_companion", project, upload.pk, companion.pk))
    assert b"".join(answer.streaming_content) == b"procs\n"
    assert answer["Content-Disposition"] == 'attachment; filename="vmstat.out"'
    assert client.get(url("upload_companion", project, upload.pk, companion.pk + 1)).status_code == 404


# --- mending ------------------------------------------------------------------------------------------------


def change(client, project, upload, step, **fields):
    fields = {**upload.metadata, **fields}
    return client.post(url("upload_change", project, upload.pk), {"step": step, **fields})


def test_a_change_is_previewed_then_made_with_a_reason(client, project, member):
    upload = uploaded(client, project)
    page = text_of(change(client, project, upload, "preview", hardware="bench-7"))
    assert "<del>box</del> <ins>bench-7</ins>" in page
    assert "17 series lose a measurement, 17 get one" in page
    assert Run.objects.get().hardware.name == "box"
    answer = change(client, project, upload, "change", hardware="bench-7", reason="named wrongly")
    assert answer["Location"] == url("upload", project, upload.pk)
    assert Run.objects.get().hardware.name == "bench-7"
    entry = AuditEntry.objects.get(action="upload changed")
    assert (entry.user, entry.reason) == (member, "named wrongly")
    page = shown(client, project, upload)
    assert "named wrongly" in page
    assert "<del>box</del> → <ins>bench-7</ins>" in page


def test_the_form_of_a_change_holds_what_was_said(client, project, member):
    upload = uploaded(
        client, project, tags="b, a", options='{"tables": 4}', started_at="2026-11-20T15:56:28Z"
    )
    page = text_of(client.get(url("upload_change", project, upload.pk)))
    for value in ("MariaDB", "a, b", "2026-11-20T15:56:28Z"):
        assert f'value="{value}"' in page
    assert "&quot;tables&quot;: 4" in page


def test_what_is_said_as_before_is_no_change(client, project, member):
    upload = uploaded(client, project, tags="b, a", notes="one\ntwo", options='{"tables": 4}')
    texts = {"tags": "a, b", "notes": "one\r\ntwo", "options": '{\r\n  "tables": 4\r\n}'}
    answer = change(client, project, upload, "change", **texts)
    assert answer.status_code == 422
    assert "nothing is changed" in text_of(answer)
    assert not AuditEntry.objects.filter(action="upload changed").exists()


def test_an_emptied_field_is_taken_back(client, project, member):
    upload = uploaded(client, project, notes="wrong")
    change(client, project, upload, "change", notes="")
    upload.refresh_from_db()
    assert "notes" not in upload.metadata


def test_a_refused_upload_is_read_again_when_its_metadata_is_mended(client, project, member):
    upload = uploaded(client, project, format="jmh_json")
    assert upload.state == "refused"
    assert change(client, project, upload, "change", format="").status_code == 302
    upload.refresh_from_db()
    assert upload.state == "imported"
    assert Run.objects.count() == 1


def test_a_change_that_cannot_be_is_told_at_its_field_and_changes_nothing(client, project, member):
    upload = uploaded(client, project)
    answer = change(client, project, upload, "change", hardware="", commit="xyz")
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == ["commit"]
    answer = change(client, project, upload, "preview", hardware="")
    assert list(answer.context["form"].errors) == ["hardware"]
    answer = change(client, project, upload, "preview", format="jmh_json")
    assert "It would be refused, so nothing is changed" in text_of(answer)
    assert Run.objects.get().hardware.name == "box"


def test_deleting_is_previewed_and_undone_by_restoring(client, project, member):
    upload = uploaded(client, project)
    address = url("upload_delete", project, upload.pk)
    page = text_of(client.get(address))
    assert "Its 1 run leaves the history." in page
    assert "17 series lose a measurement" in page
    assert 'data-confirm="Delete the upload oltp_read_only-histogram.txt and its 1 run?"' in page
    assert Run.objects.count() == 1
    assert client.post(address, {"reason": "wrong machine"}).status_code == 302
    assert not Run.objects.exists()
    page = shown(client, project, upload)
    assert "Restore" in page
    assert "wrong machine" in page
    assert client.post(url("upload_restore", project, upload.pk)).status_code == 302
    assert Run.objects.count() == 1
    assert "upload restored" in shown(client, project, upload)


def test_mending_needs_the_scope(client):
    project = make_project(public=True)
    upload = make_upload(project)
    names = ("upload_change", "upload_delete", "upload_restore")
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert [client.post(url(name, project, upload.pk)).status_code for name in names] == [403] * 3
    client.logout()
    for name in names:
        assert client.post(url(name, project, upload.pk))["Location"].startswith("/sign-in/")
    assert Upload.objects.get().state == "imported"
    assert "Change metadata" not in shown(client, project, upload)


# --- lines around an error ----------------------------------------------------------------------------------


def test_lines_around_an_error_are_two_before_and_two_after():
    data = b"one\r\ntwo\rthree\nfour\nfive\nsix\n"
    lines = lines_around(data, 3)
    assert [(line.number, line.text) for line in lines] == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
        (4, "four"),
        (5, "five"),
    ]
    assert [line.number for line in lines if line.is_meant] == [3]
    assert [line.number for line in lines_around(data, 1)] == [1, 2, 3]
    assert lines_around(data, 99) == []


def test_lines_of_binary_files_are_not_shown_and_those_of_other_encodings_are():
    assert lines_around(b"\x7fELF\0\n", 1) == []
    assert lines_around("caf\xe9".encode("latin-1"), 1)[0].text == "caf\ufffd"


# --- in the browser -----------------------------------------------------------------------------------------


@pytest.fixture
def upload_page(chromium_page, sign_in):
    project = make_project("browsed")
    sign_in(make_user(member_of=project))
    chromium_page.add_init_script(SHIFTS)
    chromium_page.goto("/p/browsed/uploads/new/")
    return chromium_page


def drop(page, *paths):
    """Drop files on the page as a person does."""
    files = [{"name": path.name, "text": path.read_text()} for path in paths]
    page.evaluate(
        """files => {
            const dataTransfer = new DataTransfer();
            for (const { name, text } of files) dataTransfer.items.add(new File([text], name));
            document.querySelector(".drop-zone").dispatchEvent(
                new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        files,
    )


def fill_in(page, **said):
    for label, text in said.items():
        page.get_by_label(label.capitalize(), exact=True).fill(text)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_dropped_files_are_checked_then_uploaded(upload_page):
    drop(upload_page, WITH_META, WITH_META.with_suffix(".meta.json"), SYSBENCH, ABORTED)
    with_meta, without, broken = (upload_page.locator(".file-row").nth(row) for row in range(3))
    expect(with_meta).to_contain_text("with t04.meta.json")
    fill_in(upload_page, **{**SAID, "hardware": ""})

    upload_page.get_by_role("button", name="Check").click()
    status = upload_page.get_by_role("status")
    expect(status).to_have_text("1 understood, 1 incomplete, 1 refused")
    hardware = upload_page.locator(".field[data-field=hardware]")
    expect(hardware).to_contain_text("is required: a file does not say on which machine")
    expect(upload_page.get_by_label("Hardware", exact=True)).to_be_focused()

    fill_in(upload_page, hardware="box")
    expect(with_meta.locator(".is-stale")).to_be_visible()
    upload_page.get_by_role("button", name="Check").click()
    expect(status).to_have_text("2 understood, 1 refused")
    expect(hardware.locator(".error")).to_have_count(0)
    expect(with_meta).to_contain_text("nothing is stored yet")
    expect(without).to_contain_text("8 threads")
    expect(broken.locator(".excerpt .is-meant")).to_be_visible()
    assert not Upload.objects.exists()

    upload_page.get_by_role("button", name="Upload", exact=True).click()
    expect(status).to_have_text("2 uploaded, 1 refused")
    expect(upload_page.get_by_label("Hardware", exact=True)).to_have_value("box")
    *good, bad = Upload.objects.order_by("pk")
    assert [upload.state for upload in good] == ["imported", "imported"]
    assert good[0].metadata["meta"]["product"] == "MariaDB"
    broken.get_by_role("link", name=f"Upload {bad.pk}").click()
    expect(upload_page.get_by_role("heading", level=1)).to_have_text("aborted-ctrl-c.txt")
    expect(upload_page.locator("body")).to_contain_text("Why it was refused")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_picked_files_with_hostile_names_stay_text_and_nothing_jumps(upload_page):
    data = SYSBENCH.read_bytes()
    names = ['<img src=x onerror="document.title=1">.txt', "x" * 251 + ".txt"]
    assert upload_page.evaluate("window.shift") < 0.01
    upload_page.locator("input[name=file]").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": data} for name in names]
    )
    fill_in(upload_page, **SAID)
    upload_page.get_by_role("button", name="Upload", exact=True).click()
    expect(upload_page.get_by_role("status")).to_have_text("1 uploaded, 1 known already")
    assert upload_page.title().startswith("Upload files")
    assert upload_page.locator(".file-row img").count() == 0
    assert upload_page.evaluate("window.shift") < 0.05
    upload_page.set_viewport_size({"width": 390, "height": 844})
    assert upload_page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_configuration_dropped_with_results_goes_with_each(upload_page, tmp_path):
    settings = tmp_path / "my.cnf"
    settings.write_text("[mysqld]\nsync_binlog = 1\n")
    drop(upload_page, SYSBENCH, settings)
    expect(upload_page.locator(".file-row")).to_have_count(1)
    fill_in(upload_page, **SAID)
    upload_page.get_by_role("button", name="Upload", exact=True).click()
    expect(upload_page.get_by_role("link", name="Open the run")).to_be_focused()
    assert Run.objects.get().content.settings["sync_binlog"] == "1"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_list_follows_what_waits_until_it_is_done(chromium_page, sign_in):
    project = make_project("browsed")
    sign_in(make_user(member_of=project))
    upload = make_upload(project, state=Upload.State.IMPORTING, done=2, total=5)
    chromium_page.goto("/p/browsed/uploads/")
    row = chromium_page.locator("#upload-rows tr")
    expect(row.get_by_role("progressbar")).to_have_attribute("value", "2")
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.IMPORTED)
    expect(row).to_contain_text("imported")
    expect(chromium_page.locator("#upload-rows")).not_to_have_attribute("hx-trigger", "every 2s")
