"""``Idempotency-Key``: a request that is sent twice is carried out once.

What succeeded is stored with its answer in one transaction. After an error nothing was done, so that the
same key may be sent again.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, Final

import orjson
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.database.locks import alone_with
from benchdash.rendering import FastJSONRenderer
from benchdash.rest.models import StoredAnswer
from benchdash.throttling import asker_of

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
MAX_KEY: Final = 255

_KEY: Final = re.compile(rf"[\x21-\x7e]{{1,{MAX_KEY}}}", re.ASCII)

_Handler = Callable[..., Response]


class StillAtWork(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "still_at_work"
    default_detail = f"a request with this {HEADER} is still at work; try again"
    wait = 1


class KeyUsedOtherwise(APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "key_used_otherwise"
    default_detail = f"this {HEADER} came with another request before; every request needs a key of its own"


def once(handler: _Handler, *, in_one_transaction: bool = True) -> _Handler:
    """Return a handler that carries out a request once, and then gives the answer again.

    Without ``in_one_transaction`` a process that dies before it stores the answer leaves what was done; the
    handler must recognise it when it is asked again. Raises ParseError, StillAtWork or KeyUsedOtherwise.
    """

    def answer(request: Request, *arguments: Any, **options: Any) -> Response:
        asker = asker_of(request)
        if asker is None:  # the handler refuses strangers
            return handler(request, *arguments, **options)
        key, digest = _key(request), _digest(request)
        with alone_with(f"{HEADER} {asker} {key}") as is_alone:
            if not is_alone:
                raise StillAtWork
            if stored := StoredAnswer.objects.filter(_is_kept(), asker=asker, key=key).first():
                return _replay(stored, digest)
            if not in_one_transaction:
                response = handler(request, *arguments, **options)
                _store(response, asker=asker, key=key, digest=digest)
                return response
            with transaction.atomic():
                response = handler(request, *arguments, **options)
                _store(response, asker=asker, key=key, digest=digest)
            return response

    return answer


def delete_old_answers() -> None:
    """Forget the answers that are older than they are kept."""
    StoredAnswer.objects.exclude(_is_kept()).delete()


def _is_kept() -> Q:
    return Q(created_at__gt=timezone.now() - timedelta(hours=settings.IDEMPOTENCY_KEY_HOURS))


def _key(request: Request) -> str:
    """Return the key, with or without the quotes of the draft."""
    sent = request.headers[HEADER].strip()
    key = sent[1:-1] if len(sent) > 1 and sent[0] == sent[-1] == '"' else sent
    if not _KEY.fullmatch(key):
        raise ParseError(f"{HEADER} must be 1 to {MAX_KEY} visible ASCII characters, such as a UUID")
    return key


def _digest(request: Request) -> str:
    """Hash what is asked for; files piece by piece, and not the boundaries of a form, which are random."""
    digest = hashlib.blake2b(digest_size=32)
    for part in (request.path.encode(), request.META.get("QUERY_STRING", "").encode(), *_parts(request.data)):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.hexdigest()


def _parts(data: Any) -> Iterator[bytes]:
    if not isinstance(data, QueryDict):
        yield orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
        return
    for name in sorted(data):
        for value in data.getlist(name):
            yield name.encode(errors="surrogatepass")
            if isinstance(value, UploadedFile):
                yield (value.name or "").encode(errors="surrogatepass")
                yield from value.chunks()
                yield b""
                value.seek(0)
            else:
                yield str(value).encode(errors="surrogatepass")


def _replay(stored: StoredAnswer, digest: str) -> Response:
    if stored.request != digest:
        raise KeyUsedOtherwise
    body = bytes(stored.body)
    headers = {REPLAYED: "true", **({"Location": stored.location} if stored.location else {})}
    return Response(orjson.loads(body) if body else None, status=stored.status, headers=headers)


def _store(response: Response, *, asker: str, key: str, digest: str) -> None:
    if not status.is_success(response.status_code):
        return
    StoredAnswer.objects.update_or_create(
        asker=asker,
        key=key,
        defaults={
            "request": digest,
            "status": response.status_code,
            "location": response.headers.get("Location", ""),
            "body": FastJSONRenderer().render(response.data),
            "created_at": timezone.now(),
        },
    )
