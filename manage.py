#!/usr/bin/env python3
"""Django's command line; starts the embedded servers for a command where none run and no others are named."""

import os
import signal
import sys

from django.core.management import execute_from_command_line

from benchdash.embedded import ServerError, servers

_WITHOUT_SERVERS = {
    "check",
    "collectstatic",
    "diffsettings",
    "findstatic",
    "help",
    "makemigrations",
    "version",
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")
    if _needs_no_servers(sys.argv[1:]):
        execute_from_command_line(sys.argv)
        return
    from django.conf import settings  # noqa: PLC0415 - which settings those are is known only now

    # Ended from outside, it still stops what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with servers.running(settings.VAR_DIR, servers.needed(settings.VAR_DIR, os.environ)):
            execute_from_command_line(sys.argv)
    except ServerError as error:
        sys.exit(str(error))


def _needs_no_servers(arguments: list[str]) -> bool:
    return (
        not arguments
        or arguments[0] in _WITHOUT_SERVERS
        or not {"-h", "--help", "--version"}.isdisjoint(arguments)
    )


if __name__ == "__main__":
    main()
