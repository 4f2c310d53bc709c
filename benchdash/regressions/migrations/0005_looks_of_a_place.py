from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("regressions", "0004_place_order")]

    operations = [
        migrations.AddField(model_name="placeorder", name="looks", field=models.TextField(default="[]")),
    ]
