"""The instructions of a tool for a run: its options and its command line, without measurements."""

import re
from collections.abc import Mapping
from typing import Final

from benchdash.results.dimensions import meaningful_settings

Options = Mapping[str, object]

COMMAND: Final = "command"

# Measurements that stand among the options of a run.
_MEASURED: Final = re.compile(
    r"contention\..*|(.*_)?(busy|cpu|steal|iowait|cpu_\w+)_s|loadavg.*|spin_(before|after)|finished_at|sequence"
    r"|night|count|seconds|errors|reconnects|repetition"
)
_ARGUMENT: Final = re.compile(r"(?<!\S)(--?[A-Za-z][\w.-]*)(?:=(\S*)|(?:\s+(?!-)(\S+))?)")
_SIZES: Final = frozenset(
    {
        *("tables", "table_size", "oltp_tables_count", "oltp_table_size", "rows", "num_rows"),
        *("scale", "scaling_factor", "s", "warehouses", "recordcount"),
    }
)
_SECONDS: Final = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)\s*s?")
_TIMES: Final = ("time", "max_time", "duration", "T")
# With a count of operations to do, the duration is a result and not an option.
_COUNTS: Final = ("events", "max_requests", "t", "transactions", "transactions_per_client", "operationcount")
_SAME_LENGTH: Final = 1.1


def told(options: Options) -> dict[str, str]:
    """Return what was chosen: the options, and the arguments of the command by their names with dashes.

    Ports, hosts and paths are left out, which differ between two starts of the same.
    """
    in_command = arguments(options)
    known = {COMMAND, *map(_spelt, in_command)}
    chosen = {
        name: str(value)
        for name, value in options.items()
        if _spelt(name) not in known and not isinstance(value, float) and not _MEASURED.fullmatch(name)
    }
    return chosen | {name: value for name, value in in_command.items() if not _is_noise(name)}


def arguments(options: Options) -> dict[str, str]:
    """Return the named arguments of the command line; one without a value is ``on``."""
    command = options.get(COMMAND)
    if not isinstance(command, str):
        return {}
    return {
        match[1]: match[2] if match[2] is not None else match[3] or "on"
        for match in _ARGUMENT.finditer(command)
    }


def data_size(options: Options) -> dict[str, str]:
    """Return how large the tables were made, by the tool's own names; empty where nobody said."""
    said = {_spelt(name): str(value) for name, value in {**arguments(options), **options}.items()}
    return {name: value for name, value in said.items() if name in _SIZES}


def seconds(options: Options, duration_s: float | None) -> float | None:
    """Return how long the tool was told to run, else how long it did; None where it counted operations."""
    told, is_counted = told_length(options)
    return told if told or is_counted else duration_s


def told_length(options: Options) -> tuple[float | None, bool]:
    """Return how many seconds the tool was told to run, and whether it was told a count of operations."""
    said = {_spelt(name): str(value) for name, value in {**options, **arguments(options)}.items()}
    told = next(filter(None, (_number(said.get(name, "")) for name in _TIMES)), None)
    return told, not told and any(_number(said.get(name, "")) for name in _COUNTS)


def are_equally_long(one: float, other: float) -> bool:
    """Tell whether two durations differ by no more than those of tools that were told the same."""
    return max(one, other) <= _SAME_LENGTH * min(one, other)


def _number(text: str) -> float | None:
    match = _SECONDS.fullmatch(text)
    return float(match[1]) if match else None


def _is_noise(argument: str) -> bool:
    # ``--mysql-port`` says port with the prefix of its driver.
    own = re.sub(r"^(mysql|pgsql|db)_", "", _spelt(argument))
    return own == "host" or not meaningful_settings({own: ""})


def _spelt(name: str) -> str:
    """Spell a name in one way. Letters alone keep their case: ``-S`` is another than ``-s``."""
    plain = name.lstrip("-").replace("-", "_").replace(" ", "_")
    return plain if len(plain) == 1 else plain.lower()
