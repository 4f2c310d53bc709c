"""The list of runs, read by hand-written SQL."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.results import metrics


class RunRow(NamedTuple):
    """A run with its main reading, whose metric is None where nothing was read."""

    pk: int
    started_at: datetime
    product: str
    version: str
    build: str
    commit: str | None
    branch: str
    workload: str
    threads: int | None
    hardware: str
    configuration: str
    is_excluded: bool
    has_warnings: bool
    metric: str | None
    unit: str | None
    value: float | None


# A look at each series by its key: joined at once, all series there are would be read and hashed.
_ROWS: Final = """
    SELECT run.id, run.started_at, product.name, version.version, version.build, version.commit, run.branch,
        workload.name, run.threads, hardware.name, configuration.name,
        run.excluded_at IS NOT NULL, run.warnings <> '{}', main.metric, main.unit, main.value
    FROM results_run run
    JOIN results_serverversion version ON version.id = run.version_id
    JOIN results_product product ON product.id = version.product_id
    JOIN results_workload workload ON workload.id = run.workload_id
    JOIN results_hardware hardware ON hardware.id = run.hardware_id
    JOIN results_configuration configuration ON configuration.id = run.configuration_id
    LEFT JOIN LATERAL (
        SELECT series.metric, series.unit, measured.value
        FROM results_measurement measured
        CROSS JOIN LATERAL (
            SELECT metric, unit, is_derived FROM results_series WHERE id = measured.series_id OFFSET 0
        ) series
        WHERE measured.run_id = run.id AND NOT series.is_derived
        ORDER BY array_position(%(first)s::text[], series.metric::text), series.metric COLLATE "C"
        LIMIT 1
    ) main ON true
    WHERE run.id = ANY(%(runs)s)
    ORDER BY run.started_at DESC, run.id DESC
"""


def run_rows(runs: Collection[int]) -> list[RunRow]:
    """The latest first, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, {"runs": list(runs), "first": list(metrics.FIRST)})
        return [RunRow._make(row) for row in cursor.fetchall()]


_MAX_VERSIONS: Final = 500

_CHOICES: Final = """
    SELECT
        ARRAY(SELECT name FROM results_product WHERE project_id = %(project)s ORDER BY name),
        ARRAY(
            SELECT version FROM (
                SELECT DISTINCT sort_key, version FROM results_serverversion
                WHERE project_id = %(project)s AND (%(product)s::text IS NULL OR product_id = (
                    SELECT id FROM results_product WHERE project_id = %(project)s AND name = %(product)s
                ))
            ) measured
            ORDER BY sort_key DESC, version LIMIT %(most)s
        ),
        ARRAY(SELECT name FROM results_workload WHERE project_id = %(project)s ORDER BY name),
        ARRAY(SELECT name FROM results_hardware WHERE project_id = %(project)s ORDER BY name),
        ARRAY(SELECT name FROM results_configuration WHERE project_id = %(project)s ORDER BY name)
"""


def run_choices(project: Project, *, product: str | None) -> dict[str, list[str]]:
    """The names by which runs are found, by the name of their filter, in one statement.

    Versions are the newest first, of one ``product`` if it is given.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CHOICES, {"project": project.pk, "product": product, "most": _MAX_VERSIONS})
        products, versions, *others = cursor.fetchone()
    # Versions of two products may be written alike and sorted apart.
    chosen = [products, list(dict.fromkeys(versions)), *others]
    return dict(zip(("product", "version", "workload", "hardware", "configuration"), chosen, strict=True))
