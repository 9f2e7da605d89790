"""What a new round would hold: its responses, and how much falls to each teacher."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from evaluations.facts.known_models import OfRound, of_known_models
from evaluations.facts.looks import SUBJECTIVE_TYPES
from evaluations.marking.rules.drawing import Id, sample_per_group, shuffled
from evaluations.models import FinalMark, FinalMarkSource, Response, Run
from evaluations.models.vocabulary import RoundStatus, RunPurpose
from questions.models import Knowledge, Rubric, Task
from questions.rules.vocabulary import ItemStatus, Part
from questions.selectors.rubrics import counting_versions


@dataclass(frozen=True, slots=True)
class ResponseChoice:
    """Which responses a round takes: all subjective ones of *runs*, narrowed by the rest.

    ``runs``, ``tasks``, ``knowledge`` and ``questions`` are keys of rows, ``subjects``,
    ``branches`` and ``modals`` stored values of their lists; an empty tuple narrows
    nothing. Labels are those that count for the question now, a category of
    knowledge means its subclasses too. ``per_task`` draws so many questions of each
    task, the same ones for every run and repeat, so that models stay comparable.
    """

    runs: tuple[int, ...]
    tasks: tuple[int, ...] = ()
    subjects: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    branches: tuple[str, ...] = ()
    knowledge: tuple[int, ...] = ()
    difficulties: tuple[int, ...] = ()
    modals: tuple[str, ...] = ()
    per_task: int | None = None
    questions: tuple[int, ...] = ()

    def narrowing(self) -> Q:
        """The filter on responses that the choice makes beside its runs."""
        wanted = {
            "question__in": self.questions,
            "question__task__in": self.tasks,
            "question__subject__in": self.subjects,
            "question__year__in": self.years,
            "question__label__ability_branch__in": self.branches,
            "question__label__difficulty__in": self.difficulties,
            "question__label__modal__in": self.modals,
        }
        narrowed = Q(**{path: values for path, values in wanted.items() if values})
        if self.knowledge:
            named = Q(question__label__knowledge__in=self.knowledge)
            narrowed &= named | Q(question__label__knowledge__parent__in=self.knowledge)
        return narrowed


@dataclass(frozen=True, slots=True)
class SeedWish:
    """How many seed answers each question gets at most, and where they come from.

    ``taken`` are responses with a final mark in a closed round, ``premarked``
    responses of this choice that the lead marks before the round starts.
    """

    taken: int = 0
    premarked: int = 0


NO_SEEDS = SeedWish()


@dataclass(frozen=True, slots=True)
class Contents:
    """What a round would hold: responses to be marked, and two sorts of seed answers.

    ``rubrics`` and ``task_of`` (keys of tasks' rows) are by the key of the question.
    """

    answers: tuple[Response, ...]
    premarked: tuple[Response, ...]
    taken: tuple[FinalMark, ...]
    rubrics: Mapping[int, Rubric]
    task_of: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Offers:
    """What a choice can be narrowed by: only what some markable response has."""

    tasks: tuple[Task, ...]
    years: tuple[int, ...]
    subjects: tuple[str, ...]
    branches: tuple[str, ...]
    knowledge: tuple[Knowledge, ...]
    difficulties: tuple[int, ...]
    modals: tuple[str, ...]


def markable_runs() -> QuerySet[Run]:
    """Runs that have a response to be marked, newest first."""
    return (
        Run.objects.filter(
            purpose=RunPurpose.ANSWER,
            responses__question__part=Part.SUBJECTIVE.value,
            responses__revision__question_type__in=SUBJECTIVE_TYPES,
        )
        .select_related("language_model", "dataset")
        .distinct()
        .order_by("-id")
    )


def offers() -> Offers:
    """The tasks, years, subjects and labels of the questions that have responses to be marked."""
    asked = Response.objects.filter(markable()).order_by()

    def values(path: str) -> tuple[Any, ...]:
        found = asked.exclude(**{f"{path}__isnull": True}).values_list(path, flat=True)
        return tuple(sorted(value for value in found.distinct() if value != ""))

    tasks = Task.objects.filter(pk__in=asked.values("question__task")).select_related("dataset")
    named = asked.values("question__label__knowledge")
    knowledge = Knowledge.objects.filter(Q(pk__in=named) | Q(subclasses__in=named)).distinct()
    return Offers(
        tasks=tuple(tasks.order_by("dataset__name", "slug")),
        years=values("question__year"),
        subjects=values("question__subject"),
        branches=values("question__label__ability_branch"),
        knowledge=tuple(knowledge.order_by("english")),
        difficulties=values("question__label__difficulty"),
        modals=values("question__label__modal"),
    )


def chosen_responses(choice: ResponseChoice, random_seed: int) -> list[Response]:
    """The responses of *choice*, task by task and question by question, without their texts."""
    found = Response.objects.filter(markable(), choice.narrowing(), run__in=choice.runs)
    rows = found.select_related("question", "revision").only(
        *("run_id", "question__task_id", "question__external_id", "question__position"),
        "revision__full_marks",
    )
    responses = list(rows.order_by("question__task", "question__position", "id"))
    if choice.per_task is None:
        return responses
    pairs = {(response.question_id, response.question.task_id) for response in responses}
    drawn = sample_per_group(sorted(pairs), choice.per_task, random_seed)
    return [response for response in responses if response.question_id in drawn]


def contents_of(
    choice: ResponseChoice, seeds: SeedWish, random_seed: int, hidden_seed: int | None = None
) -> Contents:
    """The *choice* parted into responses and seed answers, and the seed answers from elsewhere.

    A response that is taken out to be pre-marked leaves one of its question at least. Seed answers
    follow from *hidden_seed* if there is one.
    """
    chosen = chosen_responses(choice, random_seed)
    lots = random_seed if hidden_seed is None else hidden_seed
    rubrics = counting_versions({response.question_id for response in chosen})
    premarked = _drawn_to_premark(chosen, seeds.premarked, lots)
    return Contents(
        answers=tuple(response for response in chosen if response.pk not in premarked),
        premarked=tuple(response for response in chosen if response.pk in premarked),
        taken=tuple(_taken_elsewhere(chosen, rubrics, seeds.taken, lots)),
        rubrics=rubrics,
        task_of={response.question_id: response.question.task_id for response in chosen},
    )


def responses_of_known_models(responses: Sequence[Response]) -> set[int]:
    """Return those of *responses* of ``chosen_responses`` whose model their runs tell.

    Who chose the runs knows it, whichever text the response has (``of_known_models``).
    """
    runs = {response.run_id for response in responses}
    model_of = dict(Run.objects.filter(pk__in=runs).values_list("pk", "language_model"))
    texts = Response.objects.filter(run__in=runs, text="")
    empty = set(texts.values_list("pk", flat=True))
    return of_known_models(
        OfRound(one.pk, one.revision_id, model_of[one.run_id], one.pk in empty) for one in responses
    )


def _drawn_to_premark(chosen: Sequence[Response], each: int, random_seed: int) -> frozenset[Id]:
    """At most *each* of the responses to a question, and never all of them."""
    if not each:
        return frozenset()
    to_question: dict[int, list[Id]] = defaultdict(list)
    for response in chosen:
        to_question[response.question_id].append(response.pk)
    drawn = (
        shuffled(found, random_seed, "premark")[: min(each, len(found) - 1)]
        for found in to_question.values()
    )
    return frozenset(response for responses in drawn for response in responses)


def _taken_elsewhere(
    chosen: Sequence[Response], rubrics: Mapping[int, Rubric], each: int, random_seed: int
) -> list[FinalMark]:
    """Final marks of closed rounds, at most *each* to a question, of responses not chosen here.

    Under the rubric that counts now, or under none: a mark for other scoring points is no
    reference, nor is a decision that stayed when its response was moved to a new rubric. Nor is a
    mark of a practice round. Only to revisions of a question that some response here has: another
    text would show that it is a seed answer.
    """
    if not each:
        return []
    fits = Q(answer__rubric=None) | Q(answer__rubric__in=[one.pk for one in rubrics.values()])
    source = FinalMarkSource.objects.filter(final=OuterRef("pk"))
    same = Q(mark__rubric=F("final__answer__rubric"))
    same |= Q(mark__rubric=None, final__answer__rubric=None)
    finals = FinalMark.objects.official().filter(
        fits,
        ~Exists(source.filter(~same)),
        answer__round__status=RoundStatus.CLOSED,
        answer__revision__in={response.revision_id for response in chosen},
    )
    here = {response.pk for response in chosen}
    columns = ("answer__response_id", "answer__question_id", "pk")
    found = {
        response: (question, final)
        for response, question, final in finals.order_by("pk").values_list(*columns)
        if response not in here
    }
    pairs = [(response, question) for response, (question, _final) in found.items()]
    drawn = sample_per_group(pairs, each, random_seed)
    keys = [found[int(response)][1] for response in drawn]
    rows = FinalMark.objects.filter(pk__in=keys).select_related("answer__response__revision")
    return list(rows.order_by("answer__question", "pk"))


def markable() -> Q:
    """Responses that a person may have to mark.

    Not those that were given while the question was an objective one: of these no looks are kept.
    """
    return Q(
        revision__question_type__in=SUBJECTIVE_TYPES,
        run__purpose=RunPurpose.ANSWER,
        question__part=Part.SUBJECTIVE.value,
        question__status=ItemStatus.ACTIVE.value,
        is_error_text=False,
    )
