"""Reads the settings out of my.cnf, postgresql.conf, SHOW VARIABLES and connector options; masks them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ingest.masking import mask_settings, mask_text

_SECTION = re.compile(r"\[([^\]]{0,200})\]")
_SERVER_SECTION = re.compile(r"(?:mysqld|mariadbd?|server|galera)(?:[-.\d].*)?", re.IGNORECASE)
# Their settings say nothing about the server that was measured.
_CLIENT_SECTION = re.compile(
    r"client.*|mysql|mariadb-client|mysql(?:dump|admin|slap|check|import|show|hotcopy|d_safe|d_multi)"
    r"|mariadb-\w+|(?:my)?isamchk",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,199}")
_ASSIGNED = re.compile(r"([A-Za-z_][\w.-]{0,199})[ \t]*[=:][ \t]*(.*)")
_BESIDE = re.compile(r"([A-Za-z_][\w.-]{0,199})[ \t]+('(?:[^']|'')*'|[^\s#'\"]+)[ \t]*(?:#.*)?")
_QUOTED = re.compile(r"""'((?:[^'\\]|\\.|'')*)'|"((?:[^"\\]|\\.)*)\"""")
_TABLE_RULE = re.compile(r"[-+|\s]+")
_HEADS = frozenset({"variable_name", "name"})
_TABLE_HEAD = re.compile(
    r"\|?\s*(?:variable_name(?:\s*+\||[^\S\t]*+\t)\s*+value|name\s*\|\s*setting\b.*)\s*\|?", re.IGNORECASE
)
# Names that nothing but a database server has.
_SERVER_SETTING = re.compile(
    r"(?:innodb|aria|myisam|rocksdb|tokudb|performance_schema|wsrep|binlog|relay_log|replica|slave|autovacuum"
    r"|bgwriter|wal|checkpoint|max_wal|min_wal|shared_buffers|effective|max_parallel|jit|huge_pages|log_auto\w*)_\w+"
    r"|shared_buffers|work_mem|maintenance_work_mem|synchronous_commit|fsync|full_page_writes|jit|huge_pages"
    r"|max_connections|sync_binlog|table_open_cache|thread_handling|thread_pool_size|query_cache_size"
    r"|query_cache_type|key_buffer_size|performance_schema|max_prepared_stmt_count|sort_buffer_size"
    r"|tmp_memory_table_size|tmp_table_size|max_heap_table_size|random_page_cost|track_io_timing|log_checkpoints"
)
_MIN_KNOWN = 2


@dataclass(frozen=True, slots=True)
class Content:
    """The contents of a configuration for some run, masked. ``text`` is None if only switches are known."""

    text: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def switched(self, settings: Mapping[str, str]) -> "Content":
        """Return the content after these settings were changed while the server ran."""
        if not settings:
            return self
        masked = mask_settings({_spelling(name): value for name, value in settings.items()})
        lines = "\n".join(f"{name} = {value}" for name, value in masked.items())
        text = f"{(self.text or '').rstrip()}\n\n# switched while the server ran\n{lines}\n".lstrip()
        return Content(text, {**self.settings, **masked})


def is_server_setting(name: str) -> bool:
    """Return whether nothing but a database server has a setting of this name."""
    return _SERVER_SETTING.fullmatch(name.strip().lower()) is not None


def read_content(text: str) -> Content:
    """Understand a configuration file or a list of variables, whatever of the known kinds it is."""
    return Content(mask_text(text), mask_settings(parse_settings(text)))


def parse_settings(text: str) -> dict[str, str]:
    """Return the settings by their names as the server shows them (``innodb_flush_method``).

    The last of several counts.

    A setting without a value is ``ON``. Settings of a section that is not the server's carry its name.
    """
    settings: dict[str, str] = {}
    section = variable = ""
    for raw_line in text.splitlines():
        line = raw_line.lstrip().rstrip(" \r")
        if match := _SECTION.fullmatch(line):
            section = match[1].strip()
        elif not _CLIENT_SECTION.fullmatch(section) or _SERVER_SECTION.fullmatch(section):
            for name, value in _setting(line):
                # In a list that ends in \G, the name stands in one line and its value in the next.
                if name.lower() in _HEADS and ":" in line:
                    variable = value
                    continue
                if variable and name.lower() == "value":
                    settings[_spelling(variable)] = value
                    continue
                prefix = "" if not section or _SERVER_SECTION.fullmatch(section) else f"{section}."
                settings[prefix + _spelling(name)] = value
    return settings


def is_configuration(text: str) -> bool:
    """Return whether a text is certainly settings of a database server, whatever its name.

    It has a section of a server, is a table of variables, or assigns settings that servers have on each of
    its lines.
    """
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and line[0] not in "#;!*"]
    settings = parse_settings(text)
    if any((found := _SECTION.fullmatch(line)) and _SERVER_SECTION.fullmatch(found[1]) for line in lines):
        return bool(settings)
    known = sum(_SERVER_SETTING.fullmatch(name) is not None for name in settings)
    is_table = any(_TABLE_HEAD.fullmatch(line) for line in lines[:2])
    is_list = bool(lines) and all(_ASSIGNED.fullmatch(line) for line in lines)
    return known >= _MIN_KNOWN and (is_table or is_list)


def switches_of(state: str) -> dict[str, str] | None:
    """Return the settings that a state such as ``slow_query_log=ON long_query_time=0`` switched.

    None where the state is a mere name, as of ``pool-of-threads``; nothing was switched in ``base``.
    """
    words = state.split()
    if words in ([], ["base"]):
        return {}
    pairs = [word.partition("=") for word in words]
    if not all(separator and _NAME.fullmatch(name) for name, separator, _ in pairs):
        return None
    return {_spelling(name): value for name, _, value in pairs}


def _setting(line: str) -> Iterator[tuple[str, str]]:
    """Yield the one setting of a line, or none."""
    if not line or line[0] in "#;!" or _TABLE_RULE.fullmatch(line):
        return
    if cells := _cells(line):
        name, value = cells
        if _NAME.fullmatch(name) and name.lower() not in _HEADS:
            yield name, value
    elif match := _ASSIGNED.fullmatch(line) or _BESIDE.fullmatch(line):
        yield match[1], _value(match[2])
    elif _NAME.fullmatch(line):
        yield line, "ON"


def _cells(line: str) -> tuple[str, str] | None:
    """Split a line of a table: ``| name | value |``, ``name | value | about`` or with a tab."""
    if "\t" in line and "=" not in line.partition("\t")[0]:
        cells = line.split("\t")
    elif line.startswith("|") or re.match(r"[\w.]+\s+\|", line):
        cells = line.strip("|").split("|")
    else:
        return None
    return (cells[0].strip(), cells[1].strip()) if len(cells) > 1 else None


def _value(text: str) -> str:
    """Return a value without its quotes and the comment behind it."""
    if match := _QUOTED.match(text):
        return match[1].replace("''", "'") if match[1] is not None else match[2]
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()


def _spelling(name: str) -> str:
    return name.lower().replace("-", "_").removeprefix("loose_")
