"""The parser of JSON in requests of the API."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request


class GuardedJSONParser(JSONParser):
    """Refuse JSON that is too large or nested too deeply. Every view that takes JSON reads it with this."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        request: Request = (parser_context or {})["request"]
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig(f"the body is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes")
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("the JSON is nested too deeply") from None
