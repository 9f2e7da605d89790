"""The page of paper tables, and that of prompt settings: page, command, API and file agree."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.management import call_command

from evaluations.conditions import ConditionOrigin, PromptSetting
from evaluations.models import Condition, LanguageModel, Response, Run
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from questions.models import Question, Task
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import chosen, judged, mark, run_of, written
from tests.factories import make_response

PAPERS, SETTINGS = "/reports/papers/", "/reports/settings/"
GPT = "gpt-4-0314"


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def asked_as(model: str, name: str, dataset: str, setting: str = "") -> Run:
    """An imported run of *model* under the condition called *name*."""
    language_model = LanguageModel.objects.get_or_create(name=model)[0]
    condition = Condition.objects.create(
        name=name,
        language_model=language_model,
        setting=setting,
        origin=ConditionOrigin.IMPORTED,
        fingerprint=f"{model} {name}",
    )
    return run_of(model, dataset, condition=condition)


@pytest.mark.django_db
def test_a_cell_stands_beside_the_printed_one_in_both_languages(admin: User) -> None:
    chosen(run_of(GPT, "gaokao-bench"), "A", "A", "B", subject=Subject.PHYSICS)
    Task.objects.update(slug="2010-2022_Physics_MCQs")
    own = run_of("own", "gaokao-bench")
    for total in ("2", "4", "6", "8", "9"):
        judged(answer := written(own), total)
        mark(answer, total, total)
    client = logged_in(admin)
    pages = {
        language: client.get(
            PAPERS, {"paper": "gaokao-bench", "all": "yes"}, headers={"Accept-Language": language}
        ).text
        for language in ("en", "zh-hans")
    }
    for page in pages.values():
        (row,) = re.findall(r"<tr><th[^>]*><span[^>]*>GPT-4-0314</span>.*?</tr>", page, re.S)[:1]
        # The coefficients of a model that the paper does not have: equal marks, and no per cent.
        (table,) = re.findall(r'id="table-6".*?</table>', page, re.S)
        assert "1.000" in text_of(table)
        assert "%" not in text_of(table)
        cells = [text_of(cell) for cell in re.findall(r"<td.*?</td>", row, re.S)]
        # Overall, Chinese, ..., Physics: 2 of 3 here, 55.5 % in the paper.
        unit = "个百分点" if page is pages["zh-hans"] else " pp"
        assert cells[5] == f"66.7 % 55.5 % +11.2{unit} *"
        # The printed cell of a model that is not loaded is known to be wrong, too.
        assert '41.1 %</span> <a href="#table-1-G05">G05</a> <a href="#table-1-G15">G15</a>' in page
        assert cells[1].startswith("– ")
        assert "/reports/rows/?" in row
        assert "NaN" not in page
    assert 'title="not loaded"' not in pages["zh-hans"]
    for words in ("理科数学", "客观题 · 单项选择", "2010–2022年物理选择题", "平均长度"):
        assert words in pages["zh-hans"]
    assert "average_length" not in pages["en"]
    assert "* no reason is known" in text_of(pages["en"])
    assert "* 原因不明" in text_of(pages["zh-hans"])
    reasons = [re.search(r'<span title="([^"]+)">–</span>', page) for page in pages.values()]
    english, chinese = (found[1] for found in reasons if found)
    assert re.fullmatch(r"[A-Za-z’' ,.-]+", english)
    assert re.search("[一-龥]", chinese)


@pytest.mark.django_db
def test_figures_of_agibench_are_drawn_by_prompt(admin: User) -> None:
    """Two questions answered three times: A A B and A A A, where A is right."""
    run = asked_as("GPT-4", "agibench:answer", "agibench")
    first = chosen(run, "A", "A")
    others = []
    for repeat, letters in ((2, "AA"), (3, "BA")):
        for response, letter in zip(first, letters, strict=True):
            other = Response(run=run, question=response.question, revision=response.revision)
            other.text, other.repeat, other.finish_reason = (
                f"【答案】{letter} <eoa>",
                repeat,
                "stop",
            )
            other.save()
            others.append(other)
    score_responses(others)
    client = logged_in(admin)
    page = client.get(PAPERS, {"paper": "agibench", "policy": "strict"})
    drawn = {one.table.id: chart.data for one, chart, _heads in page.context["tables"] if chart}
    (same,), (rates,) = (drawn[name]["series"] for name in ("figure-5", "figure-6"))
    assert same["name"] == rates["name"] == "GPT-4 · asked for the answer"
    assert same["values"] == [50.0, 50.0, 0.0]
    assert rates["values"] == pytest.approx([500 / 6, 50, 100, 100, 100])
    (bars,) = [chart for one, chart, _heads in page.context["tables"] if one.table.id == "figure-6"]
    assert bars.data["categories"][-2:] == ["Majority right (paper)", "Majority answer (ours)"]
    heads = re.findall(r'<th scope="col" class="number">([^<]+?)\s*<', page.text)
    assert heads[-5:] == bars.data["categories"]
    assert 'data-title="AGIBench · Figure 6"' in page.text
    assert page.text.count('data-chart="bar"') == 2
    assert "all_same" not in page.text
    assert '<th scope="col" class="number">All the same' in page.text
    chinese = client.get(
        PAPERS, {"paper": "agibench", "policy": "strict"}, headers={"Accept-Language": "zh-hans"}
    )
    assert "要求作答" in json.dumps(
        [chart.data for _one, chart, _heads in chinese.context["tables"] if chart],
        ensure_ascii=False,
    )
    assert 'data-title="AGIBench · 图6"' in chinese.text


@pytest.mark.django_db
def test_settings_stand_side_by_side_with_what_they_gain(admin: User) -> None:
    zero = asked_as(GPT, "plain", "exam", PromptSetting.ZERO_SHOT)
    few = asked_as(GPT, "with examples", "exam", PromptSetting.FEW_SHOT)
    before = chosen(zero, "A", "B", "B", "B")
    after = [make_response(one.question, few, "【答案】A <eoa>") for one in before[:3]]
    score_responses(after)
    client = logged_in(admin)
    page = client.get(SETTINGS, {"dataset": "exam"})
    text = text_of(page.text)
    assert "Condition plain with examples" in text
    assert "All questions 25.0 %" in text
    by_year = client.get(SETTINGS, {"dataset": "exam", "by": "year"}).text
    assert re.search(r'/reports/export/gains.csv\?[^"]*by=year', by_year)
    (group,) = page.context["gained"]
    gain = dict(group.lines)["ALL"][0]
    # Three questions have points in both: 1 of 3 right before, 3 of 3 after.
    assert (round(gain.value, 6), gain.n) == (0.666667, 3)
    ((_group, chart),) = page.context["groups"]
    assert [one["values"] for one in chart.data["series"]] == [[25.0], [100.0]]
    out = io.StringIO()
    call_command("report", "gains", dataset="exam", format="json", stdout=out)
    body = client.get("/api/v1/reports/gains/", {"dataset": "exam"}).json()
    assert json.loads(out.getvalue()) == body
    assert body["params"]["settings"] == {GPT: {"zero-shot": "plain", "few-shot": "with examples"}}
    file = client.get("/reports/export/gains.csv", {"dataset": "exam"}).content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(file)))
    whole = next(row for row in rows if row["task"] == "ALL")
    assert float(whole["gain"]) == gain.value
    refused = client.get("/api/v1/reports/settings/", {"dataset": "exam", "by": ["task", "year"]})
    assert (refused.status_code, "one key" in refused.json()["detail"]) == (400, True)


@pytest.mark.django_db
def test_one_setting_alone_gains_nothing_and_says_so(admin: User) -> None:
    client = logged_in(admin)
    chosen(run_of(GPT), "A")
    assert "No prompt settings" in client.get(SETTINGS, {"dataset": "exam"}).text
    chosen(asked_as(GPT, "plain", "exam", PromptSetting.ZERO_SHOT), "A")
    text = text_of(client.get(SETTINGS, {"dataset": "exam"}).text)
    assert "A gain needs two settings of one model" in text
    assert "100.0 %" in text


@pytest.mark.django_db
def test_a_figure_of_several_lists_leads_to_each_with_its_sum(admin: User) -> None:
    """Of three questions of the paper two are right, of two later ones one: 50 - 66.7 points."""
    run = run_of(GPT, "gaokao-bench")
    chosen(run, "A", "A", "B", subject=Subject.PHYSICS)
    Task.objects.update(slug="2010-2022_Physics_MCQs")
    before = set(Task.objects.values_list("pk", flat=True))
    chosen(run, "A", "B", subject=Subject.PHYSICS)
    later = Task.objects.exclude(pk__in=before)
    later.update(slug="2023_Physics_MCQs")
    Question.objects.filter(task__in=later).update(year=2023)
    client = logged_in(admin)
    page = client.get(PAPERS, {"paper": "gaokao-bench", "all": "yes"}).text
    (table,) = re.findall(r'id="table-5".*?</table>', page, re.S)
    found = re.findall(r'<a href="(/reports/papers/cell/[^"]*)">(.*?)</a>', table, re.S)
    (address,) = [html.unescape(link) for link, text in found if "16.7" in text]
    shown = client.get(address)
    assert "−16.7" in text_of(re.findall(r'id="lists-title">.*?</h2>', shown.text, re.S)[0])
    lists = [html.unescape(one) for one in re.findall(r'href="(/reports/rows/[^"]*)"', shown.text)]
    sums = [text_of(client.get(one).text) for one in dict.fromkeys(lists)]
    assert ["50.0 %" in sums[0], "66.7 %" in sums[1]] == [True, True]
    query = dict(parse_qsl(urlsplit(address).query))
    wrong = ({"column": "GAOKAO-Bench"}, {"table": "no-such"}, {"model": ""}, {"model": "x"})
    answers = [client.get("/reports/papers/cell/", query | one).status_code for one in wrong]
    assert answers == [400, 400, 404, 404]
