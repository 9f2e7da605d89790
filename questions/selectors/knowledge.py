"""Names of knowledge."""

from __future__ import annotations

from django.db.models import Q

from questions.models import Knowledge


def knowledge_name(key: str, language: str) -> str:
    """The name of the knowledge with this slug or number; *key* itself where there is none."""
    chosen = Q(slug=key) | Q(pk=int(key)) if key.isascii() and key.isdigit() else Q(slug=key)
    found = Knowledge.objects.filter(chosen).first()
    return found.label(language) if found else key
