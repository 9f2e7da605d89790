"""One question's page: its labels in place, rates, problems, revisions."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from gradeapp.accounts.models import User
from questions.models import HumanRate, ItemProblem, Knowledge, Question, QuestionRevision
from questions.rules.vocabulary import Decision, ProblemCode
from questions.services.decisions import Repair, decide
from tests.conftest import logged_in
from tests.factories import make_question
from tests.questions.test_decisions import imported, of_two_problems


@pytest.fixture
def question(db: None) -> Question:
    Knowledge.objects.create(slug="logic", english="Logic", chinese="逻辑")
    return make_question(stem="速度是多少", analysis="故选C")


def save(question: Question) -> str:
    return reverse("questions:labels", args=[question.public_id])


LABELS = {"ability_branch": "reasoning", "knowledge": "logic", "difficulty": "4", "modal": "text"}


def test_labels_are_set_in_place_with_a_history(question: Question, curator: User) -> None:
    client = logged_in(curator)
    sent = {**LABELS, "seen": "0", "reason": "第一次标注"}
    answer = client.post(save(question), sent)
    assert answer["Location"].endswith(f"{question.public_id}/#labels")
    question.refresh_from_db()
    assert question.label is not None
    assert (question.label.difficulty, question.label.author) == (4, curator)
    assert question.label.origins["modal"] == "person"
    page = client.get(f"/questions/{question.public_id}/").text
    assert "第一次标注" in page
    assert "Set by a person" in page


def test_htmx_gets_the_section_alone(question: Question, curator: User) -> None:
    sent = {**LABELS, "seen": "0"}
    answer = logged_in(curator).post(save(question), sent, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith('<section class="sheet" id="labels"')
    assert "The labels were saved." in answer.text


def test_who_comes_second_is_told_and_both_are_kept(
    question: Question, curator: User, admin: User
) -> None:
    logged_in(admin).post(save(question), {**LABELS, "seen": "0"})
    late = logged_in(curator).post(save(question), {**LABELS, "difficulty": "1", "seen": "0"})
    assert late.status_code == 409
    question.refresh_from_db()
    assert question.label is not None
    assert question.label.difficulty == 4
    assert question.labels.count() == 2


@pytest.mark.parametrize(("name", "value"), [("difficulty", "9"), ("knowledge", "no-such")])
def test_a_label_that_does_not_exist_is_refused(
    name: str, value: str, question: Question, curator: User
) -> None:
    answer = logged_in(curator).post(save(question), {**LABELS, name: value, "seen": "0"})
    assert answer.status_code == 400
    assert not question.labels.exists()


def test_a_reader_sees_the_labels_and_no_form(question: Question, lead: User) -> None:
    page = logged_in(lead).get(f"/questions/{question.public_id}/").text
    assert "No labels yet." in page
    assert "Save labels" not in page
    assert logged_in(lead).post(save(question), LABELS).status_code == 403


def test_rates_problems_and_revisions_stand_on_the_page(question: Question, curator: User) -> None:
    HumanRate.objects.create(
        question=question, value=Decimal("0.61"), source="AGIBench", sample_size=1200
    )
    HumanRate.objects.create(task=question.task, kind="top", value=Decimal("0.9"), source="AGIEval")
    first = question.current
    assert first is not None
    second = QuestionRevision.objects.create(
        question=question,
        number=2,
        content_hash="2",
        question_type=first.question_type,
        language=first.language,
        stem=first.stem,
        letters=first.letters,
        answer_key=["D"],
        published_key=["A"],
        analysis="故选D",
        sub_marks=first.sub_marks,
        full_marks=first.full_marks,
        author=curator,
        reason="解析为D",
    )
    Question.objects.filter(pk=question.pk).update(current=second)
    ItemProblem.objects.create(
        question=question, revision=second, code=ProblemCode.KEY_AGAINST_ANALYSIS
    )
    page = logged_in(curator).get(f"/questions/{question.public_id}/").text
    assert "61 %" in page
    assert "1200" in page
    assert "AGIEval" in page
    assert "Answer key contradicts its analysis" in page
    assert "Original answer key: A" in page
    assert "故选<del>C</del><ins>D</ins>" in page
    assert "解析为D" in page


def sentences(user: User, question: Question, language: str = "en") -> dict[str, str]:
    """What the page says of the key that counts, by revision."""
    address = f"/questions/{question.public_id}/"
    page = logged_in(user).get(address, headers={"Accept-Language": language}).text
    listed = page[page.index("plain revisions") :].partition("</ol>")[0].split("<strong>")[1:]
    about = ("The strict policy", "严格口径")
    found = {}
    for one in listed:
        said = [part for part in re.findall(r"<p[^>]*>([^<]*)</p>", one) if part.startswith(about)]
        found[one[: one.index("<")]] = " ".join(said)
    return found


def test_a_revision_says_which_key_counts_for_answers_to_it(curator: User) -> None:
    """An import that changes the text leaves answers to the old text with the repaired key."""
    question, key, _options = of_two_problems()
    decide(key, Decision.REPAIR, "B", acting_user=curator, repair=Repair(answer_key=("B",)))
    by_repair = "The strict policy scores answers to this revision by the key B (repaired)."
    assert sentences(curator, question) == {"Revision 1": by_repair, "Revision 2": by_repair}
    imported(stem="哪个对？", analysis="故选D。", options=("1", "2", "2", "1"), answer_key=("A",))
    old = {"Revision 1": by_repair, "Revision 2": by_repair}
    assert sentences(curator, question) == old | {"Revision 3": ""}
    chinese = sentences(curator, question, "zh-hans")
    assert list(chinese.values())[1:] == ["严格口径按参考答案B（已修正）为此修订版的作答计分。"] * 2


def test_a_repair_that_was_undone_is_not_called_one(curator: User) -> None:
    question, key, _options = of_two_problems()
    decide(key, Decision.REPAIR, "B", acting_user=curator, repair=Repair(answer_key=("B",)))
    address = f"/questions/{question.public_id}/"
    assert "Repaired. Original answer key: A." in logged_in(curator).get(address).text
    decide(key, Decision.KEEP, "no, A", acting_user=curator)
    assert "Repaired." not in logged_in(curator).get(address).text
    original = "The strict policy scores answers to this revision by the key A."
    assert sentences(curator, question) == {
        "Revision 1": "",
        "Revision 2": original,
        "Revision 3": "",
    }
