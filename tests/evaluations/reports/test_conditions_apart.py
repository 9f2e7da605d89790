"""Two conditions of one model are two rows in every report and export; repeats are of one."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.conditions import ConditionOrigin
from evaluations.judging.selectors import judge_lines
from evaluations.models import Condition, LanguageModel
from evaluations.reports.selectors.reports import REPORTS
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, JUDGE, chosen, judged, mark, run_of, written

FEW = "few-shot"
PUBLISHED = "as published"
BOTH = {PUBLISHED, FEW}


@pytest.fixture
def answers(db: None) -> dict[str, int]:
    """One model under two conditions: right by choice and full marks, and wrong and none."""
    first = run_of(ALPHA)
    other = Condition.objects.create(
        name=FEW,
        language_model=LanguageModel.objects.get(name=ALPHA),
        origin=ConditionOrigin.IMPORTED,
        fingerprint="f",
    )
    runs = {PUBLISHED: first, FEW: run_of(ALPHA, condition=other)}
    for name, run in runs.items():
        right = name == PUBLISHED
        chosen(run, *("A" if right else "B") * 2)
        for total in ("10", "9", "8") if right else ("0", "1", "2"):
            response = written(run)
            mark(response, total, total)
            judged(response, total)
    return {name: run.pk for name, run in runs.items()}


def printed(name: str, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("report", name, "--dataset", "exam", "--format", "json", stdout=out, **options)
    made: dict[str, Any] = json.loads(out.getvalue())
    return made


def values(made: dict[str, Any], figure: str, **key: str) -> dict[str, Any]:
    """The value of one figure by condition."""
    rows = [row for row in made["rows"] if key.items() <= row["key"].items()]
    assert len(rows) == len({row["key"]["condition"] for row in rows}), rows
    return {row["key"]["condition"]: row["figures"][figure]["value"] for row in rows}


def test_no_report_pools_two_conditions(answers: dict[str, int], admin: User) -> None:
    client = logged_in(admin)
    for name in REPORTS:
        by = {"by": "task"} if name == "cuts" else {}
        made = printed(name, **by)
        assert {row["key"]["condition"] for row in made["rows"]} == BOTH, name
        keys = [json.dumps(row["key"], sort_keys=True) for row in made["rows"]]
        assert len(keys) == len(set(keys)), name
        body = client.get(f"/api/v1/reports/{name}/", {"dataset": "exam", **by}).json()
        assert body["rows"] == made["rows"], name
        for query in ({"condition": FEW}, {"run": answers[FEW]}):
            query |= by | {"dataset": "exam"}
            one = client.get(f"/api/v1/reports/{name}/", query).json()
            kept = [row for row in made["rows"] if row["key"]["condition"] == FEW]
            assert one["rows"] == kept, (name, query)
    rates = printed("rates")
    assert values(rates, "rate", subject="ALL", part="objective") == {PUBLISHED: 1.0, FEW: 0.0}
    assert values(rates, "rate", subject="ALL", part="subjective") == {PUBLISHED: 0.9, FEW: 0.1}
    right = Counter({FEW: 0})
    for row in printed("ledger")["rows"]:
        right[row["key"]["condition"]] += row["figures"]["correct"]["value"]
    assert right == {PUBLISHED: 3, FEW: 0}
    pairs = printed("agreement")
    assert values(pairs, "pairs", subject="ALL", pair="teacher-teacher") == {PUBLISHED: 3, FEW: 3}
    # one run under each condition: neither has a repeat, and nothing is one of the other
    reasons = [row["figures"]["average"]["reason"] for row in printed("repeats")["rows"]]
    assert set(reasons) == {"too_few_repeats"}


def test_no_file_pools_two_conditions(answers: dict[str, int], admin: User, tmp_path: Path) -> None:
    for name in (*REPORTS, "scores", "marks"):
        file = tmp_path / f"{name}.csv"
        options = ["--dataset", "exam", "--by", "task", "--output", str(file)]
        call_command("export", name, *options)
        rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"))))
        assert {row["condition"] for row in rows} == BOTH, name
        if name in ("scores", "marks"):
            assert {row["repeat"] for row in rows} == {"1"}, "each is a first repeat"
        call_command("export", name, *options, "--condition", FEW)
        kept = list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"))))
        assert kept == [row for row in rows if row["condition"] == FEW], name


def test_no_page_pools_two_conditions(answers: dict[str, int], admin: User) -> None:
    client = logged_in(admin)
    page = client.get("/reports/", {"dataset": "exam"})
    asked = {f"{ALPHA} · {name}" for name in BOTH}
    for table in ("model_lines", "rate_lines", "converted_groups", "ledger_groups"):
        assert {str(line.asked) for line in page.context[table]} == asked, table
    assert {str(row.asked) for row in page.context["agreement_rows"]} == asked
    assert len(set(page.context["colours"].values())) == 2, "one colour for each"
    assert set(page.context["boxes"].data["categories"]) == asked
    rows = client.get("/reports/rows/", {"dataset": "exam", "part": "subjective"})
    rates = {line.asked.condition: line.figures["rate"].value for line in rows.context["sums"]}
    assert rates == {PUBLISHED: 0.9, FEW: 0.1}
    query = {"dataset": "exam", "part": "subjective", "condition": [PUBLISHED, FEW]}
    sums = client.get("/reports/rows/", query).context["sums"]
    assert [str(line.asked) for line in sums[2:]] == [f"{ALPHA} · 2 conditions together"]
    assert sums[2].figures["rate"].value == 0.5, "(0.9 + 0.1) / 2: as many questions of each"
    pairs = client.get("/reports/pairs/", {"dataset": "exam"})
    assert {
        str(one): made["pairs"].value for one, made in pairs.context["groups"]
    } == dict.fromkeys(asked, 3)
    by_judge = {str(line.asked): line.agreement["pairs"].value for line in judge_lines()}
    assert by_judge == dict.fromkeys(asked, 3)
    listed = client.get("/api/v1/judgements/", {"condition": FEW, "judge": JUDGE}).json()
    assert {row["condition"] for row in listed["results"]} == {FEW}
    assert listed["count"] == 3


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"condition": "x"}, f"Available: {PUBLISHED}, {FEW}."),
        ({"run": "999"}, "There is no run 999 with answers to exam."),
    ],
)
def test_what_does_not_exist_is_refused(
    query: dict[str, str], sentence: str, answers: dict[str, int], admin: User
) -> None:
    refused = logged_in(admin).get("/api/v1/reports/rates/", {"dataset": "exam", **query})
    assert refused.status_code == 404
    assert sentence in refused.json()["detail"]
