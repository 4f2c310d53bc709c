"""The OpenAPI schema, and the pages for people that are made from it."""

import hashlib
from functools import cache
from threading import Lock

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.views import APIView

from benchdash.throttling import AnonymousThrottle

# The generator loads its extensions when it is first used, and fails where two threads do so at once.
_ONE_AT_A_TIME = Lock()


class SchemaView(APIView):
    """JSON, or YAML for those who accept nothing else."""

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]
    throttle_classes = [AnonymousThrottle]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        with _ONE_AT_A_TIME:
            schema, etag = _rendered_schema(
                as_yaml=isinstance(request.accepted_renderer, OpenApiYamlRenderer)
            )
        response = HttpResponse(schema, content_type=request.accepted_media_type)
        response["ETag"] = etag
        return get_conditional_response(request, etag=etag, response=response) or response


@cache
def _rendered_schema(*, as_yaml: bool) -> tuple[bytes, str]:
    """Return the schema and its ETag, made once in a process: it follows from the code alone."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call] # the package has no types
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call] # the same
    renderer = OpenApiYamlRenderer() if as_yaml else OpenApiJsonRenderer()
    rendered = renderer.render(schema, renderer_context={})
    return rendered, f'"{hashlib.sha256(rendered).hexdigest()}"'


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI within a page of ours."""

    authentication_classes = [SessionAuthentication]
    template_name = "api/docs.html"
