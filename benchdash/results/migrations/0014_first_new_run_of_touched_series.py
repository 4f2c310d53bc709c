from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0013_version_places_by_index")]

    operations = [
        migrations.AddField(
            model_name="touchedseries", name="least_run_id", field=models.BigIntegerField(default=0)
        ),
    ]
