"""What truly happens in the scenario: machines with their noise, jobs, commits, and what changes when."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

FIRST_NIGHT = datetime(2025, 11, 3, 0, 0, tzinfo=UTC)  # a Monday
COMMITS_A_DAY = 4
DAY = timedelta(days=1)

OLTP = ("oltp_point_select", "oltp_read_only", "oltp_read_write")
QUERIES = ("DO 1", "SELECT 1", "SELECT 1000 rows")


@dataclass(frozen=True)
class Machine:
    """Scatters by ``noise`` from run to run and half as much from night to night (deviations of logs).

    Of some runs (``burst`` is their share) a neighbour takes a part away: that only ever slows them.
    """

    name: str
    noise: float
    burst: float = 0.0


# Dedicated machines scatter by 1 to 3 %; neighbours take 5 to 30 % of a run for minutes.
EPYC = Machine("epyc-01", 0.010)
XEON = Machine("xeon-02", 0.015, burst=0.01)
ARM = Machine("arm-03", 0.025, burst=0.02)


@dataclass(frozen=True)
class Job:
    """One upload a night: all workloads of a product's branch on a machine, an hour for each job."""

    machine: Machine
    product: str
    branch: str
    workloads: tuple
    threads: tuple = (4, 16)
    hour: int = 1
    control: bool = False
    as_text: bool = False  # as sysbench prints it, a file for each run; else a table
    counterpart: str = ""


@dataclass(frozen=True)
class Change:
    """Speed is multiplied by ``factor`` from the commit or the time of a night on, until another one.

    What was over may come ``again``, from one night until another.
    """

    factor: float
    since: float
    until: int | None = None
    again: tuple | None = None
    product: str | None = None  # None: of every product, the machine itself
    branch: str = "main"
    workloads: tuple | None = None
    machine: Machine | None = None

    def holds(self, job, workload, night):
        """Tell whether it holds for a workload of a job; ``night`` is that of the code or of the machine."""
        return (
            (self.product is None or (job.product, job.branch) == (self.product, self.branch))
            and (self.product is None or not job.control)
            and (self.workloads is None or workload in self.workloads)
            and (self.machine is None or job.machine == self.machine)
            and any(since <= night and (until is None or night < until) for since, until in self.spans)
        )

    @property
    def spans(self):
        return [(self.since, self.until), *([self.again] if self.again else [])]


@dataclass(frozen=True)
class Outage:
    """What has these fields does not report in these nights; ``late`` results come in when it ends."""

    since: int
    until: int
    machine: Machine
    product: str | None = None
    late: bool = False

    def holds(self, job, night):
        return (
            job.machine == self.machine
            and self.product in (None, job.product)
            and self.since <= night < self.until
        )


@dataclass(frozen=True)
class Bisect:
    """In the day after ``night`` a job measures the commits of the day before ``of_night``."""

    night: int
    of_night: int
    job: Job


@dataclass(frozen=True)
class World:
    nights: int
    jobs: tuple
    changes: tuple
    outages: tuple = ()
    bisects: tuple = ()
    mornings: tuple = ()  # on which somebody looks at the overview
    seed: int = 1

    def speed(self, job, workload, threads, *, commit, night, attempt=""):
        """The throughput of one run: of code as of a commit, on the machine as of a night."""
        rng = Random(f"{self.seed} {job} {workload} {threads} {commit} {night} {attempt}")
        mood = Random(f"{self.seed} {job.machine.name} {night} {attempt}").gauss(0, job.machine.noise / 2)
        level = Random(f"{job.product} {job.machine.name} {workload}").uniform(800, 2500) * math.sqrt(threads)
        for change in self.changes:
            if change.holds(job, workload, night if change.product is None else commit / COMMITS_A_DAY):
                level *= change.factor
        if rng.random() < job.machine.burst:
            level *= rng.uniform(0.7, 0.95)
        return level * math.exp(mood + rng.gauss(0, job.machine.noise))


def night_at(night, hour=0.0):
    return FIRST_NIGHT + night * DAY + timedelta(hours=hour)


def commit_of(job, number):
    """The hash of the numbered commit of a branch; there are COMMITS_A_DAY of them a day."""
    digits = Random(f"{job.product} {job.branch}").getrandbits(100)
    return f"{number:08x}{digits:025x}"[:33]


def committed_at(number):
    """The commits of a day are made between 9 and 18 o'clock of the day before its night."""
    night, of_day = divmod(number, COMMITS_A_DAY)
    return night_at(night - 1, 9 + 3 * of_day)


def newest_commit(night):
    return night * COMMITS_A_DAY + COMMITS_A_DAY - 1
