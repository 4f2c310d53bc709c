"""The fields of an upload, as a form and back.

The forms only show: what is said is read, and refused, by ingest.metadata as it is for the API.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.http import QueryDict
from django.utils.text import capfirst

from ingest.errors import FieldError, FieldsError
from ingest.formats import FORMATS
from ingest.metadata.fields import ALL_FIELDS, ARCHIVE_FIELDS, FIELD_OF, FIELDS, MAY_BE_DEFAULTS, FieldKind
from ingest.metadata.upload_metadata import JSON_FIELDS, form_values

_MAX_REASON_LENGTH: Final = 1000
_COMMON: Final = ("product", "version", "hardware", "workload")
_FURTHER: Final = (
    *("threads", "started_at"),
    *(name for name in FIELDS if name not in (*_COMMON, "threads", "started_at", "meta")),
)
# A rule of the form alone: how a list is written in it.
_SEPARATED: Final = {"tags": "separated by commas", "companion_pattern": "one pattern a line"}


def _form_field(name: str) -> forms.Field:
    """Return the field of a form that shows a field of an upload as it is declared."""
    field = FIELD_OF[name]
    about = "; ".join(filter(None, [field.about, _SEPARATED.get(name, "")]))
    options: dict[str, Any] = {
        "label": field.label or capfirst(name.replace("_", " ")),
        "required": False,
        "help_text": f"{capfirst(about)}." if about else "",
    }
    code = {"class": "mono"} if field.is_of_archive else {}
    attributes = {"placeholder": field.example, "autocomplete": "off", **code}
    match field.kind:
        case FieldKind.FORMAT:
            choices = [("", "from the content"), *((name, name) for name in FORMATS)]
            return forms.ChoiceField(choices=choices, **options)
        case FieldKind.YES_OR_NO:
            choices = [("", "no, unless meta says so"), ("true", "yes"), ("false", "no")]
            return forms.ChoiceField(choices=choices, **options)
        case FieldKind.OBJECT:
            widget: forms.Widget = _text_area(**{"class": "mono", "spellcheck": "false"})
        case FieldKind.LIST if field.is_of_archive:
            widget = _text_area(**code, spellcheck="false")
        case FieldKind.TEXT:
            widget = _text_area()
        case FieldKind.NAME:
            widget = forms.TextInput({**attributes, "list": f"known-{field.suggests or name}"})
        case FieldKind.NUMBER:
            widget = forms.TextInput({**attributes, "inputmode": "numeric"})
        case _:
            widget = forms.TextInput({**attributes, "spellcheck": "false"})
    return forms.CharField(widget=widget, **options)


def _text_area(**attributes: str) -> forms.Textarea:
    return forms.Textarea({"rows": 3, **attributes})


class SaidForm(forms.Form):
    """All that can be said of a file; nothing of it is required by the form itself."""

    names: Sequence[str] = (*_COMMON, *_FURTHER, *ARCHIVE_FIELDS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = {**{name: _form_field(name) for name in self.names}, **self.fields}

    @property
    def common(self) -> list[BoundField]:
        return [self[name] for name in _COMMON]

    @property
    def further(self) -> list[BoundField]:
        return [self[name] for name in _FURTHER if name in self.fields]

    @property
    def is_unfolded(self) -> bool:
        """Tell whether something among the further fields must be seen."""
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

    names = (*SaidForm.names, "meta")
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
