"""The pages of cuts and years: figures of the reports, each with a link to its rows."""

from __future__ import annotations

import re
from decimal import Decimal
from urllib.parse import parse_qs

import pytest

from evaluations.facts.params import ReportParams
from evaluations.reports.selectors.reports import build_report
from gradeapp.accounts.models import User
from questions.models import HumanRate, LabelRevision, Question
from questions.rules.vocabulary import AbilityBranch, Modal
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, BETA, chosen, mark, run_of, written

CUTS = "/reports/cuts/"


@pytest.fixture
def labelled(db: None) -> None:
    """Two models; the choices of the first are labelled and have rates of people."""
    responses = chosen(run_of(ALPHA), "A", "A", "B")
    mark(written(run_of(ALPHA)), "4", "7")
    written(run_of(ALPHA))
    chosen(run_of(BETA), "B")
    labels = (("reasoning", "text"), ("reasoning", "image"), ("common_sense", "text"))
    for response, (branch, modal) in zip(responses, labels, strict=True):
        question = response.question
        question.label = LabelRevision.objects.create(
            question=question, ability_branch=AbilityBranch(branch), modal=Modal(modal)
        )
        question.save(update_fields=["label"])
        HumanRate.objects.create(question=question, value=Decimal("0.6"), source="people")


def links(html: str) -> list[dict[str, list[str]]]:
    found = re.findall(r'href="/reports/rows/\?([^"]+)"', html)
    return [parse_qs(query.replace("&amp;", "&"), keep_blank_values=True) for query in found]


@pytest.mark.parametrize("by", [["ability_branch"], ["ability_branch", "modal"], ["question"]])
def test_every_rate_leads_to_rows_that_add_up_to_it(
    admin: User, labelled: None, by: list[str]
) -> None:
    client = logged_in(admin)
    html = client.get(CUTS, {"dataset": "exam", "by": [*by, ""]}).text
    report = build_report("cuts", ReportParams("exam", by=",".join(by)))
    queries = [query for query in links(html) if "unscored" not in query]
    rates = [row for row in report.rows if "MACRO" not in row.key.values()]
    assert len(queries) == sum(row.figures["rate"].value is not None for row in rates)
    for query in queries:
        cut = dict(one.split(":", 1) for one in query.get("cut", []))
        key = {name: cut.get(name, "ALL") for name in by}
        (row,) = (r for r in rates if r.key.items() >= (key | {"model": query["model"][0]}).items())
        listed = client.get("/reports/rows/", query).context["page"].paginator.object_list
        points = [one for one in listed if one.points is not None]
        assert sum(one.points for one in points) / sum(one.full for one in points) == (
            pytest.approx(row.figures["rate"].value)
        )
        assert len(listed) == row.figures["unscored"].n


def test_the_page_shows_people_and_what_is_not_scored(admin: User, labelled: None) -> None:
    client = logged_in(admin)
    page = client.get(CUTS, {"dataset": "exam"})  # labelled, so by ability branch
    assert page.context["keys"] == ("ability_branch",)
    text = " ".join(re.sub(r"<[^>]+>", " ", page.text).split())
    assert "Reasoning 100.0 % " in text
    assert "+40.0 pp" in text
    assert page.context["bars"].data["series"][-1]["name"] == "Human rate"
    # The written answers have no labels; half of them are marked, too few to show the rate at once.
    assert "None given 1 of 2 marked 55.0 %" in text
    crossed = client.get(CUTS, {"dataset": "exam", "by": ["ability_branch", "modal"]})
    _matrix, heat = crossed.context["crossings"][0]
    assert (heat.kind, [0, 1, 100.0] in heat.data["cells"]) == ("heat", True)
    assert "gap to the human rate" in crossed.text


def test_years_say_what_is_missing(admin: User, labelled: None) -> None:
    page = logged_in(admin).get("/reports/years/", {"dataset": "exam"})
    assert page.context["totals"].empty  # physics alone is no examination
    assert "no objective scores in" in page.text
    Question.objects.update(year=None)
    assert "No response to a question with a year" in logged_in(admin).get("/reports/years/").text


def test_keys_that_are_not_there_get_a_sentence(admin: User, labelled: None) -> None:
    client = logged_in(admin)
    for path, query in ((CUTS, {"by": "hue"}), ("/reports/rows/", {"cut": "hue:red"})):
        response = client.get(path, {"dataset": "exam", **query})
        assert response.status_code == 400
        assert "There is no “hue”; choose one of: task" in response.text
