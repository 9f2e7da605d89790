"""Questions whose answer tells what a marker may not know: keys, choices, lists without a row.

Nothing hidden stands on these pages; that a request is refused, that a list is empty or what was
asked for tells it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client, override_settings
from django.utils import timezone

from evaluations.marking.desk.selectors.desk import own_progress
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import add_teachers, close_round, start_round
from evaluations.models import BlindAnswer, Look, MarkingRound, Response, Slot
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    responses_to,
    small_round,
    subjective_question,
)
from tests.evaluations.review_world import items_of, review_of, taken, wrong_answers
from tests.factories import make_question, make_response, make_revision
from tests.test_blindness_roles import also
from tests.test_blindness_windows import told

pytestmark = pytest.mark.django_db


def key_on(client: Client, address: str) -> str:
    """The submission key of the form at *address*."""
    page = client.get(address)
    assert page.status_code == 200, address
    found = re.search(r'name="key" value="([^"]+)"', page.text)
    assert found
    return found.group(1)


def desk_of(answer: BlindAnswer) -> str:
    return f"/marking/responses/{answer.public_id}/"


def save_at_the_desk(client: Client, answer: BlindAnswer, key: str) -> int:
    sent = {"answer": str(answer.public_id), "key": key, "version": "0", "total": "3"}
    status: int = client.post(f"{desk_of(answer)}save/", sent).status_code
    return status


def test_a_key_made_of_what_is_known_of_the_partner_is_free(
    teacher: User, other_teacher: User
) -> None:
    """A key that is in use is refused: who can compute the partner's learns whether they marked."""
    made = small_round([teacher, other_teacher], 1, question=subjective_question(()))
    (answer,) = answers_of(made)
    for person in (teacher, other_teacher):
        held_slot(answer, person)
    known = str(uuid.uuid5(answer.public_id, f"{other_teacher.public_id}:0"))
    statuses = []
    for has_marked in (False, True):
        before = transaction.savepoint()
        if has_marked:
            partner = logged_in(other_teacher)
            own = key_on(partner, desk_of(answer))
            assert save_at_the_desk(partner, answer, own) == 302
        statuses.append(save_at_the_desk(logged_in(teacher), answer, known))
        transaction.savepoint_rollback(before)
    assert statuses == [302, 302]


def test_the_keys_of_all_desks_follow_from_the_secret_key(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """The same each time the page is loaded, so that a save sent twice is one; others under
    another secret key, so that nobody computes them from what they can read."""
    made = small_round([teacher, other_teacher], 2, question=subjective_question(()))
    answer, disputed = answers_of(made)
    held_slot(answer, teacher)
    for person, mark in ((teacher, "0"), (other_teacher, "12")):
        give(disputed, person, mark)
    item = items_of(review_of(wrong_answers(1), [third_teacher]))[0]
    taken(item, third_teacher)
    other = {"SECRET_KEY": "k" * 60, "SECRET_KEY_FALLBACKS": [settings.SECRET_KEY]}
    decision = f"/rounds/{made.public_id}/responses/{disputed.public_id}/"
    review = f"/reviewing/answers/{item.public_id}/"
    for person, address in ((teacher, desk_of(answer)), (lead, decision), (third_teacher, review)):
        client = logged_in(person)
        before = [key_on(client, address) for _n in range(2)]
        assert before[0] == before[1], address
        with override_settings(**other):
            assert key_on(client, address) != before[0], address


def planned(
    responses: Sequence[Response], people: Sequence[User], lead: User | None, **fields: Any
) -> MarkingRound:
    """A planned round of *people* over the runs of *responses*."""
    own = RoundSettings("Soon", 7, Scheme.TWO_AND_LEAD, **fields)
    choice = ResponseChoice(tuple(sorted({one.run_id for one in responses})))
    return plan_round(own, responses=choice, teachers=people, acting_user=lead)


def refused(responses: Sequence[Response], people: Sequence[User], lead: User | None) -> str:
    """Why such a round cannot be planned; "" if it can, and then it is not."""
    before = transaction.savepoint()
    try:
        planned(responses, people, lead)
    except BadInput as refusal:
        return refusal.code
    transaction.savepoint_rollback(before)
    return ""


GPT, QWEN = "canary-gpt-7f3a", "canary-qwen-91bc"


def test_who_plans_marks_no_question_that_one_model_alone_answered(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Runs of one model, or of several that answered different questions; in pages and the API."""
    person, one = also(teacher, [Role.LEAD]), subjective_question()
    other = make_question(one.task, marks=("12",), stem="How far does it fall?")
    same = responses_to(one, 2)
    apart = [*responses_to(one, 1), *responses_to(other, 1, QWEN)]
    mixed = [*responses_to(one, 1), *responses_to(one, 1, QWEN)]
    more = [*responses_to(one, 1), *responses_to(one, 1, QWEN)]
    more.append(make_response(other, more[0].run, "$s = 1$"))
    people, client = [person, other_teacher], logged_in(person)
    # A model that gave more than half: runs beside one of another, or beside an empty response.
    most = [*responses_to(one, 2), *responses_to(one, 1, QWEN)]
    empty = [*responses_to(one, 1), *responses_to(one, 1, QWEN)]
    Response.objects.filter(pk=empty[1].pk).update(text="")
    revised = [*responses_to(one, 1), *responses_to(one, 1, QWEN)]
    Response.objects.filter(pk=revised[1].pk).update(revision=make_revision(one, "How far?"))
    known = (same, apart, more, most, empty, revised)
    for chosen, code in (*((runs, "planned") for runs in known), (mixed, "")):
        assert refused(chosen, people, person) == code
        assert not refused(chosen, people, lead), "somebody else plans it"
        body = {"name": "Soon", "random_seed": 7, "scheme": "mean"}
        body |= {"runs": sorted({one.run_id for one in chosen})}
        body |= {"teachers": [one.username for one in people]}
        before = transaction.savepoint()
        answer = client.post("/api/v1/rounds/", body, content_type="application/json")
        assert answer.status_code == (400 if code else 201), answer.text
        transaction.savepoint_rollback(before)
    with pytest.raises(BadInput, match="the model of 1 of its 3 responses"):
        planned(more, people, person)


def test_the_random_seed_of_a_closed_round_is_read_with_a_look_only(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Whoever knows it can tell which response was behind each alias that they marked."""
    person, client = also(third_teacher, [Role.LEAD]), logged_in(lead)
    made = small_round([teacher, other_teacher], 2, random_seed=2**40 + 7)
    trial = small_round([teacher, other_teacher], 2, random_seed=2**40 + 8, practice=True)
    for one in (made, trial):
        close_round(one, acting_user=lead, now=timezone.now())
    seeds = [str(made.random_seed), str(trial.random_seed)]
    for page in ("/api/v1/rounds/", "/rounds/"):
        told_by = logged_in(person).get(page).text
        assert not any(one in told_by for one in seeds), page
    assert not Look.objects.filter(person=person).exists()
    for base in ("/rounds/", "/api/v1/rounds/"):
        assert seeds[0] in client.get(f"{base}{made.public_id}/").text
        assert seeds[1] not in client.get(f"{base}{trial.public_id}/").text, "which bars nobody"


def test_who_practises_on_one_model_marks_its_responses_nowhere_else(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """They read texts of which they know the model; a round over several models tells nothing.

    Who plans a round over one model, or reads the page of its plan, knows the model as well.
    """
    question, person = subjective_question(), also(teacher, [Role.LEAD])
    same, another = responses_to(question, 2), subjective_question()
    mixed = [*responses_to(another, 1), *responses_to(another, 1, QWEN)]
    people = [person, other_teacher]
    for chosen, code in ((same, "looked"), (mixed, "")):
        planned(chosen, people, person, practice=True)
        assert refused(chosen, people, lead) == code
        assert not refused(chosen, [other_teacher, also(lead, [Role.LEAD])], None)
    others = responses_to(question, 2)
    made = planned(others, [other_teacher, third_teacher], person)
    assert refused(others, people, lead) == "looked"
    reader = also(third_teacher, [Role.LEAD])
    assert logged_in(reader).get(f"/rounds/{made.public_id}/").status_code == 200
    assert not refused(others, [reader, other_teacher], lead), "teachers see no models"
    theirs = planned(others, [other_teacher, also(lead, [Role.LEAD])], None)
    assert logged_in(reader).get(f"/rounds/{theirs.public_id}/").status_code == 200
    assert refused(others, [reader, other_teacher], lead) == "looked"


def test_a_planned_round_names_no_models_to_who_will_mark_and_bars_no_reader(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Who sees its random seed does not join it, but has seen no mark: other rounds are open."""
    question, person = subjective_question(), also(teacher, [Role.LEAD])
    chosen = [*responses_to(question, 1), *responses_to(question, 1, QWEN)]
    reader, people = also(third_teacher, [Role.LEAD]), [person, other_teacher]
    made = planned(chosen, people, lead)
    page, api = f"/rounds/{made.public_id}/", f"/api/v1/rounds/{made.public_id}/"
    seen = [logged_in(person).get(where).text for where in (page, api)]
    assert GPT not in "".join(seen)
    for where in (api, page):
        add_to_it = {"teachers": [reader], "acting_user": None}
        before = transaction.savepoint()
        add_teachers(made, **add_to_it)  # type: ignore[arg-type]
        transaction.savepoint_rollback(before)
        assert logged_in(reader).get(where).status_code == 200
    for_reader = logged_in(reader).get(page).text
    assert GPT in for_reader
    assert str(other_teacher) in for_reader
    assert str(other_teacher) not in seen[0], "nor who marks with them"
    with pytest.raises(BadInput, match="has looked"):
        add_teachers(made, [reader], acting_user=None)
    start_round(made, acting_user=lead)
    answer = answers_of(made)[0]
    give(answer, other_teacher, ["3", "3", "6"])
    close_round(made, acting_user=None, now=timezone.now())
    again = [reader, other_teacher]
    assert not refused(chosen, again, lead)
    assert logged_in(reader).get(page).status_code == 200
    assert refused(chosen, again, lead) == "looked", "now its page shows marks"


def test_counts_of_a_teacher_stay_while_others_help_out(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """Who helps out has marked all of their own: the mark of a partner too."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 3, question=subjective_question(()))
    taken, shared, theirs = answers_of(made)
    plan = {taken: people[:2], shared: [teacher, third_teacher], theirs: people[1:]}
    for answer, pair in plan.items():
        for slot, person in zip(answer.slots.order_by("kind"), pair, strict=True):
            Slot.objects.filter(pk=slot.pk).update(planned=person)
    client, places = logged_in(teacher), ["/", "/marking/", f"/marking/rounds/{made.public_id}/"]
    before = [told(client, method="GET", path=place) for place in places]
    for answer in (shared, theirs):
        give(answer, third_teacher, "3")
    helping = taken.slots.get(planned=teacher)
    for marked in (False, True):
        Slot.objects.filter(pk=helping.pk).update(holder=third_teacher, marked=marked)
        assert [told(client, method="GET", path=place) for place in places] == before
    give(shared, teacher, "3")
    progress = own_progress(teacher, made)
    assert (progress.marked, progress.total) == (1, 1), "nothing of their own is left"
