"""Count the runs of large projects in less time, and let runs go whose counts are gone already.

The first and the last run of a kind were looked for by time, among all runs of the project: minutes for a
merge that moves 70,000 runs of a thousand versions. And a project that is deleted loses its counts first, so
that they need not be made anew with each batch of its runs.
"""

from importlib import import_module

from django.db import migrations

run_counts = import_module("benchdash.results.migrations.0010_run_counts")
subject_counts = import_module("benchdash.results.migrations.0011_subject_counts")

TABLES = (run_counts.SURROUNDINGS, run_counts.WORKLOADS, subject_counts.SUBJECTS, subject_counts.PARAMETERS)
_OF_RUNS = run_counts.OF_RUNS
BEFORE = _OF_RUNS[_OF_RUNS.index("CREATE FUNCTION {table}_take") : _OF_RUNS.index("CREATE TRIGGER")].replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
)
AFTER = BEFORE.replace("WHEN kept.runs = 0", "WHEN coalesce(kept.runs, 0) = 0").replace(
    # Asked for a number too, PostgreSQL reads the runs of the kind, and not those of the project by time.
    "SELECT kept.runs, min(started_at)",
    "SELECT kept.runs, count(*) AS found, min(started_at)",
)


class Migration(migrations.Migration):
    dependencies = [("results", "0014_first_new_run_of_touched_series")]

    operations = [migrations.RunSQL(AFTER.format(**table), BEFORE.format(**table)) for table in TABLES]
