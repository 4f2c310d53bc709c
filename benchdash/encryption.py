"""Encryption of what is stored: secrets that benchdash must be able to read again.

The keys are derived from SECRET_KEY and SECRET_KEY_FALLBACKS: the first encrypts, all of them decrypt.
"""

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class NoKeyError(Exception):
    """It was encrypted with a key that this installation does not have any more."""


def encrypted(plain: bytes) -> bytes:
    return _keys().encrypt(plain)


def decrypted(stored: bytes) -> bytes:
    """Return what was encrypted. Raises NoKeyError."""
    try:
        return _keys().decrypt(stored)
    except InvalidToken:
        raise NoKeyError from None


def _keys() -> MultiFernet:
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


@lru_cache(maxsize=16)
def _key(secret: str) -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"benchdash stored secrets").derive(secret.encode())
    return Fernet(urlsafe_b64encode(derived))
