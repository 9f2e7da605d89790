"""Blindness of people with two roles: while they mark, they learn no more than a teacher.

A lead or an admin who marks too tries every address of the URLconf, by GET and by POST,
and the operators' site, in worlds that differ only in what the partner, the judge and the model
did. Then attacks as sequences: look between own marks, leave a round and look, look and join.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection, reset_queries, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluations.facts.answer_facts import record_judgements
from evaluations.marking.arbitration.selectors.arbitration import waiting_for
from evaluations.marking.arbitration.services import arbitrate
from evaluations.marking.monitoring.services.monitoring import resume_teacher
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import add_teachers, close_round
from evaluations.marking.services.finalizing import finalize_due, newest_marks
from evaluations.marking.services.reopening import reopen_slots
from evaluations.models import (
    Judge,
    Judgement,
    MarkingRound,
    MarkingSample,
    MarkingSheet,
    RoundTeacher,
    Slot,
)
from evaluations.models.vocabulary import ArbitrationReason, ReviewStatus, RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.blindness import CLOSED, CLOSED_BY_LEAD
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    later,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)
from tests.factories import make_user
from tests.test_blindness import (
    CANARY,
    WORLDS,
    World,
    addresses,
    look,
    masked,
    world,
    written,
)
from tests.test_blindness_windows import by_api, clock, told

__all__ = ["clock", "world"]
pytestmark = pytest.mark.django_db
OPERATORS = [
    "/admin/",
    "/admin/evaluations/",
    "/admin/evaluations/mark/",
    "/admin/evaluations/finalmark/",
    "/admin/evaluations/slot/?marked__exact=1",
    "/admin/evaluations/judgement/",
    "/admin/evaluations/response/",
]
# What a lead would look at between two own marks to see a count move.
LOOKS = [
    "/",
    "/rounds/",
    "/api/v1/rounds/",
    "/runs/",
    "/api/v1/runs/",
    "/checks/",
    "/reports/",
    "/reports/cuts/",
    "/judging/",
    "/api/v1/judgements/",
    "/runs/imports/",
    "/admin/",
]


def also(person: User, roles: Sequence[Role]) -> User:
    """The same person with *roles* beside that of a teacher, on the operators' site as well."""
    ensure_user(person.username, roles=[Role.TEACHER, *roles])
    if Role.ADMIN in roles:
        User.objects.filter(pk=person.pk).update(is_staff=True, is_superuser=True)
    return User.objects.get(pk=person.pk)


def everywhere(
    client: Client, tried: Sequence[str], *, posts: bool = True
) -> dict[tuple[str, str], object]:
    """What each address answers to GET, with the number of queries, and to an empty POST."""
    seen: dict[tuple[str, str], object] = {}
    for address in tried:
        reset_queries()  # the log holds 9,000 statements, and a full one captures nothing more
        with CaptureQueriesContext(connection) as queries:
            answer = look(client, address, {})
        changed = set(written(queries))
        if address.startswith("/marking/responses/"):
            changed -= {"evaluations_slot"}  # a response whose lease has ended is held anew
        assert not changed, f"GET {address} writes {changed}"
        assert not CANARY.search(answer[1] + answer[2].replace(address.encode(), b"")), address
        seen["GET", address] = (*answer, len(queries))
        if not posts or address == "/logout/":
            continue
        with transaction.atomic():
            with CaptureQueriesContext(connection) as queries:
                posted = client.post(address)
            if posted.status_code >= 400:
                assert not written(queries), f"POST {address} writes {written(queries)}"
            seen["POST", address] = (posted.status_code, masked(posted.getvalue()))
            transaction.set_rollback(True)
    return seen


@pytest.mark.parametrize("world", [Scheme.TWO_AND_LEAD], indirect=True, ids=["2+1"])
def test_who_marks_learns_nothing_whatever_the_roles(world: World) -> None:
    """NI-1 with every role at once: the same bytes and numbers of queries in every world."""
    client = logged_in(also(world.teacher, [Role.ADMIN, Role.CURATOR, Role.LEAD]))
    world.set(WORLDS[0])
    tried = [*addresses(world, client), *OPERATORS, f"/rounds/?page=1&round={world.made.pk}"]
    everywhere(client, tried, posts=False)  # what the process remembers is not asked again
    seen = everywhere(client, tried)
    assert client.get("/password/").status_code == 200, "still logged in"
    world.set(WORLDS[1])
    assert world.marked.slots.filter(kind="arbitration").exists()
    again = everywhere(client, tried)
    for place in seen:
        assert seen[place] == again[place], place


@pytest.mark.parametrize("roles", [[Role.LEAD], [Role.ADMIN]], ids=["lead", "admin"])
def test_looking_between_own_marks_tells_nothing(
    roles: list[Role], teacher: User, other_teacher: User
) -> None:
    """Save, look everywhere, save again: whether the partner has marked, and what, reads alike."""
    question = subjective_question(())
    made = small_round([teacher, other_teacher], 1, window_minutes=15, question=question)
    answer = answers_of(made)[0]
    held_slot(answer, teacher)
    client, worlds = logged_in(also(teacher, roles)), []
    looks = [*LOOKS, f"/rounds/{made.public_id}/", f"/api/v1/rounds/{made.public_id}/"]
    looks += [f"/rounds/{made.public_id}/monitoring/", f"/rounds/{made.public_id}/marks.csv"]
    for theirs in (None, "0", "12"):
        before = transaction.savepoint()
        if theirs:
            give(answer, other_teacher, theirs)
        said = [told(client, method="GET", path=path, count=True) for path in looks]
        said += by_api(client, answer, "look")[:2]
        assert answer.slots.get(holder=teacher).marked
        Slot.objects.update(revisable_until=later(0))
        finalize_due(made, now=timezone.now())
        said += [told(client, method="GET", path=path, count=True) for path in looks]
        worlds.append(said)
        transaction.savepoint_rollback(before)
    assert worlds[0] == worlds[1] == worlds[2]


def test_the_refusal_says_why_and_until_when(teacher: User, other_teacher: User) -> None:
    """One sentence for pages and API, until the round or the review is closed."""
    made = small_round([teacher, other_teacher], 1)
    client = logged_in(also(teacher, [Role.LEAD]))
    page = client.get("/rounds/", headers={"Accept-Language": "en"})
    assert page.status_code == 403
    assert str(CLOSED).replace("'", "&#x27;") in page.text
    refused = client.get("/api/v1/rounds/")
    assert (refused.status_code, refused.json()) == (
        403,
        {"code": "marking", "detail": str(CLOSED)},
    )
    close_round(made, acting_user=None, now=timezone.now())
    assert client.get("/rounds/").status_code == 200
    assert client.get("/api/v1/rounds/").json()["results"][0]["name"] == made.name


def test_a_planned_round_hides_nothing_and_a_paused_one_does(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 1)
    client = logged_in(also(teacher, [Role.LEAD]))
    for status, code in ((RoundStatus.PAUSED, 403), (RoundStatus.PLANNED, 200)):
        MarkingRound.objects.filter(pk=made.pk).update(status=status)
        assert client.get("/rounds/").status_code == code


@pytest.mark.parametrize("world", [Scheme.TWO_AND_LEAD], indirect=True, ids=["2+1"])
def test_a_reviewer_waits_until_the_review_is_closed(world: World) -> None:
    MarkingRound.objects.update(status=RoundStatus.CLOSED)
    client = logged_in(also(world.teacher, [Role.LEAD]))
    assert client.get("/runs/").status_code == 403
    type(world.review).objects.update(status=ReviewStatus.CLOSED)
    assert client.get("/runs/").status_code == 200


def test_who_leaves_may_look_and_never_marks_again(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Leave, look, then save, revise, be resumed, join again: the mark stays what it was."""
    made = small_round([teacher, other_teacher], 2, window_minutes=15)
    marked, held = answers_of(made)
    mark = give(marked, teacher, ["1", "1", "1"], now=timezone.now())
    held_slot(held, teacher)
    person = also(teacher, [Role.LEAD])
    client = logged_in(person)
    assert client.get(f"/rounds/{made.public_id}/").status_code == 403
    own = f"/marking/rounds/{made.public_id}/"
    assert b"Leave the round" in client.get(own).content
    assert client.post(f"{own}leave/").status_code == 302
    assert client.get(f"/rounds/{made.public_id}/").status_code == 200
    for answer in (marked, held):
        sent = {"response": str(answer.public_id), "key": str(answer.public_id)}
        sent |= {"based_on_version": 1, "points": ["3", "3", "6"]}
        saved = client.post("/api/v1/marks/", sent, content_type="application/json")
        assert saved.status_code == 404
        assert client.get(f"/marking/responses/{answer.public_id}/").status_code == 404
    gone = client.post(f"{own}next/", headers={"Accept-Language": "en"})
    assert (gone.status_code, "You are no longer in this round." in gone.text) == (404, True)
    assert [(one.pk, one.total) for one in marked.slots.get(marked=True).marks.all()] == [
        (mark.pk, mark.total)
    ]
    assert not Slot.objects.filter(holder=person, marked=False).exists()
    with pytest.raises(Conflict, match="has left"):
        resume_teacher(made, person, acting_user=lead)
    with pytest.raises(BadInput, match="cannot come back"):
        add_teachers(made, [person], acting_user=lead)


def test_who_leaves_does_not_decide_what_was_returned_to_them(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A mark that no longer counts is a role still: its teacher left, and the pair is disputed."""
    made = small_round([teacher, other_teacher, third_teacher], 1, question=subjective_question(()))
    (answer,) = answers_of(made)
    kinds = zip((teacher, other_teacher), answer.slots.order_by("kind"), strict=True)
    for person, slot in kinds:
        Slot.objects.filter(pk=slot.pk).update(planned=person)
    give(answer, teacher, "3")
    slot = answer.slots.get(holder=teacher)
    with transaction.atomic():
        reopen_slots([slot], {slot.pk: teacher.pk}, now=timezone.now())
    person = also(teacher, [Role.LEAD])
    client = logged_in(person)
    assert client.post(f"/marking/rounds/{made.public_id}/leave/").status_code == 302
    Slot.objects.filter(pk=slot.pk).update(planned=third_teacher)
    give(answer, third_teacher, "3", now=later(5))
    give(answer, other_teacher, "12", now=later(5))
    assert answer.slots.filter(kind="arbitration", marked=False).exists()
    assert waiting_for(third_teacher, made, later(9)).count() == 0
    assert waiting_for(person, made, later(9)).count() == 0
    seen = [mark.pk for mark in newest_marks(answer).values()]
    sent = {"seen": ",".join(map(str, seen)), "total": "3", "decision": "own", "reason": "slip"}
    sent |= {"answer": str(answer.public_id), "key": str(answer.public_id)}
    where = f"/rounds/{made.public_id}/responses/{answer.public_id}/"
    assert client.post(where, sent).status_code == 403
    assert not answer.finals.exists()


@pytest.mark.parametrize("practice", [False, True])
def test_who_marked_a_response_in_one_round_decides_on_it_in_no_other(
    practice: bool, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """Unless that was practice."""
    fourth = make_user(Role.TEACHER, "zhou")
    chosen = responses_to(subjective_question(), 1)
    first = round_over(chosen, [teacher, third_teacher], practice=practice)
    give(answers_of(first)[0], teacher, ["3", "3", "6"])
    close_round(first, acting_user=None, now=later(2))
    made = round_over(chosen, [other_teacher, fourth], practice=practice)
    (answer,) = answers_of(made)
    give(answer, other_teacher, ["0", "0", "0"])
    give(answer, fourth, ["3", "3", "6"])
    assert answer.slots.filter(kind="arbitration").exists()
    person = also(teacher, [Role.LEAD])
    assert waiting_for(person, made, later(9)).count() == practice
    decide = partial(
        arbitrate, answer, person, key=uuid.uuid4(), reason=ArbitrationReason.SLIP, now=later(9),
        seen=[mark.pk for mark in newest_marks(answer).values()], points=[Decimal(3)] * 3,
    )  # fmt: skip
    if practice:
        assert decide().total == 9
        return
    with pytest.raises(NotAllowed, match="You marked this response yourself"):
        decide()


def test_who_has_only_the_role_of_a_teacher_cannot_leave(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 1)
    left = logged_in(teacher).post(f"/marking/rounds/{made.public_id}/leave/")
    assert left.status_code == 403
    assert not RoundTeacher.objects.filter(left_at__isnull=False).exists()


def test_who_is_no_teacher_any_more_reads_why_and_a_lead_lets_them_out(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The gate stays shut when the role goes; it opens when a lead takes them out of the round."""
    made = small_round([teacher, other_teacher], 1, window_minutes=15)
    (answer,) = answers_of(made)
    mark = give(answer, teacher, ["1", "1", "1"], now=timezone.now())
    ensure_user(teacher.username, roles=[Role.LEAD])
    client, english = logged_in(User.objects.get(pk=teacher.pk)), {"Accept-Language": "en"}
    said = str(CLOSED_BY_LEAD).replace("'", "&#x27;")
    assert said in client.get("/", headers=english).text
    closed = client.get("/runs/", headers=english)
    assert (closed.status_code, said in closed.text) == (403, True)
    assert client.post(f"/marking/rounds/{made.public_id}/leave/").status_code == 403
    by_lead, page = logged_in(lead), f"/rounds/{made.public_id}/monitoring/{teacher.public_id}/"
    assert client.post(f"{page}remove/").status_code == 403, "not by themselves"
    assert b"Take out of the round" in by_lead.get(page).content
    assert by_lead.post(f"{page}remove/").status_code == 302
    entry = AuditEntry.objects.get(tag="round.teacher_left")
    assert (entry.actor, entry.detail) == (lead, {"teacher": teacher.username})
    assert client.get("/runs/").status_code == 200
    assert said not in client.get("/", headers=english).text
    assert list(answer.slots.get(marked=True).marks.values_list("pk", flat=True)) == [mark.pk]
    assert by_lead.post(f"{page}remove/").status_code == 409
    assert b"Take out of the round" not in by_lead.get(page).content
    again = also(teacher, [Role.LEAD])
    with pytest.raises(BadInput, match="cannot come back"):
        add_teachers(made, [again], acting_user=lead)


LOOKED = [
    *("/rounds/{round}/", "/rounds/{round}/marks.csv", "/rounds/{round}/monitoring/export/"),
    *("/rounds/{round}/arbitration/", "/rounds/sheets/{sheet}/", "/rounds/sheets/{sheet}/print/"),
    "/reports/export/responses.csv?dataset={dataset}",
    "/reports/export/cuts.csv?dataset={dataset}&by=question",
    *(
        "/reports/cuts/?dataset={dataset}&by=question",
        "/api/v1/reports/cuts/?dataset={dataset}&by=question",
    ),
    *("/reports/pairs/?dataset={dataset}", "/reports/rows/?dataset={dataset}&part=subjective"),
    *("/judging/{judge}/", "/judging/{judge}/{response}/", "/api/v1/judgements/"),
    *("/runs/{run}/responses/", "/runs/responses/{response}/", "/runs/compare/{question}/"),
    *("/runs/search/?q=", "/runs/search/export/?run={run}"),
    *("/api/v1/runs/{run}/responses/", "/api/v1/responses/", "/api/v1/responses/{response}/"),
    *("/judging/samples/", "/api/v1/samples/"),
]


def test_who_looked_at_marks_of_a_round_cannot_join_it(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """On its own pages, and where reports, judges and runs show marks or models; not elsewhere."""
    made = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(made)
    give(answer, teacher, ["3", "3", "6"])
    give(answer, other_teacher, ["3", "3", "6"])
    judge = Judge.objects.create(name="judge")
    facts = {"total": Decimal(12), "full": Decimal(12), "status": "scored", "flags": []}
    Judgement.objects.create(response=answer.response, judge=judge, reply="12", **facts)
    record_judgements([answer.response_id])
    until = timezone.now() + timedelta(days=1)
    sheet = MarkingSheet.objects.create(round=made, teacher=teacher, responses=0, held_until=until)
    names = {"round": made.public_id, "dataset": made.dataset.slug, "judge": judge.pk}
    names |= {"sheet": sheet.public_id, "response": answer.response.public_id}
    names |= {"run": answer.response.run_id, "question": answer.question.public_id}
    MarkingSample.objects.create(
        run=answer.response.run, round=made, streams=[], half_width=6, strata=[], random_seed=1
    )
    person, joining = also(third_teacher, [Role.LEAD]), f"/rounds/{made.public_id}/teachers/"
    joined = []
    for page in ("/rounds/", "/runs/", "/runs/search/?part=objective", *LOOKED):
        before = transaction.savepoint()
        seen = logged_in(person).get(page.format(**names), follow=True)
        assert seen.status_code == 200, page
        tried = logged_in(lead).post(joining, {"teachers": [person.pk]}, follow=True)
        refused = "has looked at responses or marks of questions of this round" in tried.text
        assert refused != made.pool.filter(teacher=person).exists()
        joined += [] if refused else [page]
        transaction.savepoint_rollback(before)
    assert joined == ["/rounds/", "/runs/", "/runs/search/?part=objective"]


def test_who_looks_between_the_plan_of_a_round_and_its_start_does_not_mark_in_it(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Nothing is closed to teachers of a planned round: its start looks at what they saw."""
    responses = responses_to(subjective_question(), 2)
    people = {"teachers": [teacher, other_teacher], "acting_user": lead}
    choice = ResponseChoice((responses[0].run_id, responses[1].run_id))
    settings = RoundSettings("Soon", 7, Scheme.TWO_AND_LEAD)
    made = plan_round(settings, responses=choice, **people)  # type: ignore[arg-type]
    person, page = also(teacher, [Role.LEAD]), f"/rounds/{made.public_id}/"
    client, by_lead = logged_in(person), logged_in(lead)
    looks = ("/runs/search/export/", f"/runs/responses/{responses[0].public_id}/")
    looks += (f"/reports/export/responses.csv?dataset={made.dataset.slug}",)
    for look_at in looks:
        before = transaction.savepoint()
        assert client.get(look_at).status_code == 200, look_at
        assert by_lead.post(f"{page}start/").status_code == 400, look_at
        transaction.savepoint_rollback(before)
    assert client.get(page).status_code == 200, "its own pages show no model before it starts"
    assert logged_in(lead).get("/runs/search/").status_code == 200, "who does not mark may look"
    assert by_lead.post(f"{page}start/").status_code == 302
    made.refresh_from_db()
    assert made.status == RoundStatus.OPEN


def test_the_seed_of_a_round_is_known_to_nobody_who_marks_in_it(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """With it and a list of the runs one can say which alias is which model's, and a check."""
    question, person = subjective_question(), also(teacher, [Role.LEAD])
    responses = [*responses_to(question, 2), *responses_to(question, 2, "canary-qwen-91bc")]
    settings = RoundSettings("Own", 7, Scheme.TWO_AND_LEAD)
    choice = {"responses": ResponseChoice(tuple(one.run_id for one in responses))}
    made = plan_round(settings, teachers=[person, other_teacher], acting_user=person, **choice)
    client, page = logged_in(person), f"/rounds/{made.public_id}/"
    assert made.lots_seed != 7, "not the number that was chosen for it"
    told = client.get(page, headers={"Accept-Language": "en"}).text
    told += client.get(f"/api/v1{page}").text + client.get("/api/v1/rounds/").text
    assert str(made.hidden_seed) not in told
    assert "Random seed" not in told
    of_one = ResponseChoice(choice["responses"].runs[:1])
    people = {"teachers": [person, other_teacher], "acting_user": person}
    with pytest.raises(BadInput, match="can tell the model of all its responses"):
        plan_round(settings, responses=of_one, **people)  # type: ignore[arg-type]
    before = transaction.savepoint()
    plan_round(replace(settings, practice=True), responses=of_one, **people)  # type: ignore[arg-type]
    transaction.savepoint_rollback(before)
    theirs = plan_round(settings, teachers=[teacher, other_teacher], acting_user=lead, **choice)
    reader = also(third_teacher, [Role.LEAD])
    assert "Random seed" in logged_in(reader).get(f"/rounds/{theirs.public_id}/").text
    for knows, why in ((reader, "has looked"), (also(lead, [Role.LEAD]), "has planned this round")):
        with pytest.raises(BadInput, match=why):
            add_teachers(theirs, [knows], acting_user=None)
