"""Freed memory leaves the process."""

import subprocess
import sys

# Blocks as an answer makes them, small ones among large ones: the small ones stay, as memos do.
HOLD_AND_FREE = """
import sys, threading
import psutil
from benchdash.memory import give_back_freed_memory

if sys.argv[1] == "given back":
    give_back_freed_memory()
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


def kept_mb(way):
    ended = subprocess.run(
        [sys.executable, "-c", HOLD_AND_FREE, way], capture_output=True, text=True, check=True
    )
    return int(ended.stdout)


def test_large_blocks_that_are_freed_leave_the_process_even_among_small_ones_that_stay():
    assert kept_mb("given back") <= 2
    assert kept_mb("as the library does it") >= 20
