"""``var/run.json``, which tells programs on this machine where benchdash is and how to begin."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def path(var: Path) -> Path:
    return var / "run.json"


def read(var: Path) -> dict[str, Any]:
    """Return what the last start wrote; empty where there is no such file or a damaged one."""
    try:
        content = json.loads(path(var).read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write(var: Path, content: Mapping[str, Any]) -> None:
    """Replace the file as a whole; it is for its owner alone."""
    draft = path(var).with_suffix(".new")
    with open(draft, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as handle:
        json.dump(content, handle, indent=2)
    draft.replace(path(var))
