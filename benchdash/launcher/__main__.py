"""``python -m benchdash.launcher``, which is ``make run``."""

import os
import signal
import sys

from benchdash.embedded import ServerError
from benchdash.launcher import LaunchError
from benchdash.launcher.launch import launch
from benchdash.launcher.processes import die_with_parent


def main() -> int:
    if "MAKELEVEL" in os.environ:
        die_with_parent(signal.SIGTERM)
    try:
        launch()
    except (LaunchError, ServerError) as error:
        sys.stderr.write(f"benchdash cannot start: {error}\n")
        return 1
    return 0


sys.exit(main())
