import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("regressions", "0001_initial"),
        ("regressions", "0002_headlines_beginnings_and_counts"),
        ("regressions", "0003_events_silences_and_rules"),
        ("regressions", "0004_when_changes_began"),
        ("regressions", "0005_remaining_of_a_recovery"),
        ("regressions", "0006_bimodal_series"),
        ("regressions", "0007_drifts"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("results", "0001_squashed"),
    ]

    operations = [
        migrations.CreateModel(
            name="Sensitivity",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sensitivity",
                        serialize=False,
                        to="results.series",
                    ),
                ),
                ("groups", models.PositiveIntegerField()),
                ("runs", models.PositiveIntegerField()),
                ("sessions", models.PositiveIntegerField()),
                ("newest_at", models.DateTimeField()),
                ("groups_a_year", models.FloatField(null=True)),
                ("noise", models.FloatField(null=True)),
                ("smallest_change", models.FloatField(null=True)),
                ("with_more_runs", models.FloatField(null=True)),
                ("with_more_sessions", models.FloatField(null=True)),
                ("low_mode", models.FloatField(null=True)),
                ("high_mode", models.FloatField(null=True)),
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
            options={
                "ordering": ["-at", "-id"],
                "indexes": [models.Index(fields=["project", "-at"], name="null_run_by_time")],
            },
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
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.project"
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.product"
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
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
                ("groups", models.TextField()),
            ],
            options={
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
                        name="one_order_of_a_place",
                    )
                ],
            },
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
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.project"
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.product"
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
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
                ("since", models.DateTimeField(default=django.utils.timezone.now)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("seen_until", models.DateTimeField()),
                ("next_try_at", models.DateTimeField()),
                ("set_aside_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.CharField(max_length=500)),
                ("traceback", models.TextField()),
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
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="change_points",
                        to="results.series",
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
                ("origin", models.CharField(blank=True, max_length=100)),
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
                    "first_bad",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.run",
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
                ("change", models.FloatField(null=True)),
                ("confidence", models.FloatField(null=True)),
                ("per_point", models.FloatField(null=True)),
                ("noise", models.FloatField(null=True)),
                ("family_size", models.PositiveIntegerField(null=True)),
                ("expected_low", models.FloatField(null=True)),
                ("expected_high", models.FloatField(null=True)),
                ("groups_before", models.PositiveIntegerField()),
                ("groups_after", models.PositiveIntegerField()),
                ("detected_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["series"], name="change_point_by_series")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            models.Q(("state", "withdrawn"), _negated=True), ("per_point", None)
                        ),
                        fields=("series", "run", "origin"),
                        name="one_change_point_at_a_place",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Incident",
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
                        related_name="incidents",
                        to="accounts.project",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidents",
                        to="results.product",
                    ),
                ),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
                (
                    "hardware",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.hardware",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("regression", "regression"),
                            ("improvement", "improvement"),
                            ("environment", "environment"),
                            ("silence", "silence"),
                            ("drift", "drift"),
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
                            ("wontfix", "declined"),
                            ("fixed", "fixed"),
                            ("invalid", "invalid"),
                        ],
                        default="new",
                        max_length=15,
                    ),
                ),
                ("historical", models.BooleanField(default=False)),
                ("quiet", models.BooleanField(default=False)),
                ("left_out", models.BooleanField(default=False)),
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
                ("origin", models.CharField(blank=True, max_length=100)),
                ("started_at", models.DateTimeField()),
                ("until_at", models.DateTimeField(blank=True, null=True)),
                ("worst", models.FloatField(null=True)),
                ("median", models.FloatField(null=True)),
                ("metric", models.CharField(blank=True, max_length=100)),
                (
                    "largest",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="regressions.changepoint",
                    ),
                ),
                ("cause", models.TextField(blank=True)),
                ("points", models.PositiveIntegerField(null=True)),
                ("per_point", models.FloatField(null=True)),
                ("last_at", models.DateTimeField(null=True)),
                ("looked_at", models.PositiveIntegerField(default=0)),
                ("detected_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
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
                ("reason", models.TextField(blank=True)),
                ("bug", models.CharField(blank=True, max_length=500)),
                ("snoozed_until", models.DateTimeField(blank=True, null=True)),
                ("snoozed_until_version", models.CharField(blank=True, max_length=200)),
                (
                    "folded_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="folded",
                        to="regressions.incident",
                    ),
                ),
                (
                    "recovered_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="recovers",
                        to="regressions.incident",
                    ),
                ),
                ("remaining", models.FloatField(null=True)),
            ],
            options={
                "ordering": ["-detected_at", "-id"],
                "indexes": [models.Index(fields=["project", "-detected_at"], name="incident_by_time")],
            },
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
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="regressions.incident",
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("author_name", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="IncidentEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="regressions.incident",
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("detected", "detected"),
                            ("confirmed", "confirmed"),
                            ("spread", "spread to more series"),
                            ("narrowed", "range narrowed"),
                            ("split", "split"),
                            ("merged", "merged"),
                            ("withdrawn", "withdrawn"),
                            ("recovered", "recovered"),
                            ("returned", "returned"),
                            ("folded", "explained by its machine"),
                            ("unfolded", "no longer explained by its machine"),
                            ("state", "state changed"),
                            ("assigned", "assigned"),
                            ("snoozed", "snoozed"),
                            ("woken", "no longer snoozed"),
                            ("linked", "linked to a bug"),
                        ],
                        max_length=12,
                    ),
                ),
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
                ("by_name", models.CharField(blank=True, max_length=254)),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("new", "new"),
                            ("acknowledged", "acknowledged"),
                            ("investigating", "investigating"),
                            ("expected", "expected"),
                            ("wontfix", "declined"),
                            ("fixed", "fixed"),
                            ("invalid", "invalid"),
                        ],
                        max_length=15,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("detail", models.JSONField(blank=True, default=dict)),
                ("quiet", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="Silence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "incident",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="silence",
                        to="regressions.incident",
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
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.product",
                    ),
                ),
                ("build", models.CharField(blank=True, max_length=100)),
                ("branch", models.CharField(blank=True, max_length=200)),
                ("line", models.CharField(blank=True, max_length=50)),
                (
                    "configuration",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.configuration",
                    ),
                ),
                ("counterpart", models.CharField(blank=True, max_length=200)),
                (
                    "workload",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.workload",
                    ),
                ),
                ("last_run_at", models.DateTimeField()),
                ("cadence_s", models.FloatField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name="changepoint",
            name="incident",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="change_points",
                to="regressions.incident",
            ),
        ),
    ]
