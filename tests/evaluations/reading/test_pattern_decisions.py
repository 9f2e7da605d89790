"""A pattern counts from the moment a person accepted it, until a person retires it."""

from __future__ import annotations

import pytest

from evaluations.models import PatternDecision
from evaluations.reading.selectors.reading_patterns import accepted_patterns
from evaluations.reading.services.pattern_decisions import accept_pattern, retire_pattern
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from tests.evaluations.pattern_world import IN_WORDS, TAGGED, newest_patterns, run_with, searched

pytestmark = pytest.mark.django_db


def test_an_accepted_pattern_counts_under_a_new_version(lead: User) -> None:
    tagged, words = newest_patterns(searched(run_with((TAGGED, 8), (IN_WORDS, 4))))
    nothing = accepted_patterns()
    assert (nothing.decision, nothing.patterns) == (None, ())
    accept_pattern(tagged, acting_user=lead)
    first = accepted_patterns()
    assert [one.name for one in first.patterns] == [tagged.name]
    assert first.of("single_choice") == first.patterns
    assert first.of("multi_choice") == ()
    accept_pattern(words, acting_user=lead)
    second = accepted_patterns()
    assert {one.expression for one in second.patterns} == {tagged.expression, words.expression}
    assert second.decision not in (None, first.decision)
    entries = AuditEntry.objects.filter(tag="pattern.accepted", actor=lead)
    assert [entry.detail["name"] for entry in entries.order_by("pk")] == [tagged.name, words.name]


def test_a_retired_pattern_counts_no_more_and_the_empty_set_has_a_version(lead: User) -> None:
    (row,) = newest_patterns(searched(run_with((TAGGED, 8))))
    accept_pattern(row, acting_user=lead)
    before = accepted_patterns().decision
    retire_pattern(row, acting_user=lead, note="reads the second answer")
    after = accepted_patterns()
    assert after.patterns == ()
    assert after.decision not in (None, before)
    assert list(row.decisions.values_list("verdict", flat=True)) == ["accepted", "retired"]
    accept_pattern(row, acting_user=lead)
    assert len(accepted_patterns().patterns) == 1


def test_a_long_note_an_old_version_and_what_is_decided_already_are_refused(lead: User) -> None:
    search = searched(run_with((TAGGED, 12), ("想。【答案】：{x}", 6)))
    (row,) = newest_patterns(search)
    with pytest.raises(Conflict):
        accept_pattern(search.patterns.get(version=1), acting_user=lead)
    with pytest.raises(BadInput):
        accept_pattern(row, acting_user=lead, note="x" * 201)
    with pytest.raises(Conflict):
        retire_pattern(row, acting_user=lead)
    accept_pattern(row, acting_user=lead)
    with pytest.raises(Conflict):
        accept_pattern(row, acting_user=lead)
    assert PatternDecision.objects.count() == 1


def test_the_same_expression_is_accepted_once(lead: User) -> None:
    run = run_with((TAGGED, 8))
    (first,), (again,) = (newest_patterns(searched(run)) for _ in range(2))
    accept_pattern(first, acting_user=lead)
    with pytest.raises(Conflict, match=first.name):
        accept_pattern(again, acting_user=lead)
    retire_pattern(first, acting_user=lead)
    accept_pattern(again, acting_user=lead)
