"""The base of all views of the API: what is the same of every request and answer."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.functional import cached_property
from rest_framework.exceptions import NotAuthenticated, ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from benchdash.accounts.access import Viewer, viewer_of
from benchdash.rest import parameters
from benchdash.rest.idempotency import HEADER, once
from benchdash.rest.operations import operation_of
from benchdash.throttling import AnonymousThrottle, MinuteThrottle, PersonThrottle, TokenThrottle


class OneRenderer(DefaultContentNegotiation):
    """Answers have the form that the view gives them; what a client says that it accepts changes nothing."""

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - DRF calls it so
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002 - the same
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class ApiView(APIView):
    # Parameters that it reads at every address, whether the schema lists them or not.
    common_parameters: Sequence[str] = ()
    # It answers only to those who said who they are; changes always need that.
    for_known_only = False
    # A thing that POST makes is found again by its content, and needs no transaction with its answer.
    recognises_repeats = False

    @cached_property
    def viewer(self) -> Viewer:
        return viewer_of(self.request)

    def require_somebody(self) -> None:
        if self.viewer.is_anonymous:
            raise NotAuthenticated

    def get_throttles(self) -> list[BaseThrottle]:
        return [*self._limits]

    def limits(self) -> list[MinuteThrottle]:
        """Return what limits a request. At most one of them applies, so that Redis is asked once."""
        return [AnonymousThrottle(), PersonThrottle(), TokenThrottle()]

    def initial(self, request: Request, *arguments: Any, **options: Any) -> None:
        super().initial(request, *arguments, **options)
        self._read_parameters(request)
        post = getattr(self, "post", None)
        if request.method == "POST" and HEADER in request.headers and post:
            in_one_transaction = not self.recognises_repeats
            self.post = once(post, viewer=self.viewer, in_one_transaction=in_one_transaction)
        if request.method not in (SAFE_METHODS if not self.for_known_only else ("OPTIONS",)):
            self.require_somebody()

    def finalize_response(
        self, request: Request, response: Response, *arguments: Any, **options: Any
    ) -> Response:
        for limit in self._limits:
            for name, value in limit.headers.items():
                response.headers[name] = value
        return super().finalize_response(request, response, *arguments, **options)

    @cached_property
    def _limits(self) -> list[MinuteThrottle]:
        return self.limits()

    def _read_parameters(self, request: Request) -> None:
        """Refuse parameters that mean nothing here: a filter that is not known would not be applied.

        Raise rest_framework's ValidationError.
        """
        operation = operation_of(request)
        if operation is None:
            return
        known = {*operation.parameters, *self.common_parameters}
        said = dict(request.query_params.items())
        if said.get("format") == "json":  # which every address answers, by whatever name it is asked for
            known.add("format")
        if strange := [name for name in said if name not in known]:
            raise ValidationError(
                {name: [parameters.unknown(name, known, what="parameter")] for name in strange[:10]}
            )
