"""The rows of what was sampled during a run, a thousand cells of a page."""

from collections.abc import Iterable
from typing import Final

from django.utils.safestring import SafeString

from benchdash.dashboard import numbers

_NOTHING: Final = f'<td class="number">{numbers.NOTHING}</td>'


def sample_rows(rows: Iterable[Iterable[float | None]]) -> SafeString:
    return SafeString("".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows))


def _cell(value: float | None) -> str:
    # Nothing in a number is to be escaped.
    if value is None:
        return _NOTHING
    return f'<td class="number" data-value="{value}">{numbers.number(value)}</td>'
