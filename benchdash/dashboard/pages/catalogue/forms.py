"""Corrections of what a project knows."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils import timezone

from benchdash.dashboard.shell.numbers import counted
from benchdash.results.corrections import VERSION_FACTS, Thing


class CorrectionForm(forms.Form):
    reason = forms.CharField(max_length=1000, required=False, help_text="It is kept in the audit log.")


class RenameForm(CorrectionForm):
    name = forms.CharField(max_length=300, label="New name")
    field_order = ("name", "reason")


class MergeForm(CorrectionForm):
    into: "forms.ModelChoiceField[Any]" = forms.ModelChoiceField(
        queryset=None, empty_label="choose one", label="Merge it into"
    )
    field_order = ("into", "reason")

    def __init__(self, others: QuerySet[Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["into"].queryset = others  # type: ignore[attr-defined]


class UnmergeForm(CorrectionForm):
    """``later`` is the number of runs that came in since under the name that went."""

    with_later = forms.BooleanField(required=False)
    field_order = ("with_later", "reason")

    def __init__(self, name: str, later: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not later:
            del self.fields["with_later"]
            return
        runs = counted(later, "run")
        self.fields["with_later"].label = f"Take the {runs} along that came in since as {name}"


class UtcDateTimeField(forms.DateTimeField):
    """A time in UTC, whatever the zone of who fills it in."""

    def prepare_value(self, value: Any) -> Any:
        with timezone.override(UTC):
            return super().prepare_value(value)

    def to_python(self, value: Any) -> datetime | None:
        with timezone.override(UTC):
            return super().to_python(value)


class BuildForm(CorrectionForm):
    """The facts of a build beside its version; an empty field forgets one."""

    commit = forms.RegexField(
        r"^[0-9a-fA-F]{7,40}$",
        required=False,
        error_messages={"invalid": "A commit is 7 to 40 hex digits."},
    )
    committed_at = UtcDateTimeField(
        required=False,
        label="Commit time",
        help_text="UTC, such as 2026-11-20 16:58. The commits of a branch are in this order.",
    )
    released_at = UtcDateTimeField(required=False, label="Released", help_text="UTC, such as 2026-11-20.")
    order = forms.CharField(
        max_length=100,
        required=False,
        label="Sorts as",
        help_text="Numbers such as 18.0, where the version itself does not begin with any. Without them it is"
        " sorted by when it was released, or else when its commit was made.",
    )
    field_order = ("order", "released_at", "commit", "committed_at", "reason")

    def facts(self) -> dict[str, Any]:
        """Return the facts that change, as the correction wants them."""
        said = {**self.cleaned_data, "commit": self.cleaned_data["commit"].lower() or None}
        return {name: said[name] for name in VERSION_FACTS if name in self.changed_data}


def name_of(thing: Thing) -> str:
    """Return the name that a correction changes."""
    return getattr(thing, "version", None) or str(thing)
