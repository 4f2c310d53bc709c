import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0008_version_places"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["workload", "-started_at", "-id"], name="run_by_workload"),
        ),
        migrations.AlterField(
            model_name="run",
            name="workload",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="results.workload",
            ),
        ),
    ]
