"""Facts of machines, workloads and deeds in words."""

from collections.abc import Mapping
from typing import Any


def in_words(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """``cpu model``, ``AMD EPYC 7713``, in their order; what is not known is left out."""
    return [
        (name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in facts.items()
        if value not in ("", None, [], {})
    ]
