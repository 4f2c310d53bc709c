"""What a worker remembers of the tables it looked at, from look to look, within a limit."""

from collections.abc import Hashable

from benchdash.regressions.detection.joint import Memory

_MOST_BYTES = 24 * 2**20


class Memories:
    """By table; those that were not asked for longest go first when there are too many bytes."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._memories: dict[Hashable, Memory] = {}

    def of(self, table: Hashable) -> Memory:
        """To be filled by a look, an empty one where nothing is remembered."""
        memory = self._memories.pop(table, None) or Memory()
        others = self._memories
        while others and memory.nbytes + sum(one.nbytes for one in others.values()) > self._most_bytes:
            others.pop(next(iter(others)), None)
        others[table] = memory
        return memory
