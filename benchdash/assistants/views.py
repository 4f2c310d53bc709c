"""The door for assistants that speak MCP (the Model Context Protocol, streamable HTTP without sessions)."""

from typing import Final

from django.conf import settings
from django.http import HttpResponse
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.views import APIView

from benchdash.accounts.access import NotAllowed, viewer_of
from benchdash.accounts.authentication import TokenAuthentication
from benchdash.rest.views import OneRenderer
from benchdash.throttling import AnonymousThrottle, TokenThrottle

_JSON: Final = "application/json"


class AssistantsView(APIView):
    """Answers one message of an assistant.

    Every message is answered by itself, in JSON: any web process can answer the next. Who asks is told by a
    token alone; a session of a browser counts for nothing here.
    """

    authentication_classes = [TokenAuthentication]
    throttle_classes = [AnonymousThrottle, TokenThrottle]
    content_negotiation_class = OneRenderer  # the protocol looks at what a client accepts
    http_method_names = ["post"]
    schema = None  # it speaks another protocol than the API

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        _require_own_origin(request)

    def post(self, request: Request) -> HttpResponse:
        if request.content_type.partition(";")[0].strip().lower() != _JSON:
            raise UnsupportedMediaType(request.content_type[:100])
        # A third of the memory of a web process, which most of them never need.
        from benchdash.assistants.exchange import exchange  # noqa: PLC0415

        return exchange(request, viewer_of(request))


def _require_own_origin(request: Request) -> None:
    """Refuse a request that a page of another site sent. Raises NotAllowed.

    Programs send no origin. The protocol asks for this: a page could lead a name of its own to this machine.
    """
    origin = request.headers.get("Origin")
    own = {f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS}
    if origin is not None and origin not in own:
        raise NotAllowed("pages of other sites may not ask here")
