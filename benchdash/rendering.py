"""JSON answers of the API, written by orjson."""

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import JSONRenderer
from rest_framework.utils.encoders import JSONEncoder

_as_django_rest_framework = JSONEncoder().default
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_SERIALIZE_NUMPY


class FastJSONRenderer(JSONRenderer):
    """Render JSON by orjson. NaN and infinity become null: JSON knows neither."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - the same
    ) -> bytes:
        if data is None:
            return b""
        return orjson.dumps(data, default=_as_django_rest_framework, option=_OPTIONS)
