"""The tokens of base.css as the colours of figures."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from django.conf import settings

Theme = Literal["light", "dark"]

RAMP_STEPS: Final = 12
CATEGORIES: Final = 8
_TOKEN: Final = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)")
_REFERENCE: Final = re.compile(r"var\(--([\w-]+)\)")


def token(name: str) -> str:
    """Return the colour of a token, as a browser looks it up: ``token("worse-3")``."""
    return f"var(--{name})"


def ordered_colours(count: int) -> list[str]:
    """Return a ramp of colours for ``count`` ordered things: the oldest pale, the newest strong."""
    if count == 1:
        return [token(f"ramp-{RAMP_STEPS - 3}")]
    return [token(f"ramp-{1 + round(i * (RAMP_STEPS - 1) / (count - 1))}") for i in range(count)]


def unordered_colour(index: int) -> str:
    """Return one of eight colours that only differ; beyond eight they come again."""
    return token(f"cat-{index % CATEGORIES + 1}")


@cache
def colours(theme: Theme) -> Mapping[str, str]:
    """Return the colour of each token, for pictures that are drawn without a browser."""
    css = (settings.BASE_DIR / "static" / "css" / "base.css").read_text()
    return {name: light if theme == "light" else dark for name, light, dark in _TOKEN.findall(css)}


def colour_of(text: str, theme: Theme) -> str:
    """Return the colour that a figure names: ``var(--ink)``, or a colour as it is."""
    found = _REFERENCE.fullmatch(text)
    return colours(theme)[found[1]] if found else text
