"""What a round would be, told before it starts: the load of each teacher, and how long it takes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Sum, Value
from django.db.models.functions import Least

from evaluations.marking.desk.selectors.desk import IDLE_SECONDS
from evaluations.marking.rounds.rules.round_plan import (
    Checks,
    QueuePlace,
    TeacherLoad,
    loads_of,
    plan_round,
)
from evaluations.marking.rounds.selectors.round_choice import Contents
from evaluations.marking.rounds.selectors.round_queues import planned_places, shown_before
from evaluations.marking.rules.seed_answers import Cadence, Id, Role
from evaluations.models import Mark, MarkingRound
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart

# What a response is taken to need where nothing of its task was marked yet.
ASSUMED_SECONDS = 120
# A pace of fewer marks is no pace.
ENOUGH_MARKS = 5


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds for one response to each task, by the key of the task; *marks* they come from.

    A task that is not named here was never marked enough: ``ASSUMED_SECONDS`` stand for it.
    """

    seconds: Mapping[int, float]
    marks: int

    def of(self, task: int) -> float:
        """Seconds for one response to *task*."""
        return self.seconds.get(task, ASSUMED_SECONDS)


@dataclass(frozen=True, slots=True)
class TeacherPreview:
    """What falls to one teacher, and how many minutes it takes at the pace of its tasks."""

    name: str
    load: TeacherLoad
    minutes: int


@dataclass(frozen=True, slots=True)
class RoundPreview:
    """A round to be.

    ``taken`` and ``premarked`` count seed answers, of which some teacher meets
    ``met``; to ``single`` of the questions one response is marked only.
    ``measured_tasks`` of ``tasks`` have a pace, measured on ``measured_marks``;
    the others are assumed.
    """

    responses: int
    questions: int
    single: int
    marks: int
    taken: int
    premarked: int
    met: int
    teachers: tuple[TeacherPreview, ...]
    tasks: int
    measured_tasks: int
    measured_marks: int

    @property
    def minutes(self) -> int:
        """All teachers together."""
        return sum(teacher.minutes for teacher in self.teachers)

    @property
    def checks_show(self) -> bool:
        """Whether there are checks, and most questions would come a second time only as one."""
        checks = any(teacher.load.seeds or teacher.load.repeats for teacher in self.teachers)
        return checks and self.single * 2 > self.questions

    @property
    def assumed_minutes(self) -> float:
        """What is assumed for a response to a task without a pace."""
        return ASSUMED_SECONDS / 60


def pace_of(tasks: Collection[int]) -> Pace:
    """How long a response to each of *tasks* took so far, a pause of over 5 minutes cut."""
    marks = Mark.objects.counting().filter(
        seconds__isnull=False, slot__answer__question__task__in=tasks
    )
    rows = marks.order_by().values_list("slot__answer__question__task")
    sums = rows.annotate(number=Count("pk"), spent=Sum(Least("seconds", Value(IDLE_SECONDS))))
    known = [row for row in sums if row[1] >= ENOUGH_MARKS and row[2]]
    seconds = {task: spent / number for task, number, spent in known}
    return Pace(seconds, sum(number for _task, number, _spent in known))


def preview_of(
    contents: Contents,
    teachers: Sequence[User],
    *,
    scheme: Scheme,
    random_seed: int,
    cadence: Cadence,
    repeat_share: Decimal,
) -> RoundPreview:
    """The round that would hold *contents*; without loads while the teachers are too few."""
    pace = pace_of(set(contents.task_of.values()))
    planned = len(teachers) >= scheme.planned_marks
    checks = Checks(
        seeds=_seeds(contents),
        cadence=cadence,
        repeat_share=repeat_share,
        known=_known(contents, teachers),
    )
    keys = [teacher.pk for teacher in teachers]
    items = [(response.pk, response.question_id) for response in contents.answers]
    places = plan_round(items, keys, scheme.planned_marks, random_seed, checks) if planned else []
    tasks: dict[Id, int] = {
        one: contents.task_of[question] for one, question in [*items, *_seeds(contents)]
    }
    return RoundPreview(
        responses=len(contents.answers),
        questions=len({question for _response, question in items}),
        single=_single(question for _response, question in items),
        marks=len(items) * scheme.planned_marks,
        taken=len(contents.taken),
        premarked=len(contents.premarked),
        met=_met(places),
        teachers=_previews(places, teachers, tasks, pace),
        tasks=len(set(contents.task_of.values())),
        measured_tasks=len(pace.seconds),
        measured_marks=pace.marks,
    )


def preview_of_planned(marking_round: MarkingRound) -> RoundPreview:
    """A planned round as it would start now; seed answers without a reference are marked."""
    rows = list(
        marking_round.answers.filter(repeat_of=None).values_list(
            *("response", "question", "question__task"),
            *("seed_answer__author", "seed_answer__taken_from"),
        )
    )
    tasks: dict[Id, int] = {row[0]: row[2] for row in rows}
    pace = pace_of(set(tasks.values()))
    own = [row for row in rows if row[3] is None and row[4] is None]
    taken = sum(row[4] is not None for row in rows)
    people = User.objects.filter(pools__round=marking_round)
    places = planned_places(marking_round)
    return RoundPreview(
        responses=len(own),
        questions=len({row[1] for row in own}),
        single=_single(row[1] for row in own),
        marks=len(own) * Scheme(marking_round.scheme).planned_marks,
        taken=taken,
        premarked=len(rows) - len(own) - taken,
        met=_met(places),
        teachers=_previews(
            places,
            list(people.order_by("display_name", "username")),
            tasks,
            pace,
        ),
        tasks=len(set(tasks.values())),
        measured_tasks=len(pace.seconds),
        measured_marks=pace.marks,
    )


def _previews(
    places: Sequence[QueuePlace], teachers: Sequence[User], task_of: Mapping[Id, int], pace: Pace
) -> tuple[TeacherPreview, ...]:
    if not places:
        return ()
    loads = loads_of(places, [teacher.pk for teacher in teachers])
    names = names_apart(teachers)
    counts: dict[Id, Counter[int]] = defaultdict(Counter)
    for place in places:
        counts[place.teacher][task_of[place.item]] += 1
    return tuple(
        TeacherPreview(
            name=names[teacher.pk],
            load=loads[teacher.pk],
            minutes=_minutes(counts[teacher.pk], pace),
        )
        for teacher in teachers
    )


def _single(questions: Iterable[int]) -> int:
    """How many questions occur once in *questions*, which has one for each response."""
    return sum(number == 1 for number in Counter(questions).values())


def _met(places: Sequence[QueuePlace]) -> int:
    """How many seed answers stand in somebody's queue."""
    return len({place.item for place in places if place.role is Role.SEED})


def _minutes(responses: Mapping[int, int], pace: Pace) -> int:
    return round(sum(pace.of(task) * number for task, number in responses.items()) / 60)


def _seeds(contents: Contents) -> list[tuple[int, int]]:
    """Every seed answer by its response, with its question."""
    taken = [(final.answer.response_id, final.answer.question_id) for final in contents.taken]
    return [*((one.pk, one.question_id) for one in contents.premarked), *taken]


def _known(contents: Contents, teachers: Sequence[User]) -> dict[Id, set[Id]]:
    """Which of the seed answers each teacher was shown in some round."""
    responses = [response for response, _question in _seeds(contents)]
    return shown_before([teacher.pk for teacher in teachers], responses)
