"""Exact answers, published rules by benchmark, accepted patterns, and what people decide."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.facts.params import ReportParams
from evaluations.models import Extraction, ObjectiveScore, PatternDecision, Response
from evaluations.reading.selectors.ablation import ablation
from evaluations.reading.services.pattern_decisions import accept_pattern, retire_pattern
from evaluations.reading.services.rescoring import rescore
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.reports import build_report
from evaluations.reports.selectors.scored_answers import scored_answers
from evaluations.runs.selectors.responses import readings_of
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Decision, ProblemCode, QuestionType, Subject
from questions.services.decisions import Repair, decide
from questions.services.gate import check_items
from tests.evaluations.check_world import check, read_by_model
from tests.evaluations.pattern_world import IN_WORDS, newest_patterns, run_with, searched
from tests.factories import make_dataset, make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db
ONE = ("1",)


def answered(
    dataset: str, kind: QuestionType, key: str, text: str, *, task: str = "", **fields: object
) -> Response:
    made = make_task(make_dataset(dataset), question_type=kind, slug=task)
    question = make_question(made, key=(key,), marks=ONE, **fields)
    return make_response(question, make_run(made.dataset), text)


def newest(response: Response, policy: Policy = Policy.STRICT) -> ObjectiveScore:
    response.refresh_from_db()
    score = getattr(response, Response.score_field(policy))
    assert isinstance(score, ObjectiveScore)
    return score


@pytest.mark.parametrize(
    ("text", "strict", "published"),
    [
        ("So the answer is $\\frac{1}{2}$.", "correct", "correct"),
        # The same value in another form: the released comparison of strings does not see it.
        ("So the answer is $\\frac{2}{4}$.", "correct", "wrong"),
        ("So the answer is $\\frac{1}{3}$.", "wrong", "wrong"),
        ("I cannot solve this.", "refused", "no_answer"),
    ],
)
def test_exact_answers_of_agieval(text: str, strict: str, published: str) -> None:
    kind = QuestionType.EXACT_ANSWER
    response = answered("agieval", kind, "\\frac{1}{2}", text, task="math", letters="")
    score_responses([response])
    assert newest(response).outcome == strict
    assert newest(response, Policy.PUBLISHED).outcome == published
    assert newest(response).reader_version.startswith("exact-")
    assert newest(response, Policy.PUBLISHED).reader_version.startswith("agieval-")


def test_an_exact_answer_of_our_own_exam_has_no_published_rules() -> None:
    response = answered("exam", QuestionType.EXACT_ANSWER, "5", "答案是 5", letters="")
    counts = score_responses([response])
    assert counts == {(Policy.STRICT, "correct"): 1}


def test_agieval_reads_the_first_capital_and_gives_no_half_points() -> None:
    single = answered("agieval", QuestionType.SINGLE_CHOICE, "C", "Because of C", task="lsat-ar")
    several = answered("agieval", QuestionType.MULTIPLE_CHOICE, "AC", "选A", task="jec-qa-kd")
    score_responses([single, several])
    assert newest(single, Policy.PUBLISHED).extraction.answers == ["B"]
    assert [newest(several, policy).points for policy in Policy] == [Decimal(0), Decimal(0)]


def test_agibench_is_read_by_the_patterns_of_its_paper() -> None:
    """Table 5 knows no "I choose": strict reads it, the published patterns do not."""
    kind = QuestionType.SINGLE_CHOICE
    read = answered("agibench", kind, "A", "经过分析，答案是A。")
    not_read = answered("agibench", kind, "A", "So I choose (A)")
    score_responses([read, not_read])
    score = newest(read, Policy.PUBLISHED)
    assert (score.outcome, score.extraction.pattern) == ("correct", "agibench.1")
    assert (score.reader_version, score.published_rules) == ("agibench-1", "agibench")
    assert newest(not_read).outcome == "correct"
    assert newest(not_read, Policy.PUBLISHED).outcome == "no_answer"


def test_an_accepted_pattern_reads_what_the_cascade_could_not(lead: User) -> None:
    run = run_with((IN_WORDS, 8))
    score_responses(Response.objects.filter(run=run))
    before = {one.outcome for one in ObjectiveScore.objects.filter(policy=Policy.STRICT)}
    assert before == {"no_answer"}
    (pattern,) = newest_patterns(searched(run))
    accept_pattern(pattern, acting_user=lead)
    added = score_responses(Response.objects.filter(run=run), policies=[Policy.STRICT])
    assert added.total() == 8
    score = newest(Response.objects.filter(run=run)[0])
    assert (score.extraction.method, score.extraction.pattern) == ("mined", pattern.name)
    shown = {one.policy: one for one in readings_of(score.response)}[Policy.STRICT]
    assert (shown.extraction, shown.score) == (score.extraction, score)
    assert [piece.number for piece in shown.pieces if piece.number] == ["1"]
    assert not score_responses(Response.objects.filter(run=run))
    retire_pattern(pattern, acting_user=lead)
    score_responses(Response.objects.filter(run=run))
    assert newest(Response.objects.filter(run=run)[0]).outcome == "no_answer"
    assert Extraction.objects.filter(policy=Policy.STRICT).count() == 3 * 8


def test_a_check_counts_where_its_id_equals_that_of_a_decision_about_patterns(lead: User) -> None:
    run = run_with((IN_WORDS, 8))
    score_responses(Response.objects.filter(run=run))
    (pattern,) = newest_patterns(searched(run))
    other, response = Response.objects.filter(run=run)[:2]
    number = check(other, lead, "D").pk + 1
    pattern.decision = PatternDecision.objects.create(
        pk=number, pattern=pattern, verdict="accepted", author=lead
    )
    pattern.save(update_fields=["decision"])
    score_responses([response])
    assert newest(response).extraction.method == "mined"
    made = check(response, lead, "D")
    assert made.pk == number
    score_responses([response])
    score = newest(response)
    assert (score.extraction.method, score.extraction.answers) == ("person", ["D"])
    assert (score.answer_check, score.patterns) == (made, None)


def test_what_a_model_read_counts_and_is_named(lead: User) -> None:
    response = answered("exam", QuestionType.SINGLE_CHOICE, "B", "It has to be the second one.")
    score_responses([response])
    assert newest(response).outcome == "no_answer"
    read_by_model(response)
    score_responses([response])
    score = newest(response)
    assert score.extraction.method == "model"
    assert score.outcome == "correct"
    assert not score_responses([response])


def test_exact_answers_have_an_exact_match_and_an_f1_in_the_rates() -> None:
    kind = QuestionType.EXACT_ANSWER
    task = make_task(make_dataset("agieval"), question_type=kind, slug="math")
    run = make_run(task.dataset)
    texts = ("\\boxed{x + y}", "\\boxed{y + x}", "I cannot solve this.")
    asked = [make_question(task, key=("x + y",), marks=ONE, letters="") for _ in texts]
    score_responses(make_response(one, run, text) for one, text in zip(asked, texts, strict=True))
    report = build_report("rates", ReportParams("agieval"))
    (row,) = [one for one in report.rows if one.key["subject"] == "ALL"]
    # Strict takes both sums as right; as texts one of three is the key's. The tasks are Chinese,
    # so letters are the tokens of F1: 1, 1 and 0.
    assert (row.figures["rate"].value, row.figures["rate"].n) == (2 / 3, 3)
    assert (row.figures["exact_match"].value, row.figures["exact_match"].n) == (2 / 3, 3)
    assert row.figures["f1"].value == 2 / 3
    report = build_report("rates", ReportParams("agieval", policy="published"))
    (row,) = [one for one in report.rows if one.key["subject"] == "ALL"]
    assert row.figures["exact_match"].value == 1 / 3


@pytest.mark.parametrize("key", [(), ("",), (" ",)])
def test_an_item_without_a_key_gets_no_points_and_the_reason_is_told(key: tuple[str, ...]) -> None:
    task = make_task(make_dataset("exam"), question_type=QuestionType.MULTIPLE_CHOICE)
    question = make_question(task, key=key, marks=ONE)
    responses = [make_response(question, make_run(task.dataset), text) for text in ("选A", "无")]
    assert not score_responses(responses)
    for policy in Policy:
        report = build_report("rates", ReportParams("exam", policy=policy))
        assert report.params["unscored"] == {"no_key": 2}
        assert {row.figures["rate"].value for row in report.rows} == {None}


def test_agievals_program_counts_a_choice_without_a_key_as_wrong(curator: User) -> None:
    """Its ``convert_to_set(None) == set(letters)`` is never true, and n is the number of items."""
    agieval = make_dataset("agieval")
    task = make_task(agieval, question_type=QuestionType.MULTIPLE_CHOICE, slug="jec-qa-kd")
    keyless = make_question(task, key=("",), marks=ONE)
    keyed = make_question(task, key=("A",), marks=ONE)
    run = make_run(agieval)
    responses = [make_response(keyless, run, "A"), make_response(keyed, run, "A")]
    responses.append(make_response(keyless, make_run(agieval), "好"))
    assert score_responses(responses) == {
        (Policy.PUBLISHED, "wrong"): 1,
        (Policy.PUBLISHED, "no_answer"): 1,
        (Policy.PUBLISHED, "correct"): 1,
        (Policy.STRICT, "correct"): 1,
    }
    assert not score_responses(responses)

    def rates() -> dict[str, tuple[float | None, int, object]]:
        found = {}
        for policy in Policy:
            params = ReportParams("agieval", policy=policy)
            report = build_report("rates", params)
            figure = next(r for r in report.rows if r.key["subject"] == "ALL").figures["rate"]
            scored = [row for row in scored_answers(params) if row.points is not None]
            assert len(scored) == figure.n
            found[policy.value] = figure.value, figure.n, report.params["unscored"]
        return found

    assert rates() == {"published": (1 / 3, 3, {}), "strict": (1, 1, {"no_key": 2})}
    change = ablation(run)
    assert (change.published, change.strict) == ((1, 2), (1, 1))
    # A key that a person adds counts under ``strict`` alone.
    check_items([keyless.pk])
    problem = keyless.problems.get(code=ProblemCode.EMPTY_KEY)
    repair = Repair(answer_key=("A",))
    decide(problem, Decision.REPAIR, "it is A", acting_user=curator, repair=repair)
    rescore("strict")
    assert rates() == {"published": (1 / 3, 3, {}), "strict": (2 / 3, 3, {})}
    change = ablation(run)
    assert (change.published, change.strict) == ((1, 2), (2, 2))
    assert [(one.reason.value, one.points) for one in change.movements if one.items] == [("key", 1)]


def test_several_right_letters_of_mathematics_are_all_or_nothing_as_published() -> None:
    task = make_task(
        make_dataset("exam"),
        question_type=QuestionType.MULTIPLE_CHOICE,
        subject=Subject.SCIENCES_MATHEMATICS,
    )
    question = make_question(task, key=("ACD",), marks=("6",), year=2024)
    texts = ("【答案】AC", "【答案】ACD")
    responses = [make_response(question, make_run(task.dataset), text) for text in texts]
    score_responses(responses)
    points = {
        policy: [newest(response, policy).points for response in responses] for policy in Policy
    }
    assert points == {Policy.PUBLISHED: [0, 6], Policy.STRICT: [3, 6]}
