"""JSON as a parameter of a statement."""

import json
from typing import Any

import orjson


def json_text(value: Any) -> str:
    """What PostgreSQL reads as json; dates and the like are texts."""
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:
        # Whole numbers beyond 64 bits, which PostgreSQL knows, and half characters, which it refuses.
        return json.dumps(value, default=str)
