"""A judge marks a run, two teachers mark a sample of it, and the report shows a certified total."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import MarkingRound, MarkingSample, Run
from evaluations.runs.services.generation import work_on_run
from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Stream
from tests.browser.conftest import Site
from tests.evaluations.judging.test_canaries import judge_that
from tests.evaluations.report_world import chosen, run_of, written
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_question, make_response
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)
EACH = 3  # subjective questions of each subject; a sample has at least two
WORTH = re.compile(r"my answer is worth (\d)")


def points(key: str, response: str) -> str:
    """The judge: what the response says it is worth, all for the key, nothing for the rest."""
    if said := WORTH.search(response):
        return f"【总分】{said[1]}分"
    return "【总分】10分" if response == key else "【总分】0分"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def run(transactional_db: None, server: ScriptedServer) -> Run:
    """An answered run over the sciences, and an endpoint that can judge it."""
    made = run_of()
    for number, subject in enumerate(STREAMS[Stream.SCIENCES]):
        chosen(made, "A", "B", subject=subject)
        task = written(made, subject).question.task
        made.responses.filter(question__task=task).delete()
        for one in range(EACH):
            question = make_question(task, marks=("10",), reference_answer="By the law it is 7")
            worth = 2 + (3 * one + number) % 7
            make_response(question, made, f"my answer is worth {worth}")
    server.endpoint.faults = judge_that(points)
    scripted_endpoint(server, name="examiner")
    return made


def truth(run: Run) -> float:
    """The total of *run* if teachers marked all of it as they mark the sample."""
    total = 0.0
    for subject in STREAMS[Stream.SCIENCES]:
        texts = run.responses.filter(question__subject=subject, question__part="subjective")
        worth = [int(WORTH.search(one.text)[1]) - 1 for one in texts]  # type: ignore[index]
        weight = WEIGHTS[subject]
        total += weight.objective / 2 + weight.subjective * sum(worth) / (10 * len(worth))
    return total


def mark_all(page: Page) -> None:
    """Give every response of the queue what it says it is worth, one point less, by keyboard."""
    page.goto("/marking/")
    page.keyboard.press("Enter")
    response = page.locator(".desk-response pre.raw")
    expect(page.locator(".point:focus-within")).to_have_count(1)
    while response.count():
        now = page.locator("#marks").get_attribute("data-alias")
        said = WORTH.search(response.inner_text())
        assert said is not None
        page.keyboard.press(str(int(said[1]) - 1))
        page.keyboard.press("Enter")
        another = f"#marks:not([data-alias='{now}']) .point:focus-within"
        page.locator(f"{another}, #desk.page").first.wait_for()
    page.get_by_role("button", name="Done, no more changes").click()
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def test_a_sample_certifies_a_total(
    site: Site, run: Run, admin: User, teacher: User, other_teacher: User
) -> None:
    desk = site.open(admin)
    desk.goto(f"/runs/{run.pk}/")
    desk.get_by_label("Judge", exact=True).select_option(label="examiner")
    desk.get_by_role("button", name="Run judge").click()
    desk.wait_for_url(lambda url: not url.endswith(f"/runs/{run.pk}/"))
    judging = Run.objects.get(judged_run=run)
    work_on_run(judging.pk)  # as the worker does
    expect(desk.locator(".page-head .pill").first).to_have_text("Finished")

    desk.goto("/judging/samples/")
    desk.get_by_role("link", name="Plan a sample").first.click()
    desk.get_by_label("Run", exact=True).select_option(value=str(run.pk))
    desk.get_by_label("Judge").select_option(index=1)
    desk.get_by_label("Known within ± points").fill("60")
    desk.get_by_role("button", name="Show the plan").click()
    expect(desk.get_by_role("heading", name="mark 12 of 18 questions")).to_be_visible()
    desk.get_by_label("Name of the round").fill("Sciences")
    for person in (teacher, other_teacher):
        desk.get_by_label(str(person), exact=True).check()
    desk.get_by_label("Scheme").select_option("mean")
    desk.get_by_role("button", name="Draw and open the round").click()
    expect(desk.get_by_text("0 of 12 drawn questions have a final mark")).to_be_visible()

    for person in (teacher, other_teacher):
        mark_all(site.open(person))

    made = MarkingRound.objects.get()
    desk.goto(f"/rounds/{made.public_id}/")
    closing = desk.locator("details", has=desk.locator("form[action$='/close/']"))
    closing.locator("summary").click()
    closing.get_by_role("button").click()
    sample = MarkingSample.objects.get()
    desk.goto(f"/judging/samples/{sample.public_id}/")
    expect(desk.get_by_text("12 of 12 drawn questions have a final mark")).to_be_visible()

    desk.goto("/reports/?dataset=exam")
    totals = desk.get_by_role("region", name="Totals from samples")
    row = totals.get_by_role("row").filter(has_text="estimate: judge model")
    expect(row).to_have_count(1)
    total, half = re.findall(r"\t(\d+\.\d)\s*±(\d+\.\d)", row.inner_text())[0]
    assert abs(float(total) - truth(run)) < float(half)
    row.get_by_role("link", name="Sciences").click()
    expect(desk.get_by_text(f"the total is known within ±{half} points")).to_be_visible()
