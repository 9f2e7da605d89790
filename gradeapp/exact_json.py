"""The JSON of dumpdata with times to the microsecond: Django's own cuts them to milliseconds.

Links of the audit trail and signatures of its entries cover whole times. Named in
``SERIALIZATION_MODULES``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.core.serializers import json
from django.db.models import Model


class Encoder(json.DjangoJSONEncoder):
    """Django's encoder, but for times."""

    def default(self, o: Any) -> Any:
        """Return *o* as JSON can have it."""
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


class Serializer(json.Serializer):
    """Django's serializer with that encoder."""

    def serialize(self, queryset: Iterable[Model], **options: Any) -> Any:
        """Return *queryset* as JSON, or write it to the option ``stream``."""
        return super().serialize(queryset, **{"cls": Encoder, **options})


Deserializer = json.Deserializer
