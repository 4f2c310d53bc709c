"""Six releases of PostgreSQL and a second server of 16.15, measured in five interleaved sessions.

A row of ``fixtures/releases.json`` is one run of sysbench: version, whether it is of the second server,
workload, threads, session, start, transactions per second and mean response time. 17.10 and 18.4 are faster
than 16.15 in updates of an index from 4 threads on; nothing else differs.
"""

import json
from datetime import datetime
from pathlib import Path

import pytest

from benchdash.regressions.comparison.columns import Selector
from benchdash.regressions.comparison.version_table import compare
from benchdash.results.controls import CONTROL
from tests.builders import make_project, make_record, make_runs

ROWS = json.loads((Path(__file__).parent / "fixtures" / "releases.json").read_text())
BASE = Selector(version="16.15", build="")
SECOND_SERVER = Selector(version="16.15", build=CONTROL)
FASTER = {(version, "oltp_update_index", threads) for version in ("17.10", "18.4") for threads in (4, 16, 64)}


@pytest.fixture
def project(db):
    project = make_project()
    make_runs(
        [
            make_record(
                product="PostgreSQL",
                version=version,
                build=CONTROL if is_control else "",
                workload=workload,
                threads=threads,
                tags=(f"session:{session}",),
                started_at=datetime.fromisoformat(start),
                readings={"tps": tps, "latency_avg": latency},
            )
            for version, is_control, workload, threads, session, start, tps, latency in ROWS
        ],
        project=project,
    )
    return project


def verdicts(project, *against, metric="tps"):
    """What was found to differ: by version and build, workload and threads."""
    table = compare(project, metric=metric, base=BASE, against=against)
    return {
        (column.version.version + column.version.build, row.workload, row.threads): one.verdict
        for row in table.rows
        for column, one in zip(table.columns, row.comparisons, strict=True)
        if one.verdict not in ("unknown", "same")
    }


@pytest.mark.parametrize("metric", ["tps", "latency_avg"])
def test_five_of_six_gains_are_found_and_nothing_else(project, metric):
    others = [Selector(version=version) for version in ("13.23", "14.24", "15.19", "17.10", "18.4")]
    found = verdicts(project, *others, SECOND_SERVER, metric=metric)
    assert set(found) <= FASTER
    assert len(found) >= 5
    assert set(found.values()) == {"better"}


@pytest.mark.parametrize("metric", ["tps", "latency_avg"])
def test_two_servers_of_one_version_are_not_told_apart(project, metric):
    assert verdicts(project, SECOND_SERVER, metric=metric) == {}


def test_a_control_is_no_column_unless_it_is_asked_for(project):
    table = compare(project, metric="tps", base=BASE)
    assert [column.version.version for column in table.columns] == [
        "13.23",
        "14.24",
        "15.19",
        "17.10",
        "18.4",
    ]


def test_versions_of_shared_sessions_are_compared_within_them(project):
    table = compare(project, metric="tps", base=BASE, against=[Selector(version="18.4")])
    assert {one.basis for row in table.rows for one in row.comparisons} == {"pairs"}
    assert {len(set(row.base.sessions)) for row in table.rows} == {5}
