"""A sample from plan to total: drawn in strata, marked blind, estimated with and without judge."""

from __future__ import annotations

import io
import json
import uuid
from decimal import Decimal

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.facts.params import ReportParams
from evaluations.judging.sampling.selectors import (
    drawn_questions,
    fitness_of,
    objective_rates,
    rows_of,
    state_of,
)
from evaluations.judging.sampling.services import SampleWish, open_sample, plan_sample
from evaluations.models import (
    Attempt,
    Endpoint,
    FinalMark,
    Job,
    Judge,
    Judgement,
    MarkingRound,
    MarkingSample,
    Run,
)
from evaluations.reports.selectors.reports import build_report
from evaluations.schemes import Scheme
from evaluations.statistics.figure import Report, ReportRow
from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, Refusal
from questions.rules.vocabulary import Stream
from tests.conftest import logged_in
from tests.evaluations.report_world import JUDGE, chosen, judged, run_of, written
from tests.evaluations.reports.test_reports_pages import words
from tests.factories import (
    final_mark,
    make_endpoint,
    make_question,
    make_response,
    make_user,
)
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db
EACH = 12
AIDED = f"estimate:judge:{JUDGE}"


@pytest.fixture
def run(db: None) -> Run:
    """A run over the sciences: two choices right of three, and twelve judged answers a subject."""
    made = run_of()
    rng = np.random.default_rng(4)
    for subject in STREAMS[Stream.SCIENCES]:
        chosen(made, "A", "A", "B", subject=subject)
        first = written(made, subject)
        responses = [first] + [
            make_response(make_question(first.question.task, marks=("10",)), made, "因为")
            for _ in range(EACH - 1)
        ]
        for response in responses:
            judged(response, str(int(rng.integers(2, 9))))
    return made


def wish(run: Run, half_width: str = "20", judge: bool = True) -> SampleWish:
    found = Judge.objects.get(name=JUDGE) if judge else None
    return SampleWish(run, found, (Stream.SCIENCES,), Decimal(half_width))


def opened(run: Run, people: list[User], lead: User, **fields: object) -> MarkingSample:
    return open_sample(
        wish(run, **fields),  # type: ignore[arg-type]
        name="Sample",
        teachers=people,
        scheme=Scheme.MEAN,
        acting_user=lead,
        random_seed=5,
    )


def finalize(sample: MarkingSample) -> None:
    """Give each drawn response a final mark: the judge's total, one point less."""
    for answer in sample.round.answers.filter(repeat_of=None).select_related("response"):
        total = answer.response.judgements.get().total
        final_mark(answer, value=total - 1, full=answer.full_marks, rule="mean of two")
    MarkingRound.objects.filter(pk=sample.round_id).update(status="closed")


def test_a_plan_draws_at_random_in_every_stratum(
    run: Run, lead: User, teacher: User, other_teacher: User
) -> None:
    plan = plan_sample(wish(run))
    assert plan.questions == 6 * EACH
    assert all(2 <= one.wanted <= EACH for one in plan.strata)
    assert plan.size == plan.without_judge < 6 * EACH  # nothing known of the judge yet
    assert plan_sample(wish(run, "0.5")).size > plan.size
    for half_width in ("0", "nan", "inf"):
        with pytest.raises(BadInput):
            plan_sample(wish(run, half_width))
    with pytest.raises(BadInput, match="no subjective"):
        plan_sample(SampleWish(run_of("empty"), None, (Stream.SCIENCES,), Decimal(6)))
    printed = io.StringIO()
    options = ["--run", str(run.pk), "--judge", JUDGE, "--within", "20", "--format", "json"]
    call_command("plan_sample", *options, stdout=printed)
    said = json.loads(printed.getvalue())
    assert (said["questions"], said["marked"], said["reason"]) == (72, plan.size, None)
    assert [one["marked"] for one in said["strata"]] == [one.wanted for one in plan.strata]
    sample = opened(run, [teacher, other_teacher], lead)
    assert len(drawn_questions([sample])) == plan.size
    assert {one["drawn"] for one in sample.strata} == {one.wanted for one in plan.strata}
    assert sample.round.status == "open"
    with pytest.raises(Conflict, match="No further question"):
        open_sample(
            wish(run),
            name="Next",
            teachers=[teacher, other_teacher],
            scheme=Scheme.MEAN,
            acting_user=lead,
            follows=sample,
        )


def test_the_total_follows_from_the_sample(
    run: Run, lead: User, teacher: User, other_teacher: User
) -> None:
    sample = opened(run, [teacher, other_teacher], lead)
    assert state_of(sample).totals[0].human_only.reason == "no_data"
    (row,) = totals_of(build_report("converted", ReportParams("exam", marker=AIDED)))
    assert row.figures["total"].reason == "no_data"
    finalize(sample)
    state = state_of(sample)
    (total,) = state.totals
    assert state.marked == state.drawn == total.marked
    # The judge is one point of ten too generous throughout.
    rows = rows_of(run, sample.judge)
    truth = 0.0
    objective = objective_rates(run)
    for subject in STREAMS[Stream.SCIENCES]:
        own = [row.judge or 0 for row in rows if row.subject == subject]
        rate = (sum(own) - len(own)) / (10 * len(own))
        truth += (
            WEIGHTS[subject].objective * objective[subject] + WEIGHTS[subject].subjective * rate
        )
    # An interval misses one draw of twenty, and what is drawn follows from keys. So does that with
    # the judge: few marks of a stratum that are all equal do not tell how the judge follows them.
    for figure in (total.human_only, total.aided):
        assert figure.low is not None
        assert figure.high is not None
        by = figure.high - figure.low
        assert figure.low - by < truth < figure.high + by
    report = build_report("converted", ReportParams("exam", marker=f"judge:{JUDGE}"))
    physics = next(row for row in report.rows if row.key["subject"] == "Physics")
    assert physics.figures["objective"].value == pytest.approx(44 * objective["Physics"])  # type: ignore[index]
    # Now the judge can be compared: it follows the teachers, and saves work.
    fitness = fitness_of(wish(run).judge, run)  # type: ignore[arg-type]
    assert (fitness.reason, fitness.pairs) == ("", state.drawn)
    assert fitness.correlation == pytest.approx(1)
    assert total.aided.high - total.aided.low < total.human_only.high - total.human_only.low  # type: ignore[operator]
    check_report(sample, logged_in(lead))
    following = open_sample(
        wish(run, "3"),
        name="Next",
        teachers=[teacher, other_teacher],
        scheme=Scheme.MEAN,
        acting_user=lead,
        follows=sample,
    )
    assert not drawn_questions([sample]) & drawn_questions([following])
    finalize(following)
    assert state_of(sample).marked > state.marked
    judge = wish(run).judge
    assert judge is not None
    judge.suspended_at = timezone.now()
    judge.save()
    (total,) = state_of(MarkingSample.objects.get(pk=sample.pk)).totals
    assert total.aided.reason == "judge_suspended"
    assert total.human_only.value is not None


def follow(sample: MarkingSample, people: list[User], lead: User, width: str) -> MarkingSample:
    return open_sample(
        wish(sample.run, width),
        name="Next",
        teachers=people,
        scheme=Scheme.MEAN,
        acting_user=lead,
        follows=sample,
    )


def test_a_running_sample_is_extended_by_what_is_missing(
    run: Run, lead: User, teacher: User, other_teacher: User
) -> None:
    """What waits for its final mark is counted on; what a closed round left is drawn again."""
    people = [teacher, other_teacher]
    sample = opened(run, people, lead)
    drawn = drawn_questions([sample])
    state = state_of(sample)
    assert (state.waiting, state.left, plan_sample(wish(run), state).next) == (drawn, set(), 0)
    plan = plan_sample(wish(run, "8"), state)
    assert (plan.drawn, plan.next) == (len(drawn), plan.size - len(drawn))
    assert all(one.waiting == one.drawn > 1 for one in plan.strata)
    client = logged_in(lead)
    address = reverse("judging:sample", args=[sample.public_id])
    page = words(client.get(address).text)
    assert "No further question has to be drawn now" in page
    assert f"{len(drawn)} questions wait for their final mark" in page
    MarkingSample.objects.update(half_width=8)
    page = words(client.get(address).text)
    assert f"Mark {plan.next} more questions" in page
    assert "The marks so far give no interval" in page
    following = follow(sample, people, lead, "8")
    added = drawn_questions([following])
    assert (len(added), added & drawn) == (plan.next, set())
    with pytest.raises(Conflict, match="extended meanwhile"):
        follow(sample, people, lead, "3")
    MarkingRound.objects.filter(pk=following.round_id).update(status="closed")
    state = state_of(MarkingSample.objects.get(pk=sample.pk))
    assert (state.waiting, state.left) == (drawn, added)
    assert f"{len(added)} questions were left without a final mark" in words(
        client.get(address).text
    )
    again = follow(following, people, lead, "8")
    assert drawn_questions([again]) == added


def totals_of(report: Report) -> list[ReportRow]:
    return [row for row in report.rows if row.key["subject"] == "ALL"]


def check_report(sample: MarkingSample, client: Client) -> None:
    """The total of the sample in ``converted``: command, API, page and file, with its marker."""
    everything = build_report("converted", ReportParams("exam")).rows
    markers = {row.key["marker"] for row in everything}
    assert markers == {"teachers", f"judge:{JUDGE}", AIDED, "estimate:teachers"}
    report = build_report("converted", ReportParams("exam", marker=AIDED))
    (total,) = totals_of(report)
    assert total.key == {
        **{"model": sample.run.language_model.name, "condition": sample.run.condition.name},  # type: ignore[union-attr]
        **{"stream": "sciences", "subject": "ALL", "marker": AIDED, "policy": "strict"},
        **{"run": str(sample.run_id), "sample": str(sample.public_id)},
    }
    figure, rate = total.figures["total"], total.figures["rate"]
    (state,) = state_of(sample).totals
    assert figure == state.aided
    assert total.figures["total_at_every_look"] == state.aided_always
    objective = objective_rates(sample.run)
    known = sum(WEIGHTS[one].objective * objective[one] for one in STREAMS[Stream.SCIENCES])
    subjective = sum(WEIGHTS[one].subjective for one in STREAMS[Stream.SCIENCES])
    assert known + subjective * rate.value == pytest.approx(figure.value)  # type: ignore[operator]
    subjects = [row for row in report.rows if row.key["subject"] != "ALL"]
    assert sum(row.figures["total"].n for row in subjects) == figure.n
    together = sum(row.figures["total"].value or 0 for row in subjects)
    # Each subject has an estimate of its own, from few marks.
    assert together == pytest.approx(figure.value, rel=0.05)
    printed = io.StringIO()
    options = ["--dataset", "exam", "--marker", "estimate:teachers", "--format", "json"]
    call_command("report", "converted", *options, stdout=printed)
    alone = json.loads(printed.getvalue())["rows"][-1]
    assert alone["figures"]["total"]["value"] == pytest.approx(state.human_only.value)
    said = client.get("/api/v1/reports/converted/", {"dataset": "exam", "marker": AIDED}).json()
    assert said["rows"] == report.as_dict()["rows"]
    looks = AuditEntry.objects.filter(
        tag=Tag.ROUND_VIEWED, target=f"markinground:{sample.round_id}"
    )
    assert looks.count() == 1
    page = words(client.get(reverse("reports:overview"), {"dataset": "exam"}).text)
    assert f"estimate: judge model {JUDGE} and teachers’ sample" in page
    assert looks.count() == 2
    published = client.get(reverse("reports:overview"), {"dataset": "exam", "policy": "published"})
    assert "Totals from samples" not in published.text
    address = reverse("reports:export", args=["converted", "csv"])
    assert AIDED in client.get(address, {"dataset": "exam"}).text
    for name, params in (
        ("rates", ReportParams("exam", marker=AIDED)),
        ("converted", ReportParams("exam", marker=AIDED, policy="published")),
        ("converted", ReportParams("exam", marker=AIDED, year=2022)),
        ("converted", ReportParams("exam", marker="estimate:judge:nobody")),
    ):
        with pytest.raises(Refusal):
            build_report(name, params)


def test_who_looked_at_a_sample_does_not_mark_its_next_part(
    run: Run, lead: User, teacher: User, other_teacher: User
) -> None:
    sample = opened(run, [teacher, other_teacher], lead)
    finalize(sample)
    both = also(other_teacher, [Role.LEAD])
    assert logged_in(both).get(f"/api/v1/samples/{sample.public_id}/").status_code == 200
    people = {"name": "Winter", "teachers": [teacher.username, both.username], "scheme": "mean"}
    MarkingSample.objects.update(half_width=2)
    following = f"/api/v1/samples/{sample.public_id}/next/"
    refused = logged_in(lead).post(following, people, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "looked")
    also(teacher, [Role.LEAD])
    MarkingSample.objects.update(created_by=teacher)
    people["teachers"] = [teacher.username, make_user(Role.TEACHER, "zhou").username]
    refused = logged_in(lead).post(following, people, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "planned")
    MarkingSample.objects.update(created_by=lead)
    made = logged_in(lead).post(following, people, "application/json")
    assert made.status_code == 201, made.json()
    assert len(made.json()["rounds"]) == 2
    assert made.json()["marked"] < made.json()["drawn"]


def test_the_api_of_samples(run: Run, lead: User, teacher: User, other_teacher: User) -> None:
    client = logged_in(lead)
    body = {"run": run.pk, "judge": JUDGE, "streams": ["sciences"], "half_width": "20"}
    plan = client.post("/api/v1/samples/plan/", body, "application/json").json()
    expected = plan_sample(wish(run))
    assert (plan["questions"], plan["wanted"], plan["next"]) == (72, expected.size, expected.size)
    assert plan["reason"] is None
    pair = [teacher.username, other_teacher.username]
    people = {"name": "Autumn", "teachers": pair, "scheme": "mean"}
    asked = body | people | {"idempotency_key": "once"}
    made = client.post("/api/v1/samples/", asked, "application/json")
    again = client.post("/api/v1/samples/", asked, "application/json")
    assert again.json() == made.json()
    other = client.post("/api/v1/samples/", asked | {"name": "Winter"}, "application/json")
    assert (other.status_code, other.json()["code"]) == (422, "other_request")
    assert made.status_code == 201, made.json()
    sample = MarkingSample.objects.get()
    assert made.json()["id"] == str(sample.public_id)
    assert client.get("/api/v1/samples/").json()["results"] == [made.json()]
    finalize(sample)
    said = client.get(f"/api/v1/samples/{sample.public_id}/").json()
    assert said["marked"] == said["drawn"] == expected.size
    (total,) = said["totals"]
    (figure,) = state_of(sample).totals
    assert total["with_judge"] == figure.aided.as_dict()
    assert total["teachers_alone"] == figure.human_only.as_dict()
    wrong: list[dict[str, object]] = [{"run": 0}, {"judge": "nobody"}, {"streams": []}]
    wrong += [{"half_width": "0"}, {"half_width": "NaN"}, {"streams": ["art"]}, {"random_seed": 1}]
    for one in wrong:
        refused = client.post("/api/v1/samples/plan/", body | one, "application/json")
        assert refused.status_code == 400, one
    assert client.get("/api/v1/samples/?model=x").status_code == 400
    assert logged_in(teacher).get(f"/api/v1/samples/{sample.public_id}/").status_code == 403


def test_the_plan_names_the_price_of_a_judgement_with_its_currency(run: Run, lead: User) -> None:
    judge = Judge.objects.get(name=JUDGE)
    endpoint = make_endpoint()
    Endpoint.objects.filter(pk=endpoint.pk).update(currency="USD")
    Judge.objects.filter(pk=judge.pk).update(endpoint=endpoint)
    judging = Run.objects.create(
        purpose="judge",
        language_model=endpoint.language_model,
        endpoint=endpoint,
        dataset=run.dataset,
        judged_run=run,
        judge=judge,
        status="finished",
    )
    for repeat, judgement in enumerate(judge.judgements.order_by("pk")[:2], start=1):
        question = judgement.response.question
        job = Job.objects.create(
            run=judging, question=question, revision=question.current, repeat=repeat
        )
        attempt = Attempt.objects.create(
            job=job,
            number=1,
            fence=1,
            status="answered",
            sent_at=timezone.now(),
            cost=Decimal("0.03") * repeat,
        )
        Judgement.objects.filter(pk=judgement.pk).update(attempt=attempt)
    given = {"run": run.pk, "judge": judge.pk, "streams": ["sciences"], "half_width": "20"}
    page = logged_in(lead).post(reverse("judging:sample-new"), given | {"plan": "yes"})
    assert page.status_code == 200
    assert "cost $ 0.0450 on average" in words(page.text)


def test_who_opens_a_sample_does_not_mark_in_it(
    run: Run, lead: User, teacher: User, other_teacher: User
) -> None:
    """All its responses are of one run, and who opens it has chosen that."""
    both = also(teacher, [Role.LEAD])
    given = {"run": run.pk, "judge": "", "streams": ["sciences"], "half_width": "20", "open": "yes"}
    given |= {"name": "Own", "teachers": [both.pk, other_teacher.pk], "scheme": "mean"}
    refused = logged_in(both).post(
        reverse("judging:sample-new"), given, headers={"Accept-Language": "en"}
    )
    assert refused.status_code == 400
    assert "knows the model, so cannot mark" in refused.text
    assert not MarkingRound.objects.exists()
    sent = logged_in(lead).post(reverse("judging:sample-new"), given)
    assert sent.status_code == 400, "they have asked for its plan"
    given["teachers"] = [make_user(Role.TEACHER, "zhou").pk, other_teacher.pk]
    given["key"] = str(uuid.uuid4())
    for _ in range(2):
        assert logged_in(lead).post(reverse("judging:sample-new"), given).status_code == 302
    other = logged_in(lead).post(reverse("judging:sample-new"), given | {"name": "Other"})
    assert other.status_code == 400
    assert "Another round was created from this form." in other.text
    assert MarkingRound.objects.count() == 1


def test_the_pages_of_samples(run: Run, lead: User, teacher: User, other_teacher: User) -> None:
    client = logged_in(lead)
    assert "No samples yet" in client.get(reverse("judging:samples")).text
    given = {
        "run": run.pk,
        "judge": Judge.objects.get(name=JUDGE).pk,
        "streams": ["sciences"],
        "half_width": "20",
    }
    page = client.post(reverse("judging:sample-new"), given | {"plan": "yes"})
    assert page.status_code == 200
    assert "of 72 questions" in words(page.text)
    assert "spread evenly" not in page.text
    assert len(page.context["chart"].data["series"]) == 2
    assert "No price of a judgement is known." in page.text
    alone = client.post(reverse("judging:sample-new"), given | {"judge": "", "plan": "yes"})
    assert len(alone.context["chart"].data["series"]) == 1, "no line of a judge that is not chosen"
    assert "saved by the judge model" not in alone.text
    assert "saved by the judge model" in page.text
    assert "spread evenly" in alone.text
    assert 12 < alone.context["plan"].size <= 72  # more than two of each of the six tasks
    people = {"name": "Autumn", "teachers": [teacher.pk, other_teacher.pk], "scheme": "mean"}
    form = given | people | {"open": "yes", "key": str(page.context["people"]["key"].value())}
    made = client.post(reverse("judging:sample-new"), form)
    assert client.post(reverse("judging:sample-new"), form).url == made.url, "sent again"
    sample = MarkingSample.objects.get()
    assert made.url == reverse("judging:sample", args=[sample.public_id])
    assert "0 of" in words(client.get(made.url).text)
    looked = AuditEntry.objects.filter(tag=Tag.ROUND_VIEWED, actor=lead)
    assert looked.count() == 1  # a lead who saw the totals cannot mark in this round
    refused = client.post(reverse("judging:sample-next", args=[sample.public_id]), {})
    assert (refused.status_code, looked.count()) == (400, 2)  # a refused form shows them too
    finalize(sample)
    MarkingSample.objects.update(half_width=2)
    text = words(client.get(made.url).text)
    assert "teachers alone" in text
    assert "more questions" in text
    following = reverse("judging:sample-next", args=[sample.public_id])
    assert client.post(following, {}).status_code == 400
    assert client.post(following, people | {"name": "Winter"}).url == made.url
    assert FinalMark.objects.count() == sample.round.answers.filter(repeat_of=None).count()
    bad = client.post(reverse("judging:sample-new"), given | {"half_width": "0"})
    assert bad.status_code == 400
