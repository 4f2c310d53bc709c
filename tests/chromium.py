"""Debian's Chromium, driven by Playwright: for browser tests and for pictures of the pages."""

import os
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path("/usr/bin/chromium")
WINDOW = {"width": 1280, "height": 800}
# The browser's own toolbar is drawn by pages of its own, one for each window: a third of what a test costs.
_OF_THE_TOOLBAR = (
    "InitialWebUI",
    "PreloadTopChromeWebUI",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
    "WebUIReloadButton",
)
# The last list counts alone, so that what Playwright switches off is named again.
_OF_PLAYWRIGHT = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
_ARGUMENTS = [
    f"--disable-features={','.join((*_OF_THE_TOOLBAR, *_OF_PLAYWRIGHT))}",
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
