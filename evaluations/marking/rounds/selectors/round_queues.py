"""Everybody's queue in a round, as the plan has it: what would be laid down if it started now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q

from evaluations.marking.rounds.rules.round_plan import Checks, QueuePlace, plan_round
from evaluations.marking.rules.seed_answers import Cadence, Id
from evaluations.models import HelpOffer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import LIVE, AnswerRole
from evaluations.schemes import Scheme

# Blocks come as the questions stand in their dataset, the same for everybody.
BY_BLOCK = ("question__task", "question__position", "response_id")


def planned_places(marking_round: MarkingRound) -> list[QueuePlace]:
    """The queues of a planned round; none while the teachers are too few for its scheme.

    Items are responses. A seed answer without a reference mark is a response like the others.
    """
    pool = list(marking_round.pool.order_by("teacher").values_list("teacher", flat=True))
    marks = Scheme(marking_round.scheme).planned_marks
    if len(pool) < marks:
        return []
    answers = marking_round.answers.filter(repeat_of=None)
    own = answers.exclude(role=AnswerRole.SEED, seed_answer__isnull=False)
    items = list(own.order_by(*BY_BLOCK).values_list("response", "question"))
    checks = checks_of(marking_round, pool)
    return plan_round(items, pool, marks, marking_round.lots_seed, checks)


def checks_of(marking_round: MarkingRound, teachers: Sequence[int]) -> Checks:
    """What is hidden in the queues of *teachers*; seed answers by their responses."""
    seeds = marking_round.answers.filter(role=AnswerRole.SEED, seed_answer__isnull=False)
    columns = ("response", "question", "seed_answer__author")
    rows = list(seeds.order_by(*BY_BLOCK).values_list(*columns))
    known = shown_before(teachers, [response for response, _question, _author in rows])
    for response, _question, author in rows:
        if author is not None:
            known[author].add(response)
    cadence = Cadence(
        marking_round.seed_first, marking_round.seed_first_every, marking_round.seed_later_every
    )
    return Checks(
        seeds=[(response, question) for response, question, _author in rows],
        cadence=cadence,
        repeat_share=marking_round.repeat_share,
        known=known,
    )


def shown_before(teachers: Sequence[int], responses: Sequence[int]) -> defaultdict[Id, set[Id]]:
    """Which of *responses* each of *teachers* was shown in some round.

    They marked it, for themselves or for somebody else, had it at hand and left it, on a sheet
    too, or gave it back; or it waits for them in another round that goes on.
    """
    waits = Q(planned__in=teachers, answer__round__status__in=LIVE)
    slots = Slot.objects.filter(
        Q(holder__in=teachers) | waits, answer__response__in=responses
    ).values_list("holder", "planned", "answer__round__status", "answer__response")
    by_them = Q(teacher__in=teachers) | Q(entered_by__in=teachers)
    marks = Mark.objects.filter(by_them, slot__answer__response__in=responses)
    offers = HelpOffer.objects.filter(teacher__in=teachers, answer__response__in=responses)
    known: defaultdict[Id, set[Id]] = defaultdict(set)
    for holder, planned, status, response in slots:
        for teacher in (holder, planned if status in LIVE else None):
            if teacher is not None:
                known[teacher].add(response)
    for teacher, response in offers.values_list("teacher", "answer__response"):
        known[teacher].add(response)
    given = marks.values_list("teacher", "entered_by", "slot__answer__response")
    for teacher, entered_by, response in given:
        known[teacher].add(response)
        if entered_by is not None:
            known[entered_by].add(response)
    return known
