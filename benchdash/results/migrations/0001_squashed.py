import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("results", "0001_initial"),
        ("results", "0002_annotations"),
        ("results", "0003_own_metrics"),
        ("results", "0004_pull_requests"),
        ("results", "0005_run_probe"),
        ("results", "0006_versions_without_order"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Configuration",
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
                        related_name="configurations",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="configuration_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="ConfigurationContent",
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
                        related_name="configuration_contents",
                        to="accounts.project",
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("text", models.TextField()),
                ("settings", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "digest"), name="configuration_content_is_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Environment",
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
                        related_name="environments",
                        to="accounts.project",
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("facts", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "digest"), name="environment_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="Hardware",
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
                        related_name="hardware",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("facts", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "verbose_name_plural": "hardware",
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="hardware_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="Product",
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
                        related_name="products",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="product_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="ProjectMetric",
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
                        related_name="metrics",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("unit", models.CharField(blank=True, max_length=50)),
                (
                    "direction",
                    models.CharField(
                        choices=[
                            ("higher", "higher is better"),
                            ("lower", "lower is better"),
                            ("unknown", "nobody has said which is better"),
                        ],
                        default="unknown",
                        max_length=7,
                    ),
                ),
                ("watched", models.BooleanField(blank=True, null=True)),
                ("smallest_change", models.FloatField(blank=True, null=True)),
                ("smallest_change_absolute", models.FloatField(blank=True, null=True)),
                (
                    "aggregation",
                    models.CharField(
                        choices=[
                            ("mean", "the mean"),
                            ("median", "the median"),
                            ("max", "the largest"),
                            ("min", "the smallest"),
                            ("last", "the last"),
                            ("sum", "the sum"),
                        ],
                        default="mean",
                        max_length=6,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("level", "a level"),
                            ("rate", "a rate per second"),
                            ("total", "a total of the run"),
                        ],
                        default="level",
                        max_length=5,
                    ),
                ),
                ("is_own", models.BooleanField(default=True)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="metric_is_unique")],
            },
        ),
        migrations.CreateModel(
            name="Workload",
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
                        related_name="workloads",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                ("options", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="workload_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkloadGroup",
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
                        related_name="workload_groups",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("position", models.PositiveIntegerField()),
                (
                    "patterns",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), size=None
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="workload_group_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="Series",
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
                        related_name="series",
                        to="accounts.project",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series",
                        to="results.product",
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series",
                        to="results.hardware",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series",
                        to="results.configuration",
                    ),
                ),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series",
                        to="results.workload",
                    ),
                ),
                ("threads", models.PositiveIntegerField(blank=True, null=True)),
                ("metric", models.CharField(max_length=100)),
                ("unit", models.CharField(max_length=50)),
                ("printed_unit", models.CharField(blank=True, max_length=50)),
                (
                    "direction",
                    models.CharField(
                        choices=[
                            ("higher", "higher is better"),
                            ("lower", "lower is better"),
                            ("unknown", "nobody has said which is better"),
                        ],
                        max_length=7,
                    ),
                ),
                ("is_derived", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "verbose_name_plural": "series",
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "project",
                            "workload",
                            "metric",
                            "product",
                            "hardware",
                            "threads",
                            "configuration",
                            "branch",
                            "line",
                            "build",
                            "counterpart",
                        ),
                        name="series_is_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Annotation",
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
                        related_name="annotations",
                        to="accounts.project",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                (
                    "hardware",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.hardware",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.product",
                    ),
                ),
                ("text", models.CharField(max_length=500)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="PullRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pull_requests",
                        to="results.product",
                    ),
                ),
                ("number", models.BigIntegerField()),
                ("base_branch", models.CharField(max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("product", "number"), name="pull_request_is_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="ServerVersion",
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
                        related_name="versions",
                        to="accounts.project",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="results.product",
                    ),
                ),
                ("version", models.CharField(max_length=100)),
                ("sort_key", models.CharField(db_collation="C", max_length=300)),
                ("build", models.CharField(blank=True, max_length=100)),
                ("commit", models.CharField(blank=True, max_length=40, null=True)),
                ("committed_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("order", models.CharField(blank=True, max_length=100)),
            ],
            options={
                "indexes": [
                    models.Index(
                        django.db.models.functions.text.Left("commit", 7),
                        models.F("product"),
                        name="version_by_commit",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "product", "version", "build", "commit"),
                        name="server_version_is_unique",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("commit", None), ("commit__regex", "^[0-9a-f]{7,40}$"), _connector="OR"
                        ),
                        name="commit_is_7_to_40_hex_digits",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SurroundingsCount",
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
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                ("runs", models.BigIntegerField()),
                ("first_run_at", models.DateTimeField()),
                ("last_run_at", models.DateTimeField()),
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
                ("branch", models.CharField(blank=True, max_length=200)),
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
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                ("runs", models.BigIntegerField()),
                ("first_run_at", models.DateTimeField()),
                ("last_run_at", models.DateTimeField()),
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
                ("threads", models.PositiveIntegerField(null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Alias",
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
                        related_name="aliases",
                        to="accounts.project",
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                (
                    "product",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.product",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.serverversion",
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.hardware",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.configuration",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.workload",
                    ),
                ),
                ("since", models.DateTimeField(default=django.utils.timezone.now, null=True)),
            ],
            options={
                "verbose_name_plural": "aliases",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("configuration", None),
                                ("hardware", None),
                                ("product__isnull", False),
                                ("version", None),
                                ("workload", None),
                            ),
                            models.Q(
                                ("configuration", None),
                                ("hardware", None),
                                ("product", None),
                                ("version__isnull", False),
                                ("workload", None),
                            ),
                            models.Q(
                                ("configuration", None),
                                ("hardware__isnull", False),
                                ("product", None),
                                ("version", None),
                                ("workload", None),
                            ),
                            models.Q(
                                ("configuration__isnull", False),
                                ("hardware", None),
                                ("product", None),
                                ("version", None),
                                ("workload", None),
                            ),
                            models.Q(
                                ("configuration", None),
                                ("hardware", None),
                                ("product", None),
                                ("version", None),
                                ("workload__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="alias_has_one_target",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("product__isnull", False)),
                        fields=("project", "name"),
                        name="alias_of_product",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("hardware__isnull", False)),
                        fields=("project", "name"),
                        name="alias_of_hardware",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("configuration__isnull", False)),
                        fields=("project", "name"),
                        name="alias_of_configuration",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("workload__isnull", False)),
                        fields=("project", "name"),
                        name="alias_of_workload",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("version__isnull", False)),
                        fields=("project", "name", "version"),
                        name="alias_of_version",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
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
                        related_name="runs",
                        to="accounts.project",
                    ),
                ),
                ("upload_id", models.BigIntegerField()),
                ("key", models.CharField(blank=True, max_length=500)),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.serverversion",
                    ),
                ),
                ("branch", models.CharField(blank=True, max_length=200)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.hardware",
                    ),
                ),
                (
                    "environment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.environment",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.configuration",
                    ),
                ),
                (
                    "content",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.configurationcontent",
                    ),
                ),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                (
                    "workload",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.workload",
                    ),
                ),
                ("threads", models.PositiveIntegerField(blank=True, null=True)),
                ("repetition", models.PositiveIntegerField(blank=True, null=True)),
                ("started_at", models.DateTimeField()),
                ("started_at_is_assumed", models.BooleanField(default=False)),
                ("duration_s", models.FloatField(blank=True, null=True)),
                ("probe", models.FloatField(blank=True, null=True)),
                ("options", models.JSONField(blank=True, default=dict)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100), blank=True, default=list, size=None
                    ),
                ),
                ("notes", models.TextField(blank=True)),
                (
                    "warnings",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, size=None
                    ),
                ),
                ("recorded_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("excluded_at", models.DateTimeField(blank=True, null=True)),
                ("excluded_reason", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "-started_at"], name="run_by_time"),
                    models.Index(fields=["workload", "-started_at", "-id"], name="run_by_workload"),
                    models.Index(fields=["version", "workload", "threads"], name="run_by_version"),
                    models.Index(fields=["version", "workload", "probe", "id"], name="run_by_probe"),
                    models.Index(
                        condition=models.Q(("excluded_at", None)),
                        fields=["project", "version", "branch", "hardware", "configuration", "counterpart"],
                        name="run_by_place",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("upload_id", "key"), name="run_is_unique_in_its_upload")
                ],
            },
        ),
        migrations.CreateModel(
            name="TouchedSeries",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="touched",
                        serialize=False,
                        to="results.series",
                    ),
                ),
                ("touched_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("due_since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("quiet", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name_plural": "touched series",
            },
        ),
        migrations.CreateModel(
            name="Baseline",
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
                        related_name="baselines",
                        to="accounts.project",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.product"
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(max_length=200)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.hardware"
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.configuration",
                    ),
                ),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                (
                    "version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.serverversion",
                    ),
                ),
                ("branch_group", models.BooleanField(default=False)),
                ("day", models.DateField(blank=True, null=True)),
                ("reason", models.TextField()),
                (
                    "set_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("set_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["project", "branch"], name="baseline_by_branch")],
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
                ("branch", models.CharField(blank=True, max_length=200)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
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
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(fields=["project", "version"], name="subjectcount_by_version")],
            },
        ),
        migrations.CreateModel(
            name="VersionPlace",
            fields=[
                (
                    "version",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="results.serverversion",
                    ),
                ),
                ("branch", models.CharField(blank=True, max_length=200)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.hardware"
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.configuration",
                    ),
                ),
                ("counterpart", models.CharField(blank=True, max_length=200)),
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
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.product"
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("sort_key", models.CharField(db_collation="C", max_length=300)),
                ("committed_at", models.DateTimeField()),
                ("commit", models.CharField(blank=True, max_length=40)),
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
                ("branch", models.CharField(blank=True, max_length=200)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
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
            name="Merge",
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
                        related_name="merges",
                        to="accounts.project",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="results.merge",
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                ("source", models.JSONField()),
                (
                    "alias",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="merge",
                        to="results.alias",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merges",
                        to="results.product",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merges",
                        to="results.serverversion",
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merges",
                        to="results.hardware",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merges",
                        to="results.configuration",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merges",
                        to="results.workload",
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="IntervalSamples",
            fields=[
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="interval_samples",
                        to="results.run",
                    ),
                ),
                ("source", models.CharField(max_length=50)),
                (
                    "columns",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100), size=None
                    ),
                ),
                (
                    "rows",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=django.contrib.postgres.fields.ArrayField(
                            base_field=models.FloatField(null=True), size=None
                        ),
                        size=None,
                    ),
                ),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id", "source", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "interval samples",
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("columns__in", [["latency_ms", "count"], ["from_ms", "to_ms", "count"]])
                        ),
                        fields=["run", "source"],
                        name="histogram_of_run",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Measurement",
            fields=[
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="results.series",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="results.run",
                    ),
                ),
                ("value", models.FloatField()),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "series_id", "run_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MergedRun",
            fields=[
                (
                    "merge",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="results.merge",
                    ),
                ),
                ("run_id", models.BigIntegerField()),
                ("came_later", models.BooleanField(default=False)),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "merge_id", "run_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MergedVersion",
            fields=[
                (
                    "merge",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="results.merge",
                    ),
                ),
                ("version_id", models.BigIntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "merge_id",
                        "version_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
            ],
        ),
        # A read of a series needs no visit to the table: the key carries the values.
        migrations.RunSQL(
            """
            ALTER TABLE results_measurement DROP CONSTRAINT results_measurement_pkey;
            ALTER TABLE results_measurement ADD PRIMARY KEY (series_id, run_id) INCLUDE (value, low, high);
            """,
            migrations.RunSQL.noop,
        ),
    ]
