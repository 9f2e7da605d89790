"""Conditions: found by their fingerprint, or made with a name."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from evaluations.conditions import (
    Asking,
    ConditionOrigin,
    ConditionSettings,
    ImagePolicy,
    OptionOrder,
    fingerprint,
)
from evaluations.models import Condition, Endpoint, LanguageModel
from evaluations.runs.services.prompt_sets import OWN_SET, stored_prompts
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import check_name_is_plain
from gradeapp.common.names import folded
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.submission_keys import made_once

AS_PUBLISHED = "as published"
NAME_LENGTH = 100
# So many new conditions of one model, with one usual name, are made at one moment.
MOST_AT_ONCE = 20


@transaction.atomic
def condition_for(endpoint: Endpoint, asking: Asking) -> Condition:
    """Return the condition in which *endpoint* is asked as *asking* says; make it if it is new.

    Raises NotFound if there is no such prompt set.
    """
    prompts = stored_prompts(asking.prompt_set)
    settings = asking.settings(
        model=endpoint.model,
        max_tokens=endpoint.max_tokens,
        prompt_hash=prompts.content_hash,
        answer_format=prompts.content["answer_format"],
    )
    key = settings.fingerprint(endpoint.language_model.name)
    return _made_once(
        *(endpoint.language_model, key, name_of(settings)),
        origin=ConditionOrigin.ASKED,
        setting=settings.setting,
        prompts=prompts,
        settings=settings.as_dict(),
    )


def _made_once(model: LanguageModel, key: str, name: str, **given: Any) -> Condition:
    """Return the condition of *model* with the fingerprint *key*; make it under a free name.

    Others may make it, or take the name for another one, at the same moment: then look again.
    """
    rows = Condition.objects.filter(fingerprint=key)

    def make() -> Condition:
        with transaction.atomic():
            return Condition.objects.create(
                fingerprint=key, language_model=model, name=free_name(model, name), **given
            )

    for _time in range(MOST_AT_ONCE - 1):
        with suppress(IntegrityError):
            return made_once(rows, make)
    return made_once(rows, make)


def imported_condition(model: LanguageModel, setting: str = "", name: str = "") -> Condition:
    """Return the condition of imported answers of *model*; little is known of it.

    *setting* (one of ``PromptSetting``) and *name* tell conditions apart where they are known.
    """
    asked = {"setting": setting, "name": name} if setting or name else {}
    key = fingerprint({"imported": model.name, **asked})
    usual = f"{AS_PUBLISHED}, {setting}" if setting else AS_PUBLISHED
    origin = ConditionOrigin.IMPORTED
    return _made_once(model, key, name or usual, origin=origin, setting=setting)


def of_model(model: LanguageModel) -> dict[str, LanguageModel | Condition]:
    """Return the fields of an imported run that name *model* and its condition."""
    return {"language_model": model, "condition": imported_condition(model)}


def rename_condition(condition: Condition, name: str, *, acting_user: User) -> Condition:
    """Give *condition* another *name*, of 1 to 100 characters, and record it.

    Raises BadInput for a name that is empty, too long, or can pass for another, and Conflict if
    another condition of the model has it, or one that differs from it only by case or width.
    """
    name = " ".join(name.split())
    check_name_is_plain(name)
    if not 1 <= len(name) <= NAME_LENGTH or not name.isprintable():
        raise BadInput(_("A name must have 1 to 100 characters."))
    with transaction.atomic():
        model = LanguageModel.objects.select_for_update().get(pk=condition.language_model_id)
        others = Condition.objects.filter(language_model=model).exclude(pk=condition.pk)
        for other in others.values_list("name", flat=True):
            if folded(other) == folded(name):
                raise Conflict(
                    _("%(model)s already has a condition called “%(name)s”.")
                    % {"model": model, "name": other}
                )
        before = Condition.objects.get(pk=condition.pk).name
        if name != before:
            condition.name = name
            condition.save(update_fields=["name"])
            record(Tag.CONDITION_RENAMED, condition, actor=acting_user, before=before, name=name)
    return condition


def name_of(settings: ConditionSettings) -> str:
    """Return a short name that says what differs from our usual way of asking."""
    sampling = settings.sampling
    parts = [settings.setting.value]
    if settings.prompt_set != OWN_SET:
        parts.append(settings.prompt_set)
    if sampling.temperature:
        parts.append(f"T {sampling.temperature:g}")
    if settings.images is not ImagePolicy.OMIT:
        parts.append({ImagePolicy.SEND: "images"}.get(settings.images, "without images"))
    if settings.option_order is not OptionOrder.PRINTED:
        parts.append(f"options {settings.option_order.value}")
    return " · ".join(parts)[:NAME_LENGTH]


def free_name(model: LanguageModel, name: str) -> str:
    """Return *name*, with a number if *model* has a condition of that name."""
    taken = set(Condition.objects.filter(language_model=model).values_list("name", flat=True))
    numbered = (f"{name[: NAME_LENGTH - 6]} ({number})" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)
