"""Published responses, marked by four teachers at their desks, come out as a table says.

Sixty of them in the scheme that has every rule but that of one mark. What one mark, or two of any
difference, come to is for the tests of finalizing.

The table was made by hand, for each tolerance that occurs, before anything was marked. All keys go
through the real pages; what came out is read from the lead's page of the round and from the file of
its marks.
"""

from __future__ import annotations

import csv
import shutil
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from evaluations.imports.services.answer_imports import import_answers
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import MarkingRound, Response, Slot
from evaluations.models.vocabulary import AnswerRole, SlotKind
from evaluations.schemes import DEFAULT_SCHEME, FinalRule, Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Task
from questions.services.imports import import_questions
from tests.browser.conftest import Site
from tests.factories import make_user

pytestmark = pytest.mark.shareddata

RANDOM_SEED = 60
# Fifteen of the eighteen tasks: with four responses each they make sixty.
EACH = 4
LEFT_OUT = ("Math_II_Fill", "Classical_Chinese", "Language_and_Writing")
# These two tasks are given a tolerance of their own on the form; its value, in points.
OWN_TOLERANCE = {"History": "2", "Political_Science": "2"}
# The tolerance of all others by full marks: a tenth, down to a half point, and 1 at least.
TOLERANCE = {
    **dict.fromkeys(("5", "6", "8", "9", "10", "11", "12", "14"), "1"),
    **{"15": "1.5", "18": "1.5", "20": "2", "25": "2.5"},
}

TWO, MIDWAY = FinalRule.MEAN_OF_TWO, FinalRule.THIRD_MIDWAY
ONE_THREE, TWO_THREE, LEAD = FinalRule.CLOSEST_1_3, FinalRule.CLOSEST_2_3, FinalRule.ARBITRATION


@dataclass(frozen=True)
class Line:
    """The marks of a response in their order, what they come to, and the keys of the lead."""

    marks: str
    final: str
    rule: FinalRule
    lead: str = ""

    def mark(self, kind: str) -> str:
        """What is given in a slot of this *kind*."""
        return self.marks.split()[[SlotKind.FIRST, SlotKind.SECOND, SlotKind.THIRD].index(kind)]

    def row(self) -> list[str]:
        """First, second and third mark, final mark and rule, as the lead's page shows them."""
        first, second, third, *_ = [*self.marks.split(), "–", "–"]
        return [first, second, third, self.final, self.rule.label("en")]


# The lead's keys: y and own points, or the number of a button (each mark, then the closest pair).
TABLE: dict[str, list[Line]] = {
    "1": [
        Line("4 5", "4.5", TWO),  # the difference equals the tolerance
        Line("4 4.5", "4.25", TWO),  # quarter points
        Line("1 3 2", "2", MIDWAY),
        Line("0 3 1.5", "2.5", LEAD, "y2.5"),  # equally near to both, and too far
        Line("0 5 2", "5", LEAD, "2"),  # near to none
        Line("1 5 4.5", "4.75", TWO_THREE),
        Line("5 2 4", "4.5", ONE_THREE),  # the pair's difference equals the tolerance
        Line("3 4.5 4", "4.25", TWO_THREE),  # passes with both, nearer to one
    ],
    "1.5": [
        Line("6 7.5", "6.75", TWO),
        Line("9 8.5", "8.75", TWO),
        Line("5 8 6.5", "6.5", MIDWAY),
        Line("4 8 6", "7.5", LEAD, "y7.5"),
        Line("2 14 8.5", "8.5", LEAD, "3"),
        Line("3 12 11", "11.5", TWO_THREE),
        Line("10 7 11.5", "10.75", ONE_THREE),
        Line("9 11 10.5", "10.75", TWO_THREE),
    ],
    "2": [
        Line("8 10", "9", TWO),
        Line("7.5 8", "7.75", TWO),
        Line("3 7 5", "5", MIDWAY),
        Line("2 7 4.5", "4", LEAD, "y4"),
        Line("0 10 5.5", "7.75", LEAD, "4"),
        Line("1 9 8.5", "8.75", TWO_THREE),
        Line("11 4 9", "10", ONE_THREE),
        Line("6 9 8", "8.5", TWO_THREE),
    ],
    "2.5": [
        Line("12 14.5", "13.25", TWO),
        Line("20 21", "20.5", TWO),
        Line("10 15 12.5", "12.5", MIDWAY),
        Line("8 14 11", "11.5", LEAD, "y11.5"),
        Line("5 25 14", "5", LEAD, "1"),
        Line("3 18 16.5", "17.25", TWO_THREE),
        Line("20 12 22.5", "21.25", ONE_THREE),
        Line("16 19.5 18.5", "19", TWO_THREE),
    ],
}


@pytest.fixture
def published(transactional_db: None, shared_data: Path, tmp_path: Path) -> None:
    """The open questions of GAOKAO-Bench and what gpt-4-0314 answered to all of them."""
    for folder in ("Data/Subjective_Questions", "Results/gpt_4_0314_sub"):
        (tmp_path / folder).mkdir(parents=True)
        for file in (shared_data / "gaokao-bench" / folder).glob("*.json"):
            shutil.copy(file, tmp_path / folder)
    import_questions("gaokao-bench", tmp_path)
    import_answers("gaokao-bench", tmp_path / "Results")
    assert Response.objects.count() == 1030


@pytest.fixture
def teachers(transactional_db: None) -> list[User]:
    return [make_user(Role.TEACHER, name) for name in ("tao", "wei", "yan", "zhou")]


def started(page: Page, teachers: list[User]) -> MarkingRound:
    """The round, planned on the form of the lead and started."""
    page.goto("/rounds/new/")
    page.get_by_label("Name", exact=True).fill("Sixty")
    page.get_by_role("checkbox", name="gpt-4-0314").check()
    page.locator("summary", has_text="Tasks").click()
    for task in Task.objects.all():
        if not any(part in task.slug for part in LEFT_OUT):
            page.locator(f"input[name=tasks][value='{task.pk}']").check()
    page.get_by_label("Questions per task").fill(str(EACH))
    page.get_by_label("Random seed").fill(str(RANDOM_SEED))
    page.locator("[name=window_minutes]").fill("0")  # each mark counts as soon as it is saved
    for teacher in teachers:
        page.get_by_label(str(teacher), exact=True).check()
    expect(page.get_by_label("Scheme", exact=True)).to_have_value(DEFAULT_SCHEME)
    page.get_by_label("Scheme", exact=True).select_option(Scheme.THREE_AND_LEAD)
    page.get_by_text("Separate tolerance for a task").click()
    for part, points in OWN_TOLERANCE.items():
        page.locator(f"[name='tolerance-{Task.objects.get(slug__contains=part).pk}']").fill(points)
    page.keyboard.press("Tab")  # what is filled in counts when the field is left: the load follows
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Create round").click()
    count = 15 * EACH
    expect(page.get_by_text(f"Responses: {count}, questions: {count}")).to_be_visible()
    page.get_by_role("button", name="Start round").click()
    expect(page.get_by_role("heading", name="Responses")).to_be_visible()
    return MarkingRound.objects.get()


def lines(made: MarkingRound) -> dict[str, Line]:
    """The line of the table for each alias; those of one tolerance go through it in turn."""
    turns = {tolerance: cycle(lines) for tolerance, lines in TABLE.items()}
    found: dict[str, Line] = {}
    answers = made.answers.filter(role=AnswerRole.ANSWER).select_related("question__task")
    for answer in answers.order_by("alias"):
        own = [OWN_TOLERANCE[part] for part in OWN_TOLERANCE if part in answer.question.task.slug]
        tolerance = own[0] if own else TOLERANCE[f"{answer.full_marks.normalize():f}"]
        found[answer.alias] = next(turns[tolerance])
    return found


class Hand:
    """A teacher at the desk, who knows the table and remembers what they have read."""

    def __init__(self, page: Page, person: User, table: dict[str, Line]) -> None:
        self.page, self.person, self.table = page, person, table
        self.given: dict[str, str] = {}
        self.alias = ""
        page.goto("/marking/")
        page.keyboard.press("Enter")

    def has_work(self) -> bool:
        """Whether a response is there once the last save went through; an empty desk asks again."""
        marks = self.page.locator("#marks")
        another = f"#marks:not([data-alias='{self.alias}']) .point:focus-within"
        self.page.locator(f"{another}, #desk.page").first.wait_for()
        if not marks.count():
            with self.page.expect_navigation():
                self.page.keyboard.press("Enter")
        return marks.count() == 1

    def mark_one(self) -> bool:
        """Read a response and mark it by keyboard; False when there is none."""
        if not self.has_work():
            return False
        self.alias = self.page.locator("#marks").get_attribute("data-alias") or ""
        read = self.page.locator(".desk-response pre.raw").text_content() or ""
        slot = Slot.objects.select_related("answer__response").get(
            answer__alias=self.alias, holder=self.person, marked=False
        )
        assert read == slot.answer.response.text
        line = self.table.get(self.alias)
        mark = line.mark(slot.kind) if line else self.given[read]  # a self-repeat is known again
        self.given[read] = mark
        for key in (*mark, "Enter"):
            self.page.keyboard.press(key)
        return True


def decide(page: Page, made: MarkingRound, table: dict[str, Line]) -> list[str]:
    """The aliases that the lead was asked to decide, each decided by the keys of its line."""
    page.goto(f"/rounds/{made.public_id}/")
    page.keyboard.press("Enter")
    title, decided = page.locator("#case h2").first, list[str]()
    while title.inner_text() != "Nothing to arbitrate":
        expect(page.locator("#claim")).to_contain_text("assigned to you until")
        before = title.inner_text()
        alias = before.split()[-1]
        assert table[alias].lead, f"{alias} needs no decision by the table"
        decided.append(alias)
        for key in (*table[alias].lead, "b", "Enter"):
            page.keyboard.press(key)
        expect(title).not_to_have_text(before)
    return decided


def rows(page: Page, made: MarkingRound) -> dict[str, list[str]]:
    """First, second, third and final mark and the rule of each alias, from the lead's page."""
    found: dict[str, list[str]] = {}
    for number in (1, 2):
        page.goto(f"/rounds/{made.public_id}/?page={number}")
        for row in page.locator("#answers tbody tr").all():
            alias, _, _, *marks, _, _, final, rule = row.locator("th, td").all_inner_texts()
            found[alias] = [*marks, final, rule]
    return found


def finals_in_file(page: Page) -> dict[str, tuple[str, str]]:
    """Final mark and rule of each alias, from the file of marks that the round's page offers."""
    with page.expect_download() as taken:
        page.get_by_role("link", name="Marks as CSV").click()
    with taken.value.path().open(encoding="utf-8-sig", newline="") as file:
        marks = list(csv.DictReader(file))
    return {mark["response"]: (mark["final"], mark["rule"]) for mark in marks if mark["final"]}


def test_they_come_out_as_the_table_says(
    site: Site, published: None, lead: User, teachers: list[User]
) -> None:
    desk = site.open(lead)
    made = started(desk, teachers)
    table = lines(made)
    assert set(table.values()) >= set(TABLE["1"])
    hands = [Hand(site.open(person), person, table) for person in teachers]

    def all_mark() -> int:
        finalize_due(made, now=timezone.now())  # as the clock does: third marks come up
        return sum(one.mark_one() for one in hands)

    # A third mark may come up while another's last save is under way: nobody twice in a row.
    while all_mark() or all_mark():
        pass
    decided = decide(desk, made, table)
    assert sorted(decided) == sorted(alias for alias, one in table.items() if one.rule is LEAD)
    assert rows(desk, made) == {alias: one.row() for alias, one in table.items()}
    expected = {alias: (one.final, one.rule.value) for alias, one in table.items()}
    assert finals_in_file(desk) == expected
