"""Human rates: joined by weight and size, only added to, and derived levels follow."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import HumanRate, Question
from questions.rules.four_tuple import Rate, Reference, joined
from questions.rules.vocabulary import RateKind
from questions.selectors.labels import counting, label_history, rates_of, reference_of
from questions.services.human_rates import GivenRate, add_rate, correct_rate
from questions.services.labels import set_labels
from tests.factories import make_question, make_task


def rate(value: str, weight: str = "1", size: int | None = None) -> Rate:
    return Rate(Decimal(value), Decimal(weight), size)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([], None),
        ([rate("0.61")], ("0.61", None)),
        # (0.5 * 100 + 0.8 * 300) / 400 = 290 / 400
        ([rate("0.5", size=100), rate("0.8", size=300)], ("0.725", 400)),
        # (0.5 * 2 * 100 + 0.8 * 1 * 300) / 500 = 340 / 500
        ([rate("0.5", "2", 100), rate("0.8", "1", 300)], ("0.68", 400)),
        # a size is missing: (0.5 * 1 + 0.8 * 3) / 4 = 2.9 / 4
        ([rate("0.5", size=100), rate("0.8", "3")], ("0.725", None)),
        # on the border and not a hair below: (0.85 + 2 * 0.775) / 3 = 2.4 / 3
        ([rate("0.85"), rate("0.775", "2")], ("0.8", None)),
    ],
)
def test_rates_are_joined_by_weight_and_size(
    rates: list[Rate], expected: tuple[str, int | None] | None
) -> None:
    found = joined(rates)
    if expected is None:
        assert found is None
    else:
        assert found == Reference(Decimal(expected[0]), len(rates), expected[1])


def given(value: str, source: str = "exam board 2020", **fields: object) -> GivenRate:
    return GivenRate(Decimal(value), source, **fields)  # type: ignore[arg-type]


def levels(question: Question) -> list[tuple[int | None, str]]:
    """Level and origin of each row of labels, oldest first."""
    rows = reversed(label_history(question))
    return [(row.difficulty, row.origins.get("difficulty", "")) for row in rows]


def test_a_derived_level_follows_a_corrected_rate(curator: User) -> None:
    question = make_question()
    first = add_rate(question, given("0.61"), acting_user=curator)
    corrected = correct_rate(first, given("0.55"), acting_user=curator, reason="misprint")
    assert levels(question) == [(2, "derived"), (3, "derived")]
    newest = label_history(question)[0]
    assert (newest.author, newest.reason) == (curator, "misprint")
    assert (corrected.corrects, corrected.author, corrected.reason) == (first, curator, "misprint")
    assert list(counting(rates_of(question))) == [corrected]
    assert list(rates_of(question)) == [first, corrected]
    tags = AuditEntry.objects.order_by("pk").values_list("tag", flat=True)
    assert list(tags) == [Tag.HUMAN_RATE_ADDED, Tag.HUMAN_RATE_CORRECTED]


def test_a_level_set_by_a_person_stays(curator: User) -> None:
    question = make_question()
    first = add_rate(question, given("0.61"), acting_user=curator)
    question.refresh_from_db()
    set_labels(question, {"difficulty": 4}, acting_user=curator)
    correct_rate(first, given("0.95"), acting_user=curator, reason="misprint")
    assert levels(question) == [(2, "derived"), (4, "person")]


def test_a_second_source_is_joined(curator: User) -> None:
    question = make_question()
    add_rate(question, given("0.5", sample_size=100), acting_user=curator)
    add_rate(question, given("0.8", "school", sample_size=300), acting_user=curator)
    assert reference_of(question) == Reference(Decimal("0.725"), 2, 400)
    assert levels(question) == [(3, "derived"), (2, "derived")]


def test_the_same_level_writes_no_labels(curator: User) -> None:
    question = make_question()
    first = add_rate(question, given("0.61"), acting_user=curator)
    correct_rate(first, given("0.65"), acting_user=curator, reason="misprint")
    assert levels(question) == [(2, "derived")]


def test_a_task_has_an_average_and_a_top(curator: User) -> None:
    question = make_question(make_task())
    add_rate(question.task, given("0.66"), acting_user=curator)
    top = add_rate(question.task, given("0.94"), acting_user=curator, kind=RateKind.TOP)
    corrected = correct_rate(top, given("0.95"), acting_user=curator, reason="table 2")
    assert (corrected.kind, corrected.task) == (RateKind.TOP, question.task)
    values = [row.value for row in counting(rates_of(question.task))]
    assert values == [Decimal("0.66"), Decimal("0.95")]
    assert levels(question) == []


def test_a_rate_is_corrected_once(curator: User) -> None:
    first = add_rate(make_question(), given("0.61"), acting_user=curator)
    correct_rate(first, given("0.55"), acting_user=curator, reason="misprint")
    with pytest.raises(Conflict) as refused:
        correct_rate(first, given("0.5"), acting_user=curator, reason="again")
    assert refused.value.code == "corrected"
    with pytest.raises(BadInput) as unexplained:
        correct_rate(first, given("0.5"), acting_user=curator, reason=" ")
    assert unexplained.value.code == "no_reason"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (given("1.01"), "bad_rate"),
        (given("-0.1"), "bad_rate"),
        (given("NaN"), "bad_rate"),
        (given("0.12345"), "bad_rate"),
        (given("0.5", ""), "no_source"),
        (given("0.5", "x" * 201), "no_source"),
        (given("0.5", "Smith\u00ad et al."), "bad_source"),
        (given("0.5", "Smith\tet al."), "bad_source"),
        (given("0.5", "Smith \ufffd al."), "bad_source"),
        (given("0.5", weight=Decimal(0)), "bad_weight"),
        (given("0.5", weight=Decimal("Infinity")), "bad_weight"),
        (given("0.5", sample_size=0), "bad_sample_size"),
    ],
)
def test_what_is_no_rate_is_refused(bad: GivenRate, code: str, curator: User) -> None:
    with pytest.raises(BadInput) as refused:
        add_rate(make_question(), bad, acting_user=curator)
    assert refused.value.code == code
    assert not HumanRate.objects.exists()
