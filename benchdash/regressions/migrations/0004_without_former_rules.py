from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_squashed"),
        ("regressions", "0003_without_sensitivities"),
    ]

    operations = [
        migrations.RunSQL(
            "UPDATE accounts_project SET options = options - 'former_rule' WHERE options ? 'former_rule'",
            migrations.RunSQL.noop,
        ),
    ]
