from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("regressions", "0005_remaining_of_a_recovery"),
    ]

    operations = [
        migrations.AddField(
            model_name="sensitivity",
            name="low_mode",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="sensitivity",
            name="high_mode",
            field=models.FloatField(null=True),
        ),
    ]
