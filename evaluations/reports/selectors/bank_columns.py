"""What reports need of the question bank, which a process keeps for as long as it is not written.

Reading it took longer than summing the facts. It is kept under the version of the bank
(``BankVersion``), which triggers raise in every transaction that writes the bank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluations.reading.rules.scoring.objective import has_key, wrong_without_key
from evaluations.statistics.policies import Policy, published_rules
from gradeapp.common.casts import real
from gradeapp.common.kept import KeptValues
from gradeapp.common.snapshot import one_snapshot, sees_only_committed
from questions.models import Question, QuestionRevision
from questions.rules.vocabulary import OBJECTIVE_TYPES, QuestionType
from questions.selectors.repaired_keys import RepairedKey, repaired_keys
from questions.selectors.version import bank_version

# Two datasets of 3,000 questions under both policies, with their frames, take about 8 MB.
MOST_BYTES = 16_000_000
QUESTION_BYTES = 1_000
_kept = KeptValues(MOST_BYTES)
T = TypeVar("T")
Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of rows with sorted keys; texts are arrays of objects."""

    keys: NDArray[np.int64]
    columns: dict[str, Column]

    def of(self, keys: Column, *names: str) -> list[Column]:
        """Return the columns *names* for each of *keys*, all of which are known."""
        places = np.searchsorted(self.keys, keys)
        return [self.columns[name][places] for name in names]


@dataclass(frozen=True, slots=True)
class Bank:
    """The questions and revisions of a dataset, as one policy sees their keys.

    ``questions`` has ``pk, task, subject, part, year, status`` by key; ``worth`` full marks,
    sub-answers and type by revision; ``golds`` the key by which the policy scores them, and the
    language, of revisions of exact answers. ``without_key``: objective revisions without a key
    that counts; ``wrong_without_key``: those of them whose answers count as wrong once they are
    scored. ``repaired``: the repaired key by earlier revision. Nobody changes them.
    """

    questions: dict[int, tuple[Any, ...]]
    worth: dict[int, tuple[float, int, str]]
    golds: dict[int, tuple[str, str]]
    without_key: frozenset[int]
    wrong_without_key: frozenset[int]
    repaired: dict[int, RepairedKey]
    by_question: Columns
    by_revision: Columns


def bank_of(dataset: str, policy: str) -> Bank:
    """Return the bank of *dataset* (slug) for *policy*, from memory if nobody wrote the bank."""
    return of_bank(("bank", dataset, policy), lambda: _bank(dataset, policy))


def of_bank(key: tuple[str, ...], make: Callable[[], T]) -> T:
    """Return what *make* reads of the bank, from memory if nobody wrote the bank since.

    The second place of *key* is the dataset. The caller does not change what is returned. What a
    transaction has not committed is not kept.
    """
    if not sees_only_committed():
        return make()
    with one_snapshot():
        versioned = (*key, bank_version())
        found: T | None = _kept.get(versioned)
        if found is None:
            found = make()
            n = Question.objects.filter(task__dataset__slug=key[1]).count()
            _kept.put(versioned, found, QUESTION_BYTES * n)
    return found


def forget() -> None:
    """Drop what is kept. For tests, where versions begin anew."""
    _kept.forget()


def _bank(dataset: str, policy: str) -> Bank:
    names = ("task", "subject", "part", "year", "status")
    of_dataset = Question.objects.filter(task__dataset__slug=dataset).order_by("pk")
    asked = ("pk", "task__slug", "subject", "part", "year", "status")
    questions = {row[0]: row for row in of_dataset.values_list(*asked)}
    worth: dict[int, tuple[float, int, str]] = {}
    golds: dict[int, tuple[str, str]] = {}
    without_key: set[int] = set()
    wrong: set[int] = set()
    revisions = QuestionRevision.objects.filter(question__task__dataset__slug=dataset)
    kept = ("answer_key", "published_key", "question_type", "language")
    rows = revisions.order_by("pk").values_list("pk", real("full_marks"), *kept)
    repaired = repaired_keys(None, dataset)
    for pk, full, key, published_key, question_type, language in rows:
        worth[pk] = (full, max(len(key), 1), question_type)
        own = key if policy == Policy.STRICT or published_key is None else published_key
        if question_type in OBJECTIVE_TYPES and not has_key(own):
            without_key.add(pk)
            rules = published_rules(dataset, question_type)
            if policy == Policy.PUBLISHED and wrong_without_key(rules, question_type):
                wrong.add(pk)
        if question_type == QuestionType.EXACT_ANSWER:
            counts = policy == Policy.STRICT and pk in repaired
            golds[pk] = (";".join(repaired[pk].key if counts else own), language)
    if policy == Policy.STRICT:
        without_key -= repaired.keys()
    return Bank(
        questions=questions,
        worth=worth,
        golds=golds,
        without_key=frozenset(without_key),
        wrong_without_key=frozenset(wrong),
        repaired=repaired,
        by_question=_columns({pk: row[1:] for pk, row in questions.items()}, names),
        by_revision=_columns(worth, ("full_each", "subs", "type")),
    )


def _columns(rows: dict[int, tuple[Any, ...]], names: tuple[str, ...]) -> Columns:
    """Return *rows*, which are in the order of their keys, as columns."""
    kinds: dict[str, Any] = {"full_each": np.float64, "subs": np.int64}
    columns = {}
    for place, name in enumerate(names):
        column = np.empty(len(rows), dtype=kinds.get(name, object))
        column[:] = [row[place] for row in rows.values()]
        columns[name] = column
    return Columns(np.array(list(rows), dtype=np.int64), columns)
