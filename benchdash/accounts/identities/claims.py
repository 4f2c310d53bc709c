"""Who a job is, from the signed token of its CI: a JWT whose signature, times and audience are right."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jwt
from django.conf import settings

from benchdash.accounts.identities.key_sets import ALGORITHMS, key_of
from benchdash.oidc_issuers import GITHUB, Issuer

MAX_LENGTH: Final = 16 * 1024
LEEWAY_SECONDS: Final = 30
# GitLab's live as long as their job may.
MAX_LIFETIME_SECONDS: Final = 24 * 3600

_REQUIRED: Final = ("iss", "sub", "aud", "iat", "exp")
_MAX_CLAIM: Final = 300
_OF_PULL_REQUESTS: Final = ("pull_request", "pull_request_target", "merge_request_event")
_BRANCHES: Final = "refs/heads/"


class IdentityError(Exception):
    """A token of a job that is not taken, with a sentence."""


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """A job, as its CI vouches for it. ``workflow`` is a path in the repository; empty is what it has not.

    A job of a pull request is on no branch: what it runs is not what the branch holds.
    """

    issuer: Issuer
    repository: str
    repository_id: str
    branch: str
    environment: str
    workflow: str
    is_protected: bool
    run: str

    def __str__(self) -> str:
        return f"{self.issuer.host_name} {self.repository}, run {self.run}"

    def in_full(self) -> str:
        """Return all that conditions may ask for."""
        branch = f"on the branch '{self.branch}'" if self.branch else "on no branch"
        return (
            f"{self.issuer.host_name} {self.repository} (number {self.repository_id}, {branch},"
            f" {'' if self.is_protected else 'not '}protected,"
            f" environment '{self.environment}', workflow '{self.workflow}')"
        )


def looks_like_identity(sent: str) -> bool:
    """Return whether what was sent as a token has the shape of a JWT."""
    return sent.startswith("eyJ") and sent.count(".") == 2


def issuer_of(sent: str) -> Issuer:
    """Return who is said to have signed; nothing of it is proved. Raises IdentityError for a stranger."""
    if len(sent) > MAX_LENGTH:
        raise IdentityError(f"the token is longer than {MAX_LENGTH} characters")
    claims = _decoded(sent, options={"verify_signature": False})
    issuer = claims.get("iss")
    known = settings.OIDC_ISSUERS.get(issuer) if isinstance(issuer, str) else None
    if known is None:
        raise IdentityError("the issuer of the token is not one of OIDC_ISSUERS")
    return known


def identity_of(sent: str, issuer: Issuer) -> JobIdentity:
    """Return whose token it is, once it is proved. Raises IdentityError or KeysAwayError."""
    try:
        header = jwt.get_unverified_header(sent)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise IdentityError("the token is malformed") from None
    if header.get("alg") not in ALGORITHMS:
        raise IdentityError(f"the token must be signed by one of {', '.join(ALGORITHMS)}")
    key_id = header.get("kid")
    key = key_of(issuer, key_id) if isinstance(key_id, str) else None
    if key is None:
        raise IdentityError(f"{issuer.url} has no key that the token names")
    claims = _decoded(
        sent,
        key=key,
        algorithms=[key.algorithm_name],
        audience=[settings.OIDC_AUDIENCE, f"{settings.OIDC_AUDIENCE}/"],
        issuer=issuer.url,
        leeway=LEEWAY_SECONDS,
        options={"require": list(_REQUIRED), "enforce_minimum_key_length": True},
    )
    if not 0 <= claims["exp"] - claims["iat"] <= MAX_LIFETIME_SECONDS:
        raise IdentityError(f"the token is to live longer than {MAX_LIFETIME_SECONDS // 3600} hours")
    return _of_github(issuer, claims) if issuer.host == GITHUB else _of_gitlab(issuer, claims)


def _decoded(sent: str, **how: Any) -> dict[str, Any]:
    """Return the claims of a token. Raises IdentityError."""
    try:
        claims: dict[str, Any] = jwt.decode(sent, **how)
    except jwt.ExpiredSignatureError:
        raise IdentityError("the token has expired; a job may ask for a new one") from None
    except (jwt.ImmatureSignatureError, jwt.InvalidIssuedAtError):
        raise IdentityError("the token is not valid yet; are both clocks right?") from None
    except jwt.InvalidAudienceError:
        raise IdentityError(
            f"the token is meant for others: its audience must be {settings.OIDC_AUDIENCE}"
        ) from None
    except jwt.MissingRequiredClaimError as error:
        raise IdentityError(f"the token lacks the claim '{error.claim}'") from None
    except jwt.InvalidSignatureError:
        raise IdentityError("the signature of the token is wrong") from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        raise IdentityError("the token is malformed") from None
    return claims


def _of_github(issuer: Issuer, claims: Mapping[str, Any]) -> JobIdentity:
    repository = _required(claims, "repository")
    return JobIdentity(
        issuer=issuer,
        repository=repository,
        repository_id=_required(claims, "repository_id"),
        branch=_branch(claims, "event_name", prefix=_BRANCHES),
        environment=_text(claims, "environment"),
        workflow=_file(_text(claims, "workflow_ref"), f"{repository}/"),
        is_protected=_is_true(claims, "ref_protected"),
        run=_required(claims, "run_id"),
    )


def _of_gitlab(issuer: Issuer, claims: Mapping[str, Any]) -> JobIdentity:
    repository = _required(claims, "project_path")
    here = issuer.url.partition("://")[2]
    return JobIdentity(
        issuer=issuer,
        repository=repository,
        repository_id=_required(claims, "project_id"),
        branch=_branch(claims, "pipeline_source"),
        environment=_text(claims, "environment"),
        workflow=_file(_text(claims, "ci_config_ref_uri"), f"{here}/{repository}//"),
        is_protected=_is_true(claims, "ref_protected"),
        run=_required(claims, "job_id"),
    )


def _branch(claims: Mapping[str, Any], cause: str, prefix: str = "") -> str:
    ref = _text(claims, "ref")
    is_branch = _text(claims, "ref_type") == "branch" and ref.startswith(prefix)
    return ref.removeprefix(prefix) if is_branch and _text(claims, cause) not in _OF_PULL_REQUESTS else ""


def _file(told: str, prefix: str) -> str:
    """Return the path of a workflow: ``bench.yml`` of ``org/name/bench.yml@refs/heads/main``."""
    found = re.fullmatch(f"{re.escape(prefix)}(.+?)@refs/.+", told)
    return found[1] if found else ""


def _required(claims: Mapping[str, Any], name: str) -> str:
    if not (text := _text(claims, name)):
        raise IdentityError(f"the token lacks the claim '{name}'")
    return text


def _text(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim as a text, empty where there is none. Raises IdentityError."""
    value = claims.get(name)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value or ""
    if not isinstance(text, str) or len(text) > _MAX_CLAIM or not text.isprintable():
        raise IdentityError(f"the claim '{name}' of the token is malformed")
    return text


def _is_true(claims: Mapping[str, Any], name: str) -> bool:
    return claims.get(name) in (True, "true")
