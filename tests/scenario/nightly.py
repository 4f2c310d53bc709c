"""The scripts of the scenario's machines: they know nothing but files and the API."""

from collections import defaultdict
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from tests.scenario.world import commit_of, committed_at, newest_commit, night_at
from tests.sysbench_text import sysbench_report

UPLOADS = "/api/v1/uploads/"
_MINUTES_A_RUN = 2
_VERSIONS = {
    ("MariaDB", "main"): "12.3.0",
    ("MariaDB", "10.11"): "10.11.16",
    ("PostgreSQL", "main"): "19devel",
    ("Connector/J", "main"): "3.6.0",
}


class Nightly:
    """Uploads what a job measures. Files that a machine holds back are sent by ``send_held_back``."""

    def __init__(self, world, token):
        self.world = world
        self.api = APIClient()
        self.api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        self._held_back = defaultdict(list)

    def measure(self, job, night, *, commit=None, hour=None, hold_back=False):
        """Measure the newest commit of a night, or another one, and upload the results."""
        attempt = "" if commit is None else "again"
        commit = newest_commit(night) if commit is None else commit
        start = night_at(night, job.hour if hour is None else hour)
        said = {
            "product": job.product,
            "version": _VERSIONS[job.product, job.branch],
            "branch": job.branch,
            "hardware": job.machine.name,
        }
        if job.control:
            said |= {"version": "10.11.5", "control": "true"}
        else:
            said |= {"commit": commit_of(job, commit), "committed_at": committed_at(commit).isoformat()}
        if job.counterpart:
            said["counterpart"] = job.counterpart
        runs = [
            (
                start + timedelta(minutes=_MINUTES_A_RUN * number),
                workload,
                threads,
                self.world.speed(job, workload, threads, commit=commit, night=night, attempt=attempt),
            )
            for number, (workload, threads) in enumerate(
                (workload, threads) for workload in job.workloads for threads in job.threads
            )
        ]
        for content, fields in self._texts(runs) if job.as_text else self._table(runs):
            if hold_back:
                self._held_back[job.machine].append((content, {**said, **fields}))
            else:
                self._send(content, {**said, **fields})

    def send_held_back(self, machine):
        for content, said in self._held_back.pop(machine, ()):
            self._send(content, said)

    def _table(self, runs):
        lines = ["workload,threads,started_at,tps,latency_p95"]
        lines += [
            f"{workload},{threads},{at.isoformat()},{tps:.2f},{1500 * threads / tps:.3f}"
            for at, workload, threads, tps in runs
        ]
        yield "\n".join(lines), {}

    def _texts(self, runs):
        for at, workload, threads, tps in runs:
            yield (
                sysbench_report(tps, threads=threads),
                {"workload": workload, "started_at": at.isoformat()},
            )

    def _send(self, content, said):
        answer = self.api.post(UPLOADS, {"file": SimpleUploadedFile("result.txt", content.encode()), **said})
        assert answer.status_code == 201, answer.content
