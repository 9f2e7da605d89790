"""Encrypt the stored API keys with the first of the field keys."""

from __future__ import annotations

from typing import Any

from evaluations.runs.services.keys import rotate_keys
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Encrypt every stored API key with the first key of GRADEAPP_FIELD_KEYS."

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"rotated": rotate_keys()}
