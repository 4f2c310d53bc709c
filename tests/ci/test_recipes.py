"""The recipes of docs/ci: their shell parts, in a real repository, against a live server and its worker."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import timedelta

import pytest
import yaml
from django.utils import timezone

from benchdash.accounts.models import Scope
from benchdash.client.benchdash import hardware_name
from benchdash.results.models import PullRequest, Run
from tests.builders import make_project, make_series, make_token
from tests.client.conftest import OF_CI, ROOT

RECIPES = ROOT / "docs/ci"
NIGHTS = [1000.0, 1010.0, 990.0, 1000.0, 1010.0, 990.0, 1000.0, 1010.0, 990.0, 1000.0]
BUILD = '#!/bin/sh\nmkdir -p "$1" && cp FIGURES "$1/figures"\n'
# The build in a folder "runs": it prints the next of its figures.
BENCH = f'#!/bin/sh\nexec {sys.executable} -m tests.client.workload "$1/figures"\n'

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not shutil.which("curl"), reason="the recipes use curl: apt-get install curl"),
]


# --- the shell parts ----------------------------------------------------------------------------------------


def of_github():
    [job] = recipe("github-actions.yml")["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


def of_gitlab():
    return ["\n".join(recipe("gitlab-ci.yml")["benchmarks"]["script"])]


def of_jenkins():
    text = (RECIPES / "Jenkinsfile").read_text()
    return [part.replace("\\\\", "\\") for part in re.findall(r"sh '''(.*?)'''", text, re.DOTALL)]


def of_buildbot():
    tree = ast.parse((RECIPES / "buildbot.cfg").read_text())
    named = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    return [ast.literal_eval(named[name]) for name in ("INSTALL", "BUILD", "MEASURE", "GATE")]


def recipe(name):
    return yaml.safe_load((RECIPES / name).read_text())


# --- where they run -----------------------------------------------------------------------------------------


def figures(level):
    return "".join(f"{level * (1 + ((7 * step) % 11 - 5) / 1000 + step / 1e5):.2f}\n" for step in range(40))


class Repository:
    """A repository whose main was measured for ten nights, and a change of it that is slower or not."""

    def __init__(self, folder, url, token):
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(OF_CI)},
            "BENCHDASH_URL": url,
            "BENCHDASH_TOKEN": token,
            "BENCHDASH_SPOOL": str(folder.parent / "spool"),
            "PYTHONPATH": str(ROOT),
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        origin = folder.parent / "origin"
        self.git("init", "-q", "-b", "main", folder=origin.parent, at=str(origin))
        for name, text in (("build.sh", BUILD), ("bench.sh", BENCH), ("VERSION", "11.8.3\n")):
            (origin / name).write_text(text)
            (origin / name).chmod(0o755)
        shutil.copy(RECIPES / "measure.sh", origin)
        self._origin = origin
        self.base = self.commit(1000)
        self.git("clone", "-q", str(origin), str(folder), folder=origin.parent)

    def commit(self, level, branch="main"):
        """Commit a server of this speed, which scatters by half a per cent."""
        self.git("checkout", "-q", "-B", branch, folder=self._origin)
        (self._origin / "FIGURES").write_text(figures(level))
        self.git("add", "--all", folder=self._origin)
        self.git("commit", "-q", "-m", f"Run at {level}", folder=self._origin)
        return self.git("rev-parse", "HEAD", folder=self._origin)

    def checkout(self, commit):
        self.git("fetch", "-q", "origin")
        self.git("checkout", "-q", commit)

    def git(self, *words, folder=None, at=None):
        folder = folder or self.folder
        words = [*words, at] if at else words
        done = subprocess.run(
            ["git", *words], cwd=folder, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def run(self, parts, **variables):
        """Run the parts as CI does: each in a shell of its own, until one fails. Return how that ended."""
        said = self.folder.parent / "github-env"
        said.write_text("")
        for part in parts:
            told = dict(line.split("=", 1) for line in said.read_text().splitlines())
            done = subprocess.run(
                ["bash", "-e", "-c", part],
                cwd=self.folder,
                env={**self.environment, **variables, **told, "GITHUB_ENV": str(said)},
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            if done.returncode:
                break
        return done


@pytest.fixture
def project(db):
    return make_project("nightly")


@pytest.fixture
def repository(project, live_server, worker, tmp_path):
    repository = Repository(tmp_path / "server", live_server.url, make_token(project, Scope.UPLOAD))
    start = timezone.now() - timedelta(days=len(NIGHTS))
    make_series(NIGHTS, project=project, branch="main", start=start, hardware=hardware_name({}))
    return repository


# --- pull requests ------------------------------------------------------------------------------------------


def github(repository, commit, tmp_path):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 12, "head": {"sha": commit}}}))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_BASE_REF": "main",
        "GITHUB_REF_NAME": "12/merge",
        "GITHUB_SHA": "f" * 40,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "RUNNER_NAME": "bench-01",
        "RUNNER_ENVIRONMENT": "self-hosted",
    }


def gitlab(repository, commit, _tmp_path):
    return {
        "GITLAB_CI": "true",
        "CI_COMMIT_SHA": commit,
        "CI_MERGE_REQUEST_IID": "12",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base,
    }


def jenkins(repository, commit, _tmp_path):
    return {
        "JENKINS_URL": "https://jenkins.example.org/",
        "GIT_COMMIT": commit,
        "CHANGE_ID": "12",
        "CHANGE_TARGET": "main",
        "BRANCH_NAME": "PR-12",
    }


@pytest.mark.parametrize(
    ("parts", "variables", "level", "end"),
    [
        (of_github, github, 800, 1),
        (of_gitlab, gitlab, 1200, 0),
        (of_jenkins, jenkins, 800, 1),
    ],
    ids=["GitHub Actions", "GitLab CI", "Jenkins"],
)
def test_a_pull_request_is_measured_beside_its_base_until_the_gate_can_tell(
    repository, project, parts, variables, level, end, tmp_path
):
    commit = repository.commit(level, branch="change")
    repository.checkout(commit)
    done = repository.run(parts(), **variables(repository, commit, tmp_path))
    assert done.returncode == end, done.stdout + done.stderr
    verdict = "Fail" if end else "Pass"
    request = PullRequest.objects.get(product__project=project)
    assert (request.number, request.base_branch) == (12, "main")
    assert branches_of(commit) == {"pull/12"}
    assert branches_of(repository.base) == {"main"}
    assert f"**{verdict}: " in (repository.folder / "gate.md").read_text()
    report = ET.parse(repository.folder / "gate.xml").getroot()
    assert (int(report.get("failures")) >= 1) is (end == 1)
    if parts is of_github:
        assert f"**{verdict}: " in (tmp_path / "summary.md").read_text()


def branches_of(commit):
    return set(Run.objects.filter(version__commit=commit).values_list("branch", flat=True))


# --- nights -------------------------------------------------------------------------------------------------


def test_buildbot_measures_a_change_of_main_and_fails_on_a_loss(repository):
    commit = repository.commit(500)
    repository.checkout(commit)
    said = {"BUILDBOT_REVISION": commit, "BUILDBOT_BRANCH": "main"}
    done = repository.run(of_buildbot(), **said)
    assert done.returncode == 1, done.stdout + done.stderr
    assert branches_of(commit) == {"main"}


def test_a_night_of_cron_is_measured_beside_its_control(repository):
    commit = repository.commit(1001)
    (repository.folder / "control").mkdir()
    (repository.folder / "control/figures").write_text(figures(900))
    done = repository.run([(RECIPES / "nightly.sh").read_text()], SESSIONS="1", PAUSE="0")
    assert done.returncode in (0, 2), done.stdout + done.stderr
    assert "control: imported" in done.stdout
    assert branches_of(commit) == {"main"}
    assert Run.objects.filter(version__commit=commit).count() == 2
    control = Run.objects.filter(version__version="10.11.5")
    assert [one.version.build for one in control] == ["control"] * 2


def test_every_file_is_of_its_language():
    compile((RECIPES / "buildbot.cfg").read_text(), "buildbot.cfg", "exec")
    for name in ("measure.sh", "nightly.sh"):
        subprocess.run(["sh", "-n", str(RECIPES / name)], check=True)
    assert all(map(recipe, ("github-actions.yml", "gitlab-ci.yml")))
