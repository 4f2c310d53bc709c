"""k6's summary as JSON: of --summary-export, or of handleSummary, which has one level more."""

from ingest.formats.json_spec import JsonSpec
from ingest.formats.run_values import errors_per_second


def _either(metric: str, value: str) -> str:
    return f"metrics/{metric}/values/{value} | metrics/{metric}/{value}"


FORMAT = JsonSpec(
    tool="k6",
    keys=("metrics", "iteration_duration|http_req_duration|iterations"),
    values={
        "threads": f"{_either('vus_max', 'max')} | {_either('vus_max', 'value')}",
        "duration_s:ms": "state/testRunDurationMs",
        "qps": _either("http_reqs", "rate"),
        "ops_per_s": _either("iterations", "rate"),
        "total_events": _either("http_reqs", "count"),
        "count.failed_share": f"{_either('http_req_failed', 'rate')} | {_either('http_req_failed', 'value')}",
        "latency_min:ms": _either("http_req_duration", "min"),
        "latency_avg:ms": _either("http_req_duration", "avg"),
        "latency_p50:ms": _either("http_req_duration", "med"),
        "latency_p90:ms": _either("http_req_duration", "p(90)"),
        "latency_p95:ms": _either("http_req_duration", "p(95)"),
        "latency_p99:ms": _either("http_req_duration", "p(99)"),
        "latency_max:ms": _either("http_req_duration", "max"),
    },
    required={},
    finish=errors_per_second,
    workload="k6",
)
