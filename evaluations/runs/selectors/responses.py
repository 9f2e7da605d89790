"""Queries of responses: the list of a run, and one response with its readings and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, zip_longest
from uuid import UUID

from django.db.models import F, OuterRef, Prefetch, QuerySet, Subquery

from evaluations.models import (
    Extraction,
    Job,
    Judgement,
    ObjectiveScore,
    Response,
    Run,
    StepReply,
    key_under,
)
from evaluations.runs.kinds import kind_of
from evaluations.runs.rules.option_order import as_printed
from evaluations.statistics.policies import Policy
from questions.models import QuestionRevision

# A page shows this many characters at both ends of a piece, and this many pieces.
SHOWN = 6_000
MOST_PIECES = 400
# The key of a sub-question by which a score was made, and the source's where it is another.
Keys = tuple[str, str | None]


@dataclass(frozen=True)
class Piece:
    """A piece of a response; ``number`` lists the sub-answers that were read in it.

    ``omitted`` is the number of characters that a page leaves out.
    """

    text: str
    number: str = ""
    omitted: int = 0


@dataclass(frozen=True)
class SubAnswer:
    """One sub-answer with the key that scores it; ``points`` is None without a score.

    ``answer`` has the printed letters, ``read`` those of the response where the options were shown
    in another order. ``original`` is the key of the source where a repaired one scores.
    """

    number: int
    read: str | None
    answer: str | None
    key: str
    original: str | None
    points: Decimal | None
    full: Decimal


@dataclass(frozen=True)
class Reading:
    """The reading of a response under one policy, its place in the text, and its points."""

    policy: Policy
    extraction: Extraction
    score: ObjectiveScore | None
    pieces: Sequence[Piece]
    sub_answers: Sequence[SubAnswer]


def response_list() -> QuerySet[Response]:
    """Return responses with what a list shows: the strict score and the newest judgement."""
    counting = Judgement.objects.counting().filter(
        response=OuterRef("pk"), judge__suspended_at=None
    )
    judged = counting.order_by("-id")  # of several judges the last one
    listed = Response.objects.select_related(
        "question__task__dataset", "revision", "attempt", "run__language_model", "suggestion"
    )
    # A reply can have a megabyte, which is in its body once more.
    return listed.defer("reasoning", "attempt__body").annotate(
        outcome=F("strict_score__outcome"),
        points=F("strict_score__points"),
        judge_status=Subquery(judged.values("status")[:1]),
        judge_total=Subquery(judged.values("total")[:1]),
    )


def responses_of(run: Run) -> QuerySet[Response]:
    """Return the responses that are listed for *run* by its kind, in the order of the exam."""
    listed = kind_of(run).responses(run, response_list())
    return listed.order_by("question__task__slug", "question__position", "repeat")


def response_whole(public_id: UUID) -> Response | None:
    """Return one response with its judgements; None if there is none."""
    judgements = Judgement.objects.select_related("judge").order_by(
        "judge__name", "sample", "number"
    )
    return (
        Response.objects.select_related(
            *("run__language_model", "run__dataset", "question__task__dataset", "revision"),
            "strict_score__key_revision",
        )
        .prefetch_related(Prefetch("judgements", judgements))
        .filter(public_id=public_id)
        .first()
    )


def jobs_of(response: Response) -> list[Job]:
    """Return the jobs of *response* in the order of its steps, with their attempts and replies.

    An imported response has none.
    """
    related = ("step_reply", "revision", "question__task__dataset")
    jobs = Job.objects.prefetch_related("attempts").select_related(*related)
    same = jobs.filter(run=response.run, question=response.question, repeat=response.repeat)
    return list(same.order_by("step"))


def earlier_steps(responses: Sequence[Response]) -> dict[int, list[StepReply]]:
    """Return by response the replies to the steps before the last, in order; [] for most."""
    replies = (
        StepReply.objects.filter(
            job__run__in={one.run_id for one in responses},
            job__question__in={one.question_id for one in responses},
        )
        .select_related("job", "attempt")
        .order_by("job__step")
    )
    found: dict[tuple[int, int, int], list[StepReply]] = {}
    for reply in replies if responses else ():
        job = reply.job
        found.setdefault((job.run_id, job.question_id, job.repeat), []).append(reply)
    return {one.pk: found.get((one.run_id, one.question_id, one.repeat), []) for one in responses}


def readings_of(response: Response) -> list[Reading]:
    """Return the valid reading of *response* under each policy that has one.

    It is the reading of the current score, or the newest if there is no score.
    """
    newest = {one.policy: one for one in response.extractions.order_by("id")}
    current = (response.strict_score_id, response.published_score_id)
    with_score = ObjectiveScore.objects.filter(pk__in=[pk for pk in current if pk])
    related = ("extraction", "key_revision")
    scores = {one.policy: one for one in with_score.select_related(*related)}
    valid = newest | {policy: score.extraction for policy, score in scores.items()}
    letters = response.revision.letters
    full_marks = response.revision.decimal_sub_marks
    readings = []
    for policy in Policy:
        if (extraction := valid.get(policy)) is None:
            continue
        score = scores.get(policy)
        by_policy = keys_of(response, score, policy)
        points: Sequence[str | None] = score.sub_points if score else [None] * len(by_policy)
        answers = as_printed(extraction.answers, letters, response.option_order)
        given = [None if one is None else Decimal(one) for one in points]
        rows = zip(extraction.answers, answers, by_policy, given, full_marks, strict=False)
        sub_answers = [
            SubAnswer(number, read, answer, *own, point, full)
            for number, (read, answer, own, point, full) in enumerate(rows, 1)
        ]
        pieces = for_page(pieces_of(response.text, extraction.spans))
        readings.append(Reading(policy, extraction, score, pieces, sub_answers))
    return readings


def keys_of(response: Response, score: ObjectiveScore | None, policy: str) -> list[Keys]:
    """Return the keys by which *score* of *response* was made, its own without a score."""
    return keys_by(policy, (score and score.key_revision) or response.revision, response.revision)


def keys_by(policy: str, revision: QuestionRevision, answered: QuestionRevision) -> list[Keys]:
    """Return the keys of *revision* that *policy* scores by, beside the source's of *answered*."""
    keys = key_under(policy, revision)
    pairs = zip_longest(keys, answered.original_key[: len(keys)], fillvalue="")
    return [(key, None if original == key else original) for key, original in pairs]


def pieces_of(text: str, spans: Sequence[Sequence[int] | None]) -> list[Piece]:
    """Return *text* split at the evidence of its sub-answers, in order, without empty pieces.

    ``spans`` are [start, end] per sub-answer, or null. A piece in which several sub-answers were
    read lists all of them.
    """
    cuts = {0, len(text)}
    for span in spans:
        if span:
            cuts.update(min(max(edge, 0), len(text)) for edge in span)
    pieces = []
    for start, end in pairwise(sorted(cuts)):
        read = (
            n for n, span in enumerate(spans, 1) if span and span[0] <= start and end <= span[1]
        )
        pieces.append(Piece(text[start:end], ", ".join(map(str, read))))
    return pieces


def for_page(pieces: Sequence[Piece]) -> list[Piece]:
    """Return *pieces* with the middle of long ones, and the middle ones of very many, omitted.

    A browser needs a minute for a hundred thousand characters without a break.
    """
    if len(pieces) > MOST_PIECES:
        half = MOST_PIECES // 2
        left_out = sum(len(piece.text) for piece in pieces[half:-half])
        pieces = [*pieces[:half], Piece("", omitted=left_out), *pieces[-half:]]
    shown: list[Piece] = []
    for piece in pieces:
        left_out = len(piece.text) - 2 * SHOWN
        if left_out > 0:
            shown.append(Piece(piece.text[:SHOWN], piece.number))
            shown.append(Piece("", omitted=left_out))
            shown.append(Piece(piece.text[-SHOWN:], piece.number))
        else:
            shown.append(piece)
    return shown
