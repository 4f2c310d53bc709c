"""Proposes a path pattern, a mapping and fields from the names of files: a guess for a person to confirm.

What varies between the names becomes a name in braces, what all share stays as it is, and its words are
fields of all files.
"""

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from ingest.archives.path_parts import PathPart, PathVariable, as_written, between_words, joined
from ingest.archives.path_words import NUMBERS, Word, words_in, workload_called, workloads_in
from ingest.metadata.fields import FIELDS
from ingest.metadata.path_patterns import (
    ANY_FILE,
    ANY_PART,
    WHOLE_PATH,
    PathMap,
    PathPattern,
    PatternError,
    field_called,
)

# Beyond this many files a mapping cannot name each.
MAX_FILES_BY_PATH: Final = 250
# If there are more files than this, the rest are taken to be named alike.
_MAX_STUDIED: Final = 3_000
# The share of the files that must say a thing in the same place.
_MOST: Final = 0.6
_USUAL_THREADS: Final = frozenset(
    [*(2**n for n in range(15)), 6, 10, 12, 20, 24, 40, 48, 50, 80, 96, 100, 192, 200, 384, 400, 768, 1000]
)
_OWN_FIELDS: Final = ("product", "version", "hardware", "workload", "repetition", "session", "started_at")
# Words that all names share say nothing of the files to come.
_OF_ONE_RUN: Final = ("repetition", "session")
# Forms of one run may differ in these.
_SUFFIXES: Final = frozenset({"txt", "log", "out", "res", "csv", "scsv", "tsv", "json", "md"})
# Longer texts are no names of anything.
_MAX_TEXT_LENGTH: Final = 60
_NUMBERED_BY_MAJOR: Final = ("pgbench", "postgres", "postgresql", "pg")


@dataclass(frozen=True, slots=True)
class OwnWords:
    """The words of a file, or of a meta beside it: fields, its threads, the workloads that it may be.

    ``workload`` is None where the file says none, or several.
    """

    fields: Collection[str] = ()
    threads: int | None = None
    workload: str | None = None
    likely_workloads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """``pattern`` is empty where none is needed. ``parts`` is a mapping without its ``fields``.

    ``reasons`` say of fields why they are proposed.
    """

    pattern: str = ""
    parts: Mapping[str, Mapping[str, Mapping[str, Any]]] = dataclasses.field(default_factory=dict)
    fields: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    reasons: Mapping[str, str] = dataclasses.field(default_factory=dict)


def propose(
    paths: Iterable[str],
    own_words: Mapping[str, OwnWords] | None = None,
    known: Mapping[str, Sequence[str]] | None = None,
    said: Collection[str] = (),
) -> Proposal:
    """Propose how to read these paths of results.

    ``own_words`` is what is known of the files themselves, by path; ``known`` are names of the project, by
    field; ``said`` are the fields that somebody has said of all files.
    """
    own = own_words or {}
    names = [_Name(path, words_in(path, known), own.get(path, OwnWords())) for path in sorted(paths)]
    if not names:
        return Proposal()
    if all(one in name.own.fields for name in names for one in ("product", "version", "workload")):
        # A part of the name that nobody knows is no setting then, but often the name of a report.
        said = {*said, "workload", "configuration"}
    _leave_to_files(names)
    if len(names) < 2:
        return Proposal(fields=_of_all(names[0].words, names), reasons=_reasons(names))
    studied = names[:: len(names) // _MAX_STUDIED + 1]
    alike = _largest_group(studied, lambda name: name.path.count("/"))
    draft = _draft(*_with_common_slots(alike), said)
    proposal = _for_all(draft, names) or _by_path(draft, names)
    return replace(proposal, reasons=_reasons(names, draft))


@dataclass(slots=True)
class _Name:
    """A path with the words in it that count, and what its file says."""

    path: str
    words: list[Word]
    own: OwnWords

    def slots(self) -> dict["_Slot", Word]:
        """Return the words by where they stand."""
        counts: Counter[tuple[int, str]] = Counter()
        found = {}
        for word in self.words:
            place = self.path.count("/", 0, word.start), word.field
            counts[place] += 1
            found[*place, counts[place]] = word
        return found


# In which part between ``/``, which field, and the how manieth of this field there.
_Slot = tuple[int, str, int]


# --- which words count --------------------------------------------------------------------------------------


def _leave_to_files(names: Sequence[_Name]) -> None:
    """Take nothing from a name that most files say themselves, and no threads that are not those printed."""
    said = {one for one in _OWN_FIELDS if _is_said(names, one)}
    is_wrong = any(
        word.field == "threads" and name.own.threads not in (None, word.values["threads"])
        for name in names
        for word in name.words
    )
    for name in names:
        name.words = [
            replace(word, values={}) if word.field in said else word
            for word in name.words
            if not (is_wrong and word.field == "threads")
        ]


def _with_common_slots(names: Sequence[_Name]) -> tuple[list[_Name], list[_Slot]]:
    """Return the names that have a word in each of the places where most have one, and these places."""
    found = [name.slots() for name in names]
    counts = Counter(slot for slots in found for slot in slots)
    by_field: dict[str, list[_Slot]] = defaultdict(list)
    for slot, number in counts.items():
        # Names of workloads are not all known; where a part holds them, all of them are taken as they stand.
        if number >= (len(names) if slot[1] == "workload" else _MOST * len(names)):
            by_field[slot[1]].append(slot)

    def rank(slot: _Slot) -> tuple[bool, _Slot]:
        texts = {slots[slot].text for slots in found if slot in slots}
        return len(texts) > 1, slot

    chosen = sorted(max(slots, key=rank) for slots in by_field.values())
    having = [name for name, slots in zip(names, found, strict=True) if all(slot in slots for slot in chosen)]
    if not having:
        return list(names), []

    def order(name: _Name) -> tuple[str, ...]:
        found = name.slots()
        return tuple(slot[1] for slot in sorted(chosen, key=lambda slot: found[slot].start))

    return _largest_group(having, order), chosen


def _largest_group(names: Sequence[_Name], key: Callable[[_Name], Any]) -> list[_Name]:
    groups: dict[Any, list[_Name]] = defaultdict(list)
    for name in names:
        groups[key(name)].append(name)
    return max(groups.values(), key=len, default=[])


# --- a draft ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Draft:
    """How names that are built alike, ``paths``, would be read. ``slots`` are the places of their words."""

    paths: Collection[str]
    text: str
    pattern: PathPattern
    parts: Mapping[str, Mapping[str, Mapping[str, Any]]]
    fields: Mapping[str, Any]
    slots: Sequence[_Slot]
    reasons: Mapping[str, str]

    def read(self, name: _Name) -> dict[str, Any] | None:
        """Return the fields that the pattern gives, None where it does not fit.

        Without what joins the workload: ``part=8`` does not make it another one than the name says.
        """
        parts = self.pattern.match(name.path)
        if parts is None:
            return None
        return PathMap(self.parts, self.fields).read(
            {one: text for one, text in parts.items() if one not in self.others}
        )

    @property
    def others(self) -> Collection[str]:
        """The names of which nothing says what they are."""
        return [one for one in self.pattern.other_names if one not in self.parts]

    def meant(self, name: _Name) -> dict[str, Any]:
        """Return the fields that the words of a name give."""
        found = name.slots()
        return _joined(found[slot] for slot in self.slots if slot in found)


def _draft(names: Sequence[_Name], slots: Sequence[_Slot], said: Collection[str]) -> _Draft | None:
    """Write the pattern of names that have their words in the same places; None where there is none."""
    if len(names) < 2:
        return None
    try:
        return _written(names, slots, said)
    except PatternError:
        return None


def _written(names: Sequence[_Name], slots: Sequence[_Slot], said: Collection[str]) -> _Draft:
    found = [name.slots() for name in names]
    varying = [slot for slot in slots if len({own[slot].text for own in found}) > 1]
    constants = {slot[1]: found[0][slot] for slot in slots if slot not in varying}
    words = [sorted((own[slot] for slot in varying), key=lambda word: word.start) for own in found]
    parts: list[PathPart] = []
    for number in range(len(varying) + 1):
        gaps = [
            name.path[own[number - 1].end if number else 0 : own[number].start if number < len(own) else None]
            for name, own in zip(names, words, strict=True)
        ]
        parts += between_words(gaps)
        if number < len(varying):
            parts.append(_of_words([own[number] for own in words]))
    parts = joined(parts)
    _name_unknowns(parts, names, constants, said)
    variables = [part for part in parts if isinstance(part, PathVariable)]
    reasons = {
        field: one.reason
        for one in variables
        for field in (field_called(one.field), *chain.from_iterable(one.meanings.values()))
        if one.reason
    }
    fields = _of_all((word for name, word in constants.items() if name not in _OF_ONE_RUN), names)
    given = {variable.field for variable in variables} & fields.keys()
    text = "".join(map(as_written, parts))
    return _Draft(
        {name.path for name in names},
        text,
        PathPattern.parse(text),
        {variable.field: variable.meanings for variable in variables if variable.meanings},
        {name: value for name, value in fields.items() if name not in given},
        [slot for slot in slots if slot in varying or slot[1] in fields.keys() - given],
        {**_reasons_of(own[slot] for own in reversed(found) for slot in slots), **reasons},
    )


def _of_words(words: Sequence[Word]) -> PathVariable:
    field = words[0].field if words[0].values else ANY_PART
    variable = PathVariable([word.text for word in words], field)
    variable.meanings = {
        word.text: dict(word.values) for word in words if not word.means_itself and word.values
    }
    return variable


def _name_unknowns(
    parts: Sequence[PathPart], names: Sequence[_Name], constants: Mapping[str, Word], said: Collection[str]
) -> None:
    """Say what the variables are that no word explains. What is no field joins the workload, and is seen."""
    variables = [part for part in parts if isinstance(part, PathVariable)]
    used = {variable.field for variable in variables if variable.field}
    for variable in variables:
        if not variable.field and any(one.field and one.texts == variable.texts for one in variables):
            variable.field = ANY_PART
    numbers = [
        one for one in variables[::-1] if not one.field and all(text.isdecimal() for text in one.texts)
    ]
    # If several may be the threads, it is the one with the largest values.
    for variable in sorted(numbers, key=lambda one: -max(map(int, one.texts))):
        variable.field, variable.reason = _number_called(variable, names, used)
        used.add(variable.field)
    if isinstance(parts[-1], PathVariable) and _SUFFIXES.issuperset(parts[-1].texts):
        parts[-1].field = ANY_PART
    unknown = [one for one in variables if not one.field]
    for variable in unknown:
        texts = set(variable.texts)
        if "control" in texts and len(texts) < 4:
            variable.field = _other_name("role", used)
            variable.reason = "'control' is the usual name of a control"
            variable.meanings = {**{text: {} for text in variable.texts}, "control": {"control": True}}
        elif max(map(len, texts)) > _MAX_TEXT_LENGTH or _says_what_the_file_says(variable, names):
            variable.field = ANY_PART
        elif "workload" not in {*used, *constants, *said} and (usual := workloads_in(variable.texts)):
            variable.field, variable.reason = "workload", f"'{usual[0]}' is a usual name of a workload"
            used.add("workload")
    likely = {name.own.likely_workloads for name in names}
    is_one_by_ratio = len(likely) == 1 and len(next(iter(likely))) == 1
    is_in_files = _is_said(names, "workload") and any(name.own.workload is None for name in names)
    wanted = ["configuration"] if is_one_by_ratio or is_in_files else ["workload", "configuration"]
    wanted = [one for one in wanted if one not in {*used, *constants, *said}]
    for variable in sorted(unknown, key=lambda one: not one.is_in_file_name):
        if not variable.field:
            variable.field = wanted.pop(0) if wanted else _other_name("part", used)
            variable.reason = f"parts like '{variable.texts[0]}' vary, and no rule knows them"
        used.add(variable.field)
    if _is_said(names, "workload") and "workload" not in used:
        # Such a part would take the place of the workload that the file says.
        for variable in variables:
            if field_called(variable.field) not in FIELDS and not variable.meanings:
                variable.field = ANY_PART
    for variable in variables:
        if variable.field == "workload":
            called = {text: workload_called(text) for text in variable.texts}
            variable.meanings |= {text: {"workload": name} for text, name in called.items() if name != text}


def _says_what_the_file_says(variable: PathVariable, names: Sequence[_Name]) -> bool:
    """Return whether the part and the workload that the file says go together, one for one."""
    pairs = {(text, name.own.workload) for text, name in zip(variable.texts, names, strict=True)}
    workloads = {workload for _, workload in pairs}
    return None not in workloads and len(pairs) == len(set(variable.texts)) == len(workloads)


def _number_called(variable: PathVariable, names: Sequence[_Name], used: Collection[str]) -> tuple[str, str]:
    """Return what a number is, and why: threads that files printed, a usual count of them, a repetition."""
    values = [int(text) for text in variable.texts]
    like = f"numbers like '{variable.texts[0]}'"
    printed = [name.own.threads for name in names]
    word = re.search(r"(?<![a-z])([a-z]++)([-_=]?)$", variable.before.lower())
    unit = re.match(r"[a-z]+", variable.behind.lower())
    if "threads" not in used and all(
        one in (None, value) for one, value in zip(printed, values, strict=True)
    ):
        may_be_usual = variable.is_in_file_name and unit is None and _USUAL_THREADS.issuperset(values)
        if any(printed):
            return "threads", f"{like} are the threads that the files print"
        if may_be_usual:
            return "threads", f"{like} in the names of files are usually threads"
    if (
        word
        and word[1] in _NUMBERED_BY_MAJOR
        and all(9 <= one <= 30 for one in values)
        and "version" not in used
        and not _is_said(names, "version")
    ):
        return "version", f"{like} behind '{word[1]}' are major versions"
    stands_alone = (word is None or word[2] != "") and unit is None
    # Repetitions are counted from 0 or 1; what begins later is the number of a machine, or a size.
    are_counted = min(values) < 2 and max(values) < 2 * len(set(values)) + 2
    for name in ("repetition", *([] if variable.is_in_file_name else ["session"])):
        if stands_alone and are_counted and name not in used and not _is_said(names, name):
            return name, f"{like} count from 0 or 1, as a {name} does"
    return _other_name(unit[0] if unit else word[1] if word else "part", used), ""


def _other_name(name: str, used: Collection[str]) -> str:
    """Return a name in a pattern that is no field and not taken."""
    reserved = {*used, WHOLE_PATH, *FIELDS}
    return next(one for one in (name, *(f"{name}{n}" for n in range(2, 100))) if one not in reserved)


def _is_said(names: Sequence[_Name], name: str) -> bool:
    return 2 * sum(name in one.own.fields for one in names) >= len(names)


# --- whether it holds ---------------------------------------------------------------------------------------


def _for_all(draft: _Draft | None, names: Sequence[_Name]) -> Proposal | None:
    """Return the draft with what single paths need besides; None where it is not for all of few names."""
    if draft is None:
        return None
    read = {name.path: draft.read(name) for name in names}
    number_left_out = sum(fields is None for fields in read.values())
    by_path = {name.path: _wrong(draft.meant(name), read[name.path]) for name in names if read[name.path]}
    by_path = {path: wrong for path, wrong in by_path.items() if wrong}
    if not all(_has_numbers({**(fields or {}), **by_path.get(path, {})}) for path, fields in read.items()):
        return None
    is_for_all = not number_left_out and 2 * len(by_path) <= len(names)
    if not is_for_all and len(names) <= MAX_FILES_BY_PATH:
        return None
    if len(by_path) > MAX_FILES_BY_PATH or 2 * number_left_out > len(names):
        return None
    parts = {**draft.parts, **({WHOLE_PATH: by_path} if by_path else {})}
    if not draft.pattern.names and not parts:
        return Proposal(fields=draft.fields)
    return Proposal(draft.text, parts, draft.fields)


def _has_numbers(fields: Mapping[str, Any]) -> bool:
    """Return whether what must be a number is one."""
    return all(isinstance(_plain(fields[name]), int) for name in NUMBERS if name in fields)


def _wrong(meant: Mapping[str, Any], read: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in meant.items() if str(_plain((read or {}).get(name))) != str(value)}


def _plain(value: Any) -> Any:
    """Return ``04`` as 4."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _with_plain_numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) if name in NUMBERS else value for name, value in fields.items()}


def _by_path(draft: _Draft | None, names: Sequence[_Name]) -> Proposal:
    """Propose what each path says, path by path, where no pattern fits all of them."""
    meant = {name.path: _fields_of(name, draft) for name in names}
    first, *others = meant.values()
    common = {
        one: value for one, value in first.items() if all(fields.get(one) == value for fields in others)
    }
    own = {
        path: rest
        for path, fields in meant.items()
        if (rest := {one: value for one, value in fields.items() if one not in common})
    }
    if not own or len(names) > MAX_FILES_BY_PATH:
        return Proposal(fields=common)
    return Proposal(ANY_FILE, {WHOLE_PATH: own}, common)


def _fields_of(name: _Name, draft: _Draft | None) -> dict[str, Any]:
    read = draft.read(name) if draft and name.path in draft.paths else None
    if draft is None or read is None:
        return _joined(name.words)
    # Each file has a configuration of its own anyway, so this may be made of several parts.
    parts = draft.pattern.match(name.path) or {}
    texts = [read.get("configuration"), *(parts[one] for one in draft.others)]
    own = {"configuration": " ".join(filter(None, texts))} if draft.others else {}
    fields = _with_plain_numbers(read | own) | draft.meant(name)
    return fields if _has_numbers(fields) else _joined(name.words)


def _of_all(words: Iterable[Word], names: Sequence[_Name]) -> dict[str, Any]:
    """Return the fields that all names share, without threads that the files print themselves."""
    is_printed = any(name.own.threads is not None for name in names)
    return _joined(word for word in words if not (is_printed and word.field == "threads"))


def _joined(words: Iterable[Word]) -> dict[str, Any]:
    """Return the fields of these words; a product of its own wins over one that a version brings."""
    return {name: word.values[name] for name, word in _givers(words).items()}


def _reasons_of(words: Iterable[Word]) -> dict[str, str]:
    return {name: word.reason for name, word in _givers(words).items()}


def _givers(words: Iterable[Word]) -> dict[str, Word]:
    givers: dict[str, Word] = {}
    for word in sorted(words, key=lambda one: len(one.values), reverse=True):
        givers |= dict.fromkeys(word.values, word)
    return givers


def _reasons(names: Sequence[_Name], draft: _Draft | None = None) -> dict[str, str]:
    """Return why each field is taken for it, by the first name of the largest group that has it."""
    reasons = _reasons_of(word for name in reversed(names) for word in name.words)
    return {**reasons, **(draft.reasons if draft else {})}
