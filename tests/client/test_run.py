"""``benchdash run``: what is measured, what is kept of it, and that nothing half is sent."""

import os
import shlex
import signal
from pathlib import Path

import pytest

from benchdash.client import benchdash as client
from benchdash.results.models import Run
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import Source
from ingest.models import Upload
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SAID = ("--product", "MariaDB", "--version", "11.8.1", "--hardware", "box", "--workload", "oltp_read_only")
PYTHON_38 = Path("~/.pyenv/versions/3.8.18/bin/python").expanduser()


def test_a_control_is_measured_around_the_test_in_every_session(benchdash, workload):
    control, test = workload(*(100 + number / 7 for number in range(4))), workload(80.1, 80.3, 80.4, 80.7)
    sessions = ("--sessions", 2, "--session", "monday", "--control", control, "--control-version", "11.8.0")
    measured = benchdash("run", *SAID, *sessions, "--", *test.split(), "--password=hidden")
    assert measured.returncode == 0, measured.stderr
    assert measured.stdout.count("transactions:") == 8
    runs = list(Run.objects.order_by("started_at").select_related("version"))
    assert [run.version.version for run in runs] == 2 * ["11.8.0", "11.8.1", "11.8.1", "11.8.0"]
    assert [run.version.build for run in runs] == 2 * ["control", "", "", "control"]
    assert [run.tags for run in runs] == 4 * [["session:monday.1"]] + 4 * [["session:monday.2"]]
    assert [run.repetition for run in runs] == 2 * [1, 2, 3, 4]
    assert runs[1].options["command"].endswith("--password=***")
    assert not any("hidden" in str(upload.metadata) for upload in Upload.objects.all())


def test_what_the_machine_did_meanwhile_is_kept_as_samples(benchdash, workload):
    command = f"sleep 2.3; {workload(100.1)}"
    measured = benchdash("run", *SAID, "--", "sh", "-c", command)
    assert measured.returncode == 0, measured.stderr
    run = Run.objects.get()
    assert {"cpu_user", "cpu_idle", "context_switches_per_s"} <= set(
        run.measurements.values_list("series__metric", flat=True)
    )


def test_the_samples_are_those_of_vmstat(monkeypatch):
    monkeypatch.setattr(client, "SAMPLE_EVERY_S", 0.1)
    sampler = client.Sampler()
    sampler.start()
    wait_until(lambda: len(sampler._lines) > 4)
    report = COMPANION_FORMATS["vmstat"].parse(Source(sampler.stop()))
    assert report.warnings == ()
    [samples] = report.samples
    assert len(samples.rows) > 3


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("exit 5", "sh ended with 5"),
        ("kill -9 $$", "sh was ended by SIGKILL"),
        ("true", "sh printed nothing; where it writes a file, name it with --output"),
    ],
)
def test_a_command_that_fails_or_says_nothing_is_not_sent(benchdash, command, sentence):
    ended = benchdash("run", *SAID, "--", "sh", "-c", command)
    assert ended.returncode == 3
    assert sentence in ended.stderr
    assert not Upload.objects.exists()


def test_a_command_that_does_not_exist_and_none_at_all_are_named(benchdash):
    assert "no-such-tool: No such file or directory" in benchdash("run", *SAID, "--", "no-such-tool").stderr
    ended = benchdash("run", *SAID)
    assert (ended.returncode, "nothing to run" in ended.stderr) == (3, True)


def test_a_file_that_the_command_did_not_write_is_not_sent_again(benchdash, workload, tmp_path):
    result = tmp_path / "result.txt"
    write = f"{workload(100.1)} > {result}"
    assert benchdash("run", *SAID, "--output", result, "--", "sh", "-c", write).returncode == 0
    ended = benchdash("run", *SAID, "--output", result, "--", "true")
    assert ended.returncode == 3
    assert f"true did not write {result}" in ended.stderr
    assert Upload.objects.get().name == "result.txt"


def test_what_goes_on_in_the_background_is_not_waited_for(benchdash, workload):
    ended = benchdash("run", *SAID, "--", "sh", "-c", f"sleep 10 2>&- & {workload(100.1)}")
    assert (ended.returncode, "in the background" in ended.stderr) == (0, True)
    assert Run.objects.count() == 1


def test_a_signal_reaches_the_command_and_only_whole_sessions_are_sent(benchdash, workload, tmp_path):
    """It comes in the second session, while the test of it runs."""
    control = workload(100.1, 100.2, 100.3)
    slow = tmp_path / "slow.sh"
    slow.write_text(
        f"trap 'touch {tmp_path}/stopped; exit 0' INT\n"
        f"if [ -e {tmp_path}/third ]; then touch {tmp_path}/waits; sleep 10 >&- 2>&- & wait; fi\n"
        f"[ -e {tmp_path}/second ] && touch {tmp_path}/third\n"
        f"touch {tmp_path}/second\n"
        f"{workload(80.1, 80.2)}\n"
    )
    said = (*SAID, "--sessions", 2, "--control", control, "--control-version", "11.8.0", "--no-sample")
    with benchdash.begin("run", *said, "--", "bash", slow) as process:
        wait_until((tmp_path / "waits").exists)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, "stopped by SIGINT" in errors) == (3, True), errors
    assert (tmp_path / "stopped").exists()
    sessions = Run.objects.values_list("tags", flat=True)
    assert (len(sessions), len({tag for tags in sessions for tag in tags})) == (4, 1)


def test_what_was_measured_is_kept_where_it_is_refused_and_where_nobody_answers(benchdash, workload):
    command = workload(100.1, 100.2).split()
    refused = benchdash("run", *SAID[:4], "--", *command)
    [kept] = (benchdash.spool / "refused").iterdir()
    assert (refused.returncode, f"it is set aside in {kept}" in refused.stderr) == (3, True)
    assert any("100.10 per sec" in file.read_text() for file in kept.iterdir())
    nowhere = {"BENCHDASH_URL": "http://127.0.0.1:9"}
    down = benchdash("run", *SAID, "--retry-for", 0, "--", *command, **nowhere)
    assert (down.returncode, "'benchdash flush' sends it" in down.stderr) == (0, True)
    assert not Run.objects.exists()


def test_the_plan_is_printed_and_nothing_is_run(benchdash, tmp_path):
    command = ("--", "touch", tmp_path / "ran")
    plan = benchdash("run", *SAID, "--sessions", 3, "--pause", 60, "--dry-run", *command)
    assert (plan.returncode, (tmp_path / "ran").exists()) == (0, False)
    assert "3 runs: 3 sessions of 1, 60 s apart" in plan.stdout


@pytest.mark.skipif(not PYTHON_38.exists(), reason="Python 3.8 is not installed")
def test_python_3_8_is_enough(benchdash, workload):
    ended = benchdash("run", *SAID, "--", *workload(100.1).split(), python=str(PYTHON_38))
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("sysbench --mysql-password=x1 run", "sysbench --mysql-password=*** run"),
        ("pgbench --token 'x 1' -c 4", "pgbench --token *** -c 4"),
        ("PGPASSWORD=x1 pgbench -c 4", "PGPASSWORD=*** pgbench -c 4"),
        ("mysqlslap -u root -px1 -c 4", "mysqlslap -u root -p*** -c 4"),
        ("curl -u me:x1 https://me:x1@host/", "curl -u me:*** https://me:***@host/"),
        ("java -Dkey.password=x1 -jar b.jar", "java -Dkey.password=*** -jar b.jar"),
        ("sysbench --auto_inc=off --key=4 -p 5", "sysbench --auto_inc=off --key=4 -p 5"),
    ],
)
def test_secrets_never_leave_the_machine(line, masked):
    assert client.without_secrets(line) == masked
    assert client.Side("test", shlex.split(line), {}).line.count("***") == masked.count("***")
