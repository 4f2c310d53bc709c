"""Debian's Chromium, driven by Playwright: for browser tests and for pictures of the pages."""

import os
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path("/usr/bin/chromium")
WINDOW = {"width": 1280, "height": 800}
_ARGUMENTS = [
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def running_chromium():
    from playwright.sync_api import sync_playwright

    arguments = [*_ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=PROGRAM, args=arguments)
        yield chromium
        chromium.close()
