"""Whoever reads the schema sees real requests and answers: those of a small project, asked for here.

``make examples`` writes them to ``benchdash/api/examples.json``, from which the schema takes them.
"""

import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile

from benchdash.accounts.models import Project, Scope, User
from benchdash.rest.parameters import MAX_ID
from benchdash.results.models import Run, Series
from ingest.models import Companion
from tests.api.conftest import client_of, make_incident
from tests.builders import make_project, make_token, make_user
from tests.ingest.packing import tar_of
from tests.schema_check import schema

FILE = Path(__file__).parents[2] / "benchdash/api/examples.json"
SITE = "https://benchdash.example.org"
NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
SLUG = "demo"
MAX_ITEMS = 2
MAX_LINES = 4
_SAMPLES = Path(__file__).parents[2] / "ingest/samples/releases"
_RELEASES = _SAMPLES / "sysbench"
_POOL = _SAMPLES / "threadpool/mariadb-10.11.19"
# Signed with the key of the installation.
_CURSOR = re.compile(rb"cursor=[^&\"]+")
_PREVIEW = {"preview": True, "reason": "a typing mistake"}


class Asker:
    """Asks one operation after the other, and notes how and what came back.

    ``examples`` is by operation; of several requests to one the first is the example, and the others add
    their answers where these are of another status or media type.
    """

    def __init__(self, client):
        self.examples = {}
        self.client = client
        self._operations = {
            operation["operationId"]: (path, method)
            for path, methods in schema()["paths"].items()
            for method, operation in methods.items()
        }

    def ask(self, name, status=200, *, body=None, form=None, **parameters):
        """Return the JSON of the answer; None for others. Fails for another status."""
        path, method = self._operations[name]
        address = addressed(path, parameters)
        answer = self._sent(method, address, body, form)
        assert answer.status_code == status, (name, address, answer.content)
        example = self.examples.setdefault(name, {"parameters": parameters, "answers": {}})
        if body is not None:
            example.setdefault("body", {"application/json": body})
        if form:
            example.setdefault("body", {"multipart/form-data": {**form, "file": form["file"].name}})
        return self._note(example["answers"].setdefault(str(status), {}), answer)

    def refused(self, status, name, *, client, body=None, **parameters):
        """Note the problem that an operation is answered with."""
        path, method = self._operations[name]
        answer = getattr(client, method)(addressed(path, parameters), body)
        assert answer.status_code == status, (name, answer.content)
        problems = self.examples.setdefault("problems", {})
        problems[str(status)] = answer.json()

    def _sent(self, method, address, body, form):
        if form:
            files = {name: open_again(value) for name, value in form.items()}
            return self.client.post(address, files, format="multipart")
        return getattr(self.client, method)(address, body)

    def _note(self, answers, answer):
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        media_type = answer.headers.get("Content-Type", "").partition(";")[0]
        # Bytes are no example.
        if not content or media_type == "application/octet-stream":
            return None
        if media_type == "application/json":
            value = json.loads(content)
            answers.setdefault(media_type, shortened(json.loads(_CURSOR.sub(b"cursor=...", content))))
            return value
        lines = content.decode().splitlines(keepends=True)
        answers.setdefault(media_type, "".join(lines[:MAX_LINES]))
        return None


def addressed(path, parameters):
    query = {name: value for name, value in parameters.items() if f"{{{name}}}" not in path}
    return path.format(**parameters) + (f"?{urlencode(query, doseq=True)}" if query else "")


def open_again(value):
    if isinstance(value, SimpleUploadedFile):
        value.seek(0)
    return value


def shortened(value):
    """The same with the first few of each list."""
    if isinstance(value, dict):
        return {name: shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        is_long = any(isinstance(one, dict | list) for one in value)
        return [shortened(one) for one in (value[:MAX_ITEMS] if is_long else value)]
    return value


@contextmanager
def sample_project():
    """A project and its admin, who made it that morning; the clock stands still meanwhile."""
    with time_machine.travel(NOW, tick=False):
        project = make_project(SLUG, name="Demo")
        yield project, make_user("alice", member_of=project, role="admin", is_superuser=True)


def ask_everything(project: Project, admin: User) -> dict:
    """Ask each operation at least once. The project must be new."""
    asker = Asker(client_of(admin))
    _upload(asker, project)
    _read(asker, project)
    _compare(asker)
    _triage(asker, project)
    _correct(asker, project)
    _tell(asker)
    _hold_a_branch(asker)
    _make_a_project(asker)
    _ask_with_a_token(asker, project)
    _refuse(asker)
    return dict(sorted(asker.examples.items()))


def _report(folder, threads, name="file"):
    # Some folders number the threads with two digits.
    [file] = [one for one in folder.glob("t*[0-9].txt") if int(one.stem[1:]) == threads]
    meta = file.with_suffix(".meta.json").read_text()
    return {
        "project": SLUG,
        "hardware": "bench-01",
        "meta": meta,
        name: SimpleUploadedFile(file.name, file.read_bytes()),
    }


def _upload(asker, project):
    first = _report(_RELEASES / "mariadb-10.11.5/oltp_read_only/rep1", 4)
    asker.ask("uploads_create", 201, form=first)
    asker.ask("uploads_create", 200, form=first)
    for version in ("10.11.5", "10.11.19"):
        for threads in (1, 4, 8, 16):
            report = _report(_RELEASES / f"mariadb-{version}/oltp_read_only/rep1", threads)
            if (version, threads) != ("10.11.5", 4):
                asker.ask("uploads_create", 201, form=report)
    for commit in ("3f9a2c1", "8be01d7"):
        report = _report(_RELEASES / "mariadb-10.11.19/oltp_read_only/rep1", 8)
        asker.ask("uploads_create", 201, form={**report, "branch": "main", "commit": commit})
    for way in ("one-thread-per-connection", "pool-of-threads"):
        report = _report(_POOL / way / "rep1", 64)
        settings = SimpleUploadedFile("my.cnf", f"[mysqld]\nthread_handling = {way}\n".encode())
        form = {**report, "version": "10.11.19-pool", "configuration_file": settings}
        asker.ask("uploads_create", 201, form=form)
    other = _report(_RELEASES / "postgresql-16.15/oltp_point_select/session1", 4)
    asker.ask("uploads_create", 201, form={**other, "hardware": "bench-02", "configuration": "tuned"})
    archive = {"nights/t04.txt": (_RELEASES / "mariadb-10.11.19/oltp_read_only/rep1/t04.txt").read_bytes()}
    packed = SimpleUploadedFile("nights.tar.gz", tar_of(archive))
    words = {
        "product": "MariaDB",
        "version": "10.11.19",
        "hardware": "bench-01",
        "workload": "oltp_read_only",
    }
    queued = asker.ask("uploads_create", 202, form={"project": SLUG, "file": packed, **words})
    companion = Companion.objects.filter(kind=Companion.Kind.CONFIGURATION).earliest("pk")
    asker.ask("uploads_list", project=SLUG, limit=1)
    asker.ask("uploads_retrieve", id=1)
    asker.ask("uploads_raw_retrieve", id=1)
    asker.ask("uploads_companions_raw_retrieve", id=companion.upload_id, companion=companion.pk)
    asker.ask("uploads_partial_update", id=1, body={"version": "10.11.6", **_PREVIEW})
    asker.ask("uploads_partial_update", 202, id=queued["id"], body={"hardware": "bench-03"})
    asker.ask("uploads_destroy", id=queued["id"], preview=True)
    asker.ask("uploads_destroy", 204, id=queued["id"], reason="sent by mistake")


def _read(asker, project):
    asker.ask("projects_list", limit=10)
    asker.ask("projects_retrieve", slug=SLUG)
    for kind in ("products", "versions", "hardware", "configurations", "workloads"):
        asker.ask(f"{kind}_list", project=SLUG, limit=2)
        asker.ask(f"{kind}_retrieve", id=1)
    asker.ask("metrics_list", project=SLUG, limit=2)
    choice = {"version": ["10.11.19"], "workload": ["oltp_read_only"], "threads": ["4"]}
    found = asker.ask("runs_list", project=SLUG, **choice)
    run = found["results"][0]["id"]
    asker.ask("runs_retrieve", id=run)
    asker.ask("runs_intervals_retrieve", id=run, source="sysbench")
    asker.ask("runs_intervals_retrieve", id=run, source="sysbench", format="csv")
    series = asker.ask(
        "series_list", project=SLUG, workload=["oltp_read_only"], threads=["4"], metric=["tps"]
    )
    pk = series["results"][0]["id"]
    asker.ask("series_retrieve", id=pk)
    asker.ask("series_points_retrieve", id=pk, max_points=100)
    asker.ask("series_points_retrieve", id=pk, format="csv")
    asker.ask("overview_retrieve", project=SLUG)


def _compare(asker):
    base = json.dumps({"product": "MariaDB", "version": "10.11.5"})
    against = json.dumps({"product": "MariaDB", "version": "10.11.19", "branch": ""})
    for more in ({}, {"format": "csv"}):
        metric = {"project": SLUG, "metric": "tps", **more}
        asker.ask("compare_retrieve", base=base, against=[against], **metric)
        asker.ask("curves_retrieve", base=base, against=[against], **metric)
        asker.ask("matrix_retrieve", product="MariaDB", branch="", **metric)
        asker.ask("nights_retrieve", branch="main", base="oldest", **metric)
        asker.ask("sweep_retrieve", version="10.11.19-pool", setting="thread_handling", **metric)
        where = {"project": SLUG, **more}
        asker.ask("latency_retrieve", workload="oltp_read_only", base=against, **where)
        asker.ask("difference_retrieve", base=base, against=against, **where)
    asker.ask("difference_retrieve", project=SLUG, base=base, against=against, format="md")
    for more in ({}, {"format": "md"}, {"format": "junit"}, {"format": "txt"}):
        commit = {"project": SLUG, "product": "MariaDB", "branch": "main", "commit": "8be01d7"}
        asker.ask("gate_retrieve", **commit, **more)


def _triage(asker, project):
    series = Series.objects.filter(
        project=project, metric="tps", branch="", line="10.11", threads=4
    ).earliest("pk")
    run = Run.objects.filter(measurements__series=series).latest("version__sort_key")
    incident = make_incident(series, run).pk
    asker.ask("incidents_list", project=SLUG, open=[True])
    asker.ask("incidents_retrieve", id=incident)
    asker.ask("incidents_partial_update", id=incident, body={"state": "investigating"})
    asker.ask(
        "incidents_triage_create", body={"ids": [incident], "state": "expected", "reason": "a safer default"}
    )
    asker.ask(
        "incidents_comments_create", 201, id=incident, body={"text": "Since *innodb_flush_method* changed."}
    )
    said = {"project": SLUG, "at": "2026-11-01T00:00:00Z", "text": "a new disk", "hardware": "bench-01"}
    for _ in range(2):
        annotation = asker.ask("annotations_create", 201, body=said)["id"]
    asker.ask("annotations_list", project=SLUG)
    asker.ask("annotations_retrieve", id=1)
    asker.ask("annotations_destroy", 204, id=annotation)
    block = {"page": "history", "query": f"series={series.pk}", "heading": "Reading, with four threads"}
    for _ in range(2):
        article = asker.ask(
            "articles_create", 201, body={"project": SLUG, "title": "10.11 since 10.11.5", "blocks": [block]}
        )["id"]
    asker.ask("articles_list", project=SLUG)
    asker.ask("articles_retrieve", id=1)
    asker.ask("articles_partial_update", id=1, body={"prose": "What changed within a year."})
    asker.ask("articles_destroy", 204, id=article)


def _correct(asker, project):
    for kind in ("products", "hardware", "configurations", "workloads"):
        asker.ask(f"{kind}_partial_update", id=1, body={"name": "renamed", **_PREVIEW})
        asker.ask(f"{kind}_merge_create", id=2, body={"into": 1, **_PREVIEW})
    asker.ask("versions_partial_update", id=1, body={"version": "10.11.6", **_PREVIEW})
    asker.ask("versions_merge_create", id=2, body={"into": 1, **_PREVIEW})
    busy = {"excluded": True, "reason": "the machine was busy", "preview": True}
    run = Run.objects.filter(project=project).earliest("pk").pk
    asker.ask("runs_partial_update", id=run, body=busy)
    asker.ask("exclusions_create", body={"project": SLUG, "runs": [run], **busy})
    memory = {"project": SLUG, "name": "rss_mb", "unit": "MB", "direction": "lower"}
    own = asker.ask("metrics_create", 201, body=memory)["id"]
    asker.ask("metrics_create", body=memory)
    asker.ask("metrics_retrieve", id=own)
    asker.ask("metrics_partial_update", id=own, body={"smallest_change": 0.05})
    asker.ask(
        "metrics_partial_update_by_name", body={"project": SLUG, "name": "tps", "smallest_change": 0.02}
    )


def _tell(asker):
    wanted = {
        "project": SLUG,
        "address": "alice@example.org",
        "rhythm": "daily",
        "hour": 8,
        "product": "MariaDB",
    }
    asker.ask("subscriptions_create", 201, body=wanted)
    asker.ask("subscriptions_create", body=wanted)
    other = asker.ask("subscriptions_create", 201, body={"project": SLUG, "address": "bob@example.org"})["id"]
    asker.ask("subscriptions_list", project=SLUG)
    asker.ask("subscriptions_retrieve", id=1)
    asker.ask("subscriptions_partial_update", id=1, body={"rhythm": "weekly", "weekday": 0})
    asker.ask("subscriptions_destroy", 204, id=other)
    asker.ask("subscriptions_destroy_all", 204, project=SLUG, address="bob@example.org")
    hook = {
        "project": SLUG,
        "url": "https://hooks.example.org/benchdash",
        "secret": "a secret of the receiver",
    }
    pk = asker.ask("webhooks_create", 201, body=hook)["id"]
    asker.ask("webhooks_create", body=hook)
    asker.ask("webhooks_list", project=SLUG)
    asker.ask("webhooks_retrieve", id=pk)
    asker.ask("webhooks_test_create", id=pk)
    again = asker.ask("webhooks_create", 201, body={**hook, "url": "https://hooks.example.org/other"})["id"]
    asker.ask("webhooks_destroy", 204, id=again)
    asker.ask("webhooks_destroy_all", 204, project=SLUG, url="https://hooks.example.org/other")
    asker.ask("audit_list", project=SLUG, limit=2)


def _hold_a_branch(asker):
    said = {"project": SLUG, "branch": "main", "product": "MariaDB", "hardware": "bench-01"}
    first = {**said, "commit": "3f9a2c1", "reason": "the last one that was looked at"}
    pk = asker.ask("baselines_create", 201, body=first)["id"]
    asker.ask("baselines_list", project=SLUG)
    asker.ask("baselines_retrieve", id=pk)
    moved = {"version": "10.11.5", "reason": "the release"}
    pk = asker.ask("baselines_partial_update", id=pk, body=moved)["id"]
    asker.ask("baselines_destroy", 204, id=pk, reason="no longer needed")


def _make_a_project(asker):
    asker.ask("projects_create", 201, body={"slug": "nightly", "name": "Nightly runs of the server team"})
    changed = {"visibility": "public", "notice": "One machine of ours alone.", "pull_request_days": 14}
    asker.ask("projects_partial_update", slug="nightly", body=changed)


def _ask_with_a_token(asker, project):
    person, asker.client = asker.client, client_of(make_token(project, Scope.UPLOAD, Scope.READ))
    # Its beginning is random.
    project.tokens.update(prefix="bd_Ue8PqZw")
    asker.ask("token_retrieve")
    asker.client = person


def _refuse(asker):
    nobody = client_of()
    asker.refused(400, "runs_list", client=asker.client, project=SLUG, threads="many")
    asker.refused(401, "webhooks_list", client=nobody, project=SLUG)
    asker.refused(404, "runs_retrieve", client=nobody, id=MAX_ID)


def written(examples) -> str:
    return json.dumps(examples, indent=1, ensure_ascii=False) + "\n"
