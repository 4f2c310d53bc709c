"""Reporters that were missed: silences that go on, and what was due in the night and did not come."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from benchdash.regressions.analysis.silences import ReportingPart
from benchdash.regressions.models import Incident, Silence
from benchdash.regressions.morning.nights import NightRuns
from benchdash.results.cadence import Reporter
from benchdash.results.models import Hardware, Product, Workload
from benchdash.results.place import Place


@dataclass(frozen=True)
class Missing:
    """A machine, a job on it, or some of its workloads, that did not report.

    ``product`` is empty where the whole machine is missing; ``stream`` is a branch or release line.
    ``workloads`` are named where others of the job came. ``incident`` is the silence; None where the run of
    one night is missing yet.
    """

    hardware: str
    product: str
    stream: str
    workloads: Sequence[str]
    last_at: datetime
    interval_s: float
    incident: Incident | None = None

    @property
    def subject(self) -> str:
        """``bench-03``, ``MariaDB main on bench-03``."""
        job = f"{self.product} {self.stream}".strip()
        return f"{job} on {self.hardware}" if job else self.hardware


def missing_of(runs: NightRuns, silences: Collection[Incident]) -> list[Missing]:
    """Return what is missing, the machines first; in two statements at most.

    ``silences`` are open incidents of kind silence, each with its silence.
    """
    told = [one.silence for one in silences]
    late: dict[Place, list[Reporter]] = defaultdict(list)
    for reporter in runs.late:
        if not any(_explains(one, reporter) for one in told):
            late[reporter.place].append(reporter)
    found = [silent(one) for one in silences]
    if late:
        regular = Counter(one.place for one in runs.reporters if one.cadence)
        hardware = _names(Hardware, {place.hardware_id for place in late})
        products = _names(Product, {place.product_id for place in late})
        workloads = _names(Workload, {one.workload_id for of_place in late.values() for one in of_place})
        for place, of_place in late.items():
            is_whole = len(of_place) == regular[place]
            found.append(
                Missing(
                    hardware=hardware[place.hardware_id],
                    product=" ".join(filter(None, [products[place.product_id], place.build])),
                    stream=place.branch or place.line,
                    workloads=[] if is_whole else sorted(workloads[one.workload_id] for one in of_place),
                    last_at=max(one.last_at for one in of_place),
                    interval_s=median(one.cadence.interval_s for one in of_place if one.cadence),
                )
            )
    return sorted(found, key=lambda one: (bool(one.product), one.last_at))


def silent(incident: Incident) -> Missing:
    """Return what an incident of kind silence misses."""
    silence = incident.silence
    return Missing(
        hardware=silence.hardware.name,
        product=" ".join(filter(None, [silence.product.name if silence.product else "", silence.build])),
        stream=silence.branch or silence.line,
        workloads=[silence.workload.name] if silence.workload else [],
        last_at=silence.last_run_at,
        interval_s=silence.cadence_s,
        incident=incident,
    )


def _explains(silence: Silence, late: Reporter) -> bool:
    return ReportingPart.of(silence).includes(ReportingPart.of(late))


def _names(kind: type[Hardware] | type[Product] | type[Workload], ids: Collection[int]) -> dict[int, str]:
    return dict(kind.objects.filter(pk__in=ids).values_list("pk", "name"))
