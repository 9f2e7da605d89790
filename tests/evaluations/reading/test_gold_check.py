"""The ceiling: keys in every form, what fails goes to the gate, and a person's word stays."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluations.reading.rules.extraction.surface_forms import surface_forms
from evaluations.reading.selectors.gold_checks import gold_check
from evaluations.reading.services.gold_check import check_golds
from gradeapp.accounts.models import User
from gradeapp.common.refusals import NotFound
from questions.models import FewShotExample, HumanRate, ItemProblem, Question, Task
from questions.rules.vocabulary import Decision, ItemStatus, ProblemCode, QuestionType
from questions.services.decisions import decide
from questions.services.gate import check_items
from questions.services.imports import import_questions
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task


def items(**kinds: tuple[QuestionType, tuple[str, ...], str]) -> dict[str, Question]:
    made = {}
    for name, (kind, key, letters) in kinds.items():
        task = make_task(make_dataset("exam"), question_type=kind)
        marks = ("1",) * len(key)
        made[name] = make_question(task, key=key, marks=marks, letters=letters)
    return made


GOOD = {
    "single": (QuestionType.SINGLE_CHOICE, ("B",), "ABCD"),
    "multiple": (QuestionType.MULTIPLE_CHOICE, ("ACD",), "ABCDE"),
    "several": (QuestionType.SEVERAL_QUESTIONS, ("B", "D", "A"), "ABCD"),
    "five": (QuestionType.FIVE_OUT_OF_SEVEN, ("G", "A", "C", "F", "B"), "ABCDEFG"),
    "exact": (QuestionType.EXACT_ANSWER, ("$\\frac{2\\sqrt{5}}{5}$",), ""),
}


@pytest.mark.parametrize("kind", [kind for kind, _key, _letters in GOOD.values()])
def test_there_are_at_least_six_forms_and_all_differ(kind: QuestionType) -> None:
    keys = {kind: key for kind, key, _letters in GOOD.values()}
    forms = surface_forms(keys[kind], kind)
    assert len({form.name for form in forms}) == len({form.output for form in forms}) >= 6


@pytest.mark.django_db
def test_good_keys_pass_in_every_form(curator: User) -> None:
    items(**GOOD)
    (found,) = check_golds("exam").datasets
    assert found.failed == ()
    assert (found.items, found.passed, found.failed_items) == (5, found.written, 0)
    out = StringIO()
    call_command("check_golds", "--dataset", "exam", "--format", "json", stdout=out)
    (printed,) = json.loads(out.getvalue())["datasets"]
    assert (printed["dataset"], printed["items"], printed["failed"]) == ("exam", 5, [])
    with pytest.raises(NotFound):
        check_golds("no-such")
    passed = gold_check("exam")
    assert passed is not None
    assert (passed.items, passed.failed) == (5, 0)
    items(one_more=GOOD["single"])
    assert gold_check("exam") is None
    response = logged_in(curator).post(reverse("scoring:golds"), {"dataset": "exam"})
    assert (response.status_code, gold_check("exam") is None) == (302, False)


@pytest.mark.django_db
def test_two_keys_where_one_is_read_fail_by_themselves(curator: User) -> None:
    """Older imports stored such a question."""
    items(two=(QuestionType.SINGLE_CHOICE, ("A", "B"), "ABCD"), good=GOOD["single"])
    (found,) = check_golds("exam").datasets
    assert [(one.key, one.form) for one in found.failed] == [(["A", "B"], "no key")]
    assert (found.items, found.quarantined) == (2, 1)


@pytest.mark.django_db
def test_what_fails_is_quarantined_once_and_a_person_decides(curator: User) -> None:
    (bad,) = items(bad=(QuestionType.SINGLE_CHOICE, ("F",), "ABCD")).values()
    for _ in range(2):
        (found,) = check_golds("exam").datasets
        assert (found.failed_items, found.quarantined) == (1, 1)
    problem = ItemProblem.objects.get(question=bad, code=ProblemCode.GOLD_UNREAD)
    assert "bare" in problem.detail["forms"]
    check_items([bad.pk])
    assert ItemProblem.objects.filter(pk=problem.pk).exists()
    for own in ItemProblem.objects.filter(question=bad):
        decide(own, Decision.KEEP, "the letter is printed", acting_user=curator)
    check_golds("exam")
    bad.refresh_from_db()
    assert bad.status == ItemStatus.ACTIVE


@pytest.mark.django_db
def test_what_passes_later_leaves_the_gate() -> None:
    (item,) = items(item=GOOD["single"]).values()
    revision = item.current
    assert revision is not None
    ItemProblem.objects.create(
        question=item,
        revision=revision,
        code=ProblemCode.GOLD_UNREAD,
        detail={"forms": ["bare"]},
        quarantines=True,
    )
    check_golds("exam")
    item.refresh_from_db()
    assert (item.status, item.problems.count()) == (ItemStatus.ACTIVE, 0)


@pytest.mark.shareddata
@pytest.mark.django_db
def test_every_key_of_agieval_scores_or_is_in_quarantine(shared_data: Path) -> None:
    """One item has no key. The other benchmarks: reports/test_published_figures.py and
    questions/test_published_labels.py.
    """
    loaded = import_questions("agieval", shared_data / "agieval")
    assert (loaded.read, loaded.new, loaded.refused) == (8269, 8269, 0)
    assert [one.objects.count() for one in (Task, HumanRate, FewShotExample)] == [21, 42, 83]
    (found,) = check_golds("agieval").datasets
    assert {f"{one.task} {one.question}" for one in found.failed} == {"jec-qa-kd 211"}
    (held,) = ItemProblem.objects.filter(code=ProblemCode.GOLD_UNREAD)
    assert held.question.status == ItemStatus.QUARANTINED
