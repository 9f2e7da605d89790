"""What is asked, and that the scripted endpoint understands it."""

from __future__ import annotations

import pytest

from evaluations.llm.scripted.answers import answer
from evaluations.models import Run
from evaluations.reading.rules.extraction.cascade import read_answer
from evaluations.runs.answering import answer_call
from evaluations.runs.services.calls import fence_for
from questions.rules.vocabulary import Language, QuestionType, Subject
from tests.factories import make_question, make_task

OPTIONS = "\nA. one\nB. two\nC. three\nD. four"
Q = QuestionType


@pytest.mark.django_db
@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize(
    ("question_type", "letters", "stem", "parts"),
    [
        (Q.SINGLE_CHOICE, "ABCD", f"Which?{OPTIONS}", 1),
        (Q.MULTIPLE_CHOICE, "ABCD", f"Which ones?{OPTIONS}", 1),
        (Q.SEVERAL_QUESTIONS, "ABCD", f"1. Which?{OPTIONS}\n2. Which?{OPTIONS}", 2),
        (Q.FIVE_OUT_OF_SEVEN, "ABCDEFG", "A text. __1__ __2__ __3__ __4__ __5__", 5),
    ],
)
def test_the_scripted_endpoint_answers_what_it_is_asked(
    language: Language, question_type: QuestionType, letters: str, stem: str, parts: int
) -> None:
    task = make_task(question_type=question_type, subject=Subject.ENGLISH)
    question = make_question(task, key=("A",) * parts, marks=("2",) * parts, stem=stem)
    revision = question.current
    revision.language, revision.letters = language, letters
    prompt = "\n".join(message["content"] for message in answer_call(question, revision))
    assert stem in prompt
    reading = read_answer(answer(prompt), question_type, letters, parts)
    assert len([one for one in reading.answers if one]) == parts, answer(prompt)


def test_a_fence_is_made_again_and_never_stands_in_the_answer() -> None:
    run = Run(random_seed=7)
    fence = fence_for(run, 1, "an answer")
    assert fence == fence_for(run, 1, "another answer"), "the same prompt can be made again"
    assert fence != fence_for(Run(random_seed=8), 1, "an answer")
    assert fence != fence_for(run, 2, "an answer")
    assert fence_for(run, 1, f"I know it: {fence}") not in f"I know it: {fence}"


@pytest.mark.django_db
def test_a_task_without_a_subject_can_be_asked() -> None:
    question = make_question(make_task())
    question.subject = ""
    asked = {"en": "Answer one examination question.", "zh": "请做一道单项选择题"}
    for language, words in asked.items():
        question.current.language = language
        assert words in str(answer_call(question, question.current)), language
