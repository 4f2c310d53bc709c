"""The public keys of issuers, read from where the settings say and from nowhere else.

They stay in the memory of the process: whoever could write keys into Redis could sign for every project.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt

from benchdash.oidc_issuers import Issuer

MAX_BYTES: Final = 256 * 1024
FETCH_SECONDS: Final = 5.0
# Keys are fetched again after an hour, and for a key that is not known at most once a minute.
FRESH_SECONDS: Final = 3600.0
FETCH_EVERY_SECONDS: Final = 60.0
# If that fails, the old ones hold for a day.
MAX_AGE_SECONDS: Final = 24 * 3600.0

_ALGORITHMS_OF_KINDS: Final = {"RSA": ("RS256", "RS384", "RS512"), "EC": ("ES256", "ES384", "ES512")}
ALGORITHMS: Final = tuple(name for names in _ALGORITHMS_OF_KINDS.values() for name in names)


class KeysAwayError(Exception):
    """The keys of an issuer cannot be read just now, with a sentence."""


@dataclass
class _KeySet:
    """The known keys of an issuer. Times are of ``time.monotonic``."""

    keys: Mapping[str, jwt.PyJWK] = field(default_factory=dict)
    fetched_at: float | None = None
    tried_at: float | None = None
    trouble: str = ""
    lock: Lock = field(default_factory=Lock)


_known: dict[str, _KeySet] = {}


def key_of(issuer: Issuer, key_id: str) -> jwt.PyJWK | None:
    """Return the key of this id, or None where the issuer has none. Raises KeysAwayError."""
    known = _known.setdefault(issuer.url + repr(issuer.keys), _KeySet())
    with known.lock:
        now = time.monotonic()
        is_fresh = known.fetched_at is not None and now - known.fetched_at < FRESH_SECONDS
        may_fetch = known.tried_at is None or now - known.tried_at >= FETCH_EVERY_SECONDS
        if may_fetch and not (is_fresh and key_id in known.keys):
            _fetch(issuer, known)
        if known.fetched_at is None or now - known.fetched_at >= MAX_AGE_SECONDS:
            raise KeysAwayError(f"the keys of {issuer.url} cannot be read now: {known.trouble}")
    return known.keys.get(key_id)


def _fetch(issuer: Issuer, known: _KeySet) -> None:
    known.tried_at = time.monotonic()
    try:
        known.keys = _keys_in(_jwks(issuer))
    except (OSError, ValueError) as error:
        known.trouble = str(error.reason) if isinstance(error, URLError) else str(error)
    else:
        known.fetched_at = known.tried_at


def _jwks(issuer: Issuer) -> Any:
    """Return the JSON of a JWKS. Raises OSError or ValueError."""
    if not isinstance(issuer.keys, str):
        return issuer.keys
    address = urlsplit(issuer.keys)
    if address.scheme == "file":
        with Path(unquote(address.path)).open("rb") as file:
            return _json(file.read(MAX_BYTES + 1))
    request = Request(issuer.keys, headers={"Accept": "application/json"})  # noqa: S310 - of the settings
    ends_at = time.monotonic() + FETCH_SECONDS
    content = b""
    with build_opener(_NoRedirects()).open(request, timeout=FETCH_SECONDS) as response:
        while part := response.read1(65536):
            content += part
            if len(content) > MAX_BYTES:
                break
            if time.monotonic() > ends_at:
                raise TimeoutError("the answer takes too long")
    return _json(content)


class _NoRedirects(HTTPRedirectHandler):
    """The settings name the place of the keys, and no answer names another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _json(content: bytes) -> Any:
    if len(content) > MAX_BYTES:
        raise ValueError(f"the answer is larger than {MAX_BYTES} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("the answer is no JSON") from None


def _keys_in(jwks: Any) -> dict[str, jwt.PyJWK]:
    """Return the keys that sign, by their ids; others are left out. Raises ValueError for no JWKS."""
    if not (isinstance(jwks, Mapping) and isinstance(jwks.get("keys"), list)):
        raise ValueError("the answer is no JWKS")  # noqa: TRY004 - what was answered is wrong
    found = {}
    for one in jwks["keys"]:
        if not isinstance(one, dict) or one.get("use", "sig") != "sig":
            continue
        algorithms = _ALGORITHMS_OF_KINDS.get(str(one.get("kty")), ())
        try:
            key = jwt.PyJWK(one)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            continue
        if key.algorithm_name in algorithms and isinstance(key.key_id, str):
            found[key.key_id] = key
    return found
