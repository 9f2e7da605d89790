"""Reading judges and judgements: the newest of a judge on a response is the one that counts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import get_language, gettext

from evaluations.facts.judged_marks import families_of_judges
from evaluations.facts.looks import in_small_cells
from evaluations.facts.pairs import JUDGE_PAIR, mark_pairs
from evaluations.facts.params import JUDGE_PREFIX, ReportParams
from evaluations.judging.rules.json_reply import QUOTE_NOT_FOUND
from evaluations.judging.rules.judge_condition import ReplyForm
from evaluations.judging.rules.judge_prompt_sets import SHIPPED
from evaluations.judging.rules.judge_reply import (
    HIDDEN_TEXT,
    INSTRUCTIONS,
    STEPS_DO_NOT_ADD_UP,
    read_judge_reply,
)
from evaluations.model_families import family_of, shared_family
from evaluations.models import (
    Endpoint,
    FinalMark,
    Judge,
    Judgement,
    JudgePrompts,
    RepeatedTexts,
    Response,
    Run,
)
from evaluations.models.vocabulary import RunPurpose
from evaluations.runs.selectors.runs import is_live, runs
from evaluations.statistics.agreement import MarkPair, agreement
from evaluations.statistics.figure import Figure
from evaluations.statistics.outcomes import JudgeStatus, JudgeVerdict
from evaluations.statistics.rows import ModelCondition
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from questions.models import Dataset, Rubric
from questions.selectors.bank import accepted_rubric

# So many responses of a repeated text are named on a page.
REPEATED_SHOWN = 5
NAMED_FLAGS = (STEPS_DO_NOT_ADD_UP, QUOTE_NOT_FOUND)


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """The work of a judge on one model and condition: statuses, and agreement with teachers.

    ``few`` are the responses behind the agreement if they are too few (``SMALL_CELL``).
    """

    judge: Judge
    dataset: Dataset
    asked: ModelCondition
    judged: int
    scored: int
    unscored: dict[str, int]
    agreement: dict[str, Figure]
    few: frozenset[int]


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One response with all judgements of one judge, newest first, and the teachers' marks."""

    response: Response
    judgements: tuple[Judgement, ...]
    rubric: Rubric | None
    finals: tuple[FinalMark, ...]

    @property
    def newest(self) -> Judgement:
        """The judgement that counts."""
        return self.judgements[0]

    @property
    def difference(self) -> float | None:
        """The judge's mark minus the teachers', in points; None if either is missing."""
        if not self.finals or self.newest.total is None:
            return None
        return float(self.newest.total - self.finals[0].value)


@dataclass(frozen=True, slots=True)
class ImportedJudge:
    """How many judgements of a run were imported, and how many have points."""

    judge: Judge
    judged: int
    scored: int


def imported_judges(run: Run) -> list[ImportedJudge]:
    """Return the judges whose published gradings of *run* were imported, by name."""
    rows = Judgement.objects.filter(response__run=run, run=None).order_by().values("judge")
    scored = Count("response", filter=Q(status=JudgeStatus.SCORED), distinct=True)
    counts = rows.annotate(n=Count("response", distinct=True), scored=scored)
    judges = Judge.objects.in_bulk([row["judge"] for row in counts])
    lines = [ImportedJudge(judges[row["judge"]], row["n"], row["scored"]) for row in counts]
    return sorted(lines, key=lambda one: one.judge.name)


def judges_of_run(run: Run) -> dict[str, Any]:
    """Return the context of the judge runs on the page of *run* and in its fragment."""
    judge_runs = list(runs().filter(judged_run=run, purpose=RunPurpose.JUDGE))
    return {"run": run, "judge_runs": judge_runs, "judging": any(map(is_live, judge_runs))}


def relatives(judge: Judge, params: ReportParams) -> list[str]:
    """Return the models of *params* that *judge* has marked and that are of its family, by name."""
    family = families_of_judges([judge.name])[judge.name]
    if not family:
        return []
    marked = Exists(Judgement.objects.filter(judge=judge, response__run=OuterRef("pk")))
    runs_of_models = Run.objects.filter(params.of_runs(), marked, purpose=RunPurpose.ANSWER)
    names = set(runs_of_models.order_by().values_list("language_model__name", flat=True))
    return sorted(name for name in names if family_of(name) == family)


def family_with(endpoint: Endpoint, run: Run) -> str:
    """Return the family that the models of *endpoint* and of *run* share; "" for none known."""
    answered = run.endpoint.model if run.endpoint else ""
    return shared_family(
        (endpoint.model, endpoint.language_model.name), (run.language_model.name, answered)
    )


def prompts_to_choose() -> list[str]:
    """Return the names of the prompts for judges, those of the project first."""
    imported = set(JudgePrompts.objects.values_list("slug", flat=True)) - set(SHIPPED)
    return [*SHIPPED, *sorted(imported)]


def is_proven(judge: Judge) -> bool:
    """Return whether the canaries of *judge* have a verdict for the model that replied last."""
    check = judge.current_check
    return check is not None and check.verdict != JudgeVerdict.OPEN


def repeated_texts_of(run: Run | None, user: User) -> dict[str, Any]:
    """Return the context of the notice that responses of *run* are one text to many questions."""
    found = RepeatedTexts.objects.filter(run=run, responses__isnull=False)
    notice = found.select_related("reviewed_by").first()
    shown: list[Response] = []
    if notice is not None:
        rows = notice.responses.select_related("question__task").order_by("pk")
        shown = list(rows.defer("reasoning")[:REPEATED_SHOWN])
    return {
        "repeated": notice,
        "repeated_n": notice.responses.count() if notice is not None else 0,
        "repeated_shown": shown,
        "may_review": user.may(Capability.LEAD_ROUNDS),
    }


def runs_left_out(judge: Judge, dataset: Dataset) -> list[RepeatedTexts]:
    """Return the notices by which the calibration of *judge* on *dataset* leaves out runs."""
    marked = Exists(Judgement.objects.filter(judge=judge, response__run=OuterRef("run")))
    waiting = RepeatedTexts.objects.filter(
        marked, run__dataset=dataset, reviewed_at=None, responses__isnull=False
    )
    return list(waiting.distinct().select_related("run__language_model").order_by("run"))


def check_of_run(run: Run) -> dict[str, Any]:
    """Return the context of the check on the page of the judge run *run*, with its condition."""
    assert run.judge is not None  # a judge run has one
    judge = Judge.objects.select_related("current_check").get(pk=run.judge.pk)
    flags = Judgement.objects.filter(run=run).values_list("response", "flags")
    flagged = {response for response, given in flags if {HIDDEN_TEXT, INSTRUCTIONS} & set(given)}
    settings = run.run_settings
    yes, no = gettext("yes"), gettext("not shown")
    shown = [
        (gettext("Prompts"), settings["prompt_version"]),
        (gettext("Rubric shown"), yes if settings.get("criterion", True) else no),
        (gettext("Analysis shown"), yes if settings.get("analysis", True) else no),
        (gettext("Marking notes shown"), yes if settings.get("notes", True) else no),
        (
            gettext("Form of the reply"),
            ReplyForm(settings.get("form", ReplyForm.TAGGED)).label(get_language() or "en"),
        ),
        (gettext("Maximum tokens per reply"), settings["sampling"]["max_tokens"]),
        (gettext("Temperature"), settings["sampling"]["temperature"]),
        (gettext("Sample"), settings.get("sample", 1)),
    ]
    judged = run.judged_run
    assert run.endpoint is not None  # it was called
    assert judged is not None  # a judge run has one
    return {
        "unproven": not is_proven(judge),
        "family": family_with(run.endpoint, judged),
        "judged_model": judged.language_model.name,
        "check": judge.current_check,
        "judge": judge,
        "condition": shown,
        "flagged": len(flagged),
    }


def judge_lines() -> list[JudgeLine]:
    """Return a line for each judge, dataset, model and condition, by name."""
    counts: dict[tuple[int, int, ModelCondition], dict[str, int]] = defaultdict(dict)
    rows = (
        Judgement.objects.counting()
        .order_by()
        .values_list(
            *("judge", "response__run__dataset", "response__run__language_model__name"),
            *("response__run__condition__name", "status"),
        )
    )
    for judge, dataset, model, condition, status, n in rows.annotate(n=Count("pk")):
        counts[judge, dataset, ModelCondition(model, condition)][status] = n
    judges = Judge.objects.in_bulk({judge for judge, *_ in counts})
    datasets = Dataset.objects.in_bulk({dataset for _, dataset, _asked in counts})
    pairs: dict[tuple[int, str, ModelCondition], list[MarkPair]] = defaultdict(list)
    for pk, dataset in datasets.items():
        for pair in mark_pairs(ReportParams(dataset.slug)):
            pairs[pk, pair.pair, pair.asked].append(pair)
    lines = []
    for (judge, dataset, asked), statuses in counts.items():
        own = pairs[dataset, f"{JUDGE_PAIR}{JUDGE_PREFIX}{judges[judge].name}", asked]
        line = JudgeLine(
            judge=judges[judge],
            dataset=datasets[dataset],
            asked=asked,
            judged=sum(statuses.values()),
            scored=statuses.get(JudgeStatus.SCORED, 0),
            unscored={
                status: n for status, n in sorted(statuses.items()) if status != JudgeStatus.SCORED
            },
            agreement=agreement(own),
            few=frozenset(in_small_cells((asked, pair.response) for pair in own)),
        )
        lines.append(line)
    return sorted(lines, key=lambda line: (line.judge.name, line.dataset.slug, line.asked))


def judgement_list() -> QuerySet[Judgement]:
    """Return judgements for a list, each annotated with the teachers' final mark."""
    final = FinalMark.objects.official().filter(answer__response=OuterRef("response"))
    return (
        Judgement.objects.counting()
        .select_related("judge", "response__question__task")
        .select_related("response__run__dataset", "response__run__condition__language_model")
        .select_related("response__run__language_model")
        .defer("response__text", "response__reasoning")
        .annotate(final=Subquery(final.order_by("-pk").values("value")[:1]))
        .order_by("judge", "response__question__task", "response__question__position", "response")
    )


@dataclass(frozen=True, slots=True)
class ReplyFault:
    """A reply whose total is not possible, or whose points do not add up to it."""

    judge: str
    model: str
    task: str
    external_id: str
    fault: str
    full: Decimal
    details: dict[str, Any]
    released: list[float | None]


def reply_faults(dataset: str, judge: str = "") -> tuple[int, list[ReplyFault]]:
    """Return the number of replies of *judge* (all: "") to *dataset*, and what is wrong in which.

    Replies in the tagged form are read again, so that those from before details were stored are
    named too.
    """
    rows = Judgement.objects.counting().filter(response__run__dataset__slug=dataset)
    rows = rows.exclude(status__in=(JudgeStatus.NO_CONTENT, JudgeStatus.OVERSIZE))
    rows = rows.filter(judge__name=judge) if judge else rows
    order = ("judge__name", "response__question__task__slug", "response__question__position", "pk")
    related = ("judge", "response__question__task", "response__run__language_model")
    faults, n = [], 0
    for row in rows.select_related(*related).defer("response__text").order_by(*order):
        n += 1
        details = row.details or read_judge_reply(row.reply, row.full).details
        named = [flag for flag in row.flags if flag in NAMED_FLAGS]
        if row.status == JudgeStatus.SCORED and "sum" in details:
            named = list(dict.fromkeys([*named, STEPS_DO_NOT_ADD_UP]))
        elif row.status == JudgeStatus.SCORED:
            named = [flag for flag in named if flag != STEPS_DO_NOT_ADD_UP]
        else:
            named = [row.status]
        question = row.response.question
        faults += [
            ReplyFault(
                judge=row.judge.name,
                model=row.response.run.language_model.name,
                task=question.task.slug,
                external_id=question.external_id,
                fault=fault,
                full=row.full,
                details=details,
                released=row.released,
            )
            for fault in named
        ]
    return n, faults


def judged_response(judge: Judge, response_id: UUID) -> JudgedResponse | None:
    """Return one response with the judgements of *judge*; None if there are none."""
    judgements = tuple(
        Judgement.objects.filter(judge=judge, response__public_id=response_id)
        .select_related(
            "response__question__task__dataset",
            "response__revision",
            "response__run__condition__language_model",
            "rubric",
        )
        .prefetch_related("rubric__points")
        .order_by("sample", "-number")
    )
    if not judgements:
        return None
    response = judgements[0].response
    official = FinalMark.objects.official().filter(answer__response=response)
    finals = official.select_related("answer__round")
    rubric = judgements[0].rubric or accepted_rubric(response.question)
    return JudgedResponse(response, judgements, rubric, tuple(finals.order_by("-pk")))
