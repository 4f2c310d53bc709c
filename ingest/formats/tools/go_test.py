"""go test -bench: a line for each benchmark, with as many figures as it reports."""

from collections.abc import Sequence

from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec


def _name_with_package(run: RunValues) -> Sequence[str]:
    """Name the package, too: two packages may have benchmarks of one name."""
    if package := run.options.get("pkg"):
        run.texts["workload"] = f"{package}.{run.texts['workload']}"
    return ()


FORMAT = ToolSpec(
    tool="go test",
    recognised_by=r"^Benchmark\S+[ \t]+[0-9]+[ \t]+[0-9.e+]+ \S+",
    lines=(
        PrintedLine("pkg: {option.pkg}", heads_runs=True),
        PrintedLine("goos: {option.goos}", heads_runs=True),
        PrintedLine("goarch: {option.goarch}", heads_runs=True),
        PrintedLine("Benchmark{workload}-{threads} {count.iterations} {pairs}", begins_run=True),
        PrintedLine("Benchmark{workload} {count.iterations} {pairs}", begins_run=True),
    ),
    names={"ns/op": "score"},
    required={},
    finish=_name_with_package,
)
