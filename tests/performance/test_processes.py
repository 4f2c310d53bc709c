"""How the suite counts what processes take, beside what they say themselves."""

import os
import subprocess
import sys
import time
from threading import Thread

from benchmarks.performance.processes import cpu_ms, cpu_ms_of_trees, pss_mb, tree

WORKS = "import time\nwhile time.process_time() < 0.05: pass\nprint(flush=True)\ninput()"


def working():
    """A process that has taken 50 ms and waits."""
    child = subprocess.Popen([sys.executable, "-c", WORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    return child


def ended(child):
    child.communicate(b"\n")
    return child.pid


def test_cpu_time_is_what_the_process_says_itself():
    before = time.process_time_ns() / 1e6
    counted = cpu_ms(os.getpid())
    assert before <= counted <= time.process_time_ns() / 1e6


def test_cpu_time_of_threads_that_ended_counts():
    def work():
        while time.thread_time() < 0.02:
            pass

    before, thread = cpu_ms(os.getpid()), Thread(target=work)
    thread.start()
    thread.join()
    assert cpu_ms(os.getpid()) - before >= 20


def test_another_process_is_counted_while_it_lives_and_when_it_ended():
    before = cpu_ms_of_trees(os.getpid())
    child = working()
    assert child.pid in tree(os.getpid())
    assert cpu_ms(child.pid) >= 50
    assert pss_mb(child.pid) > 1
    assert cpu_ms_of_trees(os.getpid()) - before >= 50
    pid = ended(child)
    assert pid not in tree(os.getpid())
    # What ended is told in ticks of 10 ms.
    assert cpu_ms_of_trees(os.getpid()) - before >= 40


def test_a_process_that_is_gone_takes_nothing():
    pid = ended(working())
    assert (cpu_ms(pid), pss_mb(pid)) == (0, 0)
