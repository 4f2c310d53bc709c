from collections import defaultdict

from django.db import migrations, models

from benchdash.results.probes import probe_of

_RUNS_AT_ONCE = 2_000


def fill_probes(apps, schema_editor):  # noqa: ARG001 - Django calls it so
    """Give stored runs their probe, some at a time: there may be millions."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM results_run")
        newest = cursor.fetchone()[0] or 0
        for first in range(1, newest + 1, _RUNS_AT_ONCE):
            cursor.execute(_FIGURES, [first, first + _RUNS_AT_ONCE - 1])
            figures = defaultdict(list)
            for run_id, *figure in cursor.fetchall():
                figures[run_id].append(figure)
            probes = {
                run_id: probe.value for run_id, of_run in figures.items() if (probe := probe_of(of_run))
            }
            cursor.execute(_FILL, [list(probes), list(probes.values())])


_FIGURES = """
    SELECT run_id, metric, value, unit FROM results_measurement
    JOIN results_series series ON series.id = series_id
    WHERE run_id BETWEEN %s AND %s AND NOT is_derived
"""
_FILL = """
    UPDATE results_run SET probe = filled.probe
    FROM unnest(%s::bigint[], %s::float8[]) AS filled (id, probe) WHERE results_run.id = filled.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0004_pull_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="probe",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.RunPython(fill_probes, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["version", "workload", "probe", "id"], name="run_by_probe"),
        ),
    ]
