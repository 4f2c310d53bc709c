from django.db import migrations, models
from django.db.models.functions import Left


class Migration(migrations.Migration):
    dependencies = [("results", "0006_derived_series")]

    operations = [
        migrations.AddIndex(
            model_name="serverversion",
            index=models.Index(Left("commit", 7), "product", name="version_by_commit"),
        ),
    ]
