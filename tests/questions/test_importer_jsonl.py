"""Our exam format: what is read, what is refused, and that nothing is lost on the way back."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeapp.common.strict_json import MAX_LINE_BYTES
from questions.importers.exam_format import ExamLine
from questions.importers.jsonl import read_jsonl, write_jsonl, write_tasks
from questions.importers.jsonl_images import image_kind
from questions.importers.records import (
    HumanRateRecord,
    LabelsRecord,
    QuestionRecord,
    SourceFile,
)
from questions.rules.figures import referenced_images
from questions.rules.rubric import PointGroup, ScoringPoint
from questions.rules.vocabulary import (
    CHOICE_TYPES,
    OBJECTIVE_TYPES,
    SEVERAL_ANSWERS,
    AbilityBranch,
    Language,
    Modal,
    QuestionType,
    Subject,
)
from questions.selectors.problem_sentences import problem_sentence

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 24

CHOICE: dict[str, Any] = {
    "dataset": "school-exam",
    "task": "Physics_MCQs",
    "id": "p1",
    "subject": "Physics",
    "type": "single_choice",
    "language": "en",
    "stem": "Which unit measures force?\nA. joule\nB. newton",
    "letters": "AB",
    "answer": ["B"],
    "sub_marks": [4],
}
OPEN: dict[str, Any] = {
    "dataset": "school-exam",
    "task": "Physics_Open",
    "id": "p2",
    "subject": "Physics",
    "type": "subjective",
    "language": "zh",
    "stem": "（1）写出牛顿第二定律。（2）说明其含义。",
    "reference_answer": "（1）$F=ma$",
    "analysis": "见课本。",
    "sub_marks": [2, 3.5],
    "year": 2024,
    "paper": "mock",
    "rubric": [
        {"text": "公式", "points": 2, "sub": 1},
        {"text": "含义", "points": 3.5, "sub": 2},
    ],
}
EXACT: dict[str, Any] = {
    "dataset": "school-exam",
    "task": "math",
    "id": "m1",
    "type": "exact_answer",
    "language": "en",
    "stem": "Solve $2x = 1$.",
    "answer": ["$\\frac12$"],
    "sub_marks": [1],
}
CAP = {"cap": 2, "text": "any two", "sub": 2, "choose": 2}
TASK: dict[str, Any] = {
    "about": "task",
    "dataset": "school-exam",
    "task": "Physics_MCQs",
    "human_rates": [
        {"value": 0.56, "source": "a study"},
        {"value": 0.91, "source": "a study", "kind": "top", "sample_size": 40},
    ],
    "examples": [{"number": 1, "stem": "Which?", "letters": "AB", "answer": ["A"]}],
}


def line(row: dict[str, Any], **changes: Any) -> str:
    merged = {key: value for key, value in (row | changes).items() if value is not ...}
    return json.dumps(merged, ensure_ascii=False)


def read(folder: Path, *lines: str | bytes, name: str = "exam.jsonl") -> SourceFile:
    parts = [part if isinstance(part, bytes) else part.encode() for part in lines]
    (folder / name).write_bytes(b"\n".join(parts))
    (source,) = read_jsonl(folder / name)
    return source


def codes(source: SourceFile) -> list[str]:
    return [problem.code for problem in source.problems]


def test_two_good_questions_are_read_with_their_fields(tmp_path: Path) -> None:
    source = read(tmp_path, line(CHOICE), "", line(OPEN))
    assert source.problems == ()
    choice, open_ended = source.records
    assert choice.subject is Subject.PHYSICS
    assert choice.question_type is QuestionType.SINGLE_CHOICE
    assert (choice.answer_key, choice.letters, choice.position) == (("B",), "AB", 0)
    assert open_ended.sub_marks == (Decimal(2), Decimal("3.5"))
    assert open_ended.full_marks == Decimal("5.5")
    assert open_ended.rubric[1] == ScoringPoint("含义", Decimal("3.5"), 2)
    assert (open_ended.year, open_ended.paper) == (2024, "mock")


def test_options_labels_rates_and_groups_are_read(tmp_path: Path) -> None:
    choice = line(
        CHOICE,
        passage="A text.",
        options=["joule", ""],
        labels={"ability_branch": "reasoning", "knowledge": "law-civil-law", "difficulty": 3},
        human_rates=[{"value": 0.6125, "source": "a study", "sample_size": 80, "weight": 2.5}],
    )
    capped = [{"text": "one", "points": 1, "sub": 2, "group": 1}] * 3
    rubric = [{"text": "law", "points": 2}, *capped, {"text": "unit", "points": 1.5, "sub": 2}]
    source = read(tmp_path, choice, line(OPEN, rubric=rubric, rubric_groups=[CAP]))
    assert source.problems == ()  # 2 of 2, and 2 (capped) + 1.5 of 3.5
    first, second = source.records
    assert (first.passage, first.options) == ("A text.", ("joule", ""))
    assert first.labels == LabelsRecord(AbilityBranch.REASONING, "law-civil-law", 3, None)
    assert first.human_rates == (HumanRateRecord(Decimal("0.6125"), "a study", 80, Decimal("2.5")),)
    assert second.rubric_groups == (PointGroup(Decimal(2), "any two", 2, 2),)
    assert [point.group for point in second.rubric] == [None, 1, 1, 1, None]


def test_a_line_about_a_task_is_read_and_written_back(tmp_path: Path) -> None:
    source = read(tmp_path, line(TASK), line(CHOICE))
    (task,) = source.tasks
    assert (len(source.records), source.problems) == (1, ())
    assert [(rate.kind, rate.value) for rate in task.human_rates] == [
        ("average", Decimal("0.56")),
        ("top", Decimal("0.91")),
    ]
    assert (task.examples[0].answer_key, task.examples[0].explanation) == (("A",), "")
    again = read(tmp_path, write_tasks([task]), line(CHOICE))
    assert again.tasks == (task,)


def test_an_image_in_a_passage_or_an_option_has_to_be_listed(tmp_path: Path) -> None:
    for change in ({"passage": "![](image:a.png)"}, {"options": ["![](image:a.png)", "b"]}):
        assert codes(read(tmp_path, line(CHOICE, **change))) == ["image_not_listed"]


def test_positions_count_within_a_task_unless_the_row_says_so(tmp_path: Path) -> None:
    source = read(
        tmp_path,
        line(CHOICE, id="a"),
        line(OPEN, id="b"),
        line(CHOICE, id="c", position=7),
        line(CHOICE, id="d"),
    )
    assert [record.position for record in source.records] == [0, 0, 7, 8]


def test_a_mark_has_one_spelling_whatever_the_file_writes(tmp_path: Path) -> None:
    spellings = [line(CHOICE).replace("[4]", f"[{text}]") for text in ("4", "4.0", "4.00", "4e0")]
    sources = [read(tmp_path, text) for text in spellings]
    assert len({source.records[0].content_hash() for source in sources}) == 1
    assert str(sources[1].records[0].sub_marks[0]) == "4"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "broken_json"),
        ("not json", "broken_json"),
        (line(CHOICE)[:-20], "broken_json"),
        ("[1, 2]", "not_an_object"),
        ('"text"', "not_an_object"),
        (b'{"stem": "\xff"}', "not_utf8"),
        ('{"id": "a", "id": "b"}', "duplicate_key"),
        ('{"extra": {"a": "1", "a": "2"}}', "duplicate_key"),
        ('{"a\\u0000": 1}', "bad_key"),
        ('{"sub_marks": [NaN]}', "not_a_number"),
        ('{"sub_marks": [-Infinity]}', "not_a_number"),
        ('{"year": 1e999}', "number_out_of_range"),
        ('{"year": ' + "9" * 5000 + "}", "number_out_of_range"),
        ('{"year": 0.' + "3" * 400 + "}", "number_out_of_range"),
        ('{"a": ' + "[" * 100_000, "too_deep"),
        ('{"a": ' * 51 + "1" + "}" * 51, "too_deep"),
        ('{"a": "' + "x" * MAX_LINE_BYTES + '"}', "line_too_long"),
        (line(CHOICE, colour="red"), "unknown_key"),
        (line(OPEN, rubric=[{"text": "a", "points": 1, "cap": 2}]), "unknown_key"),
        (line(CHOICE, stem=...), "missing_key"),
        (line(CHOICE, answer=...), "missing_key"),
        (line(OPEN, rubric=[{"text": "a"}]), "missing_key"),
        (line(CHOICE, stem=5), "wrong_type"),
        (line(CHOICE, answer="B"), "wrong_type"),
        (line(CHOICE, answer=[2]), "wrong_type"),
        (line(CHOICE, sub_marks=4), "wrong_type"),
        (line(CHOICE, sub_marks=["4"]), "wrong_type"),
        (line(CHOICE, sub_marks=[True]), "wrong_type"),
        (line(CHOICE, year="2024"), "wrong_type"),
        (line(CHOICE, year=True), "wrong_type"),
        (line(OPEN, rubric=["a"]), "wrong_type"),
        (line(CHOICE, extra={"a": 1}), "wrong_type"),
        (line(CHOICE, extra=["a"]), "wrong_type"),
        (line(CHOICE, dataset="School Exam"), "bad_value"),
        (line(CHOICE, task=" x"), "bad_value"),
        (line(CHOICE, dataset="x" * 51), "too_long"),
        (line(CHOICE, task="x" * 121), "too_long"),
        (line(CHOICE, id="x" * 81), "too_long"),
        (line(CHOICE, paper="x" * 81), "too_long"),
        (line(CHOICE, id=""), "bad_value"),
        (line(CHOICE, id="a\nb"), "bad_value"),
        (line(CHOICE, id="a\x00b"), "bad_value"),
        (line(CHOICE, id="\u200b" * 80), "bad_name"),
        (line(CHOICE, task="Physics\u202e"), "bad_name"),
        (line(CHOICE, paper="=HYPERLINK(1)<b>\u202e"), "bad_name"),
        (line(CHOICE, paper_published="\U000e0041"), "bad_name"),
        (line(CHOICE, human_rates=[{"value": 0.5, "source": "a\u2067"}]), "bad_name"),
        (line(CHOICE, type="essay"), "bad_value"),
        (line(CHOICE, subject="Alchemy"), "bad_value"),
        (line(CHOICE, language="EN"), "bad_value"),
        (line(CHOICE, stem="  "), "bad_value"),
        (line(CHOICE, sub_marks=[]), "bad_value"),
        (line(CHOICE, sub_marks=[0]), "bad_value"),
        (line(CHOICE, sub_marks=[2, 2], answer=["A", "B"]), "bad_value"),
        (line(CHOICE, sub_marks=[-1]), "bad_value"),
        (line(CHOICE, sub_marks=[1.125]), "bad_value"),
        (line(CHOICE, year=1066), "bad_value"),
        (line(CHOICE, letters="AA"), "bad_value"),
        (line(CHOICE, letters="ab"), "bad_value"),
        (line(CHOICE, answer=["b"]), "bad_value"),
        (line(CHOICE, answer=["BA"]), "bad_value"),
        (line(CHOICE, answer=["B1"]), "bad_value"),
        (line(CHOICE, answer=[]), "missing_key"),
        (line(EXACT, answer=[]), "missing_key"),
        (line(EXACT, letters="AB"), "bad_value"),
        (line(CHOICE, options=["joule"]), "bad_value"),
        (line(CHOICE, options="AB"), "wrong_type"),
        (line(CHOICE, passage=3), "wrong_type"),
        (line(CHOICE, labels=["reasoning"]), "wrong_type"),
        (line(CHOICE, labels={"level": 3}), "unknown_key"),
        (line(CHOICE, labels={"ability_branch": "magic"}), "bad_value"),
        (line(CHOICE, labels={"knowledge": "Law"}), "bad_value"),
        (line(CHOICE, labels={"difficulty": 6}), "bad_value"),
        (line(CHOICE, labels={"difficulty": True}), "wrong_type"),
        (line(CHOICE, labels={"modal": "smell"}), "bad_value"),
        (line(CHOICE, human_rates={"value": 1}), "wrong_type"),
        (line(CHOICE, human_rates=[{"value": 0.5}]), "missing_key"),
        (line(CHOICE, human_rates=[{"value": 1.01, "source": "x"}]), "bad_value"),
        (line(CHOICE, human_rates=[{"value": 0.00001, "source": "x"}]), "bad_value"),
        (line(CHOICE, human_rates=[{"value": "1", "source": "x"}]), "wrong_type"),
        (line(CHOICE, human_rates=[{"value": 1, "source": ""}]), "bad_value"),
        (line(CHOICE, human_rates=[{"value": 1, "source": "x", "weight": 0}]), "bad_value"),
        (line(CHOICE, human_rates=[{"value": 1, "source": "x", "sample_size": 0}]), "bad_value"),
        (line(CHOICE, human_rates=[{"value": 1, "source": "x", "kind": "top"}]), "unknown_key"),
        (line(OPEN, rubric_groups=[{"text": "any"}]), "missing_key"),
        (line(OPEN, rubric_groups=[{"cap": 0}]), "bad_value"),
        (line(OPEN, rubric_groups=[{"cap": 1, "choose": 0}]), "bad_value"),
        (line(OPEN, rubric=[{"text": "a", "points": 1, "group": 1}]), "bad_value"),
        (
            line(OPEN, rubric=[{"text": "a", "points": 1, "group": 1}], rubric_groups=[CAP]),
            "bad_value",
        ),
        (line(TASK, about="exam"), "bad_value"),
        (line(TASK, task=...), "missing_key"),
        (line(TASK, stem="x"), "unknown_key"),
        (line(TASK, examples=[{"stem": "x"}]), "missing_key"),
        (line(TASK, examples=[{"number": 1, "stem": "x"}] * 2), "duplicate_id"),
        (line(TASK, human_rates=[{"value": 1, "source": "x", "kind": "worst"}]), "bad_value"),
        (line(TASK, task="a\x00b"), "bad_value"),
        (line(OPEN, answer=["A"]), "bad_value"),
        (line(OPEN, rubric=[{"text": " ", "points": 1}]), "bad_value"),
        (line(OPEN, rubric=[{"text": "a", "points": 1, "sub": 0}]), "bad_value"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 25 else "line",
)
def test_a_bad_line_refuses_the_file_and_names_itself(
    tmp_path: Path, text: str | bytes, code: str
) -> None:
    source = read(tmp_path, line(CHOICE, id="good"), text)
    assert source.refused
    (problem,) = source.problems
    assert (problem.file, problem.row, problem.code) == ("exam.jsonl", 2, code)
    assert problem.text.endswith(".")
    assert len(problem.text) < 300


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (line(CHOICE, answer=["F"]), "key_outside_letters"),
        (line(CHOICE, answer=[""]), "empty_key"),
        (line(EXACT, answer=[""]), "empty_key"),
        (line(CHOICE, answer=["AB"]), "several_letters"),
        (line(CHOICE, answer=["A", "B"]), "key_count"),
        (line(OPEN, rubric=[{"text": "a", "points": 2}]), "rubric_sum"),
        (line(OPEN, sub_marks=OPEN["sub_marks"][:1]), "rubric_sum"),
    ],
)
def test_a_contradiction_is_named_and_left_to_a_person(tmp_path: Path, row: str, code: str) -> None:
    source = read(tmp_path, row)
    assert codes(source) == [code]
    assert not source.refused
    assert len(source.records) == 1


def test_several_right_letters_are_fine_in_a_multiple_choice(tmp_path: Path) -> None:
    source = read(tmp_path, line(CHOICE, type="multi_choice", answer=["AB"]))
    assert source.problems == ()
    assert source.records[0].answer_key == ("AB",)


def test_nul_and_lone_surrogates_are_replaced_and_the_original_kept(tmp_path: Path) -> None:
    text = '"stem": "a\\u0000b \\ud800 literal \\\\u0000 \\ud83d\\ude00"'
    row = line(CHOICE, stem=...).replace('"letters"', text + ', "letters"')
    source = read(tmp_path, row)
    assert codes(source) == ["text_cleaned"]
    assert not source.refused
    (record,) = source.records
    assert record.stem == "a\ufffdb \ufffd literal \\u0000 😀"
    kept = base64.b64decode(record.extra["raw:stem"]).decode("utf-8", "surrogatepass")
    assert kept == "a\x00b \ud800 literal \\u0000 😀"


def test_line_separators_inside_a_text_do_not_split_it(tmp_path: Path) -> None:
    source = read(tmp_path, line(CHOICE, stem="a\u2028b\u0085c"))
    assert source.records[0].stem == "a\u2028b\u0085c"


def test_a_byte_order_mark_and_windows_line_ends_are_taken(tmp_path: Path) -> None:
    source = read(tmp_path, b"\xef\xbb\xbf" + line(CHOICE).encode() + b"\r", line(OPEN) + "\r")
    assert len(source.records) == 2
    assert source.problems == ()


def test_the_same_id_twice_refuses_the_later_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(CHOICE), encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(
        line(CHOICE, task="other") + "\n" + line(CHOICE), encoding="utf-8"
    )
    first, second = read_jsonl(tmp_path)
    assert (first.refused, second.refused) == (False, True)
    (problem,) = second.problems
    assert (problem.row, problem.code) == (2, "duplicate_id")
    assert "a.jsonl, line 1" in problem.text


def test_reading_stops_after_a_hundred_problems(tmp_path: Path) -> None:
    source = read(tmp_path, *["{"] * 500)
    assert len(source.problems) == 101
    assert source.problems[-1].code == "too_many_problems"


@pytest.mark.parametrize(("make", "code"), [("folder", "no_files"), ("nothing", "unreadable")])
def test_a_missing_path_and_an_empty_folder_are_problems(
    tmp_path: Path, make: str, code: str
) -> None:
    path = tmp_path / "exam"
    if make == "folder":
        path.mkdir()
    (source,) = read_jsonl(path)
    assert (codes(source), source.refused) == ([code], True)


def test_an_empty_file_is_a_problem(tmp_path: Path) -> None:
    assert codes(read(tmp_path, "\n")) == ["empty"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.png", PNG, None),
        ("a.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 20, None),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", None),
        ("a.png", b"\xff\xd8\xff\xe0", "image_content"),
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image_content"),
        ("a.png", b"GIF89a", "image_content"),
        ("a.png", b"", "image_content"),
        ("a.svg", b"<svg/>", "image_svg"),
        ("a.SVG", b"<svg/>", "image_svg"),
        ("a.gif", b"GIF89a", "image_name"),
        ("missing.png", None, "image_missing"),
        ("../a.png", None, "image_name"),
        ("../../etc/passwd", None, "image_name"),
        ("/etc/passwd", None, "image_name"),
        ("file:///etc/passwd", None, "image_name"),
        ("img/%2e%2e/x.png", None, "image_name"),
        ("..\\..\\x.png", None, "image_name"),
        ("a\u0000.png", None, "image_name"),
        (".hidden.png", None, "image_name"),
        ("http://127.0.0.1/x.png", None, "image_name"),
    ],
)
def test_an_image_is_a_plain_name_of_a_real_picture(
    tmp_path: Path, name: str, content: bytes | None, code: str | None
) -> None:
    (tmp_path / "images").mkdir()
    if content is not None:
        (tmp_path / "images" / name).write_bytes(content)
    source = read(tmp_path, line(CHOICE, images=[name]))
    fatal = [problem.code for problem in source.problems if problem.fatal]
    assert fatal == ([] if code is None else [code])


def test_a_link_in_the_images_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "real.png").write_bytes(PNG)
    (tmp_path / "images" / "a.png").symlink_to(tmp_path / "real.png")
    assert codes(read(tmp_path, line(CHOICE, images=["a.png"]))) == ["image_missing"]


def test_a_reference_without_its_image_is_refused(tmp_path: Path) -> None:
    source = read(tmp_path, line(CHOICE, stem="See ![a circuit](image:circuit.png)."))
    assert codes(source) == ["image_not_listed"]


def test_references_are_found_in_their_order() -> None:
    text = "![b](image:b.png) ![](image:a.png) ![x](http://x/y.png) ![b](image:b.png)"
    assert referenced_images(text, "![c](image:c.png)") == ["b.png", "a.png", "c.png"]


def test_image_kinds_are_told_by_their_first_bytes() -> None:
    assert image_kind(b"RIFF\0\0\0\0WAVE") is None
    assert image_kind(PNG) == "png"


def test_the_published_schema_is_that_of_the_importer() -> None:
    """``python -m questions.importers.exam_format > docs/exam-format.schema.json``."""
    published = Path(__file__).parents[2] / "docs" / "exam-format.schema.json"
    assert json.loads(published.read_text()) == ExamLine.model_json_schema()


def test_a_problem_names_the_way_to_its_key(tmp_path: Path) -> None:
    rubric = [{"text": "a", "points": 1}, {"text": "b", "points": 0}]
    (problem,) = read(tmp_path, line(OPEN, rubric=rubric)).problems
    assert problem.text == "'rubric.2.points' must be over 0."
    with translation.override("zh-hans"):
        assert problem_sentence(problem.text) == "'rubric.2.points' 必须大于 0。"


texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)
visible = st.text(
    st.characters(exclude_categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"]), max_size=40
)
names = st.from_regex(r"[A-Za-z0-9\u4e00-\u4eff][A-Za-z0-9 _.-]{0,20}[a-z]", fullmatch=True)
marks = st.integers(1, 100_000).map(lambda hundredths: Decimal(hundredths).scaleb(-2))


sources = st.from_regex(r"[A-Za-z\u4e00-\u4eff]{1,30}", fullmatch=True)
labels = st.builds(
    LabelsRecord,
    ability_branch=st.none() | st.sampled_from(AbilityBranch),
    knowledge=st.sampled_from(["", "law", "law-civil-law"]),
    difficulty=st.none() | st.integers(1, 5),
    modal=st.none() | st.sampled_from(Modal),
)
rates = st.builds(
    HumanRateRecord,
    value=st.integers(0, 10_000).map(lambda parts: Decimal(parts).scaleb(-4)),
    source=sources,
    sample_size=st.none() | st.integers(1, 10**9),
    weight=marks,
)


@st.composite
def rubrics(draw: st.DrawFn, subs: int) -> tuple[tuple[ScoringPoint, ...], tuple[PointGroup, ...]]:
    group = st.builds(
        PointGroup,
        cap=marks,
        text=texts,
        sub=st.integers(1, subs),
        choose=st.none() | st.integers(1, 5),
    )
    groups = draw(st.lists(group, max_size=2))
    points = [
        ScoringPoint(
            text=draw(texts.filter(str.strip)),
            points=draw(marks),
            sub=groups[place - 1].sub if place else draw(st.integers(1, subs)),
            group=place or None,
        )
        for place in draw(st.lists(st.integers(0, len(groups)), max_size=3))
    ]
    return tuple(points), tuple(groups)


@st.composite
def questions(draw: st.DrawFn) -> QuestionRecord:
    question_type = draw(st.sampled_from(QuestionType))
    objective = question_type in OBJECTIVE_TYPES
    several = not objective or question_type in SEVERAL_ANSWERS
    sub_marks = draw(st.lists(marks, min_size=1, max_size=4 if several else 1))
    choice = question_type in CHOICE_TYPES
    keys = st.sets(st.sampled_from("ABCDEFG")).map(lambda key: "".join(sorted(key)))
    keys = keys if choice else texts
    options = st.just([]) | st.lists(texts, min_size=7, max_size=7)
    rubric, groups = draw(rubrics(len(sub_marks)))
    return QuestionRecord(
        dataset="round-trip",
        task=draw(names),
        external_id=draw(names),
        position=draw(st.integers(0, 10_000)),
        subject=draw(st.none() | st.sampled_from(Subject)),
        question_type=question_type,
        language=draw(st.sampled_from(Language)),
        stem=draw(texts.filter(str.strip)),
        answer_key=tuple(draw(st.lists(keys, min_size=1, max_size=4))) if objective else (),
        reference_answer=draw(texts),
        analysis=draw(texts),
        sub_marks=tuple(sub_marks),
        letters="ABCDEFG" if question_type in CHOICE_TYPES else "",
        year=draw(st.none() | st.integers(1900, 2100)),
        paper=draw(visible),
        paper_published=draw(visible),
        rubric=rubric,
        rubric_groups=groups,
        passage=draw(texts),
        options=tuple(draw(options)) if choice else (),
        labels=draw(st.none() | labels),
        human_rates=tuple(draw(st.lists(rates, max_size=2))),
        extra=draw(st.dictionaries(texts, texts, max_size=3)),
    )


@settings(max_examples=150)
@given(st.lists(questions(), min_size=1, max_size=4, unique_by=lambda q: (q.task, q.external_id)))
def test_what_is_written_is_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, records: list[QuestionRecord]
) -> None:
    path = tmp_path_factory.mktemp("trip") / "exam.jsonl"
    path.write_text(write_jsonl(records), encoding="utf-8", newline="")
    (source,) = read_jsonl(path)
    assert not source.refused
    assert list(source.records) == records
    assert write_jsonl(source.records) == write_jsonl(records)


def test_a_lone_surrogate_can_be_written_and_is_cleaned_on_the_way_back(tmp_path: Path) -> None:
    source = read(tmp_path, line(CHOICE))
    damaged = QuestionRecord(**(vars(source.records[0]) | {"stem": "x\ud800y"}))
    again = read(tmp_path, write_jsonl([damaged]))
    assert codes(again) == ["text_cleaned"]
    assert again.records[0].stem == "x\ufffdy"


def test_images_travel_by_name(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(PNG)
    source = read(tmp_path, line(CHOICE, stem="![](image:a.png)", images=["a.png"]))
    again = read(tmp_path, write_jsonl(source.records))
    assert again.records == source.records
    assert again.records[0].images == ("a.png",)
