"""Reading responses: the list of a run, and one response with everything that was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

from django.db.models import F, OuterRef, Prefetch, QuerySet, Subquery

from evaluations.models import Extraction, Job, Judgement, ObjectiveScore, Response, Run
from evaluations.runs.kinds import kind_of
from evaluations.statistics.policies import Policy

# Of a stretch of a response a page shows so many characters at both ends, and so many stretches.
SHOWN = 6_000
MOST_PIECES = 400


@dataclass(frozen=True)
class Piece:
    """A stretch of a response; ``number`` names the sub-answers that were read in it, if any.

    ``omitted`` counts the characters that a page leaves out of a very long stretch.
    """

    text: str
    number: str = ""
    omitted: int = 0


@dataclass(frozen=True)
class SubAnswer:
    """One sub-answer beside its key; ``points`` is None where it has no score."""

    number: int
    answer: str | None
    key: str
    points: Decimal | None
    full: Decimal


@dataclass(frozen=True)
class Reading:
    """What one policy read in a response, where, and the points it gave for it."""

    policy: Policy
    extraction: Extraction
    score: ObjectiveScore | None
    pieces: Sequence[Piece]
    sub_answers: Sequence[SubAnswer]


def response_list() -> QuerySet[Response]:
    """Return responses with what a list shows: the strict score and the newest judgement."""
    judged = Judgement.objects.filter(response=OuterRef("pk")).order_by("-id")
    return Response.objects.select_related(
        "question__task__dataset", "revision", "attempt", "run__language_model", "suggestion"
    ).annotate(
        outcome=F("strict_score__outcome"),
        points=F("strict_score__points"),
        judge_status=Subquery(judged.values("status")[:1]),
        judge_total=Subquery(judged.values("total")[:1]),
    )


def responses_of(run: Run) -> QuerySet[Response]:
    """Return the responses that are listed for *run* by its kind, in the order of the exam."""
    found = kind_of(run).responses(run, response_list())
    return found.order_by("question__task__slug", "question__position", "repeat")


def response_whole(public_id: UUID) -> Response | None:
    """One response with its judgements; None if there is none."""
    judgements = Judgement.objects.select_related("judge").order_by("judge__name", "number")
    return (
        Response.objects.select_related(
            "run__language_model", "run__dataset", "question__task__dataset", "revision"
        )
        .prefetch_related(Prefetch("judgements", judgements))
        .filter(public_id=public_id)
        .first()
    )


def job_of(response: Response) -> Job | None:
    """The job that *response* answers, with its attempts; None for an imported response."""
    return (
        Job.objects.prefetch_related("attempts")
        .filter(run=response.run, question=response.question, repeat=response.repeat)
        .first()
    )


def readings_of(response: Response) -> list[Reading]:
    """The reading of *response* that counts under each policy that has one.

    It is the one that the current score was made from; before there is a score, the newest.
    """
    newest = {one.policy: one for one in response.extractions.order_by("id")}
    current = (response.strict_score_id, response.published_score_id)
    found = ObjectiveScore.objects.filter(pk__in=[pk for pk in current if pk])
    scores = {one.policy: one for one in found.select_related("extraction")}
    counting = newest | {policy: score.extraction for policy, score in scores.items()}
    return [
        _reading(response, policy, counting[policy], scores.get(policy))
        for policy in Policy
        if policy in counting
    ]


def _reading(
    response: Response, policy: Policy, extraction: Extraction, score: ObjectiveScore | None
) -> Reading:
    revision = response.revision
    points: Sequence[str | None] = score.sub_points if score else [None] * len(revision.answer_key)
    rows = zip(
        extraction.answers, revision.answer_key, points, revision.decimal_sub_marks, strict=False
    )
    sub_answers = [
        SubAnswer(number, answer, key, None if given is None else Decimal(given), full)
        for number, (answer, key, given, full) in enumerate(rows, 1)
    ]
    pieces = for_page(pieces_of(response.text, extraction.spans))
    return Reading(policy, extraction, score, pieces, sub_answers)


def pieces_of(text: str, spans: Sequence[Sequence[int] | None]) -> list[Piece]:
    """*text* cut at the evidence of its sub-answers; pieces in order, none empty.

    ``spans`` are [start, end] per sub-answer, or null. Where two sub-answers
    were read from the same words, the piece names both.
    """
    cuts = {0, len(text)}
    for span in spans:
        if span:
            cuts.update(min(max(edge, 0), len(text)) for edge in span)
    edges = sorted(cuts)
    return [Piece(text[start:end], _readers(spans, start, end)) for start, end in pairwise(edges)]


def for_page(pieces: Sequence[Piece]) -> list[Piece]:
    """*pieces* for the eye: of each long one both ends, of very many the first and the last.

    A hundred thousand characters without a break keep a browser busy for a minute.
    """
    if len(pieces) > MOST_PIECES:
        half = MOST_PIECES // 2
        left_out = sum(len(piece.text) for piece in pieces[half:-half])
        pieces = [*pieces[:half], Piece("", omitted=left_out), *pieces[-half:]]
    return [part for piece in pieces for part in _shortened(piece)]


def _shortened(piece: Piece) -> list[Piece]:
    left_out = len(piece.text) - 2 * SHOWN
    if left_out <= 0:
        return [piece]
    return [
        Piece(piece.text[:SHOWN], piece.number),
        Piece("", omitted=left_out),
        Piece(piece.text[-SHOWN:], piece.number),
    ]


def _readers(spans: Sequence[Sequence[int] | None], start: int, end: int) -> str:
    inside = (n for n, span in enumerate(spans, 1) if span and span[0] <= start and end <= span[1])
    return ", ".join(map(str, inside))
