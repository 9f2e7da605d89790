"""The pages of prompt sets: list, one set with preview, editor."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.models import PromptSet
from evaluations.runs.services.prompt_sets import current_prompts, exported
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import FewShotExample
from tests.conftest import logged_in, make_user
from tests.factories import make_question, make_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator(admin: User) -> Client:
    return logged_in(make_user(Role.CURATOR, "cora"))


def test_a_preview_shows_both_steps_and_the_examples_of_a_real_question(curator: Client) -> None:
    task = make_task()
    make_question(task, stem="First?")
    make_question(task, stem="Second {reply}?")
    FewShotExample.objects.create(task=task, number=1, stem="Example?", answer_key=["C"])
    assert "gradeapp" in curator.get(reverse("runs:prompt-sets")).text
    page = reverse("runs:prompt-set", args=["gradeapp"])
    asked = {"task": task.pk, "place": 2, "setting": "zero-shot-cot", "reply": "THOUGHT {stem}"}
    shown = html.unescape(curator.get(page, asked).text)
    assert "Second {reply}?" in shown
    assert "THOUGHT {stem}" in shown
    assert "First?" not in shown
    few = curator.get(page, {"task": task.pk, "place": 99, "setting": "few-shot"}).text
    assert "Example?" in few
    assert "examples: 1, left out: 0" in few
    bounded = {"task": task.pk, "setting": "few-shot", "max_prompt_tokens": 1}
    assert "examples: 0, left out: 1" in curator.get(page, bounded).text
    wrong = curator.get(page, {"task": "x", "place": "-1", "setting": "guess", "wording": "9"})
    assert wrong.status_code == 200
    assert curator.get(page, {"version": "7"}).status_code == 404
    assert curator.get(reverse("runs:prompt-set", args=["none"])).status_code == 404


def test_an_edit_is_previewed_and_then_a_new_version(curator: Client) -> None:
    make_question(make_task(), stem="Asked?")
    page = reverse("runs:prompt-set-edit", args=["agibench:answer"])
    assert "Asked?" in curator.get(page).text
    text = exported(current_prompts("agibench:answer"))
    changed = text.replace("The answer is:", "So it is:")
    fragment = curator.post(page, {"content": changed}, headers={"HX-Request": "true"}).text
    assert "So it is:" in fragment
    assert "<html" not in fragment
    assert current_prompts("agibench:answer").number == 1, "a preview saves nothing"
    attack = text.replace("The answer is:", "<img src=x onerror=alert(1)>")
    shown = curator.post(page, {"content": attack}, headers={"HX-Request": "true"}).text
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown
    assert "<img src=x" not in shown
    broken = curator.post(page, {"content": changed.replace("{question}", "{q}"), "save": "1"})
    assert broken.status_code == 400
    assert "templates.1.settings.zero-shot.steps.1.1.content" in broken.text
    other = curator.post(page, {"content": changed.replace(":answer", ":none"), "save": "1"})
    assert other.status_code == 400
    saved = curator.post(page, {"content": changed, "note": "ours", "save": "1"})
    assert saved.status_code == 302
    assert current_prompts("agibench:answer").number == 2
    file = reverse("runs:prompt-set-file", args=["agibench:answer"])
    assert json.loads(curator.get(file).content) == json.loads(changed)
    assert json.loads(curator.get(file, {"version": "1"}).content) == json.loads(text)
    new = reverse("runs:prompt-set-new")
    own = changed.replace("agibench:answer", "own")
    assert curator.post(new, {"content": own, "save": "1"}).status_code == 302
    assert curator.post(new, {"content": own, "save": "1"}).status_code == 409
    assert PromptSet.objects.filter(slug="own").exists()


def test_an_edit_of_an_older_page_does_not_drop_the_change_of_another(curator: Client) -> None:
    page = reverse("runs:prompt-set-edit", args=["agibench:answer"])
    seen = re.search(r'name="seen" value="(\w+)"', curator.get(page).text)
    assert seen is not None
    text = exported(current_prompts("agibench:answer"))
    first, second = (text.replace("The answer is:", words) for words in ("So it is:", "Thus:"))
    sent = {"save": "1", "seen": seen[1]}
    assert curator.post(page, sent | {"content": first}).status_code == 302
    stale = curator.post(page, sent | {"content": second})
    assert (stale.status_code, "Version 2 was saved since" in stale.text) == (409, True)
    assert "Thus:" in stale.text
    assert current_prompts("agibench:answer").number == 2
    now = re.search(r'name="seen" value="(\w+)"', stale.text)
    assert now is not None
    again = curator.post(page, {"save": "1", "seen": now[1], "content": second})
    assert (again.status_code, current_prompts("agibench:answer").number) == (302, 3)


def test_a_lead_sees_prompt_sets_and_does_not_edit_them(admin: User) -> None:
    lead = logged_in(make_user(Role.LEAD, "lea"))
    page = lead.get(reverse("runs:prompt-set", args=["gradeapp"]))
    assert page.status_code == 200
    assert reverse("runs:prompt-set-edit", args=["gradeapp"]) not in page.text
    assert lead.get(reverse("runs:prompt-set-edit", args=["gradeapp"])).status_code == 403
