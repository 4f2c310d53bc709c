"""Cuts names of files that are built alike into what they share and what varies.

Of ``ro.64.txt`` and ``rw.8.txt``, ``.`` and ``.txt`` stay, ``ro`` and ``rw``, ``64`` and ``8`` are variables.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, Final

from ingest.metadata.path_patterns import ANY_PART, PatternError


@dataclass(slots=True)
class PathVariable:
    """A part that varies: its text in each name. ``field`` is empty where no word says what it is.

    ``reason`` says why it is that field; it is empty where it is none.
    """

    texts: list[str]
    field: str = ""
    reason: str = ""
    meanings: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    is_in_file_name: bool = False
    before: str = ""
    behind: str = ""

    def meaning(self, text: str) -> dict[str, Any]:
        return self.meanings.get(text, {} if self.field == ANY_PART else {self.field: text})


PathPart = str | PathVariable


def as_written(part: PathPart) -> str:
    if isinstance(part, str):
        return part
    return ANY_PART if part.field == ANY_PART else f"{{{part.field}}}"


_TOKEN: Final = re.compile(r"[A-Za-z]+|\d+|.", re.DOTALL)
# In the name of a folder a version of something else stays whole: ``kernel-6.8``.
_FOLDER_TOKEN: Final = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)*|.", re.DOTALL)


def between_words(texts: Sequence[str]) -> list[PathPart]:
    """Return what stands between two words: what all share as it is, the rest as variables."""
    if len(set(texts)) == 1:
        return [texts[0]]
    if len({text.count("/") for text in texts}) > 1:
        raise PatternError("the names are of different depths")
    parts: list[PathPart] = []
    *folders, last = zip(*(text.split("/") for text in texts), strict=True)
    for piece in folders:
        parts += [*_piece(piece, _FOLDER_TOKEN), "/"]
    return parts + _piece(last)


def _piece(texts: Sequence[str], token: re.Pattern[str] = _TOKEN) -> list[PathPart]:
    tokens = [token.findall(text) for text in texts]
    if len({len(one) for one in tokens}) == 1:
        return _token_by_token(tokens)
    back = _common(one[::-1] for one in tokens)
    # A number behind a part that is missing in some names: ``ro.64``, ``ro.long.64``; not ``ahi0``, ``tp96``.
    joints = {one[-2 - back] if len(one) > back + 1 and one[-1 - back].isdecimal() else "" for one in tokens}
    if len(joints) == 1 and "" not in joints:
        left = ["".join(one[: -1 - back]) for one in tokens]
        numbers = PathVariable([one[-1 - back] for one in tokens])
        return [*_piece(left), numbers, "".join(tokens[0][len(tokens[0]) - back :])]
    front, behind = _ends(tokens)
    middles = ["".join(one[front : len(one) - behind]) for one in tokens]
    first = tokens[0]
    return ["".join(first[:front]), PathVariable(middles), "".join(first[len(first) - behind :])]


def _common(tokens: Iterable[Sequence[str]]) -> int:
    """Return with how many equal tokens all begin."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*tokens, strict=False)))


def _ends(tokens: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return how many tokens at both ends are common, where a word is left between them in each name.

    Nothing stands for no text at all, so a variable takes a whole word before or behind it, too.
    """
    words = [[at for at, token in enumerate(one) if any(map(str.isalnum, token))] for one in tokens]
    if not all(words):
        raise PatternError("a part of the name is missing in some files")
    front = min(_common(tokens), *(own[-1] for own in words))
    kept = [next(at for at in own if at >= front) for own in words]
    longest = min(_common(one[::-1] for one in tokens), min(map(len, tokens)) - front)
    return front, min(longest, *(len(one) - 1 - at for one, at in zip(tokens, kept, strict=True)))


def _token_by_token(tokens: Sequence[Sequence[str]]) -> list[PathPart]:
    """Return names of as many tokens: words joined by ``-`` or ``_`` that vary are one variable."""
    varies = [len(set(column)) > 1 for column in zip(*tokens, strict=True)]
    first = tokens[0]
    for place, (before, behind) in enumerate(zip(varies, varies[2:], strict=False), 1):
        if before and behind and first[place] in "-_" and not varies[place]:
            varies[place] = first[place - 1].isalpha() and first[place + 1].isalpha()
    parts: list[PathPart] = []
    for place, is_variable in enumerate(varies):
        column = [one[place] for one in tokens]
        match parts[-1:], is_variable:
            case [PathVariable() as last], True:
                last.texts = [old + new for old, new in zip(last.texts, column, strict=True)]
            case [str(text)], False:
                parts[-1] = text + column[0]
            case _:
                parts.append(PathVariable(column) if is_variable else column[0])
    return parts


def joined(parts: Sequence[PathPart]) -> list[PathPart]:
    """Join what stands side by side, and say of each variable what stands around it.

    Two variables become one where nothing tells where the first ends. Raises PatternError where only one of
    them is known.
    """
    done: list[PathPart] = []
    for part in parts:
        match done[-2:], part:
            case [*_, str(last)], str(text):
                done[-1] = last + text
            case [*_, PathVariable() as last], PathVariable():
                done[-1] = _as_one(last, "", part)
            case [PathVariable() as last, str(text)], PathVariable() if any(
                text in one for one in last.texts
            ):
                done[-2:] = [_as_one(last, text, part)]
            case _ if part != "":
                done.append(part)
    slash = max((n for n, part in enumerate(done) if isinstance(part, str) and "/" in part), default=0)
    for part in done[slash:]:
        if isinstance(part, PathVariable):
            part.is_in_file_name = True
    done = list(_with_whole_words(done))
    for before, part in pairwise(done):
        if isinstance(part, PathVariable) and isinstance(before, str):
            part.before = before
        elif isinstance(before, PathVariable) and isinstance(part, str):
            before.behind = part
    return done


def _as_one(left: PathVariable, between: str, right: PathVariable) -> PathVariable:
    if bool(left.field) != bool(right.field):
        raise PatternError(f"nothing tells where '{left.texts[0]}' ends")
    pairs = list(zip(left.texts, right.texts, strict=True))
    one = PathVariable([before + between + behind for before, behind in pairs])
    if left.field:
        one.field = right.field if left.field == ANY_PART else left.field
        meanings = ({**left.meaning(before), **right.meaning(behind)} for before, behind in pairs)
        one.meanings = dict(zip(one.texts, meanings, strict=True))
    return one


def _with_whole_words(parts: Sequence[PathPart]) -> Iterator[PathPart]:
    """Yield the parts; what nobody knows in the name of a folder gets the whole of its word."""
    parts = list(parts)
    for number, part in enumerate(parts):
        if not isinstance(part, PathVariable) or part.field or part.is_in_file_name:
            continue
        before, behind = (parts[n] if 0 <= n < len(parts) else "" for n in (number - 1, number + 1))
        if isinstance(before, str) and isinstance(behind, str):
            front, back = re.search(r"(?<![\w-])[\w-]*+$", before), re.match(r"[\w-]*", behind)
            head, tail = front[0] if front else "", back[0] if back else ""
            if all(text.isdecimal() for text in part.texts) and not head[-1:].isalpha():
                continue
            part.texts = [head + text + tail for text in part.texts]
            if head:
                parts[number - 1] = before.removesuffix(head)
            if tail:
                parts[number + 1] = behind.removeprefix(tail)
    return (part for part in parts if part != "")
