from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

# The same ways of counting for further tables.
run_counts = import_module("benchdash.results.migrations.0010_run_counts")
OF_RUNS, BACKWARD_OF_RUNS = run_counts.OF_RUNS, run_counts.BACKWARD_OF_RUNS

SUBJECTS = {
    "table": "results_subjectcount",
    "which": "excluded_at IS NULL",
    "kind": """
        project_id, version_id, branch, counterpart, hardware_id, environment_id, configuration_id, content_id
    """,
    "kind_of_run": """
        project_id, version_id, branch, counterpart, hardware_id, environment_id, configuration_id, content_id
    """,
    "this_kind": """
        less.project_id, less.version_id, less.branch, less.counterpart, less.hardware_id,
        less.environment_id, less.configuration_id, less.content_id
    """,
    "same_kind": """
        one.project_id = less.project_id AND one.version_id = less.version_id AND one.branch = less.branch
        AND one.counterpart = less.counterpart AND one.hardware_id = less.hardware_id
        AND one.environment_id IS NOT DISTINCT FROM less.environment_id
        AND one.configuration_id = less.configuration_id
        AND one.content_id IS NOT DISTINCT FROM less.content_id
    """,
}
PARAMETERS = {
    "table": "results_parametercount",
    "which": """
        excluded_at IS NULL AND (SELECT strpos(name, '=') > 0 FROM results_workload WHERE id = workload_id)
    """,
    "kind": "project_id, version_id, branch, counterpart, workload_id",
    "kind_of_run": "project_id, version_id, branch, counterpart, workload_id",
    "this_kind": "less.project_id, less.version_id, less.branch, less.counterpart, less.workload_id",
    "same_kind": """
        one.project_id = less.project_id AND one.version_id = less.version_id AND one.branch = less.branch
        AND one.counterpart = less.counterpart AND one.workload_id = less.workload_id
    """,
}

# A workload that gets another name has parameters from then on, or has none any more.
OF_NAMES = """
CREATE FUNCTION {table}_rename() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('results of project', NEW.project_id));
    DELETE FROM {table} WHERE project_id = NEW.project_id AND workload_id = NEW.id;
    INSERT INTO {table} ({kind}, runs, first_run_at, last_run_at)
    SELECT {kind}, count(*), min(started_at), max(started_at)
    FROM (
        SELECT {kind_of_run}, started_at FROM results_run WHERE workload_id = NEW.id AND {which}
    ) one GROUP BY {kind};
    RETURN NULL;
END $$;
CREATE TRIGGER {table}_of_names AFTER UPDATE OF name ON results_workload
    FOR EACH ROW WHEN (OLD.name LIKE '%=%' OR NEW.name LIKE '%=%') EXECUTE FUNCTION {table}_rename();
"""
BACKWARD_OF_NAMES = """
DROP TRIGGER {table}_of_names ON results_workload;
DROP FUNCTION {table}_rename;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("results", "0010_run_counts"),
    ]

    operations = [
        migrations.CreateModel(
            name="ParameterCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("runs", models.BigIntegerField()),
                ("first_run_at", models.DateTimeField()),
                ("last_run_at", models.DateTimeField()),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.serverversion",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.workload",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(fields=["project", "version"], name="parametercount_by_version")],
            },
        ),
        migrations.CreateModel(
            name="SubjectCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("runs", models.BigIntegerField()),
                ("first_run_at", models.DateTimeField()),
                ("last_run_at", models.DateTimeField()),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                (
                    "configuration",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.configuration",
                    ),
                ),
                (
                    "content",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.configurationcontent",
                    ),
                ),
                (
                    "environment",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.environment",
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.hardware",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.serverversion",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(fields=["project", "version"], name="subjectcount_by_version")],
            },
        ),
        migrations.RunSQL(OF_RUNS.format(**SUBJECTS), BACKWARD_OF_RUNS.format(**SUBJECTS)),
        migrations.RunSQL(OF_RUNS.format(**PARAMETERS), BACKWARD_OF_RUNS.format(**PARAMETERS)),
        migrations.RunSQL(OF_NAMES.format(**PARAMETERS), BACKWARD_OF_NAMES.format(**PARAMETERS)),
    ]
