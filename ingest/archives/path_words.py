"""The usual meanings of words in the names of files and folders.

    mysql/8.0.45/Tier12G_RW_16th.sysbench.txt

says MySQL, 8.0.45, a configuration ``Tier12G``, ``oltp_read_write`` and 16 threads. Each word is a guess, for
a person to confirm. Fifteen rules guess at most: those here, one of the names that a project has, and in
``path_guesses`` one of numbers that vary and one of controls.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

_DATABASES: Final = (
    *("MySQL", "MariaDB", "PostgreSQL", "Percona Server", "TiDB", "CockroachDB", "YugabyteDB", "OceanBase"),
    *("OrioleDB", "ClickHouse", "MongoDB", "SQLite"),
)
PRODUCTS: Final = {
    **{name.lower().replace(" ", "-"): name for name in _DATABASES},
    **dict.fromkeys(("postgres", "pgsql", "pg"), "PostgreSQL"),
    **dict.fromkeys(("cockroach", "crdb"), "CockroachDB"),
    "maria": "MariaDB",
    "percona": "Percona Server",
    "pxc": "Percona XtraDB Cluster",
}
# Too short to mean a product by themselves; with a version they do.
_BEFORE_A_VERSION: Final = {**PRODUCTS, "my": "MySQL", "ma": "MariaDB", "ps": "Percona Server"}
_OLTP: Final = {
    "read_only": ("ro", "readonly"),
    "read_write": ("rw", "readwrite"),
    "write_only": ("wo", "writeonly"),
    "point_select": ("ps", "pointselect"),
    "update_index": (),
    "update_non_index": (),
}
_WORKLOADS: Final = {
    **{short: f"oltp_{name}" for name, shorts in _OLTP.items() for short in (name, f"oltp_{name}", *shorts)},
    **{f"oltp_{shorts[0]}": f"oltp_{name}" for name, shorts in _OLTP.items() if shorts},
    **{name: name for name in ("oltp_insert", "oltp_delete", "bulk_insert", "tpcc")},
    **{name: name for name in ("select_random_points", "select_random_ranges")},
}
# Behind these words stands no version of a product: that of a tool, a system or a compiler, or a parameter.
_NO_PRODUCTS: Final = {
    "sysbench": ("0.4", "0.5", "1.0", "1.1"),
    "jmh": ("1.",),
    "ycsb": ("0.",),
    **dict.fromkeys(("ubuntu", "debian", "centos", "rhel", "rocky", "almalinux", "fedora", "sles"), ("",)),
    **dict.fromkeys(("linux", "kernel", "gcc", "clang", "llvm", "glibc", "docker", "cuda"), ("",)),
    **dict.fromkeys(("jdk", "openjdk", "java", "jre", "python", "zipf", "zipfian", "theta", "skew"), ("",)),
    **dict.fromkeys(("alpha", "ratio", "rate", "fillfactor", "scale", "sf"), ("",)),
}
_SHORT_MAJORS: Final = {"MySQL": ("8", "9"), "MariaDB": ("10", "11", "12")}
NUMBERS: Final = ("threads", "repetition")


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a path that says something: ``path[start:end]`` is ``text``.

    ``values`` are the fields that it gives: that of ``field`` among them, or none where it is not needed.
    ``reason`` is a sentence without a full stop: ``'16th' is a number of threads``.
    """

    start: int
    end: int
    field: str
    text: str
    values: Mapping[str, Any]
    reason: str

    @property
    def means_itself(self) -> bool:
        """Tell whether the field is the text, so that a pattern needs no mapping for it."""
        value = self.values.get(self.field)
        is_number = isinstance(value, int) and self.text.isdecimal()
        return len(self.values) == 1 and value == (int(self.text) if is_number else self.text)


_Meaning = Callable[[re.Match[str]], Mapping[str, Any] | None]


class _Rule:
    """If an expression fits, its group ``it`` is a word; ``meaning`` returns None where it is none.

    ``reason`` says of the text that fits why it is one.
    """

    def __init__(
        self, field: str, reason: str, *expressions: re.Pattern[str], meaning: _Meaning | None = None
    ) -> None:
        self.field = field
        self.reason = reason
        self.expressions = expressions
        self.meaning = meaning or self._of_text

    def _of_text(self, found: re.Match[str]) -> dict[str, Any]:
        text = found["it"]
        value = int(text.rstrip("stndrhSTNDRH")) if self.field in NUMBERS else text
        product = found.groupdict().get("product")
        return {self.field: value, **({"product": _BEFORE_A_VERSION[product.lower()]} if product else {})}


def words_in(path: str, known: Mapping[str, Sequence[str]] | None = None) -> list[Word]:
    """Return the words of a path, in their order; none overlaps another.

    ``known`` are names that a project has, by field: they are found too, and written as it writes them.
    """
    taken: list[tuple[int, int]] = []
    words: list[Word] = []
    for word, start, end in _found(path, known or {}):
        if all(end <= begun or start >= ended for begun, ended in taken):
            taken.append((start, end))
            words.append(word)
    return sorted(words, key=lambda word: word.start)


def workload_called(text: str) -> str:
    """Return the workload that an abbreviation stands for, or the text itself."""
    return _WORKLOADS.get(text.lower(), text)


def workloads_in(texts: Iterable[str]) -> list[str]:
    """Return those of the texts that are a workload, or an abbreviation of one."""
    return [text for text in texts if text.lower() in _WORKLOADS]


def _found(path: str, known: Mapping[str, Sequence[str]]) -> Iterator[tuple[Word, int, int]]:
    """Yield words, the surest first, with where the texts begin and end that tell them."""
    spelled = {name: {one.lower(): one for one in names} for name, names in known.items()}
    for rule in (*_rules_of(known), *RULES):
        for found in chain.from_iterable(one.finditer(path) for one in rule.expressions):
            values = rule.meaning(found)
            if values is None:
                continue
            values = {
                name: spelled.get(name, {}).get(str(value).lower(), value) for name, value in values.items()
            }
            reason = f"'{found[0]}' {rule.reason}"
            yield Word(*found.span("it"), rule.field, found["it"], values, reason), *found.span()


def _rules_of(known: Mapping[str, Sequence[str]]) -> Iterator[_Rule]:
    for name in ("hardware", "workload", "configuration"):
        names = sorted((one for one in known.get(name, ()) if len(one) > 2 and "/" not in one), key=len)
        if names:
            either = "|".join(re.escape(one) for one in reversed(names))
            yield _Rule(name, f"is a {name} of the project", _alone(f"(?P<it>{either})"))


# --- what texts mean ----------------------------------------------------------------------------------------


def _alone(expression: str, *, behind: str = "(?![A-Za-z0-9])") -> re.Pattern[str]:
    """Return an expression that fits whole words alone, in either case."""
    return re.compile(rf"(?<![A-Za-z0-9]){expression}{behind}", re.IGNORECASE)


def _either(words: Mapping[str, str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _product_with_version(found: re.Match[str]) -> dict[str, Any] | None:
    """Read ``my8044``, ``pg-17`` and ``ps-8.0.44-35/``, each by the group that it has."""
    groups = found.groupdict()
    if "digits" in groups:
        return _undotted(found)
    if "major" in groups:
        return _major(found)
    return {"product": _BEFORE_A_VERSION[found["product"].lower()], "version": found["it"]}


def _undotted(found: re.Match[str]) -> dict[str, Any] | None:
    """Read ``my8044`` as MySQL 8.0.44, ``ma101114`` as MariaDB 10.11.14, ``pg1023`` as PostgreSQL 10.23."""
    product, digits = _BEFORE_A_VERSION[found["product"].lower()], found["digits"]
    if len(digits) == 2 and re.match(r"\.\d", found.string[found.end() :]):
        return None
    match product:
        case "MySQL" | "Percona Server":
            parts = [digits[0], digits[1], digits[2:]]
        case "MariaDB" if digits[:2] in ("10", "11", "12"):
            middle = 3 if len(digits) in (3, 5) else 4
            parts = [digits[:2], digits[2:middle], digits[middle:]]
        case "PostgreSQL" if digits[0] == "9":
            parts = [digits[0], digits[1], digits[2:]]
        case "PostgreSQL":
            parts = [digits[:2], digits[2:]]
        case _:
            return None
    numbers = [str(int(part)) for part in parts if part]
    if len(numbers) == 1 and product != "PostgreSQL":
        return None
    values = {"product": product, "version": ".".join(numbers)}
    return {**values, "build": found["build"]} if found["build"] else values


def _dotted(found: re.Match[str]) -> dict[str, Any] | None:
    """Read a version, unless it is a date or belongs to the word before it: ``rep1.2``, ``gcc-13.2``."""
    before = re.search(r"(?<![a-z])([a-z]*+)([-_= ]?)$", found.string[: found.start()].lower())
    word, gap = before.groups() if before else ("", "")
    if not gap and word not in ("", "v", *_BEFORE_A_VERSION):
        return None
    if found["it"].startswith(_NO_PRODUCTS.get(word, ())) or re.match(r"\d\d\.0\d\.\d\d$", found["it"]):
        return None
    years = [int(part) for part in found["it"].split(".") if part.isdecimal() and len(part) == 4]
    is_date = any(1990 <= year <= 2099 for year in years)
    return None if is_date else {"version": found["it"]}


def _time(found: re.Match[str]) -> dict[str, Any] | None:
    """Read a day, with or without a time: ``20250815_130000``, ``2025.08.15-13.00``, ``15.08.2025``."""
    parts = re.findall(r"\d+", found["it"])
    digits = "".join(reversed(parts) if len(parts[0]) == 2 else parts)
    text = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}" + (f"T{digits[8:]}" if digits[8:] else "")
    for time in (found["it"], text):
        with suppress(ValueError):
            datetime.fromisoformat(time)
            return {"started_at": time}
    return None


def _major(found: re.Match[str]) -> dict[str, Any] | None:
    """Read ``pg-17`` and ``postgres17beta1``; of MySQL and MariaDB a whole folder."""
    product, major = _BEFORE_A_VERSION[found["product"].lower()], found["major"].lower()
    is_whole = found.string.startswith("/", found.end()) and major in _SHORT_MAJORS.get(product, ())
    is_major = re.match(r"[123]\d", major) if product == "PostgreSQL" else is_whole
    return {"product": product, "version": major} if is_major else None


def _product(found: re.Match[str]) -> dict[str, Any] | None:
    """Read a product, or what stands before the version in the name of a folder: ``mariadb-java-client``."""
    name = found["it"].lower()
    if name in _BEFORE_A_VERSION:
        return {"product": _BEFORE_A_VERSION[name]}
    is_none = name in _NO_PRODUCTS or re.fullmatch(_REPETITION, name)
    return None if is_none else {"product": found["it"]}


_POSTGRES: Final = "postgresql|postgres|pgsql|pg"
_VERSION: Final = r"\d+(?:\.\d+){1,3}(?:-?(?:snapshot|ga|rc\d*|beta\d*|alpha\d*))?"
_THREADS: Final = "threads?|thrds?|thr|th|clients?|conns?|connections?|users?|vus?"
_REPETITION: Final = "repetition|repeat|rep|run|res|iteration|iter|trial|try|round|sample|attempt|pass|r"
# Behind an ordinal: ``2nd run``.
_COUNTED: Final = "run|round|try|pass|iteration"
_GERMAN_DATE: Final = r"[0-3]\d\.[01]\d\.20\d\d"
_DATE: Final = r"20\d\d(?P<gap>[-._]?)[01]\d(?P=gap)[0-3]\d"
_CLOCK: Final = r"[0-2]\d(?P<colon>[-:.]?)[0-5]\d(?:(?P=colon)[0-5]\d)?"
# The surest first.
RULES: Final = (
    _Rule(
        "started_at",
        "is a date",
        re.compile(
            rf"(?<![A-Za-z\d])(?<!\d\.)(?P<it>{_DATE}(?:[T_-]?{_CLOCK})?|{_GERMAN_DATE})(?!\d|\.\d)",
        ),
        meaning=_time,
    ),
    # A machine by its size or number, by its address in a private network, or by its whole name.
    _Rule(
        "hardware",
        "is written like the size, number or address of a machine",
        _alone(
            r"(?P<it>c\d+r\d+|\d+-?(?:cores?|v?cpus?)(?:[-_]?\d+gb?)?|\d+-?c[-_]?\d+gb?"
            r"|[a-z]{1,3}\d[a-z]{0,3}[._-](?:\d{0,2}xlarge|large|medium|small|micro|metal)"
            r"|[a-z]\d[a-z]?-(?:standard|highmem|highcpu)-\d+|(?:bench|host|node|box|machine)-?\d{1,4})"
        ),
        re.compile(
            r"(?:^|(?<=/))(?P<it>(?:ip-)?(?:10|172|192)(?:[.-]\d{1,3}){3}"
            r"|[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*\.(?:com|net|org|local|lan|internal))(?=/)",
            re.IGNORECASE,
        ),
    ),
    _Rule(
        "commit",
        "is written like the hash of a commit",
        re.compile(
            r"(?<![A-Za-z0-9])(?<![0-9a-f]{4}-)(?P<it>(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40})"
            r"(?![A-Za-z0-9]|-[0-9a-f]{4}-)"
        ),
    ),
    # A major version is not the beginning of a longer one. The folder of a build of Percona's has the number
    # of its release behind the version.
    _Rule(
        "version",
        "is a product with its version",
        _alone(rf"(?P<it>(?P<product>{_either(_BEFORE_A_VERSION)})(?P<digits>\d{{2,6}})(?P<build>v\d)?)"),
        re.compile(
            r"(?<![A-Za-z0-9])(?P<product>percona-server|percona|ps|pxc)[-_]v?(?P<it>\d\.\d\.\d+-\d{1,2}(?:\.\d)?)(?=/)",
            re.IGNORECASE,
        ),
        _alone(
            rf"(?P<it>(?P<product>{_POSTGRES}|mysql|mariadb)[-_]?(?P<major>\d\d?(?:beta\d|rc\d|devel)?))",
            behind=r"(?![A-Za-z0-9]|\.\d)",
        ),
        meaning=_product_with_version,
    ),
    _Rule(
        "product",
        "stands before a version, as products do",
        _alone(rf"(?P<it>{_either(_BEFORE_A_VERSION)})", behind=rf"(?=[-_. /]?v?{_VERSION}(?![A-Za-z0-9]))"),
        re.compile(rf"(?:^|(?<=/))(?P<it>[a-z]\w*(?:-[a-z]\w*)*)(?=-v?{_VERSION}/)", re.IGNORECASE),
        meaning=_product,
    ),
    _Rule(
        "version",
        "is written like a version",
        re.compile(rf"(?<![0-9])(?<![0-9]\.)(?P<it>{_VERSION})(?![A-Za-z0-9])", re.IGNORECASE),
        meaning=_dotted,
    ),
    _Rule(
        "threads",
        "is a number of threads, clients or connections",
        _alone(
            rf"(?P<it>\d+)[-_ ]?(?:{_THREADS}|t)",
            behind=rf"(?![A-Za-z0-9]|[-_ ]?(?:{_COUNTED})(?![A-Za-z0-9]))",
        ),
        _alone(rf"(?:{_THREADS}|dop|concurrency|conc|nt|t|c)[-_=]?(?P<it>\d+)"),
    ),
    _Rule(
        "repetition",
        "is the number of a repetition",
        _alone(rf"(?P<it>\d+(?:st|nd|rd|th))[-_ ]?(?:{_COUNTED})"),
        _alone(rf"(?:{_REPETITION})[-_#=]?(?P<it>\d+)"),
    ),
    _Rule("session", "is the number of a session", _alone(r"(?P<it>session[-_]?\d+)")),
    _Rule(
        "workload",
        "is a usual name of a workload",
        _alone(f"(?P<it>{_either(_WORKLOADS)})"),
        meaning=lambda found: {"workload": workload_called(found["it"])},
    ),
    _Rule(
        "configuration",
        "names an amount of memory",
        _alone(r"(?P<it>(?:tier|bp|buf|mem|pool)[-_]?\d+[kmgt]b?)"),
    ),
    _Rule(
        "product",
        "is the name of a product",
        _alone(rf"(?P<it>{_either(PRODUCTS)})", behind="(?![A-Za-z])"),
        meaning=_product,
    ),
)
