"""A benchmark that is quick: prints what sysbench prints for the next of the figures in a file.

``python -m tests.client.workload FILE``; the figures stand in lines, and the one that was printed goes.
"""

import sys
from pathlib import Path

from tests.sysbench_text import sysbench_report


def main() -> None:
    figures = Path(sys.argv[1])
    first, _, rest = figures.read_text().partition("\n")
    figures.write_text(rest)
    sys.stdout.write(sysbench_report(float(first), seconds=10))


if __name__ == "__main__":
    main()
