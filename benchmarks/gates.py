"""How often a gate passes, fails, and cannot tell: ``python -m benchmarks.gates [DRAWS] [CASE ...]``.

24 workloads are measured on a branch, one session a night for 24 nights, and then of a pull request in one
session or in several. Figures scatter by 2 % of their own and by 1.5 % that all rows of a session share. Each
draw makes all of them anew, asks the gate of the product, and counts the verdict.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from benchdash.regressions.detection.noise import Floats
from benchmarks.database import empty_database

if TYPE_CHECKING:
    from benchdash.accounts.models import Project
    from benchdash.results.records import RunRecord

_SEED: Final = 20261126
_ROWS: Final = 24
_NIGHTS: Final = 24
_NOISE: Final = 0.02
_MOOD: Final = 0.015
_SESSIONS: Final = (1, 3, 6, 10)
_START: Final = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """A pull request, measured in ``sessions``, of which ``losing`` rows lose ``loss``.

    The noise of a row, and the mood that all rows of a session share, are standard deviations of logs.
    """

    sessions: int
    losing: int = 0
    loss: float = 0.10
    noise: float = _NOISE
    mood: float = _MOOD

    def __str__(self) -> str:
        what = f"{self.losing} of {_ROWS} rows lose {self.loss:.0%}" if self.losing else "equal code"
        noise = "" if (self.noise, self.mood) == (_NOISE, _MOOD) else f", {self.noise:.1%}, {self.mood:.1%}"
        return f"{what}, {self.sessions} session{'s' if self.sessions > 1 else ''}{noise}"


CASES: Final = (
    *(Case(sessions) for sessions in _SESSIONS),
    *(Case(sessions, losing=_ROWS // 3) for sessions in _SESSIONS[:2]),
    *(Case(sessions, losing=1) for sessions in _SESSIONS[:2]),
    *(Case(sessions, losing=_ROWS, loss=0.03) for sessions in _SESSIONS[:2]),
    *(Case(3, noise=noise, mood=mood) for noise, mood in ((0.04, 0.03), (0.01, 0.0))),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often each verdict was given, and how many more sessions an unknown one asked for."""

    case: Case
    draws: int
    verdicts: Counter[str]
    more: Counter[int | None]

    def __str__(self) -> str:
        shares = " | ".join(f"{self.verdicts[one] / self.draws:.1%}" for one in ("pass", "fail", "unknown"))
        more = ", ".join(f"{number}: {times}" for number, times in self.more.most_common(4))
        return f"| {self.case} | {shares} | {more} |"


class Gates:
    """A project with the runs of all cases, whose figures are drawn again and again."""

    def __init__(self, project: "Project") -> None:
        from benchdash.results.models import Measurement  # noqa: PLC0415 - Django is set up by then

        rows = Measurement.objects.values_list(
            *("series_id", "run_id", "series__workload__name", "run__branch", "run__started_at")
        )
        self._project = project
        self._ids = [(series, run) for series, run, *_ in rows]
        self._workloads = np.array([int(workload) for _, _, workload, *_ in rows])
        self._branches = np.array([branch for *_, branch, _ in rows])
        sessions = sorted({(branch, start) for *_, branch, start in rows})
        self._sessions = np.array([sessions.index((branch, start)) for *_, branch, start in rows])

    def outcome(self, case: Case, draws: int) -> Outcome:
        from benchdash.regressions.comparison.gate import Question, decide  # noqa: PLC0415 - as above

        rng = np.random.default_rng(_SEED)
        verdicts, more = Counter[str](), Counter[int | None]()
        for _ in range(draws):
            self._draw(case, rng)
            gate = decide(self._project, Question(pull_request=case.sessions))
            verdicts[gate.verdict] += 1
            if gate.verdict == "unknown":
                more[gate.more_sessions] += 1
        return Outcome(case, draws, verdicts, more)

    def _draw(self, case: Case, rng: np.random.Generator) -> None:
        from django.db import connection  # noqa: PLC0415 - as above

        x: Floats = case.mood * rng.normal(size=self._sessions.max() + 1)[self._sessions]
        x += case.noise * rng.normal(size=len(x)) + rng.normal(size=_ROWS)[self._workloads]
        loses = (self._branches == f"pull/{case.sessions}") & (self._workloads < case.losing)
        values = 1000 * np.exp(x) * np.where(loses, 1 - case.loss, 1)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE results_measurement m SET value = v.value"
                " FROM unnest(%s::bigint[], %s::bigint[], %s::float8[]) v(series, run, value)"
                " WHERE m.series_id = v.series AND m.run_id = v.run",
                [*map(list, zip(*self._ids, strict=True)), values.tolist()],
            )


def _measured() -> "Project":
    """Record the runs of the branch and of a pull request for each number of sessions."""
    from benchdash.accounts.services import create_project  # noqa: PLC0415 - Django is set up by then
    from benchdash.results.models import TouchedSeries  # noqa: PLC0415
    from benchdash.results.services import record_runs  # noqa: PLC0415

    project = create_project("gates")
    record_runs(project, upload_id=_upload(project), records=list(_records()), quiet=True)
    TouchedSeries.objects.all().delete()
    return project


def _upload(project: "Project") -> int:
    from ingest.models import RawFile, Upload  # noqa: PLC0415 - Django is set up by then

    raw = RawFile.objects.create(project=project, sha256="0" * 64, size=1, content=b"")
    upload = Upload.objects.create(project=project, raw=raw, name="drawn", state=Upload.State.IMPORTED)
    return upload.pk


def _records() -> Iterator["RunRecord"]:
    from benchdash.results.readings import reading  # noqa: PLC0415 - Django is set up by then
    from benchdash.results.records import RunRecord  # noqa: PLC0415

    measured = [(night, "main", night) for night in range(_NIGHTS)]
    for sessions in _SESSIONS:
        measured += [(_NIGHTS + at, f"pull/{sessions}", 1000 + sessions) for at in range(sessions)]
    for night, branch, commit in measured:
        for row in range(_ROWS):
            yield RunRecord(
                key=f"{branch} {night} {row}",
                product="MariaDB",
                version="unknown",
                commit=f"{commit:040x}",
                branch=branch,
                base_branch="" if branch == "main" else "main",
                hardware="box",
                workload=str(row),
                threads=None,
                started_at=_START + timedelta(days=night),
                readings=(reading("tps", 1000.0),),
            )


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    chosen = [CASES[int(one)] for one in sys.argv[2:]] or CASES
    with empty_database():
        gates = Gates(_measured())
        sys.stdout.write("| the pull request | passes | fails | cannot tell | more sessions: times |\n")
        sys.stdout.write("|---|---:|---:|---:|---|\n")
        for case in chosen:
            sys.stdout.write(f"{gates.outcome(case, draws)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
