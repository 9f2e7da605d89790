"""Decisions about problems: each a row with a reason, undone by a newer one, kept by imports."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import transaction
from django.urls import reverse

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.importers.records import QuestionRecord
from questions.models import ItemDecision, ItemProblem, Question, QuestionRevision
from questions.rules.four_tuple import Label
from questions.rules.vocabulary import Decision, Language, QuestionType
from questions.selectors.export_records import question_record
from questions.selectors.gate import live_problem
from questions.selectors.labels import four_tuple
from questions.services.bank import store_records
from questions.services.decisions import Repair, decide
from questions.services.gate import check_duplicates, check_items
from questions.services.import_checks import NewImages
from questions.services.labels import set_labels
from questions.views import problems as problem_views
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question
from tests.questions.test_gate_service import same_question, status

pytestmark = pytest.mark.django_db
KEEP, REPAIR, EXCLUDE = Decision.KEEP, Decision.REPAIR, Decision.EXCLUDE


def doubtful(**fields: object) -> tuple[Question, ItemProblem]:
    """An item with a key that is not on offer, and its problem."""
    question = make_question(key=("F",), **fields)
    check_items([question.pk])
    return question, question.problems.get(code="key_outside_options")


def test_keeping_an_item_releases_it(curator: User) -> None:
    question, problem = doubtful()
    made = decide(problem, KEEP, "  the paper says so ", acting_user=curator)
    assert (made.reason, made.author, made.repaired) == ("the paper says so", curator, None)
    assert status(question) == "active"
    check_items([question.pk])
    assert status(question) == "active", "a later look keeps the decision"
    entry = AuditEntry.objects.get(tag="item.decided")
    assert (entry.actor, entry.detail) == (curator, {"problem": problem.pk, "decision": "keep"})


def test_every_quarantining_problem_needs_its_decision(curator: User) -> None:
    question = make_question(key=("F", "BC"))
    check_items([question.pk])
    first, *others = question.problems.filter(quarantines=True)
    assert len(others) >= 1
    decide(first, KEEP, "fine", acting_user=curator)
    assert status(question) == "quarantined"
    for problem in others:
        decide(problem, KEEP, "fine", acting_user=curator)
    assert status(question) == "active"


def test_excluding_and_taking_it_back(curator: User, admin: User) -> None:
    question, problem = doubtful()
    decide(problem, EXCLUDE, "no right option", acting_user=curator)
    assert status(question) == "excluded"
    decide(problem, KEEP, "the errata sheet adds F", acting_user=admin)
    assert status(question) == "active"
    history = problem.decisions.values_list("decision", "reason", "author__username")
    assert list(history) == [
        ("exclude", "no right option", "chen"),
        ("keep", "the errata sheet adds F", "ada"),
    ]


def test_a_repair_remembers_the_published_key(curator: User) -> None:
    question, problem = doubtful()
    published = question.current
    made = decide(
        problem, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=(" d ",))
    )
    question.refresh_from_db()
    assert made.repaired == question.current
    current = QuestionRevision.objects.get(current_of=question)
    assert (current.number, current.answer_key, current.published_key) == (2, ["D"], ["F"])
    assert (current.author, current.reason) == (curator, "misprint")
    assert (current.stem, current.full_marks) == (published.stem, published.full_marks)
    assert current.content_hash != published.content_hash
    assert question.status == "active"
    decide(problem, REPAIR, "again", acting_user=curator, repair=Repair(answer_key=("C",)))
    current = QuestionRevision.objects.get(current_of=question)
    assert (current.number, current.answer_key, current.published_key) == (3, ["C"], ["F"])


def test_a_repair_is_undone_by_keeping_what_was_published(curator: User) -> None:
    question, problem = doubtful()
    decide(problem, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("D",)))
    decide(problem, KEEP, "no misprint", acting_user=curator)
    current = QuestionRevision.objects.get(current_of=question)
    assert (current.number, current.answer_key, current.published_key) == (3, ["F"], ["F"])
    assert status(question) == "active", "the problem came back, and is decided with it"
    assert QuestionRevision.objects.filter(question=question).count() == 3


def test_a_repair_that_brings_a_new_problem_stays_in_quarantine(curator: User) -> None:
    question, problem = doubtful(analysis="故选C。")
    decide(problem, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("D",)))
    assert status(question) == "quarantined"
    live = ItemProblem.objects.filter(live_problem()).values_list("code", flat=True)
    assert list(live) == ["key_against_analysis"]


@pytest.mark.parametrize(
    ("decision", "reason", "repair", "code"),
    [
        (KEEP, "  ", None, "no_reason"),
        (KEEP, "x" * 201, None, "reason_too_long"),
        (KEEP, "why", Repair(answer_key=("A",)), "not_a_repair"),
        (REPAIR, "why", None, "no_repair"),
        (REPAIR, "why", Repair(), "no_change"),
        (REPAIR, "why", Repair(answer_key=("F",)), "no_change"),
        (REPAIR, "why", Repair(answer_key=("G",)), "key_outside_options"),
        (REPAIR, "why", Repair(answer_key=("AB",)), "several_letters"),
        (REPAIR, "why", Repair(answer_key=("A", "B")), "key_count"),
        (REPAIR, "why", Repair(answer_key=("",)), "empty_key"),
        (REPAIR, "why", Repair(answer_key=("A",), options=("1", "2")), "option_count"),
        (REPAIR, "why", Repair(stem=" "), "no_stem"),
        (REPAIR, "why", Repair(answer_key=("A",), stem="x" * 200_001), "too_long"),
        (REPAIR, "why", Repair(analysis="![x](image:nope.png)"), "unknown_picture"),
        (REPAIR, "why", Repair(options=("![](image:nope.png)", "2", "3", "4")), "unknown_picture"),
    ],
)
def test_what_is_refused_leaves_nothing(
    curator: User, decision: Decision, reason: str, repair: Repair | None, code: str
) -> None:
    question, problem = doubtful()
    with pytest.raises(BadInput) as refused, transaction.atomic():
        decide(problem, decision, reason, acting_user=curator, repair=repair)
    assert refused.value.code == code
    assert not ItemDecision.objects.exists()
    assert QuestionRevision.objects.filter(question=question).count() == 1
    assert status(question) == "quarantined"


def test_a_question_that_was_changed_meanwhile_is_looked_at_again(curator: User) -> None:
    question, problem = doubtful()
    seen = question.current_id
    decide(problem, REPAIR, "a", acting_user=curator, repair=Repair(answer_key=("D",)), seen=seen)
    with pytest.raises(Conflict):
        decide(problem, EXCLUDE, "b", acting_user=curator, seen=seen)


def test_a_decision_that_was_not_seen_is_not_overridden(curator: User, admin: User) -> None:
    question, problem = doubtful()
    first = decide(problem, EXCLUDE, "no right option", acting_user=curator, seen_decision=0)
    with pytest.raises(Conflict, match="decided in the meantime"):
        decide(problem, KEEP, "fine", acting_user=admin, seen_decision=0)
    assert (status(question), problem.decisions.count()) == ("excluded", 1)
    decide(problem, KEEP, "fine", acting_user=admin, seen_decision=first.pk)
    assert status(question) == "active"
    decide(problem, EXCLUDE, "again", acting_user=curator)
    assert status(question) == "excluded", "who does not say what was seen is not compared"


def test_the_same_decision_sent_again_is_one(curator: User) -> None:
    """Also where it makes a revision, in both directions."""
    _question, problem = doubtful()
    revision, counting = problem.revision_id, 0
    repair = Repair(answer_key=("d",))
    for decision, contents in ((EXCLUDE, None), (REPAIR, repair), (KEEP, None)):
        by = {"acting_user": curator, "repair": contents}
        seen = {"seen": revision, "seen_decision": counting}
        made, again = (decide(problem, decision, "so", **by, **seen) for _ in range(2))
        assert made == again
        counting, revision = made.pk, made.repaired_id or revision
    assert problem.decisions.count() == 3
    assert AuditEntry.objects.filter(tag="item.decided").count() == 3
    other = Repair(answer_key=("A",))
    decide(problem, REPAIR, "so", acting_user=curator, repair=repair, seen_decision=counting)
    with pytest.raises(Conflict):
        decide(problem, REPAIR, "so", acting_user=curator, repair=other, seen_decision=counting)


def test_two_keys_of_one_question_are_settled_by_repairing_the_wrong_one(curator: User) -> None:
    right, wrong = same_question("one", "C"), same_question("two", "D")
    check_duplicates(make_dataset("one"))
    problem = wrong.problems.get(code="conflicting_key")
    decide(problem, REPAIR, "wrong key", acting_user=curator, repair=Repair(answer_key=("C",)))
    assert (status(right), status(wrong)) == ("active", "active")


def test_excluding_one_of_two_leaves_the_other_without_a_rival(curator: User) -> None:
    right, wrong = same_question("one", "C"), same_question("two", "D")
    check_duplicates(make_dataset("one"))
    problem = wrong.problems.get(code="conflicting_key")
    decide(problem, EXCLUDE, "wrong key", acting_user=curator)
    assert (status(right), status(wrong)) == ("active", "excluded")
    decide(problem, KEEP, "not so sure", acting_user=curator)
    assert (status(right), status(wrong)) == ("quarantined", "active")


def test_a_problem_that_another_decision_ended_is_no_fault(
    curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both pages were open; the other question was excluded."""
    right, wrong = same_question("one", "C"), same_question("two", "D")
    check_duplicates(make_dataset("one"))
    problem = right.problems.get(code="conflicting_key")
    client, page = logged_in(curator), reverse("questions:problem", args=[problem.pk])
    sent = {"decision": "exclude", "reason": "typed", "seen": right.current_id}
    decide(wrong.problems.get(code="conflicting_key"), EXCLUDE, "wrong key", acting_user=curator)
    assert not ItemProblem.objects.filter(pk=problem.pk).exists()
    with pytest.raises(Conflict, match="ended this problem in the meantime"):
        decide(problem, EXCLUDE, "typed", acting_user=curator)
    # It was there when the page asked.
    monkeypatch.setattr(problem_views, "problem_whole", lambda _pk: problem)
    answer = client.post(page, sent)
    assert (answer.status_code, "typed" in answer.text) == (409, True)
    assert "ended this problem in the meantime" in answer.text
    assert status(right) == "active"


RECORD = QuestionRecord(
    dataset="exam",
    task="MCQs",
    external_id="1",
    position=1,
    subject=None,
    question_type=QuestionType.SINGLE_CHOICE,
    language=Language.CHINESE,
    stem="哪个？\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
    answer_key=("F",),
    reference_answer="",
    analysis="",
    sub_marks=(Decimal(4),),
    letters="ABCD",
)


def imported(**changes: object) -> Question:
    """The item as an import leaves it whose source gives *changes*."""
    store_records([replace(RECORD, **changes)], NewImages({}, Path()))  # type: ignore[arg-type]
    return Question.objects.get()


def test_a_second_import_keeps_a_repair(curator: User) -> None:
    question = imported()
    assert question.status == "quarantined"
    problem = question.problems.get(quarantines=True)
    decide(problem, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("B",)))
    exported = question_record(Question.objects.get())
    assert exported.answer_key == ("B",)
    for record in (RECORD, exported, RECORD):
        again = store_records([record], NewImages({}, Path()))
        assert (again.counts["same"], again.counts["changed"]) == (1, 0)
    current = QuestionRevision.objects.get(current_of=question)
    assert (current.answer_key, current.author) == (["B"], curator)
    assert status(question) == "active"


@pytest.mark.parametrize(
    ("source", "key", "made"),
    [({}, "F", 6), ({"answer_key": ("B",)}, "B", 4), ({"stem": "哪个对？"}, "F", 4)],
    ids=["an analysis", "the key of the repair", "the text"],
)
def test_taking_a_repair_back_leaves_what_the_source_has_given_since(
    source: dict[str, object], key: str, made: int, curator: User
) -> None:
    question = imported()
    problem = question.problems.get(quarantines=True)
    for repaired in ("C", "B"):
        again = Repair(answer_key=(repaired,))
        decide(problem, REPAIR, "misprint", acting_user=curator, repair=again)
    imported(analysis="New.", **source)
    decide(problem, KEEP, "no misprint", acting_user=curator)
    current = QuestionRevision.objects.get(current_of=question)
    assert (current.answer_key, current.analysis) == ([key], "New.")
    assert current.stem == source.get("stem", RECORD.stem)
    assert current.number == made


def test_taking_a_repair_back_leaves_those_of_other_problems(curator: User) -> None:
    options = ("one", "one", "two", "two")
    question = imported(stem="哪个？", options=options, answer_key=("A",), analysis="故选B。")
    repeated = question.problems.get(code="repeated_options")
    key = question.problems.get(code="key_against_analysis")
    for problem, repair in (
        (repeated, Repair(options=("one", "1", "two", "two"))),
        (key, Repair(answer_key=("B",))),
        (repeated, Repair(options=("one", "1", "two", "2"))),
        (key, Repair(options=("one", "1", "2", "2"))),
    ):
        decide(problem, REPAIR, "misprint", acting_user=curator, repair=repair)
    decide(repeated, KEEP, "as printed", acting_user=curator)
    current = QuestionRevision.objects.get(current_of=question)
    assert current.options == ["one", "one", "2", "two"]
    assert (current.answer_key, current.published_key) == (["B"], ["A"])
    assert status(question) == "active"


def of_two_problems() -> tuple[Question, ItemProblem, ItemProblem]:
    """An item with the key A, its problem of the key and its problem of the options."""
    question = imported(answer_key=("A",), analysis="故选D。", options=("1", "2", "2", "1"))
    codes = ("key_against_analysis", "repeated_options")
    key, options = (question.problems.get(code=code) for code in codes)
    return question, key, options


@pytest.mark.parametrize("newest_first", [False, True])
def test_repairs_on_top_of_each_other_are_taken_back_to_the_source(
    newest_first: bool, curator: User
) -> None:
    question = imported(answer_key=("A",), analysis="故选D。", options=("1", "2", "2", "1"))
    key, options = (
        question.problems.get(code=c) for c in ("key_against_analysis", "repeated_options")
    )
    first, second = Repair(answer_key=("B",)), Repair(answer_key=("C",))
    decide(key, REPAIR, "misprint", acting_user=curator, repair=first)
    decide(options, REPAIR, "no, C", acting_user=curator, repair=second)
    keys = []
    for problem in (options, key) if newest_first else (key, options):
        decide(problem, KEEP, "as printed", acting_user=curator)
        keys.append(QuestionRevision.objects.get(current_of=question).answer_key)
    assert keys == [["B"] if newest_first else ["C"], ["A"]]


def test_an_exclusion_that_is_taken_back_leaves_the_repair_before_it(curator: User) -> None:
    question = imported(answer_key=("A",), analysis="故选D。", options=("1", "2", "2", "1"))
    key, options = (
        question.problems.get(code=c) for c in ("key_against_analysis", "repeated_options")
    )
    decide(key, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("D",)))
    repair = Repair(options=("1", "2", "3", "1"))
    decide(options, REPAIR, "misprint", acting_user=curator, repair=repair)
    for decision in (EXCLUDE, KEEP):
        decide(key, decision, "so", acting_user=curator)
    decide(options, KEEP, "as printed", acting_user=curator)
    now = QuestionRevision.objects.get(current_of=question)
    assert (now.answer_key, now.options) == (["D"], ["1", "2", "2", "1"])


def test_a_repair_that_an_import_has_overtaken_never_comes_back(curator: User) -> None:
    question, key, _options = of_two_problems()
    decide(key, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("D",)))
    imported(stem="哪个对？", answer_key=("C",), analysis="故选D。", options=("1", "2", "2", "1"))
    again = question.problems.filter(code="key_against_analysis").latest("pk")
    assert again != key
    decide(again, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("B",)))
    decide(again, KEEP, "as printed", acting_user=curator)
    assert QuestionRevision.objects.get(current_of=question).answer_key == ["C"]


def test_a_repair_that_was_kept_after_an_exclusion_is_confirmed(curator: User) -> None:
    question, key, _options = of_two_problems()
    decide(key, REPAIR, "misprint", acting_user=curator, repair=Repair(answer_key=("D",)))
    for decision in (EXCLUDE, KEEP):
        decide(key, decision, "D stands", acting_user=curator)
    decide(key, REPAIR, "a full stop", acting_user=curator, repair=Repair(stem="哪个。"))
    decide(key, KEEP, "no full stop", acting_user=curator)
    now = QuestionRevision.objects.get(current_of=question)
    assert (now.answer_key, now.stem) == (["D"], RECORD.stem)


@pytest.mark.parametrize("by_person", [False, True])
def test_the_modal_is_found_in_the_repaired_text(by_person: bool, curator: User) -> None:
    question = imported()
    if by_person:
        set_labels(question, {"modal": "image"}, acting_user=curator)
    problem = question.problems.get(quarantines=True)

    def modal() -> tuple[str, str]:
        labels = four_tuple(Question.objects.select_related("label").get().label)
        return labels.modal, labels.origins[Label.MODAL]

    before = modal()
    table = "哪个？\n| a | b |\n|---|---|\n| 1 | 2 |"
    repair = Repair(stem=table, answer_key=("B",))
    decide(problem, REPAIR, "lost table", acting_user=curator, repair=repair)
    with_table = before if by_person else ("text_table", "content")
    assert modal() == with_table
    imported(analysis="New.")
    assert modal() == with_table, "the import keeps the repair"
    decide(problem, KEEP, "as printed", acting_user=curator)
    assert modal() == before


def test_who_takes_an_exclusion_back_gets_the_rivals_back(curator: User) -> None:
    """Undecided pairs of an excluded item are removed; all of them are found again."""
    one, two, three = (same_question(name, key) for name, key in zip("abc", "ABC", strict=True))
    check_duplicates(make_dataset("a"))
    problem = one.problems.get(code="conflicting_key", other__question=two)
    decide(problem, EXCLUDE, "wrong key", acting_user=curator)
    assert not one.problems.filter(other__question=three).exists()
    decide(problem, KEEP, "no misprint", acting_user=curator)
    assert one.problems.get(code="conflicting_key", other__question=three).decision is None
    assert status(one) == "quarantined"
