"""The gate writes problems once, quarantines what cannot be scored fairly, and asks few queries."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from questions.models import ItemProblem, Question, QuestionRevision
from questions.rules.vocabulary import QuestionType
from questions.selectors.gate import live_problem
from questions.services.duplicates import recheck_pairs
from questions.services.gate import check_duplicates, check_items
from tests.factories import make_dataset, make_question, make_rubric, make_task

pytestmark = pytest.mark.django_db


def codes(question: Question) -> list[str]:
    return list(question.problems.order_by("code").values_list("code", flat=True))


def status(question: Question) -> str:
    question.refresh_from_db()
    return question.status


def revise(question: Question, **changes: object) -> QuestionRevision:
    """One more revision of *question*, made current."""
    old = QuestionRevision.objects.get(pk=question.current_id)
    old.pk, old.number = None, old.number + 1
    for name, value in changes.items():
        setattr(old, name, value)
    old.save()
    question.current = old
    question.save(update_fields=["current"])
    return old


def test_a_doubtful_item_is_quarantined_once() -> None:
    bad, good = make_question(key=("F",)), make_question()
    assert check_items([bad.pk, good.pk]) == 1
    assert check_items([bad.pk, good.pk]) == 1
    assert codes(bad) == ["key_outside_options"]
    assert (status(bad), status(good)) == ("quarantined", "active")
    assert ItemProblem.objects.get().detail == {"keys": ["F"], "letters": "ABCD"}


def test_a_revision_without_the_problem_releases_the_item() -> None:
    question = make_question(key=("F",))
    check_items([question.pk])
    revise(question, answer_key=["A"])
    assert check_items([question.pk]) == 0
    assert status(question) == "active"
    assert codes(question) == ["key_outside_options"], "what was found stays in the history"


def test_a_flag_does_not_quarantine() -> None:
    question = make_question(stem="如图，哪个正确？\nA. one\nB. two\nC. three\nD. four")
    assert check_items([question.pk]) == 0
    assert codes(question) == ["missing_figure"]
    assert status(question) == "active"


def test_a_rubric_is_added_up_with_its_caps() -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    fits = make_question(task, marks=("6",), rubric=(("a", "2"), ("b", "4")))
    short = make_question(task, marks=("6",), rubric=(("a", "2"), ("b", "3")))
    check_items([fits.pk, short.pk])
    assert codes(fits) == []
    assert codes(short) == ["rubric_sum"]
    rubric = make_rubric(short, (("a", "2"), ("b", "2"), ("c", "3"), ("d", "3")))
    group = rubric.groups.create(order=1, cap=Decimal(4), choose=2)
    rubric.points.filter(text__in="ab").update(group=group)
    check_items([short.pk])
    assert codes(short) == ["rubric_sum"], "4 in the group and 6 outside are 10 of 6"
    rubric.points.filter(text__in="abcd").update(group=group)
    group.cap = Decimal(6)
    group.save()
    check_items([short.pk])
    assert codes(short) == [], "an undecided finding that no longer holds is taken back"


def test_the_number_of_queries_does_not_grow_with_the_items() -> None:
    few = [make_question(key=("F",)).pk]
    many = [make_question(key=("F",)).pk for _ in range(30)]
    counts = []
    for questions in (few, many):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            check_items(questions)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 14


CHOICES = [
    "高纯硅可用于制作光感电池",
    "铝合金大量用于高铁建设",
    "活性炭具有除异味作用",
    "碘酒可用于消毒",
]


def same_question(dataset: str, key: str) -> Question:
    """One question about chemistry, as *dataset* has it."""
    task = make_task(make_dataset(dataset))
    stem = "化学与生活密切相关。下列叙述错误的是（ ）"
    question = make_question(task, stem=stem, key=(key,))
    QuestionRevision.objects.filter(pk=question.current_id).update(options=CHOICES)
    return question


def test_two_keys_of_one_question_quarantine_both() -> None:
    one, other, alone = same_question("one", "C"), same_question("two", "D"), make_question()
    counts = check_duplicates(make_dataset("two"))
    assert (counts.exact, counts.near, counts.conflicts) == (1, 0, 1)
    check_duplicates(make_dataset("two"))
    for question, partner in ((one, other), (other, one)):
        assert status(question) == "quarantined"
        assert codes(question) == ["conflicting_key", "exact_duplicate"]
        assert {row.other_id for row in question.problems.all()} == {partner.current_id}
    assert status(alone) == "active"


def test_the_same_key_is_a_duplicate_and_no_more() -> None:
    one, other = same_question("one", "C"), same_question("two", "C")
    check_duplicates(make_dataset("one"))
    assert (status(one), status(other)) == ("active", "active")
    assert codes(one) == codes(other) == ["exact_duplicate"]


def test_a_new_revision_of_one_side_ends_the_conflict_of_both() -> None:
    one, other = same_question("one", "C"), same_question("two", "D")
    check_duplicates(make_dataset("one"))
    revise(other, answer_key=["C"])
    recheck_pairs(other)
    assert (status(one), status(other)) == ("active", "active")
    live = ItemProblem.objects.filter(live_problem()).values_list("code", flat=True)
    assert list(live) == ["exact_duplicate", "exact_duplicate"]


def test_other_datasets_keep_their_rows() -> None:
    same_question("one", "C"), same_question("two", "C")
    check_duplicates(make_dataset("one"))
    check_duplicates(make_dataset("three"))
    assert ItemProblem.objects.count() == 2
