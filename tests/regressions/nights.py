"""Nightly runs of one build on a branch, measured back to back like real ones."""

from datetime import timedelta
from random import Random

from django.utils import timezone

from tests.builders import make_record, make_runs

WORKLOADS = ("oltp_point_select", "oltp_read_only", "oltp_read_write")
_NOISE = 0.01


def night_time(night):
    """04:00 UTC; night 30 is today's."""
    today = timezone.now().replace(hour=4, minute=0, second=0, microsecond=0)
    return today - timedelta(days=30 - night)


def record_nights(project, levels, *, first=1, workloads=WORKLOADS, quiet=False, upload=None, **fields):
    """The runs of nights ``first`` and following, with about 1,000 tps times their level; one upload.

    The noise of a night and workload is always the same.
    """
    records = []
    for night, level in enumerate(levels, first):
        for workload in workloads:
            noise = Random(f"{night} {workload}").gauss(1, _NOISE)
            place = {
                "key": f"{night} {workload}",
                "branch": "main",
                "version": "10.11.19",
                "started_at": night_time(night),
                "workload": workload,
            }
            if "readings" not in fields:
                place["readings"] = {"tps": 1000 * level * noise}
            records.append(make_record(**{**place, **fields}))
    return make_runs(records, project=project, quiet=quiet, upload=upload)
