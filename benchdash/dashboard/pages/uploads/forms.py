"""The fields of an upload, as a form and back.

The forms only show: what is said is read, and refused, by ingest.metadata as it is for the API.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.http import QueryDict

from benchdash.results.wording import COUNTERPART
from ingest.errors import FieldError, FieldsError
from ingest.formats import FORMATS
from ingest.metadata.fields import ALL_FIELDS, ARCHIVE_FIELDS, FIELDS, JSON_FIELDS, MAY_BE_DEFAULTS
from ingest.metadata.upload_metadata import form_values

_MAX_REASON_LENGTH: Final = 1000
_TIME: Final = "2026-11-20T15:56:28Z"

_COMMON: Final = ("product", "version", "hardware", "workload", "threads", "started_at")
_FURTHER: Final = (
    *("build", "branch", "pull_request", "base_branch", "commit", "committed_at"),
    *("configuration", "counterpart", "repetition", "format"),
    *("control", "session", "tags", "notes", "options", "metric", "metrics", "map"),
)
# Suggestions for a field are in the list of this id.
_KNOWN: Final = "known-{}"


def _text(label: str, example: str = "", help_text: str = "", **attributes: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"placeholder": example, "autocomplete": "off", **attributes})
    return forms.CharField(label=label, required=False, help_text=help_text, widget=widget)


def _known(name: str, label: str, example: str = "", help_text: str = "") -> forms.CharField:
    return _text(label, example, help_text, list=_KNOWN.format(name))


def _whole_number(label: str, help_text: str = "") -> forms.CharField:
    return _text(label, help_text=help_text, inputmode="numeric")


def _long_text(label: str, help_text: str = "", *, rows: int = 3, code: bool = False) -> forms.CharField:
    attributes = {"rows": rows, **({"class": "mono", "spellcheck": "false"} if code else {})}
    return forms.CharField(
        label=label, required=False, help_text=help_text, widget=forms.Textarea(attrs=attributes)
    )


class SaidForm(forms.Form):
    """All that can be said of a file; nothing of it is required by the form itself."""

    product = _known("product", "Product", "MariaDB")
    version = _known("version", "Version", "10.11.7")
    hardware = _known("hardware", "Hardware", "bench-01")
    workload = _known("workload", "Workload", "oltp_read_only")
    threads = _whole_number("Threads", "What the tool printed wins.")
    started_at = _text("Started at", _TIME, "Without one, the time of receipt.")

    build = _known("build", "Build", "debug", "A flavour of the version, such as debug or asan.")
    branch = _known("branch", "Branch", "main", "Without one it is a release.")
    pull_request = _whole_number("Pull request", "Its number; its runs are kept apart from all branches.")
    base_branch = _known("branch", "Base branch", "main", "Where the pull request is to be merged.")
    commit = _text("Commit", "", "7 to 40 hex digits.", spellcheck="false")
    committed_at = _text("Committed at", _TIME)
    configuration = _known(
        "configuration", "Configuration", "default", "The name of a set of settings; its file goes beside it."
    )
    counterpart = _known("counterpart", COUNTERPART, "MariaDB 10.11.19", "The server behind a connector.")
    repetition = _whole_number("Repetition")
    format = forms.ChoiceField(
        label="Format", choices=[("", "from the content"), *((one, one) for one in FORMATS)], required=False
    )
    control = forms.ChoiceField(
        label="Control",
        choices=[("", "no, unless meta says so"), ("true", "yes"), ("false", "no")],
        required=False,
        help_text="Runs of a build that never changes: they tell the speed of the machine, and nothing else.",
    )
    session = _text(
        "Session",
        "monday-2",
        "Runs of one version with the same one shared a server start or a load of data.",
    )
    tags = _text("Tags", "nightly, cold", "Separated by commas.")
    notes = _long_text("Notes")
    options = _long_text("Options", 'JSON facts of the workload, such as {"tables": 4}.', rows=2, code=True)
    metric = _text(
        "Metric",
        "tps",
        "What the numbers of a table are that does not say it: tps, p95 (us), rss_mb [MB, lower].",
    )
    metrics = _long_text(
        "Metrics",
        'What your own metrics are, such as {"rss_mb": {"unit": "MB", "direction": "lower"}}.',
        rows=2,
        code=True,
    )
    map = _long_text("Map", rows=5, code=True)

    pattern = _text(
        "Path pattern",
        help_text="Which files are results, and what their paths say; without one, every file.",
        spellcheck="false",
        **{"class": "mono"},
    )
    path_map = _long_text("Mapping", "What parts of the paths mean, as JSON.", rows=4, code=True)
    companion_pattern = _long_text(
        "Companion patterns",
        "Files that go with the results of which the same names are the same; one pattern a line.",
        rows=2,
        code=True,
    )

    @property
    def common(self) -> list[BoundField]:
        return [self[name] for name in _COMMON]

    @property
    def further(self) -> list[BoundField]:
        return [self[name] for name in _FURTHER if name in self.fields]

    @property
    def is_unfolded(self) -> bool:
        """Whether something among the further fields must be seen."""
        return any(field.errors or field.value() for field in self.further)

    @property
    def archive(self) -> list[BoundField]:
        """How the paths in an archive are read."""
        return [self[name] for name in ARCHIVE_FIELDS if name in self.fields]

    @property
    def is_archive_unfolded(self) -> bool:
        return any(field.errors or field.value() for field in self.archive)

    def show_errors(self, errors: Iterable[FieldError]) -> None:
        """Each at its field (``map.A-*.version`` at ``map``), and once, however many files it concerns."""
        self.full_clean()
        for error in dict.fromkeys(errors):
            name = error.field.partition(".")[0]
            own = name if name in self.fields else None
            inner = error.field.removeprefix(name).removeprefix(".") if own else error.field
            self.add_error(own, f"{inner} {error.message}".strip())


class ChangeForm(SaidForm):
    """The same for an upload that is there, with what lay beside it and the reason."""

    meta = _long_text(
        "Meta", "The facts that lay beside the file as JSON; the fields above win.", rows=8, code=True
    )
    reason = forms.CharField(
        label="Reason",
        max_length=_MAX_REASON_LENGTH,
        required=False,
        help_text="Kept in the audit log.",
        widget=forms.TextInput(attrs={"placeholder": "the machine was named wrongly"}),
    )

    def __init__(self, *args: Any, is_archive: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_archive:
            for name in ARCHIVE_FIELDS:
                del self.fields[name]
        # Beside what was really said, an example would be taken for it.
        for name in FIELDS:
            self.fields[name].widget.attrs.pop("placeholder", None)

    @property
    def further(self) -> list[BoundField]:
        return [*super().further, self["meta"]]


def said_in(data: QueryDict) -> dict[str, Sequence[str]]:
    """Return the texts of the metadata's fields, as ingest.metadata.upload_metadata.read_form takes them."""
    said: dict[str, Sequence[str]] = {name: data.getlist(name) for name in ALL_FIELDS if name in data}
    if "tags" in said:
        said["tags"] = [tag.strip() for text in said["tags"] for tag in text.split(",")]
    if "companion_pattern" in said:
        said["companion_pattern"] = [line for text in said["companion_pattern"] for line in text.splitlines()]
    return said


def remembered_in(data: QueryDict) -> set[str]:
    """Return the names of the fields that still say what was filled in, of the last upload or by a guess.

    A script takes a field out as soon as somebody types in it.
    """
    try:
        filled_in = json.loads(data.get("remembered") or "{}")
    except ValueError:
        filled_in = {}
    if not isinstance(filled_in, Mapping):
        return set()
    known = {name: " ".join(str(filled_in.get(name, "")).split()) for name in MAY_BE_DEFAULTS}
    return {name for name, text in known.items() if text and " ".join(data.get(name, "").split()) == text}


def as_texts(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Write stored metadata as the texts of the form."""
    return {name: _as_text(name, value) for name, value in metadata.items()}


def changes_in(data: QueryDict, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in which a form differs from the stored metadata; None takes a field back.

    Raises FieldsError, also where nothing is said otherwise.
    """
    known = as_texts(metadata)
    said = {
        name: texts
        for name, texts in said_in(data).items()
        if data.get(name, "").replace("\r\n", "\n").strip() != known.get(name, "").strip()
    }
    values, errors = form_values(said)
    if not said:
        errors = [FieldError("", "nothing is changed: every field says what it said before")]
    if errors:
        raise FieldsError(errors)
    return values


def _as_text(name: str, value: Any) -> str:
    if name in JSON_FIELDS:
        return json.dumps(value, indent=2, ensure_ascii=False)
    if isinstance(value, list):
        return (", " if name == "tags" else "\n").join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
