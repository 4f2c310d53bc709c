"""A disk that is full after a few bytes."""

import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(place, *, kilobytes):
    """Mount it at this folder; skips the test where that is not allowed, as in most containers."""
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k"]
    mounted = subprocess.run(["mount", *options, "small", str(place)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
