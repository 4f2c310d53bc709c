"""The schema of the API, and a page for people made from it."""


from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView


@extend_schema(exclude=True)
class SchemaView(SpectacularAPIView):
    """JSON, or YAML for who accepts nothing else."""

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]
