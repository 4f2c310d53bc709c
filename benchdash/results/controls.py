"""Control runs: runs of a build that never changes, which tell the speed of the machine and nothing else.

A control is kept apart from what it is measured beside by its build flavour, so that its series, places and
columns are its own even where it has the same version.
"""

from typing import Final

CONTROL: Final = "control"
"""The word that the build flavour of a control has."""


def control_build(build: str) -> str:
    """Return the build flavour that a control of this build is recorded under."""
    return build if is_control(build) else f"{build} {CONTROL}".strip()


def is_control(build: str) -> bool:
    """Tell whether a build flavour is that of a control."""
    return CONTROL in build.split()
