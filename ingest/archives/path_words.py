"""The usual meanings of words in the names of files and folders.

    mysql/8.0.45/Tier12G_RW_16th.sysbench.txt

says MySQL, 8.0.45, a configuration ``Tier12G``, ``oltp_read_write`` and 16 threads. Each word is a guess, for
a person to confirm.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

PRODUCTS: Final = {
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "maria": "MariaDB",
    "postgresql": "PostgreSQL",
    "postgres": "PostgreSQL",
    "pgsql": "PostgreSQL",
    "pg": "PostgreSQL",
    "percona-server": "Percona Server",
    "percona": "Percona Server",
    "pxc": "Percona XtraDB Cluster",
    "tidb": "TiDB",
    "cockroachdb": "CockroachDB",
    "cockroach": "CockroachDB",
    "crdb": "CockroachDB",
    "yugabytedb": "YugabyteDB",
    "oceanbase": "OceanBase",
    "orioledb": "OrioleDB",
    "clickhouse": "ClickHouse",
    "mongodb": "MongoDB",
    "sqlite": "SQLite",
}
# Too short to mean a product by themselves; with a version they do.
_BEFORE_A_VERSION: Final = {**PRODUCTS, "my": "MySQL", "ma": "MariaDB", "ps": "Percona Server"}
_WORKLOADS: Final = {
    "ro": "oltp_read_only",
    "rw": "oltp_read_write",
    "wo": "oltp_write_only",
    "ps": "oltp_point_select",
    "read_only": "oltp_read_only",
    "readonly": "oltp_read_only",
    "read_write": "oltp_read_write",
    "readwrite": "oltp_read_write",
    "write_only": "oltp_write_only",
    "writeonly": "oltp_write_only",
    "point_select": "oltp_point_select",
    "pointselect": "oltp_point_select",
    "update_index": "oltp_update_index",
    "update_non_index": "oltp_update_non_index",
    "oltp_ro": "oltp_read_only",
    "oltp_rw": "oltp_read_write",
    "oltp_wo": "oltp_write_only",
    "oltp_ps": "oltp_point_select",
    **{
        name: name
        for name in (
            *("oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_point_select", "oltp_insert"),
            *("oltp_update_index", "oltp_update_non_index", "oltp_delete", "bulk_insert"),
            *("select_random_points", "select_random_ranges", "tpcc"),
        )
    },
}
# Behind these words stands no version of a product: that of a tool, a system or a compiler, or a parameter.
_NO_PRODUCTS: Final = {
    "sysbench": ("0.4", "0.5", "1.0", "1.1"),
    "jmh": ("1.",),
    "ycsb": ("0.",),
    **dict.fromkeys(
        (
            *(
                "ubuntu",
                "debian",
                "centos",
                "rhel",
                "rocky",
                "almalinux",
                "fedora",
                "sles",
                "linux",
                "kernel",
            ),
            *("gcc", "clang", "llvm", "glibc", "jdk", "openjdk", "java", "jre", "python", "docker", "cuda"),
            *("zipf", "zipfian", "theta", "skew", "alpha", "ratio", "rate", "fillfactor", "scale", "sf"),
        ),
        ("",),
    ),
}
_SHORT_MAJORS: Final = {"MySQL": ("8", "9"), "MariaDB": ("10", "11", "12")}
_FIRST_YEAR: Final = 1990
_LAST_YEAR: Final = 2099


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a path that says something: ``path[start:end]`` is ``text``.

    ``values`` are the fields that it gives: that of ``field`` among them, or none where it is not needed.
    """

    start: int
    end: int
    field: str
    text: str
    values: Mapping[str, Any]

    @property
    def means_itself(self) -> bool:
        """Tell whether the field is the text, so that a pattern needs no mapping for it."""
        value = self.values.get(self.field)
        is_number = isinstance(value, int) and self.text.isdecimal()
        return len(self.values) == 1 and value == (int(self.text) if is_number else self.text)


_Meaning = Callable[[re.Match[str]], Mapping[str, Any] | None]


class _Rule:
    """If an expression fits, its group ``it`` is a word; ``meaning`` returns None where it is none."""

    def __init__(self, field: str, *expressions: re.Pattern[str], meaning: _Meaning | None = None) -> None:
        self.field = field
        self.expressions = expressions
        self.meaning = meaning or (lambda found: {field: found["it"]})


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


def has_workload(texts: Iterable[str]) -> bool:
    """Return whether one of the texts is a workload, or an abbreviation of one."""
    return any(text.lower() in _WORKLOADS for text in texts)


def _found(path: str, known: Mapping[str, Sequence[str]]) -> Iterator[tuple[Word, int, int]]:
    """Yield words, the surest first, with where the texts begin and end that tell them."""
    spelled = {name: {one.lower(): one for one in names} for name, names in known.items()}
    for rule in (*_rules_of(known), *_RULES):
        for found in chain.from_iterable(one.finditer(path) for one in rule.expressions):
            values = rule.meaning(found)
            if values is None:
                continue
            values = {
                name: spelled.get(name, {}).get(str(value).lower(), value) for name, value in values.items()
            }
            yield Word(*found.span("it"), rule.field, found["it"], values), *found.span()


def _rules_of(known: Mapping[str, Sequence[str]]) -> Iterator[_Rule]:
    for name in ("hardware", "workload", "configuration"):
        names = sorted((one for one in known.get(name, ()) if len(one) > 2 and "/" not in one), key=len)
        if names:
            either = "|".join(re.escape(one) for one in reversed(names))
            yield _Rule(name, _alone(f"(?P<it>{either})"))


# --- what texts mean ----------------------------------------------------------------------------------------


def _alone(expression: str, *, behind: str = "(?![A-Za-z0-9])") -> re.Pattern[str]:
    """Return an expression that fits whole words alone, in either case."""
    return re.compile(rf"(?<![A-Za-z0-9]){expression}{behind}", re.IGNORECASE)


def _either(words: Mapping[str, str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


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
    is_date = any(_FIRST_YEAR <= year <= _LAST_YEAR for year in years)
    return None if is_date else {"version": found["it"]}


def _time(found: re.Match[str]) -> dict[str, Any] | None:
    """Read a day, with or without a time: ``20250815_130000``, ``2025.08.15-13.00``, ``15.08.2025``."""
    if _is_iso(found["it"]):
        return {"started_at": found["it"]}
    parts = re.findall(r"\d+", found["it"])
    digits = "".join(reversed(parts) if len(parts[0]) == 2 else parts)
    text = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}" + (f"T{digits[8:]}" if digits[8:] else "")
    return {"started_at": text} if _is_iso(text) else None


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


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


def _number(name: str) -> _Meaning:
    return lambda found: {name: int(found["it"].rstrip("stndrhSTNDRH"))}


_POSTGRES: Final = "postgresql|postgres|pgsql|pg"
_VERSION: Final = r"\d+(?:\.\d+){1,3}(?:-?(?:snapshot|ga|rc\d*|beta\d*|alpha\d*))?"
_THREADS: Final = "threads?|thrds?|thr|th|clients?|conns?|connections?|users?|vus?"
_REPETITION: Final = "repetition|repeat|rep|run|res|iteration|iter|trial|try|round|sample|attempt|pass|r"
_GERMAN_DATE: Final = r"[0-3]\d\.[01]\d\.20\d\d"
_DATE: Final = r"20\d\d(?P<gap>[-._]?)[01]\d(?P=gap)[0-3]\d"
_CLOCK: Final = r"[0-2]\d(?P<colon>[-:.]?)[0-5]\d(?:(?P=colon)[0-5]\d)?"
# The surest first.
_RULES: Final = (
    _Rule(
        "started_at",
        re.compile(
            rf"(?<![A-Za-z\d])(?<!\d\.)(?P<it>{_DATE}(?:[T_-]?{_CLOCK})?|{_GERMAN_DATE})(?!\d|\.\d)",
        ),
        meaning=_time,
    ),
    # A machine by its size or number, by its address in a private network, or by its whole name.
    _Rule(
        "hardware",
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
        re.compile(
            r"(?<![A-Za-z0-9])(?<![0-9a-f]{4}-)(?P<it>(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40})"
            r"(?![A-Za-z0-9]|-[0-9a-f]{4}-)"
        ),
    ),
    _Rule(
        "version",
        _alone(rf"(?P<it>(?P<product>{_either(_BEFORE_A_VERSION)})(?P<digits>\d{{2,6}})(?P<build>v\d)?)"),
        meaning=_undotted,
    ),
    # The folder of a build of Percona's has the number of its release behind the version.
    _Rule(
        "version",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<product>percona-server|percona|ps|pxc)[-_]v?(?P<it>\d\.\d\.\d+-\d{1,2}(?:\.\d)?)(?=/)",
            re.IGNORECASE,
        ),
        meaning=lambda found: {
            "product": _BEFORE_A_VERSION[found["product"].lower()],
            "version": found["it"],
        },
    ),
    _Rule(
        "product",
        _alone(rf"(?P<it>{_either(_BEFORE_A_VERSION)})", behind=rf"(?=[-_. /]?v?{_VERSION}(?![A-Za-z0-9]))"),
        re.compile(rf"(?:^|(?<=/))(?P<it>[a-z]\w*(?:-[a-z]\w*)*)(?=-v?{_VERSION}/)", re.IGNORECASE),
        meaning=_product,
    ),
    _Rule(
        "version",
        re.compile(rf"(?<![0-9])(?<![0-9]\.)(?P<it>{_VERSION})(?![A-Za-z0-9])", re.IGNORECASE),
        meaning=_dotted,
    ),
    _Rule(
        "version",
        _alone(rf"(?P<it>(?P<product>{_POSTGRES}|mysql|mariadb)[-_]?(?P<major>\d\d?(?:beta\d|rc\d|devel)?))"),
        meaning=_major,
    ),
    _Rule(
        "repetition",
        _alone(r"(?P<it>\d+(?:st|nd|rd|th))[-_ ]?(?:run|round|try|pass|iteration)"),
        meaning=_number("repetition"),
    ),
    _Rule(
        "threads",
        _alone(rf"(?P<it>\d+)[-_ ]?(?:{_THREADS}|t)"),
        _alone(rf"(?:{_THREADS}|dop|concurrency|conc|nt|t|c)[-_=]?(?P<it>\d+)"),
        meaning=_number("threads"),
    ),
    _Rule("repetition", _alone(rf"(?:{_REPETITION})[-_#=]?(?P<it>\d+)"), meaning=_number("repetition")),
    _Rule("session", _alone(r"(?P<it>session[-_]?\d+)")),
    _Rule(
        "workload",
        _alone(f"(?P<it>{_either(_WORKLOADS)})"),
        meaning=lambda found: {"workload": _WORKLOADS[found["it"].lower()]},
    ),
    _Rule("configuration", _alone(r"(?P<it>(?:tier|bp|buf|mem|pool)[-_]?\d+[kmgt]b?)")),
    _Rule(
        "product",
        _alone(rf"(?P<it>{_either(PRODUCTS)})", behind="(?![A-Za-z])"),
        meaning=_product,
    ),
)
