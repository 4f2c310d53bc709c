"""Version texts: read without packaging, sorted, and put into release lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from benchdash.results.models import UNKNOWN_VERSION

# A commit, or the beginning of one, in lower case.
COMMIT = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True, slots=True)
class ParsedVersion:
    """A version text without packaging. ``sort_key`` is as the function of this name says it of the text."""

    version: str

    @property
    def sort_key(self) -> str:
        return sort_key(self.version)


def parse_version(text: str) -> ParsedVersion:
    """Read what a server, a package or a person calls a version; an empty text is ``unknown``.

    What distinguishes builds stays (``-debug``, Percona's ``8.0.35-27``), what packaging adds goes
    (``10.6.23-MariaDB-1:10.6.23+maria~ubu2204`` is ``10.6.23``).
    """
    # All runs of a file are mostly of one version; a long text would only fill the memory.
    return _remembered(text) if len(text) <= _MAX_REMEMBERED_LENGTH else _parse_version(text)


def _parse_version(text: str) -> ParsedVersion:
    printable = "".join(c if c.isprintable() else " " for c in text).strip()
    version = _without_packaging(_announced(printable)) or printable
    if version.casefold() in {"", UNKNOWN_VERSION}:
        return ParsedVersion(UNKNOWN_VERSION)
    return ParsedVersion(version)


_MAX_REMEMBERED_LENGTH = 100
_remembered = lru_cache(maxsize=1000)(_parse_version)


@lru_cache(maxsize=1000)
def release_line(product: str, version: str) -> str:
    """Return ``10.6`` for MariaDB 10.6.23, ``16`` for PostgreSQL 16.4; empty for a product without a rule."""
    numbers = _NUMBERS.match(version)
    if not numbers or not sort_key(version):
        return ""
    major, minor = numbers.groups()
    name = product.strip().casefold()
    if _TWO_NUMBER_LINES.fullmatch(name) or (_POSTGRESQL.fullmatch(name) and int(major) < 10):
        return f"{major}.{minor}" if minor else ""
    return major if _POSTGRESQL.fullmatch(name) else ""


_NUMBERS = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?(?![0-9])")
# A connector of MariaDB is no MariaDB: only names made of these words have a line.
_TWO_NUMBER_LINES = re.compile(
    r"(?:mariadb|mysql|percona)"
    r"(?:[ _-](?:server|community|enterprise|edition|cluster|galera|xtradb|for|mysql))*"
)
_POSTGRESQL = re.compile(r"postgres(?:ql)?(?:[ _-]server)?")

_ANNOUNCEMENTS = (
    # mysql  Ver 15.1 Distrib 10.6.23-MariaDB, for debian-linux-gnu
    re.compile(r"\bDistrib\s+([0-9][^\s,;]*)"),
    # mysqld  Ver 8.0.44 for Linux on x86_64
    re.compile(r"\bVer\s+([0-9][^\s,;]*)"),
    # PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc
    re.compile(r"\bPostgreSQL\)?\s+([0-9][^\s,;]*)"),
    # 16.4 (Debian 16.4-1.pgdg120+1)
    re.compile(r"^([0-9][^\s,;]*)(?:[,;]|\s+(?:on|for)\s|\s*\()"),
)
_PRODUCT_IN_FRONT = re.compile(
    r"^(?:(?:mariadb|mysql|percona-server|postgresql|postgres)[-_ ]?|v)(?=[0-9])", re.IGNORECASE
)
# MariaDB says this in front of its version, for replicas that would refuse a master newer than themselves.
_FOR_OLD_REPLICAS = re.compile(r"^5\.5\.5-(?=[0-9]+\.[0-9]+\.[0-9]+-mariadb)", re.IGNORECASE)
_DISTRIBUTION = (
    r"deb[0-9]|debian|ubu[0-9]|ubuntu|pgdg|bpo[0-9]|maria~|(?:^|[0-9._])(?:el|fc|amzn|sles|rhel)[0-9]"
    r"|suse|alpine|bionic|focal|jammy|noble|buster|bullseye|bookworm|trixie"
)
_PACKAGING = re.compile(
    rf"[0-9]+:.*|.*(?:{_DISTRIBUTION}).*|mariadb|log"
    r"|linux.*|glibc.*|systemd|x86_64|amd64|aarch64|arm64",
    re.IGNORECASE,
)
_PACKAGING_BEHIND = re.compile(rf"[+~](?:{_DISTRIBUTION}).*", re.IGNORECASE)


def _announced(text: str) -> str:
    """Return the version in a sentence that a program says about itself, or the text as it is."""
    for announcement in _ANNOUNCEMENTS:
        if match := announcement.search(text):
            return match[1]
    return text


def _without_packaging(text: str) -> str:
    text = _FOR_OLD_REPLICAS.sub("", _PRODUCT_IN_FRONT.sub("", text))
    first, *others = text.split("-")
    kept = [_PACKAGING_BEHIND.sub("", first)]
    behind_name = False
    for part in others:
        # 10.6.17-13-MariaDB is the 13th build of an enterprise release, 10.5.12-MariaDB-1 a package's first.
        is_package_revision = behind_name and part[:1].isdigit()
        if not is_package_revision and not _PACKAGING.fullmatch(part):
            kept.append(part)
        behind_name = behind_name or part.casefold() == "mariadb"
    return "-".join(kept).strip()


# --- order ------------------------------------------------------------------------------------------------
# A key of numbers is a row of tokens: "!" a pre-release word, "$" the end, "(" other words, a letter for the
# length of a number and then the number. In this order of bytes 1.3-SNAPSHOT < 1.3 < 1.3a < 1.3.1 < 1.10.
# Keys of another kind come before all of these: dates, and before them what has no order, by time.

LOWEST_NUMBER = "A"
_DATE, _NO_ORDER = "@", "#"
_TOKEN = re.compile(r"[0-9]{1,20}|[^\W_0-9]+")
_PRE_RELEASE = (
    {"devel", "dev", "nightly"},
    {"alpha", "preview", "pre", "prerelease", "ea"},
    {"milestone", "dmr"},
    {"beta"},
    {"gamma"},
    {"rc", "cr"},
    {"snapshot"},
)
_RANK = {word: str(rank) for rank, words in enumerate(_PRE_RELEASE) for word in words}
# 2.0a1, 2.0b3 and 2.0-M1 come before 2.0; 5.5.28a and 5.5.28b after 5.5.28.
_SHORT_PRE_RELEASE = re.compile(r"(?<=[0-9])[ab](?=[0-9])|(?<![^\W_])m(?=[0-9])", re.IGNORECASE)
_MEANING = {"a": "alpha", "b": "beta", "m": "milestone"}

# One number alone may be the beginning of a commit: 1222abc, 12ea123. Then it is no version.
_NOT_HEX = "|".join(sorted(word for word in _RANK if not re.fullmatch("[0-9a-f]+", word)))
_BEGINS_WITH_NUMBERS = re.compile(
    rf"[0-9]+(?:\.[0-9]|(?![^\W_])|(?:{_NOT_HEX})(?![^\W\d_]))",
    re.IGNORECASE,
)
_WORD_VERSION = re.compile(r"v(?:er(?:sion)?)?[-_ .:]*(?=[0-9])", re.IGNORECASE)

OrderKind = Literal["numbers", "date", ""]


def sort_key(
    version: str,
    *,
    product: str = "",
    commit: str | None = None,
    order: str = "",
    known_at: datetime | None = None,
    measured_at: datetime | None = None,
) -> str:
    """Return what sorts a version among others of its product; this alone decides whether it has an order.

    It has one by the dotted numbers with which ``order``, or else the version, begins; else by ``known_at``,
    when it was released or its commit was made. Without either, its key is when it was first measured, which
    only makes lists readable. Keys compare bytewise and have at most 300 characters for a text of up to 100.
    """
    is_commit = bool(commit and COMMIT.fullmatch(version.lower()) and commit.startswith(version.lower()))
    if numbers := _number_key(_without_name(order or ("" if is_commit else version), product)):
        return numbers
    if known_at:
        return f"{_DATE}{_stamp(known_at)}"
    if measured_at is None or version == UNKNOWN_VERSION:
        return ""
    return f"{_NO_ORDER}{_stamp(measured_at)}"


def order_kind(key: str) -> OrderKind:
    """Return what tells the order of a version with this key; empty where nobody said it."""
    if key.startswith(_DATE):
        return "date"
    return "numbers" if key >= LOWEST_NUMBER else ""


def first_in_order(keys: Sequence[str]) -> int:
    """Return from where on versions, by their keys in ascending order, are known to follow each other.

    Those before it have no order at all, or are ordered by dates where others are by their numbers.
    """
    kind = order_kind(keys[-1]) if keys else ""
    return next((at for at, key in enumerate(keys) if kind and order_kind(key) == kind), len(keys))


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _without_name(version: str, product: str) -> str:
    """Take the name of the product, and ``v`` or ``version``, from before the number of a version."""
    name = _name_in_front(product).match(version) if product else None
    version = version[name.end() :] if name else version
    word = _WORD_VERSION.match(version)
    return version[word.end() :] if word else version


@lru_cache(maxsize=1000)
def _name_in_front(product: str) -> re.Pattern[str]:
    """Match the words of a name with whatever signs between them, and a sign or several numbers behind."""
    words = r"[\W_]*".join(map(re.escape, re.findall(r"[^\W_]+", product))) or r"(?!)"
    return re.compile(rf"{words}(?:[-_ /:]+|(?=v?[0-9]+\.[0-9]))", re.IGNORECASE)


@lru_cache(maxsize=1000)
def _number_key(text: str) -> str:
    """Return the key of a text that begins with dotted numbers; empty for any other."""
    if not _BEGINS_WITH_NUMBERS.match(text):
        return ""
    spelt = _SHORT_PRE_RELEASE.sub(lambda letter: _MEANING[letter[0].lower()], text)
    key = "".join(_sort_token(token) for token in _TOKEN.findall(spelt)) + "$"
    return key[:300]


def _sort_token(token: str) -> str:
    if token[0] in "0123456789":
        digits = token.lstrip("0") or "0"
        return chr(ord(LOWEST_NUMBER) + len(digits) - 1) + digits
    word = token.casefold()
    # The blank ends a word: it sorts before every letter, so that "a" comes before "ab".
    return f"!{_RANK[word]}" if word in _RANK else f"({word} "
