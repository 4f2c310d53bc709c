"""Which of the block devices that a tool lists hold the others."""

import re
from collections.abc import Iterable

_DISK = re.compile(
    r"(?:(?:sd|vd|hd|xvd|dasd)[a-z]{1,3}|nvme[0-9]{1,3}(?:c[0-9]{1,3})?n[0-9]{1,3}|mmcblk[0-9]{1,3}|pmem[0-9]{1,3})"
)
_MADE_OF_MEMORY_OR_FILES = re.compile(r"(?:loop|ram|zram|sr|fd)[0-9]{1,4}")


def whole_devices(names: Iterable[str]) -> list[str]:
    """Return the disks among these, in the order of their names.

    Partitions, RAID and LVM pass on what a disk does, and would count it again. Where no name is one of a
    disk, all but loop devices and the like.
    """
    distinct = sorted(set(names))
    disks = [name for name in distinct if _DISK.fullmatch(name)]
    return disks or [name for name in distinct if not _MADE_OF_MEMORY_OR_FILES.fullmatch(name)]
