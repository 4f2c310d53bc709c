"""Addresses under ``/api/`` where nothing is."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema

from benchdash.api.views.base import View


@extend_schema(exclude=True)
class UnknownView(View):
    """Answer 404 as the API does, where Django would answer with a page."""

    authentication_classes = []

    def initial(self, *_arguments: Any, **_options: Any) -> None:
        raise Http404
