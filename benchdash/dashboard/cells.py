"""What stands in cells of tables and between words: states, changes, times and commits as HTML."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from django.utils import timezone
from django.utils.safestring import SafeString

from benchdash.dashboard import numbers
from benchdash.dashboard.markup import EMPTY, html

# What a state means, beside its word: a tone for the colour and a sign for those who see none.
_TONES: Final = {
    "regression": ("worse", "▼"),
    "improvement": ("better", "▲"),
    "environment": ("plain", "◆"),
    "silence": ("plain", "◌"),
    "worse": ("worse", "▼"),
    "better": ("better", "▲"),
    "same": ("plain", "="),
    "unknown": ("plain", "?"),
    "suspected": ("dotted", ""),
    "confirmed": ("strong", ""),
    "withdrawn": ("faded", ""),
    "historical": ("faded", ""),
    "new": ("strong", ""),
    "acknowledged": ("plain", ""),
    "investigating": ("plain", ""),
    "expected": ("faded", ""),
    "wontfix": ("faded", ""),
    "fixed": ("plain", "✓"),
    "invalid": ("faded", ""),
    "queued": ("dotted", "…"),
    "importing": ("dotted", "…"),
    "imported": ("plain", "✓"),
    "partial": ("warning", "!"),
    "refused": ("error", "×"),
    "deleted": ("faded", "×"),
    "ignored": ("faded", "–"),
    "would be imported": ("plain", "✓"),
    "known already": ("plain", "="),
    "not looked at": ("dotted", "…"),
    "excluded": ("faded", "○"),
    "revoked": ("faded", "×"),
    "public": ("plain", ""),
    "private": ("dotted", ""),
}


@lru_cache(maxsize=256)
def badge(state: str, label: str = "") -> SafeString:
    """A state as a small badge; ``label`` where its word for people differs (``won't fix``)."""
    tone, sign = _TONES.get(state, ("plain", ""))
    return html('<span class="badge badge-{}">{}{}</span>', tone, _mark(sign), label or state)


def change_figure(value: float | None, direction: str, verdict: str = "") -> SafeString:
    """A relative change, coloured by what it means: ``▼ −8.4 %`` on the worse side's ground."""
    level = numbers.level(value, direction, verdict)
    side = level.partition("-")[0]
    return html(
        '<span class="change level-{}" title="{}">{}{}</span>',
        level,
        {"same": "within the noise", "unknown": "not enough runs"}.get(side, side),
        _mark({"worse": "▼", "better": "▲"}.get(side, "")),
        numbers.change(value),
    )


def ago(time: datetime | None) -> str:
    """A time relative to now, with the exact one in its title."""
    if time is None:
        return numbers.NOTHING
    moment = time.astimezone(UTC)
    return html(
        '<time datetime="{}" title="{}">{}</time>',
        f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        numbers.exact_time(moment),
        numbers.ago(moment, timezone.now()),
    )


def exact(time: datetime | None) -> str:
    """The exact time in UTC, where the moment itself matters."""
    if time is None:
        return numbers.NOTHING
    moment = time.astimezone(UTC)
    return html('<time datetime="{}">{}</time>', f"{moment:%Y-%m-%dT%H:%M:%SZ}", numbers.exact_time(moment))


def commit(value: str | None) -> str:
    """The first ten digits of a commit, the whole of it in the title."""
    if not value:
        return numbers.NOTHING
    return html('<code class="commit" title="{}">{}</code>', value, value[:10])


def _mark(sign: str) -> SafeString:
    if not sign:
        return EMPTY
    return html('<span aria-hidden="true">{}</span>\N{NO-BREAK SPACE}', sign)
