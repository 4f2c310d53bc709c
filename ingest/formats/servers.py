"""The server that BenchBase met: what ``select version()`` says, else nothing."""

import re

_NUMBERS = r"([0-9]++(?:\.[0-9]++)++)"
# A type such as MYSQL or POSTGRES is that of the driver, which servers of other products speak to as well.
_SAID = (
    ("MariaDB", re.compile(rf"(?:5\.5\.5-)?{_NUMBERS}-MariaDB\b.*")),
    ("TiDB", re.compile(rf".*-TiDB-v{_NUMBERS}.*")),
    ("YugabyteDB", re.compile(rf"PostgreSQL .*-YB-{_NUMBERS}.*")),
    ("CockroachDB", re.compile(rf"CockroachDB .*\bv{_NUMBERS}.*")),
    ("PostgreSQL", re.compile(r"PostgreSQL ([0-9]+(?:\.[0-9]+)*(?:(?:beta|rc|devel)[0-9]*)?)(?![-.\w]).*")),
    (None, re.compile(r"([0-9]+(?:\.[0-9]+)+(?:[-+~][\w.+~-]*)?)(?: .*)?")),
)


def product_and_version(text: str) -> tuple[str | None, str | None]:
    """Return ``PostgreSQL`` and ``16.4`` of ``PostgreSQL 16.4 (Debian ...)``; None for what is not said."""
    for product, pattern in _SAID:
        if said := pattern.fullmatch(text.strip()):
            return product, said[1]
    return None, None
