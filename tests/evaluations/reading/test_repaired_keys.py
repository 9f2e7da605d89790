"""After a key was repaired: who is scored by which key, and what is unscored meanwhile."""

from __future__ import annotations

import pytest

from evaluations.facts.params import ReportParams
from evaluations.judging.sampling.selectors import objective_rates
from evaluations.models import ObjectiveScore
from evaluations.reading.rules.scoring.ablation import Reason
from evaluations.reading.selectors.ablation import ablation
from evaluations.reading.selectors.repaired_keys import to_score_again
from evaluations.reading.services.rescoring import rescore
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.scored_answers import scored_answers
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.models import ItemProblem, Question
from questions.rules.vocabulary import Decision, ProblemCode, QuestionType
from questions.services.decisions import Repair, decide
from questions.services.gate import check_items
from tests.conftest import logged_in
from tests.factories import make_question, make_response, make_run
from tests.questions.test_decisions import imported, of_two_problems

pytestmark = pytest.mark.django_db


def repair(question: Question, acting_user: User, contents: Repair) -> ItemProblem:
    """Repair *question*, whose analysis concludes B under the key A."""
    check_items([question.pk])
    problem = question.problems.get(code=ProblemCode.KEY_AGAINST_ANALYSIS)
    decide(problem, Decision.REPAIR, "as analysed", acting_user=acting_user, repair=contents)
    question.refresh_from_db()
    return problem


def points(policy: str) -> list[tuple[float | None, str]]:
    rows = scored_answers(ReportParams("exam", policy=policy))
    return [(row.points, row.reason) for row in rows]


def test_earlier_answers_are_scored_by_the_repaired_key(curator: User) -> None:
    question = make_question(key=("A",), analysis="故选B。")
    run = make_run(question.task.dataset)
    score_responses([make_response(question, run, "【答案】B")])
    problem = repair(question, curator, Repair(answer_key=("B",)))
    assert points("strict") == [(None, "key_repaired")]
    assert points("published") == [(0, "")]
    compared = ablation(run)
    assert (compared.published, compared.strict) == ((0, 6), (0, 0)), "nor here is it wrong"
    assert [step.reason for one in compared.items for step in one.steps] == [Reason.UNSCORED]
    assert objective_rates(run) == {}
    report = rescore("strict")
    rescore("published")
    assert (report.scored, report.outcomes) == (1, {"correct": 1})
    assert (points("strict"), points("published")) == ([(6, "")], [(0, "")])
    assert (ablation(run).strict, set(objective_rates(run).values())) == ((6, 6), {1.0})
    decide(problem, Decision.KEEP, "no, A", acting_user=curator)
    assert points("strict") == [(None, "key_repaired")]
    rescore("strict")
    assert points("strict") == [(0, "")]


def test_a_later_repair_of_the_text_keeps_the_repaired_key(curator: User) -> None:
    """Answers to the text before keep its newest key, however the question reads now."""
    question = make_question(key=("A",), analysis="故选B。")
    first = make_response(question, make_run(question.task.dataset), "【答案】B")
    repair(question, curator, Repair(answer_key=("B",)))
    rescore("strict")
    stem = "Which one?\nA. one\nB. two\nC. three\nD. four"
    (problem,) = question.problems.filter(decision__isnull=False)
    text = Repair(stem=stem)
    decide(problem, Decision.REPAIR, "a blank", acting_user=curator, repair=text)
    assert points("strict") == [(6, "")]
    rescore("strict")
    assert points("strict") == [(6, "")]
    first.refresh_from_db()
    assert first.strict_score is not None
    assert first.strict_score.key_revision is not None
    imported = question.revisions.get(number=1)
    imported.pk, imported.number, imported.analysis = None, 4, "The source explains more."
    imported.save()
    assert to_score_again("exam") == set(), "the source repeats the key that was repaired"
    imported.pk, imported.number, imported.answer_key = None, 5, ["C"]
    imported.save()
    assert to_score_again("exam") == {first.pk}, "it has another one now"
    imported.number, imported.question_type = 6, QuestionType.MULTIPLE_CHOICE
    imported.pk, imported.answer_key = None, ["CD"]
    imported.save()
    rescore("strict")
    first.refresh_from_db()
    assert first.strict_score.key_revision.number == 5, "several letters answer another question"


def test_a_key_that_was_taken_back_scores_no_earlier_answer(curator: User) -> None:
    """Also where the text was repaired for another problem in between."""
    question, key, options = of_two_problems()
    answer = make_response(question, text="【答案】A")
    decide(key, Decision.REPAIR, "B", acting_user=curator, repair=Repair(answer_key=("B",)))
    rescore("strict")
    assert ObjectiveScore.objects.get().points == 0
    decide(options, Decision.REPAIR, "a stop", acting_user=curator, repair=Repair(stem="哪个。"))
    decide(key, Decision.KEEP, "no, A", acting_user=curator)
    assert to_score_again("exam") == {answer.pk}
    rescore("strict")
    answer.refresh_from_db()
    assert answer.strict_score is not None
    assert answer.strict_score.points == 4


def test_a_source_that_goes_back_to_its_text_scores_by_its_key(curator: User) -> None:
    question, key, _options = of_two_problems()
    answer = make_response(question, text="【答案】A")
    decide(key, Decision.REPAIR, "B", acting_user=curator, repair=Repair(answer_key=("B",)))
    rescore("strict")
    doubtful = {"analysis": "故选D。", "options": ("1", "2", "2", "1"), "answer_key": ("A",)}
    imported(stem="哪个对？", **doubtful)
    assert to_score_again("exam") == set(), "the repair stands for the text that it was made of"
    imported(**doubtful)
    assert to_score_again("exam") == {answer.pk}
    rescore("strict")
    answer.refresh_from_db()
    assert answer.strict_score is not None
    assert answer.strict_score.points == 4


def test_a_score_by_the_same_key_stays(curator: User) -> None:
    """Figures do not move where only an analysis did, or where a key is back before a rescoring."""
    question = make_question(key=("A",), analysis="故选B。")
    score_responses([make_response(question, make_run(question.task.dataset), "【答案】A")])
    problem = repair(question, curator, Repair(analysis="Clear."))
    browser = logged_in(curator)

    def figures() -> list[tuple[float | None, str]]:
        unscored = "corrected after scoring" in browser.get(REPORT).text
        assert unscored == bool(to_score_again("exam"))
        return points("strict")

    assert figures() == [(6, "")]
    decide(problem, Decision.REPAIR, "B", acting_user=curator, repair=Repair(answer_key=("B",)))
    assert figures() == [(None, "key_repaired")]
    decide(problem, Decision.KEEP, "no, A", acting_user=curator)
    assert figures() == [(6, "")]
    decide(problem, Decision.REPAIR, "B", acting_user=curator, repair=Repair(answer_key=("B",)))
    rescore("strict")
    assert figures() == [(0, "")]
    again = Repair(analysis="It is B.")  # an import that brings another analysis is such a one too
    decide(problem, Decision.REPAIR, "clearer", acting_user=curator, repair=again)
    assert figures() == [(0, "")]


def test_new_answers_have_both_keys(curator: User) -> None:
    question = make_question(key=("A",), analysis="故选B。")
    repair(question, curator, Repair(answer_key=("B",)))
    score_responses([make_response(question, text="【答案】B")])
    assert (points("strict"), points("published")) == ([(6, "")], [(0, "")])


def test_answers_to_another_text_keep_their_own_key(curator: User) -> None:
    question = make_question(key=("A",), analysis="故选B。")
    score_responses([make_response(question, text="【答案】A")])
    stem = "Which one is not right?\nA. one\nB. two\nC. three\nD. four"
    repair(question, curator, Repair(answer_key=("B",), stem=stem))
    rescore("strict")
    assert points("strict") == [(6, "")]


REPORT = "/reports/?dataset=exam&policy=strict"


def test_a_curator_scores_again_from_the_report(curator: User, lead: User) -> None:
    question = make_question(key=("A",), analysis="故选B。")
    other = make_question(question.task)
    run = make_run(question.task.dataset)
    score_responses([make_response(question, run, "【答案】B")])
    unread = make_response(other, run, "【答案】A")
    assert "Rescore" not in logged_in(curator).get(REPORT).text
    repair(question, curator, Repair(answer_key=("B",)))
    for user, button in ((curator, True), (lead, False)):
        page = logged_in(user).get(REPORT).text
        assert "1 response is unscored: its answer key was corrected after scoring." in page
        assert ("Rescore</button>" in page) is button
    published = REPORT.replace("strict", "published")
    assert "corrected after" not in logged_in(curator).get(published).text
    assert logged_in(lead).post("/reports/rescore/", {"dataset": "exam"}).status_code == 403
    browser = logged_in(curator)
    answer = browser.post("/reports/rescore/", {"dataset": "exam"})
    assert answer["Location"] == "/reports/?dataset=exam"
    page = browser.get(REPORT).text
    assert "1 response was rescored." in page
    assert "corrected after" not in page
    assert not ObjectiveScore.objects.filter(response=unread).exists(), (
        "only what was scored by the earlier key"
    )
    entry = AuditEntry.objects.get(tag="objective.rescored")
    assert (entry.actor, entry.target) == (curator, f"run:{run.pk}")
    assert entry.detail == {"policy": "strict", "scores": 1}
    assert to_score_again("exam") == set()
    assert to_score_again("none") == set()
