"""Planning a round: what is marked is frozen and hidden under aliases; nobody marks yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.facts.looks import PLAN, record_views
from evaluations.facts.several_plans import refuse_teachers
from evaluations.marking.rounds.rules.aliases import draw_numbers, highest_alias
from evaluations.marking.rounds.selectors.round_choice import (
    Contents,
    ResponseChoice,
    contents_of,
    responses_of_known_models,
)
from evaluations.marking.rounds.services.round_settings import (
    RoundSettings,
    check_name,
    check_people,
    check_planner,
    check_responses,
    check_settings,
    tolerance_of,
)
from evaluations.marking.rules.blinding import alias
from evaluations.marking.rules.drawing import shuffled
from evaluations.marking.rules.seed_answers import repeats_due
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    FinalMarkSource,
    MarkingNotes,
    MarkingRound,
    Response,
    RoundTeacher,
    Run,
    SeedAnswer,
)
from evaluations.models.vocabulary import AnswerRole, RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.plain_number import plain
from gradeapp.common.random_seeds import new_seed
from gradeapp.common.refusals import OtherRequest
from gradeapp.common.submission_keys import made_once

BATCH = 1000
FINEST = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class MadeBy:
    """The key of the form or request that makes a round, and the hash of all that one asks for."""

    form_key: UUID | None = None
    request_hash: str = ""


NO_KEY = MadeBy()


def plan_round_once(
    form_key: UUID, settings: RoundSettings, *, request_hash: str = "", **given: Any
) -> MarkingRound:
    """Plan a round as ``plan_round`` does; a form that is sent again gives the round it made.

    *form_key* is that of the form as it was opened, also where it is sent several times at once,
    or of a request with an idempotency key, whose *request_hash* is that of all it asks for.
    Raises OtherRequest if the key came with another request.
    """
    rounds = MarkingRound.objects.filter(form_key=form_key)
    made_by = MadeBy(form_key, request_hash)
    made = made_once(rounds, lambda: plan_round(settings, made_by=made_by, **given))
    check_same_request(made, request_hash)
    return made


def check_same_request(made: MarkingRound, request_hash: str) -> None:
    """Raise OtherRequest if the round was *made* with its key by a request of another hash."""
    if made.request_hash != request_hash:
        sentence = _(
            "The round %(name)s was made with this idempotency key, and by another request. Use a "
            "new key for another round."
        )
        raise OtherRequest(sentence % {"name": made.name})


def plan_round(
    settings: RoundSettings,
    *,
    responses: ResponseChoice,
    teachers: Sequence[User],
    acting_user: User | None,
    now: datetime | None = None,
    made_by: MadeBy = NO_KEY,
) -> MarkingRound:
    """Plan a round: freeze what is marked, under which key, rubric and tolerance.

    Every response gets an alias in shuffled order. Seed answers that were taken
    from closed rounds have their reference mark; the others wait for the lead's.
    Who marks what is laid down when the round starts. Where *acting_user* marks too, the hidden
    seed is drawn if there is none. Raises BadInput with one sentence where the round could not
    work, or, except in a practice round, where *acting_user* would mark responses whose
    model their runs tell, or one of *teachers* responses that they pasted
    themselves or saw the model or marks of; and for who ``refuse_who_can_tell``.
    """
    marks_too = acting_user in teachers
    if marks_too and settings.hidden_seed is None:
        settings = replace(settings, hidden_seed=new_seed())
    contents = contents_of(responses, settings.seeds, settings.random_seed, settings.hidden_seed)
    one_more = settings.judge_check_share is not None
    check_people(teachers, settings.scheme, one_more=one_more)
    check_settings(settings, now)
    check_name(settings.name, responses)
    check_responses([*contents.answers, *contents.premarked], contents.rubrics, responses)
    with transaction.atomic():
        if acting_user is not None:
            refuse = marks_too and not settings.practice
            _keep_what_is_known(contents, acting_user, refuse=refuse)
        made = MarkingRound.objects.create(
            dataset_id=Run.objects.values_list("dataset", flat=True).get(
                pk=contents.answers[0].run_id
            ),
            status=RoundStatus.PLANNED,
            created_by=acting_user,
            form_key=made_by.form_key,
            request_hash=made_by.request_hash,
            **settings.columns(),
        )
        RoundTeacher.objects.bulk_create(
            RoundTeacher(round=made, teacher=teacher) for teacher in teachers
        )
        if made.marking_notes:
            first = MarkingNotes(round=made, number=1, text=made.marking_notes, author=acting_user)
            first.save()
        _freeze(made, contents, len(teachers))
        refuse_teachers(made, [teacher.pk for teacher in teachers])
        detail = {
            "choice": asdict(responses),
            "responses": len(contents.answers),
            "seeds": len(contents.taken) + len(contents.premarked),
            "teachers": [str(teacher) for teacher in teachers],
            **settings.noted(),
        }
        record(Tag.ROUND_PLANNED, made, actor=acting_user, **detail)
    return made


def _keep_what_is_known(contents: Contents, planner: User, *, refuse: bool) -> None:
    """Keep a look of *planner* at each response whose model the chosen runs tell.

    Raises BadInput if there are any and *refuse* is set.
    """
    chosen = [*contents.answers, *contents.premarked]
    known = responses_of_known_models(chosen)
    if refuse:
        check_planner(planner, known, len(chosen))
    record_views(known, acting_user=planner, page=PLAN)


def highest_alias_of(made: MarkingRound, answers: int, teachers: int) -> int:
    """The highest number of an alias in a round of so many *answers* and *teachers*."""
    marks = answers * Scheme(made.scheme).planned_marks
    each = repeats_due(-(-marks // max(teachers, 1)), made.repeat_share)
    return highest_alias(answers, each * teachers)


def _freeze(made: MarkingRound, contents: Contents, teachers: int) -> None:
    """The responses under aliases whose order says nothing of the run they come from."""
    known = [final.answer.response for final in contents.taken]
    responses = [*contents.answers, *contents.premarked, *known]
    seeds = {response.pk for response in (*contents.premarked, *known)}
    numbers = _numbers(made, responses, teachers)
    answers = BlindAnswer.objects.bulk_create(
        [
            _blind_answer(made, response, contents, alias(numbers[response.pk]), seeds)
            for response in responses
        ],
        batch_size=BATCH,
    )
    SeedAnswer.objects.bulk_create(_references(answers, contents.taken), batch_size=BATCH)


def _numbers(made: MarkingRound, responses: Sequence[Response], teachers: int) -> dict[int, int]:
    """The number behind each response's alias."""
    order = shuffled((response.pk for response in responses), made.lots_seed, "alias")
    highest = highest_alias_of(made, len(responses), teachers)
    drawn = draw_numbers(len(order), highest, (), made.lots_seed, "alias number")
    return {int(key): number for key, number in zip(order, sorted(drawn), strict=True)}


def _blind_answer(
    made: MarkingRound, response: Response, contents: Contents, name: str, seeds: set[int]
) -> BlindAnswer:
    full_marks = response.revision.full_marks
    return BlindAnswer(
        round=made,
        response=response,
        question_id=response.question_id,
        revision_id=response.revision_id,
        rubric=contents.rubrics.get(response.question_id),
        role=AnswerRole.SEED if response.pk in seeds else AnswerRole.ANSWER,
        alias=name,
        full_marks=full_marks,
        tolerance=tolerance_of(made, contents.task_of[response.question_id], full_marks),
    )


def _references(answers: Sequence[BlindAnswer], finals: Sequence[FinalMark]) -> list[SeedAnswer]:
    """The final marks of other rounds as references; with their points where they are known."""
    final_of = {final.answer.response_id: final for final in finals}
    sources = FinalMarkSource.objects.filter(final__in=finals).order_by("place")
    points = defaultdict(list)
    for source in sources.prefetch_related("mark__points"):
        points[source.final_id].append([point.points for point in source.mark.points.all()])
    found = []
    for answer in answers:
        if final := final_of.get(answer.response_id):
            same = final.answer.rubric_id == answer.rubric_id
            given = _means(points[final.pk]) if same else []
            found.append(
                SeedAnswer(answer=answer, total=final.value, points=given, taken_from=final)
            )
    return found


def _means(rows: Sequence[Sequence[Decimal]]) -> list[str]:
    """What the marks give to each scoring point on average; empty where none has points."""
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        return []
    means = (sum(column, Decimal(0)) / len(rows) for column in zip(*rows, strict=True))
    return [plain(mean.quantize(FINEST)) for mean in means]
