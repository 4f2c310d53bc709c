"""The OpenAPI schema, and the pages for people that are made from it."""

import hashlib
from functools import cache

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.views import APIView

from benchdash.rest.operations import document
from benchdash.throttling import AnonymousThrottle, PersonThrottle


class SchemaView(APIView):
    """JSON, or YAML for those who accept nothing else."""

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]
    throttle_classes = [AnonymousThrottle, PersonThrottle]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        as_yaml = isinstance(request.accepted_renderer, OpenApiYamlRenderer)
        schema, etag = _rendered_schema(as_yaml=as_yaml)
        response = HttpResponse(schema, content_type=request.accepted_media_type)
        response["ETag"] = etag
        return response


@cache
def _rendered_schema(*, as_yaml: bool) -> tuple[bytes, str]:
    """Return the schema and its ETag, made once in a process."""
    renderer = OpenApiYamlRenderer() if as_yaml else OpenApiJsonRenderer()
    rendered = renderer.render(document(), renderer_context={})
    return rendered, f'"{hashlib.sha256(rendered).hexdigest()}"'


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI within a page of ours."""

    authentication_classes = [SessionAuthentication]
    template_name = "api/docs.html"
