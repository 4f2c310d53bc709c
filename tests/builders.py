"""Builders: they fill in what a test does not care about, and go the way that real uploads go."""

import itertools
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from django.utils import timezone

from benchdash.accounts.models import Membership, Project, Role, Scope, User
from benchdash.accounts.services import create_project, create_token
from benchdash.alerts.models import Subscription
from benchdash.results.models import Run, Series
from benchdash.results.readings import reading
from benchdash.results.records import RunRecord
from benchdash.results.services import record_runs
from ingest.models import RawFile, Upload

START = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
PASSWORD = "correct horse battery"

_numbers = itertools.count(1)


def make_user(name="alice", *, password=None, member_of=None, role=Role.MEMBER, **fields) -> User:
    """``alice@example.org``; ``member_of`` is a project. With ``password=PASSWORD`` she can sign in."""
    user = User.objects.create_user(f"{name}@example.org", password, name=name.capitalize(), **fields)
    if member_of:
        Membership.objects.create(project=member_of, user=user, role=role)
    return user


def make_project(slug=None, *, public=False, **fields) -> Project:
    project = create_project(slug or f"project-{next(_numbers)}", public=public)
    for name, value in fields.items():
        setattr(project, name, value)
    project.save()
    return project


def make_token(project, *scopes, name="nightly") -> str:
    """The secret of a new token; without scopes it may upload and read."""
    _, secret = create_token(project, name, scopes or [Scope.UPLOAD, Scope.READ])
    return secret


def make_webhook(project, url, *, secret="a secret of the tests", **fields) -> Subscription:
    """A webhook that was added yesterday, without a look at its address."""
    added_at = timezone.now() - timedelta(days=1)
    fields.setdefault("kinds", ["regression"])
    return Subscription.objects.create(
        project=project, address=url, secret=secret, confirmed_at=added_at, **fields
    )


def make_upload(project, *, name="result.txt", **fields) -> Upload:
    """An imported upload whose content is like no other's."""
    content = f"upload {next(_numbers)}".encode()
    digest = sha256(content).hexdigest()
    raw = RawFile.objects.create(
        project=project, sha256=digest, size=len(content), content=zlib.compress(content)
    )
    fields = {"state": Upload.State.IMPORTED, "format": "sysbench", "metadata_digest": digest, **fields}
    return Upload.objects.create(project=project, raw=raw, name=name, **fields)


def make_record(tps=100.0, *, readings=None, **fields) -> RunRecord:
    """A record of one run; ``readings``, in place of ``tps``, are {metric: value} or Reading objects."""
    if readings is None:
        readings = {"tps": tps}
    if isinstance(readings, dict):
        readings = tuple(reading(metric, value) for metric, value in readings.items())
    record = RunRecord(
        key="",
        product="MariaDB",
        version="10.6.23",
        hardware="box",
        workload="oltp_read_only",
        threads=4,
        started_at=START,
        readings=tuple(readings),
    )
    return replace(record, **fields)


def in_sessions(records, *, step=timedelta(days=1)) -> list[RunRecord]:
    """The same records with a session each: they start a day apart."""
    return [replace(one, started_at=START + number * step) for number, one in enumerate(records)]


def make_run(tps=100.0, *, project=None, upload=None, quiet=False, **fields) -> Run:
    """One recorded run; ``fields`` are those of make_record."""
    return make_runs([make_record(tps, **fields)], project=project, upload=upload, quiet=quiet)[0]


def make_runs(records, *, project=None, upload=None, quiet=False) -> list[Run]:
    """The runs of one upload; records without a key get their number as one."""
    project = project or (upload.project if upload else make_project())
    upload = upload or make_upload(project)
    if len(records) > 1:
        records = [replace(r, key=r.key or str(i)) for i, r in enumerate(records, 1)]
    run_ids = record_runs(project, upload_id=upload.pk, records=records, quiet=quiet).run_ids
    runs = Run.objects.select_related("project").in_bulk(run_ids)
    return [runs[run_id] for run_id in run_ids]


def make_series(
    values, *, project=None, metric="tps", start=START, step=timedelta(days=1), quiet=False, **fields
) -> Series:
    """A series with one group per value; a list in place of a value gives a group of several sessions.

    The groups are versions 10.6.1, 10.6.2 ... of MariaDB, one a ``step``; with ``branch="main"`` they are
    commits 0000001, 0000002 ... (as 40 digits), committed when their run starts. ``values`` of a second call
    with the same project and fields come again from the first version on, as further runs.
    """
    records = []
    for number, value in enumerate(values, 1):
        time = start + (number - 1) * step
        place = {"version": f"10.6.{number}", "started_at": time}
        if fields.get("branch"):
            place = {
                "version": "unknown",
                "commit": f"{number:040x}",
                "committed_at": time,
                "started_at": time,
            }
        for repetition, one in enumerate(value if isinstance(value, list) else [value], 1):
            times = {"started_at": time + (repetition - 1) * timedelta(hours=3), "repetition": repetition}
            records.append(make_record(readings={metric: one}, **{**place, **times, **fields}))
    runs = make_runs(records, project=project, quiet=quiet)
    return Series.objects.get(measurements__run=runs[-1], metric=metric)


def versions_of(series) -> list[str]:
    """The version texts of a series' runs, in the order of their start."""
    runs = Run.objects.filter(measurements__series=series).order_by("started_at", "pk")
    return list(runs.values_list("version__version", flat=True))
