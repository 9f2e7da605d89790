"""Compile locale/*.po without gettext's tools, which a fresh machine does not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polib
from django.conf import settings
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Compile the translations that are newer than their compiled file."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for folder in settings.LOCALE_PATHS:
            for source in Path(folder).glob("*/LC_MESSAGES/*.po"):
                compiled = source.with_suffix(".mo")
                if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
                    polib.pofile(str(source)).save_as_mofile(str(compiled))
