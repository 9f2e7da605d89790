"""Letting a model suggest labels or rubrics: which items, its prompt, its cost, its start.

Suggestions are paid calls like answers, so they are jobs of a run: budget, stop,
resume and recovery are those of every run (decision 1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import RequestSettings, Sampling
from evaluations.llm.budget import most_prompt_tokens
from evaluations.models import Endpoint, LanguageModel, Run
from evaluations.models.vocabulary import Asks, RunPurpose, RunStatus
from evaluations.runs.kinds import Messages
from evaluations.runs.rules.question_choice import spread
from evaluations.runs.selectors.prompt_items import subject_name
from evaluations.runs.services.earlier_calls import cost_of, earlier_calls
from evaluations.runs.services.frozen import Frozen, freeze
from evaluations.runs.services.planning import plan_jobs
from evaluations.runs.services.run_estimates import Estimate
from evaluations.runs.services.run_starts import (
    as_text,
    check_call_count,
    check_ready,
    hashed,
    planned_once,
    record_start,
)
from evaluations.suggesting.rules.label_prompt import (
    LABEL_PROMPT_VERSION,
    label_instructions,
    label_messages,
)
from evaluations.suggesting.rules.rubric_prompt import (
    RUBRIC_PROMPT_VERSION,
    rubric_instructions,
    rubric_messages,
)
from evaluations.suggesting.selectors import askable
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from questions.models import Dataset, Question, QuestionRevision
from questions.rules.vocabulary import Language
from questions.services.label_rows import ensure_taxonomy

MOST_ITEMS = 5000
PROMPTS = {
    Asks.LABELS: (LABEL_PROMPT_VERSION, label_instructions),
    Asks.RUBRIC: (RUBRIC_PROMPT_VERSION, rubric_instructions),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Suggestions to be had: of which model, for what, on at most *limit* items of a dataset.

    *questions* are those that the filters of the bank choose, *query* is how they
    stand in an address. With *again* also items that have what is asked for, or
    that the model was asked already. *shown* is the number of items that somebody
    was told; None where nobody was.
    """

    endpoint: Endpoint
    asks: Asks
    dataset: Dataset
    questions: QuerySet[Question]
    limit: int
    query: str = ""
    again: bool = False
    shown: int | None = None


def items_to_ask(wanted: Wanted) -> list[Question]:
    """The items, spread evenly over the tasks; refuses where there is none."""
    if not 1 <= wanted.limit <= MOST_ITEMS:
        raise BadInput(
            _("The number of questions must be between 1 and %(most)d.") % {"most": MOST_ITEMS}
        )
    found = askable(
        wanted.questions.filter(task__dataset=wanted.dataset),
        wanted.endpoint.language_model,
        wanted.asks,
        again=wanted.again,
    )
    groups: dict[str, list[int]] = defaultdict(list)
    placed = found.order_by("task__slug", "position", "pk").values_list("task__slug", "pk")
    for task, pk in placed:
        groups[task].append(pk)
    if not groups:
        raise BadInput(_none_left(wanted))
    chosen = spread(groups, wanted.limit)
    rows = Question.objects.select_related("current", "task").in_bulk(chosen)
    return [rows[pk] for pk in chosen]


def hold(model: LanguageModel) -> None:
    """Let others who would ask *model* wait: two at once must not pay for the same suggestions."""
    LanguageModel.objects.select_for_update(no_key=True).get(pk=model.pk)


def _none_left(wanted: Wanted) -> str:
    if wanted.asks is Asks.LABELS:
        return str(
            _("Every matching question has all labels, or this model was already asked about it.")
        )
    return str(_("No matching question is subjective, without a rubric and not yet asked."))


def freeze_suggesting(endpoint: Endpoint, asks: Asks) -> Frozen:
    """The settings of a model that suggests, with its instructions in both languages."""
    version, instructions = PROMPTS[asks]
    frozen = freeze(RequestSettings(version, Sampling(max_tokens=endpoint.max_tokens)), endpoint)
    prompt = {language.value: instructions(language) for language in Language}
    return Frozen({**frozen.settings, "asks": asks.value, "prompt": prompt}, frozen.fingerprint)


def suggest_call(
    settings: Mapping[str, Any], question: Question, revision: QuestionRevision
) -> Messages:
    """The messages that ask what labels or rubric an item should have, by frozen *settings*."""
    language = Language(revision.language)
    instructions = settings["prompt"][language.value]
    subject = subject_name(question, language)
    if settings["asks"] == Asks.LABELS:
        return label_messages(
            instructions,
            subject=subject,
            question=revision.asked,
            answer_key="\n".join(revision.answer_key) or revision.reference_answer,
            language=language,
        )
    return rubric_messages(
        instructions,
        subject=subject,
        question=revision.asked,
        answer_key=revision.reference_answer,
        analysis=revision.analysis,
        sub_marks=revision.decimal_sub_marks,
        language=language,
    )


def estimate_suggesting(wanted: Wanted) -> Estimate:
    """The plan of ``start_suggesting``; refuses where there is nothing to ask."""
    items, asks = items_to_ask(wanted), wanted.asks
    settings = freeze_suggesting(wanted.endpoint, asks).settings
    size = sum(
        most_prompt_tokens(suggest_call(settings, one, one.current)) for one in items if one.current
    )
    alike = {"job__run__run_settings__asks": asks.value}
    earlier = earlier_calls(wanted.endpoint, RunPurpose.SUGGEST, alike=alike)
    cost = cost_of(wanted.endpoint, earlier, len(items), size)
    return Estimate(len(items), cost, wanted.endpoint.note)


def start_suggesting(
    wanted: Wanted,
    *,
    acting_user: User,
    budget: Decimal | None = None,
    idempotency_key: str | None = None,
) -> Run:
    """Plan a run that asks for suggestions; a worker does the rest.

    ``budget`` is in the endpoint's currency. The same idempotency key gives the
    same run. Raises OtherRequest if another request came with the key.
    """
    frozen = freeze_suggesting(wanted.endpoint, wanted.asks)
    chosen = {"query": wanted.query, "again": wanted.again, "limit": wanted.limit}
    run = Run(
        purpose=RunPurpose.SUGGEST,
        language_model=wanted.endpoint.language_model,
        endpoint=wanted.endpoint,
        dataset=wanted.dataset,
        run_settings={**frozen.settings, **chosen},
        fingerprint=frozen.fingerprint,
        status=RunStatus.QUEUED,
        budget=budget,
        idempotency_key=hashed(idempotency_key),
        created_by=acting_user,
    )

    def plan() -> None:
        check_ready(wanted.endpoint, budget)
        hold(wanted.endpoint.language_model)
        items = items_to_ask(wanted)
        check_call_count(wanted.shown, len(items))
        ensure_taxonomy()
        run.save()
        record_start(run, plan_jobs(run, items), asks=wanted.asks.value)

    request = {
        **chosen,
        "endpoint": wanted.endpoint.pk,
        "dataset": wanted.dataset.pk,
        "asks": wanted.asks.value,
        "budget": as_text(budget),
    }
    return planned_once(run, plan, request)
