"""Files that would take long to read, through the door."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from benchdash.results.models import IntervalSamples, Run
from ingest.models import Upload
from tests.ingest.packing import zip_of
from tests.ingest.sending import FIXTURES, SAID, SYSBENCH, URL, send

pytestmark = pytest.mark.django_db

NO_TIME = -1000
TOO_LONG = "s of CPU time (RESULT_MAX_CPU_SECONDS); send only what the tool printed"
DSTAT = (FIXTURES.parent / "fixtures_companions/dstat/console-default.txt").read_bytes()
# 4 MB of lines that cost next to nothing.
LONG = SYSBENCH.replace(b"SQL statistics", (b"of another program " * 500 + b"\n") * 430 + b"SQL statistics")
VMSTAT = (FIXTURES.parent / "fixtures_companions/vmstat/plain.txt").read_bytes()


def beside(data, name="dstat.txt"):
    return {"companion": SimpleUploadedFile(name, data)}


def test_a_companion_with_a_megabyte_of_blanks_in_a_line_is_read_like_any_other(api):
    """The line took an hour: each of the blanks was tried as the beginning of what follows blanks."""
    assert b"\n 16 " in DSTAT
    plain = send(api, **SAID, **beside(DSTAT)).json()
    samples = IntervalSamples.objects.get(source="dstat").rows
    blanks = DSTAT.replace(b"\n 16 ", b"\n" + b" " * (1024 * 1024 - 200) + b"16 ")
    response = send(api, SYSBENCH.replace(b"48.55", b"58.55"), **SAID, **beside(blanks))
    assert response.status_code == 201
    assert [*response.json()["warnings"]] == [one for one in plain["warnings"] if "new" not in one]
    assert [one.rows for one in IntervalSamples.objects.filter(source="dstat")] == [samples, samples]
    (companion,) = api.get(f"{URL}{response.json()['id']}/").json()["companions"]
    assert b"".join(api.get(companion["raw"]).streaming_content) == blanks


def test_a_file_that_takes_too_long_is_refused_with_a_sentence_and_kept(api, settings):
    settings.RESULT_MAX_CPU_SECONDS = NO_TIME
    for said in ({"dry_run": "1"}, {}):
        response = send(api, **SAID, **said)
        assert response.status_code == 422, response.content
        (error,) = response.json()["errors"]
        assert TOO_LONG in error["message"]
    upload = Upload.objects.get()
    assert (upload.state, Run.objects.count()) == (Upload.State.REFUSED, 0)
    assert b"".join(api.get(f"{URL}{upload.pk}/raw/").streaming_content) == SYSBENCH


def test_the_search_for_what_a_file_is_nearest_to_ends_with_the_budget_too(api, settings):
    settings.RESULT_MAX_CPU_SECONDS = NO_TIME
    response = send(api, b"no tool printed this\n" * 20, **SAID)
    assert response.status_code == 422
    assert TOO_LONG in response.json()["errors"][0]["message"]


def test_a_file_that_was_refused_for_its_time_is_understood_when_it_is_read_again(api, settings):
    limit, settings.RESULT_MAX_CPU_SECONDS = settings.RESULT_MAX_CPU_SECONDS, NO_TIME
    send(api, **SAID)
    call_command("reimport", project="mine")
    assert not Run.objects.exists()
    settings.RESULT_MAX_CPU_SECONDS = limit
    call_command("reimport", project="mine")
    assert Run.objects.get().workload.name == "oltp_read_only"


def test_a_file_that_is_read_again_within_too_little_time_stays_as_it_was(api, settings):
    send(api, **SAID)
    settings.RESULT_MAX_CPU_SECONDS = NO_TIME
    call_command("reimport", project="mine")
    assert (Upload.objects.get().state, Run.objects.count()) == (Upload.State.IMPORTED, 1)


def test_of_an_archive_each_file_has_its_own_time(api, settings):
    """A file has one second more for each megabyte: the large one is read, and the small one is not."""
    settings.RESULT_MAX_CPU_SECONDS = 2e-6 - len(SYSBENCH) / 1_000_000
    response = send(api, zip_of({"long.txt": LONG, "short.txt": SYSBENCH}), "two.zip", **SAID, dry_run="1")
    assert response.status_code == 200, response.content
    files = {one["name"]: one for one in response.json()["files"]}
    assert files["long.txt"]["errors"] == []
    assert TOO_LONG in files["short.txt"]["errors"][0]["message"]


def test_a_companion_that_takes_too_long_is_kept_and_named_in_a_warning(api, settings):
    """A companion that holds next to nothing has next to no time."""
    settings.RESULT_MAX_CPU_SECONDS = 2e-6 - len(VMSTAT) / 1_000_000
    response = send(api, LONG, **SAID, **beside(VMSTAT, "vm.txt"))
    assert response.status_code == 201, response.content
    warning = next(one for one in response.json()["warnings"] if "vm.txt" in one)
    assert warning.startswith("the companion 'vm.txt' is kept and was not read: ")
    assert TOO_LONG in warning
    (companion,) = api.get(f"{URL}{response.json()['id']}/").json()["companions"]
    assert b"".join(api.get(companion["raw"]).streaming_content) == VMSTAT
