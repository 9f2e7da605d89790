"""The description of the API, as the site serves it."""

from __future__ import annotations

from threading import Lock

from django.http import HttpResponse
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

_lock = Lock()
_described: dict[tuple[str, type[BaseRenderer]], bytes] = {}


class SchemaView(APIView):
    """The description of the API, made once a process for each language and format.

    It takes a second to make, and the generator loads its extensions without a lock.
    """

    permission_classes = [IsAuthenticated]
    renderer_classes = SpectacularAPIView.renderer_classes

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the description, as YAML or JSON."""
        renderer = request.accepted_renderer
        content = _description(get_language() or "en", type(renderer))
        return HttpResponse(content, content_type=renderer.media_type)


def _description(language: str, renderer: type[BaseRenderer]) -> bytes:
    with _lock:
        if (language, renderer) not in _described:
            described = SchemaGenerator().get_schema(request=None, public=True)
            _described[language, renderer] = renderer().render(described, renderer_context={})
        return _described[language, renderer]
