"""Google Benchmark's JSON: time and CPU time of an iteration; means and other aggregates are left out."""

from ingest.formats.json_spec import JsonSpec
from ingest.formats.run_values import RunValues

_NO_COUNTERS = frozenset(
    {
        *("family_index", "per_family_instance_index", "run_type"),
        *("repetitions", "repetition_index", "iterations"),
    }
)


def _take_counter(run: RunValues, name: str, value: str | float) -> None:
    if not isinstance(value, str | bool) and name not in _NO_COUNTERS:
        run.add_unknown(name, value)


FORMAT = JsonSpec(
    tool="Google Benchmark",
    keys=("benchmarks", "real_time", "time_unit"),
    runs="benchmarks[]",
    # Releases before 1.5 write no run_type.
    left_out=("run_type | name", "aggregate|.+_(?:mean|median|stddev|BigO|RMS)"),
    head={"option.library_build_type": "context/library_build_type"},
    values={
        "workload": "run_name | name",
        "threads": "threads",
        "score:{time_unit}": "real_time",
        "cpu_time:{time_unit}": "cpu_time",
        "ops_per_s": "items_per_second",
        "bytes_per_s": "bytes_per_second",
    },
    own={"score": "ns/op, lower", "cpu_time": "ns/op, lower", "bytes_per_s": "B/s, higher"},
    # Counters of a benchmark stand beside these.
    take_other=_take_counter,
    required={"score": "a benchmark has no real_time"},
)
