"""The form that moves the baseline of a branch: what it may say, and what that means."""

from collections.abc import Sequence
from datetime import UTC, date
from typing import Final

from django import forms

from benchdash.regressions.comparison.branch_table import BranchGroup
from benchdash.regressions.comparison.columns import Column
from benchdash.results.baselines import MAX_REASON_LENGTH, Target
from benchdash.results.models import Baseline, ServerVersion

NOTHING: Final = "none"
_GROUP: Final = "group"
_RELEASE: Final = "release"


class BaselineForm(forms.Form):
    """The wanted baseline: ``stream`` is the id of a column of the branch, ``meant_by`` reads ``target``."""

    stream = forms.CharField(max_length=1000)
    target = forms.RegexField(r"^(none|release\.[0-9]{1,18}|group\.[0-9]{1,18}\.\d{4}-\d{2}-\d{2})$")
    reason = forms.CharField(max_length=MAX_REASON_LENGTH)


def of_group(group: BranchGroup) -> str:
    return f"{_GROUP}.{group.version.pk}.{group.time.astimezone(UTC).date()}"


def of_release(column: Column) -> str:
    return f"{_RELEASE}.{column.version.pk}"


def of_stored(baseline: Baseline) -> str:
    if baseline.version_id is None:
        return NOTHING
    if baseline.branch_group:
        return f"{_GROUP}.{baseline.version_id}.{baseline.day}"
    return f"{_RELEASE}.{baseline.version_id}"


def meant_by(text: str, versions: Sequence[ServerVersion]) -> Target | None:
    """None: nothing is to be the baseline. Raises LookupError for what is not among the versions."""
    if text == NOTHING:
        return None
    kind, pk, *day = text.split(".")
    version = next((one for one in versions if one.pk == int(pk)), None)
    if version is None:
        raise LookupError(pk)
    try:
        return Target(version, kind == _GROUP, date.fromisoformat(day[0]) if day else None)
    except ValueError:
        raise LookupError(text) from None
