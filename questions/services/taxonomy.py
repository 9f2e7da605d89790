"""Keeps the published taxonomy as rows, so that a curator has it before any import."""

from __future__ import annotations

from django.db import transaction

from questions.models import Knowledge
from questions.rules.taxonomy import SLUGS, TAXONOMY


@transaction.atomic
def ensure_taxonomy() -> dict[str, int]:
    """Make the rows of the published categories and subclasses that are missing.

    Returns the keys of all knowledge rows by slug, a curator's own included.
    Rows that are there are left as they are; safe to repeat.
    """
    known = _keys()
    if known.keys() >= SLUGS:
        return known
    Knowledge.objects.bulk_create(
        Knowledge(
            slug=category.slug,
            english=category.english,
            chinese=category.chinese,
            ability_branch=category.branch,
        )
        for category in TAXONOMY
        if category.slug not in known
    )
    categories = _keys()
    Knowledge.objects.bulk_create(
        Knowledge(
            slug=subclass.slug,
            english=subclass.english,
            chinese=subclass.chinese,
            ability_branch=category.branch,
            parent_id=categories[category.slug],
        )
        for category in TAXONOMY
        for subclass in category.subclasses
        if subclass.slug not in known
    )
    return _keys()


def _keys() -> dict[str, int]:
    return dict(Knowledge.objects.values_list("slug", "pk"))
