"""Queries of conditions: the list, their settings in words, and what endpoints called the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet, Subquery
from django.db.models.expressions import OuterRef
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from evaluations.conditions import OptionOrder, PromptSetting, read_condition
from evaluations.models import Attempt, Condition, LanguageModel, Response
from evaluations.models.vocabulary import AttemptStatus, RunPurpose
from gradeapp.common.choices import label
from gradeapp.common.refusals import NotFound

# By condition, the names that replies gave for the model, the first one first, with their numbers.
ReplyNames = Mapping[int, Mapping[str, int]]


def conditions() -> QuerySet[Condition]:
    """Return all conditions by model and name, with their numbers of runs and responses."""
    answers = Response.objects.filter(run__condition=OuterRef("pk")).order_by()
    counted = answers.values("run__condition").annotate(n=Count("pk")).values("n")
    related = Condition.objects.select_related("language_model", "prompts__prompt_set")
    return related.annotate(
        run_count=Count("runs", distinct=True), response_count=Coalesce(Subquery(counted), 0)
    ).order_by("language_model__name", "name")


def get_condition(public_id: UUID) -> Condition:
    """Return the condition *public_id*. Raises NotFound if there is none."""
    found = conditions().filter(public_id=public_id).first()
    if found is None:
        raise NotFound(_("There is no such condition."))
    return found


def condition_names() -> list[str]:
    """Return the names of conditions; models may share them."""
    names = Condition.objects.order_by("name").values_list("name", flat=True)
    return list(names.distinct())


def model_names() -> list[str]:
    """Return the names of the models that have conditions."""
    models = LanguageModel.objects.filter(conditions__isnull=False).order_by("name")
    return list(models.values_list("name", flat=True).distinct())


def reply_names(chosen: Iterable[Condition | int], among: Q | None = None) -> ReplyNames:
    """Return the names that answered calls gave for the model, by condition.

    *among* is a filter of attempts: only those count; without it, all do.
    """
    rows = (
        Attempt.objects.filter(
            among or Q(),
            ~Q(response_model=""),
            job__run__condition__in=list(chosen),
            job__run__purpose=RunPurpose.ANSWER,
            status=AttemptStatus.ANSWERED,
        )
        .order_by()
        .values_list("job__run__condition", "response_model")
        .annotate(n=Count("pk"), first=Min("pk"))
    )
    names: dict[int, dict[str, int]] = {}
    for condition, name, n, _first in sorted(rows, key=lambda row: row[3]):
        names.setdefault(condition, {})[name] = n
    return names


def changed_names(chosen: Iterable[Condition | int], among: Q) -> ReplyNames:
    """Return ``reply_names`` of the conditions whose replies named more than one model."""
    return {key: names for key, names in reply_names(chosen, among).items() if len(names) > 1}


def settings_words(condition: Condition) -> list[str]:
    """Return the settings of *condition* in words; those of imported answers are not known."""
    if not condition.settings:
        known = [label(PromptSetting, condition.setting)] if condition.setting else []
        return [*known, _("imported; how the model was asked is not known")]
    given = read_condition(condition.settings)
    sampling = given.sampling
    words = [
        label(type(given.setting), given.setting),
        _("prompts %(name)s") % {"name": condition.prompts or given.prompt_set},
        _("temperature %(value)s") % {"value": f"{sampling.temperature:g}"},
        f"top_p {sampling.top_p:g}",
        _("at most %(n)s tokens") % {"n": sampling.max_tokens},
    ]
    if sampling.stop:
        words.append(_("stop: %(words)s") % {"words": " ".join(map(repr, sampling.stop))})
    if sampling.seed is not None:
        words.append(_("random seed of the endpoint %(seed)s") % {"seed": sampling.seed})
    if sampling.reasoning_effort:
        words.append(_("reasoning effort %(value)s") % {"value": sampling.reasoning_effort})
    words += [f"{name} = {value}" for name, value in sampling.extra.items()]
    if given.setting.few_shot:
        words.append(_("examples within %(n)s tokens") % {"n": given.max_prompt_tokens})
    words.append(label(type(given.images), given.images))
    if given.option_order is not OptionOrder.PRINTED:
        order = label(OptionOrder, given.option_order)
        words.append(_("options: %(order)s") % {"order": order.lower()})
    if given.model != condition.language_model.name:
        words.append(_("asked for as %(name)s") % {"name": given.model})
    return words
