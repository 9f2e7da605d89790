"""What stands beside figures that are missing, and beside files: true, and one sign a reason."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from django.utils import translation

from evaluations.facts.words import reason_words
from evaluations.reading.services.gold_check import check_golds
from evaluations.reports.rules.paper_page import PageTable
from evaluations.reports.rules.published_tables import Paper, published_paper
from evaluations.reports.selectors.cuts import (
    is_whole_stream,
    parts_of_total,
    years_without_questions,
)
from evaluations.templatetags.papers import paper_words
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Part, Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, JUDGE, chosen, judged, mark, run_of, written
from tests.factories import make_question, make_task

pytestmark = pytest.mark.django_db
SCIENCES = {
    *(Subject.CHINESE, Subject.ENGLISH, Subject.SCIENCES_MATHEMATICS),
    *(Subject.PHYSICS, Subject.CHEMISTRY, Subject.BIOLOGY),
}


def shown(admin: User, address: str, **query: str) -> str:
    page = logged_in(admin).get(address, query)
    assert page.status_code == 200
    return re.sub(r"\s+", " ", page.text)


def test_a_year_without_questions_of_a_part_says_so(admin: User) -> None:
    """Chemistry has no written question in 2019: no mark would give that year a total."""
    run = run_of(ALPHA, "gaokao-bench")
    for subject in Subject:
        (answer,) = chosen(run, "A", subject=subject)
        answer.question.year = 2019
        answer.question.save()
        year = 2018 if subject is Subject.CHEMISTRY else 2019
        judged(written(run, subject, year=year), "5")
    assert years_without_questions("gaokao-bench")["Chemistry/subjective"] == [2019]
    page = shown(admin, "/reports/papers/", paper="gaokao-bench", all="yes")
    assert "there are no questions: Chemistry (subjective)" in page
    assert "no subjective marks in Chemistry" not in page
    assert "× the year has no questions of a part of the total" in page
    page = shown(admin, "/reports/years/", dataset="gaokao-bench")
    assert "because the dataset has no questions:" in page
    assert '<span class="nowrap">Chemistry (subjective)</span> 2019' in page
    with translation.override("zh-hans"):
        words = reason_words("no_questions_in:Chemistry/subjective,English/objective")
        assert words == "没有试题：化学（主观题）、英语（客观题）"


def test_each_reason_below_a_table_of_a_paper_has_its_own_mark() -> None:
    table = published_paper(Paper.AGIBENCH).table("table-6")
    codes = ["own_run", "partly_answered", "c", "d", "e", "f"]
    made = PageTable(table, (), (), (), {}, (), codes, (), 0, "")
    assert list(made.marks.values()) == ["*", "†", "‡", "§", "¶", "**"]
    assert list(made.marks) == codes


def test_keys_that_nobody_checked_have_not_changed(admin: User) -> None:
    run = run_of()
    chosen(run, "A")
    page = shown(admin, "/reports/", dataset="exam")
    assert "has not been checked on the answer keys of this dataset yet" in page
    assert "have changed since" not in page
    check_golds(run.dataset.slug)
    page = shown(admin, "/reports/", dataset="exam")
    assert "has not been checked" not in page
    make_question(make_task(run.dataset))
    page = shown(admin, "/reports/", dataset="exam")
    assert "have changed since the keys were last checked" in page


def test_a_dataset_that_can_have_no_total_says_so(admin: User) -> None:
    for answer in chosen(run_of(dataset="agibench"), "A", "B"):
        answer.question.subject = ""
        answer.question.save()
    page = shown(admin, "/reports/", dataset="agibench")
    assert "This dataset gives no total of 750 points" in page
    assert "No model has a total of 750 points" not in page
    assert "have no subjects of the examination" in page
    models = page[page.index('id="models-title"') : page.index('id="agreement-title"')]
    assert "Sciences" not in models
    assert "Physics" not in models
    run = run_of(dataset="exam")
    for subject in Subject:
        chosen(run, "A", subject=subject)
        response = written(run, subject)
    mark(response, "4", "6")
    judged(response, "5")
    page = shown(admin, "/reports/", dataset="exam")
    assert "No model has a total of 750 points" in page
    assert f"Use judge model {JUDGE} (1 marked)" in page, "whose marks may give one"
    parts = parts_of_total("exam")
    assert parts == {(subject.value, part.value) for subject in Subject for part in Part}
    assert is_whole_stream({one for one in parts if Subject(one[0]) in SCIENCES})
    assert not is_whole_stream(parts - {("Chinese", "subjective")})


def test_a_file_that_is_sent_at_once_has_its_digest(admin: User) -> None:
    chosen(run_of(), "A", "B")
    for suffix in ("csv", "xlsx"):
        file = logged_in(admin).get(f"/reports/export/rates.{suffix}", {"dataset": "exam"})
        digest = base64.b64encode(hashlib.sha256(file.content).digest()).decode()
        assert file["Repr-Digest"] == f"sha-256=:{digest}:"


@pytest.mark.parametrize(
    ("name", "table", "chinese"),
    [
        ("Common Sense/Humanities", "table-6", "常识 · 人文常识"),
        ("Common Sense/Politics", "table-6", "常识 · 政治常识"),
        ("Reasoning/Avg", "table-6", "推理 · 平均"),
        ("few-shot-gain:GPT-4", "gains", '少样本减零样本 · <span lang="en">GPT-4</span>'),
        ("Chinese", "gains", "中文任务"),
        ("Average", "table-2", "平均"),
        ("GPT-4/none", "figure-5", '<span lang="en">GPT-4</span> · 仅试题'),
        ("Chinese", "table-1", "语文"),
        ("lead", "figure-4", "人类领先"),
    ],
)
def test_rows_and_columns_of_the_papers_are_in_chinese(name: str, table: str, chinese: str) -> None:
    with translation.override("zh-hans"):
        assert paper_words(name, table) == chinese
    with translation.override("en"):
        assert not re.search("[一-龥]", paper_words(name, table))


def test_every_row_of_the_taxonomy_has_chinese_words() -> None:
    paper = published_paper(Paper.AGIBENCH)
    with translation.override("zh-hans"):
        for table in ("table-2", "table-6"):
            for row in paper.table(table).rows:
                assert 'lang="en"' not in paper_words(row, table), row
