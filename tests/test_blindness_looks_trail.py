"""Looks at what entries of the audit trail tell: marks, models, and sums of files of marks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from django.db import transaction

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice, SeedWish
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import add_teachers
from evaluations.models import FinalMark, Look, Mark, MarkingRound, Response
from evaluations.models.vocabulary import AnswerRole, RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)
from tests.evaluations.review_world import items_of, review_of, say
from tests.test_blindness_looks import judged, marked, planned
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db
TRAIL = "/audit/"


def read(person: User, address: str) -> None:
    """Open a page of the trail, or read its file to the end."""
    seen = logged_in(person).get(address)
    assert seen.status_code == 200, address
    b"".join(seen.streaming_content) if seen.streaming else seen.content


def barred(person: User, pages: Sequence[str], others: Sequence[User], about: Response) -> set[str]:
    """Those of *pages* after which *person* may not mark the response *about*."""
    found = set()
    for page in pages:
        before = transaction.savepoint()
        read(person, page)
        assert not planned([about], others, None), "nobody else looked"
        if planned([about], [person, others[0]], None):
            found.add(page)
        transaction.savepoint_rollback(before)
    return found


def test_who_reads_of_marks_in_the_trail_gives_none(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """By page, filter, object and file; entries that tell nothing of a response bar nobody."""
    made, response = marked([teacher, other_teacher])
    person = also(third_teacher, [Role.ADMIN])
    say(items_of(review_of(response.run, [other_teacher]))[0], other_teacher)
    noted = partial(record, actor=lead)
    noted(Tag.SEED_MARKED, "run:1", total="9")  # of another object
    noted(Tag.ROUND_PLANNED, made, choice={"runs": [response.run_id]})
    noted(Tag.MARKS_RETURNED, made, responses=[1])
    noted(Tag.ANSWER_PASTED, response.run, response=str(response.public_id))
    mark, final = Mark.objects.earliest("pk"), FinalMark.objects.get()
    telling = [
        *(TRAIL, f"{TRAIL}export/", f"{TRAIL}?person={teacher.username}"),
        *(f"{TRAIL}?object=mark:{mark.pk}", f"{TRAIL}export/?object=finalmark:{final.pk}"),
        *(
            f"{TRAIL}?action={tag}"
            for tag in (
                *(Tag.MARK_SAVED, Tag.MARK_FINALIZED, Tag.ANSWER_REVIEWED),
                *(Tag.ROUND_PLANNED, Tag.MARKS_RETURNED, Tag.ANSWER_PASTED),
            )
        ),
    ]
    silent = [f"{TRAIL}?action={tag}" for tag in (Tag.ROUND_OPENED, Tag.SEED_MARKED, Tag.LOGIN)]
    others = [also(lead, [Role.LEAD]), also(teacher, [Role.LEAD])]
    assert barred(person, [*telling, *silent], others, response) == set(telling)
    own = also(teacher, [Role.ADMIN])
    assert not barred(own, [f"{TRAIL}?person={own.username}"], [*others[:1], person], response)


def test_who_reads_which_runs_a_round_has_knows_the_model_where_it_is_one(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Of a question that two models answered it tells none. Who read the plan does not join."""
    question = subjective_question()
    both = [responses_to(question, 1, model)[0] for model in ("one", "two")]
    alone = responses_to(subjective_question(), 1, "one")
    made = round_over([*both, *alone], [teacher, other_teacher])
    person = also(third_teacher, [Role.ADMIN])
    read(person, f"{TRAIL}?action={Tag.ROUND_PLANNED}")
    with pytest.raises(BadInput, match="has looked"):
        add_teachers(made, [person], acting_user=lead)
    assert not planned(both, [person, other_teacher], lead)
    assert planned(alone, [person, other_teacher], lead) == "looked"


def test_who_reads_which_response_of_a_round_was_opened_does_not_join_it(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Leads open those of seed answers; that one opened the list of them tells none."""
    chosen = ResponseChoice(tuple(one.run_id for one in responses_to(subjective_question(), 3)))
    settings = RoundSettings("Soon", 7, Scheme.TWO_AND_LEAD, seeds=SeedWish(premarked=1))
    people, person = [teacher, other_teacher], also(third_teacher, [Role.ADMIN])
    made = plan_round(settings, responses=chosen, teachers=people, acting_user=None)
    seed = made.answers.get(role=AnswerRole.SEED)
    looked = Look.objects.filter(person=person)
    for page in ("", f"{seed.public_id}/"):
        assert not looked.exists()
        read(lead, f"/rounds/{made.public_id}/seeds/{page}")
        read(person, f"{TRAIL}export/?action={Tag.ROUND_VIEWED}")
    with pytest.raises(BadInput, match="has looked"):
        add_teachers(made, [person], acting_user=lead)


def test_reading_the_trail_again_adds_no_entry_to_it(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 1)
    give(answers_of(made)[0], teacher, ["3", "3", "3"])
    record(Tag.ROUND_PLANNED, made, actor=teacher)
    person = also(third_teacher, [Role.ADMIN])
    seen = AuditEntry.objects.filter(tag=Tag.ROUND_VIEWED, actor=person)
    for _time in range(2):
        read(person, TRAIL)
        assert sorted(seen.values_list("target", flat=True)) == [f"markinground:{made.pk}"] * 2


def test_a_mark_that_is_held_back_is_no_look(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 1)
    give(answers_of(made)[0], teacher, ["3", "3", "3"])
    MarkingRound.objects.update(arbiter_marks_first=True, status=RoundStatus.OPEN)
    person = also(third_teacher, [Role.ADMIN])
    read(person, f"{TRAIL}?action={Tag.MARK_SAVED}")
    assert not Look.objects.filter(person=person).exists()


def test_who_reads_the_sum_of_a_file_knows_what_its_taker_knows(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Of a table the small cells, of a file of marks its runs, also where the command made it."""
    question = subjective_question()
    (first,), (second,) = responses_to(question, 1), responses_to(subjective_question(), 1)
    judged([first])
    slug, person = question.task.dataset.slug, also(teacher, [Role.ADMIN])
    marker = f"dataset={slug}&marker=judge:judge"
    record(Tag.EXPORTED, question, actor=None, sha256="00", parameters={"dataset": slug})
    read(lead, f"/reports/export/rates.csv?{marker}")
    read(person, f"{TRAIL}?person={lead.username}")
    assert planned([first], [person, other_teacher], lead) == "looked"
    assert not planned([second], [person, other_teacher], lead), "its mark is in no cell"
    before = transaction.savepoint()
    read(lead, f"/reports/export/scores.csv?{marker}")
    read(person, f"{TRAIL}?action={Tag.EXPORTED}")
    assert planned([second], [person, other_teacher], lead) == "looked"
    transaction.savepoint_rollback(before)
    dataset = question.task.dataset
    older = {"dataset": slug, "models": ["another"], "hue": 1}
    record(Tag.EXPORTED, dataset, actor=None, sha256="00", parameters=older)
    read(person, TRAIL)
    assert not planned([second], [person, other_teacher], lead)
    record(Tag.EXPORTED, dataset, actor=None, sha256="00", parameters={"dataset": slug})
    read(person, TRAIL)
    assert planned([second], [person, other_teacher], lead) == "looked"


def test_who_reads_what_was_searched_and_found_knows_the_runs(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The entry has words, filters and the number of rows: which of two models wrote the words."""
    question = subjective_question()
    wrote, other = (responses_to(question, 1, model)[0] for model in ("one", "two"))
    elsewhere = responses_to(subjective_question(), 1, "three")[0]
    person, people = also(teacher, [Role.ADMIN]), [teacher, other_teacher]
    read(lead, f"/runs/search/export/?q=seconds&run={wrote.run_id}")
    for page in ("", "export/"):
        before = transaction.savepoint()
        read(person, f"{TRAIL}{page}?object=responses")
        assert planned([wrote, other], people, None) == "looked"
        assert not planned([elsewhere], people, None)
        transaction.savepoint_rollback(before)
    read(lead, "/runs/search/export/?q=seconds&model=three")
    read(person, TRAIL)
    assert planned([elsewhere], people, None) == "looked"
