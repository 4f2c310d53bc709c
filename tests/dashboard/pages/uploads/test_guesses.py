"""What chosen files are taken for, as the page asks for it, and what stands in the form on the next visit."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchdash.accounts.models import Role
from ingest.models import Upload
from tests.builders import make_project, make_user
from tests.dashboard.page_text import text_of
from tests.ingest.packing import tar_of

pytestmark = pytest.mark.django_db

NIGHT = Path(__file__).parents[4] / "ingest/samples/watch/nightly/mariadb-10.11.19/000"
READS, POINTS = ((NIGHT / f"oltp_{name}.txt").read_bytes() for name in ("read_only", "point_select"))
SAID = {"product": "MariaDB", "version": "10.6.1", "hardware": "box", "workload": "reads"}


@pytest.fixture
def project():
    return make_project("mine", name="Mine")


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def address(project):
    return reverse("dashboard:upload_new", args=[project.slug])


def guess(client, project, files, **said):
    packed = files if isinstance(files, bytes) else tar_of(files)
    sent = {"file": SimpleUploadedFile("files.tar", packed), "step": "guess", **said}
    return client.post(address(project), sent, headers={"X-Requested-With": "upload.js"})


def upload(client, project, **fields):
    return client.post(address(project), {"step": "upload", **SAID, **fields})


def test_guesses_say_what_is_missing_in_how_many_files_and_store_nothing(client, project, member):
    files = {"my8044/a.t4.log": READS, "my8044/b.t4.log": POINTS, "notes.md": b"how it was measured\n"}
    answer = guess(client, project, files)
    guesses = answer.context["guesses"]
    assert guesses.summary == ("0 of 2 files are complete, hardware is missing in all 2 files.")
    assert guesses.as_json["fields"] == {"product": "MySQL", "version": "8.0.44"}
    assert [path for path, _ in guesses.preview.no_results] == ["notes.md"]
    assert "Version 'my8044' is a product with its version" in text_of(answer)
    assert "1 file that is no result" in text_of(answer)
    assert not Upload.objects.exists()


def test_several_workloads_of_one_ratio_are_named_and_none_is_filled_in(client, project, member):
    answer = guess(client, project, {"x.log": POINTS}, **{**SAID, "workload": ""})
    assert answer.context["guesses"].as_json["fields"] == {}
    assert "oltp_point_select, select_random_points or select_random_ranges" in text_of(answer)
    answer = guess(client, project, {"x.log": READS}, **{**SAID, "workload": ""})
    assert answer.context["guesses"].as_json["fields"] == {"workload": "oltp_read_only"}


def test_a_name_that_contradicts_the_numbers_is_told(client, project, member):
    answer = guess(client, project, {"x_RW_1.log": READS, "x_RW_2.log": POINTS})
    sentence = (
        "called oltp_read_write, but the ratio of reads and writes is that of oltp_read_only: 'x_RW_1.log'"
    )
    assert sentence in text_of(answer)


def test_a_name_that_contradicts_the_version_of_its_file_is_told(client, project, member):
    report = (Path(__file__).parents[3] / "ingest/fixtures/pgbench/builtin-mix.txt").read_bytes()
    told = text_of(guess(client, project, {"pg16/run1/c8.log": report, "pg15/run1/c8.log": report}))
    sentence = (
        "the name says version 16, the file 15.18, which counts unless you say another: 'pg16/run1/c8.log'"
    )
    assert sentence in told
    assert "the name says version 15" not in told


def test_files_of_which_none_is_a_result_say_why_and_keep_no_pattern(client, project, member):
    answer = guess(client, project, {"prose.txt": b"It was faster.\n"}, pattern="my8044/{workload}.log")
    assert answer.context["guesses"].summary == "None of these files is a result that benchdash reads."
    assert answer.context["guesses"].as_json["pattern"] == ""
    assert b'class="ignored-files" open>' in answer.content
    assert "it begins with" in text_of(answer)
    assert "another is proposed" not in text_of(answer)


def test_files_that_nothing_tells_apart_are_named(client, project, member):
    answer = guess(client, project, {"a/mysql/x.log": READS, "b/old.log": READS, "c.log": READS})
    assert "apart: they would count as repeated runs of the same" in text_of(answer)


def test_a_typed_pattern_is_taken_as_it_is(client, project, member):
    files = {"my8044/a.t4.log": READS, "my8044/b.t4.log": POINTS}
    answer = guess(client, project, files, pattern="my8044/{workload}.t4.log", is_given="1")
    assert not answer.context["guesses"].preview.is_guessed
    assert [row.missing for row in answer.context["guesses"].rows] == [["product", "version", "hardware"]] * 2
    answer = guess(client, project, files, pattern="other/{workload}.log")
    assert "the pattern 'other/{workload}.log' does not fit these files" in text_of(answer)


@pytest.mark.parametrize(
    ("files", "said", "sentence"),
    [
        (b"no archive", {}, "the file is no archive"),
        ({"a.log": READS}, {"threads": "many"}, "threads must be a whole number"),
        ({"a.log": READS}, {"pattern": "{version"}, "pattern a stray brace"),
    ],
)
def test_what_cannot_be_looked_into_is_told_in_a_sentence(client, project, member, files, said, sentence):
    assert sentence in text_of(guess(client, project, files, **said))


def test_guesses_are_for_those_who_may_upload(client, project):
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert guess(client, project, {"a.log": READS}).status_code == 403


def test_a_pasted_text_is_a_file_without_a_script_too(client, project, member):
    upload(client, project, pasted=READS.decode().replace("\n", "\r\n"))
    stored = Upload.objects.get()
    assert (stored.name, stored.state, stored.raw.size) == ("pasted.txt", "imported", len(READS))
    answer = client.post(address(project), {"step": "check", "pasted": "  \n"})
    assert "Choose a result file first" in text_of(answer)


def test_the_next_visit_begins_with_what_was_said_the_last_time_without_secrets(client, project, member):
    said = {"tags": "password=hunter2", "notes": "once", "threads": "4", "session": "monday"}
    upload(client, project, file=SimpleUploadedFile("x.txt", READS), **said)
    form = client.get(address(project)).context["form"]
    assert {name: form.initial[name] for name in SAID} == SAID
    assert not form.initial.keys() & said.keys()
    client.force_login(make_user("bob", member_of=project))
    assert client.get(address(project)).context["form"].initial == {}
