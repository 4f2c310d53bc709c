"""The words of files in a folder, the guesses from their names, and the fields that nobody says yet.

Nothing is stored: a person looks at the guesses, corrects them, and then sends pattern, mapping and fields.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.conf import settings

from ingest.archives.files import FileSet, missing_in_words
from ingest.archives.path_guesses import MAX_FILES_BY_PATH, OwnWords, Proposal, propose
from ingest.archives.path_words import words_in
from ingest.archives.plan import PlannedFile, bare_stem
from ingest.containers import Container
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.sysbench.query_ratios import USUAL_WORKLOADS, likely_workloads
from ingest.metadata.fields import FIELDS, REQUIRED, Metadata
from ingest.metadata.meta import read_meta
from ingest.metadata.path_patterns import ANY_FILE, WHOLE_PATH, PathMap, PathPattern, PathRules, field_called
from ingest.metadata.upload_metadata import path_rules
from ingest.receiving.parsing import parse

# Fields that a preview always shows; others only if something gives them.
SHOWN: Final = ("product", "version", "hardware", "workload", "threads")
_OWN: Final = ("product", "version", "build", "workload", "configuration", "repetition", "started_at")
_TELLING_APART: Final = (
    *(*SHOWN, "configuration", "build", "branch", "commit", "counterpart"),
    *("repetition", "session", "control", "started_at"),
)
_MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class FieldGuess:
    """A field of a file. ``source`` is ``name``, ``file``, ``all`` (said of all files) or empty (missing).

    ``part`` and ``text`` are the name in the pattern and the part of the path that give it, else empty.
    """

    field: str
    value: str = ""
    source: str = ""
    part: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class FileGuess:
    path: str
    format: str
    cells: Sequence[FieldGuess]
    missing: Sequence[str]
    companions: Sequence[str]
    is_looked_into: bool


@dataclass(frozen=True, slots=True)
class FolderPreview:
    """The proposal to send (pattern, mapping, fields of all files), and what each file would then be.

    ``is_guessed`` is not true of a pattern that was given. ``reasons`` say of each field that is
    proposed why, in a sentence without a full stop. ``no_results`` are (path, reason) of files that are not
    read at all.
    """

    pattern: str
    parts: Mapping[str, Mapping[str, Mapping[str, Any]]]
    fields: Mapping[str, Any]
    companion_patterns: Sequence[str]
    is_guessed: bool
    reasons: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[FileGuess]
    no_results: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()

    @property
    def path_map(self) -> dict[str, Any]:
        """Return the mapping as an upload takes it."""
        return {**self.parts, "fields": self.fields}

    @property
    def complete(self) -> int:
        return sum(not row.missing for row in self.rows)

    def in_words(self) -> list[str]:
        """Say how many files are complete, and in how many of them each field is missing."""
        number = len(self.rows)
        if not number:
            return ["none of these files is a result that benchdash reads"]
        complete = f"{self.complete} of {number} {'file is' if number == 1 else 'files are'} complete"
        return [complete, *missing_in_words(row.missing for row in self.rows)]


def preview(
    container: Container,
    said: Metadata,
    *,
    known: Mapping[str, Sequence[str]] | None = None,
    controls: Sequence[str] = (),
    is_given: bool = False,
) -> FolderPreview:
    """Look into the files of a container, and guess what their names say.

    With ``is_given`` the pattern of ``said`` is taken as it is, and without it where it fits each result.
    Raises PatternError.
    """
    ends_at = time.monotonic() + settings.ARCHIVE_DRY_RUN_SECONDS
    without = replace(said, pattern=None, path_map={}, companion_pattern=())
    file_set = FileSet(container, path_rules(without))
    looked = list(_look_into(file_set, ends_at))
    results = [one for one in looked if not one.trouble]
    rules = path_rules(said)
    fits = bool(said.pattern and results) and all(
        rules.pattern.match(one.path) is not None for one in results
    )
    if is_given or fits:
        proposal, companions = Proposal(said.pattern or "", rules.path_map.parts), said.companion_pattern
    else:
        named = _by_their_tool(results)
        own = {one.path: one.own for one in named}
        proposal = propose(own, own, known, said=rules.path_map.fields.keys())
        companions = _companion_patterns(file_set, proposal, looked)
        proposal = _with_workloads_by_ratio(proposal, results, rules.path_map.fields)
    said_of_all = rules.path_map.fields
    fields = {**proposal.fields, **said_of_all}
    rules = PathRules.parse(
        proposal.pattern, PathMap(proposal.parts, fields), companions=companions, controls=controls
    )
    file_set = FileSet(container, rules)
    planned = {file.path: file for file in file_set.plan.files}
    rows = [_row(one, planned[one.path], rules) for one in results if one.path in planned]
    of_names = {cell.field for row in rows for cell in row.cells if cell.source == "name"}
    shown = of_names | proposal.fields.keys()
    proposed = of_names | (proposal.fields.keys() - said_of_all.keys())
    columns = [*SHOWN, *(name for name in FIELDS if name in shown and name not in SHOWN)]
    in_order = [replace(row, cells=[_cell_of(row, name) for name in columns]) for row in rows]
    beside = {path for file in file_set.plan.files for path in file.companions}
    troubles = {one.path: one.trouble for one in looked if one.trouble and one.path not in beside}
    return FolderPreview(
        pattern=proposal.pattern,
        parts=proposal.parts,
        fields=proposal.fields,
        companion_patterns=companions,
        is_guessed=not (is_given or fits),
        reasons={
            name: reason for name in columns if name in proposed and (reason := proposal.reasons.get(name))
        },
        columns=columns,
        rows=in_order,
        no_results=[
            *troubles.items(),
            *(
                (path, reason)
                for path, reason in sorted(file_set.plan.ignored.items())
                if path not in troubles
            ),
            *((one.path, one.reason) for one in container.refused),
        ],
        notes=[
            *rules.warnings(is_typed=is_given or fits),
            *_notes(rows, {one.path: one for one in results}),
        ],
    )


def _cell_of(row: FileGuess, name: str) -> FieldGuess:
    return next((cell for cell in row.cells if cell.field == name), FieldGuess(name))


# --- what the files say -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Looked:
    """A file that was read, or why it was not. ``values`` are what it and its metas say, to be shown."""

    path: str
    format: str = ""
    own: OwnWords = field(default_factory=OwnWords)
    values: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    is_read: bool = True


def _look_into(file_set: FileSet, ends_at: float) -> Iterator[_Looked]:
    for file in file_set.plan.files:
        if time.monotonic() > ends_at or not file_set.size(file.path):
            yield _Looked(file.path, is_read=False)
        else:
            yield _looked_into(file_set, file)


def _looked_into(file_set: FileSet, file: PlannedFile) -> _Looked:
    prepared = file_set.prepared(file)
    if prepared.arrival is None:
        return _Looked(file.path, trouble="; ".join(str(error["message"]) for error in prepared.errors))
    metadata = prepared.arrival.metadata
    try:
        format_, report = parse(prepared.arrival.data.read(), file.path, metadata)
    except FormatError as error:
        line = f"line {error.line}: " if error.line else ""
        return _Looked(file.path, trouble=f"{line}{error.sentence}")
    meta = read_meta(metadata.meta)
    values = {name: shown for name in (*_OWN, "threads") if (shown := _shown(report, name))}
    values |= {name: str(value) for name, value in meta.fields.items() if name in FIELDS}
    if meta.hardware_name:
        values.setdefault("hardware", meta.hardware_name)
    threads = {run.threads for run in report.runs}
    likely = () if "workload" in values else likely_workloads(report.runs)
    said = {*values} - {"threads"} - {name for name in _OWN if _is_lacking(report, name, meta.fields)}
    # A table that sets products side by side may leave their versions unknown.
    if len({run.product for run in report.runs}) > 1 and "product" in said:
        said.add("version")
    workloads = {run.workload for run in report.runs}
    own = OwnWords(
        said,
        threads=threads.pop() if len(threads) == 1 else None,
        workload=workloads.pop() if len(workloads) == 1 else None,
        likely_workloads=likely,
    )
    return _Looked(file.path, format_, own, values)


def _shown(report: ParsedReport, name: str) -> str:
    values = {str(value) for run in report.runs if (value := getattr(run, name)) is not None}
    return values.pop() if len(values) == 1 else f"{len(values)} different ones" if values else ""


def _is_lacking(report: ParsedReport, name: str, meta_fields: Mapping[str, Any]) -> bool:
    return name not in meta_fields and any(getattr(run, name) is None for run in report.runs)


# --- guesses ------------------------------------------------------------------------------------------------


def _by_their_tool(results: Sequence[_Looked]) -> Sequence[_Looked]:
    """Return the results without what was measured per operation beside others, under names of its own."""
    others = [one for one in results if one.format != "per_operation"]
    return others or results


def _companion_patterns(file_set: FileSet, proposal: Proposal, looked: Sequence[_Looked]) -> tuple[str, ...]:
    """Return patterns of files that are companions by their content, with names of the results' pattern."""
    if not proposal.pattern:
        return ()
    names = set(PathPattern.parse(proposal.pattern).names)
    groups: dict[str, list[str]] = defaultdict(list)
    for one in looked:
        if one.trouble and (format_ := file_set.companion_format(one.path)):
            groups[format_].append(one.path)
    patterns = [propose(paths).pattern for paths in groups.values() if len(paths) > 1]
    return tuple(
        pattern
        for pattern in patterns
        if pattern and set(PathPattern.parse(pattern).names) - {WHOLE_PATH} <= names
    )


def _with_workloads_by_ratio(
    proposal: Proposal, results: Sequence[_Looked], said: Mapping[str, Any]
) -> Proposal:
    """Add the workloads that the numbers of files point to, where neither name nor file says one."""
    pattern = PathPattern.parse(proposal.pattern) if proposal.pattern else None
    if "workload" in {*said, *proposal.fields, *(map(field_called, pattern.names) if pattern else ())}:
        return proposal
    by_path = dict(proposal.parts.get(WHOLE_PATH, {}))
    lacking = [
        one
        for one in results
        if "workload" not in {*one.own.fields, *by_path.get(one.path, ())} and one.is_read
    ]
    found = {one.path: one.own.likely_workloads[0] for one in lacking if len(one.own.likely_workloads) == 1}
    if not found:
        return proposal
    reasons = {
        **proposal.reasons,
        "workload": "the ratio of reads, writes and other is that of this workload",
    }
    if len(found) == len(results) and len(set(found.values())) == 1:
        fields = {**proposal.fields, "workload": found[results[0].path]}
        return replace(proposal, fields=fields, reasons=reasons)
    if len(by_path.keys() | found) > MAX_FILES_BY_PATH:
        return proposal
    by_path |= {path: {**by_path.get(path, {}), "workload": workload} for path, workload in found.items()}
    return replace(
        proposal,
        pattern=proposal.pattern or ANY_FILE,
        parts={**proposal.parts, WHOLE_PATH: by_path},
        reasons=reasons,
    )


# --- rows ---------------------------------------------------------------------------------------------------


def _row(looked: _Looked, planned: PlannedFile, rules: PathRules) -> FileGuess:
    parts = rules.pattern.match(looked.path) or {}
    of_name = rules.fields_of(looked.path, parts)
    of_all = rules.path_map.fields
    by_path = rules.path_map.parts.get(WHOLE_PATH, {}).get(looked.path, {})
    cells = []
    for name in FIELDS:
        value = of_name.get(name)
        giver = _giver(name, parts, rules) if name not in by_path else ""
        if value not in (None, "") and (giver or name in by_path or value != of_all.get(name)):
            cells.append(FieldGuess(name, _in_words(value), "name", giver, parts.get(giver, "")))
        elif value not in (None, ""):
            cells.append(FieldGuess(name, _in_words(value), "all"))
        elif shown := looked.values.get(name):
            cells.append(FieldGuess(name, shown, "file"))
    given = {cell.field for cell in cells if cell.source != "file"} | set(looked.own.fields)
    if "hardware" in looked.values:
        given.add("hardware")
    missing = [name for name in REQUIRED if name not in given]
    return FileGuess(looked.path, looked.format, cells, missing, planned.companions, looked.is_read)


def _giver(name: str, parts: Mapping[str, str], rules: PathRules) -> str:
    """Return the name in the pattern that gives a field of this file; empty where none does."""
    for part, text in parts.items():
        if name in rules.path_map.parts.get(part, {}).get(text, {}):
            return part
    return next((part for part in parts if field_called(part) == name), "")


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return str(int(text)) if text.isdecimal() and text.isascii() else text


def _notes(rows: Sequence[FileGuess], looked: Mapping[str, _Looked]) -> Iterator[str]:
    """Yield what somebody should look at before these files are sent."""
    yield from _contradictions(rows, looked)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in rows:
        if row.is_looked_into and "different ones" not in str([cell.value for cell in row.cells]):
            key = tuple(cell.value for cell in row.cells if cell.field in _TELLING_APART)
            alike[row.format, *key].append(row.path)
    # The forms of one run, JMH's JSON and text, have one stem.
    if twins := [paths for paths in alike.values() if len(set(map(bare_stem, paths))) > 1]:
        number = sum(map(len, twins))
        yield (
            f"nothing that is said tells {_named(twins[0])} apart"
            + (f", nor {number - len(twins[0])} more files" if len(twins) > 1 else "")
            + ": they would count as repeated runs of the same"
        )
    if waiting := [row.path for row in rows if not row.is_looked_into]:
        were = "file was" if len(waiting) == 1 else "files were"
        yield f"{len(waiting)} {were} not looked into, so what they say themselves is not counted here"
    hints = Counter(looked[row.path].own.likely_workloads for row in rows if "workload" in row.missing)
    for likely, number in hints.items():
        if likely:
            of_files = f"{number} {'file' if number == 1 else 'files'}"
            which = f"{', '.join(likely[:-1])} or {likely[-1]}"
            yield f"the ratio of reads, writes and other of {of_files} is that of {which}"


def _contradictions(rows: Sequence[FileGuess], looked: Mapping[str, _Looked]) -> Iterator[str]:
    """Yield where names say another workload than the numbers, or another version than the files."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        likely = looked[row.path].own.likely_workloads
        called = next(
            (cell.value for cell in row.cells if cell.field == "workload" and cell.source != "file"), ""
        )
        if likely and called in USUAL_WORKLOADS and called not in likely:
            found[called, likely[0]].append(row.path)
    for (called, by_ratio), paths in found.items():
        yield f"called {called}, but the ratio of reads and writes is that of {by_ratio}: {_named(paths)}"
    versions: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        of_file = {cell.field: cell.value for cell in row.cells if cell.source == "file"}.get("version")
        of_name = next((one.values["version"] for one in words_in(row.path) if "version" in one.values), "")
        if of_file and of_name and not f"{of_file}.".startswith(f"{of_name}."):
            versions[of_name, of_file].append(row.path)
    for (of_name, of_file), paths in versions.items():
        yield (
            f"the name says version {of_name}, the file {of_file}, which counts unless you say another: "
            f"{_named(paths)}"
        )


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(f"'{path}'" for path in paths[:_MAX_NAMED])
    return f"{shown} and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else shown
