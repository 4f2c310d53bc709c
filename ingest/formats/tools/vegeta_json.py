"""vegeta report -type=json."""

from ingest.formats.json_spec import JsonSpec
from ingest.formats.run_values import errors_per_second

FORMAT = JsonSpec(
    tool="vegeta",
    keys=("latencies", "bytes_in", "throughput"),
    values={
        "qps": "throughput",
        "total_events": "requests",
        "duration_s:ns": "duration",
        "option.rate": "rate",
        "latency_min:ns": "latencies/min",
        "latency_avg:ns": "latencies/mean",
        "latency_p50:ns": "latencies/50th",
        "latency_p90:ns": "latencies/90th",
        "latency_p95:ns": "latencies/95th",
        "latency_p99:ns": "latencies/99th",
        "latency_max:ns": "latencies/max",
        "count.success_share": "success",
    },
    required={"qps": "no throughput"},
    finish=errors_per_second,
    workload="HTTP",
)
