"""Read every answer with its points, as the rows that all reports are computed from."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.facts import published
from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.facts.points import Points, judge_points, left_out
from evaluations.llm.client import FailureKind
from evaluations.models import FinalMark, Job, Judgement, Response, Run
from evaluations.models.vocabulary import JobStatus, RunPurpose
from evaluations.reading.rules.scoring.exact_match import exact_match
from evaluations.reading.rules.scoring.exact_match import f1 as token_f1
from evaluations.reading.selectors.answer_checks import DECIDED
from evaluations.reading.selectors.repaired_keys import scored_by_another_key
from evaluations.reports.selectors.bank_columns import bank_of
from evaluations.runs.rules.option_order import as_printed
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from gradeapp.common.casts import json_text, real
from gradeapp.common.snapshot import one_snapshot
from questions.rules.vocabulary import Part
from questions.selectors.repaired_keys import RepairedKey

# Responses that are read at a time where memory is not to grow with their number.
PAGE = 2000
KEY = "key"
UNMARKED = "unmarked"
NOT_JUDGED = "not_judged"


KEY_REPAIRED = Points(None, LedgerOutcome.NOT_SCORED.value, "key_repaired")
OTHER_PROMPTS = Points(None, LedgerOutcome.NOT_SCORED.value, published.OTHER_PROMPTS)
NO_RULES = Points(None, LedgerOutcome.NOT_SCORED.value, "no_published_rules")
NO_KEY = Points(None, LedgerOutcome.NOT_SCORED.value, "no_key")
FAILED = Points(None, LedgerOutcome.API_ERROR.value, LedgerOutcome.API_ERROR.value)
# The endpoint took no images, so there is no answer: refused, with nothing for a rule to score.
TOOK_NO_IMAGES = Points(0.0, LedgerOutcome.REFUSED.value, FailureKind.NO_IMAGES.value, answer="")
NOT_SEEN = Points(None, LedgerOutcome.REFUSED.value, FailureKind.NO_IMAGES.value)


def scored_answers(params: ReportParams) -> list[ScoredAnswer]:
    """Return a row for each answer to the dataset, and for each call that failed finally.

    Objective answers have the current score of the policy (marker ``key``), subjective ones the
    newest final mark of the teachers in the rounds that count, or the newest judgement of the
    judge. Under ``published`` a judgement is the mean of the totals released with it, also if
    impossible; under ``strict`` an impossible total has no points, and its status as the reason.
    Answers to items that do not count (``left_out``) have no points, outcome ``excluded`` and the
    status of the item as the reason. A failed call has the negative key of its job as ``response``.
    A call that failed because the endpoint takes no images is refused, with 0 points if the
    question is objective. An imported error message of a program has no points under ``strict``,
    like a failed call, and 0 under ``published``, as benchmarks count it.

    The repeats of a later run of a condition are numbered after those of its earlier runs that
    have rows here. All is read from one state of the database, while runs and teachers go on.
    """
    with one_snapshot():
        rows = BankRows(params)
        return _answers(rows, _responses(params)) + list(_failed(rows))


def scored_pages(params: ReportParams, size: int = PAGE) -> Iterator[list[ScoredAnswer]]:
    """Yield the rows of ``scored_answers`` in pages of at most *size*, in the same order.

    Memory does not grow with the number of responses. The caller holds the snapshot, if all pages
    are to show one state of the database.
    """
    rows, last = BankRows(params), 0
    while found := list(_responses(params, {"pk__gt": last})[:size]):
        yield _answers(rows, found, {"pk__gt": last, "pk__lte": found[-1][0]})
        last = found[-1][0]
    failed = _failed(rows)
    while page := list(islice(failed, size)):
        yield page


def answers_of(
    params: ReportParams, *, runs: Sequence[int], questions: Sequence[int]
) -> list[ScoredAnswer]:
    """Return the rows of ``scored_answers`` of *runs* to *questions* (keys)."""
    only = {"run__in": runs, "question__in": questions}
    with one_snapshot():
        rows = BankRows(params)
        found = list(_responses(params, only))
        return _answers(rows, found, only) + list(_failed(rows, only))


def count_answers(params: ReportParams, most: int | None = None) -> int:
    """Return the number of rows of ``scored_answers``, at most *most*."""
    answers = _responses(params)
    n = (answers if most is None else answers[:most]).count()
    return n if most is not None and n >= most else n + failed_jobs(params).count()


# Which responses are read, as lookups on them; all if empty.
Only = Mapping[str, object]
ALL_OF_THEM: Only = {}


def _answers(
    rows: BankRows, found: Iterable[Columns], only: Only = ALL_OF_THEM
) -> list[ScoredAnswer]:
    """Return a row for each response in *found*, which are *only* those."""
    params = rows.params
    marks = _judge_points(params, only) if params.is_judge else _teacher_points(params, only)
    given = {**_objective_points(params, only, rows.bank.repaired), **marks}
    if params.policy == Policy.STRICT:
        given |= dict.fromkeys(_error_texts(params, only), FAILED)
    return [rows.row(*columns, given.get(columns[0])) for columns in found]


def _failed(rows: BankRows, only: Only = ALL_OF_THEM) -> Iterator[ScoredAnswer]:
    """Yield a row for each call that failed finally."""
    jobs = failed_jobs(rows.params, only).values_list(*COLUMNS, "question__part", "error")
    for job, run, repeat, question, revision, part, error in jobs.iterator(chunk_size=PAGE):
        yield rows.row(-job, run, repeat, question, revision, failure(part, error))


def included(rows: Iterable[ScoredAnswer]) -> Iterator[ScoredAnswer]:
    """Return the rows of items that count."""
    return (row for row in rows if row.outcome != LedgerOutcome.EXCLUDED)


# What many rows share is read once and looked up in ``BankRows``.
COLUMNS = ("pk", "run_id", "repeat", "question_id", "revision_id")
Columns = tuple[int, int, int, int, int]


def _responses(params: ReportParams, only: Only = ALL_OF_THEM) -> QuerySet[Response, Columns]:
    wanted = _asked_for(params, only=only)
    answers = Response.objects.filter(wanted, run__purpose=RunPurpose.ANSWER)
    if params.without_blind:
        answers = answers.filter(images_omitted=0)
    return answers.order_by("pk").values_list(*COLUMNS)


def failure(part: str, error: str) -> Points:
    """Return the points of a call that failed with *error*."""
    if error != FailureKind.NO_IMAGES:
        return FAILED
    return TOOK_NO_IMAGES if part == Part.OBJECTIVE else NOT_SEEN


def failed_jobs(params: ReportParams, only: Only = ALL_OF_THEM) -> QuerySet[Job]:
    """Return the jobs that failed after their last attempt and have no response.

    Of an answer in several steps it is that of the last one, which fails with those before it.
    """
    answered = Response.objects.filter(
        run=OuterRef("run"), question=OuterRef("question"), repeat=OuterRef("repeat")
    )
    failed = Job.objects.filter(
        _asked_for(params, only=only),
        ~Exists(answered),
        run__purpose=RunPurpose.ANSWER,
        status=JobStatus.FAILED,
        next_step=None,
    )
    return failed.order_by("pk")


def _error_texts(params: ReportParams, only: Only) -> Iterable[int]:
    """Return the responses that are error messages, unless a person read an answer in them."""
    messages = Response.objects.filter(_asked_for(params, only=only), is_error_text=True)
    score = Response.score_field(params.policy)
    decided = messages.filter(**{f"{score}__extraction__method__in": DECIDED})
    return messages.exclude(pk__in=decided.values("pk")).values_list("pk", flat=True)


def _asked_for(params: ReportParams, path: str = "", only: Only = ALL_OF_THEM) -> Q:
    """Return the filter of *params* on responses, or on rows whose response is at *path*."""
    wanted = params.of_runs(f"{path}run__")
    if only:
        wanted &= Q(**{f"{path}{name}": value for name, value in only.items()})
    if params.year is not None:
        wanted &= Q(**{f"{path}question__year": params.year})
    return wanted


class BankRows:
    """Makes rows, with the runs, questions and revisions of the dataset in memory."""

    def __init__(self, params: ReportParams) -> None:
        self.params = params
        self.left_out = left_out(params.policy)
        self.sittings = _sittings(params)
        self.asked = published.how_asked(self.sittings)
        self.bank = bank = bank_of(params.dataset, params.policy)
        self.questions, self.worth, self.golds = bank.questions, bank.worth, bank.golds
        self.without_key = bank.without_key
        self.wrong_without_key = bank.wrong_without_key

    def row(
        self,
        response: int,
        run: int,
        repeat: int,
        question: int,
        revision: int,
        given: Points | None,
    ) -> ScoredAnswer:
        """Return one row with the points *given* for it, if its item counts."""
        asked, before = self.sittings[run]
        _pk, task, subject, part, year, status = self.questions[question]
        full, subs, question_type = self.worth[revision]
        if status in self.left_out:
            given = Points(None, LedgerOutcome.EXCLUDED.value, status)
        elif given not in (FAILED, TOOK_NO_IMAGES) and part == Part.OBJECTIVE:
            wrong = given is not None and revision in self.wrong_without_key
            if revision in self.without_key and not wrong:
                given = NO_KEY
            elif self.params.policy == Policy.PUBLISHED:
                given = self._by_published_rules(run, question_type, given)
        points = given or self._nothing(part)
        exact, f1 = self._metrics(revision, points)
        return ScoredAnswer(
            response=response,
            question=question,
            run=run,
            model=asked.model,
            condition=asked.condition,
            dataset=self.params.dataset,
            task=task,
            subject=subject,
            part=part,
            year=year,
            repeat=before + repeat,
            marker=KEY if part == Part.OBJECTIVE else self.params.marker or TEACHERS,
            policy=self.params.policy,
            points=points.points,
            full=full,
            subs=subs,
            outcome=points.outcome,
            reason=points.reason,
            answer=points.answer,
            exact_match=exact,
            f1=f1,
        )

    def _by_published_rules(
        self, run: int, question_type: str, given: Points | None
    ) -> Points | None:
        """Return *given* if rules were published for how the item was asked, else why not."""
        asked = self.asked[run]
        if not asked.offered:
            return OTHER_PROMPTS
        return given if asked.rules(self.params.dataset, question_type) else NO_RULES

    def _metrics(self, revision: int, points: Points) -> tuple[float | None, float | None]:
        """Return exact match and F1 of a scored exact answer; None for every other row.

        ``published`` compares texts as released; ``strict`` uses the score, which compares
        meanings.
        """
        if revision not in self.golds or points.points is None:
            return None, None
        gold, language = self.golds[revision]
        answer = points.answer or ""
        if self.params.policy == Policy.PUBLISHED:
            same = exact_match(gold, answer)
        else:
            same = points.outcome == LedgerOutcome.CORRECT
        return float(same), token_f1(gold, answer, language)

    def _nothing(self, part: str) -> Points:
        """Return the reason why there are no points yet."""
        unscored = LedgerOutcome.NOT_SCORED.value
        if part == Part.OBJECTIVE:
            return Points(None, unscored, unscored)
        return Points(None, unscored, NOT_JUDGED if self.params.is_judge else UNMARKED)


def _sittings(params: ReportParams) -> dict[int, tuple[ModelCondition, int]]:
    """Return by run what was asked, and the number of repeats in its condition's earlier runs.

    A run without any response or failed call, such as one that was stopped at once, has no repeat.
    """
    runs = Run.objects.filter(dataset__slug=params.dataset, purpose=RunPurpose.ANSWER)
    own = Response.objects.filter(run=OuterRef("pk"))
    failed = Job.objects.filter(run=OuterRef("pk"), status=JobStatus.FAILED, next_step=None)
    runs = runs.annotate(has_rows=Exists(own) | Exists(failed))
    before: dict[ModelCondition, int] = defaultdict(int)
    sittings: dict[int, tuple[ModelCondition, int]] = {}
    columns = ("pk", "language_model__name", "condition__name", "repeats", "has_rows")
    for run, model, condition, repeats, has_rows in runs.order_by("pk").values_list(*columns):
        asked = ModelCondition(model, condition or "")
        sittings[run] = (asked, before[asked])
        before[asked] += repeats if has_rows else 0
    return sittings


def _objective_points(
    params: ReportParams, only: Only, repaired: dict[int, RepairedKey]
) -> dict[int, Points]:
    """Return the current score of each response, by response.

    Under ``strict`` a score by a key that was repaired since does not count. Answers are in printed
    letters, also where the options were shown in another order.
    """
    asked = Response.objects.filter(_asked_for(params, only=only))
    score = Response.score_field(params.policy)
    moved = asked.exclude(option_order="").values_list("pk", "revision__letters", "option_order")
    orders = {pk: (letters, order) for pk, letters, order in moved}
    given = {
        response: Points(points, outcome, answer=spelled(read, *orders.get(response, ())))
        for response, points, outcome, read in asked.filter(
            **{f"{score}__isnull": False}
        ).values_list(
            "pk",
            real(f"{score}__points"),
            f"{score}__outcome",
            json_text(f"{score}__extraction__answers"),
        )
    }
    if params.policy == Policy.STRICT:
        given |= dict.fromkeys(scored_by_another_key(asked, repaired), KEY_REPAIRED)
    return given


@lru_cache(maxsize=4096)
def spelled(answers: str, letters: str = "", order: str = "") -> str:
    """Return the answers as one text such as ``A - BD`` (- for a gap); "" if nothing was read.

    *order* is in which the options with *letters* were shown, empty for as printed.
    """
    read: Sequence[str | None] = as_printed(json.loads(answers), letters, order)
    return " ".join(answer or "-" for answer in read) if any(read) else ""


def _teacher_points(params: ReportParams, only: Only) -> dict[int, Points]:
    finals = (
        FinalMark.objects.counting()
        .filter(_asked_for(params, "answer__response__", only), params.of_rounds("answer__round"))
        .order_by("pk")
    )
    return {
        response: Points(value)
        for response, value in finals.values_list("answer__response", real("value"))
    }


def _judge_points(params: ReportParams, only: Only) -> dict[int, Points]:
    judgements = Judgement.objects.counting().filter(
        _asked_for(params, "response__", only), judge__name=params.judge
    )
    return {
        response: judge_points(total, status, released, params.policy, suspended)
        for response, total, status, released, suspended in judgements.values_list(
            *("response", real("total"), "status", json_text("released"), "judge__suspended_at")
        )
    }
