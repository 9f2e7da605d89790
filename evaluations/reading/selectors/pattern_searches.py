"""Searches for patterns: progress, the patterns found, and the responses left unread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from evaluations.models import MinedPattern, PatternSearch, Response
from evaluations.models.vocabulary import PatternVerdict
from evaluations.reading.selectors.reading_patterns import ACCEPTED
from evaluations.runs.selectors.responses import Piece, pieces_of
from gradeapp.common.background_work import selectors as background_work
from gradeapp.common.background_work.selectors import Progress

# The cover that AGIBench reports for its own expressions: 67 % of its responses.
PAPER_COVER = 0.67
PAPER_RESPONSES = 66_744
# What is shown of a response on each side of the words that were read.
AROUND = 60
ENDING = 160


@dataclass(frozen=True, slots=True)
class Example:
    """The words around what a pattern read in one response, cut short."""

    response: Response
    pieces: Sequence[Piece]
    letters: str


@dataclass(frozen=True, slots=True)
class FoundPattern:
    """One version of a pattern with what people decided.

    ``of`` counts the responses of its question type. ``accepted_elsewhere`` names
    an accepted pattern of another search with the same expression.
    """

    row: MinedPattern
    of: int
    examples: Sequence[Example]
    earlier: Sequence[MinedPattern]
    accepted_elsewhere: str

    @property
    def accepted(self) -> bool:
        """Return whether answers are read by it."""
        decision = self.row.decision
        return decision is not None and decision.verdict == PatternVerdict.ACCEPTED


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """What a search found among the responses of one question type."""

    question_type: str
    responses: int
    covered: int
    iterations: Sequence[dict[str, int]]
    patterns: Sequence[FoundPattern]


def searches() -> QuerySet[PatternSearch]:
    """Return every search with its run and its starter, the newest first."""
    return PatternSearch.objects.select_related(
        "run__language_model", "run__dataset", "created_by"
    ).order_by("-pk")


def progress(search: PatternSearch, now: datetime) -> Progress:
    """Return the progress of *search* at *now*, in steps."""
    done, total = search.steps_done, search.steps_total
    return background_work.progress(search, now, done, total, measured=done, rest=total - done)


def figures_of(search: PatternSearch) -> list[TypeFigures]:
    """Return what *search* found by question type; a constant number of queries."""
    found_here = MinedPattern.objects.filter(search=search).select_related("decision__author")
    rows = list(found_here)
    replaced = {row.replaces_id for row in rows if row.replaces_id}
    final = [row for row in rows if row.pk not in replaced]
    others = MinedPattern.objects.filter(ACCEPTED).exclude(search=search)
    elsewhere = {(row.question_type, row.expression): row.name for row in others}
    texts = _responses(example["response"] for row in final for example in row.examples)
    found = []
    for question_type, figures in sorted(search.figures.items()):
        of_type = [row for row in final if row.question_type == question_type]
        patterns = [
            FoundPattern(
                row=row,
                of=figures["responses"],
                examples=[
                    Example(
                        response=texts[example["response"]],
                        pieces=around(texts[example["response"]].text, example["span"]),
                        letters=" ".join(example["letters"]),
                    )
                    for example in row.examples
                    if example["response"] in texts
                ],
                earlier=[
                    one
                    for one in rows
                    if (one.question_type, one.number) == (question_type, row.number)
                    and one.pk != row.pk
                ],
                accepted_elsewhere=elsewhere.get((question_type, row.expression), ""),
            )
            for row in sorted(of_type, key=lambda row: (-row.matched, row.number))
        ]
        counts = figures["responses"], figures["covered"]
        found.append(TypeFigures(question_type, *counts, figures["iterations"], patterns))
    return found


def _responses(ids: Iterable[int]) -> dict[int, Response]:
    rows = Response.objects.select_related("question__task", "revision")
    return rows.in_bulk(set(ids))


def around(text: str, span: Sequence[int]) -> list[Piece]:
    """Return the words at *span* in *text* as a numbered piece, with context on both sides."""
    start, end = span
    begin = max(0, start - AROUND)
    cut = text[begin : end + AROUND]
    pieces = list(pieces_of(cut, [[start - begin, end - begin]]))
    before = [Piece("… ")] if begin else []
    after = [Piece(" …")] if end + AROUND < len(text) else []
    return [*before, *pieces, *after]


def left_of(search: PatternSearch) -> list[tuple[Response, str]]:
    """Return some responses that no final pattern reads, each with the end of its text."""
    found = _responses(search.left)
    texts = ((found[pk], found[pk].text.strip()) for pk in search.left if pk in found)
    return [(one, text if len(text) <= ENDING else f"… {text[-ENDING:]}") for one, text in texts]


def as_dict(search: PatternSearch) -> dict[str, Any]:
    """Return the JSON of a search: settings, cover, patterns, and unread responses."""
    return {
        "search": search.pk,
        "run": search.run_id,
        "status": search.status,
        "iterations": search.iterations,
        "sample_size": search.sample_size,
        "least_occurrences": search.least_occurrences,
        "random_seed": search.random_seed,
        "responses": search.responses,
        "covered": search.covered,
        "cover": _share(search.covered, search.responses),
        "paper": {"cover": PAPER_COVER, "responses": PAPER_RESPONSES},
        "types": [
            {
                "question_type": one.question_type,
                "responses": one.responses,
                "covered": one.covered,
                "cover": _share(one.covered, one.responses),
                "iterations": list(one.iterations),
                "patterns": [_pattern_dict(found) for found in one.patterns],
            }
            for one in figures_of(search)
        ],
        "left": [str(response.public_id) for response, _ in left_of(search)],
    }


def _pattern_dict(found: FoundPattern) -> dict[str, Any]:
    row = found.row
    return {
        "name": row.name,
        "expression": row.expression,
        "version": row.version,
        "iteration": row.iteration,
        "count": row.matched,
        "cover": _share(row.matched, found.of),
        "compared_with_strict": row.compared,
        "agreement_with_strict": _share(row.agreed, row.compared),
        "accepted": found.accepted,
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
