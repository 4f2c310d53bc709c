"""Folders of result files: a path pattern turns names into metadata.

    x.{version}_{build}.{config}.pk1/sb.o.{workload}.range{range}.pk1.dop{threads}

A name in braces stands for a part of the path without ``/``, as short as can be. Names of upload fields give
those fields (``config`` is the configuration); any other name belongs to the workload (``range`` above: the
workload is ``points range=100``). ``*`` is any part of a name, ``**/`` any folders.

A mapping says what parts of names mean, and what holds for all files:

    {"version": {"ma101114": {"product": "MariaDB", "version": "10.11.14"}, "my8044": "8.0.44"},
     "fields": {"hardware": "bench-03"}}
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.fields import FIELDS

ANY_FILE = "**/*"
META_SUFFIX = ".meta.json"

_ALIASES = {"config": "configuration"}
_ALL_FILES = "fields"
_TOKEN = re.compile(r"\{(?P<name>[a-z_][a-z0-9_]*)\}|(?P<folders>\*\*/)|(?P<star>\*+)", re.ASCII)


class PatternError(Exception):
    """A path pattern or a mapping that cannot be meant, with a sentence."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """``names`` are those in braces, in their order."""

    expression: re.Pattern[str]
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "PathPattern":
        """Raises PatternError for stray braces and names given twice."""
        parts: list[str] = []
        names: list[str] = []
        position = 0
        for token in _TOKEN.finditer(text):
            parts.append(_literal(text[position : token.start()]))
            position = token.end()
            if name := token["name"]:
                if name in names:
                    raise PatternError(f"'{{{name}}}' stands twice in the pattern")
                names.append(name)
                parts.append(f"(?P<{name}>[^/]+?)")
            else:
                parts.append("(?:.*/)?" if token["folders"] else "[^/]*")
        parts.append(_literal(text[position:]))
        return cls(re.compile("".join(parts)), tuple(names))

    def match(self, path: str) -> dict[str, str] | None:
        found = self.expression.fullmatch(path)
        return found.groupdict() if found else None


@dataclass(frozen=True, slots=True)
class PathMap:
    """What parts of names mean, by name and text, and the fields of all files."""

    parts: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "PathMap":
        """Raises PatternError for what is no such mapping."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PatternError(f"the mapping is not valid JSON: {error}") from None
        if not isinstance(given, dict) or not all(isinstance(value, dict) for value in given.values()):
            raise PatternError("the mapping must be a JSON object of objects")
        parts = {
            name: {text: _meaning(name, value) for text, value in values.items()}
            for name, values in given.items()
            if name != _ALL_FILES
        }
        return cls(parts, given.get(_ALL_FILES, {}))

    def read(self, names: Mapping[str, str]) -> dict[str, Any]:
        """The fields that the parts of one path give; what a part is said to mean wins over other parts."""
        fields: dict[str, Any] = dict(self.fields)
        meant: dict[str, Any] = {}
        rest = []
        for name, text in names.items():
            own_field = _ALIASES.get(name, name)
            if text in self.parts.get(name, {}):
                meant |= self.parts[name][text]
            elif own_field in FIELDS:
                fields[own_field] = text
            else:
                rest.append(f"{name}={text}")
        fields |= meant
        if rest:
            fields["workload"] = " ".join([str(fields.get("workload", "")), *rest]).strip()
        return fields


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file of the folder and what its path says. ``path`` is relative to the folder."""

    path: str
    file: Path
    fields: Mapping[str, Any]


def find_files(folder: Path, pattern: PathPattern, path_map: PathMap) -> Iterator[FolderFile]:
    """The regular files whose path fits, sorted; what lies in a ``X.meta.json`` beside is their ``meta``."""
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if path.endswith(META_SUFFIX) or not file.is_file() or file.is_symlink():
            continue
        names = pattern.match(path)
        if names is not None:
            meta = _meta_beside(file)
            yield FolderFile(path, file, {**path_map.read(names), **({"meta": meta} if meta else {})})


def _meta_beside(file: Path) -> Any:
    """Raises PatternError for a meta that is no JSON object."""
    beside = file.with_name(f"{file.stem}{META_SUFFIX}")
    if not beside.is_file():
        return None
    try:
        meta = json.loads(beside.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise PatternError(f"{beside.name} is not valid JSON: {error}") from None
    if not isinstance(meta, dict):
        raise PatternError(f"{beside.name} must hold a JSON object")
    return meta


def _meaning(name: str, value: Any) -> Mapping[str, Any]:
    """A text stands for the field itself, an object for several fields."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        return {_ALIASES.get(name, name): value}
    raise PatternError(f"the mapping of {name!r} must hold texts or objects of fields")


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise PatternError(f"a stray brace in {text!r}; names in braces are like {{version}}")
    return re.escape(text)
