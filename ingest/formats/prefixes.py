"""Colours, and what CI systems, containers, loggers and mail put before the lines of a tool's output.

A prefix is taken away only where lines share it: all lines of a file, or five and more that follow each
other. The first column of a table looks like a prefix too. It is none, because the first line of a table has
another one, and because its lines have as many cells each.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

_DAY = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = rb"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_FRACTION = rb"(?:[.,][0-9]{1,9})?"
_ISO = _DAY + rb"[T ]" + _CLOCK + _FRACTION + rb"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_SYSLOG = rb"[A-Z][a-z]{2} [ 0-9][0-9] " + _CLOCK + _FRACTION
_EPOCH = rb"[0-9]{9,10}(?:\.[0-9]{1,9})?"
_MARK = rb"(?:\xef\xbb\xbf)?"
# A blank behind the prefix is part of it, and often trimmed from lines that are empty.
_END = rb"(?:[ \t]|(?=\n|$))"

_ESCAPES = (
    rb"\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b[\]_P^X][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"
    rb"|\x1b[()*+][0-9A-Za-z]"
    rb"|\x1b[=>78cDEHMNOZ]"
)
# GitLab and Travis end these with a carriage return, which would count as a line.
_SECTIONS = rb"(?:section_(?:start|end):[0-9]{1,12}|travis_(?:fold|time)):[^\r\n]{1,200}\r(?!\n)"
_OF_TERMINALS = re.compile(rb"|".join((_ESCAPES, _SECTIONS)))

_MIN_LINES_IN_A_ROW = 5
_MAX_LAYERS = 4
_TABLE_BAR = b"|"
_BEGINS_WITH_WORDS = re.compile(rb"[A-Za-z\[#]")


@dataclass(frozen=True, slots=True)
class Prefix:
    """One kind of prefix. ``what`` names it in a warning.

    Its pattern may have a group ``time``, and a group ``stream``: the container or unit that wrote the line.
    ``same`` is the group that is the same on all lines. ``is_weak`` where only the lines as a whole show that
    it is a prefix and not the first column of a table.
    """

    what: str
    pattern: re.Pattern[bytes]
    same: str = ""
    is_weak: bool = False

    def strip(self, lines: bytes) -> bytes:
        """Return lines, ended by line feeds, without the prefix."""
        return self.pattern.sub(b"", lines)

    def is_shared(self, lines: Sequence[bytes]) -> bool:
        """Return whether the lines have this prefix, so that it can be taken away."""
        run: list[tuple[re.Match[bytes], bytes]] = []
        filled = [line for line in lines if line.strip()]
        for line in [*filled, b""]:
            match = self.pattern.match(line)
            if match:
                run.append((match, line[match.end() :]))
                continue
            if len(run) >= min(_MIN_LINES_IN_A_ROW, len(filled)) and self._is_prefix_of(
                run, is_whole=len(run) == len(filled)
            ):
                return True
            run = []
        return False

    def _is_prefix_of(self, run: Sequence[tuple[re.Match[bytes], bytes]], *, is_whole: bool) -> bool:
        """Return whether it is one of lines in a row, which may be all that there are."""
        rests = [rest for _, rest in run if rest.strip()]
        if self.same and len({match[self.same] for match, _ in run}) > 1:
            return False
        if is_whole and not self.is_weak:
            return bool(rests)
        streams = {match["stream"] for match, _ in run} if "stream" in self.pattern.groupindex else {b""}
        if is_whole and len(run) > 1 and streams != {b""} and len(streams) == 1:
            return bool(rests)
        return (
            len({len(rest.split()) for rest in rests}) > 1
            and any(map(_BEGINS_WITH_WORDS.match, rests))
            and not all(_TABLE_BAR in rest for rest in rests)
            and 2 * len(streams) <= len(run)
        )


def _prefix(what: str, pattern: bytes, *, same: str = "", is_weak: bool = False, end: bytes = _END) -> Prefix:
    return Prefix(what, re.compile(rb"^" + pattern + end, re.MULTILINE), same, is_weak)


# The more special ones first: the time of journald is also one of 'ts'.
_KINDS = (
    _prefix(
        "the job, the step and a time",
        rb"[^\t\n]{1,200}\t[^\t\n]{1,200}\t" + _MARK + rb"(?P<time>" + _ISO + rb")",
    ),
    _prefix("a time and a stream's number", rb"(?P<time>" + _ISO + rb") [0-9a-f]{2}[OE](?:\+|(?=[ \n]|$))"),
    _prefix(
        "a time, the machine and the unit",
        rb"(?P<time>" + _SYSLOG + rb"|" + _ISO + rb") (?P<machine>[\w.-]{1,255}) "
        rb"(?P<stream>[\w@./:\\-]{1,100}?)(?:\[[0-9]{1,10}\])?:",
        same="machine",
    ),
    _prefix("a time", rb"\[(?P<time>" + _ISO + rb"|" + _SYSLOG + rb")\]"),
    _prefix("a time", _MARK + rb"(?P<time>" + _ISO + rb"|" + _SYSLOG + rb")"),
    _prefix(
        "a time", rb"(?P<time>\[" + _CLOCK + _FRACTION + rb"\]|" + _CLOCK + _FRACTION + rb")", is_weak=True
    ),
    _prefix("a time", rb"(?P<time>\[" + _EPOCH + rb"\]|" + _EPOCH + rb")", is_weak=True),
    _prefix("the name of a container", rb"(?P<stream>[A-Za-z0-9][\w.-]{0,100}) +\|", is_weak=True),
    _prefix("the name of a container", rb"\[(?P<stream>pod/[\w.-]{1,255}/[\w.-]{1,255})\]"),
    _prefix(
        "a level",
        rb"\[(?:info|warn|error|success|debug|INFO|WARN|WARNING|ERROR|DEBUG)\]",
    ),
    _prefix("the name of a branch", rb"\[(?P<stream>[A-Za-z][\w ./:-]{0,60})\]", is_weak=True),
    _prefix("the mark of a quote", rb">", end=rb"(?: |(?=\n|$|>{1,2}(?:[ \n]|$)))"),
)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes that are taken away before the lines of one file, in order; ``sample`` is the first."""

    kinds: tuple[Prefix, ...] = ()
    sample: str = ""

    def strip(self, lines: bytes) -> bytes:
        """Return whole lines, ended by line feeds, without their prefixes."""
        for kind in self.kinds:
            lines = kind.strip(lines)
        return lines

    def time_of(self, line: bytes) -> str:
        """Return the first time in the prefix of a line, empty where there is none."""
        return next(filter(None, (found.get("time", b"") for found in self._groups(line))), b"").decode()

    @property
    def description(self) -> str:
        """Name the prefix that is taken away, for a warning; empty where nothing is."""
        whats = ", ".join(dict.fromkeys(kind.what for kind in self.kinds))
        return f"{whats} (first {self.sample[:120]!r})" if whats else ""

    def seen_in(self, head: bytes) -> "Prefixes":
        """Return the same with the first sample in the head of a file."""
        for line in head.split(b"\n") if self.kinds else ():
            rest = self.strip(line)
            if len(rest) < len(line):
                return Prefixes(self.kinds, line[: len(line) - len(rest)].decode("utf-8", "replace").strip())
        return self

    def _groups(self, line: bytes) -> Iterator[dict[str, bytes]]:
        for kind in self.kinds:
            if match := kind.pattern.match(line):
                yield match.groupdict()
                line = line[match.end() :]


def shared_prefixes(head: bytes) -> Prefixes:
    """Return the prefixes that the first lines of a file share; they end with line feeds."""
    kinds: list[Prefix] = []
    rest = head
    for _ in range(_MAX_LAYERS):
        lines = rest.split(b"\n")
        # A last line without its end may be cut within the prefix.
        lines.pop()
        kind = next((kind for kind in _KINDS if kind.pattern.search(rest) and kind.is_shared(lines)), None)
        if kind is None:
            break
        kinds.append(kind)
        rest = kind.strip(rest)
    return Prefixes(tuple(kinds)).seen_in(head)


# The place where a prefix may end: behind a blank or a mark.
_MAX_PREFIX_LENGTH = 120
_MAX_PREFIX_PARTS = 24
_MIN_SHARE = 0.7
# Numbers count or tell the time, but for those of names and addresses, which tell machines apart.
_NUMBER_OR_NAME = re.compile(
    rb"(?P<name>(?!T[0-9]{2}:)[A-Za-z][\w.-]*|[0-9]+(?:\.[0-9]+){3})|(?:(?<=\[)|^)[ \t]*[0-9]+|[0-9]+"
)
_PART = re.compile(rb"[^ \t:|>\])#/+*-]*[ \t:|>\])#/+*-]")


def prefix_of_most_lines(head: bytes) -> Prefix | None:
    """Return what most lines of a file begin with, whatever wrote it; numbers in it may differ.

    Whether it is a prefix, only what is left behind it can tell. None where lines do not begin alike.
    """
    lines = [
        _NUMBER_OR_NAME.sub(lambda found: found["name"] or b"\0", line[:_MAX_PREFIX_LENGTH].rstrip()) + b" "
        for line in head.replace(b"\t", b" ").split(b"\n")
    ]
    filled = [line for line in lines if line != b" "]
    counts = Counter(chain.from_iterable(map(_beginnings, filled)))
    most = max(counts.values(), default=0)
    if most < max(_MIN_LINES_IN_A_ROW, _MIN_SHARE * len(filled)):
        return None
    text = max((text for text, count in counts.items() if count == most), key=len)
    blank = text.endswith(b" ")
    pattern = re.escape(text.rstrip()).replace(rb"\ ", rb"[ \t]").replace(re.escape(b"\0"), rb"[ \t]*[0-9]+")
    return _prefix("what the lines begin with", pattern, end=_END if blank else b"")


def _beginnings(line: bytes) -> Iterator[bytes]:
    """Yield a line up to each place where a prefix may end."""
    for part in islice(_PART.finditer(line), _MAX_PREFIX_PARTS):
        yield line[: part.end()]


def may_hold_terminal_codes(data: bytes) -> bool:
    return b"\x1b" in data or b"section_" in data or b"travis_" in data


def without_terminal_codes(data: bytes) -> bytes:
    """Return bytes without colours, and without other codes for terminals and marks of a log's sections."""
    return _OF_TERMINALS.sub(b"", data) if may_hold_terminal_codes(data) else data
