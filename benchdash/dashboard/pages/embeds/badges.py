"""Badges: two words or so as a small picture, for a README."""

from dataclasses import dataclass
from typing import Final

from django.http import QueryDict
from django.template.loader import render_to_string

from benchdash.addresses import texts_of
from benchdash.charts.colours import colours
from benchdash.charts.png import fitting, text_width
from benchdash.charts.svg import in_xml
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.regressions.comparison.newest_release import NoPairError, newest_release
from benchdash.regressions.comparison.verdict_words import side_of
from benchdash.regressions.morning.status import ProjectPart, UnknownPartError, series_of, status_of

STATUS: Final = "status"
GEOMEAN: Final = "geomean"
KINDS: Final = (STATUS, GEOMEAN)
LABEL: Final = "benchdash"
PARAMETERS: Final = ("product", "branch", "hardware", "metric")
BASE: Final = "base"

BADGE_HEIGHT: Final = 20
"""The width in points, by templates/embeds/badge.svg."""

_SIZE: Final = 11
_MAX_WIDTH: Final = 420
_MAX_NAME: Final = 200
_EDGE: Final = 7
# White letters are read on all of them, and they differ for the colour-blind; the words say the same.
_GROUNDS: Final = {"good": "better-4", "bad": "worse-4", "doubtful": "ink-2"}


@dataclass(frozen=True)
class Badge:
    """A label and what it says; ``tone`` is ``good``, ``bad`` or ``doubtful``."""

    words: str
    tone: str = "doubtful"
    label: str = LABEL


def badge_of(page: ProjectPage, query: QueryDict) -> Badge:
    """Return the badge that an address asks for. What it asks for and is not there is said on it."""
    kind = query.get("kind") or STATUS
    asked = {name: "".join(texts_of(query, name)[-1:])[:_MAX_NAME] for name in (*PARAMETERS, BASE)}
    part = ProjectPart(**{name: asked[name] for name in PARAMETERS})
    if kind not in KINDS:
        return Badge(f"no kind {kind}")
    try:
        if kind == GEOMEAN:
            return _release_badge(page, part, asked[BASE])
        status = status_of(page.project, part)
    except (UnknownPartError, NoPairError) as error:
        return Badge(str(error))
    return Badge(status.words, status.tone)


def svg_of(badge: Badge) -> str:
    """Write a badge; a text that is too long is cut."""
    label = fitting(in_xml(badge.label), _SIZE, _MAX_WIDTH)
    words = fitting(in_xml(badge.words), _SIZE, _MAX_WIDTH)
    left, right = round(text_width(label, _SIZE)), round(text_width(words, _SIZE))
    light = colours("light")
    context = {
        "says": f"{label}: {in_xml(badge.words)[:_MAX_NAME]}",
        "label": label,
        "words": words,
        "left": left,
        "right": right,
        "middle": left + 2 * _EDGE,
        "width": left + right + 4 * _EDGE,
        "words_at": left + 3 * _EDGE,
        "label_at": _EDGE,
        "dark": light["ink"],
        "ground": light[_GROUNDS[badge.tone]],
    }
    return render_to_string("embeds/badge.svg", context)


def _release_badge(page: ProjectPage, part: ProjectPart, base: str) -> Badge:
    if part.branch:
        return Badge("of releases alone")
    series_of(page.project, part)
    found = newest_release(
        page.project, product=part.product, hardware=part.hardware, metric=part.metric, base=base
    )
    tone = {"better": "good", "worse": "bad"}.get(side_of(found.verdict), "doubtful")
    return Badge(found.words, "good" if found.verdict == "same" else tone, found.product)
