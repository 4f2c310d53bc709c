import numpy as np

from benchdash.regressions.detection import find_joint_shifts
from benchdash.regressions.memories import Memories


def look(memories, name, *, seed=1):
    """A look at a table of two series and 40 positions."""
    rng = np.random.default_rng(seed)
    table = {("w", metric): 100 * np.exp(0.02 * rng.normal(size=40)) for metric in ("tps", "qps")}
    memory = memories.of(name)
    find_joint_shifts(table, dict.fromkeys(table, "higher"), memory=memory)
    return memory


def test_a_table_is_remembered_from_look_to_look():
    memories = Memories()
    assert memories.of("a") is look(memories, "a")
    assert memories.of("a").nbytes > 0
    assert memories.of("b").nbytes == 0


def test_of_too_many_tables_those_that_were_looked_at_last_are_remembered():
    one = look(Memories(), "a").nbytes
    memories = Memories(most_bytes=int(2.5 * one))
    for name in ("a", "b", "a", "c"):
        look(memories, name)
    assert [memories.of(name).nbytes > 0 for name in ("a", "c", "b")] == [True, True, False]
