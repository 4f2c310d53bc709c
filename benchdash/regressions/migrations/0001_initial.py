import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("results", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Incident",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("regression", "regression"),
                            ("improvement", "improvement"),
                            ("environment", "environment"),
                            ("silence", "silence"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("suspected", "suspected"),
                            ("confirmed", "confirmed"),
                            ("withdrawn", "withdrawn"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "new"),
                            ("acknowledged", "acknowledged"),
                            ("investigating", "investigating"),
                            ("expected", "expected"),
                            ("wontfix", "won't fix"),
                            ("fixed", "fixed"),
                            ("invalid", "invalid"),
                        ],
                        default="new",
                        max_length=15,
                    ),
                ),
                ("historical", models.BooleanField(default=False)),
                ("quiet", models.BooleanField(default=False)),
                ("started_at", models.DateTimeField()),
                ("worst", models.FloatField()),
                ("median", models.FloatField()),
                ("looked_at", models.PositiveIntegerField(default=0)),
                ("detected_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
                (
                    "assignee",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidents",
                        to="results.product",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidents",
                        to="accounts.project",
                    ),
                ),
                (
                    "since",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.serverversion",
                    ),
                ),
                (
                    "until",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.serverversion",
                    ),
                ),
            ],
            options={"ordering": ["-detected_at", "-id"]},
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("author_name", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "author",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="regressions.incident",
                    ),
                ),
            ],
            options={"ordering": ["at", "id"]},
        ),
        migrations.CreateModel(
            name="ChangePoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("suspected", "suspected"),
                            ("confirmed", "confirmed"),
                            ("withdrawn", "withdrawn"),
                        ],
                        max_length=10,
                    ),
                ),
                ("historical", models.BooleanField(default=False)),
                ("quiet", models.BooleanField(default=False)),
                ("before", models.FloatField()),
                ("after", models.FloatField()),
                ("change", models.FloatField()),
                ("confidence", models.FloatField()),
                ("noise", models.FloatField(null=True)),
                ("family_size", models.PositiveIntegerField(null=True)),
                ("expected_low", models.FloatField(null=True)),
                ("expected_high", models.FloatField(null=True)),
                ("groups_before", models.PositiveIntegerField()),
                ("groups_after", models.PositiveIntegerField()),
                ("detected_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "last_good",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.run",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="change_points",
                        to="results.run",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="change_points",
                        to="results.series",
                    ),
                ),
                (
                    "incident",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="change_points",
                        to="regressions.incident",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="NullRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("places", models.PositiveIntegerField()),
                ("points", models.PositiveIntegerField()),
                ("looks", models.PositiveIntegerField()),
                ("change_points", models.PositiveIntegerField()),
                ("incidents", models.PositiveIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="null_runs",
                        to="accounts.project",
                    ),
                ),
            ],
            options={"ordering": ["-at", "-id"]},
        ),
        migrations.CreateModel(
            name="PlaceOrder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                ("groups", models.TextField()),
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FailingPlace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                ("since", models.DateTimeField(default=django.utils.timezone.now)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("seen_until", models.DateTimeField()),
                ("next_try_at", models.DateTimeField()),
                ("set_aside_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.CharField(max_length=500)),
                ("traceback", models.TextField()),
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-since", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "product",
                            "branch",
                            "line",
                            "hardware",
                            "configuration",
                            "build",
                            "counterpart",
                            "project",
                        ),
                        name="one_failure_of_a_place",
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="incident",
            index=models.Index(fields=["project", "-detected_at"], name="incident_by_time"),
        ),
        migrations.AddIndex(
            model_name="changepoint", index=models.Index(fields=["series"], name="change_point_by_series")
        ),
        migrations.AddConstraint(
            model_name="changepoint",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "withdrawn"), _negated=True),
                fields=("series", "run"),
                name="one_change_point_at_a_place",
            ),
        ),
        migrations.AddIndex(
            model_name="nullrun", index=models.Index(fields=["project", "-at"], name="null_run_by_time")
        ),
        migrations.AddConstraint(
            model_name="placeorder",
            constraint=models.UniqueConstraint(
                fields=(
                    "product",
                    "branch",
                    "line",
                    "hardware",
                    "configuration",
                    "build",
                    "counterpart",
                    "project",
                ),
                name="one_order_of_a_place",
            ),
        ),
    ]
