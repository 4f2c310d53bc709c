from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.results.services import refresh_statistics
from ingest.errors import FieldsError, FileRefusedError, FileTooLargeError
from ingest.folders import ANY_FILE, FolderFile, PathMap, PathPattern, PatternError, find_files
from ingest.metadata import read_metadata
from ingest.models import Upload
from ingest.queries import RunSummary
from ingest.services import accept_upload, dry_run
from ingest.storage import RawData

_SHOWN_RUNS = 5
_EVERY = 50


class Command(BaseCommand):
    help = "Import the result files of a folder; names of files and folders say what was measured."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--pattern",
            default=ANY_FILE,
            metavar="P",
            help="which files, and what their paths mean: x.{version}_{build}/sb.o.{workload}.dop{threads}",
        )
        parser.add_argument("--map", type=Path, metavar="FILE", help="JSON: what parts of names mean")
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

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"no project is called {options['project']!r}")
        if not options["folder"].is_dir():
            raise CommandError(f"{options['folder']} is not a folder")
        try:
            files = list(
                find_files(options["folder"], PathPattern.parse(options["pattern"]), _path_map(options))
            )
        except (PatternError, OSError) as error:
            raise CommandError(str(error)) from None
        if not files:
            raise CommandError(f"no file of {options['folder']} fits the pattern {options['pattern']!r}")
        counts = self._try(project, files) if options["dry_run"] else self._import(project, files)
        self.stdout.write(", ".join(f"{number} {what}" for what, number in counts.items()))
        if set(counts) == {"refused"}:
            raise CommandError("every file was refused")

    def _try(self, project: Project, files: list[FolderFile]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for file in files:
            try:
                metadata, warnings = read_metadata(file.fields)
                tried = dry_run(
                    project,
                    file_name=file.file.name,
                    data=RawData(file.file.read_bytes()),
                    metadata=metadata,
                    warnings=warnings,
                )
            except (FieldsError, FileRefusedError, FileTooLargeError) as error:
                counts["refused"] += 1
                self.stderr.write(f"{file.path}: {error}")
                continue
            counts["known already" if tried.duplicate else "would be imported"] += 1
            self.stdout.write(f"{file.path}: {tried.format}, {_runs_in_words(tried.runs)}")
            for warning in tried.warnings:
                self.stdout.write(f"  {warning}")
        return counts

    def _import(self, project: Project, files: list[FolderFile]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for number, file in enumerate(files, start=1):
            try:
                counts[self._import_file(project, file)] += 1
            except (FieldsError, FileRefusedError, FileTooLargeError) as error:
                counts["refused"] += 1
                self.stderr.write(f"{file.path}: {error}")
            if number % _EVERY == 0:
                self.stdout.write(f"{number} of {len(files)} files")
        refresh_statistics()
        return counts

    def _import_file(self, project: Project, file: FolderFile) -> str:
        """What became of it, in a word. Raises FileRefusedError."""
        metadata, warnings = read_metadata(file.fields)
        received = accept_upload(
            project,
            by=NOBODY,
            file_name=file.file.name,
            data=RawData(file.file.read_bytes()),
            metadata=metadata,
            warnings=warnings,
        )
        if received.upload.state == Upload.State.REFUSED:
            raise FileRefusedError(received.upload.errors, upload_id=received.upload.pk, url=None)
        return "known already" if received.duplicate else str(received.upload.state)


def _path_map(options: dict[str, Any]) -> PathMap:
    path_map = PathMap.parse(options["map"].read_text(encoding="utf-8")) if options["map"] else PathMap()
    fields = dict(path_map.fields)
    for pair in options["set"]:
        name, separator, value = pair.partition("=")
        if not separator:
            raise PatternError(f"--set {pair!r} must be FIELD=VALUE")
        fields[name] = value
    return PathMap(path_map.parts, fields)


def _runs_in_words(runs: list[RunSummary]) -> str:
    shown = [
        f"{run.product} {run.version}, {run.workload}"
        + ("" if run.threads is None else f", {run.threads} threads")
        + f" on {run.hardware} ({run.readings} readings)"
        for run in runs[:_SHOWN_RUNS]
    ]
    more = len(runs) - _SHOWN_RUNS
    return "; ".join(shown) + (f"; and {more} runs more" if more > 0 else "")
