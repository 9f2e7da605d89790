"""The change of a run's objective rate from ``published`` to ``strict``, by response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evaluations.models import Response, Run
from evaluations.reading.rules.scoring.ablation import (
    Evidence,
    MovedItem,
    Movement,
    Reason,
    ScoredItem,
    movements,
    rate,
    steps_of,
)
from evaluations.reading.rules.scoring.objective import has_key, wrong_without_key
from evaluations.reading.selectors.repaired_keys import of_run_to_score_again
from evaluations.runs.rules.option_order import as_printed
from evaluations.statistics.policies import Policy, published_rules
from questions.rules.vocabulary import ItemStatus, Part

CONTEXT = 30
KEYS = ("revision__answer_key", "revision__published_key")


@dataclass(frozen=True, slots=True)
class Ablation:
    """Both rates of a run, the reasons between them, and the responses that moved.

    ``left_out`` responses count under neither policy for the status of their question, and
    ``uncounted`` others, which have no score or are error messages.
    """

    published: tuple[Decimal, Decimal]
    strict: tuple[Decimal, Decimal]
    responses: int
    left_out: int
    uncounted: int
    movements: tuple[Movement, ...]
    items: tuple[MovedItem, ...]

    @property
    def published_rate(self) -> Fraction | None:
        """Return the rate under ``published``; None without full marks."""
        return rate(*self.published)

    @property
    def strict_rate(self) -> Fraction | None:
        """Return the rate under ``strict``; None without full marks."""
        return rate(*self.strict)

    @property
    def change(self) -> Fraction | None:
        """Return the difference of the rates."""
        before, after = self.published_rate, self.strict_rate
        return None if before is None or after is None else after - before

    def because_of(self, reason: Reason | None) -> list[MovedItem]:
        """Return the responses that moved for *reason*, or all."""
        if reason is None:
            return list(self.items)
        return [one for one in self.items if any(step.reason is reason for step in one.steps)]


def ablation(run: Run) -> Ablation:
    """Compare the objective responses of *run* under both policies.

    Items that a person excluded take part under neither policy.
    """
    scores = {policy: _scores(run, policy) for policy in Policy}
    moved, steps = [], []
    left_out, uncounted = 0, 0
    points, full = Decimal(0), Decimal(0)
    strict_points, strict_full = Decimal(0), Decimal(0)
    rows = _responses(run)
    for row in rows:
        if row["question__status"] == ItemStatus.EXCLUDED:
            left_out += 1
            continue
        item = _scored_item(row, *(scores[policy].get(row["pk"]) for policy in Policy))
        published, strict = item.published, item.strict
        if published is None and not item.counts_strictly:
            left_out, uncounted = left_out + item.left_out, uncounted + (not item.left_out)
        if published is not None:
            points, full = points + published.points, full + item.full
        if strict is not None and item.counts_strictly:
            strict_points, strict_full = strict_points + strict.points, strict_full + item.full
        if len(item.key) == len(item.sub_marks) and (own := steps_of(item)):
            steps.append(own)
            moved.append(
                MovedItem(
                    response=row["pk"],
                    public_id=row["public_id"],
                    task=row["question__task__slug"],
                    external_id=row["question__external_id"],
                    repeat=row["repeat"],
                    key=item.key,
                    full=item.full,
                    published=published,
                    strict=strict,
                    steps=tuple(own),
                )
            )
    return Ablation(
        published=(points, full),
        strict=(strict_points, strict_full),
        responses=len(rows),
        left_out=left_out,
        uncounted=uncounted,
        movements=tuple(movements(points, full, steps)),
        items=tuple(moved),
    )


def _scored_item(
    row: dict[str, Any], published: Evidence | None, strict: Evidence | None
) -> ScoredItem:
    if not (has_key(_published_key(row)) or _wrong_without_key(row)):
        published = None
    return ScoredItem(
        dataset=row["question__task__dataset__slug"],
        subject=row["question__subject"],
        question_type=row["revision__question_type"],
        key=_published_key(row),
        sub_marks=tuple(map(Decimal, row["revision__sub_marks"])),
        published=published,
        strict=strict,
        left_out=row["question__status"] == ItemStatus.QUARANTINED,
    )


def _wrong_without_key(row: dict[str, Any]) -> bool:
    question_type = row["revision__question_type"]
    rules = published_rules(row["question__task__dataset__slug"], question_type)
    return wrong_without_key(rules, question_type)


def _responses(run: Run) -> list[dict[str, Any]]:
    asked = Response.objects.filter(run=run, question__part=Part.OBJECTIVE)
    return list(
        asked.order_by("question__task__slug", "question__position", "repeat").values(
            *("pk", "public_id", "repeat", "question__external_id", "question__status"),
            *("question__task__slug", "question__task__dataset__slug", "question__subject"),
            *("revision__question_type", *KEYS),
            "revision__sub_marks",
        )
    )


def _scores(run: Run, policy: Policy) -> dict[int, Evidence]:
    """Return the current score of each response under *policy*, with the letters of the bank.

    One by a key that was repaired since is no score, as in reports.
    """
    score = Response.score_field(policy)
    rows = Response.objects.filter(run=run, **{f"{score}__isnull": False})
    columns = ("answers", "outcome", "method", "pattern", "spans")
    own = ("pk", f"{score}__points", "revision__letters", "option_order")
    keys = (*KEYS, f"{score}__key_revision__answer_key")
    found = {}
    for response, points, letters, order, key, original, repaired, *read in rows.values_list(
        *own, *keys, *(f"{score}__extraction__{name}" for name in columns)
    ):
        answers, outcome, method, pattern, spans = read
        printed = as_printed(answers, letters, order)
        used = _published(key, original) if policy is Policy.PUBLISHED else repaired or key
        found[response] = Evidence(printed, outcome, points, method, pattern, spans, tuple(used))
    if policy is Policy.STRICT:
        for response in of_run_to_score_again(run):
            found.pop(response, None)
    return found


def _published_key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_published(*(row[name] for name in KEYS)))


def _published(key: list[str], original: list[str] | None) -> list[str]:
    return key if original is None else original


def quotations(items: Sequence[MovedItem]) -> dict[int, dict[str, str]]:
    """Return the words that each policy read in *items*, by response and policy; one query."""
    texts = dict(
        Response.objects.filter(pk__in=[one.response for one in items]).values_list("pk", "text")
    )
    return {
        one.response: {
            policy.value: quoted(texts.get(one.response, ""), evidence.spans)
            for policy, evidence in (
                (Policy.PUBLISHED, one.published),
                (Policy.STRICT, one.strict),
            )
            if evidence is not None
        }
        for one in items
    }


def quoted(text: str, spans: Sequence[Sequence[int] | None]) -> str:
    """Return the evidence in *text*, shortened in the middle; without any, the end of *text*."""
    edges = [edge for span in spans if span for edge in span]
    if not edges:
        words = " ".join(text[-4 * CONTEXT :].split())
        return words if len(words) <= 2 * CONTEXT else f"… {words[-2 * CONTEXT :]}"
    words = " ".join(text[min(edges) : max(edges)].split())
    return words if len(words) <= 2 * CONTEXT else f"{words[:CONTEXT]} … {words[-CONTEXT:]}"
