"""The call that a job asks for: its messages by the rules, its parameters as they were frozen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from evaluations.judging.rules.judge_prompt import judge_messages, visible
from evaluations.judging.services import rubric_of
from evaluations.llm.budget import most_prompt_tokens
from evaluations.marking.rounds.selectors.house_rulings import notes_for_judge
from evaluations.models import HouseRuling, Job, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reading.rules.extraction.llm_fallback import fallback_messages
from evaluations.reading.selectors.model_reading import asked_of
from evaluations.runs.rules.prompting.zero_shot import zero_shot_messages
from evaluations.runs.services.frozen import price_of, settings_of
from evaluations.runs.services.queue import Call
from evaluations.suggesting.rules.asks import Asks
from evaluations.suggesting.rules.label_prompt import label_messages
from evaluations.suggesting.rules.rubric_prompt import rubric_messages
from questions.models import Question, QuestionRevision, Rubric
from questions.rules.vocabulary import Language, QuestionType, Subject
from questions.selectors.rubrics import lines_of

Messages = Sequence[dict[str, str]]


def call_for(run: Run, job: Job) -> Call:
    """The call of *job*, with the most that it can cost."""
    settings = settings_of(run)
    rubric, notes = None, None
    if run.purpose == RunPurpose.JUDGE:
        assert job.response  # every job of a judge run has one
        now = timezone.now()
        rubric, notes = rubric_of(job.question, now), notes_for_judge(job.response, now)
        messages = judge_call(run, job, rubric, notes)
    else:
        messages = _messages(run, job)
    params = settings.request_params()
    most = price_of(run).cost(most_prompt_tokens(messages), settings.max_tokens)
    body = {**params, "model": run.run_settings["model"], "messages": messages}
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Call(messages, params, digest, most, rubric, notes)


def _messages(run: Run, job: Job) -> Messages:
    if run.purpose == RunPurpose.SUGGEST:
        return suggest_call(run.run_settings, job.question, job.revision)
    if run.purpose == RunPurpose.READ:
        assert job.response  # every job of a run that reads has one
        return read_call(run, job.response, job.revision)
    return answer_call(job.question, job.revision)


def answer_call(question: Question, revision: QuestionRevision) -> Messages:
    """The messages that ask one item."""
    language = Language(revision.language)
    return zero_shot_messages(
        QuestionType(revision.question_type),
        subject_name(question, language),
        revision.asked,
        language,
        parts=revision.sub_answers,
        letters=revision.letters,
    )


def judge_call(
    run: Run, job: Job, rubric: Rubric | None, marking_notes: HouseRuling | None
) -> Messages:
    """Return the messages that let a judge mark one response by *rubric* and *marking_notes*."""
    assert job.response  # every job of a judge run has one
    revision, language = job.revision, Language(job.revision.language)
    return judge_messages(
        subject=subject_name(job.question, language),
        question=revision.asked,
        analysis=revision.analysis,
        answer_key=revision.reference_answer,
        full_marks=revision.full_marks,
        response_text=job.response.text,
        rubric=lines_of(rubric) if rubric else None,
        house_rulings=marking_notes.text if marking_notes else "",
        language=language,
        fence=fence_for(run, job.response.pk, job.response.text),
    )


def read_call(run: Run, response: Response, revision: QuestionRevision) -> Messages:
    """The messages that ask what the examinee answered; the key is not among them."""
    asked = asked_of(revision)
    return fallback_messages(
        question=revision.asked,
        response_text=response.text,
        question_type=asked.question_type,
        letters=asked.letters,
        parts=asked.parts,
        language=Language(revision.language),
        fence=fence_for(run, response.pk, response.text),
    )


def suggest_call(
    settings: Mapping[str, Any], question: Question, revision: QuestionRevision
) -> Messages:
    """The messages that ask what labels or rubric an item should have, by frozen *settings*."""
    language = Language(revision.language)
    told = settings["prompt"][language.value]
    subject = subject_name(question, language)
    if settings["asks"] == Asks.LABELS:
        return label_messages(
            told,
            subject=subject,
            question=revision.asked,
            answer_key="\n".join(revision.answer_key) or revision.reference_answer,
            language=language,
        )
    return rubric_messages(
        told,
        subject=subject,
        question=revision.asked,
        answer_key=revision.reference_answer,
        analysis=revision.analysis,
        sub_marks=revision.decimal_sub_marks,
        language=language,
    )


def subject_name(question: Question, language: Language) -> str:
    """The subject in the item's language; a task without one is asked without a name."""
    return Subject(question.subject).label(language) if question.subject else ""


def fence_for(run: Run, response_id: int, text: str, turn: int = 0) -> str:
    """A token that the writer of *text* cannot know, and that can be made again from the run."""
    digest = hashlib.sha256(f"{run.random_seed}:{response_id}:{turn}".encode()).hexdigest()
    token = digest[:16]
    return token if token not in visible(text) else fence_for(run, response_id, text, turn + 1)
