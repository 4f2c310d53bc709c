import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import benchdash.alerts.models


class Migration(migrations.Migration):
    replaces = [
        ("alerts", "0001_initial"),
        ("alerts", "0002_digests_and_webhooks"),
        ("alerts", "0003_code_hosts"),
        ("alerts", "0004_encrypted_secrets"),
        ("alerts", "0005_kind_drift"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("regressions", "0001_squashed"),
        ("results", "0001_squashed"),
    ]

    operations = [
        migrations.CreateModel(
            name="CodeHost",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("encrypted_secret", models.TextField(blank=True, editable=False)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.TextField(blank=True)),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="code_host",
                        to="accounts.project",
                    ),
                ),
                (
                    "kind",
                    models.CharField(choices=[("github", "GitHub"), ("gitlab", "GitLab")], max_length=10),
                ),
                ("api_url", models.CharField(max_length=500)),
                ("repository", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("encrypted_secret", models.TextField(blank=True, editable=False)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="accounts.project",
                    ),
                ),
                ("address", models.CharField(max_length=2000)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to=settings.AUTH_USER_MODEL,
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
                ("branch", models.CharField(blank=True, max_length=200)),
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
                ("workload_group", models.CharField(blank=True, max_length=100)),
                ("metric", models.CharField(blank=True, max_length=100)),
                ("smallest_change", models.FloatField(blank=True, null=True)),
                (
                    "kinds",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("regression", "regression"),
                                ("improvement", "improvement"),
                                ("environment", "environment"),
                                ("silence", "silence"),
                                ("drift", "drift"),
                            ],
                            max_length=12,
                        ),
                        default=benchdash.alerts.models._default_kinds,
                        size=None,
                    ),
                ),
                (
                    "rhythm",
                    models.CharField(
                        choices=[
                            ("immediately", "immediately"),
                            ("daily", "once a day"),
                            ("weekly", "once a week"),
                        ],
                        default="immediately",
                        max_length=12,
                    ),
                ),
                ("hour", models.PositiveSmallIntegerField(default=8)),
                ("weekday", models.PositiveSmallIntegerField(default=0)),
                ("time_zone", models.CharField(blank=True, max_length=64)),
                ("all_quiet", models.BooleanField(default=False)),
                (
                    "payload",
                    models.CharField(
                        choices=[
                            ("json", "JSON"),
                            ("slack", "Slack"),
                            ("mattermost", "Mattermost"),
                            ("matrix", "Matrix"),
                        ],
                        default="json",
                        max_length=12,
                    ),
                ),
                ("refused_at", models.DateTimeField(blank=True, null=True)),
                ("refusal", models.CharField(blank=True, max_length=500)),
                ("refused_since", models.DateTimeField(blank=True, editable=False, null=True)),
                ("refusals", models.PositiveIntegerField(default=0, editable=False)),
                (
                    "key",
                    models.CharField(
                        default=benchdash.alerts.models._unsubscribe_key,
                        editable=False,
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "project",
                            "address",
                            "product",
                            "branch",
                            "hardware",
                            "workload_group",
                            "metric",
                            "smallest_change",
                            "kinds",
                            "rhythm",
                        ),
                        name="subscription_is_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Digest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.TextField(blank=True)),
                ("address", models.CharField(max_length=2000)),
                (
                    "subscription",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="alerts.subscription",
                    ),
                ),
                ("owed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.project"
                    ),
                ),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("is_quiet", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("subscription", "until"), name="one_digest_at_a_time")
                ],
            },
        ),
        migrations.CreateModel(
            name="Confirmation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.TextField(blank=True)),
                ("address", models.CharField(max_length=2000)),
                (
                    "subscription",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="alerts.subscription",
                    ),
                ),
                ("owed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["address", "owed_at"], name="confirmation_by_address")],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.TextField(blank=True)),
                ("address", models.CharField(max_length=2000)),
                (
                    "subscription",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="alerts.subscription",
                    ),
                ),
                ("owed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="accounts.project",
                    ),
                ),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="regressions.incident",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="regressions.incidentevent",
                    ),
                ),
                ("subject", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("sent_at", None)), fields=["owed_at"], name="alert_unsent"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("incident", "address", "event"),
                        name="one_alert_per_address",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PullRequestAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.TextField(blank=True)),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="alerts.codehost",
                    ),
                ),
                ("number", models.BigIntegerField()),
                ("commit", models.CharField(blank=True, max_length=40)),
                ("told", models.CharField(blank=True, max_length=64)),
                ("told_at", models.DateTimeField(blank=True, null=True)),
                ("comment", models.BigIntegerField(blank=True, null=True)),
                ("seen_run", models.BigIntegerField(blank=True, null=True)),
                ("is_pending", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("host", "number"), name="one_answer_per_pull_request")
                ],
            },
        ),
    ]
