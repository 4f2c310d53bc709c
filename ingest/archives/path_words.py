"""What the words in the names of files and folders mostly mean.

    mysql/8.0.45/Tier12G_RW_16th.sysbench.txt

says MySQL, 8.0.45, a configuration ``Tier12G``, ``oltp_read_write`` and 16 threads. Each word is a guess, for
a person to confirm.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
# A version of these behind the name of the tool is that of the tool.
_TOOL_VERSIONS: Final = {"sysbench": ("0.4", "0.5", "1.0", "1.1"), "jmh": ("1.",), "ycsb": ("0.",)}
_FIRST_YEAR: Final = 1990


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
        """Whether the field is the text, so that a pattern needs no mapping for it."""
        value = self.values.get(self.field)
        return len(self.values) == 1 and (
            value == int(self.text) if isinstance(value, int) else value == self.text
        )


_Meaning = Callable[[re.Match[str]], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Where an expression fits, its group ``it`` is a word; ``meaning`` returns None where it is none."""

    field: str
    expression: re.Pattern[str]
    meaning: _Meaning | None = None


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
        for found in rule.expression.finditer(path):
            values = rule.meaning(found) if rule.meaning else {rule.field: found["it"]}
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


def _alone(expression: str) -> re.Pattern[str]:
    """Return an expression that fits whole words alone, in either case."""
    return re.compile(rf"(?<![A-Za-z0-9]){expression}(?![A-Za-z0-9])", re.IGNORECASE)


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
    """Read a version, unless a word such as ``rep`` stands right before it, or a tool that has this one."""
    before = found.string[: found.start()].lower()
    word = re.search(r"[a-z]*$", before)
    if word and word[0] not in ("", "v", *_BEFORE_A_VERSION):
        return None
    for tool, versions in _TOOL_VERSIONS.items():
        if before.rstrip("-_ ").endswith(tool) and found["it"].startswith(versions):
            return None
    return {"version": found["it"]} if int(found["it"].partition(".")[0]) < _FIRST_YEAR else None


def _product(found: re.Match[str]) -> dict[str, Any]:
    return {"product": _BEFORE_A_VERSION[found["it"].lower()]}


def _folder(found: re.Match[str]) -> dict[str, Any] | None:
    """Read what stands before the version in the name of a folder, ``mariadb-java-client-1.5.3``."""
    return None if found["it"].lower() in _TOOL_VERSIONS else {"product": found["it"]}


def _number(name: str) -> _Meaning:
    return lambda found: {name: int(found["it"])}


_VERSION: Final = r"\d+(?:\.\d+){1,3}(?:-?(?:snapshot|ga|rc\d*|beta\d*|alpha\d*))?"
_THREADS: Final = "threads?|thrds?|thr|th|clients?|conns?|connections?|users?|vus?"
_REPETITION: Final = "repetition|repeat|rep|run|res|iteration|iter|trial|try|round|sample|attempt|pass"
# The surest first.
_RULES: Final = (
    _Rule(
        "started_at",
        re.compile(r"(?<!\d)(?P<it>20\d\d(-?)[01]\d\2[0-3]\d[T_-][0-2]\d(:?)[0-5]\d(?:\3[0-5]\d)?)(?!\d)"),
    ),
    _Rule(
        "hardware",
        _alone(r"(?P<it>[a-z]{1,3}\d[a-z]{0,3}[._-](?:\d{0,2}xlarge|large|medium|small|micro|metal))"),
    ),
    _Rule("hardware", _alone(r"(?P<it>[a-z]\d[a-z]?-(?:standard|highmem|highcpu)-\d+)")),
    _Rule("hardware", _alone(r"(?P<it>c\d+r\d+)")),
    _Rule("hardware", _alone(r"(?P<it>(?:bench|host|node|box|machine)-?\d+)")),
    _Rule("hardware", _alone(r"(?P<it>\d+-?cores?)")),
    _Rule(
        "version",
        _alone(rf"(?P<it>(?P<product>{_either(_BEFORE_A_VERSION)})(?P<digits>\d{{2,6}})(?P<build>v\d)?)"),
        _undotted,
    ),
    _Rule(
        "product",
        re.compile(
            rf"(?<![A-Za-z0-9])(?P<it>{_either(_BEFORE_A_VERSION)})(?=[-_. /]?v?{_VERSION}(?![A-Za-z0-9]))",
            re.IGNORECASE,
        ),
        _product,
    ),
    _Rule(
        "product",
        re.compile(rf"(?:^|(?<=/))(?P<it>[a-z]\w*(?:-[a-z]\w*)*)(?=-v?{_VERSION}/)", re.IGNORECASE),
        _folder,
    ),
    _Rule(
        "version",
        re.compile(rf"(?<![0-9])(?<![0-9]\.)(?P<it>{_VERSION})(?![A-Za-z0-9])", re.IGNORECASE),
        _dotted,
    ),
    _Rule(
        "version",
        _alone(r"(?P<it>(?P<product>postgresql|postgres|pgsql|pg)-(?P<digits>[123]\d)(?P<build>(?!))?)"),
        _undotted,
    ),
    _Rule("threads", _alone(rf"(?P<it>\d+)[-_]?(?:{_THREADS}|t)"), _number("threads")),
    _Rule(
        "threads",
        _alone(rf"(?:{_THREADS}|dop|concurrency|conc|nt|t|c)[-_=]?(?P<it>\d+)"),
        _number("threads"),
    ),
    _Rule("repetition", _alone(rf"(?:{_REPETITION})[-_#=]?(?P<it>\d+)"), _number("repetition")),
    _Rule("repetition", re.compile(r"#(?P<it>\d+)(?![A-Za-z0-9])"), _number("repetition")),
    _Rule("session", _alone(r"(?P<it>session[-_]?\d+)")),
    _Rule(
        "workload",
        _alone(f"(?P<it>{_either(_WORKLOADS)})"),
        lambda found: {"workload": _WORKLOADS[found["it"].lower()]},
    ),
    _Rule("configuration", _alone(r"(?P<it>(?:tier|bp|buf|mem|pool)[-_]?\d+[kmgt]b?)")),
    _Rule(
        "product",
        re.compile(rf"(?<![A-Za-z0-9])(?P<it>{_either(PRODUCTS)})(?![A-Za-z])", re.IGNORECASE),
        _product,
    ),
)
