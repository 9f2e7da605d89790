"""All figures of an exact answer are by the key by which the policy scores it."""

from __future__ import annotations

import pytest

from evaluations.facts.params import ReportParams
from evaluations.models import Run
from evaluations.reading.services.rescoring import rescore
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.reports import build_report
from evaluations.reports.selectors.scored_answers import scored_answers
from gradeapp.accounts.models import User
from questions.models import ItemProblem, Question
from questions.rules.vocabulary import Decision, QuestionType
from questions.services.decisions import Repair, decide
from questions.services.reported import report_problem
from tests.factories import make_dataset, make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db
RIGHT, WRONG = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


def wrong_key(curator: User) -> tuple[Question, ItemProblem]:
    """An exact answer whose published key is 2."""
    task = make_task(
        make_dataset("agieval"), question_type=QuestionType.EXACT_ANSWER, slug="gaokao-mathcloze"
    )
    question = make_question(task, key=("2",), marks=("1",), letters="")
    return question, report_problem(question, "the key", quarantines=False, acting_user=curator)


def figures(run: Run, policy: str) -> tuple[float | None, ...]:
    """Rate, exact match and F1 of the one answer of *run*; both ways of reading them agree."""
    params = ReportParams("agieval", policy=policy, runs=(run.pk,))
    (answer,) = scored_answers(params)
    (row,) = [one for one in build_report("rates", params).rows if one.key["subject"] == "ALL"]
    found = tuple(row.figures[name].value for name in ("rate", "exact_match", "f1"))
    assert found == (answer.points, answer.exact_match, answer.f1)
    return found


def test_after_a_repair_and_after_keep(curator: User) -> None:
    """The answers are 777 to the key 2, and 2 to the repaired key 777."""
    question, problem = wrong_key(curator)
    earlier, later = make_run(question.task.dataset, "a"), make_run(question.task.dataset, "b")
    score_responses([make_response(question, earlier, "The answer is therefore $777$")])
    assert figures(earlier, "strict") == figures(earlier, "published") == WRONG
    repair = Repair(answer_key=("$777$",))
    decide(problem, Decision.REPAIR, "misprint", acting_user=curator, repair=repair)
    question.refresh_from_db()
    score_responses([make_response(question, later, "The answer is therefore $2$")])
    rescore("strict")
    assert figures(earlier, "strict") == RIGHT
    assert figures(earlier, "published") == WRONG
    assert figures(later, "strict") == WRONG
    assert figures(later, "published") == RIGHT
    decide(problem, Decision.KEEP, "no, 2", acting_user=curator)
    rescore("strict")
    assert figures(earlier, "strict") == figures(earlier, "published") == WRONG
    assert figures(later, "strict") == figures(later, "published") == RIGHT
