"""Eighty measured nights of one server whose settings were switched; truth.json beside them says when."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from benchdash.regressions.queries import evidence, incidents, what_changed
from benchdash.regressions.services import analyse_touched
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench
from ingest.receiving.per_operation import per_operation
from tests.builders import START, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

NIGHTS = Path(__file__).parents[2] / "ingest/samples/watch/nightly/mariadb-10.11.19"


def time_of(night):
    return START + timedelta(days=night)


def measured(path):
    meta = json.loads(path.with_suffix(".meta.json").read_text())
    switched = dict(pair.split("=", 1) for pair in meta["state"].split() if "=" in pair)
    [run] = sysbench.parse(Source(path.read_bytes())).runs
    costs = per_operation(run.readings, cpus=None, seconds=run.duration_s, facts=meta["contention"])
    return make_record(
        key=f"{meta['night']} {meta['workload']}",
        branch="nightly",
        version=meta["version"],
        workload=meta["workload"],
        threads=meta["threads"],
        started_at=time_of(meta["night"]),
        readings=(*run.readings, *costs),
        settings={"innodb_buffer_pool_size": "512M", **switched},
    )


def test_each_clear_switch_is_an_incident_that_names_it_and_nothing_else_is():
    project = make_project()
    make_runs([measured(path) for path in sorted(NIGHTS.glob("*/*.txt"))], project=project)
    analyse_touched()
    confirmed = incidents(project).filter(status="confirmed").order_by("started_at")
    found = [
        (incident.kind, incident.started_at, [str(one) for one in what_changed(evidence(incident))])
        for incident in confirmed
    ]
    assert found == [
        ("regression", time_of(26), ["performance_schema: not set → ON"]),
        ("improvement", time_of(42), ["performance_schema: ON → not set"]),
        ("regression", time_of(50), ["tmp_memory_table_size: not set → 0"]),
        ("improvement", time_of(60), ["tmp_memory_table_size: 0 → not set"]),
        ("regression", time_of(68), ["long_query_time: not set → 0", "slow_query_log: not set → ON"]),
    ]
    assert confirmed[0].worst == pytest.approx(-0.2, abs=0.03)
    assert confirmed[0].workloads == ["oltp_point_select", "oltp_read_only", "oltp_read_write"]
