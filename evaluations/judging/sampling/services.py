"""Plan a sample, draw it and open its round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.facts.looks import record_rounds, record_runs, refuse_who_looked
from evaluations.judging.sampling.selectors import (
    SampleState,
    chain_of,
    drawn_questions,
    fitness_of,
    rows_of,
    state_of,
)
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.round_planning import NO_KEY, MadeBy, check_same_request
from evaluations.marking.rounds.services.rounds import open_round
from evaluations.marking.rules.drawing import shuffled
from evaluations.models import Judge, MarkingSample, Run
from evaluations.schemes import Scheme
from evaluations.statistics.sample_plan import Stratum, needed, planned
from evaluations.statistics.total_estimate import SampledRow, of_stream, strata_of
from gradeapp.accounts.models import User
from gradeapp.common.random_seeds import new_seed
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.submission_keys import made_once
from questions.rules.vocabulary import Stream

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SampleWish:
    """What is to be known: the totals of *streams* within *half_width* points, of *run*."""

    run: Run
    judge: Judge | None
    streams: tuple[Stream, ...]
    half_width: Decimal


def wish_of(sample: MarkingSample) -> SampleWish:
    """Return what *sample* was made for."""
    streams = tuple(Stream(stream) for stream in sample.streams)
    return SampleWish(sample.run, sample.judge, streams, sample.half_width)


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """A stratum, and the questions that are wanted in all.

    Of them ``drawn`` are marked already or wait for their final mark.
    """

    stratum: Stratum
    wanted: int
    drawn: int = 0

    @property
    def next(self) -> int:
        """How many questions are drawn now."""
        return self.wanted - self.drawn

    @property
    def waiting(self) -> int:
        """How many questions were drawn before and wait for their final mark."""
        return self.drawn - self.stratum.marked

    def as_dict(self) -> dict[str, object]:
        """Return what is stored with the sample: subject, task, questions, and how many drawn."""
        own = self.stratum
        names = {"subject": own.subject, "task": own.task}
        return {**names, "questions": own.units, "drawn": self.wanted}


@dataclass(frozen=True, slots=True)
class Planned:
    """What to mark: strata, all questions, and how many would be needed without a judge."""

    strata: tuple[PlannedStratum, ...]
    without_judge: int
    reason: str

    @property
    def size(self) -> int:
        """The questions wanted in all, those marked before included."""
        return sum(one.wanted for one in self.strata)

    @property
    def next(self) -> int:
        """The questions that are drawn now."""
        return sum(one.next for one in self.strata)

    @property
    def drawn(self) -> int:
        """The questions that are marked already or wait for their final mark."""
        return sum(one.drawn for one in self.strata)

    @property
    def questions(self) -> int:
        """All questions."""
        return sum(one.stratum.units for one in self.strata)


def plan_sample(wish: SampleWish, state: SampleState | None = None) -> Planned:
    """Return how many questions of each stratum to mark, so that every stream is known well enough.

    With a *state* the plan goes on from it: deviations are scaled by what its marks showed, and
    questions that wait for their final mark are counted on. Raises BadInput for a wish that cannot
    be, and where there is nothing to mark.
    """
    possible = wish.half_width.is_finite() and 0 < wish.half_width <= 100
    if not wish.streams or not possible:
        raise BadInput(_("Choose a stream and a half width above 0 and up to 100 points."))
    fitness = fitness_of(wish.judge, wish.run) if wish.judge else None
    rows = list(state.rows) if state else rows_of(wish.run, wish.judge)
    wanted: dict[Key, int] = {}
    lines: dict[Key, Stratum] = {}
    waiting = _waiting(rows, state)
    without = 0
    for stream in wish.streams:
        own = strata_of(of_stream(rows, stream))
        if not own:
            continue
        correlation = fitness.correlation if fitness else 0.0
        scale = _shown_by(state, stream, own, correlation) if state else 1.0
        own = [replace(one, deviation=scale * one.deviation) for one in own]
        drawn = [replace(one, marked=one.marked + waiting[one.subject, one.task]) for one in own]
        plan = needed(drawn, float(wish.half_width), correlation=correlation)
        without = max(without, needed(drawn, float(wish.half_width)).size)
        for one, n in zip(own, plan.drawn, strict=True):
            key = one.subject, one.task
            lines[key] = one
            wanted[key] = max(wanted.get(key, 0), n)
    if not wanted:
        raise BadInput(_("The run has no subjective responses of these streams."))
    strata = tuple(
        PlannedStratum(lines[key], wanted[key], lines[key].marked + waiting[key])
        for key in sorted(wanted)
    )
    size = sum(one.wanted for one in strata)
    return Planned(strata, max(without, size), fitness.reason if fitness else "without_judge")


def _waiting(rows: Sequence[SampledRow], state: SampleState | None) -> Counter[Key]:
    """Return how many questions of each stratum wait for their final mark."""
    waiting = state.waiting if state else frozenset()
    found = {(row.subject, row.task, row.question) for row in rows if row.question in waiting}
    return Counter((subject, task) for subject, task, _question in found)


def _shown_by(
    state: SampleState, stream: Stream, own: Sequence[Stratum], correlation: float
) -> float:
    """Return how many times wider the interval is than was planned for the marks there are."""
    total = next((one for one in state.totals if one.stream == stream), None)
    figure = None
    if total is not None:
        figure = total.human_only if total.aided.value is None else total.aided
    if figure is None or figure.low is None or figure.high is None:
        return 1.0
    expected = planned(own, total.marked if total else 0, correlation=correlation).half_width
    return (figure.high - figure.low) / 2 / expected if expected > 0 else 1.0


def open_sample_once(
    form_key: UUID, wish: SampleWish, *, request_hash: str = "", **given: Any
) -> MarkingSample:
    """Open a sample as ``open_sample`` does; the same key, that of its round, gives the same one.

    See ``plan_round_once``. Raises OtherRequest if the key came with another request.
    """
    made_by = MadeBy(form_key, request_hash)
    found = MarkingSample.objects.filter(round__form_key=form_key)
    made = made_once(found, lambda: open_sample(wish, made_by=made_by, **given))
    check_same_request(made.round, request_hash)
    return made


@transaction.atomic
def open_sample(
    wish: SampleWish,
    *,
    name: str,
    teachers: Sequence[User],
    scheme: Scheme,
    acting_user: User | None,
    follows: MarkingSample | None = None,
    random_seed: int | None = None,
    made_by: MadeBy = NO_KEY,
) -> MarkingSample:
    """Draw a sample and open a round for it; *follows* is the last sample of a chain.

    A chain may be extended while its rounds are going on: the questions that wait for their final
    mark are counted on. Those of a closed round without one are drawn again first, so that what is
    marked stays a random sample. Raises BadInput where the round could not work, or for *teachers*
    who know the model: who chose the run now or for an earlier part of the chain, or looked at its
    marks or estimates. Raises Conflict where nothing is left to mark, or where the chain has been
    extended meanwhile.
    """
    _refuse_who_chose([acting_user], teachers)
    random_seed = new_seed() if random_seed is None else random_seed
    parts: tuple[MarkingSample, ...] = ()
    state = None
    if follows is not None:
        MarkingSample.objects.select_for_update().get(pk=follows.pk)
        parts = _chain_to(follows)
        _refuse_who_chose([part.created_by for part in parts], teachers)
        for part in parts:
            refuse_who_looked(part.round, teachers)
        state = state_of(parts[0])
        if parts[-1] != follows:
            raise Conflict(_("The sample was extended meanwhile. Open its page again."))
    plan = plan_sample(wish, state)
    if not plan.next:
        raise Conflict(_("No further question has to be marked."))
    rows = list(state.rows) if state else rows_of(wish.run, wish.judge)
    left = state.left if state else frozenset()
    drawn = draw(plan, rows, drawn_questions(parts) - left, random_seed, first=left)
    made = open_round(
        responses=ResponseChoice(runs=(wish.run.pk,), questions=tuple(drawn)),
        teachers=teachers,
        acting_user=acting_user,
        name=name,
        random_seed=random_seed,
        hidden_seed=new_seed(),
        scheme=scheme,
        made_by=made_by,
    )
    return MarkingSample.objects.create(
        run=wish.run,
        judge=wish.judge,
        round=made,
        follows=follows,
        streams=[stream.value for stream in wish.streams],
        half_width=wish.half_width,
        strata=[one.as_dict() for one in plan.strata],
        random_seed=random_seed,
        created_by=acting_user,
    )


def _refuse_who_chose(people: Sequence[User | None], teachers: Sequence[User]) -> None:
    """Raise BadInput if one of *people*, who chose the run, is among *teachers*."""
    for person in people:
        if person in teachers:
            raise BadInput(
                _(
                    "%(name)s chose the run of this sample and knows the model,"
                    " so cannot mark in it."
                )
                % {"name": person},
                code="planned",
            )


def note_look_at_samples(found: Iterable[MarkingSample], *, acting_user: User, page: str) -> None:
    """Write down that somebody saw estimates of samples: they cannot mark in the next part.

    *found* are the first of their chains. A look is kept for each round of a chain that was
    started, closed or not; the audit trail gets one entry.
    """
    rounds = [part.round for sample in found for part in chain_of(sample)]
    record_rounds(rounds, acting_user=acting_user, page=page)


def plan_for(wish: SampleWish, *, acting_user: User) -> Planned:
    """Return the plan of *wish* for somebody who from then on knows its run, and what it spreads.

    They cannot mark responses of the run. Raises BadInput as ``plan_sample`` does.
    """
    plan = plan_sample(wish)
    record_runs([wish.run.pk], acting_user=acting_user, page="sample plan")
    return plan


def draw(
    plan: Planned,
    rows: Sequence[SampledRow],
    taken: set[int],
    random_seed: int,
    *,
    first: Collection[int] = (),
) -> list[int]:
    """Return the questions that are drawn now, each of a stratum with the same chance.

    None of *taken* is drawn; those of *first*, which were drawn before, come before the others.
    """
    drawn: list[int] = []
    for one in plan.strata:
        key = one.stratum.subject, one.stratum.task
        left = {row.question for row in rows if (row.subject, row.task) == key} - taken
        order = shuffled(sorted(left), random_seed, f"sample {key}")
        numbers = sorted((int(question) for question in order), key=lambda one: one not in first)
        drawn += numbers[: one.next]
    return drawn


def _chain_to(sample: MarkingSample) -> tuple[MarkingSample, ...]:
    """Return the whole chain that *sample* belongs to."""
    first = sample
    while first.follows is not None:
        first = first.follows
    return chain_of(first)
