import django.db.models.deletion
from django.db import migrations, models

# A row of a version that another transaction changes would keep the old order: both wait for each other's end.
# Most uploads find all places known, and wait for nobody.
FORWARD = """
CREATE FUNCTION results_note_version_places() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM results_serverversion version
    WHERE version.id IN (
        SELECT run.version_id FROM changed run WHERE NOT EXISTS (
            SELECT FROM results_versionplace known
            WHERE known.version_id = run.version_id AND known.branch = run.branch
                AND known.hardware_id = run.hardware_id
                AND known.configuration_id = run.configuration_id
                AND known.counterpart = run.counterpart
        )
    )
    ORDER BY version.id FOR SHARE;
    IF FOUND THEN
        INSERT INTO results_versionplace (
            version_id, branch, hardware_id, configuration_id, counterpart,
            project_id, product_id, build, sort_key, committed_at, commit
        )
        SELECT run.version_id, run.branch, run.hardware_id, run.configuration_id, run.counterpart,
            version.project_id, version.product_id, version.build, version.sort_key,
            coalesce(version.committed_at, 'epoch'), coalesce(version.commit, '')
        FROM (
            SELECT DISTINCT version_id, branch, hardware_id, configuration_id, counterpart FROM changed
        ) run
        JOIN results_serverversion version ON version.id = run.version_id
        ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_version_places_of_new_runs AFTER INSERT ON results_run
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION results_note_version_places();
CREATE TRIGGER note_version_places_of_changed_runs AFTER UPDATE ON results_run
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION results_note_version_places();

CREATE FUNCTION results_order_version_places() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE results_versionplace
    SET product_id = NEW.product_id, build = NEW.build, sort_key = NEW.sort_key,
        committed_at = coalesce(NEW.committed_at, 'epoch'), commit = coalesce(NEW.commit, '')
    WHERE version_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER order_version_places
    AFTER UPDATE OF product_id, build, sort_key, committed_at, commit ON results_serverversion
    FOR EACH ROW EXECUTE FUNCTION results_order_version_places();

INSERT INTO results_versionplace (
    version_id, branch, hardware_id, configuration_id, counterpart,
    project_id, product_id, build, sort_key, committed_at, commit
)
SELECT run.version_id, run.branch, run.hardware_id, run.configuration_id, run.counterpart,
    version.project_id, version.product_id, version.build, version.sort_key,
    coalesce(version.committed_at, 'epoch'), coalesce(version.commit, '')
FROM (
    SELECT DISTINCT version_id, branch, hardware_id, configuration_id, counterpart FROM results_run
) run
JOIN results_serverversion version ON version.id = run.version_id;
"""
BACKWARD = """
DROP TRIGGER order_version_places ON results_serverversion;
DROP FUNCTION results_order_version_places;
DROP TRIGGER note_version_places_of_new_runs ON results_run;
DROP TRIGGER note_version_places_of_changed_runs ON results_run;
DROP FUNCTION results_note_version_places;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("results", "0007_version_by_commit"),
    ]

    operations = [
        migrations.CreateModel(
            name="VersionPlace",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "version_id",
                        "branch",
                        "hardware_id",
                        "configuration_id",
                        "counterpart",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                ("build", models.CharField(blank=True, max_length=100)),
                ("sort_key", models.CharField(db_collation="C", max_length=300)),
                ("committed_at", models.DateTimeField()),
                ("commit", models.CharField(blank=True, max_length=40)),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.configuration",
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.hardware"
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.product"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="results.serverversion",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=[
                            "project",
                            "product",
                            "build",
                            "branch",
                            "hardware",
                            "configuration",
                            "counterpart",
                            "sort_key",
                            "committed_at",
                            "commit",
                            "version",
                        ],
                        name="version_place_in_order",
                    )
                ],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
