"""Plans what becomes of the files of a folder or an archive: from their paths alone, before any is opened."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from ingest.metadata.path_patterns import PathRules, PatternError

META_NAME: Final = "meta.json"
META_SUFFIX: Final = ".meta.json"
# ``t04.vmstat.txt`` lies beside ``t04.txt``.
COMPANION_WORDS: Final = (
    "vmstat",
    "iostat",
    "mpstat",
    "dstat",
    "pcp",
    "pmrep",
    "lscpu",
    "cpuinfo",
    "uname",
    "free",
    "systeminfo",
    "variables",
)
CONFIGURATION_SUFFIXES: Final = (".cnf", ".conf", ".ini")
MAX_COMPANIONS: Final = 50

_BESIDE = re.compile(rf"(.+)\.(?:{'|'.join(COMPANION_WORDS)})(?:\.(?:txt|csv|log|out))?")
# Facts of the machine hold for all results in its folder.
_OF_THE_MACHINE = re.compile(r"(?:lscpu|cpuinfo|uname|free|systeminfo)(?:\.(?:txt|log|out))?")
# Names of tools say what a file is, and not what it is of: ``vmstat_16.log`` lies beside ``sysbench_16.log``.
_TOOLS = ("sysbench", "pgbench", "ycsb", "hammerdb", "mysqlslap", "tpcc", "sar", *COMPANION_WORDS)
_TOOL_WORD = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_TOOLS)})(?![A-Za-z0-9])", re.IGNORECASE)
_WORD_AT_THE_END = re.compile(r"\.[A-Za-z]+$")
_CHANGED_SETTINGS = "conf.diff"


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A result. ``fields`` is what its path says; of ``metas`` the last one is the nearest."""

    path: str
    fields: Mapping[str, Any]
    metas: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """``ignored`` says, by path, why a file is left alone."""

    files: tuple[PlannedFile, ...]
    ignored: Mapping[str, str]


def plan(paths: Iterable[str], rules: PathRules, companions: Collection[str] = ()) -> Plan:
    """Tell the results from what lies beside them, and from what is left alone.

    - ``X.meta.json`` goes with ``X.txt``, and ``meta.json`` with all results in its folder and below.
    - What fits a companion pattern goes with the results of which the same names are the same: those in its
      folder and below or, where there are none, those elsewhere. Without names, it goes with all results in
      its folder and below.
    - ``X.vmstat.txt`` and the like go with ``X.txt`` or ``X.sysbench.txt``. Those of ``companions`` (known by
      their content) go with the result that has the same name but for names of tools, or with the only one in
      the folder where they are called like a tool. Configuration files and facts of the machine go with the
      results in their folder and below, the nearest of each name.

    Raises PatternError where a result would have too many companions.
    """
    kinds = _Kinds.of(sorted(paths), rules, companions)
    results = _Results(kinds.results)
    given = _Companions()
    for path in sorted(kinds.usual, key=_from_far_to_near):
        # A nearer file takes the place of one of the same name, unless it belongs to one result alone.
        key = path if _BESIDE.fullmatch(_name(path)) else _name(path)
        given.give(path, _owners_by_name(path, results), key=key)
    for path in kinds.seen:
        given.give(path, results.of_stem(path), key=path)
    for path, names in kinds.told.items():
        given.give(path, _owners_by_pattern(path, names, results), key=path)
    files = tuple(
        PlannedFile(
            path,
            rules.fields_of(path, names),
            tuple(meta for meta in _metas(path) if meta in kinds.metas),
            tuple(given.of[path].values()),
        )
        for path, names in kinds.results.items()
    )
    used = {meta for file in files for meta in file.metas}.union(given.given)
    beside = [*kinds.metas, *kinds.usual, *kinds.seen, *kinds.told]
    ignored = dict.fromkeys(kinds.hidden, "it is hidden")
    ignored |= {path: results.why_none_owns(path) for path in beside if path not in used}
    ignored |= dict.fromkeys(kinds.others, "it does not fit the pattern")
    return Plan(files, ignored)


def may_be_companions(paths: Iterable[str], rules: PathRules) -> list[str]:
    """Return the paths of which only the content tells whether they lie beside a result."""
    kinds = _Kinds.of(sorted(paths), rules)
    stems: dict[str, list[str]] = defaultdict(list)
    for path in (*kinds.results, *kinds.others):
        stems[_common_name(path)].append(path)
    return [
        path
        for name, alike in stems.items()
        if (len(alike) > 1 or name == _folder(name)) and not kinds.results.keys().isdisjoint(alike)
        for path in alike
    ]


def is_configuration(path: str) -> bool:
    name = _name(path)
    return name.lower().endswith(CONFIGURATION_SUFFIXES) or name == _CHANGED_SETTINGS


# --- what a file is -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Kinds:
    """The paths by what they are. ``results`` and ``told``, companions by a pattern, have their names.

    Companions are ``usual`` by their name and ``seen`` by their content.
    """

    results: dict[str, Mapping[str, str]] = field(default_factory=dict)
    told: dict[str, Mapping[str, str]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    usual: list[str] = field(default_factory=list)
    metas: dict[str, None] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, paths: Sequence[str], rules: PathRules, seen: Collection[str] = ()) -> "_Kinds":
        kinds = cls()
        for path in paths:
            if _is_hidden(path):
                kinds.hidden.append(path)
            elif _name(path) == META_NAME or path.endswith(META_SUFFIX):
                kinds.metas[path] = None
            elif found := [names for one in rules.companions if (names := one.match(path)) is not None]:
                kinds.told[path] = found[0]
            elif _is_usual_companion(_name(path)):
                kinds.usual.append(path)
            elif path in seen:
                kinds.seen.append(path)
            elif (names := rules.pattern.match(path)) is not None:
                kinds.results[path] = names
            else:
                kinds.others.append(path)
        return kinds


def _is_hidden(path: str) -> bool:
    """Return whether file managers or version control left the file behind."""
    return path.startswith("__MACOSX/") or any(part.startswith(".") for part in path.split("/"))


def _is_usual_companion(name: str) -> bool:
    return bool(is_configuration(name) or _BESIDE.fullmatch(name) or _OF_THE_MACHINE.fullmatch(name))


# --- what lies beside what ----------------------------------------------------------------------------------


class _Results:
    """The results, found by folder, by name and by what their paths say."""

    def __init__(self, names: Mapping[str, Mapping[str, str]]) -> None:
        self._names = names
        self._below: dict[str, list[str]] = defaultdict(list)
        self._like: dict[str, list[str]] = defaultdict(list)
        self._bare: dict[str, list[str]] = defaultdict(list)
        self._agreeing: dict[tuple[str, ...], dict[tuple[str, ...], list[str]]] = {}
        for path in names:
            for folder in _folders(path):
                self._below[folder].append(path)
            for stem in {path, _stem(path)}:
                self._like[stem].append(path)
            self._bare[_common_name(path)].append(path)

    def below(self, folder: str) -> Sequence[str]:
        return self._below[folder]

    def like(self, path: str) -> Sequence[str]:
        """Return the results of this path, whatever their suffix."""
        return self._like[path]

    def of_stem(self, path: str) -> Sequence[str]:
        """Return the results beside a companion that have its name; none where they are several results."""
        name = _common_name(path)
        found = self._bare[name]
        if not found and name == _folder(name):
            found = [one for one in self._below[name] if _folder(one) == name]
        return found if len({_stem(one) for one in found}) == 1 else ()

    def why_none_owns(self, path: str) -> str:
        name = _common_name(path)
        if self._bare[name] or (name == _folder(name) and self._below[name]):
            return "several results have its name, and nothing says beside which of them it lies"
        return "it lies beside a result that is not here"

    def agreeing(self, names: Mapping[str, str]) -> Sequence[str]:
        key = tuple(names)
        if key not in self._agreeing:
            self._agreeing[key] = defaultdict(list)
            for path, own in self._names.items():
                self._agreeing[key][tuple(own[name] for name in key)].append(path)
        return self._agreeing[key][tuple(names.values())]


@dataclass(slots=True)
class _Companions:
    """The companions of each result; of those with one key, the last."""

    of: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    given: set[str] = field(default_factory=set)

    def give(self, path: str, owners: Iterable[str], *, key: str) -> None:
        for owner in owners:
            self.of[owner][key] = path
            self.given.add(path)
            if len(self.of[owner]) > MAX_COMPANIONS:
                raise PatternError(f"more than {MAX_COMPANIONS} files lie beside '{owner}'")


def _owners_by_pattern(path: str, names: Mapping[str, str], results: _Results) -> Sequence[str]:
    folder = _folder(path)
    if not names:
        return results.below(folder)
    agreeing = results.agreeing(names)
    return [one for one in agreeing if one.startswith(folder)] or agreeing


def _owners_by_name(path: str, results: _Results) -> Sequence[str]:
    if found := _BESIDE.fullmatch(_name(path)):
        return results.like(_folder(path) + found[1]) or results.of_stem(path)
    # A configuration file belongs to a result by its name, ``t04.cnf`` to ``t04.txt``.
    return results.like(_stem(path)) or results.below(_folder(path))


def _from_far_to_near(path: str) -> tuple[bool, int, str]:
    return _BESIDE.fullmatch(_name(path)) is not None, path.count("/"), path


def _metas(path: str) -> list[str]:
    """Return the places where a meta of this result may lie, the nearest last."""
    return [
        *(folder + META_NAME for folder in _folders(path)),
        _stem(path) + META_SUFFIX,
        path + META_SUFFIX,
    ]


# --- paths --------------------------------------------------------------------------------------------------


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    """Return the folder with its ``/``; empty for the topmost."""
    return path[: path.rfind("/") + 1]


def _folders(path: str) -> list[str]:
    """Return the folders in which a file lies, the topmost first."""
    return ["", *(path[: found.end()] for found in re.finditer("/", path))]


def _stem(path: str) -> str:
    return _folder(path) + PurePosixPath(_name(path)).stem


def _common_name(path: str) -> str:
    """Return a name without those of tools: ``a/t04`` of ``a/vmstat_t04.log``, ``a/`` of ``a/vmstat.log``."""
    name = _TOOL_WORD.sub("", _name(bare_stem(path)))
    return _folder(path) + re.sub(r"[._-]{2,}", "_", name).strip("._-")


def bare_stem(path: str) -> str:
    """Return a path without its suffix and a word before it: ``t04.sysbench.txt`` is ``t04``."""
    stem = _stem(path)
    return _WORD_AT_THE_END.sub("", stem) if "." in _name(stem)[1:] else stem
