"""Estimate what a judge costs before its run is started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from math import ceil

from django.db.models import Count, Exists, OuterRef, Q

from evaluations.judging.rules.canaries import each_class
from evaluations.judging.rules.judge_condition import MAX_TOKENS, MOST_TOKENS
from evaluations.judging.rules.judge_prompt import MOST_REPEATED, judge_messages
from evaluations.judging.services.replies import MOST_REPLIES
from evaluations.llm.budget import most_prompt_tokens
from evaluations.models import Attempt, Endpoint, Job, Response, Run
from evaluations.models.vocabulary import AttemptStatus, RunPurpose
from evaluations.runs.kinds import Cost
from evaluations.runs.selectors.prompt_items import subject_name
from evaluations.runs.services.earlier_calls import (
    BYTES_A_TOKEN,
    ENOUGH,
    USUAL_ANSWER,
    cost_of,
    earlier_calls,
)
from evaluations.runs.services.frozen import prices_of
from evaluations.statistics.outcomes import CanaryKind
from questions.models import Question, Rubric
from questions.rules.vocabulary import Language, Part
from questions.selectors.rubrics import lines_of

# Bytes of a judge's prompt for the upper bound: question, key, analysis, rubric and response.
JUDGE_READS = 8000
# Bytes that a further call adds: the reply before it, of which a character may have three, and
# what is wrong with it.
AGAIN_READS = 3 * MOST_REPEATED + 1000
# Bytes of a response that is not there yet.
USUAL_RESPONSE = round(USUAL_ANSWER * BYTES_A_TOKEN)


def estimate_judging(
    judge: Endpoint, items: Sequence[Question], repeats: int, *, max_tokens: int = MAX_TOKENS
) -> Cost:
    """Estimate what *judge* costs for *repeats* answers to each subjective one of *items*.

    *max_tokens* is the limit of its first reply. With the canaries, and with as many replies to
    each as this endpoint gave in earlier judge runs; ``at_most`` is with the most replies, of which
    each is shown the reply before it and has twice its room. Canaries that are asked again because
    another model answers are not in it.
    """
    subjective = [question for question in items if question.part == Part.SUBJECTIVE]
    judged = repeats * len(subjective)
    each = each_class(2 * repeats * len(items), judged)
    asked = judged + (len(CanaryKind) * each if judged else 0)
    calls = ceil(asked * _replies_each(judge))
    size = _mean_prompt(subjective)
    earlier = earlier_calls(judge, RunPurpose.JUDGE)
    cost = cost_of(judge, earlier, calls, calls * size, reply_tokens=max_tokens)
    limits = [min(MOST_TOKENS, max_tokens * 2**place) for place in range(MOST_REPLIES)]
    read = asked * (MOST_REPLIES * max(JUDGE_READS, size) + (MOST_REPLIES - 1) * AGAIN_READS)
    written = asked * sum(limits)
    at_most = prices_of(judge).most(read, written)
    return replace(cost, at_most=at_most, most_tokens=read + written)


def _mean_prompt(questions: Sequence[Question]) -> int:
    """Return the mean size in bytes of prompts that judge a response of usual length.

    They have the analysis and the current rubric, and no marking notes; 0 without *questions*.
    """
    rubrics = {
        rubric.question_id: rubric
        for rubric in Rubric.objects.filter(question__in=questions, accepted=True)
        .order_by("version")
        .prefetch_related("points", "groups")
    }
    sizes = []
    for question in questions:
        if (revision := question.current) is None:
            continue
        rubric, language = rubrics.get(question.pk), Language(revision.language)
        messages = judge_messages(
            subject=subject_name(question, language),
            question=revision.asked,
            analysis=revision.analysis,
            answer_key=revision.reference_answer,
            full_marks=revision.full_marks,
            response_text="",
            rubric=lines_of(rubric) if rubric else None,
            language=language,
            fence="0" * 16,
            task=question.task.slug,
        )
        sizes.append(most_prompt_tokens(messages) + USUAL_RESPONSE)
    return ceil(sum(sizes) / len(sizes)) if sizes else 0


def _replies_each(judge: Endpoint) -> float:
    """Return how many replies *judge* gave to a response or canary on average; 1 if unknown."""
    answered = Attempt.objects.filter(
        job__run__endpoint=judge,
        job__run__purpose=RunPurpose.JUDGE,
        status=AttemptStatus.ANSWERED,
    )
    counts = answered.aggregate(replies=Count("pk"), jobs=Count("job", distinct=True))
    return counts["replies"] / counts["jobs"] if counts["jobs"] >= ENOUGH else 1.0


def most_cost_of_judging(
    run: Run, judge: Endpoint, budget: Decimal | None = None, *, max_tokens: int = MAX_TOKENS
) -> Decimal:
    """Return the most that *judge* may cost with *budget*, with what *run* has not answered yet."""
    asked = Exists(Job.objects.filter(run=run, question=OuterRef("pk")))
    answered = Exists(Response.objects.filter(run=run, question=OuterRef("pk")))
    chosen = Question.objects.filter(Q(asked) | Q(answered))
    items = list(chosen.select_related("current", "task"))
    at_most = estimate_judging(judge, items, run.repeats, max_tokens=max_tokens).at_most
    return at_most if budget is None else min(at_most, budget)
