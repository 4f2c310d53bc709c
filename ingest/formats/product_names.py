"""What people write into column heads and folder names: products with versions."""

import re

_VERSION_PART = re.compile(r"[-_ ](?=\d)")


def split_product_version(name: str) -> tuple[str, str | None]:
    """Split ``MariaDB-JDBC-1.1.2`` before its first part that starts with a digit: product and version.

    A name without such a part is a product and no version.
    """
    parts = _VERSION_PART.split(name.strip(), maxsplit=1)
    return (parts[0], parts[1]) if len(parts) == 2 and parts[0] else (name.strip(), None)
