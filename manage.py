#!/usr/bin/env python3
"""Django's command line; starts the embedded servers where no others are named."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
