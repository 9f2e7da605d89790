"""Full-text search in the bank, whatever the database."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command

from gradeapp.accounts.models import User
from questions.importers.records import QuestionRecord
from questions.models import Question, SearchText
from questions.rules.vocabulary import Language, QuestionType
from questions.selectors.bank import hit, holding_words
from questions.services.bank import store_records
from questions.services.import_checks import NewImages
from questions.services.revisions import rebuild_search_texts
from tests.conftest import logged_in


def record(external_id: str, **fields: object) -> QuestionRecord:
    """An item whose words stand in different places."""
    words: dict[str, object] = {
        "dataset": "exam",
        "task": "biology",
        "external_id": external_id,
        "position": int(external_id),
        "question_type": QuestionType.SINGLE_CHOICE,
        "language": Language.CHINESE,
        "stem": "下列说法正确的是",
        "letters": "AB",
        "options": ("线粒体", "叶绿体"),
        "answer_key": ("A",),
        "sub_marks": (Decimal(6),),
        "subject": None,
        "reference_answer": "",
        "passage": "",
        "analysis": "",
    }
    return QuestionRecord(**(words | fields))  # type: ignore[arg-type]


@pytest.fixture
def bank(db: None) -> None:
    store_records(
        [
            record("1", analysis=r"光合作用吸收 $\mathrm{CO}_{2}$"),
            record("2", passage="The Passage, 100% of it", stem="Which_one?"),
            record("3", options=("呼吸作用", "ＤＮＡ复制")),
        ],
        NewImages({}, Path()),
    )


@pytest.mark.parametrize("query", [r"\frac", "$", "{}", "a b c d e f g h zzz", "co2" * 40])
def test_what_cannot_be_looked_for_as_a_whole_finds_nothing(
    bank: None, curator: User, query: str
) -> None:
    """It found the whole bank, and a bulk change of the result changed that."""
    client = logged_in(curator)
    assert not holding_words(Question.objects.all(), query).exists()
    assert holding_words(Question.objects.all(), " ").count() == 3
    body = json.dumps({"filters": {"q": query}, "change": {"difficulty": 2}})
    address = "/api/v1/labels/bulk/preview/"
    seen = client.post(address, body, content_type="application/json")
    assert seen.json()["questions"] == 0
    assert "cannot be looked for" in client.get("/questions/", {"q": query}).text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("光合作用", ["1"]),
        ("co2 吸收", ["1"]),
        ("叶绿体", ["1", "2"]),
        ("叶绿体 光合", ["1"]),
        ("叶绿体 呼吸", []),
        ("dna", ["3"]),
        ("PASSAGE which", ["2"]),
        ("100%", ["2"]),
        ("0%0", []),
        ("_", ["2"]),
        ("' OR 1=1 --", []),
        ("", ["1", "2", "3"]),
    ],
)
def test_every_word_must_occur(bank: None, query: str, found: list[str]) -> None:
    rows = holding_words(Question.objects.all(), query)
    assert sorted(rows.values_list("external_id", flat=True)) == found


def test_search_looks_in_the_current_revision(bank: None) -> None:
    store_records([record("3", options=("呼吸作用", "转录"))], NewImages({}, Path()))
    everything = Question.objects.all()
    assert not holding_words(everything, "dna").exists()
    assert holding_words(everything, "转录").get().external_id == "3"
    assert SearchText.objects.count() == 4


def test_the_line_of_a_hit_comes_from_where_the_word_stands(bank: None) -> None:
    revision = Question.objects.get(external_id="1").current
    assert revision is not None
    assert ("光合作用", True) in hit(revision, ["光合作用"])
    assert hit(revision, ["不在"]) == []


def found_by(query: str) -> list[str]:
    rows = holding_words(Question.objects.all(), query)
    return sorted(rows.values_list("external_id", flat=True))


def test_an_inequality_is_found_and_earlier_search_texts_are_made_anew(
    bank: None, capsys: pytest.CaptureFixture[str]
) -> None:
    store_records(
        [record("4", stem="且 $P(2<X \\leq 2.5)=0.36$, 则 $P(X>2.5)=$")], NewImages({}, Path())
    )
    assert found_by("0.36 p(2<x") == ["4"]
    SearchText.objects.filter(text__contains="0.36").update(text="且 p( 2.5)=")
    SearchText.objects.filter(text__contains="passage").delete()
    assert found_by("0.36") == []
    call_command("rebuild_search", "--format", "json")
    assert json.loads(capsys.readouterr().out) == {"rows": 4, "changed": 2}
    assert (found_by("0.36"), found_by("passage")) == (["4"], ["2"])
    assert rebuild_search_texts() == (4, 0)
