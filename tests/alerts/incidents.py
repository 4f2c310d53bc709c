"""A confirmed regression as analysis leaves it, without the nights that led to it."""

from datetime import timedelta

from django.utils import timezone

from benchdash.regressions.analysis.causes import cause_of, switches_of
from benchdash.regressions.models import ChangePoint, Incident, Silence
from benchdash.results.models import Hardware, Series
from tests.builders import make_record, make_runs


def make_incident(
    project,
    *,
    product="MariaDB",
    branch="main",
    hardware="bench-03",
    versions=("10.11.18", "10.11.19"),
    metrics=None,
    good=None,
    slow=None,
    **fields,
) -> Incident:
    """tps fell from 1,000 to 800, or ``metrics`` changed: {metric: (before, after)}.

    ``good`` and ``slow`` are further fields of the records of the last good and the first slow run.
    """
    metrics = metrics or {"tps": (1000.0, 800.0)}
    now = timezone.now()
    place = {"product": product, "branch": branch, "hardware": hardware}
    sides = (good or {}, slow or {})
    records = [
        make_record(
            version=versions[side],
            started_at=now - timedelta(days=2 - side),
            readings={metric: values[side] for metric, values in metrics.items()},
            **{**place, **sides[side]},
        )
        for side in (0, 1)
    ]
    last_good, run = make_runs(records, project=project)
    changes = {metric: after / before - 1 for metric, (before, after) in metrics.items()}
    speed = next(iter(changes.values()))
    first = next(iter(metrics))
    fields = {
        "kind": "regression",
        "status": "confirmed",
        "confirmed_at": now - timedelta(minutes=1),
        "worst": speed,
        "median": speed,
        "metric": first,
        "looked_at": 12,
        **fields,
    }
    incident = Incident.objects.create(
        project=project,
        product=run.version.product,
        branch=branch,
        since=last_good.version,
        until=run.version,
        started_at=run.started_at,
        **fields,
    )
    for series in Series.objects.filter(measurements__run=run):
        before, after = metrics[series.metric]
        change_point = ChangePoint.objects.create(
            series=series,
            run=run,
            last_good=last_good,
            incident=incident,
            state="confirmed",
            before=before,
            after=after,
            change=changes[series.metric],
            confidence=0.9987,
            noise=0.012,
            groups_before=20,
            groups_after=6,
            confirmed_at=now,
        )
        if series.metric == first:
            incident.largest = change_point
            incident.cause = cause_of([change_point], switches_of([change_point]))
            incident.save(update_fields=["largest", "cause"])
    return incident


def make_machine_incident(project, *, hardware="bench-03", **fields) -> Incident:
    """A machine on which most became slower."""
    fields = {"kind": "environment", "status": "confirmed", "worst": -0.2, "median": -0.2, **fields}
    machine, _ = Hardware.objects.get_or_create(project=project, name=hardware)
    return Incident.objects.create(
        project=project, hardware=machine, started_at=timezone.now() - timedelta(days=1), **fields
    )


def make_silence(project, *, hardware="bench-03", workload=None, **fields) -> Incident:
    """A machine, or a workload on it, that used to report every night, and has not for three days."""
    machine, _ = Hardware.objects.get_or_create(project=project, name=hardware)
    now = timezone.now()
    fields = {"kind": "silence", "status": "confirmed", "started_at": now - timedelta(days=2), **fields}
    incident = Incident.objects.create(project=project, hardware=machine, **fields)
    Silence.objects.create(
        incident=incident,
        hardware=machine,
        workload=workload,
        last_run_at=now - timedelta(days=3),
        cadence_s=86400.0,
    )
    return incident
