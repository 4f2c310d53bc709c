"""A release line with one run of each workload a release, some of which get slower."""

from datetime import timedelta

from django.utils import timezone

from benchdash.regressions.services import analyse_touched
from tests.builders import make_record, make_runs

WORKLOADS = [f"workload-{number:02d}" for number in range(12)]
SLOWER = WORKLOADS[:4]
# What each workload scatters by, in an order that has nothing to do with the workloads that get slower.
NOISE = [0.004, -0.007, 0.002, 0.009, -0.003, -0.009, 0.006, -0.001, 0.008, -0.005, 0.001, -0.006]


def release(project, number, level=1.0):
    """Version 10.6.<number>: one run of each workload in a session, four of them at ``level``."""
    today = timezone.now().replace(hour=4, minute=0, second=0, microsecond=0)
    records = [
        make_record(
            1000 * (1 + NOISE[(7 * number + 5 * at) % len(NOISE)]) * (level if workload in SLOWER else 1),
            version=f"10.6.{number}",
            workload=workload,
            started_at=today - timedelta(hours=3 * (24 - number)),
        )
        for at, workload in enumerate(WORKLOADS)
    ]
    make_runs(records, project=project)
    analyse_touched()
