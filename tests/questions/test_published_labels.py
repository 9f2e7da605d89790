"""Labels and rates that come with questions: stored once, followed when the source changes."""

from __future__ import annotations

import csv
import hashlib
import io
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evaluations.reading.services.gold_check import check_golds
from gradeapp.accounts.models import User
from questions.importers.records import HumanRateRecord
from questions.models import HumanRate, ItemProblem, Knowledge, LabelRevision, Question
from questions.rules.vocabulary import ItemStatus, ProblemCode
from questions.selectors.bank import by_place
from questions.services.exports import export_csv
from questions.services.human_rates import GivenRate, add_rate, correct_rate
from questions.services.imports import ImportReport, import_questions
from questions.services.labels import set_labels
from questions.services.published_labels import new_rates
from tests.questions.test_exports import as_zip, unpacked
from tests.questions.test_importer_agibench import ITEM, write
from tests.questions.upload_world import lines

pytestmark = pytest.mark.django_db


def load(folder: Path, **changes: Any) -> ImportReport:
    return import_questions("agibench", write(folder, ITEM | changes))


def labels() -> tuple[object, ...]:
    label = Question.objects.get().label
    assert label is not None
    return label.ability_branch, label.knowledge_id, label.difficulty, label.modal


def rows() -> tuple[int, int]:
    return LabelRevision.objects.count(), HumanRate.objects.count()


def place(slug: str) -> int:
    return Knowledge.objects.get(slug=slug).pk


def test_an_item_gets_its_four_labels_with_their_origins(tmp_path: Path) -> None:
    load(tmp_path)
    slug = "graphic-reasoning-positional-principles"
    assert labels() == ("reasoning", place(slug), 2, "text_image")
    label = Question.objects.get().label
    assert label is not None
    assert label.origins == {
        "ability_branch": "published",
        "knowledge": "published",
        "difficulty": "derived",
        "modal": "content",
    }
    assert label.author is None
    rate = HumanRate.objects.get()
    assert (rate.value, rate.source, rate.sample_size) == (
        Decimal("0.6125"),
        "AGIBench, Accuracy",
        None,
    )


def test_a_level_that_is_not_that_of_the_rate_stays_as_published(tmp_path: Path) -> None:
    load(tmp_path, Level=5)
    label = Question.objects.get().label
    assert label is not None
    assert (label.difficulty, label.origins["difficulty"]) == (5, "published")
    load(tmp_path)
    label = Question.objects.get().label
    assert label is not None
    assert (label.difficulty, label.origins["difficulty"]) == (2, "derived")


def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    load(tmp_path)
    before = rows()
    report = load(tmp_path)
    assert (report.same, report.changed) == (1, 0)
    assert rows() == before == (1, 1)


def test_a_changed_rate_is_one_more_row_and_its_level_follows(tmp_path: Path) -> None:
    load(tmp_path)
    report = load(tmp_path, Accuracy="35%", Level=4)
    assert (report.same, report.changed) == (0, 1)
    assert [p.text for p in report.problems] == [
        "Question 0 of agibench differs in: labels, human_rates."
    ]
    first, second = HumanRate.objects.order_by("pk")
    assert (second.corrects, second.value) == (first, Decimal("0.35"))
    assert labels()[2] == 4
    assert Question.objects.get().revisions.count() == 1
    assert load(tmp_path, Accuracy="35%", Level=4).changed == 0
    load(tmp_path)  # and back again
    assert labels()[2] == 2
    assert rows() == (3, 3)


def test_a_changed_label_is_one_more_row(tmp_path: Path) -> None:
    load(tmp_path)
    report = load(tmp_path, **{"Knowledge Subclass": "样式规律"})
    assert [p.text for p in report.problems] == ["Question 0 of agibench differs in: labels."]
    assert labels()[1] == place("graphic-reasoning-pattern-principles")
    assert rows() == (2, 1)


def test_a_label_that_a_person_set_stays(tmp_path: Path, curator: User) -> None:
    load(tmp_path)
    set_labels(
        Question.objects.get(),
        {"ability_branch": "understanding", "knowledge": "", "difficulty": 3, "modal": "text"},
        acting_user=curator,
    )
    assert load(tmp_path).changed == 0
    assert labels() == ("understanding", None, 3, "text")
    load(tmp_path, **{"Ability Branch": "Common Sense", "Accuracy": "10%", "Level": 5})
    assert labels() == ("understanding", None, 3, "text")
    assert rows() == (2, 2)


def test_a_rate_that_a_person_corrected_stays(tmp_path: Path, curator: User) -> None:
    load(tmp_path)
    given = GivenRate(Decimal("0.85"), "the yearbook")
    correct_rate(HumanRate.objects.get(), given, acting_user=curator, reason="misprint")
    assert labels()[2] == 1
    load(tmp_path)
    load(tmp_path, Accuracy="30%", Level=4)
    load(tmp_path, **{"Accuracy": "30%", "Level": 4, "Knowledge Subclass": "样式规律"})
    assert labels()[2] == 1
    assert HumanRate.objects.count() == 2


def counting() -> list[tuple[str, Decimal]]:
    rates = HumanRate.objects.filter(corrected_by=None).order_by("pk")
    return list(rates.values_list("source", "value"))


def test_what_people_gave_is_the_same_when_an_export_brings_it_back(
    tmp_path: Path, curator: User
) -> None:
    """0.9 of 100 people and 0.3 of 40 join to 102/140 = 0.729, level 2; twice to 114/180."""
    rate = {"value": 0.9, "source": "S1", "sample_size": 100}
    (tmp_path / "exam.jsonl").write_bytes(lines(1, 3, human_rates=[rate]))
    import_questions("jsonl", tmp_path)
    first, second, third = Question.objects.order_by("position")
    own = GivenRate(Decimal("0.3"), "Own class", 40)
    add_rate(first, own, acting_user=curator)
    for question in (second, third):
        published = question.human_rates.get()
        erratum = GivenRate(Decimal("0.4"), "S1, erratum", 100)
        correct_rate(published, erratum, acting_user=curator, reason="misprint")
    before, levels = counting(), list(Question.objects.values_list("label__difficulty", flat=True))
    assert (len(before), levels) == (4, [2, 3, 3])
    exported = unpacked(as_zip(), tmp_path / "export")
    for folder in (exported, exported, tmp_path):
        report = import_questions("jsonl", folder)
        assert (report.same, report.changed) == (3, 0)
        assert counting() == before

    # An export from before a correction brings back what was corrected since.
    for rate_of_person in HumanRate.objects.filter(corrected_by=None, author=curator):
        later = GivenRate(Decimal("0.5"), "recounted", rate_of_person.sample_size)
        correct_rate(rate_of_person, later, acting_user=curator, reason="recounted")
    before = counting()
    assert import_questions("jsonl", exported).changed == 0
    assert counting() == before


def test_a_rate_that_its_source_changed_is_found_beside_those_that_it_left(tmp_path: Path) -> None:
    def load_rates(*values: float) -> int:
        rates = [{"value": value, "source": "S1"} for value in values]
        (tmp_path / "exam.jsonl").write_bytes(lines(1, 1, human_rates=rates))
        return import_questions("jsonl", tmp_path).changed

    load_rates(0.9, 0.5, 0.5)
    assert load_rates(0.9, 0.5, 0.5) == 0
    assert load_rates(0.9, 0.5, 0.2) == 1
    assert [value for _source, value in counting()] == [Decimal(v) for v in ("0.9", "0.5", "0.2")]
    assert load_rates(0.9, 0.5, 0.5) == 1, "the source counts, also where it goes back"
    assert HumanRate.objects.count() == 5


def test_thousands_of_rates_of_a_question_are_compared_at_once() -> None:
    given = [HumanRateRecord(Decimal(n) / 10_000, "S1", n + 1) for n in range(10_000)]
    rows = new_rates(given, [])
    for number, row in enumerate(rows, start=1):
        row.pk = number
    started = time.process_time()
    assert new_rates(given, rows) == []
    assert new_rates(given[::-1], rows) == []
    assert time.process_time() - started < 5


def test_a_dry_run_keeps_no_label(tmp_path: Path) -> None:
    report = import_questions("agibench", write(tmp_path, ITEM), dry_run=True)
    assert report.new == 1
    assert rows() == (0, 0)
    assert not Knowledge.objects.exists()


def test_the_modal_follows_a_changed_text(tmp_path: Path) -> None:
    load(tmp_path)
    load(tmp_path, Question="没有图", Option_A="一")
    assert labels()[3] == "text"
    assert Question.objects.get().revisions.count() == 2


@pytest.mark.shareddata
def test_the_published_benchmark(shared_data: Path) -> None:
    """Levels are those of the rates, also in the file; of all keys one is no letter of its item."""
    report = import_questions("agibench", shared_data / "agibench")
    assert (report.read, report.new, report.refused) == (927, 927, 0)
    origins = Question.objects.values_list("label__difficulty", "label__origins__difficulty")
    assert {origin for _, origin in origins} == {"derived"}
    assert Counter(level for level, _ in origins) == {1: 240, 2: 203, 3: 322, 4: 136, 5: 26}
    in_file()
    again = import_questions("agibench", shared_data / "agibench")
    assert (again.new, again.same, again.changed) == (0, 927, 0)
    assert rows() == (927, 927)
    (found,) = check_golds("agibench").datasets
    assert {f"{one.task} {one.question}" for one in found.failed} == {"agibench 595"}
    (held,) = ItemProblem.objects.filter(code=ProblemCode.GOLD_UNREAD)
    assert held.question.status == ItemStatus.QUARANTINED


def in_file() -> None:
    """The CSV has all labels with their origin, and the human rate."""
    out = io.BytesIO()
    made = export_csv(by_place(), out, {})
    lines = list(csv.DictReader(io.StringIO(out.getvalue().decode("utf-8-sig"), newline="")))
    assert made["rows"] == len(lines) == 927
    assert made["sha256"] == hashlib.sha256(out.getvalue()).hexdigest()
    levels = {"80": 1, "60": 2, "40": 3, "20": 4, "0": 5}
    for line in lines:
        rate = float(line["human_rate"]) * 100
        level = next(value for low, value in levels.items() if rate >= float(low))
        assert line["difficulty"] == str(level)
        assert line["difficulty_origin"] == "derived"
        assert line["knowledge"]
        assert line["ability_branch_origin"] == "published"
