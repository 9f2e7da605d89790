"""The tables of AGIEval and AGIBench over all their questions, against sums made another way.

Answers are drawn at random; expected values come from the published files by plain Python.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from statistics import fmean
from typing import Any

import pandas as pd
import pytest

from evaluations.conditions import PromptSetting
from evaluations.reports.rules import paper_agibench, paper_agieval
from evaluations.reports.rules.paper_cells import Cells, Loaded, StandIns
from evaluations.reports.rules.published_tables import CellName, Paper, published_paper
from evaluations.statistics.figure import Figure
from evaluations.statistics.rows import ModelCondition
from questions.rules.taxonomy import TAXONOMY
from tests.conftest import SHARED_DATA

pytestmark = [
    pytest.mark.once,
    pytest.mark.shareddata,
    pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no published benchmarks beside us"),
]
MODEL = "GPT-4"
BRANCHES = {
    "Common Sense": "common_sense",
    "Reasoning": "reasoning",
    "Understanding": "understanding",
}


def value(cells: Cells, table: str, row: str, column: str) -> float | None:
    return cells[CellName(table, row, column)].figure.value


def check(cells: Cells, table: str, column: str, expected: dict[str, float]) -> None:
    found = {
        cell.row: one.figure.value
        for cell, one in cells.items()
        if (cell.table, cell.column) == (table, column)
    }
    assert found == pytest.approx(expected), (table, column)


def answer_rows(condition: str, points: dict[int, list[float]]) -> list[dict[str, Any]]:
    """One row of a frame for each question: the sums over its repeats."""
    return [
        {
            **{"model": MODEL, "condition": condition, "question": question, "n": len(given)},
            **{"points": sum(given), "full": float(len(given)), "units": len(given), "reason": ""},
        }
        for question, given in points.items()
    ]


def test_agieval_over_all_questions() -> None:
    tasks = {
        file.stem: len(file.read_text(encoding="utf-8").splitlines())
        for file in sorted((SHARED_DATA / "agieval" / "v1").glob("*.jsonl"))
    }
    names = [task for task, n in tasks.items() for _ in range(n)]
    assert len(names) == 8269
    english = {"aqua-rat", "math", "logiqa-en", "gaokao-english"}
    languages = {t: "en" if t in english or t[:4] in ("lsat", "sat-") else "zh" for t in tasks}
    questions = pd.DataFrame(
        [(i, task, languages[task]) for i, task in enumerate(names)],
        columns=["question", "task", "language"],
    )
    rng = random.Random(1)
    loaded, rows = [], []
    rates: dict[str, dict[str, float]] = {}
    f1: dict[str, dict[str, float]] = {}
    for setting in PromptSetting:
        asked = ModelCondition(MODEL, f"as {setting}")
        loaded.append(Loaded(asked, setting=setting.value, questions=len(names)))
        points = {i: [float(rng.random() < 0.6)] for i in range(len(names))}
        overlap = {i: rng.random() for i in points}
        by_task: dict[str, list[int]] = defaultdict(list)
        for i, task in enumerate(names):
            by_task[task].append(i)
        rates[setting] = {t: 100 * fmean(points[i][0] for i in own) for t, own in by_task.items()}
        f1[setting] = {t: 100 * fmean(overlap[i] for i in own) for t, own in by_task.items()}
        for row in answer_rows(asked.condition, points):
            i = row["question"]
            exact = names[i] in ("math", "gaokao-mathcloze")
            sums = {"exact_n": int(exact), "exact_sum": row["points"] * exact}
            rows.append(row | sums | {"task": names[i], "f1_sum": overlap[i] * exact})
    review = {loaded[1].asked: {"knowledge": Figure(0.25, 40)}}
    cells = paper_agieval.rebuilt(
        paper_agieval.AgievalMaterial(
            paper=published_paper(Paper.AGIEVAL),
            stand_ins=StandIns({MODEL: MODEL}, loaded),
            questions=questions,
            answers=pd.DataFrame(rows),
            human={"average": dict.fromkeys(tasks, 0.5), "top": {"math": 0.9}},
            capabilities=review,
        )
    )
    check(cells, "table-1", "instances", {t: n for t, n in tasks.items() if "without" not in t})
    for setting, by_task in rates.items():
        table = "table-3" if setting.startswith("few") else "table-2"
        average = {"Average": fmean(by_task.values())}
        check(cells, table, f"{setting}:{MODEL}", by_task | average)
        for task in ("math", "gaokao-mathcloze"):
            exact = value(cells, "exact-answers", task, f"exact match:{setting}:{MODEL}")
            assert exact == pytest.approx(by_task[task])
            overlap = value(cells, "exact-answers", task, f"f1:{setting}:{MODEL}")
            assert overlap == pytest.approx(f1[setting][task])
    assert value(cells, "table-2", "Average", "human:average") == pytest.approx(50)
    top = cells[CellName("table-2", "Average", "human:top")].figure
    assert (top.value, top.reason) == (None, "tasks_missing")
    gain = {t: rates["few-shot-cot"][t] - rates["few-shot"][t] for t in tasks}
    gain |= {
        word: fmean(gain[t] for t in tasks if languages[t] == code)
        for code, word in (("zh", "Chinese"), ("en", "English"))
    } | {"Average": fmean(gain.values())}
    check(cells, "gains", f"cot-few-shot-gain:{MODEL}", gain)
    assert value(cells, "figure-3", MODEL, "knowledge") == 25
    assert cells[CellName("figure-3", MODEL, "reasoning")].figure.reason == "not_reviewed"


def test_agibench_over_all_questions() -> None:
    items = json.loads((SHARED_DATA / "agibench" / "datasets.json").read_text(encoding="utf-8"))
    slugs = {
        one.english: (one.slug, {s.english: s.slug for s in one.subclasses}) for one in TAXONOMY
    }
    questions = pd.DataFrame(
        [
            {
                "question": i,
                "ability_branch": BRANCHES[item["Ability Branch"]],
                "knowledge": slugs[item["Knowledge (EN)"]][0],
                "subclass": slugs[item["Knowledge (EN)"]][1][
                    item["Knowledge Subclass (EN)"].strip()
                ],
                "difficulty": item["Level"],
                "modal": "text_image" if item["Image Context"] else "text",
                "human": float(item["Accuracy"].rstrip("%")) / 100,
                "characters": len(item["Question"]),
            }
            for i, item in enumerate(items)
        ]
    )
    rng = random.Random(2)
    loaded, rows, repeats = [], [], []
    drawn: dict[str, dict[int, list[str]]] = {}
    for kind in ("none", "answer", "reason"):
        asked = ModelCondition(MODEL, f"agibench:{kind}")
        loaded.append(Loaded(asked, imported=True, questions=len(items)))
        drawn[kind] = {i: [rng.choice("ABCD") for _ in range(3)] for i in range(len(items))}
        points = {i: [float(a == "A") for a in given] for i, given in drawn[kind].items()}
        rows += answer_rows(asked.condition, points)
        repeats += [
            (MODEL, asked.condition, i, n, float(answer == "A"), 1.0, answer)
            for i, given in drawn[kind].items()
            for n, answer in enumerate(given, 1)
        ]
    names = ["model", "condition", "question", "repeat", "points", "full", "answer"]
    cells = paper_agibench.rebuilt(
        paper_agibench.AgibenchMaterial(
            paper=published_paper(Paper.AGIBENCH),
            stand_ins=StandIns({MODEL: MODEL}, loaded),
            questions=questions,
            answers=pd.DataFrame(rows).merge(questions, on="question"),
            repeats=pd.DataFrame(repeats, columns=names),
            patterns={0: 1, 3: 3},
            matched=[one.asked for one in loaded],
        )
    )
    renamed = {"Political": "Politics", "Economic": "Economics"}
    right: dict[str, list[float]] = defaultdict(list)
    human: dict[str, list[float]] = defaultdict(list)
    levels: dict[str, list[float]] = defaultdict(list)
    for i, item in enumerate(items):
        knowledge = renamed.get(item["Knowledge (EN)"], item["Knowledge (EN)"])
        of_item = [float(a == "A") for given in drawn.values() for a in given[i]]
        for row in (f"{item['Ability Branch']}/Avg", f"{item['Ability Branch']}/{knowledge}"):
            right[row] += of_item
            human[row].append(float(item["Accuracy"].rstrip("%")))
        levels[str(item["Level"])] += of_item
    check(cells, "table-6", MODEL, {row: 100 * fmean(own) for row, own in right.items()})
    check(cells, "table-6", "Human", {row: fmean(own) for row, own in human.items()})
    check(cells, "figure-4", MODEL, {level: 100 * fmean(own) for level, own in levels.items()})
    pooled = cells[CellName("table-6", "Reasoning/Avg", MODEL)]
    assert pooled.condition == "agibench:none + agibench:answer + agibench:reason"
    printed = published_paper(Paper.AGIBENCH).table("table-2").rows
    shares = {row: value(cells, "table-2", row, "percentage") for row in printed}
    assert {row: round(one or 0, 2) for row, one in shares.items()} == {
        row: values[0] for row, values in printed.items()
    }
    for kind, given in drawn.items():
        correct = [sum(a == "A" for a in own) for own in given.values()]
        different = [len(set(own)) for own in given.values()]
        expected = {
            "average": fmean(correct) / 3,
            "worst": fmean(n == 3 for n in correct),
            "best": fmean(n > 0 for n in correct),
            "majority_paper": fmean(n >= 2 for n in correct),
            # Three different answers tie: a third of a point where one of them is right.
            "majority": fmean(
                n / 3 if unlike == 3 else n >= 2
                for n, unlike in zip(correct, different, strict=True)
            ),
        }
        for column, share in expected.items():
            assert value(cells, "figure-6", f"{MODEL}/{kind}", column) == pytest.approx(100 * share)
        for column, unlike in (("all_same", 1), ("one_differs", 2), ("all_different", 3)):
            share = fmean(one == unlike for one in different)
            assert value(cells, "figure-5", f"{MODEL}/{kind}", column) == pytest.approx(100 * share)
    assert (value(cells, "table-5", "3", "number"), value(cells, "table-5", "3", "ratio")) == (
        3,
        75,
    )
    lead = (value(cells, "figure-4", "1", "Human") or 0) - 100 * fmean(levels["1"])
    assert value(cells, "figure-4", "1", "lead") == pytest.approx(lead)
    (asked,) = {cells[CellName("figure-4", level, "lead")].model for level in levels}
    assert asked == MODEL


def test_the_printed_levels_of_agibench_put_the_border_into_the_harder_one() -> None:
    """Note B05: with 80 % in level 2, 60 % in level 3 and so on, the printed rates come out."""
    items = json.loads((SHARED_DATA / "agibench" / "datasets.json").read_text(encoding="utf-8"))
    levels = defaultdict(list)
    for item in items:
        rate = float(item["Accuracy"].rstrip("%"))
        levels[str(5 - sum(rate > border for border in (20, 40, 60, 80)))].append(rate)
    printed = published_paper(Paper.AGIBENCH).table("figure-4").cells()
    for level, rates in levels.items():
        assert round(fmean(rates), 2) == printed[CellName("figure-4", level, "Human")]
