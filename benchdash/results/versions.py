"""Version texts: read without packaging, sorted, and put into release lines."""

import re
from dataclasses import dataclass
from functools import lru_cache

from benchdash.results.models import UNKNOWN_VERSION

# Of a commit, or of the beginning of one, in lower case.
COMMIT = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True, slots=True)
class ParsedVersion:
    """``sort_key`` compares bytewise and has at most 300 characters for a text of up to 100."""

    version: str
    sort_key: str


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
        return ParsedVersion(UNKNOWN_VERSION, "")
    return ParsedVersion(version, _sort_key(version))


_MAX_REMEMBERED_LENGTH = 100
_remembered = lru_cache(maxsize=1000)(_parse_version)


def release_line(product: str, version: str) -> str:
    """Return ``10.6`` for MariaDB 10.6.23, ``16`` for PostgreSQL 16.4; empty for a product without a rule."""
    numbers = _NUMBERS.match(version)
    if not numbers:
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


# --- sort keys --------------------------------------------------------------------------------------------
# A key is a row of tokens: "!" a pre-release word, "$" the end, "(" other words, a letter for the length of
# a number and then the number. In this order of bytes 1.3-SNAPSHOT < 1.3 < 1.3a < 1.3.1 < 1.10.

_TOKEN = re.compile(r"[0-9]{1,20}|[^\W_0-9]+")
_PRE_RELEASE = (
    {"devel", "dev", "nightly"},
    {"alpha", "preview", "pre", "ea"},
    {"milestone", "dmr"},
    {"beta"},
    {"gamma"},
    {"rc", "cr"},
    {"snapshot"},
)
_RANK = {word: str(rank) for rank, words in enumerate(_PRE_RELEASE) for word in words}


def _sort_key(version: str) -> str:
    key = "".join(_sort_token(token) for token in _TOKEN.findall(version)) + "$"
    return key[:300]


def _sort_token(token: str) -> str:
    if token[0] in "0123456789":
        digits = token.lstrip("0") or "0"
        return chr(ord("A") + len(digits) - 1) + digits
    word = token.casefold()
    # The blank ends a word: it sorts before every letter, so that "a" comes before "ab".
    return f"!{_RANK[word]}" if word in _RANK else f"({word} "
