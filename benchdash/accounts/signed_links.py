"""Signed links: addresses that show one thing of a private project to whoever has them, until they end.

No link is stored. A signature is of the thing, its parameters, the end, and a mark of the project; a new mark
ends all links of the project at once.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.http import QueryDict
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, Scope
from benchdash.accounts.services import audit

ENDS: Final = "ends"
SIGNATURE: Final = "signature"
MARK: Final = "signed_links"
"""The option of a project that holds its mark."""
NEVER: Final = "never"

UNSIGNED: Final = frozenset({SIGNATURE, "width", "height", "theme"})
"""Parameters that whoever has a link may change: how large it is drawn, and in which colours."""

_SALT: Final = "benchdash.accounts.signed_links"
_MAX_SUBJECT: Final = 280


class NotSigned(Exception):  # noqa: N818 - a state of affairs, not a fault
    """The address has no signature of the project, or it was changed after it was signed."""


class LinkEnded(Exception):  # noqa: N818 - the same
    """The address was signed, and the time of its link is over."""


def make_signed_query(
    project: Project, what: str, query: QueryDict, *, ends_at: datetime | None, by: Viewer
) -> str:
    """Return the query of a link that shows ``what`` with these parameters, and log that it was made.

    Raises NotAllowed for who does not administer the project.
    """
    by.require(Scope.ADMIN, project)
    signed = query.copy()
    for name in (*UNSIGNED, ENDS):
        signed.pop(name, None)
    signed[ENDS] = str(int(ends_at.timestamp())) if ends_at else NEVER
    with transaction.atomic():
        mark = _mark_of(project)
        until = f"until {ends_at:%Y-%m-%d}" if ends_at else "without an end"
        detail = {"address": signed.urlencode()[:1000]}
        audit(project, by, "signed link made", f"{what} {until}"[:_MAX_SUBJECT], detail=detail)
    signed[SIGNATURE] = _signer(project, mark).signature(_text(what, signed))
    return signed.urlencode()


def require_signature(project: Project, what: str, query: QueryDict) -> None:
    """Raise NotSigned or LinkEnded unless the query is one that was signed for this."""
    mark, signature, ends = project.options.get(MARK), query.get(SIGNATURE, ""), query.get(ENDS, "")
    if not (mark and signature.isascii()):
        raise NotSigned
    try:
        _signer(project, str(mark)).unsign(f"{_text(what, query)}:{signature}")
    except BadSignature:
        raise NotSigned from None
    if ends != NEVER and int(ends) <= timezone.now().timestamp():
        raise LinkEnded


def end_signed_links(project: Project, *, by: Viewer) -> None:
    """End every link that was made until now. Raises NotAllowed for who does not administer the project."""
    by.require(Scope.ADMIN, project)
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        locked.options = {name: value for name, value in locked.options.items() if name != MARK}
        locked.save(update_fields=["options"])
        audit(project, by, "signed links ended", "all that were made until now")
    project.options = locked.options


def _mark_of(project: Project) -> str:
    """Return the mark of the project; the first link makes it."""
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if MARK not in locked.options:
        locked.options = {**locked.options, MARK: secrets.token_hex(16)}
        locked.save(update_fields=["options"])
    project.options = locked.options
    return str(locked.options[MARK])


def _signer(project: Project, mark: str) -> Signer:
    return Signer(salt=f"{_SALT}:{project.pk}:{mark}")


def _text(what: str, query: QueryDict) -> str:
    """Return what is signed; of parameters that come more than once, their order counts."""
    signed: Iterable[str] = sorted(name for name in query if name not in UNSIGNED)
    return urlencode([("what", what), *((name, value) for name in signed for value in query.getlist(name))])
