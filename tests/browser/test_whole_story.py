"""Two teachers mark ten by keyboard, the lead settles one difference, the report counts it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.rounds import open_round
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import FinalMark, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType, Subject
from tests.browser.conftest import Site
from tests.factories import make_question, make_response, make_run, make_task

RUBRIC = (("writes the recurrence $a_{n+1}$", "3"), ("sums it", "3"))
TEN = 10
DISPUTED = "R-0004"


@pytest.fixture
def ten(db: None, teacher: User, other_teacher: User, lead: User) -> MarkingRound:
    """Ten responses to ten questions of two subjects, marked under 2+1 (tolerance 1 of 6)."""
    tasks = [
        make_task(subject=subject, question_type=QuestionType.OPEN_ENDED)
        for subject in (Subject.SCIENCES_MATHEMATICS, Subject.HISTORY)
    ]
    run = make_run(tasks[0].dataset)
    for number in range(TEN):
        question = make_question(tasks[number % 2], marks=("6",), rubric=RUBRIC)
        make_response(
            question, run, text=f"【解析】因为 $x={number}$ <eoe>\n【答案】{number} <eoa>"
        )
    return open_round(
        name="Ten",
        responses=ResponseChoice(runs=(run.pk,)),
        teachers=[teacher, other_teacher],
        scheme=Scheme.TWO_AND_LEAD,
        random_seed=7,
        window_minutes=0,
        acting_user=lead,
    )


def alias(page: Page) -> str:
    """The alias of the response on the desk."""
    return page.locator(".desk-response .pill").first.inner_text()


def mark_all(page: Page, generous: bool) -> None:
    """From the start page to an empty queue with no other hand than the keyboard."""
    page.goto("/marking/")
    page.keyboard.press("Enter")
    for done in range(1, TEN + 1):
        expect(page.locator(".point:focus-within")).to_have_count(1)
        now = alias(page)
        for number, digit in enumerate("32" if generous or now != DISPUTED else "00"):
            if number:
                page.keyboard.press("ArrowDown")
            page.keyboard.press(digit)
        page.keyboard.press("Enter")
        if done < TEN:
            expect(page.locator(".desk-response .pill").first).not_to_have_text(now)
    expect(page.locator(".desk-response")).to_have_count(0)


def test_from_two_blind_marks_to_the_report(
    site: Site,
    ten: MarkingRound,
    teacher: User,
    other_teacher: User,
    third_teacher: User,
    lead: User,
) -> None:
    first, second = site.open(teacher), site.open(other_teacher)
    mark_all(first, generous=True)
    assert not FinalMark.objects.exists(), "one mark settles nothing"
    mark_all(second, generous=False)
    assert Mark.objects.count() == 2 * TEN
    finalize_due(ten, now=timezone.now())  # as the clock does
    assert FinalMark.objects.filter(rule="mean of two", value=Decimal(5)).count() == TEN - 1
    dispute = Slot.objects.get(kind=SlotKind.ARBITRATION)
    assert dispute.answer.alias == DISPUTED
    for page in (first, second, site.open(third_teacher)):
        page.goto("/marking/")
        assert DISPUTED not in page.content()

    desk = site.open(lead)
    held: list[Route] = []  # the answer to the claim is slow: the decision waits for nothing
    desk.route("**/claim/", lambda route: held.append(route))
    desk.goto(f"/rounds/{ten.public_id}/arbitration/")
    expect(desk.get_by_text("difference 5 > tolerance 1")).to_be_visible()
    assert "canary" not in first.content()
    desk.keyboard.press("y")
    desk.keyboard.press("3")
    desk.keyboard.press("Tab")
    desk.keyboard.press("2")
    desk.keyboard.press("Escape")
    desk.keyboard.press("2")  # meant as points, and no longer in a field: it accepts nobody's mark
    expect(desk.locator("#own-total")).to_have_text("5")
    desk.keyboard.press("b")
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("heading", name="Nothing to arbitrate")).to_be_visible()
    assert held
    final = FinalMark.objects.get(answer=dispute.answer)
    assert (final.rule, final.value) == ("arbitration", Decimal(5))

    desk.goto("/reports/?dataset=exam&marker=teachers")
    expect(desk.get_by_role("cell", name="83.3").first).to_be_visible()
    # 50 of 60 points; nine of ten pairs are the same, one differs by five.
    assert "10" in desk.locator("body").inner_text()


def test_a_failed_save_loses_nothing(site: Site, ten: MarkingRound, teacher: User) -> None:
    page = site.open(teacher)
    page.goto("/marking/")
    page.keyboard.press("Enter")
    expect(page.locator(".point:focus-within")).to_have_count(1)
    now = alias(page)
    page.keyboard.press("3")
    page.context.set_offline(True)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator(".saved[data-state=failed]")).to_be_visible()
    assert alias(page) == now
    assert page.locator("#sum").inner_text() == "5"
    page.context.set_offline(False)
    page.keyboard.press("Enter")
    expect(page.locator(".desk-response .pill").first).not_to_have_text(now)
    assert Mark.objects.get().total == Decimal(5)
    site.troubles.clear()  # the browser itself reports the requests that went nowhere
