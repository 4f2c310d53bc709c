import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchdash.accounts.access import NOBODY, BeingDeleted
from benchdash.accounts.models import Project
from benchdash.results.services import refresh_statistics
from benchdash.results.sessions import START_UNKNOWN
from benchdash.results.wording import counted
from ingest.archives.files import (
    IGNORED,
    REFUSED,
    FileSet,
    Tried,
    batches,
    missing_in_words,
    take,
    try_out,
)
from ingest.archives.previews import FolderPreview, preview
from ingest.archives.services import archive_limits
from ingest.containers import Container, ContainerError, of_folder, unpacked
from ingest.errors import FieldsError
from ingest.management.shared import error_in_words, project_called
from ingest.metadata.fields import REQUIRED
from ingest.metadata.path_patterns import ANY_FILE, PathMap, PathRules, PatternError
from ingest.metadata.upload_metadata import read_metadata
from ingest.queries import RunSummary, holders_of, known_names

_SHOWN_RUNS = 5
_MAX_ROWS = 20
_AT_ONCE = 100


class Command(BaseCommand):
    help = "Import the result files of a folder or an archive; their names say what was measured."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder, or a tar or zip archive")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--pattern",
            metavar="P",
            help="which files, and what their paths mean: x.{version}_{build}/sb.o.{workload}.dop{threads}; "
            "--propose guesses one",
        )
        parser.add_argument(
            "--companion",
            action="append",
            default=[],
            metavar="P",
            help="files that go with those of the same names: x.{version}_{build}/sb.vm.{workload}.*; "
            "may be repeated",
        )
        parser.add_argument(
            "--control",
            action="append",
            default=[],
            metavar="P",
            help="which files are runs of the control, a build that never changes: **/*.control.*; "
            "may be repeated",
        )
        parser.add_argument(
            "--map", metavar="FILE", help="what parts of names mean: a file of JSON, or the JSON itself"
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="FIELD=VALUE",
            help="a field of all files, such as hardware=bench-03; may be repeated",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what each file would become, store nothing"
        )
        parser.add_argument(
            "--propose",
            action="store_true",
            help="say what names and files say, what is missing, and the command to run; store nothing",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        pattern = options["pattern"] or ANY_FILE
        try:
            rules = PathRules.parse(pattern, _path_map(options), options["companion"], options["control"])
            with _container(options["folder"]) as container:
                if options["propose"]:
                    self._propose(project, container, options)
                    return
                file_set = FileSet(container, rules, received_at=timezone.now())
                if not file_set.plan.files and not container.refused:
                    raise CommandError(f"no file of {options['folder']} fits the pattern {pattern!r}")
                if options["dry_run"]:
                    outcomes = self._try(project, file_set)
                else:
                    outcomes = self._import(project, file_set)
                missing = [one.missing for one in outcomes if one.state != IGNORED]
                for told in missing_in_words(missing) if any(missing) else ():
                    self.stderr.write(told)
                if any(missing) and not options["pattern"]:
                    self._propose(project, container, options)
        except (BeingDeleted, FieldsError, PatternError, ContainerError, OSError) as error:
            raise CommandError(str(error)) from None
        for warning in [*rules.warnings(), *container.warnings]:
            self.stderr.write(warning)
        counts = Counter(one.state for one in outcomes)
        copies = _copies(outcomes)
        ends = [f"{number} {what}" for what, number in counts.items()]
        self.stdout.write(", ".join([*ends, *([f"{copies} of them copies"] if copies else [])]))
        if counts[REFUSED] and not counts.keys() - {REFUSED, IGNORED}:
            raise CommandError("every file was refused")

    def _propose(self, project: Project, container: Container, options: Mapping[str, Any]) -> None:
        """Say what the names of the files are taken to say, and the command that imports them so."""
        path_map = _path_map(options)
        said, _ = read_metadata(
            {
                **path_map.fields,
                "pattern": options["pattern"],
                "path_map": path_map.parts,
                "companion_pattern": options["companion"],
            }
        )
        shown = preview(
            container,
            said,
            known=known_names(project),
            controls=options["control"],
            is_given=bool(options["pattern"]),
        )
        self.stdout.write("\t".join(["file", *shown.columns]))
        for row in shown.rows[:_MAX_ROWS]:
            self.stdout.write("\t".join([row.path, *(cell.value or "?" for cell in row.cells)]))
        if len(shown.rows) > _MAX_ROWS:
            self.stdout.write(f"and {len(shown.rows) - _MAX_ROWS} files more")
        for path, reason in shown.no_results[:_MAX_ROWS]:
            self.stdout.write(f"{path}: not a result, {reason}")
        if len(shown.no_results) > _MAX_ROWS:
            self.stdout.write(f"and {len(shown.no_results) - _MAX_ROWS} more that are no results")
        for told in (*shown.notes, *shown.in_words()):
            self.stdout.write(told)
        for name, reason in shown.reasons.items():
            self.stdout.write(f"{name}: {reason}")
        self.stdout.write("these are guesses; to import so, correct what is wrong in this command:")
        self.stdout.write(_command(shown, options))

    def _try(self, project: Project, file_set: FileSet) -> list[Tried]:
        outcomes = []
        for tried in (*try_out(project, file_set), *file_set.left_aside()):
            self._tell(tried)
            outcomes.append(tried)
        return outcomes

    def _tell(self, tried: Tried) -> None:
        if tried.state == IGNORED:
            self.stdout.write(f"{tried.path}: ignored, {', '.join(tried.warnings)}")
            return
        for error in tried.errors:
            self.stderr.write(f"{tried.path}: {error_in_words(error)}")
        if not tried.errors:
            self.stdout.write(f"{tried.path}: {tried.format}, {_runs_in_words(tried.runs)}")
        if tried.companions:
            self.stdout.write(f"  with {', '.join(tried.companions)}")
        for holder in tried.holders:
            self.stdout.write(f"  another form of upload {holder}, not counted again")
        for warning in tried.warnings:
            self.stdout.write(f"  {warning}")

    def _import(self, project: Project, file_set: FileSet) -> list[Tried]:
        outcomes: list[Tried] = []
        total = len(file_set.plan.files)
        for batch in batches(file_set, file_set.plan.files):
            outcomes += take(project, batch, by=NOBODY)
            self.stdout.write(f"{len(outcomes)} of {total} files, {100 * len(outcomes) // total} %")
            self.stdout.flush()
        outcomes += file_set.left_aside()
        for one in outcomes:
            if one.errors:
                self.stderr.write(f"{one.path}: {'; '.join(map(error_in_words, one.errors))}")
        if any(one.upload and START_UNKNOWN in one.upload.warnings for one in outcomes):
            self.stderr.write(START_UNKNOWN)
        refresh_statistics()
        return outcomes


def _copies(outcomes: Sequence[Tried]) -> int:
    """Count the files that are other forms of runs that are there."""
    ids = [one.upload.pk for one in outcomes if one.upload]
    return sum(len(holders_of(ids[at : at + _AT_ONCE])) for at in range(0, len(ids), _AT_ONCE))


@contextmanager
def _container(path: Path) -> Iterator[Container]:
    if path.is_dir():
        yield of_folder(path)
        return
    if not path.is_file():
        raise CommandError(f"{path} is no folder and no archive")
    with path.open("rb") as file, unpacked(file, archive_limits(), name=path.name) as container:
        yield container


def _path_map(options: Mapping[str, Any]) -> PathMap:
    given = options["map"] or "{}"
    path_map = PathMap.parse(given if given.startswith("{") else Path(given).read_text(encoding="utf-8"))
    fields = dict(path_map.fields)
    for pair in options["set"]:
        name, separator, value = pair.partition("=")
        if not separator:
            raise PatternError(f"--set {pair!r} must be FIELD=VALUE")
        fields[name] = value
    return PathMap(path_map.parts, fields)


def _command(shown: FolderPreview, options: Mapping[str, Any]) -> str:
    """Write the command as a shell takes it; what is missing stands as ``hardware=``, to be filled in."""
    fields = {**shown.fields, **_path_map(options).fields}
    missing = {name for row in shown.rows for name in row.missing}
    words = ["manage.py", "import_folder", "--project", options["project"]]
    words += ["--pattern", shown.pattern] if shown.pattern else []
    words += ["--map", json.dumps(shown.parts, ensure_ascii=False)] if shown.parts else []
    for name in ("companion", "control"):
        patterns = [*options[name], *(shown.companion_patterns if name == "companion" else ())]
        words += [word for pattern in dict.fromkeys(patterns) for word in (f"--{name}", pattern)]
    for name, value in fields.items():
        words += ["--set", f"{name}={value}"]
    words += [word for name in REQUIRED if name in missing for word in ("--set", f"{name}=")]
    return shlex.join([*words, str(options["folder"])])


def _runs_in_words(runs: Sequence[RunSummary]) -> str:
    shown = [
        f"{run.product} {run.version}, {run.workload}"
        + ("" if run.threads is None else f", {counted(run.threads, 'thread')}")
        + f" on {run.hardware} ({run.readings} readings)"
        for run in runs[:_SHOWN_RUNS]
    ]
    more = len(runs) - _SHOWN_RUNS
    return "; ".join(shown) + (f"; and {more} runs more" if more > 0 else "")
