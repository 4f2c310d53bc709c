"""Figures as JSON within a page."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.safestring import SafeString, mark_safe

_as_django = DjangoJSONEncoder().default
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_SERIALIZE_NUMPY
# Characters that end the script element or a line of it; JSON has them only within strings.
_ESCAPES: Final = tuple(
    (character.encode(), f"\\u{ord(character):04X}".encode()) for character in "<>&\u2028\u2029"
)


def figure_json(figure: Mapping[str, Any]) -> SafeString:
    """Return a figure for a script element; a value that is not a number becomes null, as browsers need."""
    written = orjson.dumps(figure, default=_as_django, option=_OPTIONS)
    for character, escaped in _ESCAPES:
        written = written.replace(character, escaped)
    return mark_safe(written.decode())  # noqa: S308 - nothing in it can end its element
