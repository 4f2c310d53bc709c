import pytest

from ingest.formats.product_names import split_product_version


@pytest.mark.parametrize(
    ("name", "product", "version"),
    [
        ("MariaDB-JDBC-1.1.2", "MariaDB-JDBC", "1.1.2"),
        ("Drizzle-JDBC-1.3-SNAPSHOT", "Drizzle-JDBC", "1.3-SNAPSHOT"),
        ("mysql_8.0.44", "mysql", "8.0.44"),
        (
            "MariaDB 10.6.23-MariaDB-1:10.6.23+maria~ubu2204",
            "MariaDB",
            "10.6.23-MariaDB-1:10.6.23+maria~ubu2204",
        ),
        (" PostgreSQL 16 ", "PostgreSQL", "16"),
        ("TiDB v5.3.0", "TiDB", "5.3.0"),
    ],
)
def test_a_name_splits_before_the_first_part_that_begins_with_a_digit(name, product, version):
    assert split_product_version(name) == (product, version)


@pytest.mark.parametrize(
    "name", ["C client library", "MariaDB", "libmysql4", "10.6.23", "-1.2", "Redis-1-1-1-1", "v5", ""]
)
def test_a_name_without_such_a_part_is_a_product_without_a_version(name):
    assert split_product_version(name) == (name, None)
