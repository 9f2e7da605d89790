"""Human rates that come with questions, beside those that people gave or corrected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from questions.importers.records import HumanRateRecord
from questions.models import HumanRate


def new_rates(
    given: Sequence[HumanRateRecord],
    stored: Sequence[HumanRate],
    *,
    question: int | None = None,
    task: int | None = None,
) -> list[HumanRate]:
    """The rows, not yet stored, that *given* adds to *stored*: rates of one item or one task.

    The n-th rate of a source is found again as the n-th of that source. One that
    the source changed corrects the earlier row; one that a person corrected stays.
    """
    chains = _chains(stored)
    met: dict[tuple[str, str], int] = defaultdict(int)
    rows: list[HumanRate] = []
    for rate in given:
        name = rate.kind, rate.source
        known, place = chains[name], met[name]
        met[name] += 1
        chain = known[place] if place < len(known) else []
        published = [row for row in chain if row.author_id is None]
        if published and _same(published[-1], rate):
            continue
        if chain and chain[-1].author_id is not None:
            continue
        rows.append(
            HumanRate(
                question_id=question,
                task_id=task,
                kind=rate.kind,
                value=rate.value,
                sample_size=rate.sample_size,
                weight=rate.weight,
                source=rate.source,
                corrects=chain[-1] if chain else None,
            )
        )
    return rows


def _chains(stored: Sequence[HumanRate]) -> dict[tuple[str, str], list[list[HumanRate]]]:
    """By kind and source: each published rate with its corrections, oldest first."""
    chains: dict[tuple[str, str], list[list[HumanRate]]] = defaultdict(list)
    holding: dict[int, list[HumanRate]] = {}
    for row in stored:
        chain = holding.get(row.corrects_id or 0)
        if chain is None:
            if row.author_id is not None:
                continue
            chain = []
            chains[row.kind, row.source].append(chain)
        chain.append(row)
        holding[row.pk] = chain
    return chains


def _same(row: HumanRate, rate: HumanRateRecord) -> bool:
    return (row.value, row.sample_size, row.weight) == (rate.value, rate.sample_size, rate.weight)
