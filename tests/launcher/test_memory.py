"""Freed memory leaves the processes that the launcher starts."""

import os
import subprocess
import sys
from pathlib import Path

from benchdash.launcher.processes import MEMORY_SETTINGS, Program, spawn

# Blocks as an answer makes them, small ones among large ones: the small ones stay, as memos do.
HOLD_AND_FREE = """
import threading
import psutil

del_first = bytearray(24 << 20)
del del_first
kept = []

def answer():
    large = []
    for _ in range(40):
        large.append(bytearray(1 << 20))
        kept.append(bytearray(1 << 10))

before = psutil.Process().memory_info().rss
for _ in range(4):
    thread = threading.Thread(target=answer)
    thread.start()
    thread.join()
print((psutil.Process().memory_info().rss - before) >> 20)
"""


def kept_mb(start):
    ended = start([sys.executable, "-c", HOLD_AND_FREE], stdout=subprocess.PIPE)
    return int(ended.communicate()[0])


def test_large_blocks_that_are_freed_leave_the_process_even_among_small_ones_that_stay():
    assert kept_mb(lambda command, **streams: spawn(Program("holder", command), os.environ, **streams)) <= 2
    assert kept_mb(subprocess.Popen) >= 20


def test_the_image_sets_the_same():
    image = (Path(__file__).parents[2] / "Dockerfile").read_text()
    assert [name for name, value in MEMORY_SETTINGS.items() if f" {name}={value} " not in image] == []
