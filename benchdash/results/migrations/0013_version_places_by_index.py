"""Note where versions were measured by indexes alone, with the plan that the first upload of a connection gets.

That of many runs read all versions, and then did so for one run too: 3 of the 3.5 ms that writing it took.
"""

from django.db import migrations

FORWARD = """
ALTER FUNCTION results_note_version_places() SET enable_hashjoin = off;
ALTER FUNCTION results_note_version_places() SET enable_mergejoin = off;
ALTER FUNCTION results_note_version_places() SET enable_seqscan = off;
"""
BACKWARD = "ALTER FUNCTION results_note_version_places() RESET ALL"


class Migration(migrations.Migration):
    dependencies = [("results", "0012_histogram_of_run")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
