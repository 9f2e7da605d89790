"""Who saw what those who mark may not see: kept as looks, asked before somebody marks.

A look is kept whether or not a round over the responses exists: somebody may plan one later.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat
from django.utils.translation import gettext as _

from evaluations.facts.known_models import OfRound, of_known_models
from evaluations.models import (
    BlindAnswer,
    Job,
    Look,
    MarkingRound,
    Response,
    RoundTeacher,
    Run,
)
from evaluations.models.vocabulary import NOT_CLOSED, AnswerRole, RunPurpose, RunStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput
from questions.models import QuestionRevision
from questions.rules.vocabulary import Part, QuestionType

# A figure of fewer marked responses tells about each of them: a look at it is one at them.
SMALL_CELL = 5
BATCH = 1000
T = TypeVar("T")
# Responses that people mark. The part of a question may change for a while, by an import.
SUBJECTIVE_TYPES = [one.value for one in QuestionType if one.part is Part.SUBJECTIVE]
MARKED = Q(question__part=Part.SUBJECTIVE) | Q(revision__question_type__in=SUBJECTIVE_TYPES)
# A run in one of these states may get more responses at any time.
GOES_ON = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.STOPPING, RunStatus.PAUSED)
# Pages of looks at a run by whoever brought its answers in.
PASTED, IMPORTED = "pasted", "imported"
# Page of looks at a round that is planned: who sees its random seed learns no model and no mark.
PLAN = "plan"


def record_view(marking_round: MarkingRound, *, acting_user: User, page: str) -> None:
    """Write down that somebody looked at what markers may not see, on a page of the round."""
    record_rounds([marking_round], acting_user=acting_user, page=page)


def record_rounds(rounds: Collection[MarkingRound], *, acting_user: User, page: str) -> None:
    """Write down that somebody saw marks or models of *rounds*; one entry in the audit trail."""
    if not rounds:
        return
    keys = sorted({one.pk for one in rounds})
    _keep_rounds(keys, acting_user, page)
    if page == PLAN:
        _keep_of_known_models(keys, acting_user)
    _note(keys, acting_user, page)


def _keep_of_known_models(rounds: Collection[int], person: User) -> None:
    """Keep looks at the responses whose model the plan of their round tells.

    It names the models of a round, seed answers apart (``of_known_models``).
    """
    answers = BlindAnswer.objects.exclude(role=AnswerRole.SEED).filter(round__in=rounds).order_by()
    columns = ("response", "round", "revision", "response__run__language_model", "empty")
    rows = answers.annotate(empty=Q(response__text="")).values_list(*columns)
    known = of_known_models(
        OfRound(response, (of_round, revision), model, empty)
        for response, of_round, revision, model, empty in rows.iterator(chunk_size=BATCH)
    )
    record_views(known, acting_user=person, page=PLAN)


def note_round_taken(marking_round: MarkingRound, *, acting_user: User) -> None:
    """Keep that somebody takes marks of a round away; the caller records the export."""
    _keep_rounds([marking_round.pk], acting_user, "export")


def note_round_changed(marking_round: MarkingRound, *, acting_user: User) -> None:
    """Keep that somebody changes a round: what is answered tells of its marks, also a refusal.

    The caller records the change.
    """
    _keep_rounds([marking_round.pk], acting_user, "change")


def record_views(responses: Collection[int], *, acting_user: User, page: str) -> None:
    """Write down that somebody saw the models or the marks of *responses* outside of a round.

    Objective responses, which nobody marks, are left out. The audit trail gets one entry if there
    is a round with one of them that is not closed.
    """
    seen = sorted({one for one in responses if one > 0})  # a failed call has no response
    rounds: set[int] = set()
    for some in in_batches(seen):
        own = Look.objects.filter(person=acting_user, response=OuterRef("pk"))
        new = Response.objects.filter(
            MARKED,
            ~Exists(own),
            pk__in=some,
            run__purpose=RunPurpose.ANSWER,
        )
        keys = new.order_by("pk").values_list("pk", flat=True)
        _keep([Look(person=acting_user, response_id=key, page=page[:40]) for key in keys])
        live = MarkingRound.objects.filter(status__in=NOT_CLOSED, answers__response__in=some)
        rounds.update(live.values_list("pk", flat=True))
    if rounds:
        _note(sorted(rounds), acting_user, page, outside=True)


def record_calls(jobs: QuerySet[Job], *, acting_user: User, page: str) -> None:
    """Write down that somebody saw what *jobs* asked or brought.

    That is the response which a job judged or read, and the one that came of it. Where the first of
    two steps brought a text and no response is stored yet, it is a look at the run.
    """
    jobs = jobs.order_by()
    same = {"run__responses__question": F("question"), "run__responses__repeat": F("repeat")}
    brought = jobs.filter(**same).values_list("run__responses", flat=True)
    asked = jobs.filter(response__isnull=False).values_list("response", flat=True)
    record_views({*brought, *asked}, acting_user=acting_user, page=page)
    steps = jobs.filter(Q(step_reply__isnull=False) | Q(waits_for__step_reply__isnull=False))
    stored = Response.objects.filter(
        run=OuterRef("run"), question=OuterRef("question"), repeat=OuterRef("repeat")
    )
    begun = steps.filter(~Exists(stored), run__purpose=RunPurpose.ANSWER).values_list("run")
    record_runs({run for (run,) in begun.distinct()}, acting_user=acting_user, page=page)


def record_runs(runs: Iterable[int], *, acting_user: User | None, page: str) -> None:
    """Keep that somebody knows what all responses of *runs* are, or took them away.

    The caller has recorded in the audit trail what they did.
    """
    if acting_user is not None:
        _keep([Look(person=acting_user, run_id=run, page=page[:40]) for run in sorted(set(runs))])


def record_scope(rows: QuerySet[Response], *, acting_user: User, page: str) -> None:
    """Write down that somebody asked for single responses among *rows*, whatever was found.

    That a response is not in a list tells about it too, so it is a look at each run that has a
    subjective one of *rows*, which no filter on what is told (text, outcome, mark) narrows. The
    audit trail gets one entry if there is a round with one of them that is not closed. Two queries,
    and one more if a run is new.
    """
    rows = rows.filter(MARKED, run__purpose=RunPurpose.ANSWER).order_by()
    known = Look.objects.filter(person=acting_user, run=OuterRef("pk"))
    new = Run.objects.filter(~Exists(known), Exists(rows.filter(run=OuterRef("pk"))))
    record_runs(new.values_list("pk", flat=True), acting_user=acting_user, page=page)
    in_round = Exists(rows.filter(blind_answers__round=OuterRef("pk")))
    live = MarkingRound.objects.filter(in_round, status__in=NOT_CLOSED).order_by("pk")
    if rounds := list(live.values_list("pk", flat=True)):
        _note(rounds, acting_user, page, outside=True)


def record_figures(run: Run, *, acting_user: User, page: str) -> bool:
    """Write down that somebody saw costs, times and counts of *run*, or of what it judged or read.

    Of fewer than ``SMALL_CELL`` responses, and of what came since the last look at a run that goes
    on, they tell how long each is and how it ended: that is a look at the run, and at responses of
    a task where there are fewer. One query once the run is looked at: returns whether it is. An
    imported run has no such figures.
    """
    if run.status == RunStatus.IMPORTED:
        return False
    asked = run.judged_run_id or run.pk
    if Look.objects.filter(person=acting_user, run=asked).exists():
        return True
    marked = Response.objects.filter(MARKED, run=asked, run__purpose=RunPurpose.ANSWER).order_by()
    if run.status in GOES_ON or marked[:SMALL_CELL].count() < SMALL_CELL:
        record_scope(marked, acting_user=acting_user, page=page)
        return True
    by_task = marked.values("question__task").annotate(n=Count("pk")).filter(n__lt=SMALL_CELL)
    few = marked.filter(question__task__in=by_task.values("question__task"))
    record_views(list(few.values_list("pk", flat=True)), acting_user=acting_user, page=page)
    return False


def in_small_cells(pairs: Iterable[tuple[Hashable, int]]) -> set[int]:
    """Return the responses in cells of fewer than ``SMALL_CELL`` of them.

    *pairs* are cells of a table, each with the key of a response that its figure is about.
    """
    cells: dict[Hashable, set[int]] = {}
    for cell, response in pairs:
        cells.setdefault(cell, set()).add(response)
    return {one for own in cells.values() if len(own) < SMALL_CELL for one in own}


def refuse_who_looked(marking_round: MarkingRound, teachers: Collection[User]) -> None:
    """Raise BadInput for who saw marks or models of a round, or, unless it is practice, of what
    is marked in it.
    """
    looks = [Look.objects.filter(round=marking_round)]
    if not marking_round.practice:
        looks += _of_responses(marking_round)
    words = _(
        "%(name)s has looked at responses or marks of questions of this round and cannot mark in "
        "it. Leave them out, or plan another round for them, of other questions."
    )
    _refuse(looks, [one.pk for one in teachers], words)


def refuse_who_knows(marking_round: MarkingRound, teachers: Collection[int]) -> None:
    """Raise BadInput for a teacher who saw models or marks of responses of a round, or pasted them.

    Its own pages show no models and no marks before it starts.
    """
    words = _(
        "%(name)s has looked at responses or marks of questions of this round and cannot mark in "
        "it. Plan a round without them, or one of other questions."
    )
    _refuse(_of_responses(marking_round), teachers, words)


def refuse_who_marks(responses: Collection[int], people: Collection[int]) -> None:
    """Raise BadInput for one of *people* who is to see *responses* and marks the same questions.

    That is as a teacher of a round that is not closed, practice apart: the rule of
    ``refuse_who_knows`` where the round was there first.
    """
    hold(people)
    teachers = RoundTeacher.objects.filter(teacher__in=people, left_at=None, round__practice=False)
    teachers = teachers.filter(round__status__in=NOT_CLOSED).select_related("teacher")
    for one in teachers.order_by("pk"):
        answers = BlindAnswer.objects.filter(round=one.round_id).order_by()
        asked = Response.objects.filter(question__in=_with_same_text(answers))
        if any(asked.filter(pk__in=some).exists() for some in in_batches(list(responses))):
            words = _(
                "%(name)s marks responses to questions of this analysis in a round that is not "
                "closed, and reviewers see marks. Choose other reviewers, or close the round first."
            )
            raise BadInput(words % {"name": one.teacher}, code="marks")


def hold(people: Collection[int]) -> None:
    """Let whoever gives one of *people* something to mark or to see meanwhile wait, until the end.

    Called after what is given is stored and before what speaks against it is read, so that of two
    at one moment the second finds what the first stored.
    """
    rows = User.objects.select_for_update(no_key=True).filter(pk__in=people)
    list(rows.order_by("pk").values_list("pk"))


def _refuse(looks: Iterable[QuerySet[Look]], people: Collection[int], words: str) -> None:
    """Raise BadInput, in *words*, if one of *people* has one of *looks*."""
    hold(people)
    found = (some.filter(person__in=people).select_related("person").first() for some in looks)
    if not (look := next(filter(None, found), None)):
        return
    if brought := look.page in (PASTED, IMPORTED):
        words = _(
            "%(name)s has pasted or imported answers of this round, knows their model and cannot "
            "mark in it."
        )
    raise BadInput(words % {"name": look.person}, code="pasted" if brought else "looked")


def _of_responses(marking_round: MarkingRound) -> list[QuerySet[Look]]:
    """Return the looks at other responses, or at marks, of the questions of a round.

    Whoever knows what some models answered to a question can tell the others by elimination, so it
    does not matter which of its responses they saw. A look at another round with one of the
    questions counts whatever its state, because marks may be returned later and pages show more
    than marks: references of seed answers, models, what a judge opened. One at a plan does not. A
    question is one wherever it stands in the bank with the same text.
    """
    asked = _with_same_text(BlindAnswer.objects.filter(round=marking_round).order_by())
    others = BlindAnswer.objects.filter(question__in=asked).exclude(round=marking_round).order_by()
    answered = Response.objects.filter(run=OuterRef("run"), question__in=asked)
    return [
        Look.objects.filter(round__in=others.values("round").distinct()).exclude(page=PLAN),
        Look.objects.filter(response__question__in=asked),
        Look.objects.filter(Exists(answered), run__isnull=False),
    ]


def _with_same_text(answers: QuerySet[BlindAnswer]) -> QuerySet[Any, Any]:
    """The questions of *answers*, and those of which a revision has the text of one of theirs."""
    whole = Concat("passage", Value("\n"), "stem", output_field=TextField())
    revisions = QuestionRevision.objects.annotate(whole_text=whole).order_by()
    own = revisions.filter(question__in=answers.values("question"))
    return revisions.filter(whole_text__in=own.values("whole_text")).values("question")


def _keep_rounds(rounds: Collection[int], person: User, page: str) -> None:
    """Store looks at *rounds*; one at the plan becomes one at what the *page* shows."""
    _keep([Look(person=person, round_id=key, page=page[:40]) for key in rounds])
    if page != PLAN:
        Look.objects.filter(person=person, round__in=rounds, page=PLAN).update(page=page[:40])


def _keep(looks: Collection[Look]) -> None:
    """Store *looks*; one of the same person at the same thing stays as it is."""
    if looks:
        Look.objects.bulk_create(looks, ignore_conflicts=True, batch_size=BATCH)


def _note(rounds: Sequence[int], acting_user: User, page: str, *, outside: bool = False) -> None:
    """Record one look at *rounds*; of several, the entry names them in its details."""
    detail: dict[str, object] = {"page": page} | ({"outside": True} if outside else {})
    target = f"markinground:{rounds[0]}" if len(rounds) == 1 else "marking rounds"
    if len(rounds) > 1:
        detail["rounds"] = list(rounds)
    record(Tag.ROUND_VIEWED, target, actor=acting_user, **detail)


def in_batches(keys: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield *keys* in pieces of ``BATCH``, as many as one statement takes."""
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]
