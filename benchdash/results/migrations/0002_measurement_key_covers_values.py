from django.db import migrations

# A read of a series needs no visit to the table: the key carries the values.
FORWARD = """
ALTER TABLE results_measurement DROP CONSTRAINT results_measurement_pkey;
ALTER TABLE results_measurement
    ADD CONSTRAINT results_measurement_pkey PRIMARY KEY (series_id, run_id) INCLUDE (value, low, high);
"""
BACKWARD = """
ALTER TABLE results_measurement DROP CONSTRAINT results_measurement_pkey;
ALTER TABLE results_measurement ADD CONSTRAINT results_measurement_pkey PRIMARY KEY (series_id, run_id);
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
