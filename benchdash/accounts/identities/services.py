"""Writes trusts, and finds the token as which a job acts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.identities.claims import IdentityError, JobIdentity, identity_of, issuer_of
from benchdash.accounts.models import Project, Token, Trust
from benchdash.accounts.services import TokenExpiredError, audit, new_token, what_it_may


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions on a job, as the fields of a Trust. Empty ones hold for every job."""

    issuer: str
    repository: str
    repository_id: str = ""
    branch: str = ""
    environment: str = ""
    workflow: str = ""
    protected_only: bool = False


def trust_repository(
    project: Project,
    conditions: Conditions,
    *,
    scopes: Sequence[str],
    name: str = "",
    expires_in_days: int | None = None,
    hardware: str = "",
    by: Viewer | None = None,
) -> Trust:
    """Let the jobs that fulfil the conditions act for the project, and return the trust with its token.

    Raises django.core.exceptions.ValidationError for an issuer that the settings do not name, for what no
    token may have, and where the project trusts the same jobs already.
    """
    conditions = replace(
        conditions,
        repository=conditions.repository.strip().strip("/"),
        branch=conditions.branch.strip().removeprefix("refs/heads/"),
    )
    issuer = settings.OIDC_ISSUERS.get(conditions.issuer)
    if issuer is None:
        raise ValidationError({"issuer": f"No such issuer is in OIDC_ISSUERS: {conditions.issuer}"})
    token = new_token(
        project,
        name or f"{issuer.host_name} {conditions.repository}"[:100],
        scopes,
        expires_in_days=expires_in_days,
        hardware=hardware,
        by=by,
    )
    trust = Trust(**asdict(conditions))
    token.full_clean()
    trust.full_clean(exclude=["token"])
    with transaction.atomic():
        # Two admins may say the same at once: the second one waits here, and is refused.
        Project.objects.select_for_update().get(pk=project.pk)
        _refuse_the_same(project, conditions)
        token.save()
        trust.token = token
        trust.save()
        if by:
            detail = {**{name: value for name, value in asdict(conditions).items() if value}}
            audit(project, by, "repository trusted", str(token), detail={**detail, **what_it_may(token)})
    return trust


def _refuse_the_same(project: Project, conditions: Conditions) -> None:
    """Raise ValidationError where jobs would fulfil two trusts that nothing tells apart."""
    same = {name: value for name, value in asdict(conditions).items() if name != "repository_id"}
    live = Trust.objects.filter(token__project=project, token__revoked_at=None, **same)
    for one in live.select_related("token"):
        if not one.token.is_expired and not (
            one.repository_id and conditions.repository_id and one.repository_id != conditions.repository_id
        ):
            raise ValidationError(
                {"repository": f"The project trusts these jobs already, as '{one.token}'; revoke that first."}
            )


def trusted_tokens(sent: str) -> list[Token]:
    """Return the live tokens as which the job may act that sent this JWT, of a project the most exact first.

    Raises IdentityError, TokenExpiredError, and KeysAwayError where the keys of its CI cannot be read.
    """
    issuer = issuer_of(sent)
    # Keys are fetched only for issuers that somebody trusts.
    if not Trust.objects.filter(issuer=issuer.url, token__revoked_at=None).exists():
        raise IdentityError(f"no project trusts a repository of {issuer.url}")
    identity = identity_of(sent, issuer)
    tokens = [trust.token for trust in _pinned(identity, _trusts_of(identity))]
    if not tokens:
        raise IdentityError(f"no project trusts {identity.in_full()}")
    live = [token for token in tokens if not token.is_expired]
    if not live:
        raise TokenExpiredError(tokens[0])
    for token in live:
        token.acting_as = str(identity)
    return live


def _pinned(identity: JobIdentity, trusts: list[Trust]) -> list[Trust]:
    """Note the number of the repository where nobody said it: who takes its name later has another."""
    if all(trust.repository_id for trust in trusts):
        return trusts
    open_ones = Trust.objects.filter(pk__in=[trust.pk for trust in trusts], repository_id="")
    open_ones.update(repository_id=identity.repository_id)
    return _trusts_of(identity)


def _trusts_of(identity: JobIdentity) -> list[Trust]:
    found = Trust.objects.filter(
        issuer=identity.issuer.url,
        repository=identity.repository,
        repository_id__in=("", identity.repository_id),
        branch__in=("", identity.branch),
        environment__in=("", identity.environment),
        workflow__in=("", identity.workflow),
        protected_only__in=(False, identity.is_protected),
        token__revoked_at=None,
    )
    trusts = list(found.select_related("token__project"))
    return sorted(trusts, key=lambda trust: (-trust.number_of_conditions, trust.pk))
