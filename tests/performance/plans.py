"""What PostgreSQL would do for a statement, as far as it is about tables that grow."""

import json
from collections.abc import Iterator, Sequence

from django.db import connection

LARGE_TABLES = frozenset(
    {
        "results_run",
        "results_measurement",
        "results_series",
        "results_intervalsamples",
        "regressions_changepoint",
        "ingest_upload",
        "ingest_rawfile",
    }
)
# Joins by anything but look-ups: with few rows, reading a whole table for them is cheaper.
_OTHER_WAYS = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")


def read_whole(statements: Sequence[str], *, by_choice: bool) -> dict[str, str]:
    """Statements by the large table that they read from one end to the other.

    ``by_choice``: as the planner would at the size that the tables have; else only where no index can serve.
    """
    with connection.cursor() as cursor:
        for setting in _OTHER_WAYS:
            cursor.execute(f"SET LOCAL {setting} = {'on' if by_choice else 'off'}")
        found = {}
        for statement in filter(_can_be_explained, statements):
            cursor.execute("EXPLAIN (FORMAT JSON) " + statement)
            [plan] = cursor.fetchone()
            [explained] = json.loads(plan) if isinstance(plan, str) else plan
            found |= dict.fromkeys(_read_whole(explained["Plan"]), statement)
        return found


def _can_be_explained(statement: str) -> bool:
    return statement.lstrip().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE"))


def _read_whole(plan: dict, *, is_limited: bool = False) -> Iterator[str]:
    """The names of the tables. An index whose order a limit needs is read as far as that limit."""
    if plan.get("Relation Name") in LARGE_TABLES:
        is_whole_index = plan["Node Type"] in ("Index Scan", "Index Only Scan") and not plan.get("Index Cond")
        if plan["Node Type"] == "Seq Scan" or (is_whole_index and not is_limited):
            yield plan["Relation Name"]
    is_limited |= plan["Node Type"] == "Limit"
    for below in plan.get("Plans", ()):
        yield from _read_whole(
            below, is_limited=is_limited and plan["Node Type"] not in ("Sort", "Aggregate")
        )
