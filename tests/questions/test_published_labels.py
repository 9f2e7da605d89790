"""Labels and rates that come with questions: stored once, followed when the source changes."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gradeapp.accounts.models import User
from questions.models import HumanRate, Knowledge, LabelRevision, Question
from questions.services.human_rates import GivenRate, correct_rate
from questions.services.imports import ImportReport, import_questions
from questions.services.labels import set_labels
from tests.questions.test_importer_agibench import ITEM, write

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
def test_all_published_levels_are_those_of_the_rates(shared_data: Path) -> None:
    report = import_questions("agibench", shared_data / "agibench")
    assert (report.read, report.new, report.refused) == (927, 927, 0)
    origins = Question.objects.values_list("label__difficulty", "label__origins__difficulty")
    assert {origin for _, origin in origins} == {"derived"}
    assert Counter(level for level, _ in origins) == {1: 240, 2: 203, 3: 322, 4: 136, 5: 26}
    again = import_questions("agibench", shared_data / "agibench")
    assert (again.new, again.same, again.changed) == (0, 927, 0)
    assert rows() == (927, 927)
