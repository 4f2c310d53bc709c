import django.db.models.deletion
from django.db import migrations, models

# New runs add rows and wait for nobody; after about 500 of them one upload folds all that no other folds just
# now. Who changes or deletes runs is alone with the results of the project, as hold_results of
# benchdash.results.services has it, and nobody folds meanwhile.
OF_RUNS = """
CREATE FUNCTION {table}_fold(of_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_xact_lock_shared(hashtextextended('results of project', of_project)) THEN
        WITH folded AS (
            DELETE FROM {table} WHERE id IN (
                SELECT id FROM {table} WHERE id IN (
                    SELECT unnest(array_agg(id)) FROM {table} WHERE project_id = of_project
                    GROUP BY {kind} HAVING count(*) > 1
                ) FOR UPDATE SKIP LOCKED
            ) RETURNING *
        )
        INSERT INTO {table} ({kind}, runs, first_run_at, last_run_at)
        SELECT {kind}, sum(runs), min(first_run_at), max(last_run_at) FROM folded GROUP BY {kind};
    END IF;
END $$;

CREATE FUNCTION {table}_add() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    added integer;
BEGIN
    INSERT INTO {table} ({kind}, runs, first_run_at, last_run_at)
    SELECT {kind}, count(*), min(started_at), max(started_at)
    FROM (SELECT {kind_of_run}, started_at FROM more WHERE {which}) one GROUP BY {kind};
    GET DIAGNOSTICS added = ROW_COUNT;
    IF random() * 500 < added THEN
        PERFORM {table}_fold(project_id) FROM (SELECT DISTINCT project_id FROM more) project;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION {table}_take() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    less record;
    kept record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('results of project', project_id))
    FROM (SELECT DISTINCT project_id FROM gone ORDER BY 1) project;
    FOR less IN
        SELECT {kind}, count(*) AS runs, min(started_at) AS first_run_at, max(started_at) AS last_run_at
        FROM (SELECT {kind_of_run}, started_at FROM gone WHERE {which}) one GROUP BY {kind}
    LOOP
        WITH found AS (DELETE FROM {table} one WHERE {same_kind} RETURNING *)
        SELECT sum(runs) - less.runs AS runs, min(first_run_at) AS first_run_at,
            max(last_run_at) AS last_run_at
        INTO kept FROM found;
        CONTINUE WHEN kept.runs = 0;
        IF less.first_run_at = kept.first_run_at OR less.last_run_at = kept.last_run_at THEN
            SELECT kept.runs, min(started_at) AS first_run_at, max(started_at) AS last_run_at INTO kept
            FROM (SELECT {kind_of_run}, started_at FROM results_run WHERE {which}) one WHERE {same_kind};
        END IF;
        INSERT INTO {table} ({kind}, runs, first_run_at, last_run_at)
        VALUES ({this_kind}, kept.runs, kept.first_run_at, kept.last_run_at);
    END LOOP;
    RETURN NULL;
END $$;

CREATE TRIGGER {table}_of_new_runs AFTER INSERT ON results_run
    REFERENCING NEW TABLE AS more FOR EACH STATEMENT EXECUTE FUNCTION {table}_add();
CREATE TRIGGER {table}_of_runs_as_they_are AFTER UPDATE ON results_run
    REFERENCING NEW TABLE AS more FOR EACH STATEMENT EXECUTE FUNCTION {table}_add();
CREATE TRIGGER {table}_of_runs_as_they_were AFTER UPDATE ON results_run
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION {table}_take();
CREATE TRIGGER {table}_of_deleted_runs AFTER DELETE ON results_run
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION {table}_take();

INSERT INTO {table} ({kind}, runs, first_run_at, last_run_at)
SELECT {kind}, count(*), min(started_at), max(started_at)
FROM (SELECT {kind_of_run}, started_at FROM results_run WHERE {which}) one GROUP BY {kind};
"""
BACKWARD_OF_RUNS = """
DROP TRIGGER {table}_of_new_runs ON results_run;
DROP TRIGGER {table}_of_runs_as_they_are ON results_run;
DROP TRIGGER {table}_of_runs_as_they_were ON results_run;
DROP TRIGGER {table}_of_deleted_runs ON results_run;
DROP FUNCTION {table}_add;
DROP FUNCTION {table}_take;
DROP FUNCTION {table}_fold;
"""
SURROUNDINGS = {
    "table": "results_surroundingscount",
    "which": "true",
    "kind": "project_id, product_id, branch, hardware_id, environment_id, configuration_id, content_id",
    "kind_of_run": """
        project_id, (SELECT product_id FROM results_serverversion WHERE id = version_id) AS product_id,
        branch, hardware_id, environment_id, configuration_id, content_id
    """,
    "this_kind": """
        less.project_id, less.product_id, less.branch, less.hardware_id, less.environment_id,
        less.configuration_id, less.content_id
    """,
    "same_kind": """
        one.project_id = less.project_id AND one.product_id = less.product_id AND one.branch = less.branch
        AND one.hardware_id = less.hardware_id AND one.environment_id IS NOT DISTINCT FROM less.environment_id
        AND one.configuration_id = less.configuration_id
        AND one.content_id IS NOT DISTINCT FROM less.content_id
    """,
}
WORKLOADS = {
    "table": "results_workloadcount",
    "which": "true",
    "kind": "project_id, workload_id, threads",
    "kind_of_run": "project_id, workload_id, threads",
    "this_kind": "less.project_id, less.workload_id, less.threads",
    "same_kind": """
        one.project_id = less.project_id AND one.workload_id = less.workload_id
        AND one.threads IS NOT DISTINCT FROM less.threads
    """,
}

# A version that goes over to another product takes its runs along, and none of these changes.
OF_PRODUCTS = """
CREATE FUNCTION {table}_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    products bigint[] := ARRAY(
        SELECT unnest(ARRAY[was.product_id, became.product_id])
        FROM was JOIN became USING (id) WHERE was.product_id <> became.product_id
    );
BEGIN
    IF products <> '{{}}' THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('results of project', project_id))
        FROM (SELECT DISTINCT project_id FROM became ORDER BY 1) project;
        DELETE FROM {table} WHERE product_id = ANY(products);
        INSERT INTO {table} ({kind}, runs, first_run_at, last_run_at)
        SELECT {kind}, count(*), min(started_at), max(started_at)
        FROM (
            SELECT {kind_of_run}, started_at FROM results_run
            WHERE version_id IN (SELECT id FROM results_serverversion WHERE product_id = ANY(products))
        ) one GROUP BY {kind};
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER {table}_of_products AFTER UPDATE ON results_serverversion
    REFERENCING OLD TABLE AS was NEW TABLE AS became
    FOR EACH STATEMENT EXECUTE FUNCTION {table}_move();
"""
BACKWARD_OF_PRODUCTS = """
DROP TRIGGER {table}_of_products ON results_serverversion;
DROP FUNCTION {table}_move;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("results", "0009_run_by_workload"),
    ]

    operations = [
        migrations.CreateModel(
            name="SurroundingsCount",
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
                    "product",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.product",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="WorkloadCount",
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
                ("threads", models.PositiveIntegerField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
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
            },
        ),
        migrations.RunSQL(OF_RUNS.format(**SURROUNDINGS), BACKWARD_OF_RUNS.format(**SURROUNDINGS)),
        migrations.RunSQL(OF_RUNS.format(**WORKLOADS), BACKWARD_OF_RUNS.format(**WORKLOADS)),
        migrations.RunSQL(OF_PRODUCTS.format(**SURROUNDINGS), BACKWARD_OF_PRODUCTS.format(**SURROUNDINGS)),
    ]
