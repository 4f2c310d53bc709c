"""The tokens of base.css as colours, for pictures that are drawn without a browser."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from django.conf import settings

Theme = Literal["light", "dark"]

_TOKEN: Final = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)")
_REFERENCE: Final = re.compile(r"var\(--([\w-]+)\)")


@cache
def colours(theme: Theme) -> Mapping[str, str]:
    """Return the colour of each token."""
    css = (settings.BASE_DIR / "static" / "css" / "base.css").read_text()
    return {name: light if theme == "light" else dark for name, light, dark in _TOKEN.findall(css)}


def colour_of(text: str, theme: Theme) -> str:
    """Return the colour that a figure names: ``var(--ink)``, or a colour as it is."""
    found = _REFERENCE.fullmatch(text)
    return colours(theme)[found[1]] if found else text
