"""The lead's page: marks side by side, decided by keyboard or mouse, once."""

from __future__ import annotations

import itertools
import re
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from evaluations.marking.arbitration.selectors.arbitration import case_of
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.services.finalizing import finalize_due
from evaluations.marking.services.reopening import reopen_slots
from evaluations.models import BlindAnswer, FinalMark, Mark, MarkingRound
from evaluations.models.vocabulary import AnswerRole, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    marked_again,
    planned_pair,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Three responses; the teachers differ on all of them."""
    opened = small_round([teacher, other_teacher], 3)
    for answer in answers_of(opened):
        first, second = planned_pair(answer)
        give(answer, first, ["3", "3", "6"], comment="all there")
        give(answer, second, ["3", "0", "2.5"], comment="hardly anything")
    return opened


def address(answer: BlindAnswer) -> str:
    return reverse("rounds:response", args=[answer.round.public_id, answer.public_id])


def hidden(page: str) -> dict[str, str]:
    form = page[page.index('id="decision"') :]
    return {
        name: re.search(rf'name="{name}" value="([^"]*)"', form).group(1)  # type: ignore[union-attr]
        for name in ("answer", "key", "seen", "rubric")
    }


def decided(page: str, decision: str, **fields: Any) -> dict[str, Any]:
    return hidden(page) | {"decision": decision, "reason": "slip", "comment": ""} | fields


def test_marks_stand_side_by_side_and_nobody_is_named(made: MarkingRound, lead: User) -> None:
    answer = answers_of(made)[0]
    page = logged_in(lead).get(address(answer)).text
    assert "difference 6.5 &gt; tolerance 1 (≤ 1 is accepted)" in page
    assert page.count('<tr class="amber">') == 2, "the two points on which the marks differ"
    for text in ("all there", "hardly anything", "names the law", "Accept First 12", "3 wait"):
        assert text in page
    for secret in ("tao", "wei", "canary-gpt"):
        assert secret not in page


def test_the_page_says_that_a_reason_is_required_and_shows_its_keys(
    made: MarkingRound, lead: User
) -> None:
    page = logged_in(lead).get(address(answers_of(made)[0])).text
    decide = page[page.index('id="decide-title"') :]
    assert 'aria-required="true"' in decide
    assert "(required)" in decide
    for key in "blgtw":
        assert f"<kbd>{key}</kbd>" in decide


def test_the_queue_leads_to_the_one_that_waits_longest(made: MarkingRound, lead: User) -> None:
    first, second, _ = answers_of(made)
    client = logged_in(lead)
    response = client.get(reverse("rounds:arbitration", args=[made.public_id]))
    assert response["Location"] == address(first)
    page = client.get(address(first)).text
    assert f'data-key="j" href="{address(second)}"' in page
    assert 'data-key="k"' not in page


@pytest.mark.parametrize(("decision", "value"), [("first", "12"), ("second", "5.5")])
def test_a_given_mark_is_accepted(
    decision: str, value: str, made: MarkingRound, lead: User
) -> None:
    answer, following, _ = answers_of(made)
    client = logged_in(lead)
    page = client.get(address(answer)).text
    response = client.post(address(answer), decided(page, decision))
    assert response["Location"] == address(following)
    final = answer.finals.get()
    assert (final.value.normalize(), final.rule) == (final.value.__class__(value), "arbitration")
    mark = Mark.objects.get(slot__kind=SlotKind.ARBITRATION)
    assert (mark.teacher, mark.reason, mark.points.count()) == (lead, "slip", 3)


def test_own_marks_are_finalized_by_htmx_and_the_next_comes(made: MarkingRound, lead: User) -> None:
    answer, following, _ = answers_of(made)
    client = logged_in(lead)
    page = client.get(address(answer)).text
    own = {"point-1": "3", "point-2": "1.5", "point-3": "4"}
    sent = decided(page, "own", comment="half for the equation", **own)
    response = client.post(address(answer), sent, headers=HTMX)
    assert response.status_code == 200
    assert response["HX-Push-Url"] == address(following)
    assert 'id="case"' in response.text
    assert "<html" not in response.text
    assert answer.finals.get().value == 8.5
    again = client.get(address(answer)).text
    assert "half for the equation" in again
    assert 'name="decision"' not in again


def test_a_double_click_finalizes_once(made: MarkingRound, lead: User) -> None:
    answer = answers_of(made)[0]
    client = logged_in(lead)
    sent = decided(client.get(address(answer)).text, "first")
    for _ in range(2):
        assert client.post(address(answer), sent, headers=HTMX).status_code == 200
    assert FinalMark.objects.count() == 1


def test_a_decision_that_does_not_fit_loses_nothing(made: MarkingRound, lead: User) -> None:
    answer = answers_of(made)[0]
    client = logged_in(lead)
    page = client.get(address(answer)).text
    faults: list[tuple[dict[str, str], str]] = [
        ({"reason": ""}, "Choose a reason."),
        ({"decision": ""}, "Accept a mark or enter your own."),
        ({"decision": "third"}, "third is not one of the available choices"),
        ({"decision": "own", "point-1": "3"}, "Enter a mark for every scoring point."),
        (
            {"decision": "own", "point-1": "4", "point-2": "0", "point-3": "0"},
            "Scoring point 1: 4 is above its maximum of 3.",
        ),
        (
            {"decision": "own", "reason": "", "point-1": "3", "point-2": "0", "point-3": "99"},
            "Scoring point 3: 99 is above its maximum of 6.",
        ),
    ]
    for (fields, said), headers in itertools.product(faults, ({}, HTMX)):
        sent = decided(page, "first", comment="a long comment") | fields
        response = client.post(address(answer), sent, headers=headers)
        assert response.status_code == 400, said
        assert said in response.text
        if not headers:
            assert "a long comment" in response.text, said
            assert fields.get("point-1", "") in response.text
    assert FinalMark.objects.count() == 0


def test_marks_that_were_revised_meanwhile_are_shown_before_a_decision(
    made: MarkingRound, lead: User
) -> None:
    answer = answers_of(made)[0]
    client = logged_in(lead)
    sent = decided(client.get(address(answer)).text, "second")
    marked_again(answer, planned_pair(answer)[1], ["3", "0", "0"])
    response = client.post(address(answer), sent, headers=HTMX)
    assert (response.status_code, "changed a mark" in response.text) == (409, True)
    assert "version 2" in client.get(address(answer)).text


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("how", ["returned", "new rubric", "new rubric without marks"])
def test_what_a_lead_typed_stays_where_the_case_has_moved(
    how: str, first: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    """By another lead, who returned a mark or let the round use another rubric."""
    people, question = [teacher, other_teacher], subjective_question()
    made = small_round(people, question=question, arbiter_marks_first=first)
    (answer,) = answers_of(made)
    for person, points in zip(people, (["3", "3", "6"], ["0", "0", "0"]), strict=True):
        if how.endswith("without marks"):
            take_out(made, person, acting_user=lead, now=timezone.now())
        else:
            give(answer, person, points)
    client = logged_in(lead)
    page = client.get(address(answer)).text
    own = {"point-1": "2.5", "point-2": "1.5", "point-3": "4.5", "comment": "too vague"}
    sent = decided(page, "own", **own)
    change: dict[str, Any] = {"acting_user": lead, "now": timezone.now()}
    if how == "returned":
        choice = ReturnChoice(aliases=[answer.alias])
        return_marks(made, teacher, choice, to_others=False, **change)
    else:
        make_rubric(question, (("all", "3"), ("of", "3"), ("it", "6")))
        use_new_rubric(made, question, scope=RemarkScope.ALL, **change)
    for headers in ({}, HTMX):
        refused = client.post(address(answer), sent, headers=headers)
        assert refused.status_code == 409
        assert "2.5 · 1.5 · 4.5" in refused.text
        assert "too vague" in refused.text


def test_a_second_lead_comes_too_late(made: MarkingRound, lead: User, admin: User) -> None:
    answer = answers_of(made)[0]
    clients = [logged_in(person) for person in (lead, admin)]
    sent = [decided(client.get(address(answer)).text, "first") for client in clients]
    assert clients[0].post(address(answer), sent[0], headers=HTMX).status_code == 200
    late = clients[1].post(address(answer), sent[1], headers=HTMX)
    assert (late.status_code, "finalized in the meantime" in late.text) == (409, True)


def test_without_a_rubric_the_lead_gives_one_total(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], question=subjective_question(rubric=()))
    (answer,) = answers_of(made)
    give(answer, teacher, "12")
    give(answer, other_teacher, "3")
    client = logged_in(lead)
    page = client.get(address(answer)).text
    assert ('aria-label="Your mark"' in page, "Your mark for" in page) == (True, False)
    sent = decided(page, "own", total="7.5")
    assert client.post(address(answer), sent).status_code == 302
    assert answer.finals.get().value == 7.5


def test_a_mark_without_points_under_a_rubric_is_shown_and_not_accepted(
    made: MarkingRound, lead: User
) -> None:
    """An imported mark may be a total alone: 12 without points beside 3, 0 and 2.5."""
    answer = answers_of(made)[0]
    whole = Mark.objects.get(slot__answer=answer, slot__kind=SlotKind.FIRST)
    whole.points.all().delete()
    client = logged_in(lead)
    page = client.get(address(answer)).text
    assert page.count('<td class="number" data-head="First">–</td>') == 3
    assert '<td class="number" data-head="First">12</td>' in page
    assert "A mark without points (–) is only a total" in page
    for refused in ("first", "pair"):
        assert f'name="decision" value="{refused}"' not in page
        assert client.post(address(answer), decided(page, refused)).status_code == 400
    assert "Accept Second 5.5" in page
    assert client.post(address(answer), decided(page, "second")).status_code == 302
    assert answer.finals.get().value == 5.5
    after = client.get(address(answer))
    assert after.status_code == 200
    marker = logged_in(whole.teacher)
    assert marker.get(reverse("marking:desk", args=[answer.public_id])).status_code == 200


def test_the_end_of_the_queue_says_so(made: MarkingRound, lead: User) -> None:
    client = logged_in(lead)
    for answer in answers_of(made):
        sent = decided(client.get(address(answer)).text, "first")
        response = client.post(address(answer), sent, headers=HTMX)
    assert response["HX-Push-Url"] == reverse("rounds:arbitration", args=[made.public_id])
    assert "Nothing to arbitrate" in response.text
    page = client.get(reverse("rounds:arbitration", args=[made.public_id]))
    assert "Nothing to arbitrate" in page.text


def test_a_response_that_nobody_marked_is_shown_without_a_decision(
    teacher: User, other_teacher: User, lead: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    client = logged_in(lead)
    page = client.get(address(answer)).text
    assert "No marks for this response yet." in page
    assert 'name="decision"' not in page
    assert client.post(address(answer), {}, headers=HTMX).status_code == 400


# ---- one lead at a time ----


def test_a_page_claims_its_case_and_another_lead_only_looks(
    made: MarkingRound, lead: User, admin: User
) -> None:
    answer, following, _ = answers_of(made)
    mine, theirs = logged_in(lead), logged_in(admin)
    page = mine.get(address(answer)).text
    where = reverse("rounds:claim", args=[made.public_id, answer.public_id])
    assert f'hx-post="{where}"' in page
    assert "assigned to you until" in mine.post(where, headers=HTMX).text
    seen = theirs.get(address(answer)).text
    assert "Another lead is working on this response until" in seen
    assert 'name="decision"' not in seen
    assert theirs.post(where, headers=HTMX).status_code == 409
    start = theirs.get(reverse("rounds:arbitration", args=[made.public_id]))
    assert start["Location"] == address(following)


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_decision_that_comes_too_late_comes_back_with_its_text(
    headers: dict[str, str], made: MarkingRound, lead: User, admin: User
) -> None:
    answer = answers_of(made)[0]
    client, other = logged_in(lead), logged_in(admin)
    own = {"point-1": "2.5", "point-2": "1", "point-3": "4", "comment": "half of the law"}
    sent = decided(client.get(address(answer)).text, "own", **own)
    other.post(reverse("rounds:claim", args=[made.public_id, answer.public_id]))
    late = client.post(address(answer), sent, headers=headers)
    assert late.status_code == 409
    assert 'id="case"' in late.text
    for kept in ("Another lead is working on this response", "2.5 · 1 · 4", "half of the law"):
        assert kept in late.text
    assert not answer.finals.exists()


def test_after_a_revision_the_new_marks_come_with_the_old_decision(
    made: MarkingRound, lead: User
) -> None:
    answer = answers_of(made)[0]
    client = logged_in(lead)
    sent = decided(client.get(address(answer)).text, "own", **{"point-1": "2.5"}, comment="why")
    sent |= {"point-2": "0", "point-3": "0"}
    marked_again(answer, planned_pair(answer)[1], ["3", "0", "0"])
    again = client.post(address(answer), sent, headers=HTMX).text
    assert 'value="2.5"' in again
    assert client.post(address(answer), sent | hidden(again)).status_code == 302
    assert answer.finals.get().value == 2.5


def test_a_lead_decides_while_the_round_is_paused_and_not_after_its_end(
    made: MarkingRound, lead: User
) -> None:
    client, answer = logged_in(lead), answers_of(made)[0]
    for status, shown in (("paused", True), ("closed", False)):
        MarkingRound.objects.update(status=status)
        assert ('name="decision"' in client.get(address(answer)).text) is shown


# ---- the mean of the closest pair, and the rule beside it ----


def test_the_mean_of_the_pair_is_one_of_the_choices(made: MarkingRound, lead: User) -> None:
    """12 and 5.5: 8.75, by points 3, 1.5 and 4.25."""
    answer = answers_of(made)[0]
    client = logged_in(lead)
    page = client.get(address(answer)).text
    assert "Mean of both 8.75" in page
    assert "Closest pair" not in page
    assert 'value="pair" data-points="3,1.5,4.25" data-total="8.75"' in page
    client.post(address(answer), decided(page, "pair"))
    assert answer.finals.get().value == 8.75
    assert "Δ 3.5" in client.get(address(answer)).text


def three_marks(people: list[User], last: list[str]) -> BlindAnswer:
    """A response marked with 12 and 0, and with *last* by the third teacher."""
    (answer,) = answers_of(small_round(people, scheme=Scheme.THREE_AND_LEAD))
    first, second = planned_pair(answer)
    give(answer, first, ["3", "3", "6"])
    give(answer, second, ["0", "0", "0"])
    (third,) = set(people) - {first, second}
    answer.slots.filter(kind=SlotKind.THIRD).update(planned=third)
    give(answer, third, last)
    return answer


def test_of_three_marks_the_closest_pair_is_named(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """12, 0 and 7: first and third are 5 apart and would give 9.5; second and third 7."""
    answer = three_marks([teacher, other_teacher, third_teacher], ["3", "3", "1"])
    page = logged_in(lead).get(address(answer)).text
    assert "The closest pair First and Third (difference 5) would give 9.5." in page
    assert "No two marks are within the tolerance, so the lead decides." in page
    for button in ("Accept First 12", "Second 0", "Third 7", "Closest pair 9.5"):
        assert button in page


def test_a_mark_that_was_returned_meanwhile_is_accepted_by_no_older_page(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    answer = three_marks([teacher, other_teacher, third_teacher], ["3", "3", "1"])
    client = logged_in(lead)
    own = dict.fromkeys(("point-1", "point-2", "point-3"), "2")
    page = client.get(address(answer)).text
    choice, now = ReturnChoice(aliases=[answer.alias]), timezone.now()
    second = planned_pair(answer)[1]
    return_marks(answer.round, second, choice, to_others=False, acting_user=lead, now=now)
    decisions = ("first", "second", "third", "pair", "own")
    for decision, headers in itertools.product(decisions, ({}, HTMX)):
        sent = decided(page, decision, comment="why", **own)
        refused = client.post(address(answer), sent, headers=headers)
        assert refused.status_code == 409, decision
        assert "This response is not waiting for arbitration." in refused.text
        assert 'id="case"' in refused.text, "the case as it is now"
        assert 'name="decision"' not in refused.text
        assert "why" in refused.text


@pytest.mark.parametrize("first", [False, True])
def test_points_of_a_rubric_with_fewer_of_them_are_shown_beside_the_new_one(
    first: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 1, arbiter_marks_first=first)
    (answer,) = answers_of(made)
    for person in (teacher, other_teacher):
        take_out(made, person, acting_user=lead, now=later(1))
    client, given = logged_in(lead), {"point-1": "3", "point-2": "0", "point-3": "6"}
    sent = decided(client.get(address(answer)).text, "own", **given)
    make_rubric(answer.question, (("a", "3"), ("b", "3"), ("c", "3"), ("d", "3")))
    use_new_rubric(made, answer.question, scope=RemarkScope.ALL, acting_user=lead, now=later(3))
    refused = client.post(address(answer), sent, headers=HTMX)
    assert refused.status_code == 409
    assert "The rubric has changed since" in refused.text
    assert "3 · 0 · 6" in refused.text
    assert 'name="point-4"' in refused.text


def test_of_equally_close_pairs_none_is_proposed(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """12, 0 and 6: the third is 6 from each, 9 with the first and 3 with the second."""
    answer = three_marks([teacher, other_teacher, third_teacher], ["3", "3", "0"])
    client = logged_in(lead)
    page = client.get(address(answer)).text
    assert "First and Third (difference 6) would give 9." in page
    assert "Second and Third (difference 6) would give 3." in page
    assert "The differences are equal, so no pair is proposed." in page
    assert "Closest pair" not in page
    assert 'value="pair"' not in page
    assert client.post(address(answer), decided(page, "pair")).status_code == 400
    assert not answer.finals.exists()


# ---- corrections ----


def test_a_finalized_response_is_corrected_on_its_own_page(made: MarkingRound, lead: User) -> None:
    answer = answers_of(made)[0]
    client = logged_in(lead)
    client.post(address(answer), decided(client.get(address(answer)).text, "first"))
    shown = client.get(address(answer)).text
    assert 'href="?correct"' in shown
    assert 'name="decision"' not in shown
    form = client.get(address(answer) + "?correct").text
    assert "currently 12, Arbitration; it stays in the history" in form
    sent = decided(form, "second", number="1", reason="answer_key_wrong", comment="see the key")
    response = client.post(address(answer), sent)
    assert response["Location"] == address(answer)
    page = client.get(address(answer)).text
    assert "<strong>5.5</strong> / 12" in page
    assert "Earlier final marks" in page
    assert "Answer key wrong" in page
    assert list(answer.finals.values_list("number", "value")) == [(1, 12), (2, 5.5)]
    assert client.post(address(answer), sent).status_code == 302, "sent twice it is one"
    late = client.post(address(answer), sent | {"key": str(uuid4()), "comment": "too late"})
    assert (late.status_code, "too late" in late.text) == (409, True)
    assert answer.finals.count() == 2


def test_a_seed_answer_is_not_corrected(made: MarkingRound, lead: User) -> None:
    answer = answers_of(made)[0]
    client = logged_in(lead)
    client.post(address(answer), decided(client.get(address(answer)).text, "first"))
    BlindAnswer.objects.filter(pk=answer.pk).update(role=AnswerRole.SEED)
    assert 'href="?correct"' not in client.get(address(answer)).text


# ---- no mark of a teacher ----


@pytest.mark.parametrize("scheme", [Scheme.SINGLE, Scheme.TWO_AND_LEAD])
def test_a_response_that_nobody_is_left_for_is_decided_without_marks(
    teacher: User, other_teacher: User, lead: User, scheme: Scheme
) -> None:
    """Twice: a decision that was withdrawn is made anew, with the same points too."""
    made = small_round([teacher, other_teacher], 1, scheme=scheme)
    (answer,) = answers_of(made)
    for person in (teacher, other_teacher):
        take_out(made, person, acting_user=lead, now=later(1))
    client, given = logged_in(lead), {"point-1": "3", "point-2": "0", "point-3": "6"}
    for number in (1, 2):
        page = client.get(reverse("rounds:arbitration", args=[made.public_id]), follow=True).text
        assert all(f'name="{name}"' in page for name in given)
        assert ("oldest waiting" in page) == (number == 2), "since the decision before"
        assert client.post(address(answer), decided(page, "own", **given)).status_code == 302
        answer.refresh_from_db()
        assert answer.final
        assert (answer.final.number, answer.final.value) == (number, 9)
        decision = answer.slots.get(kind=SlotKind.ARBITRATION)
        with transaction.atomic():
            reopen_slots([decision], {decision.pk: None}, with_decisions=True, now=later(2))
        finalize_due(made, now=later(2))


def test_a_final_mark_is_corrected_while_all_marks_are_given_again(
    made: MarkingRound, lead: User
) -> None:
    answer, client = answers_of(made)[0], logged_in(lead)
    client.post(address(answer), decided(client.get(address(answer)).text, "first"))
    slots = list(answer.slots.exclude(kind=SlotKind.ARBITRATION))
    with transaction.atomic():
        reopen_slots(slots, {slot.pk: slot.holder_id for slot in slots}, now=later(2))
    assert "No marks for this response yet." in client.get(address(answer)).text
    form = client.get(address(answer) + "?correct").text
    given = {"number": "1", "point-1": "0", "point-2": "0", "point-3": "6"}
    assert client.post(address(answer), decided(form, "own", **given)).status_code == 302
    answer.refresh_from_db()
    assert answer.final
    assert answer.final.value == 6


def test_points_of_a_page_with_the_older_rubric_decide_nothing(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """No mark of a teacher tells that the rubric is another one by now."""
    made = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(made)
    for person in (teacher, other_teacher):
        take_out(made, person, acting_user=lead, now=later(1))
    client, given = logged_in(lead), {"point-1": "3", "point-2": "0", "point-3": "6"}
    page = client.get(address(answer)).text
    make_rubric(answer.question, (("a", "3"), ("b", "3"), ("c", "6")))
    use_new_rubric(made, answer.question, scope=RemarkScope.ALL, acting_user=lead, now=later(3))
    refused = client.post(address(answer), decided(page, "own", **given))
    assert refused.status_code == 409
    assert "The rubric has changed since" in refused.text
    again = decided(refused.text, "own", **given)
    assert client.post(address(answer), again).status_code == 302


def test_a_decision_of_an_older_rubric_is_a_total_only(made: MarkingRound, lead: User) -> None:
    """Its points were for other scoring points than those that stand beside it now."""
    answer, client = answers_of(made)[0], logged_in(lead)
    client.post(address(answer), decided(client.get(address(answer)).text, "first"))
    make_rubric(answer.question, (("a", "3"), ("b", "3"), ("c", "6")))
    use_new_rubric(made, answer.question, scope=RemarkScope.ALL, acting_user=lead, now=later(3))
    case = case_of(answers_of(made)[0], lead, later(4))
    assert case.decision
    assert case.decision.total == 12
    assert {row.decided for row in case.points} == {None}
