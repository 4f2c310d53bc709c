"""Which server it was that a benchmark met, by its own words."""

import pytest

from ingest.formats.tools.benchbase_json import server_of


@pytest.mark.parametrize(
    ("text", "product", "version"),
    [
        ("5.5.5-10.11.9-MariaDB-ubu2204", "MariaDB", "10.11.9"),
        ("8.0.36-28", None, "8.0.36-28"),
        ("8.0.45", None, "8.0.45"),
        ("5.7.25-TiDB-v6.1.0", "TiDB", "6.1.0"),
        ("PostgreSQL 11.2-YB-2.15.0.0-b0 on x86_64-pc-linux-gnu", "YugabyteDB", "2.15.0.0"),
        ("CockroachDB CCL v22.1.0 (x86_64-pc-linux-gnu, built 2022/05/23)", "CockroachDB", "22.1.0"),
        ("PostgreSQL 17beta2 on x86_64-pc-linux-gnu", "PostgreSQL", "17beta2"),
        ("PostgreSQL 9.6.24 on aarch64-unknown-linux-gnu", "PostgreSQL", "9.6.24"),
        ("PostgreSQL 15.1-something on x86_64", None, None),
        ("16", None, None),
        ("", None, None),
    ],
)
def test_the_server_is_what_it_says_of_itself(text, product, version):
    assert server_of(text) == (product, version)
