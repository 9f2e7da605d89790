"""AGIBench and AGIEval asked under the settings of their papers, and their tables from that.

A scripted endpoint answers over HTTP; it draws each reply from the prompt. The expected figures are
made with pandas from the stored replies and the published files: own reading, own keys, own sums.
A sample of the questions is asked, and all of them with GRADEAPP_FULL=yes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import string
from collections import Counter
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command

from evaluations.conditions import Asking, PromptSetting, Sampling
from evaluations.models import Endpoint, Response
from evaluations.models.vocabulary import RunStatus
from evaluations.runs.services.prompt_sets import import_prompts
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from questions.models import Dataset
from questions.services.imports import import_questions
from tests.evaluations.review_world import items_of, review_of, say
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.scripted_server import Fault, ScriptedServer, saying

pytestmark = [pytest.mark.once, pytest.mark.shareddata, pytest.mark.django_db]
ALL = os.environ.get("GRADEAPP_FULL") == "yes"
MODEL = "GPT-4"
Cells = dict[tuple[str, str, str], dict[str, Any]]


def drawn(prompt: str, time: int) -> int:
    """A number from the prompt and how often it was asked before."""
    return int.from_bytes(hashlib.sha256(f"{time} {prompt}".encode()).digest()[:6])


def ask_all(endpoint: Endpoint, server: ScriptedServer, asking: Asking, repeats: int) -> Any:
    """A run over all questions of the one dataset, worked on until it is over."""
    dataset = Dataset.objects.get()
    run = start_run(
        endpoint=endpoint, dataset=dataset, acting_user=None, asking=asking, repeats=repeats
    )
    while run.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        run = worked(run)
    assert run.status == RunStatus.FINISHED
    server.requests.clear()
    return run


def replies() -> pd.DataFrame:
    """What the endpoint said, by question and condition."""
    stored = Response.objects.values_list(
        *("question__task__slug", "question__external_id", "run__condition__name"),
        *("run__condition__setting", "repeat", "text"),
    )
    names = ["task", "external_id", "condition", "setting", "repeat", "text"]
    return pd.DataFrame(list(stored), columns=names)


def rebuilt(paper: str) -> Cells:
    """The cells of ``report paper-tables``, by table, row and column."""
    out = StringIO()
    call_command("report", "paper-tables", paper=paper, format="json", stdout=out)
    rows = json.loads(out.getvalue())["rows"]
    assert not re.search("NaN|Infinity", out.getvalue())
    for row in rows:
        why = row["figures"]["difference"]["reason"]
        if row["figures"]["difference"]["value"]:
            # A note of the paper is no reason why another model answers otherwise.
            assert why == "own_run" if row["key"]["model"] else why not in (None, "unexplained"), (
                row
            )
    return {
        (row["key"]["table"], row["key"]["row"], row["key"]["column"]): row["figures"]
        for row in rows
    }


def same(cells: Cells, table: str, column: str, expected: Iterable[tuple[Any, float]]) -> None:
    """Whether our figures of one column are the *expected* ones, in per cent."""
    wanted = {str(row): 100 * share for row, share in expected}
    found = {row: cells[table, row, column]["ours"]["value"] for row in wanted}
    assert found == pytest.approx(wanted), (table, column)


def shown(cells: Cells) -> set[str]:
    """The tables in which at least one cell is rebuilt."""
    return {table for (table, *_), one in cells.items() if one["ours"]["value"] is not None}


# ---- AGIBench ----

SAYS = (
    *("{}", "答案：{}", "{}. 理由如上。", "选择 {}", "The answer is {}.", "{} 是正确答案"),
    *(
        "A、{}",
        "没有把握",
        "",
        "作为一个人工智能语言模型,我还没学习如何回答这个问题,您可以向我问一些其它的问题,我会尽力帮您解决的。",
    ),
)


def agibench_reply(times: Counter[str], prompt: str) -> Fault:
    times[prompt] += 1
    number = drawn(prompt, times[prompt])
    words = SAYS[number // 4 % len(SAYS)]
    return saying(words.format("ABCD"[number % 4]))


def read_by_table_5(patterns: dict[int, str], text: str) -> tuple[int, str]:
    """The printed pattern that matches first, and the letters in its group."""
    for place, pattern in patterns.items():
        if found := re.search(pattern, text):
            return place, "".join(sorted(set("".join(found.groups()[:1]).replace("、", ""))))
    return 0, ""


def agibench_files(shared: Path, folder: Path) -> pd.DataFrame:
    """Write AGIBench with one question of each subclass and level, or all, to *folder*."""
    items = json.loads((shared / "agibench" / "datasets.json").read_text("utf-8"))
    frame = pd.DataFrame(items)
    if not ALL:
        by = ["Ability Branch", "Knowledge (EN)", "Knowledge Subclass (EN)"]
        kept = pd.concat([frame.groupby(by).head(1), frame[frame["Image Context"]].head(3)])
        frame = frame.loc[~frame.index.duplicated()].loc[kept.index.unique()]
    kept_items = [items[i] for i in sorted(frame.index)]
    shutil.copytree(shared / "agibench" / "images", folder / "images")
    (folder / "datasets.json").write_text(json.dumps(kept_items, ensure_ascii=False), "utf-8")
    frame = pd.DataFrame(kept_items)
    frame["external_id"] = frame.index.astype(str)
    renamed = {"Political": "Politics", "Economic": "Economics"}
    frame["cell"] = (
        frame["Ability Branch"] + "/" + frame["Knowledge (EN)"].str.strip().replace(renamed)
    )
    frame["avg"] = frame["Ability Branch"] + "/Avg"
    frame["human"] = frame["Accuracy"].str.rstrip("%").astype(float) / 100
    return frame


def asked_agibench(server: ScriptedServer, questions: pd.DataFrame) -> pd.DataFrame:
    """Ask with each of the three prompts three times; return what was said, by question."""
    times: Counter[str] = Counter()
    server.endpoint.faults = lambda prompt: agibench_reply(times, prompt)
    endpoint = scripted_endpoint(server, language_model=MODEL)
    half = Sampling(temperature=1.0, max_tokens=2048)
    for kind in ("none", "answer", "reason"):
        asking = Asking(prompt_set=f"agibench:{kind}", sampling=half)
        ask_all(endpoint, server, asking, 3)
    said = replies().merge(questions, on="external_id")
    assert len(said) == 9 * len(questions)
    said["kind"] = said["condition"].str.extract("agibench:(none|answer|reason)")[0]
    return said


def same_repeats(cells: Cells, said: pd.DataFrame) -> None:
    """Whether figures 5 and 6 are those of what was *said*, by prompt."""
    for kind, own in said.groupby("kind"):
        of_item = own.groupby("external_id")
        right, unlike = of_item["right"].sum(), of_item["letters"].nunique()
        expected = {
            "figure-6": {
                "average": right.mean() / 3,
                "worst": (right == 3).mean(),
                "best": (right > 0).mean(),
                "majority_paper": (right >= 2).mean(),
            },
            "figure-5": {
                "all_same": (unlike == 1).mean(),
                "one_differs": (unlike == 2).mean(),
                "all_different": (unlike == 3).mean(),
            },
        }
        for table, columns in expected.items():
            for column, share in columns.items():
                same(cells, table, column, [(f"{MODEL}/{kind}", share)])


def test_agibench_asked_three_times_with_three_prompts(
    server: ScriptedServer, shared_data: Path, tmp_path: Path
) -> None:
    questions = agibench_files(shared_data, tmp_path)
    import_questions("agibench", tmp_path)
    said = asked_agibench(server, questions)
    printed = json.loads((shared_data / "papers" / "agibench.json").read_text("utf-8"))
    tables = {table["id"]: table for table in printed["tables"]}
    patterns = {
        row["key"]["order"]: (row["labels"]["pattern"] or "").replace("[::]", "[:：]")
        for row in tables["table-5"]["rows"]
        if row["key"]["order"]
    }
    read = [read_by_table_5(patterns, text) for text in said["text"]]
    said["pattern"], said["letters"] = zip(*read, strict=True)
    said["right"] = (said["letters"] == said["Answer"]).astype(float)

    cells = rebuilt("agibench")
    for by in ("cell", "avg"):
        same(cells, "table-6", MODEL, said.groupby(by)["right"].mean().items())
        same(cells, "table-6", "Human", questions.groupby(by)["human"].mean().items())
    same(cells, "figure-4", MODEL, said.groupby("Level")["right"].mean().items())
    same(cells, "figure-4", "Human", questions.groupby("Level")["human"].mean().items())
    counts = said["pattern"].value_counts()
    assert len(counts) >= 8
    for place, n in counts.items():
        ours = [cells["table-5", str(place), one]["ours"] for one in ("number", "ratio")]
        assert ours[0]["value"] == n, place
        assert ours[1]["value"] == pytest.approx(100 * n / len(said))
    same_repeats(cells, said)
    assert {"table-1", "table-2", "table-5", "table-6", "figure-1", "figure-2"} <= shown(cells)
    assert {"figure-4", "figure-5", "figure-6", "modals"} <= shown(cells)
    for table, column in (("table-2", "percentage"), ("table-6", MODEL)):
        for row in tables[table]["rows"]:
            name = "/".join(map(str, row["key"].values()))
            assert cells[table, name, column]["ours"]["value"] is not None, (table, name)
    if ALL:
        for (table, row, column), figures in cells.items():
            # One printed human rate is a misprint (note B02); the borders of levels are B05.
            if (table, column) == ("table-6", "Human") and "Analogical" not in row:
                assert figures["difference"]["value"] == 0, row


# ---- AGIEval ----

SEVERAL = {"jec-qa-kd", "jec-qa-ca", "gaokao-physics"}
EXACT = {"math", "gaokao-mathcloze"}
LAST_QUESTION = re.compile(r"(?:Q: |问题：|Problem \d+\.   |问题 \d+\.   )")
# A choice without a key, and exact answers with a unit or an "=".
ODD = r'"label": \[\]|"answer": "[^"]*(?:text\{ |=)'
BEFORE = 60  # characters that tell one question from another


def agieval_reply(keys: dict[str, str], prompt: str) -> Fault:
    """A letter or two, or the key, the key with a word more or another word in place of it."""
    number = drawn(prompt, 0)
    few = "Choose from the following" in prompt or "从以下选项中" in prompt
    english = "Problem 1." in prompt
    key = keys.get(LAST_QUESTION.split(prompt)[-1][:BEFORE])
    if key is None:
        said = "ABCDE"[number % 5] + ("", "", "", "C")[number // 5 % 4]
        before = "Because of that.\n" if "Explanation" in prompt or "的解析" in prompt else ""
    else:
        few = "Problem 1." in prompt or "问题 1." in prompt
        said = (key, f"{key} zz", "zz")[number % 3]
        before = ""
        if not few:
            return saying(f"So \\boxed{{{said}}}.")
    if few:
        return saying(before + ("The answer is therefore " if english else "答案是 ") + said)
    return saying(said)


def letters_of(task: str, setting: str, text: str) -> str:
    if task in SEVERAL:
        last = text.splitlines()[-1] if setting == "few-shot-cot" else text
        return "".join(sorted(set(re.findall("[A-F]", last))))
    found = re.search("(?:therefore |答案是 )([A-F])", text) if "few" in setting else None
    found = found or re.search("([A-F])", text)
    return found[1] if found else ""


def bare(text: str) -> str:
    """What AGIEval's program compares of a short answer, as far as our replies need it.

    A unit is dropped with what follows it, and up to two characters before the one "=".
    """
    text = text.partition(r"\text{ ")[0]
    left, *right = text.split("=")
    return (right[0] if len(right) == 1 and len(left) <= 2 else text).replace(" ", "")


def f1_of(gold: str, said: str, chinese: bool) -> float:
    """SQuAD's F1; in Chinese over characters and runs of letters or digits."""

    def words(text: str) -> Counter[str]:
        if chinese:
            return Counter(re.findall(r"[a-z0-9]+|[^\W_]", text.lower()))
        bare = "".join(one for one in text.lower() if one not in string.punctuation)
        return Counter(one for one in bare.split() if one not in ("a", "an", "the"))

    wanted, given = words(gold), words(said)
    common = (wanted & given).total()
    return 2 * common / (wanted.total() + given.total()) if common else 0.0


def agieval_files(shared: Path, folder: Path) -> pd.DataFrame:
    """Write AGIEval with a few questions of each task, or all, to *folder*."""
    rows = []
    for file in sorted((shared / "agieval" / "v1").glob("*.jsonl")):
        lines = file.read_text("utf-8").splitlines()
        if not ALL:
            odd = [line for line in lines if re.search(ODD, line)]
            lines = [line for line in lines if '"label": "B"' in line][:1] + lines[20:24] + odd[:6]
        (folder / file.name).write_text("\n".join(lines) + "\n", "utf-8")
        for place, line in enumerate(lines):
            row = json.loads(line)
            key = row["label"] if row["label"] is not None else row["answer"]
            key = "".join(key) if isinstance(key, list) else key
            rows.append((file.stem, str(place), key, row["question"]))
    return pd.DataFrame(rows, columns=["task", "external_id", "key", "question"])


def right_and_f1(said: pd.DataFrame) -> None:
    """Add to what was *said* the letters, whether they are right, and the F1 of exact answers."""
    said["letters"] = [letters_of(one.task, one.setting, one.text) for one in said.itertuples()]
    # The program counts the one question without a key as wrong.
    said["right"] = ((said["letters"] == said["key"]) & (said["key"] != "")).astype(float)
    exact = said[said["task"].isin(EXACT)]
    boxed = exact["text"].str.extract(r"boxed\{(.*)\}\.$")[0].str.split("=").str[-1]
    after = exact["text"].str.extract(r"(?:therefore |答案是 )(.*)$")[0]
    answers = boxed.fillna(after).fillna("").str.strip()
    keys = exact["key"]
    pairs = list(zip(exact["task"], keys, answers, strict=True))
    said["f1"] = 0.0
    said.loc[exact.index, "right"] = [float(bare(key) == bare(given)) for _, key, given in pairs]
    said.loc[exact.index, "f1"] = [f1_of(key, given, task != "math") for task, key, given in pairs]


def same_gains(cells: Cells, rates: dict[str, pd.Series]) -> None:
    """Whether the gains are the differences of *rates*, by task and as means of the languages."""
    english = {"aqua-rat", "math", "logiqa-en", "gaokao-english"}
    for column, after, before in (
        ("few-shot-gain", "few-shot", "zero-shot"),
        ("few-shot-cot-gain", "few-shot-cot", "zero-shot-cot"),
        ("cot-gain", "zero-shot-cot", "zero-shot"),
        ("cot-few-shot-gain", "few-shot-cot", "few-shot"),
    ):
        gain = rates[after] - rates[before]
        in_english = gain.index.isin(english) | gain.index.str.match("lsat|sat-")
        expected = {
            "Average": gain.mean(),
            "English": gain[in_english].mean(),
            "Chinese": gain[~in_english].mean(),
            **gain,
        }
        same(cells, "gains", f"{column}:{MODEL}", expected.items())


def test_agieval_asked_in_four_settings(
    server: ScriptedServer, shared_data: Path, tmp_path: Path, teacher: User
) -> None:
    questions = agieval_files(shared_data, tmp_path)
    import_questions("agieval", tmp_path)
    import_prompts("agieval", shared_data / "agieval", acting_user=None)
    exact = questions[questions["task"].isin(EXACT)]
    keys = {one.question[:BEFORE]: one.key for one in exact.itertuples()}
    server.endpoint.faults = lambda prompt: agieval_reply(keys, prompt)
    endpoint = scripted_endpoint(server, language_model=MODEL)
    runs = {
        setting: ask_all(endpoint, server, Asking(setting, prompt_set="agieval"), 1)
        for setting in PromptSetting
    }
    said = replies().merge(questions, on=["task", "external_id"])
    assert len(said) == 4 * len(questions)
    right_and_f1(said)
    review = review_of(runs[PromptSetting.ZERO_SHOT_COT], [teacher], per_task=2, policy="published")
    wrong = items_of(review)
    knows = [place % 4 == 0 for place in range(len(wrong))]
    for item, knowing in zip(wrong, knows, strict=True):
        say(item, teacher, "uk" if knowing else "u")

    cells = rebuilt("agieval")
    rates: dict[str, pd.Series] = {}
    for setting, own in said.groupby("setting"):
        table = "table-3" if "few" in setting else "table-2"
        rates[setting] = own.groupby("task")["right"].mean()
        same(cells, table, f"{setting}:{MODEL}", rates[setting].items())
        same(cells, table, f"{setting}:{MODEL}", [("Average", rates[setting].mean())])
        both = own[own["task"].isin(EXACT)].groupby("task")
        same(cells, "exact-answers", f"exact match:{setting}:{MODEL}", both["right"].mean().items())
        same(cells, "exact-answers", f"f1:{setting}:{MODEL}", both["f1"].mean().items())
    same_gains(cells, rates)
    for task, n in Counter(task for task in questions["task"] if "without" not in task).items():
        assert cells["table-1", task, "instances"]["ours"]["value"] == n
    same(cells, "figure-3", "understanding", [(MODEL, 1)])
    same(cells, "figure-3", "knowledge", [(MODEL, fmean(knows))])
    assert {"table-1", "table-2", "table-3", "gains", "exact-answers", "figure-3"} <= shown(cells)
    # Rates of people come with the tasks, as printed.
    for (table, row, column), figures in cells.items():
        if column.startswith("human:") and figures["published"]["value"] is not None:
            assert figures["difference"]["value"] == 0, (table, row, column)
