"""What lies beside a result: read, joined, attached to its run."""

from pathlib import Path

import pytest
from django.urls import reverse

from benchdash.results.models import IntervalSamples, Run
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.configuration import is_configuration
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.models import Companion
from ingest.receiving.arrivals import CompanionFile
from ingest.receiving.companions import facts_of
from ingest.storage.raw_bytes import RawData
from tests.builders import make_project
from tests.ingest.sending import SYSBENCH, accept

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).parents[1] / "fixtures_companions"
MY_CNF = b"[mysqld]\ninnodb_buffer_pool_size = 512M\n"
RUN_QUEUE_OF_3 = (
    b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    b" 9  0      0      1      1      1    0    0     9     9    9    9  9  9 82  0  0\n"
    b" 3  0      0      1      1      1    0    0  1024  2048 1000 4000 60 15 25  0  0\n"
)


def fixture(path):
    return (FIXTURES / path).read_bytes()


def files(kind=Companion.Kind.OTHER, **contents):
    return [CompanionFile(kind, name, RawData(data)) for name, data in contents.items()]


def read(**contents):
    return facts_of(files(**contents))


def means(beside):
    return {mean.metric: mean.value for mean in beside.means}


def attached(project, companions, *, result=SYSBENCH, **said):
    return accept(project, result, companions=companions, **said).upload


def parsed(name, path):
    try:
        return COMPANION_FORMATS[name].parse(Source(path.read_bytes()))
    except FormatError:
        return None


# --- what was read ------------------------------------------------------------------------------------------


def test_a_companion_that_no_format_knows_is_kept_and_nothing_is_said_of_it():
    beside = read(notes=b"buffer pool was warm\n")
    assert (list(beside.formats.values()), beside.warnings, beside.samples) == ([""], (), ())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the file is empty"),
        (b"\0\1", "line 1: a NUL byte: this is not a text file"),
        (b'{"lscpu": [', "line 1: the JSON breaks off in the middle; is the file complete?"),
        (b" " * (8 * 1024 * 1024 + 1), "it is longer than 8388608 bytes"),
    ],
)
def test_a_companion_that_cannot_be_read_is_named_with_the_reason(data, why):
    beside = read(broken=data)
    assert beside.warnings == (f"the companion 'broken' is kept and was not read: {why}",)


def test_what_was_left_out_of_a_companion_is_said_with_its_name():
    assert read(vm=fixture("vmstat/cut.txt")).warnings == (
        "the companion 'vm': line 7, the last one, has no line end and was not read: the file may be cut off",
    )


def test_of_two_tools_that_say_the_same_the_more_exact_one_counts():
    beside = read(vm=RUN_QUEUE_OF_3, io=fixture("iostat/extended.txt"), mp=fixture("mpstat/all.txt"))
    found = means(beside)
    assert found["cpu_user"] == 59.87  # mpstat
    assert found["read_mb_per_s"] == pytest.approx(0.484375)  # iostat
    assert found["run_queue"] == 3  # vmstat
    assert [table.source for table in beside.samples] == ["mpstat", "iostat", "vmstat"]


@pytest.mark.parametrize("name", COMPANION_FORMATS)
def test_what_any_format_of_companions_reads_reaches_the_run(name):
    paths = [path for path in sorted((FIXTURES / name).iterdir()) if not path.name.endswith(".json")]
    read_alone = [parsed(name, path) for path in paths]
    whole = next(path for path, report in zip(paths, read_alone, strict=True) if report)
    beside = read(one=whole.read_bytes())
    assert list(beside.formats.values()) == [name]
    assert beside.samples or beside.hardware or beside.environment


def test_two_outputs_of_one_tool_keep_their_samples_apart():
    beside = read(one=RUN_QUEUE_OF_3, two=fixture("vmstat/plain.txt"))
    assert [table.source for table in beside.samples] == ["vmstat", "vmstat 2"]
    assert means(beside)["run_queue"] == 3


def test_the_same_file_twice_is_read_once():
    beside = read(one=RUN_QUEUE_OF_3, two=RUN_QUEUE_OF_3)
    assert [table.source for table in beside.samples] == ["vmstat"]


def test_facts_of_several_files_are_joined():
    beside = read(
        lscpu=fixture("lscpu/text.txt"), free=fixture("free/kilobytes.txt"), uname=fixture("uname/linux.txt")
    )
    assert beside.hardware["cpus"] == 2
    assert beside.hardware["ram_kib"] == 24684092
    assert beside.environment["kernel"] == "6.18.44-fc-v657"


def test_very_many_samples_give_their_means_alone():
    heading, _, row = RUN_QUEUE_OF_3.splitlines(keepends=True)
    beside = read(vm=heading + row * 20_002)
    assert (beside.samples, means(beside)["run_queue"]) == ((), 3)
    assert beside.warnings == (
        "20001 samples of vmstat are more than 20000: their means are kept, they are not",
    )


# --- settings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        MY_CNF.decode(),
        "Variable_name\tValue\ninnodb_buffer_pool_size\t134217728\nmax_connections\t151\n",
        "| Variable_name | Value |\n+--+--+\n| innodb_file_per_table | ON |\n| max_connections | 151 |\n",
        " name | setting | description\n----+---+---\n shared_buffers | 128MB | x\n work_mem | 4MB | y\n",
        "# memory\nshared_buffers = 4GB  # half\nmax_connections=100\n",
        "wal_compression = off\nmax_wal_size = 96GB\ncheckpoint_timeout=1800s\n",
    ],
)
def test_settings_of_a_server_are_known_by_their_content(text):
    assert is_configuration(text)


@pytest.mark.parametrize(
    "text",
    [
        "[client]\nport = 3306\n",
        "a = 1\nb = 2\n",
        "shared_buffers = 4GB\n",
        "shared_buffers = 4GB\nmax_connections = 100\nthat was the second try\n",
        "fsync\n",
        "",
    ],
)
def test_a_guess_is_not_taken_for_settings(text):
    assert not is_configuration(text)


def test_a_companion_that_is_certainly_a_configuration_counts_as_one():
    beside = read(settings=MY_CNF)
    assert beside.content is None
    assert beside.content_found.settings == {"innodb_buffer_pool_size": "512M"}
    assert list(beside.formats.values()) == ["configuration"]


def test_a_configuration_file_is_one_whatever_it_holds_and_wins_over_companions():
    sent = files(Companion.Kind.CONFIGURATION, ours=b"innodb_buffer_pool_size = 1G\n")
    beside = facts_of([*sent, *files(found=MY_CNF)])
    assert beside.content.settings == {"innodb_buffer_pool_size": "1G"}
    assert beside.content_found is None


def test_a_file_that_is_too_long_for_a_configuration_is_kept():
    beside = facts_of(files(Companion.Kind.CONFIGURATION, long=b"#" * (1024 * 1024 + 1)))
    assert beside.content is None
    assert beside.warnings == (
        "the configuration file 'long' is kept and was not read: it is longer than 1048576 bytes",
    )


def test_secrets_in_facts_are_masked():
    text = b"OS Name: Windows --password=hunter2\nOS Version: 10\n"
    assert "hunter2" not in str(read(info=text))


# --- attached to a run --------------------------------------------------------------------------------------


def test_a_run_gets_the_samples_the_means_and_what_an_operation_cost():
    companions = files(vm=RUN_QUEUE_OF_3, cpu=fixture("lscpu/text.txt"), notes=b"hello\n")
    stored = attached(make_project(), companions)
    assert stored.state == "imported"
    run = Run.objects.get()
    found = {one.series.metric: one.value for one in run.measurements.select_related("series")}
    assert (found["cpu_user"], found["context_switches_per_s"], found["run_queue"]) == (60, 4000, 3)
    assert found["cs_per_op"] == pytest.approx(4000 / found["qps"])
    assert found["read_kb_per_op"] == pytest.approx(1024 / found["qps"])
    # Three quarters of two CPUs.
    assert found["cpu_per_op"] == pytest.approx(1_500_000 / found["qps"])
    samples = IntervalSamples.objects.get(run=run, source="vmstat")
    assert samples.rows[0][samples.columns.index("run_queue")] == 3
    assert run.hardware.facts["cpus"] == run.environment.facts["cpus"] == 2
    assert list(stored.companions.values_list("name", "format").order_by("pk")) == [
        ("vm", "vmstat"),
        ("cpu", "lscpu"),
        ("notes", ""),
    ]


def test_what_was_measured_beside_several_runs_belongs_to_none():
    stored = attached(
        make_project(), files(vm=RUN_QUEUE_OF_3, cpu=fixture("lscpu/text.txt")), result=2 * SYSBENCH
    )
    assert any(warning.startswith("the file holds 2 runs, and nothing says") for warning in stored.warnings)
    assert not IntervalSamples.objects.filter(source="vmstat").exists()
    assert {run.hardware.facts["cpus"] for run in Run.objects.all()} == {2}


def test_meta_wins_over_companions():
    meta = {
        "hardware": {"cpus": 8, "cpu_model": "Said"},
        "server_config": "[mysqld]\ninnodb_buffer_pool_size=1G\n",
    }
    attached(make_project(), files(cpu=fixture("lscpu/text.txt"), settings=MY_CNF), meta=meta)
    run = Run.objects.get()
    facts = run.environment.facts
    assert (facts["cpus"], facts["cpu_model"], facts["sockets"]) == (8, "Said", 1)
    assert run.content.settings == {"innodb_buffer_pool_size": "1G"}


def test_a_broken_companion_does_not_refuse_the_result():
    stored = attached(make_project(), files(broken=b"\0"))
    assert stored.state == "imported"
    assert any("'broken' is kept and was not read" in warning for warning in stored.warnings)


def test_an_upload_shows_as_what_its_companions_were_read(client):
    project = make_project(public=True)
    stored = attached(project, files(vm=RUN_QUEUE_OF_3, notes=b"hello\n"))
    page = client.get(reverse("dashboard:upload", args=[project.slug, stored.pk])).content.decode()
    assert '<span class="mono">vmstat</span>' in page
    assert "kept, not read" in page
    answer = client.get(reverse("ingest:upload-detail", args=[stored.pk])).json()
    assert [one["format"] for one in answer["companions"]] == ["vmstat", ""]


def test_samples_with_a_time_of_day_are_laid_on_the_time_of_the_run():
    companions = files(stamped=fixture("vmstat/time-stamps.txt"), plain=fixture("vmstat/plain.txt"))
    said = {"started_at": "2026-11-20T19:54:54Z"}
    attached(make_project(), companions, **said)
    stamped, plain = (IntervalSamples.objects.get(source=name) for name in ("vmstat", "vmstat 2"))
    # vmstat began two seconds after the run, and its first sample is one second later.
    assert (stamped.columns[0], stamped.rows[0][0]) == ("run_s", 3)
    assert plain.columns[0] == "sample"


def test_where_nobody_says_when_a_run_began_samples_keep_their_own_time():
    attached(make_project(), files(stamped=fixture("vmstat/time-stamps.txt")))
    samples = IntervalSamples.objects.get(source="vmstat")
    assert (samples.columns[0], samples.rows[0][0]) == ("time_s", 1)
