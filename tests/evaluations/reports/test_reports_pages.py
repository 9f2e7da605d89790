"""The report page: its figures, where they come from, who may look, and the files it gives."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from evaluations.conditions import Asking
from evaluations.facts.params import ReportParams
from evaluations.models import LanguageModel, MarkingRound, Response, RoundTeacher, Run
from evaluations.models.vocabulary import RoundStatus, RunStatus
from evaluations.reports.selectors.reports import build_report
from evaluations.runs.services.conditions import condition_for
from evaluations.statistics.columns import report_table
from evaluations.statistics.figure import Report
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.csv_file import cell
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import (
    ALPHA,
    BETA,
    JUDGE,
    chosen,
    judged,
    mark,
    run_of,
    whole_paper,
    written,
)
from tests.factories import make_endpoint

OVERVIEW = "/reports/"
NAMES = ["rates", "converted", "agreement", "repeats", "ledger"]


@pytest.fixture
def answers(db: None) -> None:
    """Two models in physics and history: choices, marks of teachers, totals of a judge."""
    alpha, beta = run_of(ALPHA), run_of(BETA)
    chosen(alpha, "A", "A", "B", "no letter here")
    chosen(beta, "B", "A", subject=Subject.HISTORY)
    first = written(alpha)
    mark(first, "4", "7")
    judged(first, "8")
    second = written(alpha, Subject.HISTORY)
    mark(second, "5", "5")
    judged(second, None, "over_full_marks", released=[12.0])
    written(beta, Subject.HISTORY)


def page(user: User, **query: object) -> str:
    response = logged_in(user).get(OVERVIEW, query)
    assert response.status_code == 200
    return response.text


def words(html: str) -> str:
    """The text of a page on one line, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


PAGES = [
    ("reports:overview", {}),
    ("reports:rows", {"dataset": "exam"}),
    ("reports:pairs", {"dataset": "exam"}),
    ("reports:export", {"dataset": "exam"}),
]


def test_a_lead_who_marks_sees_reports_when_the_round_is_closed(lead: User, answers: None) -> None:
    marking = MarkingRound.objects.create(
        name="now", dataset=Response.objects.earliest("pk").run.dataset, scheme="1", random_seed=1
    )
    RoundTeacher.objects.create(round=marking, teacher=lead)
    client = logged_in(lead)
    for name, query in PAGES:
        address = reverse(name, args=["rates", "csv"] if name == "reports:export" else [])
        refused = client.get(address, query)
        assert refused.status_code == 403
        assert ALPHA not in refused.text
    marking.status = RoundStatus.CLOSED
    marking.save()
    assert client.get(OVERVIEW).status_code == 200


def test_without_answers_the_page_says_what_to_do(admin: User, curator: User) -> None:
    html = page(admin)
    assert "Start a run, or import published responses" in html
    assert 'href="/runs/"' in html
    without_runs = page(curator).partition("<main")[2]
    assert "/runs/" not in without_runs, "a curator may not see runs"


def shown_reports(user: User, **query: object) -> dict[str, Report]:
    made = logged_in(user).get(OVERVIEW, query).context["reports"]
    return {name: getattr(made, name) for name in NAMES}


@pytest.mark.parametrize("policy", ["strict", "published"])
@pytest.mark.parametrize("marker", ["teachers", f"judge:{JUDGE}"])
@pytest.mark.parametrize("models", [(), (ALPHA,)])
def test_the_page_has_the_figures_of_the_reports(
    policy: str, marker: str, models: tuple[str, ...], admin: User, answers: None
) -> None:
    shown = shown_reports(admin, policy=policy, marker=marker, model=models)
    params = ReportParams("exam", models=models, marker=marker, policy=policy)
    for name in NAMES:
        asked = ReportParams("exam", models, "", policy) if name == "agreement" else params
        assert shown[name] == build_report(name, asked)


def test_figures_stand_with_marker_policy_and_n(admin: User, answers: None) -> None:
    text = words(page(admin))
    assert "objective by answer key, policy strict · subjective by teachers" in text
    # physics of alpha: 12 of 24 points in 4 sub-answers; Wilson's interval of 2 of 4 is 15 to 85
    assert "12 / 24 50.0 % ±35.0 4 0" in text
    # its one marked answer: the mean of 4 and 7, of 10, and no interval from one question
    assert "5.5 / 10 55.0 % 1 0" in text
    by_judge = words(page(admin, marker=f"judge:{JUDGE}", policy="published"))
    assert f"policy as published · subjective by judge model {JUDGE}" in by_judge


def test_what_is_missing_says_why(admin: User, answers: None) -> None:
    text = words(page(admin))
    assert "– no objective scores in Chinese, English, Sciences Mathematics and 2 more" in text
    assert "– nothing scored yet" in text, "nobody has marked beta's answer"
    assert "This dataset gives no total of 750 points" in text, "it has not all subjects"
    assert "too few pairs" in text


def test_both_precisions_stand_under_published(admin: User) -> None:
    whole_paper(run_of())
    text = words(page(admin, policy="published"))
    # every rate is a half: 375 of 750 points, with and without the published roundings
    assert "375.0" in text
    assert "375.000" in text
    assert "375.000" not in words(page(admin))


def test_published_rules_that_meet_our_own_prompts_are_said(admin: User, answers: None) -> None:
    said = "only for responses to the benchmark’s published prompts"
    assert said not in page(admin, policy="published"), "all answers were imported"
    here = make_endpoint("asked-here")
    asked = run_of("asked-here", condition=condition_for(here, Asking()))
    chosen(asked, "A")
    Run.objects.filter(pk=asked.pk).update(status=RunStatus.FINISHED, endpoint=here)
    assert said in page(admin, policy="published")
    assert said not in page(admin), "strict rules expect no prompt"
    assert said not in page(admin, policy="published", model=ALPHA)


def test_the_best_of_two_models_is_marked_and_comes_first(admin: User) -> None:
    whole_paper(run_of(ALPHA))
    whole_paper(run_of(BETA))
    chosen(run_of(BETA), "A", "A")
    response = logged_in(admin).get(OVERVIEW)
    lines = response.context["model_lines"]
    assert [(line.asked.model, line.best) for line in lines] == [(BETA, True), (ALPHA, False)]
    assert '<tr class="best">' in response.text


def test_defaults_are_the_most_scored_dataset_and_who_has_marked(
    admin: User, answers: None
) -> None:
    chosen(run_of(ALPHA, "small"), "A")
    written(run_of(BETA, "unscored"))
    found = logged_in(admin).get(OVERVIEW).context["params"]
    assert (found.dataset, found.marker, found.policy) == ("exam", "teachers", "strict")
    nobody = logged_in(admin).get(OVERVIEW, {"dataset": "small"}).context["params"]
    assert nobody.marker == "teachers"
    judged(written(run_of(ALPHA, "small")), "3")
    only_judge = logged_in(admin).get(OVERVIEW, {"dataset": "small"}).context["params"]
    assert only_judge.marker == f"judge:{JUDGE}"


@pytest.mark.parametrize(
    "query",
    [{"model": "no-such-model"}, {"marker": "judge:nobody"}, {"year": "1066"}],
)
def test_what_does_not_exist_is_left_out_and_said(
    query: dict[str, str], admin: User, answers: None
) -> None:
    html = page(admin, **query)
    assert "does not exist in this dataset and was ignored" in html
    assert "objective by answer key, policy strict" in words(html)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"policy": "kind"}, "There is no “kind”; choose one of: published, strict."),
        ({"dataset": "nothing"}, "There is no “nothing”; choose one of: exam."),
        ({"polcy": "strict"}, "There is no parameter called polcy."),
    ],
)
def test_the_page_refuses_what_no_dataset_has(
    query: dict[str, str], sentence: str, admin: User, answers: None
) -> None:
    response = logged_in(admin).get(OVERVIEW, query)
    assert response.status_code == 400
    assert sentence in words(response.text)


def test_a_year_narrows_every_table(admin: User, answers: None) -> None:
    run = run_of(ALPHA)
    old = written(run, year=2013)
    mark(old, "10", "10")
    shown = shown_reports(admin, year="2013")
    assert [row.key["subject"] for row in shown["rates"].rows] == ["Physics", "ALL"]
    assert shown["agreement"].rows[0].figures["pairs"].value == 1


def links(html: str, path: str) -> list[dict[str, list[str]]]:
    found = re.findall(rf'href="{path}\?([^"]+)"', html)
    return [parse_qs(query.replace("&amp;", "&")) for query in found]


def test_every_rate_leads_to_rows_that_add_up_to_it(admin: User, answers: None) -> None:
    client = logged_in(admin)
    html = page(admin)
    report = build_report("rates", ReportParams("exam", marker="teachers"))
    queries = links(html, "/reports/rows/")
    for row in report.rows:
        key = {name: row.key[name] for name in ("model", "condition", "subject", "part")}
        query = next(q for q in queries if {n: v[0] for n, v in q.items()}.items() >= key.items())
        assert "unscored" not in query or row.figures["rate"].value is None
        rows = client.get("/reports/rows/", query)
        (line,) = [one for one in rows.context["sums"] if one.part == row.key["part"]]
        assert (line.asked, line.figures) == (row.asked, row.figures), key
        listed = rows.context["page"].paginator.object_list
        points = sum(one.points for one in listed if one.points is not None)
        assert points == (row.figures["points"].value or 0)


def test_every_count_of_the_ledger_leads_to_as_many_rows(admin: User, answers: None) -> None:
    client = logged_in(admin)
    queries = [query for query in links(page(admin), "/reports/rows/") if "outcome" in query]
    counts = {
        (row.key["model"], row.key["task"], name): figure.value
        for row in build_report("ledger", ReportParams("exam", marker="teachers")).rows
        for name, figure in row.figures.items()
        if figure.value
    }
    assert len(queries) == len(counts)
    for query in queries:
        model, task, outcome = (query[name][0] for name in ("model", "task", "outcome"))
        rows = client.get("/reports/rows/", query).context["page"].paginator.count
        assert rows == counts[model, task, outcome]


def test_rows_say_marker_outcome_and_reason(admin: User, answers: None) -> None:
    client = logged_in(admin)
    query = {"dataset": "exam", "model": ALPHA, "marker": f"judge:{JUDGE}", "part": "subjective"}
    text = words(client.get("/reports/rows/", query).text)
    assert f"judge model {JUDGE} Not scored: the total is above the full marks – 10" in text
    assert "Partly correct 8 10" in text
    chosen_rows = client.get("/reports/rows/", {"dataset": "exam", "part": "objective"})
    assert "answer key No answer found 0 6" in words(chosen_rows.text)
    assert BETA in chosen_rows.text, "of several models each row names its own"


def test_rows_without_a_marker_in_the_address_name_the_teachers(admin: User, answers: None) -> None:
    rows = logged_in(admin).get("/reports/rows/", {"dataset": "exam", "part": "subjective"})
    assert "subjective by teachers" in words(rows.text)


def test_a_row_leads_to_its_response(admin: User, answers: None) -> None:
    client = logged_in(admin)
    rows = client.get("/reports/rows/", {"dataset": "exam", "model": ALPHA})
    address = reverse("runs:response", args=[Response.objects.earliest("pk").public_id])
    assert f'href="{address}"' in rows.text


def test_rows_come_fifty_a_page_and_the_sum_is_of_all(admin: User) -> None:
    chosen(run_of(), *["A"] * 51)
    client = logged_in(admin)
    first = client.get("/reports/rows/", {"dataset": "exam"})
    assert len(first.context["facts"]) == 50
    second = client.get("/reports/rows/", {"dataset": "exam", "page": "2"})
    assert len(second.context["facts"]) == 1
    assert [line.figures["points"].value for line in second.context["sums"]] == [306]


def test_converted_points_of_a_subject_are_derived_on_its_rows(admin: User) -> None:
    whole_paper(run_of())
    query = {"dataset": "exam", "model": ALPHA, "subject": "Physics"}
    text = words(logged_in(admin).get("/reports/rows/", query).text)
    # halves of the 44 and 66 points of physics
    assert "Converted points of the subject 55.000" in text


def test_pairs_are_listed_the_farthest_apart_first(admin: User, answers: None) -> None:
    response = logged_in(admin).get("/reports/pairs/", {"dataset": "exam", "model": ALPHA})
    found = [(one.pair.x, one.pair.y) for one in response.context["facts"]]
    assert found == [(4.0, 7.0), (5.0, 5.0)]
    assert "4 7 +3.00 1 10" in words(response.text)
    judges = {"dataset": "exam", "pair": f"teachers-judge:{JUDGE}", "subject": "Physics"}
    assert "5.5 8 +2.50 1 10" in words(logged_in(admin).get("/reports/pairs/", judges).text)
    nothing = {"dataset": "exam", "subject": "Biology"}
    assert "No response was marked by both" in logged_in(admin).get("/reports/pairs/", nothing).text


def test_one_pair_says_how_little_it_shows(admin: User) -> None:
    mark(written(run_of(ALPHA)), "4", "6")
    text = words(page(admin))
    assert "Physics 1 too few pairs" in text, "beside the number of pairs, not in a title alone"
    text = words(logged_in(admin).get("/reports/pairs/", {"dataset": "exam"}).text)
    # Wilson's interval of 0 of 1 is 0 to z^2 / (1 + z^2) = 3.8415 / 4.8415.
    assert "equal 95 % interval 0.0–79.3 0.0 %" in text
    assert "limits of agreement, in points too few pairs –" in text
    for points in ("5", "8"):
        mark(written(run_of(ALPHA)), "5", points)
    text = words(logged_in(admin).get("/reports/pairs/", {"dataset": "exam"}).text)
    # The differences are 2, 0 and 3, their mean 5/3 and their variance 7/3.
    low, high = (5 / 3 + sign * 1.959964 * (7 / 3) ** 0.5 for sign in (-1, 1))
    assert f"limits of agreement, in points −{-low:.2f} … +{high:.2f}" in text
    mark(written(run_of("canary-beta")), "5", "5")
    text = words(logged_in(admin).get("/reports/pairs/", {"dataset": "exam"}).text)
    assert "canary-beta · as published 1 100.0 % 20.7–100.0" in text
    assert "– too few pairs" in text


def exported(user: User, name: str, **query: object) -> tuple[bytes, list[list[str]]]:
    response = logged_in(user).get(f"/reports/export/{name}.csv", query)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="exam-{name}.csv"'
    text = response.content.decode("utf-8-sig")
    return response.content, list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", NAMES)
def test_the_file_has_the_figures_of_the_page(name: str, admin: User, answers: None) -> None:
    html = page(admin, marker=f"judge:{JUDGE}", policy="published", model=[ALPHA])
    (query,) = [
        parse_qs(urlsplit(address.replace("&amp;", "&")).query)
        for address in re.findall(r'class="menu-item" href="([^"]+)"', html)
        if f"/{name}.csv" in address
    ]
    content, lines = exported(admin, name, **query)
    shown = shown_reports(admin, marker=f"judge:{JUDGE}", policy="published", model=[ALPHA])
    table = report_table(shown[name])
    assert lines[0] == list(table.columns)
    assert lines[1:] == [[cell(value) for value in row] for row in table.rows]
    entry = AuditEntry.objects.get(tag="report.exported")
    assert entry.actor == admin
    assert entry.detail["report"] == name
    assert entry.detail["rows"] == len(lines) - 1
    assert entry.detail["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry.detail["parameters"]["models"] == [ALPHA]


def test_a_name_that_is_a_formula_is_text_in_the_file_and_on_the_page(
    admin: User, answers: None
) -> None:
    name = '=HYPERLINK("http://x","<img src=x onerror=alert(1)>")'
    LanguageModel.objects.filter(name=ALPHA).update(name=name)
    _, lines = exported(admin, "rates", dataset="exam")
    models = {line[lines[0].index("model")] for line in lines[1:]}
    assert models == {f"'{name}", BETA}
    assert "<img src=x" not in page(admin)


def test_a_refused_export_leaves_no_audit_row(admin: User, answers: None) -> None:
    client = logged_in(admin)
    assert client.get("/reports/export/cuts.csv", {"dataset": "exam"}).status_code == 400
    assert not AuditEntry.objects.filter(tag="report.exported").exists()


@pytest.mark.parametrize("path", ["/reports/rows/", "/reports/pairs/", "/reports/export/rates.csv"])
@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ({}, 400, "Specify the dataset"),
        ({"dataset": "nothing"}, 404, "There is no dataset “nothing”. Available: exam."),
        ({"dataset": "exam", "model": "x"}, 404, f"Available: {ALPHA}, {BETA}."),
        ({"dataset": "exam", "marker": "me"}, 404, f"Available markers: teachers, judge:{JUDGE}."),
        ({"dataset": "exam", "policy": "kind"}, 400, "There is no policy “kind”"),
        ({"dataset": "exam", "year": "soon"}, 400, "“soon” is not a valid year."),
        ({"dataset": "exam", "_connector": "OR"}, 400, "no parameter called _connector."),
    ],
)
def test_bad_addresses_get_a_sentence(
    path: str, query: dict[str, str], status: int, sentence: str, admin: User, answers: None
) -> None:
    response = logged_in(admin).get(path, query)
    assert response.status_code == status
    assert sentence in words(response.text)


@pytest.mark.parametrize("query", [{"part": "half"}, {"outcome": "lucky"}])
def test_rows_refuse_parts_and_outcomes_that_do_not_exist(
    query: dict[str, str], admin: User, answers: None
) -> None:
    response = logged_in(admin).get("/reports/rows/", {"dataset": "exam", **query})
    assert response.status_code == 400
    assert "choose one of" in response.text


def test_the_number_of_queries_does_not_grow(
    admin: User, answers: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client = logged_in(admin)
    client.get(OVERVIEW)
    with django_assert_max_num_queries(100) as few:
        client.get(OVERVIEW)
    chosen(run_of(ALPHA), *["A"] * 20)
    for _ in range(10):
        mark(written(run_of(BETA)), "3", "4")
    client.get(OVERVIEW)  # the first look at single marks is stored
    with django_assert_max_num_queries(100) as many:
        client.get(OVERVIEW)
    assert len(many) == len(few)
    assert len(few) < 48, "three of them are for looks, which a transaction does not keep"
