"""Disks that a test can fill."""

import gc
import os
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def mounted(folder, *, megabytes=8):
    """The folder as a disk of its own. Only root may mount one; for others the test is skipped."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a disk")
    yield folder
    gc.collect()  # what is left of a request that failed closes its files
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk, *, leaving):
    (disk / "other").write_bytes(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize - leaving))
