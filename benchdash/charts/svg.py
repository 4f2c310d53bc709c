"""Pictures as SVG, without scripts, styles and links."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.template.loader import render_to_string

from benchdash.charts.shapes import Area, Dot, Drawing, Place, Shape, Stroke, Text

# Characters that XML cannot hold, not even as a reference.
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class _Element:
    """A shape as the template writes it; ``kind`` is which, ``places`` its corners as SVG lists them."""

    kind: str
    shape: Shape
    places: str = ""
    x: str = ""
    y: str = ""

    @property
    def text(self) -> str:
        return in_xml(self.shape.text) if isinstance(self.shape, Text) else ""


def svg(picture: Drawing) -> str:
    elements = [_element(shape) for shape in picture.shapes]
    context = {"picture": picture, "says": in_xml(picture.says), "elements": elements}
    return render_to_string("pictures/picture.svg", context)


def in_xml(text: str) -> str:
    """Leave out of a text what no XML may hold; templates escape the rest."""
    return _NOT_XML.sub("", text)


def _element(shape: Shape) -> _Element:
    match shape:
        case Stroke():
            return _Element("line", shape, places=_listed(shape.places))
        case Area():
            return _Element("area", shape, places=_listed(shape.places))
        case Dot():
            return _Element("dot", shape, x=_number(shape.place[0]), y=_number(shape.place[1]))
        case Text():
            return _Element("text", shape, x=_number(shape.place[0]), y=_number(shape.place[1]))


def _listed(places: Sequence[Place]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in places)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
