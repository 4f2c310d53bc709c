"""``benchdash upload``: the client, a program of its own, against a live server."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from benchdash.accounts.models import Project
from benchdash.client import benchdash as client_file
from benchdash.results.models import Run
from ingest.models import Upload
from tests.client.conftest import CLIENT

SYSBENCH = Path(__file__).parents[1] / "ingest/fixtures/sysbench/oltp_read_only-histogram.txt"
SAID = [
    "--product",
    "MariaDB",
    "--version",
    "10.11.19",
    "--hardware",
    "bench-03",
    "--workload",
    "oltp_read_only",
]

PYTHON_38 = Path("~/.pyenv/versions/3.8.18/bin/python").expanduser()

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_is_sent_with_what_it_cannot_say(benchdash):
    ended = benchdash("upload", SYSBENCH, *SAID)
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 1)
    assert "imported" in ended.stdout
    assert Upload.objects.get().state == Upload.State.IMPORTED


def test_what_the_server_refuses_is_said_and_is_an_error(benchdash):
    ended = benchdash("upload", SYSBENCH)
    assert ended.returncode == 3
    assert "version: " in ended.stderr


def test_no_command_at_all_is_an_error_that_shows_the_usage(benchdash):
    ended = benchdash()
    assert ended.returncode == 3
    assert "usage: benchdash" in ended.stderr


def test_a_machine_and_a_job_tell_of_themselves(benchdash, client):
    sha = "8be01d7c1f0a9b3e5d2c4f6a7b8c9d0e1f2a3b4c"
    job = {"GITLAB_CI": "true", "CI_COMMIT_SHA": sha, "CI_COMMIT_BRANCH": "main"}
    job |= {"CI_COMMIT_TIMESTAMP": "2026-11-20T15:56:28Z", "CI_JOB_URL": "https://gitlab.example.org/j/7"}
    said = [*SAID[:4], "--hardware", "auto", *SAID[6:]]
    ended = benchdash("upload", SYSBENCH, *said, "--tag", "one", "--tag", "two", "--wait", "0", **job)
    assert f"from GitLab CI: commit {sha}, committed_at 2026-11-20T15:56:28Z, branch main" in ended.stderr
    again = benchdash("upload", SYSBENCH, *said, "--tag", "one", "--tag", "two", **job)
    assert "sent before" in again.stdout  # facts of the moment would make it another upload
    run = Run.objects.get()
    assert (run.version.commit, run.branch, run.hardware.name) == (sha, "main", platform.node().lower())
    assert run.environment.facts["kernel"] == platform.release()
    assert run.environment.facts["cpus"] == os.cpu_count()
    assert (run.notes, sorted(run.tags)) == ("GitLab CI: https://gitlab.example.org/j/7", ["one", "two"])
    Project.objects.update(visibility=Project.Visibility.PUBLIC)
    assert platform.release() in client.get(f"/p/nightly/runs/{run.pk}/").content.decode()


def test_a_named_machine_is_told_no_facts_of_this_one_and_no_commit_where_none_is_wanted(benchdash):
    job = {"GITHUB_ACTIONS": "true", "GITHUB_SHA": "8be01d7c1f0a9b3e5d2c4f6a7b8c9d0e1f2a3b4c"}
    assert benchdash("upload", SYSBENCH, *SAID, "--commit", "none", **job).returncode == 0
    run = Run.objects.get()
    assert (run.version.commit, run.branch) == (None, "")
    assert "kernel" not in (run.environment.facts if run.environment else {})


@pytest.mark.parametrize(
    ("variables", "fields"),
    [
        (
            {"GITHUB_ACTIONS": "true", "GITHUB_SHA": "a" * 40, "GITHUB_REF_NAME": "main"},
            {"commit": "a" * 40, "branch": "main"},
        ),
        (
            {
                "GITHUB_ACTIONS": "true",
                "GITHUB_SHA": "a" * 40,
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": "event.json",
                "GITHUB_BASE_REF": "main",
                "GITHUB_REF_NAME": "7/merge",
            },
            {"commit": "b" * 40, "pull_request": "7", "base_branch": "main"},
        ),
        (
            {
                "GITLAB_CI": "true",
                "CI_COMMIT_SHA": "a" * 40,
                "CI_MERGE_REQUEST_IID": "7",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "b" * 40,
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            },
            {"commit": "b" * 40, "pull_request": "7", "base_branch": "main"},
        ),
        (
            {"JENKINS_URL": "https://j/", "GIT_COMMIT": "a" * 40, "GIT_BRANCH": "origin/11.4"},
            {"commit": "a" * 40, "branch": "11.4"},
        ),
        (
            {"JENKINS_URL": "https://j/", "GIT_COMMIT": "a" * 40, "CHANGE_ID": "7", "CHANGE_TARGET": "main"},
            {"commit": "a" * 40, "pull_request": "7", "base_branch": "main"},
        ),
        (
            {"BUILDBOT_REVISION": "a" * 40, "BUILDBOT_BRANCH": "main"},
            {"commit": "a" * 40, "branch": "main"},
        ),
    ],
)
def test_each_ci_says_what_was_pushed(variables, fields, tmp_path, monkeypatch):
    (tmp_path / "event.json").write_text(
        json.dumps({"pull_request": {"number": 7, "head": {"sha": "b" * 40}}})
    )
    monkeypatch.chdir(tmp_path)
    job = client_file.job_of(variables)
    assert job.fields == fields


@pytest.mark.parametrize(
    ("host", "variables", "name"),
    [
        ("Bench-03.example.org", {}, "bench-03"),
        (
            "runnervm7",
            {"RUNNER_ENVIRONMENT": "github-hosted", "ImageOS": "ubuntu24", "RUNNER_ARCH": "X64"},
            f"github-ubuntu24-x64-{os.cpu_count()}cpu",
        ),
        ("3f9a2c1b7d10", {"JENKINS_URL": "https://j/", "NODE_NAME": "bench-agent"}, "bench-agent"),
        (
            "runner-x1-project-2-concurrent-0",
            {"CI_RUNNER_DESCRIPTION": "3-blue.saas-linux-small-amd64.runners-manager.gitlab.com/default"},
            "gitlab-saas-linux-small-amd64",
        ),
        ("3f9a2c1b7d10", {}, None),
    ],
)
def test_a_machine_gets_a_name_that_lasts(host, variables, name, monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: host)
    if name is None:
        with pytest.raises(client_file.ClientError, match="--hardware bench-01"):
            client_file.hardware_name(variables)
    else:
        assert client_file.hardware_name(variables) == name


def test_files_of_any_name_a_folder_and_standard_input_are_sent(benchdash, tmp_path):
    odd = tmp_path / 'a "b" é\n c.txt'
    odd.write_text(SYSBENCH.read_text())
    (tmp_path / "folder/10.6.3").mkdir(parents=True)
    (tmp_path / "folder/10.6.3/t04.txt").write_text(SYSBENCH.read_text() + "\n")
    sent = benchdash("upload", odd, tmp_path / "none.txt", tmp_path, "--json", *SAID)
    assert sent.returncode == 3
    assert "none.txt: No such file" in sent.stderr
    assert [json.loads(line)["fate"] for line in sent.stdout.splitlines()] == ["sent", "sent"]
    piped = benchdash("upload", "-", *SAID, stdin=SYSBENCH.read_text() + "\n\n")
    assert (piped.returncode, piped.stdout[:24]) == (0, "standard input: imported")
    assert benchdash("upload", "-", *SAID, stdin="").returncode == 3


def test_a_dry_run_stores_nothing_and_meta_beside_a_file_goes_along(benchdash, tmp_path):
    (tmp_path / "t04.txt").write_text(SYSBENCH.read_text())
    meta = {"product": "MariaDB", "version": "10.6.3", "hardware": "bench-03", "workload": "oltp_read_only"}
    (tmp_path / "t04.meta.json").write_text(json.dumps(meta))
    tried = benchdash("upload", tmp_path / "t04.txt", "--dry-run")
    assert (tried.returncode, Upload.objects.count()) == (0, 0)
    assert "t04.txt: dry_run, 1 run" in tried.stdout
    assert not benchdash.spool.exists()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("bench.example.org", "must begin with https://"),
        ("http://[", "BENCHDASH_URL"),
        ("http://127.0.0.1:1/?a=b", "the address of the front page"),
    ],
)
def test_an_address_that_is_none_is_named(benchdash, url, sentence):
    ended = benchdash("upload", SYSBENCH, *SAID, BENCHDASH_URL=url)
    assert ended.returncode == 3
    assert sentence in ended.stderr


def test_the_address_of_the_api_is_understood(benchdash):
    url = benchdash.environment["BENCHDASH_URL"] + "/api/v1/uploads/"
    assert benchdash("upload", SYSBENCH, *SAID, BENCHDASH_URL=url).returncode == 0


@pytest.mark.skipif(not PYTHON_38.exists(), reason="Python 3.8 is not installed")
def test_python_3_8_runs_it(benchdash):
    said = [*SAID[:4], "--hardware", "auto", *SAID[6:]]
    assert benchdash("upload", SYSBENCH, *said, python=str(PYTHON_38)).returncode == 0


def test_nothing_of_it_is_newer_than_python_3_8():
    found = subprocess.run(
        [Path(sys.executable).with_name("vermin"), "-t=3.8-", "--violations", CLIENT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout
