"""pytest-benchmark's JSON: the times of a call of each benchmark."""

from ingest.formats.json_spec import JsonSpec

FORMAT = JsonSpec(
    tool="pytest-benchmark",
    keys=("machine_info", "commit_info"),
    runs="benchmarks[]",
    values={
        "workload": "fullname | name",
        "score:s": "stats/mean",
        "score_median:s": "stats/median",
        "score_min:s": "stats/min",
        "ops_per_s": "stats/ops",
        "option.rounds": "stats/rounds",
    },
    own=dict.fromkeys(("score", "score_median", "score_min"), "ns/op, lower"),
    required={"score": "a benchmark has no mean"},
)
