"""Answers are stored encrypted, with the rights that they needed. Of those before nobody noted the rights."""

from django.db import migrations, models


def _forget(apps, _schema_editor):
    """Empty the answers: their requests are known still, and not carried out again."""
    apps.get_model("rest", "StoredAnswer").objects.update(body=b"")


class Migration(migrations.Migration):
    dependencies = [
        ("rest", "0001_stored_answers"),
    ]

    operations = [
        migrations.AddField(
            model_name="storedanswer",
            name="rights",
            field=models.JSONField(default=list),
        ),
        migrations.RunPython(_forget, _forget),
    ]
