"""A model suggests labels and rubric drafts: every reply is kept, none is paid for twice."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from evaluations.models import (
    Attempt,
    Endpoint,
    Job,
    ObjectiveScore,
    Response,
    Run,
    SuggestionReading,
)
from evaluations.models.vocabulary import Asks
from evaluations.runs.services.generation import look_for_work
from evaluations.runs.services.runs import retry_failed
from evaluations.suggesting.selectors import suggested
from evaluations.suggesting.services.suggested import keep_suggested
from evaluations.suggesting.services.suggesting import (
    Wanted,
    estimate_suggesting,
    start_suggesting,
)
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput, Conflict, Refusal
from questions.models import Dataset, LabelOpinion, LabelRevision, Question, Rubric
from questions.rules.vocabulary import ItemStatus, QuestionType
from questions.selectors.bank import by_place
from questions.services.label_rows import ensure_taxonomy
from tests.evaluations.run_world import worked as work
from tests.factories import make_dataset, make_question, make_rubric, make_task
from tests.scripted_server import Fault, ScriptedServer, named_fault
from tests.waiting import after

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries")]
LABELS = '{"ability_branch": "reasoning", "knowledge": "logical-judgment", "difficulty": 3}'
POINTS = '[{"sub": 1, "text": "the law", "points": 4}, {"sub": 2, "text": "the end", "points": 6}]'


def items(n: int, question_type: QuestionType = QuestionType.SINGLE_CHOICE) -> list[Question]:
    task = make_task(make_dataset(), question_type=question_type)
    marks = ("4", "6") if question_type is QuestionType.OPEN_ENDED else ("6",)
    return [make_question(task, marks=marks, stem=f"Question Q{place}?") for place in range(n)]


def wanted(endpoint: Endpoint, asks: Asks = Asks.LABELS, **changes: Any) -> Wanted:
    dataset = Dataset.objects.get(slug="exam")
    given = {"questions": by_place(), "limit": 100, **changes}
    return Wanted(endpoint=endpoint, asks=asks, dataset=dataset, **given)


def says(replies: dict[str, str | list[Fault]], finish: str = "stop") -> object:
    """A fault script: by the question in the prompt, a reply or the faults before ``LABELS``."""
    left = {name: list(said) for name, said in replies.items() if not isinstance(said, str)}

    def fault(prompt: str) -> Fault:
        name = next(name for name in replies if f"{name}?" in prompt)
        if left.get(name):
            return left[name].pop(0)
        said = replies[name]
        text = said if isinstance(said, str) else LABELS

        def change(completion: dict[str, Any]) -> dict[str, Any]:
            choice = completion["choices"][0]
            choice["message"]["content"], choice["finish_reason"] = text, finish
            return completion

        return Fault(change=change)

    return fault


def faults(run: Run) -> dict[str, str]:
    """Return the fault of each reply by the question's stem, empty where it was taken."""
    rows = SuggestionReading.objects.filter(response__run=run)
    return dict(rows.values_list("response__revision__stem", "fault"))


def test_labels_through_readable_unreadable_and_failing_replies(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    questions = items(6)
    server.endpoint.faults = says(
        {
            "Q0": LABELS,
            "Q1": f"Here:\n```json\n{LABELS}\n```",
            "Q2": "I think it is about logic.",
            "Q3": LABELS.replace("logical-judgment", "phlogiston"),
            "Q4": [named_fault("rate_limit", retry_after="0")] * 2,
            "Q5": [named_fault("server_error")] * 2,
        }
    )
    run = work(start_suggesting(wanted(endpoint), acting_user=admin))
    assert (run.status, run.purpose) == ("finished", "suggest")
    assert Counter(run.jobs.values_list("status", flat=True)) == {"done": 6}
    assert server.ledger.billed == 6, "an error is not billed, an unreadable reply not asked again"
    assert faults(run) == {
        "Question Q0?": "",
        "Question Q1?": "",
        "Question Q2?": "no_json",
        "Question Q3?": "unknown_value",
        "Question Q4?": "",
        "Question Q5?": "",
    }
    made = LabelOpinion.objects.order_by("question")
    assert [one.question_id for one in made] == [questions[n].pk for n in (0, 1, 4, 5)]
    for one in made:
        assert (one.model_name, one.author) == ("scripted-demo", None)
        assert (one.ability_branch, one.difficulty, one.modal) == ("reasoning", 3, "")
        assert one.knowledge is not None
        assert one.knowledge.slug == "logical-judgment"
    assert not LabelRevision.objects.exists(), "a suggestion is no label"
    assert not ObjectiveScore.objects.exists(), "and no answer"
    found = suggested(run)
    assert found is not None
    assert (found.kept, found.unreadable) == (4, 2)
    assert found.reasons == (("no_json", 1), ("unknown_value", 1))
    refused = found.refused[1]
    assert refused.fault_values == {"label": "knowledge", "value": "phlogiston"}
    assert "phlogiston" in refused.response.text, "the reply is kept whole"


def test_what_is_asked_is_what_the_run_keeps(
    server: ScriptedServer, endpoint: Endpoint, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    items(1)
    run = start_suggesting(wanted(endpoint), acting_user=admin)
    kept = run.run_settings["prompt"]["zh"]
    assert run.run_settings["asks"] == "labels"
    Run.objects.update(run_settings={**run.run_settings, "prompt": {"zh": "as it was told then"}})
    work(run)
    sent = json.loads(server.requests[-1].body)
    system, user = (message["content"] for message in sent["messages"])
    assert system == "as it was told then", "not what the code says by now"
    assert "logical-judgment" in kept
    assert "【标准答案】\nA" in user
    assert (sent["temperature"], sent["model"]) == (0.0, "scripted-demo")


def test_a_second_pass_makes_nothing_twice(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    items(2)
    server.endpoint.faults = says({"Q0": LABELS, "Q1": "no"})
    run = work(start_suggesting(wanted(endpoint), acting_user=admin))
    assert keep_suggested(run) == 0
    # As a worker leaves it that was killed between the answers and what is made of them:
    SuggestionReading.objects.all().delete()
    LabelOpinion.objects.all().delete()
    Run.objects.update(status="running")
    look_for_work()
    assert LabelOpinion.objects.count() == 1
    assert SuggestionReading.objects.count() == 2
    assert (Response.objects.count(), server.ledger.billed) == (2, 2)


def test_a_rubric_draft_waits_for_a_person(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    items(1)
    first, second, third = items(3, QuestionType.OPEN_ENDED)
    replies = {"Q0": POINTS, "Q1": POINTS.replace("4", "3"), "Q2": POINTS.replace("4", "-4")}
    server.endpoint.faults = says(replies)
    run = work(start_suggesting(wanted(endpoint, Asks.RUBRIC), acting_user=admin))
    assert run.jobs.count() == 3, "only what subjective questions have a rubric"
    made = {one.question_id: one for one in Rubric.objects.prefetch_related("points")}
    assert set(made) == {first.pk, second.pk}
    for one in made.values():
        assert (one.accepted, one.model_name, one.created_by) == (False, "scripted-demo", admin)
    assert [p.points for p in made[first.pk].points.all()] == [4, 6]
    assert [p.points for p in made[second.pk].points.all()] == [3, 6], "left to a person"
    refused = SuggestionReading.objects.get(response__question=third)
    assert refused.fault == "point_out_of_range"
    assert refused.fault_values == {"point": 1, "points": "-4", "most": "300"}
    assert keep_suggested(run) == 0


@pytest.mark.parametrize("marks", [("10",), ("4", "6")], ids=["the marks too", "the text alone"])
def test_a_rubric_for_a_question_that_has_changed_is_refused(
    server: ScriptedServer, endpoint: Endpoint, admin: User, marks: tuple[str, ...]
) -> None:
    (question,) = items(1, QuestionType.OPEN_ENDED)
    server.endpoint.faults = says({"Q0": POINTS})
    run = start_suggesting(wanted(endpoint, Asks.RUBRIC), acting_user=admin)
    other = make_question(question.task, marks=marks).current
    Question.objects.filter(pk=question.pk).update(current=other)
    work(run)
    assert faults(run) == {"Question Q0?": "question_changed"}
    assert not Rubric.objects.exists()


def test_a_reply_that_was_cut_off_suggests_nothing(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    items(1)
    server.endpoint.faults = says({"Q0": LABELS}, finish="length")
    run = work(start_suggesting(wanted(endpoint), acting_user=admin))
    assert faults(run) == {"Question Q0?": "truncated"}
    assert not LabelOpinion.objects.exists()


def test_who_is_asked(server: ScriptedServer, endpoint: Endpoint, admin: User) -> None:
    labelled, excluded, failed, asked, fresh = items(5)
    done = LabelRevision.objects.create(
        question=labelled, ability_branch="reasoning", difficulty=3, modal="text",
        knowledge_id=ensure_taxonomy()["law"],
    )  # fmt: skip
    Question.objects.filter(pk=labelled.pk).update(label=done)
    Question.objects.filter(pk=excluded.pk).update(status=ItemStatus.EXCLUDED)
    earlier = Question.objects.filter(pk__in=[failed.pk, asked.pk])
    run = start_suggesting(wanted(endpoint, questions=earlier), acting_user=admin)
    assert planned(run) == {failed, asked}
    run.jobs.filter(question=failed).update(status="failed")
    assert planned(start_suggesting(wanted(endpoint), acting_user=admin)) == {failed, fresh}
    everything = start_suggesting(wanted(endpoint, again=True), acting_user=admin)
    assert planned(everything) == {labelled, failed, asked, fresh}
    one = start_suggesting(wanted(endpoint, again=True, limit=1), acting_user=admin)
    assert len(planned(one)) == 1
    with pytest.raises(BadInput, match="already asked about it"):
        start_suggesting(wanted(endpoint), acting_user=admin)


def planned(run: Run) -> set[Question]:
    return set(Question.objects.filter(jobs__run=run))


def test_only_an_item_without_any_rubric_is_asked_for_one(endpoint: Endpoint, admin: User) -> None:
    with_one, without = items(2, QuestionType.OPEN_ENDED)
    make_rubric(with_one, (("all", "10"),))
    run = start_suggesting(wanted(endpoint, Asks.RUBRIC), acting_user=admin)
    assert planned(run) == {without}
    with pytest.raises(BadInput, match="without a rubric"):
        start_suggesting(wanted(endpoint, Asks.RUBRIC), acting_user=admin)
    labels = start_suggesting(wanted(endpoint, Asks.LABELS), acting_user=admin)
    assert planned(labels) == {with_one, without}, "asked for a rubric is not asked for labels"


@pytest.mark.parametrize("limit", [0, 5001])
def test_how_many(endpoint: Endpoint, admin: User, limit: int) -> None:
    items(1)
    with pytest.raises(BadInput, match="between 1 and 5000"):
        start_suggesting(wanted(endpoint, limit=limit), acting_user=admin)
    assert not Run.objects.exists()


def test_the_same_key_is_the_same_run(endpoint: Endpoint, admin: User) -> None:
    items(2)
    first = start_suggesting(wanted(endpoint), acting_user=admin, idempotency_key="k")
    again = start_suggesting(wanted(endpoint), acting_user=admin, idempotency_key="k")
    assert (first, Job.objects.count()) == (again, 2)


def test_the_estimate_is_a_bound_and_the_budget_holds(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    items(3)
    server.endpoint.faults = says({"Q0": LABELS, "Q1": LABELS, "Q2": LABELS})
    found = estimate_suggesting(wanted(endpoint))
    assert (found.items, found.answering.calls, found.beside) == (3, 3, ())
    one_call = found.answering.at_most / 3
    assert found.answering.expected < found.answering.at_most
    budget = one_call.quantize(Decimal("0.0001")) + Decimal("0.0001")
    run = start_suggesting(wanted(endpoint), acting_user=admin, budget=budget)
    work(run)
    assert (run.status, run.pause_reason) == ("paused", "budget")
    spent = sum(Attempt.objects.filter(job__run=run).values_list("cost", flat=True))
    assert 0 < spent <= budget


@pytest.mark.django_db(transaction=True)
def test_of_two_who_start_at_once_one_pays(endpoint: Endpoint, admin: User) -> None:
    """Before the labels have any rows, too."""
    items(3)

    def start() -> Run:
        return start_suggesting(wanted(endpoint, shown=3), acting_user=admin)

    refused = after(start, start)
    assert isinstance(refused, Refusal)
    assert Job.objects.count() == 3


@pytest.mark.parametrize("again", [False, True], ids=["what is missing", "all again"])
def test_what_another_run_suggests_is_not_retried(
    again: bool, server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    items(2)
    server.endpoint.faults = says({"Q0": [named_fault("bad_request")] * 2, "Q1": LABELS})
    run = work(start_suggesting(wanted(endpoint, again=again), acting_user=admin))
    start_suggesting(wanted(endpoint), acting_user=admin)
    if again:  # who asks for all again wants it whatever others were answered
        assert retry_failed(run, acting_user=admin) == 1
    else:
        with pytest.raises(Conflict, match="answered elsewhere"):
            retry_failed(run, acting_user=admin)
    assert Job.objects.filter(question__current__stem__contains="Q0").count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_a_retry_and_a_start_at_once_one_pays(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    items(1)
    server.endpoint.faults = says({"Q0": [named_fault("bad_request")] * 2})
    run = work(start_suggesting(wanted(endpoint), acting_user=admin))
    refused = after(
        lambda: retry_failed(run, acting_user=admin),
        lambda: start_suggesting(wanted(endpoint), acting_user=admin),
    )
    assert isinstance(refused, Refusal)
    assert Job.objects.exclude(status="failed").count() == 1
