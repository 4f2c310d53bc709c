"""Pictures as SVG, without scripts, styles and links."""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from benchdash.charts.shapes import Area, Dot, Drawing, Place, Shape, Stroke, Text

# Characters that XML cannot hold, not even as a reference.
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"


def svg(picture: Drawing) -> str:
    says, (width, height) = escape(in_xml(picture.says)), (picture.width, picture.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    look = f'role="img" aria-label="{says}" font-family="{_FONTS}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>'
    ground = f'<rect width="100%" height="100%" fill="{picture.ground}"/>'
    shapes = (_element(shape, picture.ground) for shape in picture.shapes)
    return "\n".join([head, f"<title>{says}</title>", ground, *shapes, "</svg>"])


def in_xml(text: str) -> str:
    """Leave out of a text what no XML may hold; who writes it escapes the rest."""
    return _NOT_XML.sub("", text)


def _element(shape: Shape, ground: str) -> str:
    match shape:
        case Stroke():
            dash = f' stroke-dasharray="{shape.dash}"' if shape.dash else ""
            look = f'stroke="{shape.colour}" stroke-width="{shape.width}" stroke-linejoin="round"{dash}'
            return f'<polyline points="{_listed(shape.places)}" fill="none" {look}/>'
        case Area():
            look = f'fill="{shape.colour}" fill-opacity="{shape.opacity}"'
            return f'<polygon points="{_listed(shape.places)}" {look}/>'
        case Dot():
            fill = ground if shape.is_hollow else shape.colour
            look = f'r="{shape.radius:.4g}" fill="{fill}" stroke="{shape.colour}"'
            return f'<circle cx="{_number(shape.place[0])}" cy="{_number(shape.place[1])}" {look}/>'
        case Text():
            place = f'x="{_number(shape.place[0])}" y="{_number(shape.place[1])}"'
            look = f'font-size="{shape.size}" fill="{shape.colour}" text-anchor="{shape.anchor}"'
            return f"<text {place} {look}>{escape(in_xml(shape.text))}</text>"


def _listed(places: Sequence[Place]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in places)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
