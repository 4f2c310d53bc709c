"""Many rows in one short statement: Django's bulk_update writes a condition for each value of each row."""

from collections.abc import Sequence

from django.db import connection
from django.db.models import Model


def update_rows(rows: Sequence[Model], names: Sequence[str]) -> None:
    """Store these fields (as they are called in Python: ``run_id``) of rows of one model."""
    if not rows:
        return
    meta = type(rows[0])._meta
    by_name = {field.attname: field for field in meta.concrete_fields}
    fields = [by_name[name] for name in ("id", *names)]
    columns = [f'"{field.column}"' for field in fields]
    arrays = [f"%s::{field.rel_db_type(connection)}[]" for field in fields]
    values = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for row in rows] for field in fields
    ]
    changes = ", ".join(f"{column} = given.{column}" for column in columns[1:])
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {meta.db_table} stored SET {changes}"  # noqa: S608 - the names are those of a model
            f" FROM unnest({', '.join(arrays)}) AS given ({', '.join(columns)}) WHERE stored.id = given.id",
            values,
        )
