"""Where did the level of a series change, and how do two versions compare? Pure numbers, no framework."""

from benchdash.regressions.detection.compare import (
    Comparison,
    Sample,
    adjust,
    adjusted,
    compare_samples,
    median_intervals,
)
from benchdash.regressions.detection.growing_tables import follow_joint_shifts
from benchdash.regressions.detection.joint import JointShift, find_joint_shifts
from benchdash.regressions.detection.level_scatter import LevelHistories, level_scatter
from benchdash.regressions.detection.null import FalseAlarms, false_alarms
from benchdash.regressions.detection.releases import find_release_shifts
from benchdash.regressions.detection.scatter import ToolInterval
from benchdash.regressions.detection.shifts import Shift, find_shifts, find_shifts_in, follow_shifts

__all__ = [
    "Comparison",
    "FalseAlarms",
    "JointShift",
    "LevelHistories",
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
    "median_intervals",
]
