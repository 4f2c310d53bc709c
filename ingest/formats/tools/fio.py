"""fio --output-format=json: reads and writes of each job."""

from collections.abc import Mapping, Sequence

from ingest.formats.json_spec import JsonSpec
from ingest.formats.report import FormatError
from ingest.formats.run_values import RunValues

_DIRECTIONS = (("read", "reads_per_s", "read_mib_per_s"), ("write", "writes_per_s", "written_mib_per_s"))


def _options(path: str) -> Mapping[str, str]:
    """Return the places of what fio was told of a job, or above it of all jobs."""
    options = {f"option.{name}": f"{path}/{name}" for name in ("ioengine", "rw", "bs", "iodepth")}
    return options | {"threads": f"{path}/numjobs", "option.group_reporting": f"{path}/group_reporting"}


def _direction(side: str, rate: str, bytes_rate: str) -> Mapping[str, str]:
    """Return the values of one direction of the traffic."""
    percentiles = {"p50": "50.000000", "p95": "95.000000", "p99": "99.000000", "p99_9": "99.900000"}
    return {
        rate: f"{side}/iops",
        f"{bytes_rate}:B": f"{side}/bw_bytes",
        f"{side}.latency_min:ns": f"{side}/lat_ns/min",
        f"{side}.latency_avg:ns": f"{side}/lat_ns/mean",
        f"{side}.latency_max:ns": f"{side}/lat_ns/max",
    } | {f"{side}.latency_{one}:ns": f"{side}/clat_ns/percentile/{key}" for one, key in percentiles.items()}


def _finish(run: RunValues) -> Sequence[str]:
    """Leave out what was not done: a job that only reads has writes of 0 a second."""
    if error := run.counts.get("error"):
        raise FormatError(f"the job ended with error {error:.0f}", run.line)
    # Older versions print nothing for a flag that is set.
    is_single = run.options.pop("group_reporting", 0) == 0
    if is_single and run.threads and run.threads > 1:
        raise FormatError(
            f"a single one of {run.threads} processes: with --group_reporting fio prints all together",
            run.line,
        )
    for side, rate, bytes_rate in _DIRECTIONS:
        if rate in run.readings and not run.readings[rate].value:
            run.leave_out(side)
            del run.readings[rate], run.readings[bytes_rate]
    return ()


FORMAT = JsonSpec(
    tool="fio",
    keys=("fio version", "jobs"),
    runs="jobs[]",
    head={"option.fio_version": "fio version", **_options("global options")},
    values={
        "workload": "jobname",
        "count.error": "error",
        **_options("job options"),
        **_direction(*_DIRECTIONS[0]),
        **_direction(*_DIRECTIONS[1]),
    },
    required={},
    finish=_finish,
)
