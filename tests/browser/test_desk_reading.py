"""The desk as each person has it, and reading at it: own keys, folding, sub-questions, pictures."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from evaluations.models import DeskSettings, Mark, MarkingRound, Response
from gradeapp.accounts.models import User
from questions.models import Asset, Question, QuestionRevision
from tests.browser.conftest import Site
from tests.browser.test_marking_desk import alias, expect_another, keys, start
from tests.evaluations.marking_world import small_round, subjective_question

PASSAGE = "The passage goes on and on.\n\n" * 40
ANSWERS = "(1) two seconds\n\n" + "filler\n\n" * 40 + "(2) five metres\n\n" + "filler\n\n" * 40
KEY = "(1) 2 s\n\n" + "filler\n\n" * 40 + "(2) 5 m"


def with_picture(question: Question) -> None:
    """A picture of 40 by 20 pixels at the end of the question."""
    file = io.BytesIO()
    Image.new("RGB", (40, 20), "navy").save(file, "PNG")
    content = file.getvalue()
    Asset.objects.create(
        dataset=question.task.dataset,
        name="ball.png",
        media_type="image/png",
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
    )
    stem = f"{PASSAGE}(1) How long?\n\n(2) How far?\n\n![the ball](image:ball.png)"
    revisions = QuestionRevision.objects.filter(question=question)
    revisions.update(stem=stem, images=["ball.png"])


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    question = subjective_question(reference_answer=KEY)
    with_picture(question)
    return small_round([teacher, other_teacher], 3, question=question)


def top_of(page: Page, column: str) -> float:
    return float(page.evaluate(f"document.querySelector('.desk-{column} .desk-body').scrollTop"))


def test_the_question_stays_while_responses_change(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, teacher: User
) -> None:
    Response.objects.update(text=ANSWERS)
    page = site.open(teacher)
    first = start(page)
    asked = page.locator("#asked")
    expect(asked).to_have_class("rich fold folded")  # so that the answer key is in sight
    expect(page.locator("#part-key")).to_be_in_viewport()
    expect(page.get_by_text("How far?")).to_be_in_viewport()  # questions never fold
    keys(page, "p")
    expect(asked).to_have_class("rich fold")
    keys(page, "a", "]", "]")
    expect(page.locator("#subs [aria-current]")).to_have_text("2")
    expect(page.locator("[data-part][aria-current]")).to_have_text("Answer key")
    expect(page.locator("#part-key .sub-here")).to_be_in_viewport()
    expect(page.locator(".desk-response .sub-here")).to_be_in_viewport()
    left = top_of(page, "question")
    assert left > 0
    assert top_of(page, "response") > 0
    for digit in "326":
        keys(page, digit, "ArrowDown")
    keys(page, "Enter")
    expect_another(page, first)
    expect(asked).to_have_class("rich fold")
    assert top_of(page, "question") == left
    assert top_of(page, "response") == 0
    picture = page.get_by_role("button", name="Enlarge image: the ball")
    picture.click()
    expect(page.locator("#zoom img")).to_be_visible()
    before = page.locator("#zoom img").evaluate("one => one.width")
    assert before == 40 * 6  # the largest step, since all of it fits
    keys(page, "-")
    expect(page.locator("#zoom-size")).to_have_text("400 %")
    assert axe(page) == []
    keys(page, "Escape", "3")
    expect(page.locator("#sum")).to_have_text("3")
    for dialog in ("login-again", "zoom"):
        assert not page.locator(f"#{dialog}[open]").count()
    page.evaluate("document.getElementById('login-again').showModal()")
    assert axe(page) == []


def test_own_keys_and_none_at_all(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, teacher: User
) -> None:
    MarkingRound.objects.update(window_minutes=15)
    page = site.open(teacher)
    page.goto("/marking/")
    page.get_by_role("link", name="Preferences").click()
    assert axe(page) == []
    page.get_by_label("Go to your last mark").press("s")
    page.get_by_role("button", name="Save preferences").click()
    expect(page.locator("[data-refusal]")).to_contain_text("“s” cannot be used for both “Skip")
    expect(page.get_by_label("Go to your last mark")).to_have_value("s")
    page.get_by_label("Go to your last mark").press("z")
    page.get_by_label("Next scoring point").press("j")
    page.get_by_text("130 %").click()
    page.get_by_role("button", name="Save preferences").click()
    expect(page.get_by_text("Your preferences were saved.")).to_be_visible()
    first = start(page)
    expect(page.get_by_role("button", name="Undo")).to_have_text("Undo z")
    sizes = "getComputedStyle(document.querySelector('.desk-response .rich')).fontSize"
    assert page.evaluate(sizes) == "18.85px"  # 130 % of 14.5
    keys(page, "3", "j", "2", "J", "6", "Enter")
    expect_another(page, first)
    assert [point.points for point in Mark.objects.get().points.all()] == [3, 2, 6]
    keys(page, "u")  # nobody's key any more
    keys(page, "?")
    expect(page.locator("dialog[open] dt", has_text="j")).to_be_visible()
    keys(page, "Escape", "z")
    expect(page.locator("#marks")).to_have_attribute("data-alias", first)
    DeskSettings.objects.update(shortcuts=False)
    page.reload()
    page.get_by_role("button", name="Change mark").click()
    expect(page.locator(".point:focus-within")).to_have_count(1)
    keys(page, "0", "z", "s", "?", ".")
    expect(page.locator("#sum")).to_have_text("11")
    expect(page.get_by_role("button", name="Undo")).to_have_text("Undo")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys(page, "ArrowLeft", "Tab", "Tab", "Tab")
    page.keyboard.type("u s 1")
    keys(page, "Control+Enter")
    expect_another(page, first)
    newest = Mark.objects.latest("id")
    assert (newest.total, newest.comment) == (10.5, "u s 1")


def test_on_a_phone_one_reads_and_marks(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.goto("/marking/settings/")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first = start(page)
    page.locator("#subs").get_by_role("button", name="Sub-question 2").click()
    expect(page.locator("#subs [aria-current]")).to_have_text("2")
    for point in (1, 2, 3):
        page.locator(f"[name=point-{point}][value='1']").check(force=True)
    page.get_by_role("button", name="Save & next").click()
    expect_another(page, first)
    assert Mark.objects.get().total == 3
    assert alias(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_the_words_of_each_button_stand_inside_it(
    language: str, site: Site, made: MarkingRound, teacher: User
) -> None:
    MarkingRound.objects.update(window_minutes=15)
    page = site.open(teacher, locale=language)
    first = start(page)
    keys(page, "1", "ArrowDown", "1", "ArrowDown", "1", "Enter")
    expect_another(page, first)
    keys(page, "u")
    expect(page.locator("#marks")).to_have_attribute("data-alias", first)
    for width in (1440, 1280, 1024, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        wider = page.locator("#marks .button").evaluate_all(
            "all => all.filter((one) => one.scrollWidth > one.clientWidth"
            " || one.scrollHeight > one.clientHeight).map((one) => one.textContent)"
        )
        assert wider == [], width


@pytest.mark.parametrize(
    ("language", "name"), [("en-GB", "Alexandra Konstantinopoulou"), ("zh-CN", "王小明老师")]
)
def test_the_draft_of_a_change_fits_on_a_phone(
    language: str, name: str, site: Site, made: MarkingRound, teacher: User
) -> None:
    MarkingRound.objects.update(window_minutes=15)
    User.objects.filter(pk=teacher.pk).update(display_name=name)
    page = site.open(teacher, locale=language)
    first = start(page)
    keys(page, "1", "ArrowDown", "1", "ArrowDown", "1", "Enter")
    expect_another(page, first)
    keys(page, "u")
    expect(page.locator("#marks")).to_have_attribute("data-alias", first)
    keys(page, "0")
    expect(page.locator("#saved")).to_have_attribute("data-state", "draft")
    expect(page.locator("#saved")).to_have_text(re.compile(r"\d\d:\d\d.+\d\d:\d\d:\d\d"))
    for width in (1440, 760, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        expect(page.locator(".menu-name")).to_be_in_viewport(ratio=1)
