"""The printed cells of the papers: complete, as printed, and compared as the documents say."""

from __future__ import annotations

import json
from itertools import product
from statistics import fmean

import pytest

from evaluations.reports.rules.paper_cells import (
    Loaded,
    Ours,
    best,
    compared,
    counts,
    distance,
    stand_ins,
)
from evaluations.reports.rules.published_tables import CellName, Paper, published_paper
from evaluations.statistics.figure import Figure
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition
from tests.conftest import SHARED_DATA

pytestmark = pytest.mark.once
PAPERS = SHARED_DATA / "papers"


@pytest.mark.shareddata
@pytest.mark.skipif(not PAPERS.is_dir(), reason="no tables of the papers beside us")
@pytest.mark.parametrize("paper", list(Paper))
def test_every_printed_cell_is_that_of_the_paper(paper: Paper) -> None:
    source = json.loads((PAPERS / f"{paper.value}.json").read_text(encoding="utf-8"))
    for table in source["tables"]:
        ours = published_paper(paper).table(table["id"])
        rows = {"/".join(map(str, row["key"].values())): row["values"] for row in table["rows"]}
        printed = {
            CellName(table["id"], row, column): value
            for row, values in rows.items()
            for column, value in values.items()
            # The paper's table of sentences has figures in one row.
            if (paper, table["id"]) != ("agibench", "table-1") or value is not None
        }
        assert ours.cells() == printed
        decimals = table["decimals"]
        for column in ours.columns:
            wanted = decimals if isinstance(decimals, int) else decimals[column.name]
            assert column.decimals == wanted


@pytest.mark.parametrize("paper", list(Paper))
def test_every_note_is_about_printed_cells_and_has_both_languages(paper: Paper) -> None:
    data = published_paper(paper)
    cells = [cell for table in data.tables for cell in table.cells()]
    assert len({table.id for table in data.tables}) == len(data.tables)
    assert len({note.id for note in data.notes}) == len(data.notes)
    for note in data.notes:
        # How much it accounts for, of which there is one measure.
        bounds = (note.instead is not None, note.most is not None, note.unlike)
        assert sum(bounds) == 1, note.id
        assert note.runs is None or note.most is not None
        for pattern in note.cells:
            only = note.model_copy(update={"cells": (pattern,)})
            assert any(map(only.holds, cells)), pattern
    for words in (*data.notes, *(table.title for table in data.tables)):
        assert words.label("en").isascii() or "–" in words.en
        assert not words.label("zh-hans").isascii()


def test_gains_follow_from_the_printed_tables_of_agieval() -> None:
    data = published_paper(Paper.AGIEVAL)
    printed = {
        (cell.row, cell.column): value
        for table in ("table-2", "table-3")
        for cell, value in data.table(table).cells().items()
    }
    pairs = {
        "few-shot-gain": ("few-shot", "zero-shot"),
        "few-shot-cot-gain": ("few-shot-cot", "zero-shot-cot"),
        "cot-gain": ("zero-shot-cot", "zero-shot"),
        "cot-few-shot-gain": ("few-shot-cot", "few-shot"),
    }
    tasks = [row for row in data.table("table-2").rows if row != "Average"]
    chinese = [t for t in tasks if t[:7] in ("gaokao-", "jec-qa-") or t == "logiqa-zh"]
    chinese.remove("gaokao-english")
    groups = {"Chinese": chinese, "English": [t for t in tasks if t not in chinese]}
    groups |= {task: [task] for task in (*tasks, "Average")}
    models = ("Text-Davinci-003", "ChatGPT", "GPT-4")
    for (group, of), (name, (one, base)), model in product(groups.items(), pairs.items(), models):
        gains = [printed[t, f"{one}:{model}"] - printed[t, f"{base}:{model}"] for t in of]
        found = data.table("gains").cells()[CellName("gains", group, f"{name}:{model}")]
        assert found == pytest.approx(fmean(gains), abs=0.0501)


@pytest.mark.parametrize(
    ("ours", "published", "decimals", "expected"),
    [
        (72.1501, 72.2, 1, 0.0),
        # 40 of 128 is 31.25: both ways of rounding a tie are accepted.
        (31.25, 31.2, 1, 0.0),
        (31.25, 31.3, 1, 0.0),
        (31.26, 31.2, 1, 0.1),
        (46.4, 41.1, 1, 5.3),
        (466.06, 466.1, 1, 0.0),
        (434.6, 434, 0, 1.0),
    ],
)
def test_a_difference_is_in_printed_decimals(
    ours: float, published: float, decimals: int, expected: float
) -> None:
    assert distance(ours, published, decimals) == expected


def loaded(model: str, condition: str = "c", **facts: object) -> Loaded:
    return Loaded(ModelCondition(model, condition), **facts)  # type: ignore[arg-type]


def test_names_choices_and_merits_say_who_stands_for_whom() -> None:
    paper = published_paper(Paper.GAOKAO_BENCH)
    have = [loaded("gpt-4-0314"), loaded("gpt-3.5-turbo"), loaded("Qwen")]
    printed = list(paper.table("table-1").rows)
    by_name = {"GPT-4-0314": "gpt-4-0314", "GPT-3.5-turbo-0301": "gpt-3.5-turbo"}
    assert stand_ins(paper, printed, have, {}).models == {**by_name, "Qwen": "Qwen"}
    chosen = stand_ins(paper, printed, have, {"GPT-4-0613": "Qwen"}).models
    assert chosen == {"GPT-4-0613": "Qwen", **by_name}
    few = loaded("m", "few", questions=9, imported=True)
    many = loaded("m", "many", questions=10, age=1)
    newer = loaded("m", "newer", questions=10, age=2)
    published = loaded("m", "published", questions=10, prompts="gaokao-bench")
    imported = loaded("m", "imported", questions=10, imported=True)
    order = [few, many, newer, published, imported]
    assert [best(order[: n + 1]) for n in range(5)] == order
    assert best([]) is None


def test_a_row_says_why_a_figure_is_missing_or_differs() -> None:
    paper = published_paper(Paper.GAOKAO_BENCH)
    asked = (ModelCondition("gpt-3.5-turbo", "as published"),)
    qwen = (ModelCondition("Qwen", "zero-shot"),)

    def of(row: str, column: str, value: float, **facts: object) -> dict[CellName, Ours]:
        cell = CellName("table-1", row, column)
        return {cell: Ours(Figure(value, 128, **facts), qwen if row == "Qwen" else asked)}  # type: ignore[arg-type]

    cells = of("GPT-3.5-turbo-0301", "Physics", 46.4) | of("Qwen", "Physics", 50.0)
    cells |= of("GPT-3.5-turbo-0301", "Biology", 56.0, reason="partly_answered")
    as_published = [loaded(*asked[0], imported=True, repeats=3)]
    rows = compared(paper, cells, "not_loaded", as_published)
    found = {(r.key["row"], r.key["column"]): r for r in rows if r.key["table"] == "table-1"}
    assert len(found) == 12 * 11 + 1
    physics = found["GPT-3.5-turbo-0301", "Physics"]
    assert (physics.key["model"], physics.key["condition"]) == asked[0]
    difference = physics.figures["difference"]
    assert (difference.value, difference.n, difference.reason) == (5.3, 128, "note:G05")
    assert found["GPT-3.5-turbo-0301", "Biology"].figures["difference"].reason == "partly_answered"
    assert found["Qwen", "Physics"].figures["published"].reason == "not_in_paper"
    assert found["LLaMA-7b", "Physics"].figures["ours"].reason == "not_loaded"
    assert counts(rows)["table-1"] == {"printed": 132, "rebuilt": 2, "equal": 0}
    exams = compared(published_paper(Paper.AGIEVAL), {}, "not_loaded")
    stated = {r.figures["ours"].reason for r in exams if r.key["table"] == "table-1-exams"}
    assert stated == {"stated"}


@pytest.mark.parametrize(
    ("cell", "ours", "facts", "reason"),
    [
        # The mean of three runs: of one or two of them it is the reason, of all three it is not.
        (("table-2", "Chemistry"), 20.8, {"repeats": 1}, "note:G15"),
        (("table-2", "Chemistry"), 26.6, {"repeats": 1}, "unexplained"),
        (("table-2", "Chemistry"), 20.8, {"repeats": 3}, "unexplained"),
        (("table-2", "Politics"), 42.2, {"repeats": 3}, "note:G06"),
        (("table-2", "Politics"), 42.5, {"repeats": 2}, "note:G15"),
        # What follows from the slip in physics is no more than the slip itself.
        (("table-1", "Overall"), 53.4, {"repeats": 3}, "note:G05b"),
        (("table-1", "Overall"), 54.0, {"repeats": 3}, "unexplained"),
        (("table-4", "sciences:human"), 302.4, {"repeats": 3}, "note:G05c"),
        (("table-4", "sciences:human"), 340.0, {"repeats": 3}, "unexplained"),
        # Two roundings move a cell by 0.1 and no more.
        (("table-2", "Politics"), 42.1, {"repeats": 3}, "unexplained"),
        (("table-1", "Physics"), 46.43, {"repeats": 3}, "note:G05"),
        (("table-1", "Physics"), 47.0, {"repeats": 3}, "unexplained"),
        (("table-1", "Physics"), 46.4, {"imported": False}, "own_run"),
        (("table-1", "Physics"), 47.0, {"repeats": 3, "policy": "strict"}, "other_policy"),
    ],
)
def test_a_note_is_the_reason_only_of_the_difference_that_it_accounts_for(
    cell: tuple[str, str], ours: float, facts: dict[str, object], reason: str
) -> None:
    policy = Policy(str(facts.get("policy", "published")))
    about = {"imported": True, **{name: facts[name] for name in facts if name != "policy"}}
    asked = loaded("gpt-3.5-turbo", **about)
    place = CellName(cell[0], "GPT-3.5-turbo-0301", cell[1])
    cells = {place: Ours(Figure(ours, 60), (asked.asked,))}
    paper = published_paper(Paper.GAOKAO_BENCH)
    rows = compared(paper, cells, "not_loaded", [asked], policy)
    (row,) = [row for row in rows if row.figures["ours"].value is not None]
    assert row.figures["difference"].reason == reason


def test_counts_of_other_questions_say_so() -> None:
    cells = {CellName("table-8", "2010-2022_Biology_MCQs", "number"): Ours(Figure(149.0, 149))}
    rows = compared(published_paper(Paper.GAOKAO_BENCH), cells, "not_loaded")
    (row,) = [row for row in rows if row.figures["ours"].value is not None]
    difference = row.figures["difference"]
    assert (difference.value, difference.reason) == (-1, "other_questions")
