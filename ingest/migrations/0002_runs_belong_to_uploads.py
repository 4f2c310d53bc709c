from django.db import migrations

# The history knows no files, so the door for files says that its uploads hold the runs.
FORWARD = """
ALTER TABLE results_run ADD CONSTRAINT run_belongs_to_upload
    FOREIGN KEY (upload_id) REFERENCES ingest_upload (id) DEFERRABLE INITIALLY DEFERRED;
"""
BACKWARD = "ALTER TABLE results_run DROP CONSTRAINT run_belongs_to_upload;"


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0001_initial"),
        ("results", "0002_measurement_key_covers_values"),
    ]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
