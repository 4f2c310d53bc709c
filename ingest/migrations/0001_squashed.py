import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("ingest", "0001_initial"), ("ingest", "0002_copies")]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("results", "0001_squashed"),
    ]

    operations = [
        migrations.CreateModel(
            name="RawFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="raw_files",
                        to="accounts.project",
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("content", models.BinaryField(null=True)),
                ("storage_name", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "sha256"), name="raw_file_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("content__isnull", False), ("storage_name", "")),
                            models.Q(("content", None), models.Q(("storage_name", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="raw_file_is_in_one_place",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RawStorage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("identity", models.CharField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="there_is_one_storage")
                ],
            },
        ),
        migrations.CreateModel(
            name="Removal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("project_id", models.BigIntegerField(unique=True)),
                ("slug", models.CharField(max_length=50)),
                ("name", models.CharField(max_length=100)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-asked_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="accounts.project",
                    ),
                ),
                (
                    "raw",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uploads",
                        to="ingest.rawfile",
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("metadata", models.JSONField(default=dict)),
                ("metadata_digest", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("importing", "importing"),
                            ("imported", "imported"),
                            ("partial", "partial"),
                            ("refused", "refused"),
                            ("deleted", "deleted"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("format", models.CharField(blank=True, max_length=30)),
                ("errors", models.JSONField(default=list)),
                ("warnings", models.JSONField(default=list)),
                ("done", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=1)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("misses", models.PositiveIntegerField(db_default=0, default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("quiet", models.BooleanField(default=False)),
                ("is_archive", models.BooleanField(default=False)),
                ("came_alone", models.BooleanField(default=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.token",
                    ),
                ),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("queued_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("also_sent_by", models.ManyToManyField(related_name="+", to="accounts.token")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "-received_at"], name="upload_by_time"),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "importing"])),
                        fields=["received_at"],
                        name="upload_waiting",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "raw", "metadata_digest"), name="upload_is_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Copy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="copies", to="ingest.upload"
                    ),
                ),
                ("key", models.CharField(blank=True, max_length=500)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="copies", to="results.run"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "copies",
                "constraints": [models.UniqueConstraint(fields=("upload", "key"), name="copy_is_unique")],
            },
        ),
        migrations.CreateModel(
            name="Companion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="companions",
                        to="ingest.upload",
                    ),
                ),
                (
                    "raw",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="ingest.rawfile"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("configuration", "configuration"), ("companion", "companion")],
                        max_length=15,
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("format", models.CharField(blank=True, max_length=30)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("upload", "raw", "kind"), name="companion_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="ArchiveFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "archive",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="files", to="ingest.upload"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=500)),
                (
                    "upload",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="ingest.upload",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("imported", "imported"),
                            ("refused", "refused"),
                            ("ignored", "ignored"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("errors", models.JSONField(default=list)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("archive", "number"), name="archive_file_is_unique")
                ],
            },
        ),
        # The history knows no files, so the door for files says that its uploads hold the runs.
        migrations.RunSQL(
            """
            ALTER TABLE results_run ADD CONSTRAINT run_belongs_to_upload
                FOREIGN KEY (upload_id) REFERENCES ingest_upload (id) DEFERRABLE INITIALLY DEFERRED;
            """,
            "ALTER TABLE results_run DROP CONSTRAINT run_belongs_to_upload",
        ),
    ]
