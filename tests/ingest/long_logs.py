"""Logs of sysbench as long as somebody wants them."""

import random
from pathlib import Path

_SHORT = Path(__file__).parent / "fixtures/sysbench/oltp_read_only-histogram.txt"


def long_log(size, *, seed=1):
    """A log of at least so many bytes, which prints intervals as often as that takes."""
    head, rest = _SHORT.read_text().split("[ 1s ]", 1)
    tail = rest[rest.index("Latency histogram") :]
    chance = random.Random(seed)
    lines, written, number = [head], len(head) + len(tail), 0
    while written < size:
        number += 1
        tps = chance.gauss(1500, 60)
        lines.append(
            f"[ {number / 10:.1f}s ] thds: 8 tps: {tps:.2f} qps: {tps * 16:.2f} (r/w/o: {tps * 14:.2f}/0.00/"
            f"{tps * 2:.2f}) lat (ms,95%): {chance.gauss(8, 0.6):.2f} err/s: 0.00 reconn/s: 0.00\n"
        )
        written += len(lines[-1])
    return "".join([*lines, tail]).encode()
