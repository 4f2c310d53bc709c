"""``Idempotency-Key``: a request that is sent twice is carried out once.

What succeeded is stored with its answer in one transaction. After an error nothing was done, so that the
same key may be sent again. The answer is stored encrypted, for some have secrets; it is given again to who
has all the rights still that were asked for when it was made, and may read what it names.
"""

import copy
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, QueryDict
from django.urls import resolve
from django.utils import timezone
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.access import NotVisible, Viewer
from benchdash.accounts.models import Project
from benchdash.database.locks import alone_with
from benchdash.encryption import NoKeyError, decrypted, encrypted
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


class AnswerLost(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "answer_lost"
    default_detail = (
        f"this was done, and its answer cannot be read any more; a new request needs a new {HEADER}"
    )


def once(handler: _Handler, *, viewer: Viewer, in_one_transaction: bool = True) -> _Handler:
    """Return a handler that carries out a request of the viewer once, and then gives the answer again.

    Without ``in_one_transaction`` a process that dies before it stores the answer leaves what was done; the
    handler must recognise it when it is asked again. Raises ParseError, StillAtWork, KeyUsedOtherwise or
    AnswerLost, and what the handler would raise for who has lost a right.
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
                return _replay(request, stored, digest, viewer)
            with transaction.atomic() if in_one_transaction else nullcontext():
                response = handler(request, *arguments, **options)
                _store(response, asker=asker, key=key, digest=digest, rights=sorted(viewer.granted))
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


def _replay(request: Request, stored: StoredAnswer, digest: str, viewer: Viewer) -> Response:
    """Give an answer again, or the one that its place gives now to who may not read that any more."""
    if stored.request != digest:
        raise KeyUsedOtherwise
    _require_still(viewer, stored.rights)
    if stored.location:
        current = _answer_to_get(request, urlsplit(stored.location).path)
        if current.status_code != status.HTTP_200_OK:
            return current
    try:
        body = decrypted(bytes(stored.body))
    except NoKeyError:
        raise AnswerLost from None
    headers = {REPLAYED: "true", **({"Location": stored.location} if stored.location else {})}
    return Response(orjson.loads(body) if body else None, status=stored.status, headers=headers)


def _require_still(viewer: Viewer, rights: Sequence[tuple[str, int]]) -> None:
    """Refuse a viewer who has lost a right. Raises NotVisible, NotAllowed and BeingDeleted."""
    projects = Project.objects.in_bulk([project for _, project in rights])
    for scope, project_id in rights:
        if project_id not in projects:
            raise NotVisible("the project is gone")
        project = viewer.project_as_sender(projects[project_id].slug)
        if scope:
            viewer.require(scope, project)


def _store(
    response: Response, *, asker: str, key: str, digest: str, rights: Sequence[tuple[str, int]]
) -> None:
    if not status.is_success(response.status_code):
        return
    StoredAnswer.objects.update_or_create(
        asker=asker,
        key=key,
        defaults={
            "request": digest,
            "status": response.status_code,
            "location": response.headers.get("Location", ""),
            "body": encrypted(FastJSONRenderer().render(response.data)),
            "rights": rights,
            "created_at": timezone.now(),
        },
    )


def _answer_to_get(request: Request, path: str) -> Response:
    """Return what ``GET`` of an address of this API answers to the sender of a request."""
    look: HttpRequest = copy.copy(request._request)
    for name in ("GET", "headers"):
        look.__dict__.pop(name, None)
    look.method = "GET"
    look.META = {**request.META, "REQUEST_METHOD": "GET", "QUERY_STRING": _query_of_look(request)}
    look.environ = look.META  # type: ignore[attr-defined] # of WSGI, where the query is read from
    look.path = look.path_info = path
    look.resolver_match = found = resolve(path)
    answer: Response = found.func(look, *found.args, **found.kwargs)
    answer.render()
    return answer


def _query_of_look(request: Request) -> str:
    kept = request.GET.copy()
    for name in request.GET:
        if name != "project":
            del kept[name]
    return kept.urlencode()
