"""A small exam with something on every page, whose own names and texts are Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice, SeedWish
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.models import (
    Attempt,
    BlindAnswer,
    CapabilityReview,
    Endpoint,
    Judge,
    MarkingRound,
    PatternSearch,
    Response,
    ReviewItem,
    Run,
)
from evaluations.models.vocabulary import (
    AnswerRole,
    AttemptStatus,
    Flag,
    JobStatus,
    PauseReason,
    RunStatus,
)
from evaluations.reading.services.pattern_decisions import accept_pattern
from evaluations.reading.services.pattern_searches import start_search
from evaluations.reading.services.rescoring_jobs import start_rescoring
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.runs import start_run
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Dataset, LabelOpinion, Question, Task
from questions.rules.vocabulary import ItemStatus
from questions.services.human_rates import GivenRate, add_rate, correct_rate
from questions.services.label_rows import ensure_taxonomy
from questions.services.opinions import give_opinion
from tests.evaluations.check_world import half_checked
from tests.evaluations.marking_world import (
    answers_of,
    claimed,
    give,
    planned_pair,
    responses_to,
    round_over,
    subjective_question,
)
from tests.evaluations.pattern_world import run_with, searched
from tests.evaluations.report_world import ALPHA, BETA, judged, run_of, whole_paper
from tests.evaluations.review_world import items_of, review_of, say, taken
from tests.evaluations.suggest_world import LABELS, answered
from tests.factories import make_user

RUBRIC = (("写出定律", "3"), ("列出方程", "3"), ("解出结果", "6"))
NOW = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)


@dataclass
class World:
    """What the addresses of the pages are made of."""

    endpoint: Endpoint
    live: Run
    paused: Run
    suggesting: Run
    chosen: Response
    written: Response
    judge: Judge
    round: MarkingRound
    held: BlindAnswer
    disputed: BlindAnswer
    settled: BlindAnswer
    review: CapabilityReview
    at_hand: ReviewItem
    seed: BlindAnswer
    searches: list[PatternSearch]


def build(teachers: list[User]) -> World:
    """Published answers with marks and judgements, a run that goes, one that waits, a round."""
    for model in (ALPHA, BETA):
        whole_paper(run_of(model, repeats=1))
    chosen, written = (
        Response.objects.filter(question__part=part).earliest("pk")
        for part in ("objective", "subjective")
    )
    endpoint, live, paused = _runs()
    marking, held, disputed, settled = _round(teachers)
    judge = judged(written, "5").judge
    judged(disputed.response, None, "no_total")
    seed = _planned(settled.question, teachers)
    _name_in_chinese(marking, settled.question)
    _labelled(settled.question)
    suggesting = _suggesting(endpoint)
    rooms = (marking, held, disputed, settled, *_reviewed(chosen.run, teachers[:2]))
    half_checked(chosen, teachers)
    start_rescoring(chosen.run, None, acting_user=None)
    return World(
        endpoint, live, paused, suggesting, chosen, written, judge, *rooms, seed, _searches(chosen)
    )


def _searches(chosen: Response) -> list[PatternSearch]:
    """A search whose one pattern was accepted, and one that waiting for a worker."""
    wordings = (("先看条件。【答案】{x}", 8), ("无法判断。", 2))
    search = searched(run_with(*wordings, task=chosen.question.task))
    accept_pattern(search.patterns.earliest("pk"), acting_user=make_user(Role.LEAD, "组长"))
    return [search, start_search(search.run, acting_user=None)]


def _planned(question: Question, teachers: list[User]) -> BlindAnswer:
    """A planned round; the answer is its seed answer, which waits for a lead."""
    runs = tuple(response.run_id for response in question.responses.all())
    settings = RoundSettings(
        "第二轮",
        7,
        scheme=Scheme.TWO_AND_LEAD,
        seeds=SeedWish(premarked=1),
        marking_notes="单位漏写不扣分。",
        deadline=datetime(2099, 1, 1, tzinfo=UTC),
        point_tolerance=Decimal(1),
        task_tolerances={question.task_id: Decimal(2)},
    )
    made = plan_round(
        settings, responses=ResponseChoice(runs), teachers=teachers[:2], acting_user=None
    )
    return made.answers.get(role=AnswerRole.SEED)


def _reviewed(run: Run, teachers: list[User]) -> tuple[CapabilityReview, ReviewItem]:
    """A review in which two judge and differ, and one answer is at hand."""
    review = review_of(run, teachers, per_task=1, reviewers_each=2, name="错题评审")
    first, second, at_hand, *_others = items_of(review)
    for item, ones in ((first, "uk"), (second, "")):
        say(item, teachers[0], ones, "multi_hop", "strict_deduction", note="漏了负号")
        say(item, teachers[1], "u", "multi_hop", na="r")
    taken(at_hand, teachers[0])
    return review, at_hand


def _suggesting(endpoint: Endpoint) -> Run:
    """A run that suggests: one reply that was read, and several that were not."""
    unknown = LABELS.replace("logical-judgment", "不存在")
    replies = [LABELS, "没有", unknown, LABELS.replace('"difficulty": 3', '"level": 3')]
    admin = make_user(Role.ADMIN, "何管理")
    return answered(endpoint, admin, replies, limit=len(replies))


def _labelled(question: Question) -> None:
    """Two curators who differ, a suggestion, and a human rate that was corrected."""
    ensure_taxonomy()
    one, other = (make_user(Role.CURATOR, name) for name in ("曾题库", "郑题库"))
    give_opinion(
        question,
        {"difficulty": 2, "modal": "text"},
        acting_user=one,
        sets_labels=True,
        reason="明确",
    )
    give_opinion(question, {"difficulty": 4}, acting_user=other, sets_labels=False)
    LabelOpinion.objects.create(question=question, model_name="canary-m3", difficulty=3)
    rate = add_rate(question, GivenRate(Decimal("0.61"), "考试院", 1200), acting_user=one)
    correct_rate(
        rate, GivenRate(Decimal("0.55"), "考试院", 1200), acting_user=one, reason="印刷错误"
    )


def _name_in_chinese(marking: MarkingRound, question: Question) -> None:
    """The helpers of other tests give English names."""
    Question.objects.filter(pk=question.pk).update(status=ItemStatus.QUARANTINED, paper="全国甲卷")
    Dataset.objects.update(name="模拟考试", slug="exam-1")
    MarkingRound.objects.exclude(pk=marking.pk).update(name="已发布的评分")
    for task in Task.objects.all():
        Task.objects.filter(pk=task.pk).update(slug=f"卷{task.pk}")


def _runs() -> tuple[Endpoint, Run, Run]:
    endpoint = save_endpoint(
        name="接口一",
        base_url="http://127.0.0.1:8099/v1",
        model="m-1",
        acting_user=None,
        key_variable="",
        price_input=Decimal(4),
        price_output=Decimal(12),
    )
    dataset = Dataset.objects.get()
    live = start_run(
        endpoint=endpoint, dataset=dataset, acting_user=None, choice=QuestionChoice(limit=3)
    )
    paused = start_run(
        endpoint=endpoint, dataset=dataset, acting_user=None, choice=QuestionChoice(limit=2)
    )
    job = live.jobs.earliest("pk")
    Attempt.objects.create(
        job=job, number=1, fence=1, status=AttemptStatus.UNKNOWN, error="timeout",
        sent_at=NOW, finished_at=NOW, reserved=Decimal("0.5"), seconds=2.0,
    )  # fmt: skip
    live.jobs.filter(pk=job.pk).update(status=JobStatus.FAILED, attempts_made=1, error="timeout")
    Run.objects.filter(pk=live.pk).update(status=RunStatus.RUNNING)
    Run.objects.filter(pk=paused.pk).update(
        status=RunStatus.PAUSED, pause_reason=PauseReason.BUDGET, budget=Decimal(1)
    )
    return endpoint, live, paused


def _round(teachers: list[User]) -> tuple[MarkingRound, BlindAnswer, BlindAnswer, BlindAnswer]:
    """Three responses: one settled, one whose two marks differ, one that a teacher holds."""
    question = subjective_question(RUBRIC, stem="小球从 $h$ 高处落下。\n\n（1）求时间。")
    marking = round_over(
        responses_to(question, 3, "canary-m3"),
        teachers[:2],
        name="第一轮",
        marking_notes="单位漏写不扣分。",
    )
    settled, disputed, held = answers_of(marking)
    for answer, second in ((settled, ("3", "3", "6")), (disputed, ("0", "0", "0"))):
        one, other = planned_pair(answer)
        give(answer, one, ("3", "3", "6"), flags=[Flag.CUT_OFF], comment="完整")
        give(answer, other, second)
    held = claimed(teachers[0], marking).answer
    return marking, held, disputed, settled
