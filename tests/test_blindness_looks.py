"""Looks that are kept before any round exists: single marks in reports, files, imports, plans.

A person of two roles looks first, and is then given to a round over what they saw.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluations.facts.answer_facts import record_judgements
from evaluations.facts.looks import SMALL_CELL, record_runs
from evaluations.imports.services.answer_imports import import_answers
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import (
    Judge,
    Judgement,
    Look,
    MarkingRound,
    Response,
    Run,
)
from evaluations.models.vocabulary import (
    RoundStatus,
)
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
from tests.test_blindness_roles import also
from tests.waiting import after

pytestmark = pytest.mark.django_db
SETTINGS = RoundSettings("Soon", 7, Scheme.TWO_AND_LEAD)


def judged(responses: Sequence[Response]) -> Judge:
    """A judge that has marked *responses*."""
    judge = Judge.objects.create(name="judge")
    facts = {"total": Decimal(7), "full": Decimal(12), "status": "scored", "flags": []}
    for response in responses:
        Judgement.objects.create(response=response, judge=judge, reply="7", **facts)
    record_judgements([response.pk for response in responses])
    return judge


def planned(responses: Sequence[Response], teachers: Sequence[User], lead: User | None) -> str:
    """Plan a round of *teachers* over *responses*; "" or why it is refused."""
    choice = ResponseChoice(tuple(sorted({one.run_id for one in responses})))
    try:
        with transaction.atomic():
            plan_round(SETTINGS, responses=choice, teachers=teachers, acting_user=lead)
            transaction.set_rollback(True)
    except BadInput as refusal:
        return refusal.code
    return ""


OF_ONE = [
    "/reports/?dataset={dataset}&marker=judge:judge",
    "/reports/cuts/?dataset={dataset}&marker=judge:judge&by=task,year",
    "/reports/years/?dataset={dataset}&marker=judge:judge",
    "/reports/export/cuts.csv?dataset={dataset}&marker=judge:judge&by=task,year",
    "/reports/export/rates.csv?dataset={dataset}&marker=judge:judge",
    "/reports/export/scores.csv?dataset={dataset}&marker=judge:judge",
    *(
        f"/api/v1/reports/{name}/?dataset={{dataset}}&marker=judge:judge"
        for name in ("rates", "ledger", "trend", "converted")
    ),
    "/api/v1/reports/cuts/?dataset={dataset}&marker=judge:judge&by=subject",
    *("/runs/responses/{response}/", "/api/v1/responses/{response}/"),
    "/runs/search/export/?run={run}",
    "/judging/{judge}/{response}/",
]


def test_who_saw_the_mark_of_one_response_is_in_no_later_round_over_it(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """There is no round when they look; others may mark, and a page without marks bars nobody."""
    question = subjective_question(year=2022)
    chosen = responses_to(question, 1)
    judge = judged(chosen)
    person, names = also(teacher, [Role.LEAD]), {"dataset": question.task.dataset.slug}
    names |= {"response": chosen[0].public_id, "run": chosen[0].run_id, "judge": judge.pk}
    free = []
    for page in ("/runs/{run}/", "/rounds/", *OF_ONE):
        before = transaction.savepoint()
        seen = logged_in(person).get(page.format(**names), follow=True)
        assert seen.status_code == 200, page
        b"".join(seen.streaming_content) if seen.streaming else seen.content
        why = planned(chosen, [person, other_teacher], lead)
        assert why in ("", "looked"), page
        assert not planned(chosen, [other_teacher, lead_who_marks(lead)], None), page
        free += [] if why else [page]
        transaction.savepoint_rollback(before)
    assert free == ["/runs/{run}/", "/rounds/"]


def lead_who_marks(lead: User) -> User:
    """The same lead, who may mark too."""
    return also(lead, [Role.LEAD])


def test_a_figure_of_five_responses_bars_nobody(
    teacher: User, other_teacher: User, lead: User
) -> None:
    chosen = responses_to(subjective_question(year=2022), SMALL_CELL)
    judged(chosen)
    person = also(teacher, [Role.LEAD])
    page = f"/reports/?dataset={chosen[0].question.task.dataset.slug}&marker=judge:judge"
    assert logged_in(person).get(page).status_code == 200
    assert not planned(chosen, [person, other_teacher], lead)
    Judgement.objects.filter(response=chosen[0]).delete()
    record_judgements([one.pk for one in chosen])
    assert logged_in(person).get(page).status_code == 200
    assert planned(chosen, [person, other_teacher], lead) == "looked"
    assert planned(chosen[:1], [person, other_teacher], lead) == "looked", "others of its question"
    elsewhere = responses_to(subjective_question(year=2022), 1)
    assert not planned(elsewhere, [person, other_teacher], lead)


def test_pairs_of_marks_of_one_response(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """The list of judges and the agreement compare a judge with teachers of a closed round."""
    made = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(made)
    for one in (teacher, other_teacher):
        give(answer, one, ["3", "3", "6"])
    judge, dataset = judged([answer.response]), made.dataset.slug
    person = also(third_teacher, [Role.LEAD])
    pages = ["/judging/", f"/judging/{judge.pk}/calibration/"]
    pages += [f"/api/v1/reports/{name}/?dataset={dataset}" for name in ("agreement", "calibration")]
    for page in pages:
        before = transaction.savepoint()
        assert logged_in(person).get(page).status_code == 200, page
        assert planned([answer.response], [person, other_teacher], lead) == "looked", page
        transaction.savepoint_rollback(before)


def marked(teachers: Sequence[User]) -> tuple[MarkingRound, Response]:
    """A closed round with one response that has a final mark below full marks."""
    made = small_round(teachers, 1)
    (answer,) = answers_of(made)
    for one in teachers:
        give(answer, one, ["3", "3", "3"])
    assert answer.finals.exists()
    close_round(made, acting_user=None, now=timezone.now())
    return made, answer.response


def test_who_read_the_marks_of_a_round_is_in_no_other_over_the_same_responses(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    made, response = marked([teacher, other_teacher])
    person = also(third_teacher, [Role.LEAD])
    assert not planned([response], [person, other_teacher], lead)
    assert logged_in(person).get(f"/rounds/{made.public_id}/").status_code == 200
    assert planned([response], [person, other_teacher], lead) == "looked"
    assert not planned([response], [teacher, other_teacher], lead), "own marks are no look"
    others = responses_to(subjective_question(), 1)
    assert not planned(others, [person, other_teacher], lead)


def test_who_reviews_an_answer_or_reads_a_review_does_not_mark_it(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """A reviewer reads what the answer got, and a lead its model too."""
    _made, response = marked([teacher, other_teacher])
    reader = also(third_teacher, [Role.LEAD])
    before = transaction.savepoint()
    review = review_of(response.run, [teacher])
    assert planned([response], [teacher, other_teacher], lead) == "looked"
    say(items_of(review)[0], teacher)
    assert not planned([response], [reader, other_teacher], lead)
    assert logged_in(reader).get(f"/reviews/{review.public_id}/answers/").status_code == 200
    assert planned([response], [reader, other_teacher], lead) == "looked"
    transaction.savepoint_rollback(before)
    round_over([response], [reader, other_teacher])
    with pytest.raises(BadInput, match="no wrong answers"):  # what is being marked is left out
        review_of(response.run, [other_teacher])


@pytest.mark.parametrize("practice", [False, True])
def test_who_marks_a_question_reviews_no_other_response_to_it(
    practice: bool, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """As who reviewed one marks none, whichever is first; the same text is the same question."""
    _made, response = marked([teacher, other_teacher])
    stem = response.question.current.stem
    others = responses_to(subjective_question(stem=stem), 1, "canary-other")
    made = round_over(others, [third_teacher, other_teacher], practice=practice)
    if not practice:
        with pytest.raises(BadInput, match="reviewers see marks"):
            review_of(response.run, [third_teacher])
        assert not Look.objects.filter(person=third_teacher).exists()
        MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.CLOSED)
    review_of(response.run, [third_teacher])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("review_first", [False, True])
def test_a_review_and_a_round_of_one_question_are_not_begun_at_one_moment(
    review_first: bool, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made, response = marked([teacher, other_teacher])
    others = responses_to(made.answers.get().question, 1, "canary-other")
    begun = [
        lambda: round_over(others, [third_teacher, other_teacher]),
        lambda: review_of(response.run, [third_teacher]),
    ]
    refused = after(begun[review_first], begun[not review_first])
    assert isinstance(refused, BadInput)
    assert refused.code == ("looked" if review_first else "marks")


@pytest.mark.django_db(transaction=True)
def test_a_second_look_reads_nothing_more(teacher: User, lead: User) -> None:
    """What a person has been noted for is remembered until the facts change."""
    chosen = responses_to(subjective_question(year=2022), 2)
    judged(chosen)
    client = logged_in(also(teacher, [Role.LEAD]))
    page = f"/api/v1/reports/rates/?dataset={chosen[0].question.task.dataset.slug}"
    page += "&marker=judge:judge"
    statements = []
    for _look in range(3):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page).status_code == 200
        statements.append([one["sql"] for one in queries if "evaluations_look" in one["sql"]])
    assert statements[0]
    assert not statements[1] + statements[2]
    assert Look.objects.filter(person=teacher).count() == len(chosen)
    more = responses_to(chosen[0].question, 1, "canary-qwen-91bc")
    Judgement.objects.create(
        response=more[0], judge=Judge.objects.get(), reply="7", total=7, full=12, status="scored"
    )
    record_judgements([more[0].pk])
    assert client.get(page).status_code == 200
    assert Look.objects.filter(person=teacher, response=more[0]).exists()


def test_who_imports_answers_marks_none_of_them(
    teacher: User, other_teacher: User, lead: User, tmp_path: Path
) -> None:
    question = subjective_question()
    file = tmp_path / "answers.jsonl"
    row = {"dataset": question.task.dataset.slug, "task": question.task.slug}
    row |= {"id": question.external_id, "model": "own-model", "repeat": 1, "text": "$t = 1$"}
    file.write_text(json.dumps(row) + "\n")
    import_answers("jsonl", file, acting_user=teacher)
    made = list(Response.objects.all())
    assert planned(made, [teacher, other_teacher], lead) == "pasted"
    assert not planned(made, [other_teacher, lead_who_marks(lead)], None)


def test_a_look_at_several_rounds_is_one_entry(
    teacher: User, other_teacher: User, lead: User
) -> None:
    question = subjective_question()
    chosen = responses_to(question, 3)
    for _n in range(3):
        round_over(chosen, [teacher, other_teacher])
    run = Run.objects.get(pk=chosen[0].run_id)
    assert logged_in(lead).get(f"/runs/{run.pk}/responses/").status_code == 200
    entry = AuditEntry.objects.get(tag=Tag.ROUND_VIEWED, actor=lead)
    assert len(entry.detail["rounds"]) == 3
    assert entry.detail["outside"] is True


def test_looks_of_the_audit_trail_are_copied(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """What kept somebody out of a round before there was a table of looks keeps them out still."""
    own, outside = (small_round([teacher, other_teacher], 2) for _n in range(2))
    record(Tag.ROUND_VIEWED, own, actor=third_teacher, page="round")
    record(Tag.EXPORTED, own, actor=third_teacher, report="marks")
    record(Tag.EXPORTED, outside, actor=third_teacher, report="responses", outside=True)
    run = outside.answers.first().response.run  # type: ignore[union-attr]
    record(Tag.ANSWER_PASTED, run, actor=lead, response="")
    record(Tag.ROUND_VIEWED, "markinground:987654", actor=lead, page="round")
    migration = importlib.import_module("evaluations.migrations.0083_looks")
    migration.copy_looks(apps, None)
    looks = Look.objects.order_by("pk").values_list("person", "round", "response", "run", "page")
    responses = sorted(outside.answers.values_list("response", flat=True))
    assert set(looks) == {
        (third_teacher.pk, own.pk, None, None, "round"),
        *((third_teacher.pk, None, one, None, "export") for one in responses),
        (lead.pk, None, None, run.pk, "pasted"),
    }


def test_who_saw_what_one_model_answered_marks_no_other_answer_to_the_question(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """With two models the text that is not of the one is of the other."""
    question = subjective_question()
    (seen,), (left,) = responses_to(question, 1), responses_to(question, 1, "another-model")
    person, people = also(teacher, [Role.LEAD]), [teacher, other_teacher]
    before = transaction.savepoint()
    assert logged_in(person).get(f"/runs/responses/{seen.public_id}/").status_code == 200
    assert planned([left], people, lead) == "looked"
    transaction.savepoint_rollback(before)
    record_runs([seen.run_id], acting_user=person, page="export")
    assert planned([left], people, lead) == "looked"
