from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("results", "0016_merges_can_be_taken_apart")]

    operations = [migrations.RemoveField(model_name="touchedseries", name="least_run_id")]
