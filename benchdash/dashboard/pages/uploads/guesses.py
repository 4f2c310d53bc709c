"""Guesses about the files that somebody has chosen, before they are checked or uploaded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from benchdash.accounts.models import Project
from ingest.archives import services as archive_services
from ingest.archives.plan import bare_stem
from ingest.archives.previews import FileGuess, FolderPreview
from ingest.metadata.upload_metadata import read_form
from ingest.queries import known_names
from ingest.storage.raw_bytes import RawData

_MAX_ROWS: Final = 200


@dataclass(frozen=True)
class Guesses:
    """A preview of a folder as the upload page shows it: so many rows, the files without a gap last."""

    preview: FolderPreview
    notes: Sequence[str]

    @property
    def number(self) -> int:
        return len(self.preview.rows)

    @property
    def summary(self) -> str:
        said = ", ".join(self.preview.in_words())
        return f"{said[0].upper()}{said[1:]}."

    @property
    def rows(self) -> Sequence[FileGuess]:
        """The first rows, those of incomplete files before others."""
        return sorted(self.preview.rows, key=lambda row: not row.missing)[:_MAX_ROWS]

    @property
    def unlisted(self) -> int:
        return max(0, self.number - _MAX_ROWS)

    @property
    def unlisted_missing(self) -> Mapping[str, int]:
        """In how many files that are not listed each field is missing."""
        rest = sorted(self.preview.rows, key=lambda row: not row.missing)[_MAX_ROWS:]
        return dict(Counter(name for row in rest for name in row.missing))

    @property
    def has_parts(self) -> bool:
        """Tell whether something stands in the names of several files."""
        return self.number > 1 and any(cell.part for row in self.preview.rows for cell in row.cells)

    @property
    def _last_resort(self) -> dict[str, str]:
        """Return the name of the only file as that of its workload, where nothing else says one."""
        if self.number != 1 or "workload" not in self.preview.rows[0].missing:
            return {}
        return {"workload": bare_stem(PurePath(self.preview.rows[0].path).name)}

    @property
    def as_json(self) -> dict[str, Any]:
        """Return the values that a script puts into the form."""
        preview = self.preview
        return {
            "pattern": preview.pattern,
            "parts": preview.parts,
            "companion_patterns": preview.companion_patterns,
            "fields": preview.fields,
            "last_resort": self._last_resort,
            "is_guessed": preview.is_guessed,
            "results": [row.path for row in preview.rows],
            "beside": {row.path: row.companions for row in preview.rows if row.companions},
        }


def guesses_of(
    project: Project, data: RawData, name: str, said: Mapping[str, Sequence[str]], *, is_given: bool
) -> Guesses:
    """Look into an archive of the chosen files; ``is_given`` is true of a pattern that somebody typed.

    Raises FieldsError, or FileRefusedError for what is no archive.
    """
    metadata, warnings = read_form(said)
    preview = archive_services.look_into(data, name, metadata, known=known_names(project), is_given=is_given)
    # Guesses from names in the pattern stand in the preview, for the pattern that is proposed.
    notes = [one for one in warnings if " in the pattern " not in one] + list(preview.notes)
    if metadata.pattern and preview.rows and preview.is_guessed:
        notes.insert(0, f"the pattern '{metadata.pattern}' does not fit these files, so another is proposed")
    return Guesses(preview, notes)
