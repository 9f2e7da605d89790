"""The desk by keyboard and on a phone: saving from anywhere, an own mark, where the page stands."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from evaluations.marking.desk.services.marking import finish_revising
from evaluations.models import DeskSettings, Mark, MarkingRound, Response
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.browser.test_marking_desk import alias, expect_another, keys, start
from tests.evaluations.marking_world import answers_of, give, small_round, subjective_question

LONG = "A ball falls from $h$ metres.\n\n" + "It falls and falls.\n\n" * 40


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    question = subjective_question(stem=LONG)
    return small_round([teacher, other_teacher], 2, question=question, window_minutes=15)


def hold(page: Page, key: str, shown: str) -> None:
    """Hold *key* down at the response called *shown* until the next one has been there a while."""
    page.keyboard.down(key)
    expect_another(page, shown)
    for _repeat in range(5):
        page.keyboard.down(key)
        page.wait_for_timeout(50)
    page.keyboard.up(key)


def expect_said(page: Page, words: str) -> None:
    expect(page.locator("#said")).to_have_text(words)


def test_points_tab_and_enter_are_enough(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher)
    first = start(page)
    keys(page, "3", "Tab", "2", "Tab", "6", "Tab", "Enter")
    expect_another(page, first)
    expect_said(page, f"Saved. Next response: {alias(page)}")
    assert Mark.objects.get().total == Decimal(11)


def test_nine_points_cost_ten_keys_when_a_digit_advances(
    site: Site, transactional_db: None, teacher: User, other_teacher: User
) -> None:
    DeskSettings.objects.create(user=teacher, advance=True)
    steps = [(f"step {number}", "2") for number in range(8)]
    rubric = (*steps, ("an essay", "14"))
    small_round([teacher, other_teacher], 2, question=subjective_question(rubric, full="30"))
    page = site.open(teacher)
    first = start(page)
    keys(page, *"12012012", "9", "Enter")
    expect_another(page, first)
    points = [int(point.points) for point in Mark.objects.get().points.all()]
    assert points == [1, 2, 0, 1, 2, 0, 1, 2, 9]
    keys(page, "1", ".", "m", "o")  # a half still belongs to the digit before it
    expect(page.locator(".point[data-active] .point-number")).to_have_text("4")
    keys(page, "3")  # refused: the focus stays
    expect(page.locator(".point .mark-fault")).to_contain_text("3 is above the full marks, 2")
    keys(page, "1", "1", "1", "1", "1", "m", "Enter")
    expect_said(page, "Saved. All done")
    points = [str(point.points) for point in Mark.objects.latest("id").points.all()]
    assert points == ["1.50", "2.00", "0.00", *["1.00"] * 5, "14.00"]


def test_without_a_rubric_two_keys_are_enough(
    site: Site, transactional_db: None, teacher: User, other_teacher: User
) -> None:
    small_round([teacher, other_teacher], 2, question=subjective_question(rubric=()))
    page = site.open(teacher)
    first = start(page)
    keys(page, "8", "Enter")
    expect_another(page, first)
    keys(page, "m", "Enter")
    expect_said(page, "Saved. All done")
    assert set(Mark.objects.values_list("total", flat=True)) == {Decimal(8), Decimal(12)}


def test_enter_saves_from_the_comment_and_shift_makes_a_line(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    first = start(page)
    keys(page, "3", "ArrowDown", "2", "ArrowDown", "6", "c")
    page.keyboard.type("one")
    keys(page, "Shift+Enter")
    page.keyboard.type("two")
    expect(page.locator("#comment")).to_have_value("one\ntwo")
    keys(page, "Enter")
    expect_another(page, first)
    assert Mark.objects.get().comment.split() == ["one", "two"]


@pytest.mark.parametrize("within", ["#flags input", "#comment"])
def test_escape_leaves_the_flags_before_the_next_key(
    site: Site, made: MarkingRound, teacher: User, within: str
) -> None:
    page = site.open(teacher)
    first = start(page)
    keys(page, "3", "ArrowDown", "2", "ArrowDown", "6", "f", "1")
    expect(page.locator("#flags input").first).to_be_focused()
    page.locator(within).first.focus()
    # Both keys in one turn, as a fast hand sends them to a slow page.
    page.evaluate(
        """() => ["Escape", "Enter"].forEach((key) => {
          const pressed = { key, bubbles: true, cancelable: true };
          const { activeElement } = document;
          const goesOn = activeElement.dispatchEvent(new KeyboardEvent("keydown", pressed));
          if (key === "Enter" && goesOn) activeElement.click();
        })"""
    )
    expect_another(page, first)
    assert Mark.objects.get().total == Decimal(11)
    assert len(Mark.objects.get().flags) == 1


def test_a_key_that_is_held_down_saves_or_skips_one_response(
    site: Site, transactional_db: None, teacher: User, other_teacher: User
) -> None:
    small_round([teacher, other_teacher], 3, question=subjective_question(rubric=()))
    page = site.open(teacher)
    first = start(page)
    keys(page, "8")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    hold(page, "s", first)
    second = alias(page)
    keys(page, "7")
    hold(page, "Enter", second)
    third = alias(page)
    assert third not in (first, second)
    keys(page, "6")
    hold(page, "Enter", third)  # the response that comes back is complete
    assert alias(page) == first
    expect(page.locator("#sum")).to_have_text("8")
    assert set(Mark.objects.values_list("slot__answer__alias", flat=True)) == {second, third}
    keys(page, "Enter")
    expect_said(page, "Saved. All done")


def test_the_last_save_announces_that_all_is_done(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    give(answers_of(made)[0], teacher, ["3", "3", "6"])
    page = site.open(teacher)
    start(page)
    keys(page, "3", "ArrowDown", "2", "ArrowDown", "6", "Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect_said(page, "Saved. All done")


def test_an_own_mark_is_read_then_changed_until_its_window_ends(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    answer = answers_of(made)[0]
    give(answer, teacher, ["3", "2", "1"], now=timezone.now())
    page = site.open(teacher)
    page.goto(f"/marking/responses/{answer.public_id}/")
    expect(page.locator("#own-mark #sum")).to_have_text("6")
    keys(page, "9")  # no point is given where nothing can be
    keys(page, "e")
    expect(page.locator(".point:focus-within")).to_have_count(1)
    keys(page, "0", "Enter")
    expect_another(page, answer.alias)
    assert set(Mark.objects.values_list("version", "total")) == {(1, Decimal(6)), (2, Decimal(3))}
    finish_revising(teacher, made, now=timezone.now())
    keys(page, "u")
    expect(page.locator("#own-mark")).to_contain_text("is over")
    expect(page.get_by_role("button", name="Change mark")).to_have_count(0)
    keys(page, "Enter")
    expect_another(page, answer.alias)
    site.troubles.clear()  # the browser itself reports the 409


REACH = """() => {
  const box = (one) => document.querySelector(one).getBoundingClientRect();
  const inside = (one, top, bottom) =>
    one.height > 0 && one.top >= top - 1 && one.bottom <= bottom + 1;
  const list = box(".points");
  const entry = document.querySelector(".point[data-active] .chips").getBoundingClientRect();
  return inside(entry, list.top, list.bottom) && inside(box(".desk-save"), 0, innerHeight)
    && inside(box("#comment"), 0, innerHeight) && box("#marks").top > innerHeight / 3;
}"""


# Not wait_for_function: what it polls is a text, which the policy of the page forbids.
SCROLLED = """() => new Promise((done) => {
  const look = () => scrollY > 1000 ? done() : requestAnimationFrame(look);
  look();
})"""


@pytest.mark.parametrize("size", [(390, 844), (720, 450)])
def test_on_a_phone_and_at_200_per_cent_the_marks_are_in_reach(
    size: tuple[int, int], site: Site, made: MarkingRound, teacher: User
) -> None:
    """Beside a response of many screens: its points, the comment and the button that saves."""
    Response.objects.update(text=LONG)
    page = site.open(teacher, viewport={"width": size[0], "height": size[1]})
    first = start(page)
    assert page.evaluate("scrollY") == 0
    for digit in "326":
        assert page.evaluate(REACH)
        keys(page, digit, "ArrowDown")
    keys(page, "ArrowUp", "ArrowUp")
    assert page.evaluate("scrollY") == 0  # the page stays where one reads
    page.mouse.wheel(0, 1500)
    page.evaluate(SCROLLED)
    assert page.evaluate(REACH)
    keys(page, "Enter")
    expect_another(page, first)
    assert page.evaluate("scrollY") == 0


ENTRY_IN_LIST = """() => {
  const box = (one) => document.querySelector(one).getBoundingClientRect();
  const [list, entry] = [box(".points"), box("#total")];
  return entry.height > 0 && entry.top >= list.top - 1 && entry.bottom <= list.bottom + 1;
}"""


def test_at_200_per_cent_the_field_for_the_total_is_seen_whole(
    site: Site, transactional_db: None, teacher: User, other_teacher: User
) -> None:
    small_round([teacher, other_teacher], 2, question=subjective_question(rubric=()))
    Response.objects.update(text=LONG)
    page = site.open(teacher, viewport={"width": 640, "height": 400})
    start(page)
    assert page.evaluate(ENTRY_IN_LIST)
    assert page.evaluate("document.getElementById('marks').getBoundingClientRect().top") > 133
