"""Characters that reorder or hide what is read are shown by their numbers, wherever they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import translation

from gradeapp.accounts.models import User
from gradeapp.rendering.pages import shown_page
from questions.importers.records import SourceFile
from questions.models import HumanRate, Question
from questions.selectors.problem_sentences import problem_sentence
from questions.services.import_checks import storable
from tests.conftest import logged_in
from tests.factories import make_question
from tests.questions.test_search import record

SIGN = '<span class="code-point">U+202E</span>'


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>2020 · \u202e4 &amp; 5</p>", f"<p>2020 · {SIGN}4 &amp; 5</p>"),
        ("<b title='\u202e'>a</b>", "<b title='\u202e'>a</b>"),
        ("<option value='\u202e'>\u202ea</option>", "<option value='\u202e'>[U+202E]a</option>"),
        ("<title>\U000e0041</title>", "<title>[U+E0041]</title>"),
        ("<textarea>\n\u202e</textarea>\u202e", f"<textarea>\n\u202e</textarea>{SIGN}"),
        ("<script>'\u202e'</script>", "<script>'\u202e'</script>"),
        ("می\u200cخواهم 👩\u200d🔬 中文", "می\u200cخواهم 👩\u200d🔬 中文"),
    ],
)
def test_what_nobody_sees_is_shown_outside_of_fields(html: str, shown: str) -> None:
    assert shown_page(html) == shown


@pytest.mark.django_db
def test_names_from_before_are_shown_by_number(curator: User) -> None:
    question = make_question()
    names = {"paper": "\u202e4 points", "external_id": "\u200b" * 80}
    Question.objects.filter(pk=question.pk).update(**names)
    HumanRate.objects.create(question=question, value="0.5", source="study\u202e")
    client = logged_in(curator)
    one = client.get(reverse("questions:question", args=[question.public_id]))
    for page in (one, client.get(reverse("questions:list"))):
        assert f"{SIGN}4 points" in page.text
        assert int(page["Content-Length"]) == len(page.content)
    assert f"study{SIGN}" in one.text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["task", "external_id", "paper", "paper_published"])
def test_files_of_every_source_are_refused_for_such_names(name: str) -> None:
    row = replace(record("1"), **{name: "a\u202e"})
    (problem,) = storable(SourceFile("exam.jsonl", (row,), ()), {}).problems
    assert (problem.code, problem.fatal) == ("bad_name", True)
    with translation.override("zh-hans"):
        assert "不能包含" in str(problem_sentence(problem.text))
