"""Addresses outside of benchdash: of a bug, and of what changed between two commits or versions.

A project has a template for each, such as ``https://github.com/org/repo/compare/{from}...{to}``.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError

from benchdash.accounts.models import Project
from benchdash.regressions.models import Incident
from benchdash.regressions.options import bug_template, compare_template
from benchdash.results.models import UNKNOWN_VERSION, ServerVersion

IN_COMPARE_TEMPLATE: Final = ("from", "to")
IN_BUG_TEMPLATE: Final = ("bug",)
MAX_LENGTH: Final = 500
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_UNFIT: Final = re.compile(r"[\x00-\x20\x7f]")


def check_template(template: str, placeholders: tuple[str, ...]) -> str:
    """Return the template as it is kept.

    Raises django.core.exceptions.ValidationError for what leads nowhere.
    """
    template = template.strip()
    if not template:
        return ""
    if not is_address(_PLACEHOLDER.sub("x", template)) or "{" in urlsplit(template).netloc:
        raise ValidationError("This is no address that begins with https:// or http:// and names a host.")
    found = _PLACEHOLDER.findall(template)
    if unknown := sorted({name for name in found if name not in placeholders}):
        raise ValidationError(f"There is no {{{unknown[0]}}} here, only {_in_words(placeholders)}.")
    if missing := [name for name in placeholders if name not in found]:
        raise ValidationError(f"It needs {_in_words(missing)}.")
    return template


def check_bug(bug: str) -> str:
    """Return the number or address of a bug as it is kept.

    Raises django.core.exceptions.ValidationError for an address of something else than a web page.
    """
    bug = bug.strip()
    if len(bug) > MAX_LENGTH:
        raise ValidationError({"bug": f"it has more than {MAX_LENGTH} characters"})
    if "\0" in bug or ("://" in bug and not is_address(bug)):
        raise ValidationError({"bug": "give a number, or an address that begins with https:// or http://"})
    return bug


def is_address(text: str) -> bool:
    """Tell whether a text is an address of the web."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"https", "http"} and bool(parts.hostname) and not _UNFIT.search(text)


def bug_url(incident: Incident, project: Project) -> str:
    """Return the address of the bug of an incident; empty where it leads nowhere."""
    if not incident.bug or is_address(incident.bug):
        return incident.bug
    template = bug_template(project)
    return _filled(template, {"bug": incident.bug}) if template else ""


def compare_url(incident: Incident, project: Project) -> str:
    """Return the address of all that changed in the range of an incident; empty where it is not known.

    The range is between commits where both are known, else between versions.
    """
    template = compare_template(project)
    if not template or incident.since is None or incident.until is None:
        return ""
    ends = _commits(incident.since, incident.until) or _versions(incident.since, incident.until)
    return _filled(template, dict(zip(IN_COMPARE_TEMPLATE, ends, strict=True))) if ends else ""


def _commits(since: ServerVersion, until: ServerVersion) -> tuple[str, str] | None:
    if since.commit and until.commit and since.commit != until.commit:
        return since.commit, until.commit
    return None


def _versions(since: ServerVersion, until: ServerVersion) -> tuple[str, str] | None:
    if since.version != until.version and UNKNOWN_VERSION not in (since.version, until.version):
        return since.version, until.version
    return None


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), template)


def _in_words(names: tuple[str, ...] | list[str]) -> str:
    return " and ".join(f"{{{name}}}" for name in names)
