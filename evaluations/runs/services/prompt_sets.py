"""Prompt sets and their versions."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import fingerprint
from evaluations.models import PromptSet, PromptSetVersion
from evaluations.runs.rules.prompting.zero_shot import PROMPT_VERSION
from gradeapp.common.refusals import NotFound

OWN_SET = "gradeapp"
OWN_CONTENT = {"name": OWN_SET, "answer_format": "tags", "prompt_version": PROMPT_VERSION}


@transaction.atomic
def current_prompts(slug: str) -> PromptSetVersion:
    """Return the version of the set *slug* that new runs use. Raises NotFound.

    A set that ships with the project is stored when it is first asked for, and gets a new version
    when its text changed.
    """
    if slug == OWN_SET:
        return _stored(slug)
    found = PromptSetVersion.objects.filter(current_of__slug=slug).select_related("prompt_set")
    version = found.first()
    if version is None:
        raise NotFound(_("There is no prompt set “%(name)s”.") % {"name": slug})
    return version


def _stored(slug: str) -> PromptSetVersion:
    """Return the shipped version of *slug*, stored and current."""
    own, _created = PromptSet.objects.get_or_create(slug=slug)
    digest = fingerprint(OWN_CONTENT)
    version = own.versions.filter(content_hash=digest).first()
    if version is None:
        number = own.versions.count() + 1
        version = PromptSetVersion.objects.create(
            prompt_set=own, number=number, content=OWN_CONTENT, content_hash=digest
        )
    if own.current_id != version.pk:
        own.current = version
        own.save(update_fields=["current"])
    return version
