"""Scoring again, published beside strict, and the words a reading rests on, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import Rescoring, Response, Run
from evaluations.reading.services import rescoring_jobs
from evaluations.reading.services.pattern_decisions import accept_pattern
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from questions.models import Question
from questions.rules.vocabulary import ItemStatus, QuestionType
from tests.browser.conftest import Site
from tests.evaluations.pattern_world import TAGGED, run_with, searched
from tests.factories import make_dataset, make_question, make_response, make_run, make_task

AXE = Callable[[Page], list[str]]
pytestmark = pytest.mark.django_db(transaction=True)

# Both policies agree; the published rule reads the last letter (6 points), strict finds two.
# The third is left out under strict, the fourth gives a model's two answers, one of them right.
TEXTS = ("先看题干。【答案】A", "【答案】B、A", "【答案】A")
PAIR = "【答案】(1)A (2)C"
LOOKS = {
    "light zh": {
        "viewport": {"width": 1440, "height": 900},
        "color_scheme": "light",
        "locale": "zh-CN",
    },
    "dark en": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "locale": "en-GB",
    },
}


@pytest.fixture
def responses(transactional_db: None) -> list[Response]:
    """A run's responses of 6 points each, the last of two sub-questions; nothing is scored."""
    run = make_run(make_dataset("exam"))
    single = make_task(run.dataset)
    made = [make_response(make_question(single), run, text) for text in TEXTS]
    double = make_task(run.dataset, slug="double", question_type=QuestionType.SEVERAL_QUESTIONS)
    pair = make_question(double, key=("A", "B"), marks=("3", "3"))
    return [*made, make_response(pair, run, PAIR)]


@pytest.fixture
def scored(responses: list[Response]) -> Run:
    score_responses(responses)
    Question.objects.filter(pk=responses[2].question_id).update(status=ItemStatus.QUARANTINED)
    return responses[0].run


def number(text: str) -> Any:
    """The Decimal of a cell; typed loosely, so that it is compared with whole numbers."""
    return Decimal(re.sub(r"[ %]", "", text).replace("−", "-").replace("–", "0") or "0")


def test_scoring_again_is_started_stopped_and_gone_on_with(
    site: Site, responses: list[Response], lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescoring_jobs, "BATCH", 2)
    page = site.open(lead)
    page.goto("/runs/scoring/")
    page.locator("form.form").get_by_role("button", name="Rescore").click()
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    expect(page.get_by_role("progressbar", name="0 of 4 responses")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Rescoring was stopped. Scores made so far are kept")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    # The page finds out by itself that a worker came and went.
    assert rescoring_jobs.work_on_rescoring(Rescoring.objects.get().pk)
    expect(page.get_by_role("progressbar", name="4 of 4 responses")).to_be_visible()
    expect(page.locator(".tiles")).to_contain_text("8")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_the_changes_add_up_from_published_to_strict(site: Site, scored: Run, lead: User) -> None:
    page = site.open(lead)
    page.goto(f"/runs/{scored.pk}/")
    page.get_by_role("link", name="Policy comparison").click()
    rows = page.locator("table").first.locator("tbody tr")
    cells = [[number(cell) for cell in row.locator("td").all_inner_texts()] for row in rows.all()]
    (_, points, full, _, rate), *steps, last = cells
    # Published: 6 + 6 + 6 + 3 of 24. Strict: 6 + 0 + 3 of 18.
    assert (points, full, rate) == (21, 24, Decimal("87.500"))
    assert last == [2, 9, 18, Decimal("-37.500"), Decimal("50.000")]
    assert (points + sum(one[1] for one in steps), full + sum(one[2] for one in steps)) == (9, 18)
    assert sum(one[3] for one in steps) == last[3]
    # One item leaves with its 6 points: 15 of 18. Then reading takes 6: 9 of 18.
    assert [one[4] for one in steps if one[0]] == [Decimal("83.333"), Decimal("50.000")]
    page.get_by_role("link", name="Extracted differently").click()
    expect(page.locator("#moved tbody tr")).to_have_count(1)
    expect(page.locator("#moved q").first).to_have_text("A")
    page.locator("#moved a.row-link").click()
    expect(page).to_have_url(re.compile("/runs/responses/"))


def test_a_response_shows_the_words_that_were_read(
    site: Site, scored: Run, responses: list[Response], lead: User
) -> None:
    page = site.open(lead)
    page.goto(f"/runs/responses/{responses[3].public_id}/")
    for policy in ("As published", "Strict"):
        sheet = page.locator(
            "section", has=page.get_by_role("heading", name=f"Extraction: {policy}")
        )
        expect(sheet.locator("tbody tr")).to_have_count(2)
        marks = sheet.locator("mark")
        expect(marks).to_have_text(["A", "C"])
        expect(marks.nth(1)).to_have_attribute("title", "extracted as answer 2")
        colour = "one => getComputedStyle(one).backgroundColor"
        assert marks.first.evaluate(colour) != sheet.locator("pre").evaluate(colour)


@pytest.mark.parametrize("look", LOOKS)
def test_the_pages_have_no_barriers(
    look: str, site: Site, axe: AXE, scored: Run, responses: list[Response], lead: User
) -> None:
    search = searched(run_with((TAGGED, 8), task=responses[0].question.task, run=scored))
    accept_pattern(search.patterns.earliest("pk"), acting_user=lead)
    job = rescoring_jobs.start_rescoring(None, None, acting_user=lead)
    exact = make_task(scored.dataset, slug="exact", question_type=QuestionType.EXACT_ANSWER)
    sums = make_question(exact, key=("x + y",), letters="")
    score_responses([make_response(sums, scored, "\\boxed{x + y}")])
    page = site.open(lead, **LOOKS[look])
    for address in (
        "/runs/scoring/",
        f"/runs/scoring/{job.pk}/",
        f"/runs/scoring/run/{scored.pk}/",
        f"/runs/responses/{responses[3].public_id}/",
        f"/runs/{scored.pk}/patterns/",
        f"/runs/patterns/{search.pk}/",
        "/reports/",
    ):
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", re.compile(look[-2:]))
        assert axe(page) == [], address
        wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{address} scrolls sideways by {wide}"
