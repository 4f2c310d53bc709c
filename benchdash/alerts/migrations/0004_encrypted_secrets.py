"""Tokens of code hosts and secrets of webhooks are encrypted, and code hosts wait as mails do."""

from django.db import migrations, models

from benchdash.encryption import NoKeyError, decrypted, encrypted

_MODELS = ("Subscription", "CodeHost")
_BATCH = 500


def _encrypt(apps, _schema_editor):
    for name in _MODELS:
        rows = apps.get_model("alerts", name).objects.all()
        for row in rows.exclude(secret="").only("secret").iterator(chunk_size=_BATCH):
            sealed = encrypted(row.secret.encode()).decode()
            # A row keeps the bytes of a column that is gone.
            rows.filter(pk=row.pk).update(encrypted_secret=sealed, secret="")


def _decrypt(apps, _schema_editor):
    for name in _MODELS:
        rows = apps.get_model("alerts", name).objects.all()
        for row in rows.exclude(encrypted_secret="").only("encrypted_secret").iterator(chunk_size=_BATCH):
            rows.filter(pk=row.pk).update(secret=_readable(row.encrypted_secret))


def _readable(stored):
    try:
        return decrypted(stored.encode()).decode()
    except NoKeyError:
        return ""


class Migration(migrations.Migration):
    dependencies = [
        ("alerts", "0003_code_hosts"),
    ]

    operations = [
        migrations.AddField(
            model_name="codehost",
            name="attempts",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="codehost",
            name="error",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="codehost",
            name="retry_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="pullrequestanswer",
            name="error",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="codehost",
            name="encrypted_secret",
            field=models.TextField(blank=True, editable=False),
        ),
        migrations.AddField(
            model_name="subscription",
            name="encrypted_secret",
            field=models.TextField(blank=True, editable=False),
        ),
        # To go back the old columns must allow that nothing is in them for a moment.
        migrations.AlterField(
            model_name="codehost",
            name="secret",
            field=models.CharField(max_length=500, default="", blank=True),
        ),
        migrations.RunPython(_encrypt, _decrypt),
        migrations.RemoveField(model_name="codehost", name="secret"),
        migrations.RemoveField(model_name="subscription", name="secret"),
    ]
