"""The words of people in column heads and folder names: products with versions."""

import re

_VERSION_PART = re.compile(r"[-_ ](?=v?\d)", re.IGNORECASE)
# MySQL-1-1-1 numbers the runs of a script.
_NUMBERED = re.compile(r"\d+(?:-\d+){2,}")
_V = re.compile(r"v(?=\d+(?:\.\d+)+)", re.IGNORECASE)

# Products that are told from other words without a version.
KNOWN_PRODUCT = (
    r"mysql|mariadb|percona(?:[ -]server)?|postgres(?:ql)?|pg|tidb|tikv|oceanbase|cockroach(?:db)?"
    r"|yugabyte(?:db)?|aurora|sqlite|mongodb|redis|valkey|dragonfly|keydb|memcached|clickhouse|cassandra|scylla(?:db)?|rocksdb"
    r"|myrocks|vitess|dolt(?:gres)?|singlestore|polardb|greatsql|alloydb|neon|supabase|citus|orioledb|tiproxy"
    r"|haproxy|proxysql|pgbouncer|pgcat|odyssey|spqr|duckdb|oracle|sql[ -]server"
)


def split_product_version(name: str) -> tuple[str, str | None]:
    """Split ``MariaDB-JDBC-1.1.2`` before its first part that starts with a digit: product and version.

    A name without such a part is a product and no version. ``v5.3.0`` is version 5.3.0.
    """
    parts = _VERSION_PART.split(name.strip(), maxsplit=1)
    if len(parts) < 2 or not parts[0]:
        return name.strip(), None
    version = _V.sub("", parts[1], count=1)
    if not version[0].isdigit() or _NUMBERED.fullmatch(version):
        return name.strip(), None
    return parts[0], version
