"""JSON as a parameter of a statement."""

import json
from typing import Any

import orjson


def json_text(value: Any) -> str:
    """Return the value as PostgreSQL reads json; dates become texts."""
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:
        # Integers beyond 64 bits, which PostgreSQL knows, and lone surrogates, which it refuses.
        return json.dumps(value, default=str)
