"""hyperfine --export-json: the mean and the scatter of the times of each command."""

from ingest.formats.json_spec import JsonSpec

FORMAT = JsonSpec(
    tool="hyperfine",
    keys=("results", "command", "times"),
    runs="results[]",
    values={
        "workload": "command",
        "threads": "parameters/threads",
        "total_time:s": "mean",
        "median_s": "median",
        "min_s": "min",
        "max_s": "max",
        "user_s": "user",
        "system_s": "system",
    },
    own=dict.fromkeys(("median_s", "min_s", "max_s", "user_s", "system_s"), "s, lower"),
    success=("exit_codes[]", "0"),
    required={"total_time": "a result has no mean"},
)
