"""HammerDB's job report as JSON, of version 6 on."""

from ingest.formats.json_spec import JsonRows, JsonSpec

FORMAT = JsonSpec(
    tool="HammerDB",
    keys=("hdb_version", "benchmark_config", "result"),
    values={
        "product": "job/database_display | job/database",
        "version": "job/release",
        "workload": "job/benchmark",
        "threads": "result/active_virtual_users | benchmark_config/virtual_users",
        "option.warehouses": "benchmark_config/warehouses",
        "option.rampup_minutes": "benchmark_config/rampup_minutes",
        "option.hammerdb_version": "job/hdb_version",
        "duration_s:min": "benchmark_config/duration_minutes",
        "nopm": "result/nopm",
        "tpm": "result/tpm",
    },
    rows=(
        JsonRows(
            "response_times/rows[]",
            "name",
            {
                "latency_min:ms": "min_ms",
                "latency_avg:ms": "avg_ms",
                "latency_p50:ms": "p50_ms",
                "latency_p95:ms": "p95_ms",
                "latency_p99:ms": "p99_ms",
                "latency_max:ms": "max_ms",
            },
        ),
    ),
    required={"nopm": "no result with nopm"},
)
