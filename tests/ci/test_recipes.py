"""The recipes of docs/ci: their shell parts, in a real repository, against a live server and its worker."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from datetime import timedelta

import pytest
import yaml
from django.utils import timezone

from benchdash.accounts.models import Scope
from benchdash.results.models import PullRequest, Run
from tests.builders import make_project, make_series, make_token
from tests.client.conftest import OF_CI, ROOT

RECIPES = ROOT / "docs/ci"
NIGHTS = [1000.0, 1010.0, 990.0, 1000.0, 1010.0, 990.0, 1000.0, 1010.0, 990.0, 1000.0]
BUILD = '#!/bin/sh\nmkdir -p "$1" && cp FIGURES "$1/figures"\n'
# The build in a folder "runs": it prints the next of its figures, and begins again after the last.
BENCH = f"""#!/bin/sh
{sys.executable} -m tests.client.workload "$1/figures" && [ -s "$1/figures" ] || cp FIGURES "$1/figures"
"""

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
        self.base = self.commit("1000 1003 998 1001")
        self.git("clone", "-q", str(origin), str(folder), folder=origin.parent)

    def commit(self, figures):
        """Commit a server that is as fast as these figures say."""
        (self._origin / "FIGURES").write_text("".join(f"{figure}\n" for figure in figures.split()))
        self.git("add", "--all", folder=self._origin)
        self.git("commit", "-q", "-m", f"Run at {figures}", folder=self._origin)
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
    make_series(NIGHTS, project=project, branch="main", start=start)
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
    ("parts", "variables"),
    [(of_github, github), (of_gitlab, gitlab), (of_jenkins, jenkins)],
    ids=["GitHub Actions", "GitLab CI", "Jenkins"],
)
def test_a_slower_pull_request_fails_its_job_after_as_many_sessions_as_it_takes(
    repository, project, parts, variables, tmp_path
):
    commit = repository.commit("800 803 798 801")
    repository.checkout(commit)
    done = repository.run(parts(), **variables(repository, commit, tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "fail" in done.stdout
    request = PullRequest.objects.get(product__project=project)
    assert (request.number, request.base_branch) == (12, "main")
    assert set(Run.objects.filter(version__commit=commit).values_list("branch", flat=True)) == {"pull/12"}
    assert set(Run.objects.filter(version__commit=repository.base).values_list("branch", flat=True)) == {
        "main"
    }
    assert "**Fail: " in (repository.folder / "gate.md").read_text()
    report = ElementTree.parse(repository.folder / "gate.xml").getroot()
    assert int(report.get("failures")) >= 1
    if parts is of_github:
        assert "**Fail: " in (tmp_path / "summary.md").read_text()
