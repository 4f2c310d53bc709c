"""OIDC_ISSUERS: whose tokens of CI jobs are taken, and where their public keys are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

GITHUB: Final = "github"
GITLAB: Final = "gitlab"
GITHUB_ACTIONS: Final = "https://token.actions.githubusercontent.com"
USUAL_ISSUERS: Final = json.dumps(
    {
        GITHUB_ACTIONS: f"{GITHUB_ACTIONS}/.well-known/jwks",
        "https://gitlab.com": "https://gitlab.com/oauth/discovery/keys",
    }
)

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class Issuer:
    """A CI whose word is taken. ``host`` says which claims it makes: those of GitHub or of GitLab.

    ``keys`` is the address of its JWKS (RFC 7517), or the JWKS itself.
    """

    url: str
    host: str
    keys: str | Mapping[str, Any]

    @property
    def host_name(self) -> str:
        return "GitHub" if self.host == GITHUB else "GitLab"


def issuers_of(text: str) -> dict[str, Issuer]:
    """Return the issuers by their URLs. Raises ImproperlyConfigured.

    ``text`` is a JSON object: the URL of each issuer to the address of its JWKS, to the JWKS itself, or to
    ``{"jwks": either, "claims": "github" or "gitlab"}``.
    """
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"OIDC_ISSUERS is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise ImproperlyConfigured("OIDC_ISSUERS must be a JSON object of issuers and their JWKS")
    return {url: _issuer(url, value) for url, value in given.items()}


def _issuer(url: str, value: Any) -> Issuer:
    _check_address(url, "the issuer")
    is_long = isinstance(value, dict) and "jwks" in value
    keys = value["jwks"] if is_long else value
    host = value.get("claims") if is_long else None
    if host is None:
        # GitHub Enterprise Server has an address of its own.
        is_github = url.startswith(GITHUB_ACTIONS) or url.endswith("/_services/token")
        host = GITHUB if is_github else GITLAB
    if host not in (GITHUB, GITLAB):
        raise ImproperlyConfigured(f"OIDC_ISSUERS: the claims of {url} must be github or gitlab")
    if isinstance(keys, str):
        _check_address(keys, f"the JWKS of {url}", may_be_file=True)
    elif not (isinstance(keys, dict) and isinstance(keys.get("keys"), list)):
        raise ImproperlyConfigured(f"OIDC_ISSUERS: {url} needs the address of its JWKS, or the JWKS")
    return Issuer(url, host, keys)


def _check_address(address: str, what: str, *, may_be_file: bool = False) -> None:
    parts = urlsplit(address)
    is_file = may_be_file and parts.scheme == "file" and not parts.netloc and parts.path.startswith("/")
    is_https = parts.scheme == "https" and parts.hostname
    is_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not (is_file or is_https or is_here):
        or_file = " or file:///" if may_be_file else ""
        raise ImproperlyConfigured(f"OIDC_ISSUERS: {what} must begin with https://{or_file}, not {address!r}")
