"""Addresses without the slash at their end."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponseBase
from django.middleware.common import CommonMiddleware


class SlashMiddleware(CommonMiddleware):
    """Lead to the address with a slash; what is sent is sent there again, and does not become a GET."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response = super().process_response(request, response)
        if response.status_code == HTTPStatus.MOVED_PERMANENTLY and request.method not in ("GET", "HEAD"):
            response.status_code = HTTPStatus.PERMANENT_REDIRECT
        return response
