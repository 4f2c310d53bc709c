"""The rule for stalls of a project: its own options, else the settings."""

from typing import Final

from django.conf import settings

from benchdash.accounts.models import Project
from benchdash.results.stability import Rule

# The keys of a project's options.
STALL_BELOW: Final = "stall_below"
STALL_MIN_S: Final = "stall_min_s"
STALL_WARMUP_S: Final = "stall_warmup_s"


def stall_rule(project: Project) -> Rule:
    options = project.options
    return Rule(
        below=options.get(STALL_BELOW, settings.STALL_BELOW),
        min_s=options.get(STALL_MIN_S, settings.STALL_MIN_S),
        fewest=settings.STALL_FEWEST_INTERVALS,
        warmup_s=options.get(STALL_WARMUP_S, settings.STALL_WARMUP_S),
    )
