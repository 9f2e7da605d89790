"""The pages of rubrics: versions, editor without a script, files, who may do what."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal as D
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from questions.forms.rubrics import Editor
from questions.models import Question, Rubric
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from questions.rules.vocabulary import QuestionType, RubricSource
from questions.selectors.bank import accepted_rubric
from questions.selectors.rubrics import lines_of
from questions.services.rubric_rows import Origin, add_versions
from questions.services.rubrics import draft_rubric
from tests.conftest import logged_in
from tests.factories import make_question, make_rubric, make_task, make_user
from tests.questions.test_gate_service import revise

pytestmark = pytest.mark.django_db


@pytest.fixture
def question() -> Question:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    return make_question(task, marks=("6", "4"), reference_answer="列方程（2分）求得结果（8分）")


@pytest.fixture
def curator() -> Client:
    return logged_in(make_user(Role.CURATOR))


def address(name: str, question: Question, *more: Any) -> str:
    return reverse(f"questions:{name}", args=[question.public_id, *more])


def form(*rows: tuple[str, str, str, str], groups: tuple[tuple[str, str, str], ...] = ()) -> Any:
    """What the editor sends: rows of text, points, sub, group; groups of text, cap, choose."""
    data: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        names = ("text", "points", "sub", "group")
        data |= {f"{name}-{number}": said for name, said in zip(names, row, strict=True)}
    for number, group in enumerate(groups, start=1):
        fields = ("group-text", "cap", "choose")
        data |= {f"{name}-{number}": said for name, said in zip(fields, group, strict=True)}
    return data


WHOLE = form(
    ("effect one", "2", "2", "1"),
    ("the law", "6", "1", ""),
    ("", "", "1", ""),
    ("effect two", "2", "2", "1"),
    ("effect three", "2", "2", "1"),
    groups=(("effects", "4", "2"), ("", "", "")),
)


def test_what_the_editor_says_becomes_a_draft_in_reading_order(
    question: Question, curator: Client
) -> None:
    answer = curator.post(address("rubric-new", question), WHOLE, follow=True)
    assert "Version 1 was saved as a draft" in answer.text
    rubric = Rubric.objects.get()
    lines = lines_of(rubric)
    assert (rubric.accepted, rubric.source) == (False, "person")
    assert [point.text for point in lines.points] == [
        "the law",
        "effect one",
        "effect two",
        "effect three",
    ]
    (group,) = lines.groups
    assert group == PointGroup(D(4), "effects", sub=2, choose=2)
    page = answer.text
    for text in ("Sub-question 2", "the best 2 count, at most 4", "draft"):
        assert text in page


def test_what_nobody_touched_stays_as_it_is(question: Question, curator: Client) -> None:
    """Line ends, a table, wide spaces, and a choice that few groups have."""
    table = "\nline one  two\r\nline　three\n| a | b |\n|---|---|\n| 1 | 2 | "
    points = [ScoringPoint(text, D(2)) for text in (table, "second")]
    points += [ScoringPoint(f"effect {number}", D(1), 2, 1) for number in range(12)]
    stored = RubricLines(tuple(points), (PointGroup(D(4), "any\nten ", 2, 10),))
    add_versions({question.pk: stored}, Origin(RubricSource.IMPORT, accepted=True))
    page = curator.get(address("rubric-new", question))
    assert '<option value="10" selected>the best 10 count</option>' in page.text
    shown = page.context["editor"]
    rows = [(one.text.lstrip(), one.points, one.sub, one.group) for one in shown.points]
    rows[1] = (" second,\r\n| c |\r\n", *rows[1][1:])
    groups = tuple((one.text.replace("\n", ""), one.cap, one.choose) for one in shown.groups)
    assert curator.post(page.request["PATH_INFO"], form(*rows, groups=groups)).status_code == 302
    second = replace(points[1], text="second,\n| c |")
    expected = RubricLines((points[0], second, *points[2:]), stored.groups)
    assert lines_of(question.rubrics.get(version=2)) == expected
    of_more = Editor.of(RubricLines((ScoringPoint("of an earlier text", D(1), 3),)))
    assert of_more.subs(2) == ["1", "2", "3"]


def test_a_rubric_can_be_kept_and_accepted_in_one_go(question: Question, curator: Client) -> None:
    answer = curator.post(address("rubric-new", question), WHOLE | {"do": "accept"}, follow=True)
    assert "Version 1 is now in use" in answer.text
    assert accepted_rubric(question) == Rubric.objects.get()


def test_two_who_edit_at_once_see_each_others_version(question: Question, curator: Client) -> None:
    """Both opened the editor at version 1; the second to save has not read version 2."""
    page, path = curator.get(address("rubric-new", question)), address("rubric-new", question)
    assert page.context["seen"] == 0
    curator.post(path, WHOLE | {"seen": "0"})
    first = form(("one", "6", "1", ""), ("two", "4", "2", "")) | {"seen": "1", "do": "accept"}
    second = form(("other", "6", "1", ""), ("two", "4", "2", "")) | {"seen": "1", "do": "accept"}
    other = logged_in(make_user(Role.CURATOR, "cui"))
    assert other.post(path, first).status_code == 302
    late = curator.post(path, second)
    assert late.status_code == 409
    assert "Version 2 was saved since you opened this page" in late.text
    assert late.context["editor"].points[0].text == "other", "what was typed stays"
    assert Rubric.objects.count() == 2
    again = curator.post(path, second | {"seen": str(late.context["seen"])}, follow=True)
    assert "Version 3 is now in use" in again.text
    # Who saves what the other saved has lost nothing.
    assert curator.post(path, second | {"seen": "1"}).status_code != 409


def test_nothing_is_saved_for_a_text_that_its_writer_has_not_seen(
    question: Question, curator: Client
) -> None:
    """An import or a repair has changed the text, and a colleague has saved a version."""
    path = address("rubric-new", question)
    opened = {"seen": "0", "seen-revision": str(question.current_id), "do": "accept"}
    assert f'name="seen-revision" value="{question.current_id}"' in curator.get(path).text
    curator.post(path, form(("other", "6", "1", "")))
    revise(question, stem="Another text")
    late = curator.post(path, WHOLE | opened)
    assert late.status_code == 409
    assert "The question has changed in the meantime" in late.text
    assert ">the law</textarea>" in late.text, "what was typed stays"
    assert Rubric.objects.count() == 1
    # The refusal did not speak of the other version: it is not seen yet.
    seen = {name: str(late.context[name.replace("-", "_")]) for name in ("seen", "seen-revision")}
    late = curator.post(path, WHOLE | opened | seen)
    assert "Version 1 was saved since you opened this page" in late.text
    seen["seen"] = str(late.context["seen"])
    again = curator.post(path, WHOLE | opened | seen, follow=True)
    assert "Version 2 is now in use" in again.text


def test_what_does_not_add_up_stays_in_the_form(question: Question, curator: Client) -> None:
    short = form(("half", "2.5", "1", ""))
    answer = curator.post(address("rubric-new", question), short | {"do": "accept"})
    assert answer.status_code == 400
    assert "Sub-question 1: the scoring points add up to 2.5, full marks are 6" in answer.text
    assert ">half</textarea>" in answer.text
    assert not Rubric.objects.exists()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (("a", "two", "1", ""), "Scoring point 1 needs points above 0"),
        (("", "2", "1", ""), "Scoring point 1 has no text"),
        (("a", "2", "1", "1"), "The cap of group 1 must be above 0"),
    ],
)
def test_what_cannot_be_kept_is_said(
    question: Question, curator: Client, row: tuple[str, str, str, str], sentence: str
) -> None:
    data = form(row, groups=(("", "", ""),))
    answer = curator.post(address("rubric-new", question), data)
    assert answer.status_code == 400
    assert sentence in answer.text


def test_lines_are_moved_and_removed_without_a_script(question: Question, curator: Client) -> None:
    data = form(("one", "6", "1", ""), ("two", "4", "2", ""))
    page = curator.post(address("rubric-new", question), data | {"do": "down-1"}).text
    assert page.index(">two</textarea>") < page.index(">one</textarea>")
    page = curator.post(address("rubric-new", question), data | {"do": "remove-1"}).text
    assert ">one</textarea>" not in page
    assert page.count("data-row>") == 1 + 3 + 1, "the line, three spare ones, the template"
    assert not Rubric.objects.exists()


def test_the_editor_shows_what_it_is_given(question: Question, curator: Client) -> None:
    curator.post(address("rubric-new", question), WHOLE)
    rubric = lines_of(Rubric.objects.get())
    assert Editor.of(rubric).rubric() == rubric
    page = curator.get(address("rubric-new", question) + "?from=1").text
    assert ">the law</textarea>" in page
    assert "<strong>4</strong> / 4" in page
    assert 'name="cap-1" inputmode="decimal" autocomplete="off" value="4"' in page


def test_a_proposal_is_opened_to_be_read(question: Question, curator: Client) -> None:
    answer = curator.post(address("rubric-propose", question), follow=True)
    assert "Read it before you accept it" in answer.text
    assert ">列方程</textarea>" in answer.text
    assert accepted_rubric(question) is None


def test_a_key_without_marks_says_so_on_the_page_of_the_rubric(curator: Client) -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    bare = make_question(task, marks=("4",), reference_answer="淋巴细胞")
    answer = curator.post(address("rubric-propose", bare), follow=True)
    assert answer.redirect_chain == [(address("rubrics", bare), 302)]
    assert "Neither the answer key nor the question states how points are given." in answer.text
    assert not bare.rubrics.exists()


def test_a_draft_is_accepted_from_its_page(question: Question, curator: Client) -> None:
    curator.post(address("rubric-new", question), WHOLE)
    answer = curator.post(address("rubric-accept", question, 1), follow=True)
    assert "Version 1 is now in use" in answer.text
    assert curator.post(address("rubric-accept", question, 1)).status_code == 409
    assert curator.post(address("rubric-accept", question, 7)).status_code == 404


def test_a_draft_is_not_accepted_for_a_text_that_was_not_shown(
    question: Question, curator: Client
) -> None:
    curator.post(address("rubric-new", question), WHOLE)
    shown = {"seen-revision": str(question.current_id)}
    page = curator.get(address("rubrics", question)).text
    assert f'name="seen-revision" value="{question.current_id}"' in page
    changed = "has changed since this version was written"
    assert changed not in page
    revise(question, stem="Another text")
    assert changed in curator.get(address("rubrics", question)).text
    late = curator.post(address("rubric-accept", question, 1), shown)
    assert late.status_code == 409
    assert "The question has changed in the meantime" in late.text
    assert accepted_rubric(question) is None
    shown = {"seen-revision": str(question.current_id)}
    assert curator.post(address("rubric-accept", question, 1), shown).status_code == 302


def test_two_versions_stand_side_by_side(question: Question, curator: Client) -> None:
    curator.post(address("rubric-new", question), WHOLE)
    changed = WHOLE | {"text-2": "the law, named"}
    curator.post(address("rubric-new", question), changed)
    page = curator.get(address("rubrics", question)).text
    assert page.index('id="version-2"') < page.index('id="version-1"')
    assert page.count('<tr class="amber">') == 2, "the one point that differs, on both sides"


def test_a_question_that_nobody_marks_has_no_such_page(curator: Client) -> None:
    assert curator.get(address("rubrics", make_question())).status_code == 404


def test_a_lead_reads_and_a_teacher_does_not(question: Question) -> None:
    lead = logged_in(make_user(Role.LEAD))
    page = lead.get(address("rubrics", question))
    assert page.status_code == 200
    assert "Write a rubric" not in page.text
    assert lead.get(address("rubric-new", question)).status_code == 403
    assert logged_in(make_user(Role.TEACHER)).get(address("rubrics", question)).status_code == 403


def test_a_version_is_downloaded(question: Question, curator: Client) -> None:
    curator.post(address("rubric-new", question), WHOLE)
    for kind in ("csv", "json"):
        answer = curator.get(address("rubric-export", question), {"format": kind})
        assert f".{kind}" in answer["Content-Disposition"]
        assert "effect three" in answer.content.decode()
    assert curator.get(address("rubric-export", question), {"format": "xls"}).status_code == 400
    assert curator.get(address("rubric-export", question), {"version": "9"}).status_code == 404
    entries = AuditEntry.objects.filter(tag="rubrics.exported")
    assert [entry.detail for entry in entries] == [{"version": 1}] * 2


def bank(name: str) -> str:
    return reverse(f"questions:rubric-{name}")


def test_the_bank_shows_exports_and_imports(question: Question, curator: Client) -> None:
    made = make_question(question.task, marks=("5",))
    make_rubric(made, (("all of it", "5"),))
    page = curator.get(bank("bank")).text
    assert "By dataset" in page
    content = curator.get(bank("bank-export"), {"dataset": "exam", "format": "json"}).content
    Question.objects.update(rubric=None)
    Rubric.objects.update(accepted=False)
    sent = {"file": SimpleUploadedFile("r.json", content), "accept": "on"}
    answer = curator.post(bank("import"), sent, follow=True)
    assert "r.json: 1 new version; already present: 0." in answer.text
    assert accepted_rubric(made) is not None


def test_a_bad_file_is_refused_where_it_was_chosen(curator: Client) -> None:
    sent = {"file": SimpleUploadedFile("r.csv", b"dataset,task,id,points\n")}
    answer = curator.post(bank("import"), sent)
    assert answer.status_code == 400
    assert "r.csv, row 1: The column text is missing." in answer.text
    assert curator.post(bank("import")).status_code == 400


def test_drafts_are_proposed_for_a_dataset(question: Question, curator: Client) -> None:
    answer = curator.post(bank("propose-all"), {"dataset": "exam"}, follow=True)
    assert (
        "1 draft created. Without a rubric: 1; of these, answer keys with marks: 1." in answer.text
    )
    assert "proposed from the answer key" in answer.text
    assert curator.post(bank("propose-all"), {"dataset": "none"}).status_code == 400


def test_the_bank_takes_few_queries_however_many_drafts_wait(
    question: Question, curator: Client, django_assert_max_num_queries: Any
) -> None:
    person = make_user(Role.CURATOR)
    for _number in range(6):
        other = make_question(question.task, marks=("5",))
        rubric = Editor.typed(form(("all", "5", "1", ""))).rubric()
        draft_rubric(other, rubric, acting_user=person)
    with django_assert_max_num_queries(9):
        curator.get(bank("bank"))
    with django_assert_max_num_queries(11):
        curator.get(address("rubrics", question))
