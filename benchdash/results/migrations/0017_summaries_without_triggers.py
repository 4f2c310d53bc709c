"""Drop the triggers that kept the summaries; ``benchdash.results.summaries`` keeps them now."""

from django.db import migrations

COUNTS = ("surroundingscount", "workloadcount", "subjectcount", "parametercount")
DROP = """
    DROP FUNCTION results_note_version_places CASCADE;
    DROP FUNCTION results_order_version_places CASCADE;
    DROP FUNCTION results_surroundingscount_move CASCADE;
    DROP FUNCTION results_parametercount_rename CASCADE;
"""
DROP_OF_COUNT = """
    DROP FUNCTION results_{0}_add CASCADE;
    DROP FUNCTION results_{0}_take CASCADE;
    DROP FUNCTION results_{0}_fold CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0016_merges_can_be_taken_apart")]

    operations = [migrations.RunSQL(DROP), *(migrations.RunSQL(DROP_OF_COUNT.format(one)) for one in COUNTS)]
