from django.db import migrations, models

from benchdash.results.versions import sort_key

_AT_ONCE = 1000

_VERSIONS = """
    SELECT version.id, version.version, version.sort_key, version.commit, version.committed_at,
        version.released_at, product.name, (
            SELECT min(started_at) FROM results_run WHERE version_id = version.id AND excluded_at IS NULL
        )
    FROM results_serverversion version JOIN results_product product ON product.id = version.product_id
    WHERE version.id > %s ORDER BY version.id LIMIT %s
"""
_SORT_AGAIN = """
    UPDATE {table} SET sort_key = given.key FROM unnest(%s::bigint[], %s::varchar[]) given (id, key)
    WHERE {table}.{column} = given.id
"""
# As old news: nobody is told what the next look finds, or finds gone.
_TOUCH = """
    INSERT INTO results_touchedseries (series_id, touched_at, due_since, quiet)
    SELECT DISTINCT series_id, now(), now(), true
    FROM results_run run JOIN results_measurement ON run_id = run.id
    WHERE version_id = ANY(%s) AND branch = ''
    ON CONFLICT (series_id) DO UPDATE SET touched_at = excluded.touched_at, quiet = true
"""
# What a merge keeps of the version that went.
_MERGES = """
    UPDATE results_merge SET source = source - 'released_on' || jsonb_build_object(
        'order', '', 'released_at', source ->> 'released_on' || 'T00:00:00+00:00'
    )
    WHERE source ? 'released_on'
"""


def sort_again(_apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_MERGES)
        last = 0
        while True:
            cursor.execute(_VERSIONS, [last, _AT_ONCE])
            rows = cursor.fetchall()
            if not rows:
                return
            last = rows[-1][0]
            changed = {}
            for pk, version, known, commit, committed_at, released_at, product, measured_at in rows:
                key = sort_key(
                    version,
                    product=product,
                    commit=commit,
                    known_at=released_at or committed_at,
                    measured_at=measured_at,
                )
                if key != known:
                    changed[pk] = key
            for table, column in (("results_serverversion", "id"), ("results_versionplace", "version_id")):
                cursor.execute(
                    _SORT_AGAIN.format(table=table, column=column), [list(changed), list(changed.values())]
                )
            cursor.execute(_TOUCH, [list(changed)])


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0005_run_probe"),
    ]

    operations = [
        migrations.RenameField("serverversion", "released_on", "released_at"),
        migrations.AlterField(
            model_name="serverversion",
            name="released_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="serverversion",
            name="order",
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.RunPython(sort_again, migrations.RunPython.noop),
    ]
