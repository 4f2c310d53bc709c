"""Pictures as PNG, drawn without a browser: the same bytes each time, of twice the size for dense screens."""

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from math import ceil, floor
from typing import Final

from PIL import Image, ImageColor, ImageDraw, ImageFont

from benchdash.charts.shapes import Area, Dot, Drawing, Place, Stroke, Text
from benchdash.results import wording

SCALE: Final = 2
# Lines and dots are drawn larger still and reduced, which smooths them.
_SMOOTH: Final = 2
_COLOURS: Final = 64
_ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
# The font of the drawing library knows no other signs.
_IN_ASCII: Final = str.maketrans(
    {
        wording.MINUS: "-",
        wording.NO_BREAK: " ",
        "–": "-",
        "—": "-",
        "µ": "u",
        "±": "+-",
        "…": "...",
        "×": "x",
        "→": "->",
        "▲": "^",
        "▼": "v",
    }
)


def png(picture: Drawing) -> bytes:
    """Draw a picture. Letters that are not in ASCII become question marks."""
    size = picture.width * SCALE, picture.height * SCALE
    image = Image.new("RGB", (size[0] * _SMOOTH, size[1] * _SMOOTH), picture.ground)
    draw, factor = ImageDraw.Draw(image), SCALE * _SMOOTH
    for shape in picture.shapes:
        match shape:
            case Area():
                _fill(image, shape, factor)
            case Stroke():
                _draw_line(draw, shape, factor)
            case Dot():
                _draw_dot(draw, shape, factor, picture.ground)
    image = image.reduce(_SMOOTH)
    for shape in picture.shapes:
        if isinstance(shape, Text):
            _write(image, shape)
    file = BytesIO()
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def text_width(text: str, size: int) -> float:
    """Return how wide a text is in points. Other fonts differ by a tenth or so."""
    return _font(size).getlength(in_ascii(text))


def fitting(text: str, size: int, width: float) -> str:
    """Shorten a text until it is no wider than ``width``."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def in_ascii(text: str) -> str:
    return text.translate(_IN_ASCII).encode("ascii", "replace").decode()


@lru_cache(maxsize=32)
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _scaled(places: Sequence[Place], factor: float) -> list[Place]:
    return [(x * factor, y * factor) for x, y in places]


def _draw_line(draw: ImageDraw.ImageDraw, line: Stroke, factor: int) -> None:
    width = max(1, round(line.width * factor))
    for part in _dashes(line.places, line.dash) if line.dash else [line.places]:
        draw.line(_scaled(part, factor), fill=line.colour, width=width, joint="curve")


def _dashes(places: Sequence[Place], dash: float) -> list[list[Place]]:
    """Divide each straight part of a line into dashes with gaps of the same length."""
    dashes = []
    for (x0, y0), (x1, y1) in pairwise(places):
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        for number in range(int(length / dash / 2) + 1):
            ends = [min((2 * number + end) * dash, length) / (length or 1) for end in (0, 1)]
            dashes.append([(x0 + (x1 - x0) * part, y0 + (y1 - y0) * part) for part in ends])
    return dashes


def _draw_dot(draw: ImageDraw.ImageDraw, dot: Dot, factor: int, ground: str) -> None:
    x, y = dot.place[0] * factor, dot.place[1] * factor
    radius = dot.radius * factor
    box = (x - radius, y - radius, x + radius, y + radius)
    draw.ellipse(box, fill=ground if dot.is_hollow else dot.colour, outline=dot.colour, width=factor)


def _fill(image: Image.Image, area: Area, factor: int) -> None:
    corners = _scaled(area.places, factor)
    if area.opacity == 1:
        ImageDraw.Draw(image).polygon(corners, fill=area.colour)
        return
    # A mask of the area alone: one of the whole image would cost as much for each.
    left, top = (floor(min(place[axis] for place in corners)) for axis in (0, 1))
    right, bottom = (ceil(max(place[axis] for place in corners)) for axis in (0, 1))
    mask = Image.new("L", (right - left + 1, bottom - top + 1), 0)
    moved = [(x - left, y - top) for x, y in corners]
    ImageDraw.Draw(mask).polygon(moved, fill=round(255 * area.opacity))
    image.paste(ImageColor.getrgb(area.colour), (left, top), mask)


def _write(image: Image.Image, text: Text) -> None:
    font, words = _font(text.size * SCALE), in_ascii(text.text)
    x, y = text.place[0] * SCALE, text.place[1] * SCALE
    ImageDraw.Draw(image).text((x, y), words, fill=text.colour, font=font, anchor=_ANCHORS[text.anchor])
