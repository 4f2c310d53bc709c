"""The places where versions were measured, and how much each was used lately."""

from collections import Counter
from typing import NamedTuple

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.columns import Column
from benchdash.results import catalogue
from benchdash.results.models import DEFAULT_CONFIGURATION


class Place(NamedTuple):
    """The place of a column: all that it has beside its version."""

    product: str
    build: str
    branch: str
    hardware: str
    configuration: str
    counterpart: str

    @classmethod
    def of(cls, column: Column) -> "Place":
        version = column.version
        return cls(
            version.product.name,
            version.build,
            column.branch,
            column.hardware,
            column.configuration,
            column.counterpart,
        )

    def __str__(self) -> str:
        """``MariaDB debug on bench-03, branch main, configuration tuned, with Connector/C``."""
        parts = [f"{' '.join(filter(None, [self.product, self.build]))} on {self.hardware}"]
        if self.branch:
            parts.append(f"branch {self.branch}")
        if self.configuration != DEFAULT_CONFIGURATION:
            parts.append(f"configuration {self.configuration}")
        if self.counterpart:
            parts.append(f"with {self.counterpart}")
        return ", ".join(parts)


def recent_use(project: Project) -> Counter[Place]:
    """How many of the newest runs each place has, that of the newest run first; one statement."""
    return Counter({Place(*one[:6]): one.runs for one in catalogue.recent_places(project)})
