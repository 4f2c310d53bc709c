"""Where did the level of a series change, and how do two versions compare? Pure numbers, no framework."""

from benchdash.regressions.detection.compare import (
    Comparison,
    Sample,
    ToolInterval,
    adjust,
    adjusted,
    compare_samples,
    median_interval,
)
from benchdash.regressions.detection.joint import JointShift, find_joint_shifts
from benchdash.regressions.detection.looks import follow_joint_shifts
from benchdash.regressions.detection.null import FalseAlarms, false_alarms
from benchdash.regressions.detection.releases import find_release_shifts
from benchdash.regressions.detection.shifts import (
    Shift,
    find_shifts,
    find_shifts_in,
    follow_shifts,
    level_scatter,
)

__all__ = [
    "Comparison",
    "FalseAlarms",
    "JointShift",
    "Sample",
    "Shift",
    "ToolInterval",
    "adjust",
    "adjusted",
    "compare_samples",
    "false_alarms",
    "find_joint_shifts",
    "find_release_shifts",
    "find_shifts",
    "find_shifts_in",
    "follow_joint_shifts",
    "follow_shifts",
    "level_scatter",
    "median_interval",
]
