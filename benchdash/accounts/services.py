"""Everything that writes people, projects, tokens and the audit log."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import (
    TOKEN_PREFIX,
    TOKEN_PREFIX_LENGTH,
    AuditEntry,
    Membership,
    Project,
    Role,
    Token,
    User,
)
from benchdash.accounts.time_zones import is_time_zone

_STAMP_EVERY = timedelta(minutes=1)


class LastAdminError(Exception):
    """A change that would leave the project without an admin."""


def create_project(slug: str, *, name: str = "", public: bool = False, by: Viewer | None = None) -> Project:
    """Create a project; who makes it on a page becomes its admin.

    Raises django.core.exceptions.ValidationError for a slug that is malformed or taken, and NotAllowed for
    somebody who may not make projects.
    """
    if by:
        by.require_may_make_projects()
    visibility = Project.Visibility.PUBLIC if public else Project.Visibility.PRIVATE
    project = Project(slug=slug, name=name or slug, visibility=visibility)
    project.full_clean(validate_unique=False)
    with transaction.atomic():
        try:
            with transaction.atomic():
                project.save()
        except IntegrityError:
            raise ValidationError({"slug": f"'{slug}' is taken by another project"}) from None
        if by and by.user:
            Membership.objects.create(project=project, user=by.user, role=Role.ADMIN)
            audit(project, by, "project made", project.slug)
    return project


def change_project(project: Project, changes: Mapping[str, Any], *, by: Viewer) -> None:
    """Set these fields of the project, and log their old values.

    Raises django.core.exceptions.ValidationError for values that a project cannot have.
    """
    before = {name: getattr(project, name) for name in changes}
    detail = {name: f"{before[name]} → {value}" for name, value in changes.items() if value != before[name]}
    if not detail:
        return
    for name in detail:
        setattr(project, name, changes[name])
    project.full_clean()
    with transaction.atomic():
        project.save(update_fields=list(detail))
        audit(project, by, "project changed", project.slug, detail=detail)


def change_account(user: User, *, name: str, time_zone: str) -> None:
    """Set what a person says of themselves.

    Raises django.core.exceptions.ValidationError for a time zone that there is not.
    """
    if time_zone and not is_time_zone(time_zone):
        raise ValidationError({"time_zone": f"no time zone is called {time_zone!r}; one is Europe/Berlin"})
    user.name, user.time_zone = name.strip(), time_zone
    user.save(update_fields=["name", "time_zone"])


def set_role(project: Project, user: User, role: str, *, by: Viewer) -> Membership:
    """Give the user this role, and make them a member if needed. Raises LastAdminError."""
    with transaction.atomic():
        if role != Role.ADMIN:
            _require_another_admin(project, user)
        known = Membership.objects.filter(project=project, user=user).first()
        membership, _ = Membership.objects.update_or_create(
            project=project, user=user, defaults={"role": Role(role)}
        )
        if known is None or known.role != role:
            was = known.role if known else "no member"
            audit(project, by, "member changed", user.email, detail={"role": f"{was} → {role}"})
    return membership


def remove_member(membership: Membership, *, by: Viewer) -> None:
    """End a membership. Raises LastAdminError."""
    project, user = membership.project, membership.user
    with transaction.atomic():
        _require_another_admin(project, user)
        membership.delete()
        audit(project, by, "member removed", user.email, detail={"role": membership.role})


def _require_another_admin(project: Project, leaving: User) -> None:
    # Two admins may demote each other at once: the second one waits here, and is refused.
    Project.objects.select_for_update().get(pk=project.pk)
    admins = set(
        Membership.objects.filter(project=project, role=Role.ADMIN).values_list("user_id", flat=True)
    )
    if admins == {leaving.pk}:
        raise LastAdminError(f"{leaving.email} is the only admin; make somebody else one first")


class TokenExpiredError(Exception):
    """A token that was live until it expired."""

    def __init__(self, token: Token) -> None:
        super().__init__(f"the token expired on {token.expires_at:%Y-%m-%d at %H:%M} UTC; make another one")
        self.token = token


def create_token(
    project: Project,
    name: str,
    scopes: Sequence[str],
    *,
    expires_in_days: int | None = None,
    hardware: str = "",
    by: Viewer | None = None,
) -> tuple[Token, str]:
    """Return a new token and its secret, which is shown once and not stored.

    Raises django.core.exceptions.ValidationError for an empty name, an unknown scope, and a scope that a
    token bound to a machine may not have.
    """
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = new_token(
        project, name, scopes, expires_in_days=expires_in_days, hardware=hardware, by=by, secret=secret
    )
    token.full_clean()
    with transaction.atomic():
        token.save()
        if by:
            audit(project, by, "token created", str(token), detail=what_it_may(token))
    return token, secret


def new_token(
    project: Project,
    name: str,
    scopes: Sequence[str],
    *,
    expires_in_days: int | None,
    hardware: str,
    by: Viewer | None,
    secret: str = "",
) -> Token:
    """Return a token that is not stored yet. Without a secret it is that of a trust."""
    return Token(
        project=project,
        name=name,
        prefix=secret[:TOKEN_PREFIX_LENGTH],
        digest=token_digest(secret) if secret else None,
        scopes=sorted(set(scopes)),
        hardware=" ".join(hardware.split()),
        expires_at=timezone.now() + timedelta(days=expires_in_days) if expires_in_days else None,
        created_by=by.user if by else None,
    )


def what_it_may(token: Token) -> dict[str, Any]:
    """Return what the audit log says of a new token."""
    expires = f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "never"
    bound = {"hardware": token.hardware} if token.hardware else {}
    return {"scopes": token.scopes, "expires": expires, **bound}


def revoke_token(token: Token, *, by: Viewer) -> None:
    with transaction.atomic():
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit(token.project, by, "token revoked", str(token))


def token_digest(secret: str) -> str:
    # The secret has 256 random bits: a slow hash would protect nothing and cost every request.
    return hashlib.sha256(secret.encode()).hexdigest()


def find_token(secret: str) -> Token | None:
    """Return the live token with this secret, and note that it was used. Raises TokenExpiredError."""
    # No order is asked for: a digest is unique, and every request waits for this.
    known = Token.objects.select_related("project").filter(digest=token_digest(secret), revoked_at=None)
    token = next(iter(known), None)
    if token and token.is_expired:
        raise TokenExpiredError(token)
    if token:
        note_use(token)
    return token


def note_use(token: Token) -> None:
    """Note that a token was used, at most once a minute."""
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _STAMP_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


def audit(
    project: Project,
    by: Viewer,
    action: str,
    subject: str,
    *,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Log a change. Call it inside the transaction of the change."""
    acting_as = {"identity": by.token.acting_as} if by.token and by.token.acting_as else {}
    return AuditEntry.objects.create(
        project=project,
        user=by.user,
        token=by.token,
        action=action,
        subject=subject[:300],
        reason=reason,
        detail={**(detail or {}), **acting_as},
    )
