from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("regressions", "0004_when_changes_began"),
    ]

    operations = [
        migrations.AddField(
            model_name="incident",
            name="remaining",
            field=models.FloatField(null=True),
        ),
    ]
