"""One table with one row a save."""

from __future__ import annotations

from django.db import models


class Row(models.Model):
    """What a bare form sends."""

    text = models.TextField()
    total = models.DecimalField(max_digits=6, decimal_places=2)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"row {self.pk}"
