"""What a lead chooses and decides: tasks of the chosen runs, and a refusal beside the marks."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Dialog, expect

from evaluations.models import BlindAnswer, FinalMark, MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.browser.conftest import Site
from tests.evaluations.marking_world import (
    answers_of,
    give,
    planned_pair,
    responses_to,
    small_round,
    subjective_question,
)
from tests.factories import make_dataset, make_task

pytestmark = pytest.mark.django_db(transaction=True)


def test_only_tasks_of_the_chosen_runs_are_offered(site: Site, lead: User) -> None:
    for slug in ("exam", "other"):
        task = make_task(
            make_dataset(slug), slug=f"{slug}_task", question_type=QuestionType.OPEN_ENDED
        )
        responses_to(subjective_question(task=task), 1, model=f"model of {slug}")
    page = site.open(lead)
    page.goto(reverse("rounds:new"))
    page.locator("summary", has_text="Tasks").click()
    own, other = (page.get_by_role("checkbox", name=f"{one} task") for one in ("exam", "other"))
    expect(own).to_be_visible()
    expect(other).to_be_visible()
    page.locator("summary", has_text="Separate tolerance").click()
    tolerances = [page.get_by_role("spinbutton", name=f"{one} task") for one in ("exam", "other")]
    for tolerance in tolerances:
        expect(tolerance).to_be_visible()
    other.check()
    page.get_by_role("checkbox", name="model of exam").check()
    expect(own).to_be_visible()
    expect(other).to_be_hidden()
    expect(tolerances[0]).to_be_visible()
    expect(tolerances[1]).to_be_hidden()
    expect(page.get_by_text("Responses: 1, questions: 1")).to_be_visible()
    page.get_by_role("checkbox", name="model of exam").uncheck()
    expect(other).to_be_visible()


def disputed(pool: list[User], responses: int = 1) -> tuple[MarkingRound, BlindAnswer]:
    """A round whose *responses* wait for the lead after three marks of *pool*, and the first."""
    settings = {"scheme": Scheme.THREE_AND_LEAD, "marking_notes": "Half without a reason."}
    made = small_round(pool, responses, **settings)
    for answer in answers_of(made):
        pair = planned_pair(answer)
        (third,) = {person.pk: person for person in pool if person not in pair}.values()
        for who, points in zip(pair, (("0", "0", "0"), ("3", "3", "6")), strict=True):
            give(answer, who, points)
        Slot.objects.filter(answer=answer, kind=SlotKind.THIRD).update(planned=third)
        give(answer, third, ("3", "3", "0"))
        assert Slot.objects.filter(answer=answer, kind=SlotKind.ARBITRATION).exists()
    return made, answers_of(made)[0]


def test_back_from_a_case_asks_before_what_is_typed_is_lost(
    site: Site, lead: User, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made, _first = disputed([teacher, other_teacher, third_teacher], 2)
    page = site.open(lead)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto(reverse("rounds:arbitration", args=[made.public_id]))
    for value in ("1", "2"):  # the second case comes by a script, with an address of its own
        shown = page.locator("#response-title").inner_text()
        for field in page.locator("[data-own]").all():
            field.fill(value)
        if value == "1":
            page.get_by_text("Slip", exact=False).first.click()
            page.get_by_role("button", name="Finalize").click()
            expect(page.locator("#response-title")).not_to_have_text(shown)
    page.evaluate("() => void setTimeout(() => history.back())")
    page.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    expect(page.locator("[data-own]").first).to_have_value("2")
    page.get_by_text("Slip", exact=False).first.click()
    page.get_by_role("button", name="Finalize").click()
    expect(page.get_by_role("heading", name="Nothing to arbitrate")).to_be_visible()
    assert sorted(FinalMark.objects.values_list("value", flat=True)) == [3, 6]


@pytest.mark.parametrize("width", [390, 1440])
def test_a_refused_mark_is_said_beside_the_marks_and_every_field_is_in_sight(
    width: int, site: Site, lead: User, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made, answer = disputed([teacher, other_teacher, third_teacher])
    page = site.open(lead, viewport={"width": width, "height": 844})
    page.goto(reverse("rounds:response", args=[made.public_id, answer.public_id]))
    fields = page.locator("[data-own]")
    for field in fields.all():
        box = field.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
    for field, value in zip(fields.all(), ("3", "9", "6"), strict=True):
        field.fill(value)
    refused = page.locator("#decision").get_by_role("alert")
    expect(refused).to_have_text("9 is above the full marks, 3.")  # at once, at its field
    page.get_by_text("Slip", exact=False).first.click()
    page.get_by_role("button", name="Finalize").click()
    expect(refused).to_be_visible()
    expect(fields.nth(1)).to_have_attribute("aria-invalid", "true")
    expect(fields.nth(1)).to_be_focused()
    expect(fields.nth(0)).not_to_have_attribute("aria-invalid", "true")
    assert page.locator("#own-total").text_content() == "–"
    assert not FinalMark.objects.exists()
    fields.nth(1).fill("")
    expect(refused).to_have_count(0)
    page.get_by_role("button", name="Finalize").click()
    expect(refused).to_be_visible()  # what the server refuses is said there too
    expect(fields.nth(1)).to_be_focused()
    expect(page.locator("#notices .message")).to_have_count(0)
    # Who leaves is asked first, and what was given stays; a decision that is saved asks nothing.
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.evaluate("() => void setTimeout(() => location.assign('/'))")
    expect(fields.nth(0)).to_have_value("3")
    fields.nth(1).fill("1")
    page.get_by_role("button", name="Finalize").click()
    expect(page.get_by_role("heading", name="Nothing to arbitrate")).to_be_visible()
    assert FinalMark.objects.get().value == 10
    assert asked == ["beforeunload"]
    # the refusal itself is in the console
    site.troubles.clear()


@pytest.mark.parametrize("noticed", [True, False])
def test_what_a_lead_typed_is_saved_after_the_end_of_their_session(
    noticed: bool, site: Site, lead: User, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """Log in again in a new tab and repeat the step, whether or not the page had noticed."""
    made, answer = disputed([teacher, other_teacher, third_teacher])
    page = site.open(lead)
    page.goto(reverse("rounds:response", args=[made.public_id, answer.public_id]))
    finalize = page.get_by_role("button", name="Finalize")
    for field in page.locator("[data-own]").all():
        field.fill("1")
    page.get_by_text("Slip", exact=False).first.click()
    Session.objects.all().delete()
    if noticed:
        finalize.click()
        expect(page.locator("#notices")).to_contain_text("Your session has expired")
    tab = page.context.new_page()
    site.log_in(tab, lead)
    page.bring_to_front()
    if noticed:
        page.evaluate("() => void dispatchEvent(new Event('focus'))")
    else:
        finalize.click()
    expect(page.locator("#notices")).to_contain_text("You are logged in again")
    finalize.click()
    expect(page.get_by_role("heading", name="Nothing to arbitrate")).to_be_visible()
    assert FinalMark.objects.get().value == 3
