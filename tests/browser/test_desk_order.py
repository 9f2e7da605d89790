"""Fast steps over a slow network: a response, its values and its version always belong together."""

from __future__ import annotations

import os
import random
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from evaluations.models import Draft, Mark, MarkingRound, Slot
from gradeapp.accounts.models import User
from gradeapp.common.submission_keys import submission_key
from tests.browser.conftest import Site
from tests.browser.test_marking_desk import keys, start
from tests.evaluations.marking_world import answers_of, give, small_round

LONG = os.environ.get("GRADEAPP_FULL") == "yes"
STEPS, MOST_STEPS = (300, 6000) if LONG else (60, 3000)
REST_AFTER, REST_MS = 10, 950
BELONGS = """() => {
  const form = document.getElementById("marks") ?? document.getElementById("own-mark");
  const id = document.querySelector("#undo [name=answer]").value;
  return {
    shown: form.dataset.alias, id, url: location.pathname, title: document.title,
    action: form.action ?? "", answer: form.elements?.answer.value ?? id,
    version: form.elements?.version.value ?? "", comment: (
      document.getElementById("comment")?.value ?? document.querySelector(".desk-given").textContent
    ),
    key: form.elements?.key.value ?? "",
  };
}"""


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 8)


def slowly(page: Page) -> list[str]:
    """Every request of the desk waits, each for another time; what was asked, in that order."""
    dice, asked = random.Random(35), []

    def hold(route: Route) -> None:
        asked.append(route.request.url.rstrip("/").rpartition("/")[2])
        page.wait_for_timeout(dice.choice([0, 0, 5, 15, 40]))
        route.continue_()

    page.route(re.compile("/(save|skip|undo|draft|ahead)/$"), hold)
    return asked


def test_fast_steps_never_mix_two_responses(site: Site, made: MarkingRound, teacher: User) -> None:
    """Every response has its own alias as comment: in its mark, or in its draft."""
    ids = {answer.alias: str(answer.public_id) for answer in answers_of(made)}
    for answer in answers_of(made)[:4]:
        give(answer, teacher, ["3", "2", "1"], comment=answer.alias)
    for slot in Slot.objects.filter(planned=teacher, marked=False):
        Draft.objects.create(slot=slot, teacher=teacher, sequence=1, content={
            "points": ["1", "", ""], "total": "", "comment": slot.answer.alias, "flags": []
        })  # fmt: skip
    page = site.open(teacher)
    start(page)
    asked, dice, seen = slowly(page), random.Random(7), set()
    # Which keys meet a busy desk is a matter of time: go on until the ones that matter did not.
    for step in range(MOST_STEPS):
        if step >= STEPS and met(asked, seen):
            break
        if step % REST_AFTER == 0:  # what follows a key that came too early is dropped until then
            page.wait_for_timeout(REST_MS)
        keys(page, dice.choice(["u", "u", "Enter", "s", "2", "0"]))
        shown = page.evaluate(BELONGS)
        check(shown, ids, teacher)
        seen.add(shown["shown"])
    assert met(asked, seen)
    expect(page.locator("#desk[data-busy]")).to_have_count(0)
    for mark in Mark.objects.select_related("slot__answer"):
        assert mark.comment == mark.slot.answer.alias
    for draft in Draft.objects.select_related("slot__answer"):
        assert draft.content["comment"] == draft.slot.answer.alias
    assert not Mark.objects.filter(stale=True).exists()
    site.troubles.clear()  # the browser itself reports a 409 where there is no earlier mark


def met(asked: list[str], seen: set[str]) -> bool:
    """Whether saves and undos went out, over several responses; in the long form all there is."""
    if LONG:
        return set(asked) == {"undo", "skip", "save", "draft", "ahead"} and len(seen) > 4
    return {"undo", "save"} <= set(asked) and len(seen) > 2


def check(shown: dict[str, Any], ids: dict[str, str], teacher: User) -> None:
    """All that names a response names the same one; the key is that of id and version."""
    expected = ids[shown["shown"]]
    assert shown["id"] == shown["answer"] == expected
    assert expected in shown["url"]
    assert shown["comment"] == shown["shown"]
    assert shown["title"].startswith(shown["shown"])
    if shown["action"]:
        assert expected in shown["action"]
        key = submission_key(expected, teacher.public_id, shown["version"])
        assert shown["key"] == str(key)
