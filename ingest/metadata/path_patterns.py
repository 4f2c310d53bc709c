"""Path patterns: they turn the names of files and folders into metadata.

    x.{version}_{build}.{config}.pk1/sb.o.{workload}.range{range}.pk1.dop{threads}

A name in braces stands for a part of the path without ``/``, as short as can be. Names of upload fields give
those fields (``config`` is the configuration); any other name belongs to the workload (``range`` above: the
workload is ``points range=100``). ``*`` is any part of a name, ``**/`` any folders.

A mapping says what parts of names mean, and what holds for all files:

    {"version": {"ma101114": {"product": "MariaDB", "version": "10.11.14"}, "my8044": "8.0.44"},
     "fields": {"hardware": "bench-03"}}

``path`` in a mapping says what holds for single files, by their whole paths, and wins over the rest:

    {"path": {"old/t04.txt": {"version": "10.11.5"}}}

A companion pattern, ``x.{version}_{build}.{config}.pk1/sb.vm.{workload}.*``, finds the files that go with
those results of which the same names are the same.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ingest.metadata.fields import FIELDS, MAX_PATTERN_LENGTH
from ingest.metadata.values import in_case_of_a_slip

ANY_FILE = "**/*"
ANY_PART = "*"
# In a mapping: what holds for the file of this path alone.
WHOLE_PATH = "path"

_ALIASES = {"config": "configuration"}
_ALL_FILES = "fields"
_MAX_ANY_FOLDERS = 2
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
        """Read a pattern. Raises PatternError for stray braces, names given twice, and what is ambiguous."""
        if len(text) > MAX_PATTERN_LENGTH:
            raise PatternError(f"the pattern has {len(text)} characters, more than {MAX_PATTERN_LENGTH}")
        tokens = list(_tokens(text))
        _check(tokens)
        names = tuple(name for kind, name in tokens if kind == "name")
        return cls(re.compile("".join(_expression(tokens))), names)

    def match(self, path: str) -> dict[str, str] | None:
        found = self.expression.fullmatch(path)
        return found.groupdict() if found else None

    @property
    def other_names(self) -> list[str]:
        """The names that are no fields of an upload: their texts join the workload."""
        return [name for name in self.names if field_called(name) not in FIELDS]


def field_called(name: str) -> str:
    """Return the field that a name in a pattern stands for."""
    return _ALIASES.get(name, name)


_Token = tuple[str, str]


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the parts of a pattern, each with its kind: ``name``, ``star``, ``folders`` or ``text``."""
    position = 0
    for token in _TOKEN.finditer(text):
        if token.start() > position:
            yield "text", _literal(text[position : token.start()])
        position = token.end()
        yield str(token.lastgroup), token[str(token.lastgroup)]
    if position < len(text):
        yield "text", _literal(text[position:])


def _check(tokens: Sequence[_Token]) -> None:
    names = [text for kind, text in tokens if kind == "name"]
    if twice := [name for name in names if names.count(name) > 1]:
        raise PatternError(f"'{{{twice[0]}}}' stands twice in the pattern")
    if sum(kind == "folders" for kind, _ in tokens) > _MAX_ANY_FOLDERS:
        raise PatternError(f"'**/' may stand {_MAX_ANY_FOLDERS} times in the pattern")
    for (kind, text), (kind_behind, text_behind) in pairwise([("text", "/"), *tokens]):
        if kind_behind == "folders" and not (kind == "text" and text.endswith("/")):
            raise PatternError("'**/' stands for whole folders: at the beginning or behind a '/'")
        if {kind, kind_behind} <= {"name", "star"}:
            both = f"{_written(kind, text)} and {_written(kind_behind, text_behind)}"
            raise PatternError(f"{both} stand side by side, and nothing tells where one ends")


def _expression(tokens: Sequence[_Token]) -> Iterator[str]:
    """Yield the parts of a regular expression that takes no longer than the path is long.

    A name ends where the text behind it first follows. To look for a later place would find nothing more,
    except for the last name of all.
    """
    variable = [index for index, (kind, _) in enumerate(tokens) if kind in ("name", "star")]
    for index, (kind, text) in enumerate(tokens):
        behind = "(?>" if index in variable[:-1] else ""
        before = ")" if kind == "text" and index - 1 in variable[:-1] else ""
        match kind:
            case "name":
                yield f"{behind}(?P<{text}>[^/]+?)"
            case "star":
                yield f"{behind}[^/]*?"
            case "folders":
                yield "(?:.*/)?"
            case _:
                yield re.escape(text) + before


def _written(kind: str, text: str) -> str:
    return f"'{{{text}}}'" if kind == "name" else f"'{text}'"


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise PatternError(f"a stray brace in {text!r}; names in braces are like {{version}}")
    return text


@dataclass(frozen=True, slots=True)
class PathMap:
    """The meanings of parts of names, by name and text, and the fields of all files."""

    parts: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "PathMap":
        """Read a mapping from JSON. Raises PatternError for what is none."""
        try:
            return cls.of(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise PatternError(f"the mapping is not valid JSON: {error}") from None

    @classmethod
    def of(cls, given: Any) -> "PathMap":
        """Read a mapping from the value of some JSON. Raises PatternError for what is none."""
        if not isinstance(given, Mapping) or not all(isinstance(value, Mapping) for value in given.values()):
            raise PatternError("the mapping must be a JSON object of objects")
        parts = {
            name: {text: _meaning(name, value) for text, value in values.items()}
            for name, values in given.items()
            if name != _ALL_FILES
        }
        return cls(parts, given.get(_ALL_FILES, {}))

    def read(self, names: Mapping[str, str], path: str = "") -> dict[str, Any]:
        """Return the fields that a path and its parts give.

        What the mapping says of a part wins over the part, and what it says of the path over both.
        """
        fields: dict[str, Any] = dict(self.fields)
        meant: dict[str, Any] = {}
        rest = []
        for name, text in names.items():
            own_field = field_called(name)
            if text in self.parts.get(name, {}):
                meant |= self.parts[name][text]
            elif own_field in FIELDS:
                fields[own_field] = text
            else:
                rest.append(f"{name}={text}")
        fields |= meant
        if rest:
            fields["workload"] = " ".join([str(fields.get("workload", "")), *rest]).strip()
        fields |= self.parts.get(WHOLE_PATH, {}).get(path, {})
        return fields


@dataclass(frozen=True, slots=True)
class PathRules:
    """How the paths of a folder are read."""

    pattern: PathPattern
    path_map: PathMap = field(default_factory=PathMap)
    companions: tuple[PathPattern, ...] = ()
    controls: tuple[PathPattern, ...] = ()

    @classmethod
    def parse(
        cls,
        pattern: str | None = None,
        path_map: PathMap | None = None,
        companions: Iterable[str] = (),
        controls: Iterable[str] = (),
    ) -> "PathRules":
        """Read the patterns of results, companions and runs of the control. Raises PatternError."""
        main = PathPattern.parse(pattern or ANY_FILE)
        beside = tuple(PathPattern.parse(text) for text in companions)
        for one in beside:
            if unknown := [name for name in one.names if name not in main.names]:
                raise PatternError(
                    f"'{{{unknown[0]}}}' of a companion pattern is not in the pattern of the results"
                )
        return cls(main, path_map or PathMap(), beside, tuple(map(PathPattern.parse, controls)))

    def warnings(self, *, is_typed: bool = True) -> list[str]:
        """Return a warning for each name that is no field and of which the mapping says nothing.

        A pattern that nobody typed has no slips.
        """
        known = [*FIELDS, *_ALIASES] if is_typed else []
        return [
            f"'{{{name}}}' in the pattern is no field of an upload, so its text joins the workload "
            f"('{name}=...'){in_case_of_a_slip(name, known, '{{{}}}')}"
            for name in self.pattern.other_names
            if name not in self.path_map.parts
        ]

    def fields_of(self, path: str, names: Mapping[str, str]) -> dict[str, Any]:
        """Return what the path of a result says, given the parts that the pattern names."""
        fields = self.path_map.read(names, path)
        if any(control.match(path) is not None for control in self.controls):
            fields["control"] = True
        return fields


def _meaning(name: str, value: Any) -> Mapping[str, Any]:
    """Return the fields that a part means: a text stands for the field itself, an object for several."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and name != WHOLE_PATH:
        return {field_called(name): value}
    raise PatternError(f"the mapping of {name!r} must hold texts or objects of fields")
