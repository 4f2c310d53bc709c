from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0003_upload_attempts"),
    ]

    operations = [
        migrations.AddField(
            model_name="companion",
            name="format",
            field=models.CharField(blank=True, max_length=30),
        ),
    ]
