"""What waits for the rows that another transaction holds, and then reads what that one wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Asset, Question, Rubric
from questions.rules.four_tuple import Label
from questions.rules.vocabulary import Decision, ProblemCode, QuestionType
from questions.services.bulk_labels import apply, undo
from questions.services.decisions import decide
from questions.services.gate import check_duplicates, check_items, keep_findings
from questions.services.import_checks import sha256_of
from questions.services.imports import import_questions
from questions.services.labels import set_labels
from questions.services.rubrics import (
    accept_rubric,
    draft_rubric,
    propose_draft,
    propose_drafts,
)
from questions.services.suggestions import KeptSuggestions, Suggestion, keep_suggestions
from tests.factories import make_dataset, make_question, make_task, make_user
from tests.questions.image_world import png
from tests.questions.label_world import MECHANICS, make_knowledge, shown
from tests.questions.test_decisions import doubtful, same_question
from tests.questions.test_rubric_services import CAPPED, PLAIN
from tests.questions.upload_world import line
from tests.waiting import after

pytestmark = pytest.mark.django_db(transaction=True)
ALL_FOUR = {
    "ability_branch": "reasoning",
    "knowledge": MECHANICS,
    "difficulty": 3,
    "modal": "text",
}


@pytest.fixture
def labelled() -> Question:
    make_knowledge()
    question = make_question(make_task())
    set_labels(question, ALL_FOUR, acting_user=make_user(Role.CURATOR, "qian"))
    return question


def labels(question: Question) -> dict[str, object]:
    question.refresh_from_db()
    now = shown(question.label)
    return {
        "ability_branch": now.ability_branch,
        "knowledge": MECHANICS if now.knowledge else None,
        "difficulty": now.difficulty,
        "modal": now.modal,
    }


def test_a_bulk_change_keeps_what_was_saved_meanwhile(labelled: Question, curator: User) -> None:
    by = {"acting_user": curator}
    after(
        lambda: set_labels(labelled, {"modal": "image"}, **by),
        lambda: apply([labelled.pk], {"difficulty": 4}, **by),
    )
    assert labels(labelled) == {**ALL_FOUR, "modal": "image", "difficulty": 4}


def test_a_bulk_change_that_is_sent_twice_is_done_once(labelled: Question, curator: User) -> None:
    def change() -> object:
        return apply([labelled.pk], {"difficulty": 4}, acting_user=curator)

    refused = after(change, change)
    assert isinstance(refused, BadInput)
    assert refused.code == "no_change"
    assert labels(labelled) == {**ALL_FOUR, "difficulty": 4}


def test_an_undo_that_waits_knows_the_labels(labelled: Question, curator: User) -> None:
    by = {"acting_user": curator}
    batch = apply([labelled.pk], {"difficulty": 4}, **by)
    undone = after(
        lambda: Question.objects.select_for_update().get(pk=labelled.pk).save(),
        lambda: undo(batch, **by),
    )
    assert undone.change == {"kept": []}
    assert labels(labelled) == ALL_FOUR


def test_an_older_rubric_does_not_take_the_place_of_a_newer_one(curator: User) -> None:
    question = make_question(make_task(question_type=QuestionType.OPEN_ENDED), marks=("6",))
    first, second = (
        draft_rubric(question, rubric, acting_user=curator) for rubric in (PLAIN, CAPPED)
    )
    by = {"acting_user": curator, "now": timezone.now()}
    refused = after(lambda: accept_rubric(second, **by), lambda: accept_rubric(first, **by))
    assert isinstance(refused, Conflict)
    assert refused.code == "overtaken"
    question.refresh_from_db()
    assert question.rubric == second


@pytest.mark.parametrize("whole_first", [True, False])
def test_drafts_of_a_dataset_and_of_one_question_wait_for_each_other(
    curator: User, whole_first: bool
) -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    key = {"marks": ("5",), "reference_answer": "列方程（2分）\n求得结果（3分）"}
    one, other = (make_question(task, **key) for _ in range(2))
    by = {"acting_user": curator}
    whole, single = (
        lambda: propose_drafts(task.dataset, **by),
        lambda: propose_draft(one, **by),
    )
    after(whole, single) if whole_first else after(single, whole)
    made = Rubric.objects.order_by("pk").values_list("question", "version")
    assert sorted(made) == [(one.pk, 1), (other.pk, 1)]


def test_of_two_decisions_at_once_the_second_is_refused_or_the_same(
    curator: User, admin: User
) -> None:
    question = make_question(key=("F",))
    check_items([question.pk])
    problem = question.problems.get()

    def exclude() -> object:
        by = {"acting_user": curator, "seen_decision": 0}
        return decide(problem, Decision.EXCLUDE, "no right option", **by)

    first = after(exclude, exclude)
    assert problem.decisions.get() == first
    other = after(
        lambda: decide(problem, Decision.KEEP, "fine", acting_user=admin, seen_decision=first.pk),
        lambda: decide(problem, Decision.KEEP, "so", acting_user=curator, seen_decision=first.pk),
    )
    assert isinstance(other, Conflict)
    assert problem.decisions.count() == 2


def test_a_check_of_keys_keeps_the_decision_that_it_waited_for(curator: User) -> None:
    question, problem = doubtful()
    checked = {question.pk: question.current_id}
    after(
        lambda: decide(problem, Decision.EXCLUDE, "misprint", acting_user=curator),
        lambda: keep_findings(ProblemCode.GOLD_UNREAD, {}, checked),
    )
    question.refresh_from_db()
    assert question.status == "excluded"


def test_a_decision_about_a_pair_of_three_waits_for_all_of_them_at_once(curator: User) -> None:
    """A check of keys holds them one after the other: who waits for one must hold none of them."""
    three = [same_question(f"set-{key}", key) for key in "ABC"]
    check_duplicates(make_dataset("set-A"))
    check_duplicates(make_dataset("set-B"))
    problem = three[1].problems.get(code=ProblemCode.CONFLICTING_KEY, other__question=three[2])

    def hold(*questions: Question) -> None:
        rows = Question.objects.filter(pk__in=[one.pk for one in questions])
        list(rows.select_for_update(nowait=True))

    after(
        lambda: hold(three[0]),
        lambda: decide(problem, Decision.EXCLUDE, "the wrong key", acting_user=curator),
        meanwhile=lambda: hold(*three),
    )
    three[1].refresh_from_db()
    assert three[1].status == "excluded"


def test_suggestions_that_are_sent_twice_are_kept_once(curator: User) -> None:
    question = make_question(make_task())

    def keep(difficulty: int) -> object:
        given = Suggestion(question.pk, "model-a", {Label.DIFFICULTY: difficulty})
        return keep_suggestions([given], acting_user=curator)

    assert after(lambda: keep(3), lambda: keep(3)) == KeptSuggestions(0, 1)
    assert after(lambda: keep(4), lambda: keep(2)) == KeptSuggestions(1, 0)
    opinions = question.opinions.filter(model_name="model-a")
    assert list(opinions.order_by("pk").values_list("difficulty", flat=True)) == [3, 4, 2]
    assert opinions.get(followed_by=None).difficulty == 2


def test_of_two_images_of_one_name_at_once_the_second_is_refused(tmp_path: Path) -> None:
    def exam(name: str, colour: str) -> Path:
        (tmp_path / name / "images").mkdir(parents=True)
        (tmp_path / name / "images" / "one.png").write_bytes(png(colour))
        look = {"stem": "Which? ![](image:one.png)\nA. one\nB. two", "images": ["one.png"]}
        (tmp_path / name / "exam.jsonl").write_text(line(1, id=name, **look))
        return tmp_path / name

    red, blue = exam("red", "red"), exam("blue", "blue")
    refused = after(lambda: import_questions("jsonl", red), lambda: import_questions("jsonl", blue))
    assert isinstance(refused, BadInput)
    assert "another image called 'one.png'" in str(refused)
    assert Asset.objects.get().source_sha256 == sha256_of(png("red"))
