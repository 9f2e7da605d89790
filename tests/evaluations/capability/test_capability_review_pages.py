"""The lead's pages of a capability review: opening, figures with their rows, files, closing."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from evaluations.models import CapabilityReview, Run
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round
from tests.evaluations.review_world import called, items_of, review_of, say, wrong_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return wrong_answers(3)


@pytest.fixture
def judged(run: Run, teacher: User, other_teacher: User) -> CapabilityReview:
    """Three answers, two of them judged twice and one by the first teacher alone.

    Reasoning: 1 and 1, 0 and 1, 0: means 1, 0.5, 0 over three answers, 50 %.
    """
    review = review_of(run, [teacher, other_teacher], reviewers_each=2)
    first, second, third = items_of(review)
    say(first, teacher, "ukrc", "multi_hop", note="first words")
    say(first, other_teacher, "ukrc", "multi_hop")
    say(second, teacher, "uk", "multi_hop", "formulas", na="c")
    say(second, other_teacher, "ukr", na="c")
    say(third, teacher, "", note="=1+1")
    return review


def settings(run: Run, *reviewers: User, **fields: Any) -> dict[str, Any]:
    return {
        "name": "Errors of physics",
        "runs": [run.pk],
        "reviewers": [person.pk for person in reviewers],
        "policy": "strict",
        "per_task": 100,
        "reviewers_each": 1,
        "random_seed": 7,
    } | fields


def test_the_sample_and_the_load_are_shown_before_it_opens(
    run: Run, lead: User, teacher: User, other_teacher: User
) -> None:
    form = settings(run, teacher, other_teacher) | {"preview": "yes"}
    page = logged_in(lead).post(reverse("reviews:new"), form, headers={"HX-Request": "true"})
    text = " ".join(page.text.split())
    assert "<strong>3</strong> wrong answers in the sample." in text
    assert "<strong>3</strong>, <strong>1</strong> or <strong>2</strong> for each" in text
    assert "<!doctype" not in page.text
    twice = logged_in(lead).post(reverse("reviews:new"), form | {"reviewers_each": 2})
    assert "<strong>6</strong>, <strong>3</strong> for each" in twice.text
    assert not CapabilityReview.objects.exists()


def test_a_review_is_opened_and_listed(run: Run, lead: User, teacher: User) -> None:
    client = logged_in(lead)
    assert "No reviews yet" in client.get(reverse("reviews:list")).text
    opened = client.post(reverse("reviews:new"), settings(run, teacher), follow=True)
    assert "The review has started" in opened.text
    review = CapabilityReview.objects.get()
    assert (review.created_by, review.items.count(), list(review.reviewers.all())) == (
        lead,
        3,
        [teacher],
    )
    listed = client.get(reverse("reviews:list")).text
    assert "Errors of physics" in listed
    assert "0 / 3" in listed


def test_a_form_that_is_sent_again_opens_one_review(run: Run, lead: User, teacher: User) -> None:
    client = logged_in(lead)
    page = client.get(reverse("reviews:new"))
    key = str(page.context["form"]["key"].value())
    assert f'name="key" value="{key}"' in page.text
    sent = settings(run, teacher, key=key)
    first, again = (client.post(reverse("reviews:new"), sent) for _ in range(2))
    assert (first.status_code, again["Location"]) == (302, first["Location"])
    assert CapabilityReview.objects.count() == 1


def test_what_cannot_be_opened_is_said_in_the_form(run: Run, lead: User, teacher: User) -> None:
    client = logged_in(lead)
    page = client.post(reverse("reviews:new"), settings(run, teacher, reviewers_each=2))
    assert page.status_code == 400
    assert "are required, and 1 selected" in page.text
    page = client.post(reverse("reviews:new"), {"name": "Errors"})
    assert "Choose at least one run." in page.text
    assert not CapabilityReview.objects.exists()


def test_the_page_shows_every_figure_with_its_n(judged: CapabilityReview, lead: User) -> None:
    page = logged_in(lead).get(reverse("reviews:review", args=[judged.public_id]))
    (task,) = page.context["result"].tasks
    shares = {one.value: (figure.value, figure.n) for one, figure in task.shares.items()}
    two_thirds = pytest.approx(2 / 3)
    assert shares == {
        "understanding": (two_thirds, 3),
        "knowledge": (two_thirds, 3),
        "reasoning": (0.5, 3),
        "calculation": (0.5, 2),
    }
    named = dict(page.context["result"].weaknesses[2][1])
    assert (named["multi_hop"].answers, named["multi_hop"].both) == (2, 1)
    text = " ".join(page.text.split())
    assert "50.0 %" in text
    assert "1 of 2 responses is judged differently." in text
    assert AuditEntry.objects.filter(tag=Tag.REVIEW_VIEWED, actor=lead).count() == 1


def test_a_task_without_calculation_has_no_figure_there(
    judged: CapabilityReview, lead: User
) -> None:
    called("lsat-lr", items_of(judged)[0].question.task)
    page = logged_in(lead).get(reverse("reviews:review", args=[judged.public_id]))
    assert "not judged" in page.text
    series = {one["name"]: one["values"] for one in page.context["chart"].data["series"]}
    assert series["Reasoning"] == [50.0]
    assert series["Calculation"] == [None]


def test_each_figure_leads_to_its_answers(judged: CapabilityReview, lead: User) -> None:
    client, where = logged_in(lead), reverse("reviews:answers", args=[judged.public_id])

    def found(**query: str) -> int:
        page = client.get(where, query)
        assert page.status_code == 200
        return page.context["page"].paginator.count

    task = items_of(judged)[0].question.task.slug
    assert found() == found(task=task) == 3
    assert found(task=task, dimension="calculation") == 2
    assert found(dimension="calculation", value="na") == 1
    assert found(dimension="reasoning", value="1") == found(dimension="reasoning", value="0") == 2
    assert found(weakness="multi_hop") == 2
    assert found(differ="yes") == 1
    assert found(task="another") == found(run="999") == 0
    page = client.get(where, {"differ": "yes"}).text
    assert reverse("runs:response", args=[items_of(judged)[1].response.public_id]) in page
    assert "apart" in page


def test_two_conditions_are_looked_at_one_by_one(run: Run, lead: User, teacher: User) -> None:
    other = wrong_answers(1, "canary-other")
    review = review_of([run, other], [teacher])
    for item in items_of(review):
        say(item, teacher, "u" if item.response.run == other else "")
    page = logged_in(lead).get(reverse("reviews:review", args=[review.public_id]))
    (first,) = page.context["result"].tasks
    assert (first.judged, page.context["condition"]) == (3, run.condition)
    assert f"?condition={other.condition.public_id}" in page.text
    query = {"condition": str(other.condition.public_id)}
    (second,) = logged_in(lead).get(page.request["PATH_INFO"], query).context["result"].tasks
    assert second.judged == 1
    behind = reverse("reviews:answers", args=[review.public_id])
    assert len(logged_in(lead).get(behind, query).context["rows"]) == 1
    body = logged_in(lead).get(reverse("api-capability-review", args=[review.public_id])).json()
    shares = {row["key"]["model"]: row["figures"]["share"]["n"] for row in body["rows"]}
    assert shares == {run.language_model.name: 3, "canary-other": 1}
    one = logged_in(lead).get(page.request["PATH_INFO"], {"run": str(other.pk)})
    (task,) = one.context["result"].tasks
    assert [figure.value for figure in task.shares.values()] == [1.0, 0.0, 0.0, 0.0]
    assert f"run={other.pk}" in one.text


def test_files_hold_the_figures_and_every_judgement(
    judged: CapabilityReview, lead: User, teacher: User
) -> None:
    item = items_of(judged)[0]
    say(item, teacher, "", "similar_concepts", based_on_version=1)
    client = logged_in(lead)

    def rows(name: str) -> list[dict[str, str]]:
        file = client.get(reverse("reviews:export", args=[judged.public_id, name]))
        assert file["Content-Type"] == "text/csv; charset=utf-8"
        return list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))

    given = rows("judgements")
    assert len(given) == 6
    mine = [
        row
        for row in given
        if row["reviewer"] == "tao" and row["question"] == item.question.external_id
    ]
    assert [(row["version"], row["counts"], row["reasoning"]) for row in mine] == [
        ("1", "no", "1"),
        ("2", "yes", "0"),
    ]
    assert mine[1]["weaknesses"] == "similar_concepts"
    assert {row["model"] for row in given} == {"canary-gpt-7f3a"}
    assert {row["points"] for row in given} == {"0.00"}
    assert "'=1+1" in {row["note"] for row in given}
    figures = {row["dimension"]: row for row in rows("figures")}
    assert (figures["reasoning"]["share"], figures["reasoning"]["share_n"]) == (str(1 / 3), "3")
    assert figures["reasoning"]["policy"] == "strict"
    assert AuditEntry.objects.filter(tag=Tag.EXPORTED, actor=lead).count() == 2
    assert (
        client.get(reverse("reviews:export", args=[judged.public_id, "nothing"])).status_code == 404
    )


def test_closing_keeps_every_judgement(judged: CapabilityReview, lead: User) -> None:
    client = logged_in(lead)
    page = client.post(reverse("reviews:close", args=[judged.public_id]), follow=True)
    assert "Every verdict is kept." in page.text
    assert "Close review" not in page.text
    assert client.post(reverse("reviews:close", args=[judged.public_id])).status_code == 409
    assert (
        client.get(reverse("reviews:answers", args=[judged.public_id]))
        .context["page"]
        .paginator.count
        == 3
    )


@pytest.mark.parametrize("where", ["reviews:review", "reviews:answers", "api-capability-review"])
def test_a_lead_who_reviews_or_marks_stays_blind(
    where: str, run: Run, teacher: User, other_teacher: User, lead: User
) -> None:
    both = ensure_user(
        "both", roles=[Role.LEAD, Role.TEACHER], display_name="both", password="x" * 12
    )
    review = review_of(run, [teacher])
    address = reverse(where, args=[review.public_id])
    assert logged_in(both).get(address).status_code == 200
    mine = review_of(run, [both], name="Review 2")
    assert logged_in(both).get(address).status_code == 403
    assert logged_in(both).get(reverse("reports:overview")).status_code == 403
    logged_in(lead).post(reverse("reviews:close", args=[mine.public_id]))
    assert logged_in(both).get(address).status_code == 200
    small_round([both, other_teacher])
    assert logged_in(both).get(address).status_code == 403


def test_there_is_no_such_review(lead: User) -> None:
    nothing = "00000000-0000-4000-8000-000000000007"
    client = logged_in(lead)
    for name in ("review", "answers"):
        assert client.get(reverse(f"reviews:{name}", args=[nothing])).status_code == 404
