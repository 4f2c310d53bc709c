"""Where did the level of a series change, and how do two versions compare? Pure numbers, no framework."""

from benchdash.regressions.detection.compare import (
    Comparison,
    ToolInterval,
    adjust,
    adjusted,
    compare_samples,
    median_interval,
)
from benchdash.regressions.detection.joint import JointShift, find_joint_shifts, follow_joint_shifts
from benchdash.regressions.detection.shifts import Shift, find_shifts, level_scatter

__all__ = [
    "Comparison",
    "JointShift",
    "Shift",
    "ToolInterval",
    "adjust",
    "adjusted",
    "compare_samples",
    "find_joint_shifts",
    "find_shifts",
    "follow_joint_shifts",
    "level_scatter",
    "median_interval",
]
