from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("rest", "0001_stored_answers"), ("rest", "0002_rights_of_stored_answers")]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="StoredAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("asker", models.CharField(max_length=200)),
                ("key", models.CharField(max_length=255)),
                ("request", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("location", models.CharField(blank=True, default="", max_length=2000)),
                ("body", models.BinaryField()),
                ("rights", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("asker", "key"), name="one_answer_to_a_key")],
            },
        ),
    ]
