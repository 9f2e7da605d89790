"""One box for each sub-question: read from the text, listed for a task, accepted in one go."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal as D
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from questions.models import Question, Rubric, Task
from questions.rules.part_marks import divided_evenly, item_parts
from questions.rules.vocabulary import QuestionType
from questions.selectors.bank import accepted_rubric
from questions.selectors.rubric_parts import task_rubrics
from questions.selectors.rubrics import lines_of
from questions.services.rubrics import propose_drafts
from tests.conftest import logged_in
from tests.factories import make_question, make_rubric, make_task, make_user
from tests.questions.test_gate_service import revise

DATA = Path(__file__).parents[3] / "shared/data/gaokao-bench/Data/Subjective_Questions"


@pytest.mark.parametrize(
    ("question", "full", "key", "outcome", "marks"),
    [
        # The marks stand at each part; the total at the head of the item is no part of it.
        ("9．（25分）读材料。\n（1）概括特点。（8分）\n（2）分析背景。（12\n分）\n（3）简析。（5分）",
         25, "", "adds_up", "8 12 5"),
        ("Read.\n(1) State the law. (4 points)\n(2) Derive it. [6 marks]", 10, "",
         "adds_up", "4 6"),
        ("(1) State the law, 4 marks.\n(2) Derive it, 6 marks.", 10, "", "adds_up", "4 6"),
        ("阅读诗歌。\n14.不正确的一项是（3分）\n15.简要分析。（6分）", 9, "", "adds_up", "3 6"),
        ("( I ) 求通项；（4分）\n（II）求和。（8分）", 12, "", "adds_up", "4 8"),
        ("（1）填空：每空2分 ____，____。\n（2）简答。（3分）", 7, "", "adds_up", "4 3"),
        # Part (1) of the key has a mark of its own and steps that come to it; (2) has steps only.
        ("（1）分析。\n（2）说明。", 10, "（1）（4分）甲（2分）乙（2分）\n（2）丙（3分）丁（3分）",
         "adds_up", "4 6"),
        ("（1）分析。（12分）\n（2）说明。", 26, "", "rest", "12 14"),
        ("（1）《论语》中“____1____，____2____”。\n（2）“____3____”。", 3, "", "blanks", "2 1"),
        ("（1）分析。（8分）\n（2）说明。（8分）", 12, "", "wrong_sum", "8 8"),
        ("（1）分析。（8分）\n（2）说明。\n（3）评价。", 12, "", "some_marks", "8 - -"),
        # A key that speaks of one part alone says nothing of the rest of that part.
        ("（1）分析。\n（2）说明。", 12, "（1）甲（2分）\n（2）乙", "no_marks", "- -"),
        ("（1）证明。\n（2）求值。\n（二）选考题：共10分。请任选一题。", 12, "", "no_marks", "- -"),
        ("11．（6分）仿照示例写三句话。", 6, "", "no_parts", ""),
        ("已知点 (1) 在圆上，求值（精确到 0.01）。", 6, "", "no_parts", ""),
    ],
)  # fmt: skip
def test_parts_and_their_marks(
    question: str, full: int, key: str, outcome: str, marks: str
) -> None:
    found = item_parts(question=question, key=key, analysis="", full_marks=D(full))
    assert found.outcome == outcome
    assert " ".join("-" if part.marks is None else str(part.marks) for part in found.parts) == marks
    points = found.rubric.points
    assert sum(point.points for point in points) == (full if found.adds_up else 0)


def test_what_no_text_states_is_divided_in_whole_points() -> None:
    unknown = item_parts(
        question="（1）甲\n（2）乙\n（3）丙", key="", analysis="", full_marks=D(10)
    )
    assert [part.marks for part in divided_evenly(unknown, D(10)).parts] == [3, 3, 4]
    some = item_parts(
        question="（1）甲（3分）\n（2）乙\n（3）丙", key="", analysis="", full_marks=D(10)
    )
    assert [part.marks for part in divided_evenly(some, D(10)).parts] == [3, 3, 4]
    assert divided_evenly(unknown, D(2)) == unknown  # no whole point for each


def test_a_wording_is_never_cut_inside_a_formula() -> None:
    text = f"（1）{'求' * 80}$x^2 + y^2 = 1$ 的值（2分）\n（2）证明（4分）"
    parts = item_parts(question=text, key="", analysis="", full_marks=D(6)).parts
    assert parts[0].wording == f"（1） {'求' * 80}…"


@pytest.mark.shareddata
@pytest.mark.once
@pytest.mark.skipif(not DATA.exists(), reason="the published benchmark is not here")
def test_no_published_item_gets_a_wrong_sum() -> None:
    outcomes: Counter[str] = Counter()
    for file in sorted(DATA.glob("*.json")):
        for row in json.loads(file.read_text())["example"]:
            full = D(str(row["score"]))
            texts = {"question": row["question"], "key": str(row["answer"])}
            found = item_parts(**texts, analysis=row["analysis"] or "", full_marks=full)
            outcomes[found.outcome] += 1
            for one in (found, divided_evenly(found, full)):
                points = [point.points for point in one.rubric.points]
                assert not points or (sum(points) == full and min(points) > 0)
    assert outcomes.total() == 1030
    assert outcomes["adds_up"] + outcomes["blanks"] + outcomes["rest"] >= 30


# ---- the page ----


@pytest.fixture
def task(db: None) -> Task:
    return make_task(question_type=QuestionType.OPEN_ENDED)


def item(task: Task, stem: str, marks: str = "10", key: str = "") -> Question:
    return make_question(task, marks=(marks,), stem=stem, reference_answer=key)


@pytest.fixture
def items(task: Task) -> list[Question]:
    return [
        item(task, "（1）概括。（4分）\n（2）分析。（6分）"),
        item(task, "（1）概括。\n（2）分析。"),
        item(task, "写一段话。", key="立意（4分）表达（6分）"),
        item(task, "写一句话。"),
    ]


def seen(*items: Question) -> dict[str, str]:
    """What the page says of the revisions that it shows."""
    return {f"seen-{one.public_id}": str(one.current_id) for one in items}


def page_of(task: Task) -> str:
    return reverse("questions:rubric-parts", args=[task.pk])


@pytest.mark.parametrize("role", [Role.LEAD, Role.CURATOR])
def test_every_draft_of_a_task_is_accepted_in_one_go(
    task: Task, items: list[Question], role: Role, django_assert_max_num_queries: object
) -> None:
    client = logged_in(make_user(role))
    propose_drafts(task.dataset, acting_user=make_user(Role.CURATOR))
    assert [(row.items, row.without, row.drafts) for row in task_rubrics()] == [(4, 4, 2)]
    shown = client.get(page_of(task)).text
    assert shown.count('name="accept"') == 3
    assert "without sub-questions" in shown
    first, second, third, _whole = items
    data = seen(first, second, third) | {
        "accept": [str(one.public_id) for one in (first, second, third)],
        f"version-{first.public_id}": "1",
        f"version-{third.public_id}": "1",
        f"points-{second.public_id}": ["7", "3"],
    }
    answer = client.post(page_of(task), data)
    assert answer.status_code == 302
    given = [
        [(point.text, point.points) for point in lines_of(rubric).points]
        for rubric in map(accepted_rubric, items)
        if rubric
    ]
    assert given == [
        [("（1） 概括。", 4), ("（2） 分析。", 6)],
        [("（1） 概括。", 7), ("（2） 分析。", 3)],
        [("立意", 4), ("表达", 6)],
    ]
    entry = AuditEntry.objects.get(tag=Tag.RUBRICS_ACCEPTED)
    assert len(entry.detail["items"]) == 3
    assert 'name="accept"' not in client.get(page_of(task)).text


def test_one_wrong_sum_keeps_all_and_what_was_typed(task: Task, items: list[Question]) -> None:
    client = logged_in(make_user(Role.LEAD))
    first, second, third, _whole = items
    data = seen(first, second, third) | {
        "accept": [str(first.public_id), str(second.public_id), str(third.public_id), "x"],
        f"points-{first.public_id}": ["4", "6"],
        f"points-{second.public_id}": ["8", "3.5"],
        f"version-{third.public_id}": "1",
    }
    answer = client.post(page_of(task), data)
    assert answer.status_code == 400
    assert 'value="3.5"' in answer.text
    assert "11.5" in answer.text
    assert "has changed in the meantime" in answer.text or "not part of this task" in answer.text
    assert not Rubric.objects.exists()
    assert client.post(page_of(task), {}).status_code == 400


def test_points_for_an_earlier_text_are_not_accepted(task: Task) -> None:
    """A repair or an import may have changed it since the page was opened."""
    client, question = logged_in(make_user(Role.LEAD)), item(task, "（1）概括。\n（2）分析。")
    data = seen(question) | {
        "accept": str(question.public_id),
        f"points-{question.public_id}": ["7", "3"],
    }
    revise(question, stem="（1）比较。（5分）\n（2）评价。（5分）")
    refused = client.post(page_of(task), data)
    assert refused.status_code == 400
    assert "The question has changed in the meantime" in refused.text
    assert 'value="7"' not in refused.text
    assert not Rubric.objects.exists()
    question.refresh_from_db()
    assert client.post(page_of(task), data | seen(question)).status_code == 302


def test_who_may_accept_and_how_unknown_points_are_divided(
    task: Task, items: list[Question], client: Client
) -> None:
    make_rubric(items[0], (("all", "10"),))
    shown = logged_in(make_user(Role.CURATOR)).get(page_of(task) + "?divide=1").text
    assert shown.count('value="5"') == 2
    assert "split evenly" in shown
    teacher = logged_in(make_user(Role.TEACHER))
    assert teacher.get(page_of(task)).status_code == 403
    assert teacher.post(page_of(task), {}).status_code == 403
