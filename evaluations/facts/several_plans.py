"""Models that the plans of several rounds tell together to who knows them and marks in each.

A text that stands in two rounds is of a run of both, and one that stands in a single round is of
another of its runs. So who knows the runs of both may tell models that neither plan tells alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from evaluations.facts.known_models import OfRound, of_known_models
from evaluations.facts.looks import hold, refuse_who_knows
from evaluations.models import BlindAnswer, Look, MarkingRound, RoundTeacher, Slot
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput

BATCH = 1000


def refuse_teachers(marking_round: MarkingRound, teachers: Collection[int]) -> None:
    """Raise BadInput for a teacher who knows models or marks of a round, or can tell them.

    In a practice round they may know what is marked in it.
    """
    if not marking_round.practice:
        refuse_who_knows(marking_round, teachers)
    refuse_who_can_tell(marking_round, teachers)


def refuse_who_can_tell(marking_round: MarkingRound, teachers: Collection[int]) -> None:
    """Raise BadInput for one of *teachers* to whom the plans of rounds tell models together.

    That is who planned *marking_round* or saw its plan, and knows as much of rounds that have begun
    with them as a teacher and ask the same questions. Practice rounds among themselves tell nothing
    that counts.
    """
    hold(teachers)
    looked = Look.objects.filter(round=marking_round, person__in=teachers)
    knowing = Q(pk=marking_round.created_by_id) | Q(pk__in=looked.values("person"))
    for person in User.objects.filter(knowing, pk__in=teachers).order_by("pk"):
        others = list(_others(marking_round, person))
        if all(one.practice for one in (marking_round, *others)):
            continue
        if others and _tell(marking_round, others):
            words = _(
                "%(name)s knows which runs this round and “%(other)s” were made of, and could tell "
                "models by the responses that stand in both. Leave them out, choose the same runs, "
                "or plan a round of other questions."
            )
            values = {"name": person, "other": others[0].name}
            raise BadInput(words % values, code="planned")


def _others(marking_round: MarkingRound, person: User) -> QuerySet[MarkingRound]:
    """Rounds with one of the questions that have begun with *person* as a teacher who knows them.

    That is who planned them or looked at them.
    """
    looked = Look.objects.filter(person=person, round=OuterRef("pk"))
    taught = RoundTeacher.objects.filter(teacher=person, round=OuterRef("pk"))
    begun = Slot.objects.filter(answer__round=OuterRef("pk"))
    asked = BlindAnswer.objects.filter(round=marking_round).order_by().values("question")
    shared = BlindAnswer.objects.filter(round=OuterRef("pk"), question__in=asked)
    rounds = MarkingRound.objects.filter(Q(created_by=person) | Exists(looked))
    rounds = rounds.filter(Exists(taught), Exists(begun), Exists(shared))
    return rounds.exclude(pk=marking_round.pk).order_by("pk")


def _tell(marking_round: MarkingRound, others: Collection[MarkingRound]) -> bool:
    """Whether the rounds in which a text stands tell the model of a response (``OfRound``).

    Only questions of *marking_round* that another one has too are looked at, and no response that a
    plan does not name: one that was taken from a closed round as a seed answer.
    """
    keys = [marking_round.pk, *(one.pk for one in others)]
    answers = BlindAnswer.objects.exclude(seed_answer__taken_from__isnull=False).order_by()
    own = answers.filter(round=marking_round).values("question")
    both = answers.filter(round__in=keys[1:], question__in=own).values("question")
    columns = ("response", "round", "revision", "response__run__language_model", "empty")
    found = answers.filter(round__in=keys, question__in=both)
    rows = found.annotate(empty=Q(response__text="")).values_list(*columns)
    stands_in: dict[int, set[int]] = defaultdict(set)
    facts: dict[int, tuple[int, int, bool]] = {}
    for response, round_, revision, model, empty in rows.iterator(chunk_size=BATCH):
        stands_in[response].add(round_)
        facts[response] = (revision, model, empty)
    return bool(
        of_known_models(
            OfRound(response, (revision, frozenset(stands_in[response])), model, empty)
            for response, (revision, model, empty) in facts.items()
        )
    )
