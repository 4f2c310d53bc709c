from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("regressions", "0006_failing_places")]

    operations = [migrations.RemoveField(model_name="placeorder", name="looks")]
