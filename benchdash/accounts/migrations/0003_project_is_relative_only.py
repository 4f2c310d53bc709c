from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_following"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="is_relative_only",
            field=models.BooleanField(default=False),
        ),
    ]
