"""The token that asks, for a script that wants to know whether it still works."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.answers.tokens import TokenSerializer
from benchdash.api.views.base import View


class TokenView(View):
    for_known_only = True

    @extend_schema(summary="Read what the token of this request may do", responses=TokenSerializer)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Tell a script about the token that it sends; 401 without one."""
        if self.viewer.token is None:
            raise NotAuthenticated
        return Response(TokenSerializer(self.viewer.token).data)
