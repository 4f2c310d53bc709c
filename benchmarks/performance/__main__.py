"""How fast the whole product answers, from ten thousand to ten million measurements: ``make bench``.

Each size gets a database of its own, filled by COPY, and the real web server, workers, PostgreSQL and Redis.
Every request is drawn at random. CPU times are of all processes of the stack, the database's included;
"cold" is right after a restart of PostgreSQL. Beside them stands the limit of the same run: a bare DRF view,
a bare read, a bare insert, a bare COPY. Ratios to those count; milliseconds are those of a shared machine.
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from benchmarks.performance.stack import databases

_REPORT = Path("tests/ingest/fixtures/sysbench/oltp_read_write-nightly.txt")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", choices=[0, 1, 2], default=[0, 1, 2])
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--only", default="", help="a part of the names of what is asked")
    parser.add_argument("--reads-only", action="store_true", help="leave out the uploads")
    parser.add_argument("--keep", type=Path, help="a folder where filled databases stay for the next run")
    options = parser.parse_args()
    if len(options.sizes) == 1:
        _measure_size(options)
    else:
        _measure_sizes(options)


def _measure_sizes(options: argparse.Namespace) -> None:
    """Each in a process of its own: Django is set up on one database."""
    import subprocess  # noqa: PLC0415 - only here

    from benchmarks.performance.report import Figures, table  # noqa: PLC0415 - needs no Django

    results = []
    for size in options.sizes:
        command = [sys.executable, "-m", "benchmarks.performance", "--sizes", str(size)]
        command += ["--requests", str(options.requests), "--only", options.only]
        command += ["--keep", str(options.keep)] if options.keep else []
        command += ["--reads-only"] if options.reads_only else []
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ourselves
        results.append(Figures(**json.loads(finished.stdout.splitlines()[-1])))
    sys.stdout.write(table(results))


def _measure_size(options: argparse.Namespace) -> None:
    with ExitStack() as ending:
        folder = options.keep or Path(
            ending.enter_context(tempfile.TemporaryDirectory(prefix="benchdash-bench-"))
        )
        var = (folder / f"size-{options.sizes[0]}").resolve()
        ending.enter_context(databases(var))
        import django  # noqa: PLC0415 - the environment says now where everything is

        django.setup()
        from benchmarks.performance.measuring import measure_all  # noqa: PLC0415 - Django is set up by now
        from benchmarks.performance.report import table  # noqa: PLC0415

        figures = measure_all(
            options.sizes[0],
            var,
            report=_REPORT.read_text(),
            requests=options.requests,
            only=options.only,
            reads_only=options.reads_only,
        )
    sys.stderr.write(table([figures]))
    sys.stdout.write(json.dumps(asdict(figures)) + "\n")


if __name__ == "__main__":
    main()
