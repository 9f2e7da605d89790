"""Rubrics in the bank: drafts count once accepted, files are taken whole or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal as D

import pytest

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question, Rubric, RubricGroup
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from questions.rules.rubric_files import write_csv, write_json
from questions.rules.vocabulary import QuestionType
from questions.selectors.bank import accepted_rubric
from questions.selectors.rubrics import (
    accepted_rubrics,
    dataset_rubrics,
    lines_of,
    waiting_drafts,
)
from questions.services.rubrics import accept_rubric, draft_rubric, import_rubrics
from tests.factories import make_question, make_rubric, make_task, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLAIN = RubricLines((ScoringPoint("all of it", D(6)),))
CAPPED = RubricLines(
    (
        ScoringPoint("names it", D(2)),
        ScoringPoint("effect one", D(2), group=1),
        ScoringPoint("effect two", D(2), group=1),
        ScoringPoint("effect three", D(2), group=1),
    ),
    (PointGroup(D(4), "any two effects", choose=2),),
)


@pytest.fixture
def curator() -> User:
    return make_user(Role.CURATOR)


@pytest.fixture
def question() -> Question:
    return make_question(make_task(question_type=QuestionType.OPEN_ENDED), marks=("6",))


def test_a_draft_does_not_count_until_a_person_accepts_it(
    question: Question, curator: User
) -> None:
    draft = draft_rubric(question, CAPPED, acting_user=curator)
    assert (draft.version, draft.accepted, draft.source) == (1, False, "person")
    assert draft.created_by == curator
    assert accepted_rubric(question) is None
    accepted = accept_rubric(draft, acting_user=curator, now=NOW)
    assert accepted_rubric(question) == draft
    assert (accepted.accepted_by, accepted.accepted_at) == (curator, NOW)
    assert lines_of(Rubric.objects.get()) == CAPPED
    tags = AuditEntry.objects.order_by("pk").values_list("tag", flat=True)
    assert list(tags) == [Tag.RUBRIC_DRAFTED, Tag.RUBRIC_ACCEPTED]


def test_an_accepted_version_stays_when_a_new_one_is_written(
    question: Question, curator: User
) -> None:
    first = accept_rubric(
        draft_rubric(question, CAPPED, acting_user=curator), acting_user=curator, now=NOW
    )
    other = RubricLines((ScoringPoint("all of it", D(6)),))
    second = draft_rubric(question, other, acting_user=curator)
    assert second.version == 2
    assert accepted_rubric(question) == first
    assert lines_of(first) == CAPPED


def test_saving_the_same_again_makes_no_version(question: Question, curator: User) -> None:
    first = draft_rubric(question, CAPPED, acting_user=curator)
    assert draft_rubric(question, CAPPED, acting_user=curator) == first
    assert Rubric.objects.count() == 1


def test_an_unfinished_draft_is_kept_but_not_accepted(question: Question, curator: User) -> None:
    short = RubricLines((ScoringPoint("half of it", D("2.5")),))
    draft = draft_rubric(question, short, acting_user=curator)
    with pytest.raises(BadInput, match=r"add up to 2\.5, full marks are 6"):
        accept_rubric(draft, acting_user=curator, now=NOW)
    assert accepted_rubric(question) is None


@pytest.mark.parametrize(
    ("rubric", "sentence"),
    [
        (RubricLines(), "no scoring point"),
        (RubricLines((ScoringPoint(" ", D(6)),)), "point 1 has no text"),
        (RubricLines((ScoringPoint("a", D(6), sub=2),)), "the question has only 1"),
        (
            RubricLines((ScoringPoint("![](image:f.png)", D(6)),)),
            "point 1 shows the picture",
        ),
    ],
)
def test_what_is_no_rubric_is_refused(
    question: Question, curator: User, rubric: RubricLines, sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        draft_rubric(question, rubric, acting_user=curator)
    assert not Rubric.objects.exists()


def test_an_objective_question_has_no_rubric(curator: User) -> None:
    with pytest.raises(BadInput, match="subjective questions have a rubric"):
        draft_rubric(make_question(), CAPPED, acting_user=curator)


def test_a_version_is_accepted_once_and_never_behind_a_later_one(
    question: Question, curator: User
) -> None:
    first = draft_rubric(question, CAPPED, acting_user=curator)
    second = draft_rubric(question, RubricLines((ScoringPoint("all", D(6)),)), acting_user=curator)
    accept_rubric(second, acting_user=curator, now=NOW)
    with pytest.raises(Conflict, match="already"):
        accept_rubric(second, acting_user=curator, now=NOW)
    with pytest.raises(Conflict, match="Version 2"):
        accept_rubric(first, acting_user=curator, now=NOW)


def file_of(question: Question, **changes: object) -> bytes:
    """A file with a rubric of *question*, and with *changes* a second one that differs in them."""
    row = {
        "dataset": question.task.dataset.slug,
        "task": question.task.slug,
        "id": question.external_id,
        "rubric": [{"text": "all", "points": 6}],
    }
    return json.dumps({"rubrics": [row, row | changes] if changes else [row]}).encode()


def imported(content: bytes, curator: User, *, accept: bool = False) -> tuple[int, int]:
    done = import_rubrics(content, "r.json", acting_user=curator, accept=accept, now=NOW)
    return done.new, done.same


def test_a_file_brings_drafts(question: Question, curator: User) -> None:
    assert imported(file_of(question), curator) == (1, 0)
    rubric = Rubric.objects.get()
    assert (rubric.accepted, rubric.source) == (False, "file")
    assert imported(file_of(question), curator) == (0, 1)


@pytest.mark.parametrize("accept", [False, True])
def test_what_counts_already_brings_nothing_while_a_newer_draft_waits(
    question: Question, curator: User, accept: bool
) -> None:
    imported(file_of(question), curator, accept=True)
    draft_rubric(question, PLAIN, acting_user=curator)
    assert imported(file_of(question), curator, accept=accept) == (0, 1)
    assert question.rubrics.count() == 2


def test_who_imports_may_accept_at_once(question: Question, curator: User) -> None:
    imported(file_of(question), curator)
    assert imported(file_of(question), curator, accept=True) == (1, 0)
    rubric = accepted_rubric(question)
    assert rubric is not None
    assert (rubric.version, rubric.accepted_by, rubric.accepted_at) == (2, curator, NOW)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id": "none"}, r"^r\.json, row 2: There is no question none in the task"),
        ({"id": "x", "rubric": []}, r"^r\.json, row 2: "),
        ({"id": "x", "rubric": [{"text": "a"}]}, "row 2: The key 'rubric.1.points' is missing"),
    ],
)
def test_a_bad_row_refuses_the_whole_file(
    question: Question, curator: User, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        imported(file_of(question, **changes), curator)
    assert not Rubric.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_rubric_that_does_not_add_up_cannot_be_accepted_by_a_file(
    question: Question, curator: User
) -> None:
    content = file_of(question).replace(b'"points": 6', b'"points": 5')
    with pytest.raises(BadInput, match=r"^r\.json, row 1: .* full marks are 6"):
        imported(content, curator, accept=True)
    assert imported(content, curator) == (1, 0)


def test_what_is_exported_can_be_imported_elsewhere(question: Question, curator: User) -> None:
    accept_rubric(draft_rubric(question, CAPPED, acting_user=curator), acting_user=curator, now=NOW)
    wanted = list(accepted_rubrics("exam"))
    RubricGroup.objects.update(text="lost")
    assert list(accepted_rubrics("exam")) != wanted
    for content in (write_csv(wanted), write_json(wanted)):
        import_rubrics(content, "r", acting_user=curator, accept=True, now=NOW)
        assert list(accepted_rubrics()) == wanted
    assert list(accepted_rubrics("other")) == []


def test_the_bank_counts_its_rubrics(question: Question, curator: User) -> None:
    marked = question.task
    make_rubric(make_question(marked), (("all", "6"),))
    make_question(marked)
    make_question()  # objective: counts nowhere
    draft = draft_rubric(question, CAPPED, acting_user=curator)
    (line,) = dataset_rubrics()
    assert (line.slug, line.items, line.accepted, line.drafts, line.without) == ("exam", 3, 1, 1, 1)
    assert list(waiting_drafts()) == [draft]
    accept_rubric(draft, acting_user=curator, now=NOW)
    newer = draft_rubric(question, PLAIN, acting_user=curator)
    (line,) = dataset_rubrics()
    assert (line.items, line.accepted, line.drafts, line.without) == (3, 2, 1, 1)
    assert list(waiting_drafts()) == [newer]
