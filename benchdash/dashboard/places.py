"""Where the versions of a project were measured, and which of these places it looks at most."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from benchdash.accounts.models import Project
from benchdash.regressions.comparison import Column
from benchdash.results.models import DEFAULT_CONFIGURATION, Run

# The newest runs say what a project looks at now, whatever its archives hold.
_NEWEST_RUNS: Final = 2000


class Place(NamedTuple):
    """Where versions of a product were measured: what their columns share beside the version."""

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


def recent_columns(project: Project, columns: Sequence[Column]) -> list[Column]:
    """The columns of the newest runs, newest first, one for each run; one statement."""
    by_key = {column.key: column for column in columns}
    runs = Run.objects.filter(project=project, excluded_at=None).order_by("-started_at", "-pk")
    keys = runs.values_list("version", "branch", "hardware", "configuration", "counterpart")[:_NEWEST_RUNS]
    return [by_key[key] for key in keys if key in by_key]


def busiest(columns: Sequence[Column]) -> Place:
    """The place that most of the columns of runs share; the first of those where several do."""
    return Counter(map(Place.of, columns)).most_common(1)[0][0]
