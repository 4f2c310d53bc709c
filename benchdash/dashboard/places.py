"""Where the versions of a project were measured, and which of these places it looks at most."""

from collections import Counter
from typing import Final, NamedTuple

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.regressions.comparison import Column
from benchdash.results.models import DEFAULT_CONFIGURATION

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


def recent_use(project: Project) -> Counter[Place]:
    """How many of the newest runs each place has, that of the newest run first; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_USE, {"project": project.pk, "newest": _NEWEST_RUNS})
        return Counter({Place(*place): runs for *place, runs in cursor.fetchall()})


# Few versions are among the newest runs: named after they are counted, not run by run.
_USE: Final = """
    SELECT product.name, version.build, recent.branch, hardware.name, configuration.name,
        recent.counterpart, sum(recent.runs)::bigint
    FROM (
        SELECT version_id, branch, hardware_id, configuration_id, counterpart, count(*) AS runs,
            min(rank) AS rank
        FROM (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart,
                row_number() OVER (ORDER BY started_at DESC, id DESC) AS rank
            FROM results_run WHERE project_id = %(project)s AND excluded_at IS NULL
            ORDER BY started_at DESC, id DESC LIMIT %(newest)s
        ) newest
        GROUP BY 1, 2, 3, 4, 5
    ) recent
    JOIN results_serverversion version ON version.id = recent.version_id
    JOIN results_product product ON product.id = version.product_id
    JOIN results_hardware hardware ON hardware.id = recent.hardware_id
    JOIN results_configuration configuration ON configuration.id = recent.configuration_id
    GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY min(recent.rank)
"""
