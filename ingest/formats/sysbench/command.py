"""The lines of a script before sysbench's banner: the command line with test and options, and the CPUs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from ingest.formats.report import Fact

_MAX_COMMAND_LENGTH = 20_000
_MAX_LINES = 200
_WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")
_SHELL = re.compile(r"[0-9]?[<>|&;]")
_WHOLE = re.compile(r"[0-9]{1,15}")
_CPUS = re.compile(r"([1-9][0-9]{0,5}) CPUs?\s*")
# A blank line, a fence, or what sysbench prints before its report. Other text is a script's or a document's.
OF_SYSBENCH = re.compile(
    r"\s*(?:$|`{3}|~{3}|-{4}|[\[\],]|sysbench [0-9]|WARNING: |Running the test|Number of threads: "
    r"|Report intermediate|Initializing |Threads started!|Prime numbers limit: |Done\.)"
)
# A sign that stands for a word.
_PLACEHOLDER = re.compile(r"[$<>{}%*]")
_SECRET_NAME = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)


def command_in(lines: Iterable[str]) -> str:
    """Return the last line that calls sysbench to run a test, as a script prints it; else empty.

    Where the lines call it for several tests, as a list of commands does, the last is the one that ran only
    if nothing but sysbench's own output is behind it.
    """
    command, tests, is_close = "", set(), True
    for line in _joined(lines):
        words = arguments(line) if len(line) <= _MAX_COMMAND_LENGTH else []
        if _positional(words)[-1:] == ["run"]:
            command, is_close = line.strip(), True
            tests.add(workload_of(words))
        elif not OF_SYSBENCH.match(line):
            is_close = False
    return command if is_close or len(tests) == 1 else ""


def cpus_in(lines: Iterable[str]) -> int | None:
    """Return the number in the last line that is nothing but ``48 CPUs``."""
    matches = [match for line in lines if (match := _CPUS.fullmatch(line))]
    return int(matches[-1][1]) if matches else None


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines; one that goes on behind a backslash is one with the next."""
    begun: list[str] = []
    for line in lines:
        if line.endswith("\\") and len(begun) < _MAX_LINES:
            begun.append(line[:-1].strip())
        elif begun:
            yield " ".join([*begun, line.strip()])
            begun = []
        else:
            yield line


def arguments(command: str) -> list[str]:
    """Return the words after ``sysbench``, up to a pipe or a redirection.

    A Lua script may stand in its place, as ``./tpcc.lua --threads=8 run`` does; it is the first word then.
    """
    words = [word.strip("`").replace("'", "").replace('"', "") for word in _WORD.findall(command)]
    names = [word.rpartition("/")[2] for word in words]
    if "sysbench" in names:
        start = names.index("sysbench") + 1
    else:
        scripts = (i for i, name in enumerate(names) if name.endswith(".lua") and "=" not in name)
        start = next(scripts, len(words))
    return list(takewhile(lambda word: not _SHELL.match(word), words[start:]))


def _positional(words: Sequence[str]) -> list[str]:
    """Return the test, if it is named so, and the command: empty where the words are no call of sysbench."""
    positional = [word for word in words if not word.startswith("-")]
    return positional if len(positional) <= 2 else []


def workload_of(words: Sequence[str]) -> str | None:
    """Return the test of a command line: ``oltp_delete`` of ``share/oltp_delete.lua run``."""
    named = [word.removeprefix("--test=") for word in words if word.startswith("--test=")]
    test = next(iter(named + _positional(words)[:-1]), "")
    name = test.rpartition("/")[2].removesuffix(".lua")
    return name if name and not _PLACEHOLDER.search(name) else None


def options_of(words: Sequence[str]) -> dict[str, Fact]:
    """Return the options of a command line under their long names, without those that hold secrets."""
    options: dict[str, Fact] = {}
    for word in words:
        name, is_set, value = word.partition("=")
        if name.startswith("--") and not _SECRET_NAME.search(name) and not _PLACEHOLDER.search(value):
            options[name[2:].replace("_", "-")] = option(value if is_set else "on")
    return options


def option(text: str) -> Fact:
    if text in ("on", "off"):
        return text == "on"
    return int(text) if _WHOLE.fullmatch(text) else text
