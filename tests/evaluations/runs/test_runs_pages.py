"""The pages of runs, responses and endpoints, for the whole cast."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from evaluations.judging.services import ensure_judge
from evaluations.models import Attempt, Endpoint, Job, Judgement, Response, Run
from evaluations.reading.services.scoring import score_responses
from evaluations.runs.selectors import kept_figures
from evaluations.runs.services import earlier_calls, run_estimates
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_response, make_run, make_task
from tests.scripted_server import ScriptedServer, script_from

pytestmark = pytest.mark.django_db
CAST = ["admin", "lead", "curator", "teacher", "outsider"]


@pytest.fixture
def run(endpoint: Endpoint) -> Run:
    dataset = make_dataset()
    for _ in range(2):
        make_question(make_task(dataset))
    make_question(make_task(dataset, question_type=QuestionType.OPEN_ENDED))
    return start_run(endpoint=endpoint, dataset=dataset, acting_user=None)


def page(user: User, name: str, /, *args: object, **query: object) -> str:
    response = logged_in(user).get(reverse(f"runs:{name}", args=args), query)
    assert response.status_code == 200
    return response.text


def post(user: User, name: str, /, *args: object, **data: object) -> Any:
    return logged_in(user).post(reverse(f"runs:{name}", args=args), data)


# ---- who may ----

SEE = ["list", "run", "progress", "responses", "response"]
OPERATE = ["new", "endpoints", "endpoint-new", "endpoint"]
POSTS = ["stop", "resume", "retry", "judge", "endpoint-check"]


def address(name: str, run: Run, response: Response) -> str:
    keys = {"list": [], "new": [], "endpoints": [], "endpoint-new": []}
    keys |= {"response": [response.public_id]}
    keys |= {name: [run.endpoint_id] for name in ("endpoint", "endpoint-check")}
    return reverse(f"runs:{name}", args=keys.get(name, [run.pk]))


def test_a_lead_looks_and_has_no_buttons(lead: User, run: Run) -> None:
    text = page(lead, "run", run.pk)
    assert "Responses" in text
    for address in (reverse("runs:stop", args=[run.pk]), reverse("runs:judge", args=[run.pk])):
        assert address not in text
    assert reverse("runs:new") not in page(lead, "list")


def test_what_does_not_exist_is_a_404(admin: User, db: None) -> None:
    client = logged_in(admin)
    for name, key in [("run", 9), ("progress", 9), ("responses", 9), ("endpoint", 9)]:
        assert client.get(reverse(f"runs:{name}", args=[key])).status_code == 404
    assert client.get(reverse("runs:response", args=[uuid.uuid4()])).status_code == 404


# ---- the list and a new run ----


def test_an_empty_list_says_what_to_do(admin: User, lead: User) -> None:
    assert "Start run" in page(admin, "list")
    assert "Admins can start runs" in page(lead, "list")


def test_the_list(admin: User, run: Run) -> None:
    make_response(make_question(), make_run(model="published-model"))
    text = page(admin, "list")
    assert f"{run.pk} · scripted-demo" in text
    assert "0 / 3" in text
    assert "published-model" in text
    assert "Imported" in text


def test_the_form_says_what_a_run_will_ask_and_cost(admin: User, run: Run) -> None:
    query = {
        "endpoint": run.endpoint_id,
        "dataset": run.dataset.slug,
        "repeats": 4,
        "judge": run.endpoint_id,
    }
    text = page(admin, "new", **query)
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", text))
    assert (facts["Questions"], facts["Calls"], facts["Calls to the judge model"]) == (
        "3",
        "12",
        "31",  # 4 responses and 27 canaries
    )
    assert facts["Expected cost"].startswith("¥ ")
    assert "Rough estimate" in text


def test_an_estimate_learns_from_earlier_calls(
    admin: User, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier_calls, "ENOUGH", 3)
    work_on_run(run.pk)
    calls = list(Attempt.objects.values_list("prompt_tokens", "completion_tokens"))
    made = run_estimates.estimate(endpoint=run.endpoint, dataset=run.dataset, repeats=2)
    read, written = (sum(column) for column in zip(*calls, strict=True))
    expected = Decimal(4 * read + 12 * written) * 2 / 1_000_000
    assert made.answering.earlier_calls == 3
    assert abs(made.answering.expected - expected) < Decimal("0.0001")
    assert made.beside == ()


def test_starting_and_a_double_click(admin: User, run: Run) -> None:
    form = {"endpoint": run.endpoint_id, "dataset": run.dataset.slug, "repeats": 1}
    form |= {"limit": 2, "budget": "1.50", "key": str(uuid.uuid4())}
    first, second = (post(admin, "new", **form) for _ in range(2))
    assert first.status_code == second.status_code == 302
    assert first["Location"] == second["Location"]
    made = Run.objects.get(pk=run.pk + 1)
    assert (made.created_by, made.jobs.count(), made.budget) == (admin, 2, Decimal("1.5"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repeats": "0"}, "greater than or equal to 1"),
        ({"budget": "0"}, "above zero"),
        ({"budget": "much"}, "Enter a number"),
        ({"endpoint": "999"}, "valid choice"),
        ({"dataset": "empty"}, "no questions that can be asked"),
    ],
)
def test_bad_input_keeps_what_was_typed(
    admin: User, run: Run, changes: dict[str, str], words: str
) -> None:
    make_dataset("empty")
    form = {"endpoint": run.endpoint_id, "dataset": run.dataset.slug, "repeats": 7}
    response = post(admin, "new", **{**form, **changes})
    assert response.status_code == 400
    assert words in response.text
    assert changes.get("repeats", "7") in response.text
    assert Run.objects.count() == 1


def test_without_an_endpoint_the_form_says_so(admin: User) -> None:
    make_question()
    assert "Add endpoint" in page(admin, "new")


# ---- one run ----


def test_a_live_run_asks_for_itself_and_a_finished_one_does_not(admin: User, run: Run) -> None:
    polled = reverse("runs:progress", args=[run.pk]) + "?state=queued"
    assert f'hx-get="{polled}&amp;notice=' in page(admin, "run", run.pk)
    fragment = logged_in(admin).get(polled)
    assert "<html" not in fragment.text
    assert "done of 3" in fragment.text
    work_on_run(run.pk)
    assert logged_in(admin).get(polled)["HX-Refresh"] == "true", "the state is another one"
    text = page(admin, "run", run.pk)
    assert "hx-get" not in text.split('id="progress"')[1].split(">")[0]
    assert "3 / 3" not in text, "each task has its own row"
    assert "Finished" in text


def test_page_and_fragment_are_one_truth(admin: User, run: Run) -> None:
    work_on_run(run.pk)
    whole = page(admin, "run", run.pk)
    fragment = page(admin, "progress", run.pk, state="finished").strip()
    assert fragment in whole


def test_errors_are_counted_with_what_they_may_cost(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    server.endpoint.faults = script_from([{"fault": "malformed"}, {"fault": "bad_request"}])
    work_on_run(run.pk)
    text = page(admin, "run", run.pk)
    assert "reply not readable" in text
    assert "possibly billed: 1, at most ¥ 0.0" in text
    assert "call rejected (400)" in text
    assert text.count("permanently failed: 1") == 1, "by the kind that ended it"
    assert "temperature is not supported" in text
    assert reverse("runs:retry", args=[run.pk]) in text


def test_a_pause_says_why(admin: User, server: ScriptedServer, run: Run) -> None:
    server.endpoint.faults = script_from([{"fault": "auth", "times": 9}])
    work_on_run(run.pk)
    text = page(admin, "run", run.pk)
    assert "The endpoint asks for an API key, and none is set" in text
    assert reverse("runs:resume", args=[run.pk]) in text


def test_stop_resume_retry(admin: User, run: Run) -> None:
    assert post(admin, "stop", run.pk).status_code == 302
    run.refresh_from_db()
    assert run.status == "stopped"
    assert post(admin, "resume", run.pk).status_code == 302
    run.refresh_from_db()
    assert run.status == "queued"
    Job.objects.filter(pk=run.jobs.first().pk).update(status="failed")
    assert post(admin, "retry", run.pk).status_code == 302
    assert not run.jobs.filter(status="failed").exists()


@pytest.mark.parametrize("status", ["paused", "stopped", "queued"])
def test_a_retry_says_when_it_begins(admin: User, run: Run, status: str) -> None:
    Run.objects.filter(pk=run.pk).update(status=status)
    run.jobs.filter(pk=run.jobs.first().pk).update(status="failed")
    address = reverse("runs:retry", args=[run.pk])
    text = logged_in(admin).post(address, follow=True).text
    waits = status != "queued"
    assert ("1 call is tried again when the run goes on." in text) is waits
    assert ("Retrying 1 call." in text) is not waits
    run.refresh_from_db()
    assert run.status == status


@pytest.mark.parametrize(("name", "words"), [("resume", "not stopped"), ("retry", "no failed")])
def test_what_makes_no_sense_is_a_conflict(admin: User, run: Run, name: str, words: str) -> None:
    response = post(admin, name, run.pk)
    assert response.status_code == 409
    assert words in response.text


def test_a_reached_budget_asks_for_a_higher_one(admin: User, run: Run) -> None:
    Run.objects.update(status="paused", pause_reason="budget", budget=1)
    assert 'name="budget"' in page(admin, "run", run.pk)
    assert post(admin, "resume", run.pk, budget="much").status_code == 400
    assert post(admin, "resume", run.pk, budget="2").status_code == 302
    run.refresh_from_db()
    assert (run.status, run.budget) == ("queued", 2)


def test_a_judge_is_asked_from_the_page(admin: User, run: Run) -> None:
    response = post(admin, "judge", run.pk, judge=run.endpoint_id)
    judge_run = Run.objects.get(purpose="judge")
    assert response["Location"] == reverse("runs:run", args=[judge_run.pk])
    assert "marks run" in page(admin, "run", judge_run.pk)
    assert "scripted-demo" in page(admin, "run", run.pk)
    assert post(admin, "judge", run.pk, judge=run.endpoint_id).status_code == 409


def test_a_judge_of_objective_questions_alone_says_so(admin: User, endpoint: Endpoint) -> None:
    dataset = make_dataset()
    make_question(make_task(dataset))
    run = start_run(endpoint=endpoint, dataset=dataset, acting_user=None)
    work_on_run(run.pk)
    post(admin, "judge", run.pk, judge=endpoint.pk)
    judge_run = Run.objects.get(purpose="judge")
    work_on_run(judge_run.pk)
    text = page(admin, "run", judge_run.pk)
    assert "has no subjective responses" in text
    assert "imported from published" not in text


def test_an_imported_run_has_no_progress(lead: User, db: None) -> None:
    response = make_response(make_question())
    text = page(lead, "run", response.run.pk)
    assert "1 responses were imported from published" in text
    assert 'id="progress"' not in text


# ---- responses ----


def test_a_response_without_a_rule_waits_for_teachers_or_a_judge(lead: User, db: None) -> None:
    """A judge may have marked it, so it is not said to be marked by people."""
    response = make_response(make_question(make_task(question_type=QuestionType.OPEN_ENDED)))
    assert "for teachers or a judge model" in page(lead, "responses", response.run.pk)


def test_responses_by_filter(lead: User, run: Run) -> None:
    questions = [job.question for job in run.jobs.order_by("pk")]
    good = make_response(questions[0], run, "【答案】A")
    make_response(questions[1], run, "【答案】B a < b & <script>alert(1)</script>")
    score_responses(Response.objects.all())
    text = page(lead, "responses", run.pk)
    assert "2 responses" in text
    assert "a &lt; b &amp; alert(1)" in text
    found = logged_in(lead).get(
        reverse("runs:responses", args=[run.pk]), {"outcome": "correct", "q": "答案"}
    )
    assert [row.pk for row in found.context["page"]] == [good.pk]
    assert 'value="答案"' in found.text
    nothing = page(lead, "responses", run.pk, task="no-such-task")
    assert "No response matches these filters" in nothing


def test_one_response_with_its_evidence(lead: User, run: Run) -> None:
    text = "先看 <b>B</b>。【答案】A"
    response = make_response(run.jobs.first().question, run, text)
    score_responses([response])
    shown = page(lead, "response", response.public_id)
    for reading in response.extractions.all():
        start, end = reading.spans[0]
        assert f">{text[start:end]}</mark>" in shown
    assert "<b>B</b>" not in shown
    assert "Extraction: Strict" in shown
    assert "Extraction: As published" not in shown, "our own prompts are not the published ones"
    assert "6 / 6" in shown


def test_the_name_of_a_model_in_a_reply_cannot_reorder_a_line(lead: User, run: Run) -> None:
    work_on_run(run.pk)
    Attempt.objects.update(response_model="gpt-\u202e4")
    response = Response.objects.filter(run=run).first()
    assert response is not None
    shown = page(lead, "response", response.public_id)
    assert 'gpt-<span class="code-point">U+202E</span>4' in shown
    assert "\u202e" not in shown


def test_one_response_with_its_calls_and_judgement(
    lead: User, endpoint: Endpoint, run: Run
) -> None:
    judge = ensure_judge(endpoint)
    work_on_run(run.pk)
    response = Response.objects.get(run=run, question__part="subjective")
    Judgement.objects.create(
        response=response,
        judge=judge,
        reply="**好** <img src=x onerror=alert(1)>【总分】5分",
        total=5,
        full=response.revision.full_marks,
        status="scored",
    )
    shown = page(lead, "response", response.public_id)
    assert "Answered" in shown
    assert "chatcmpl-scripted" in shown
    assert "<strong>好</strong>" in shown
    assert "<img src=x" not in shown
    listed = page(lead, "responses", run.pk, part="subjective")
    assert "5 / 6" in listed


# ---- endpoints ----

FORM = {
    "name": "deepseek",
    "base_url": "http://127.0.0.1:8000/v1",
    "model": "deepseek-chat",
    "key_variable": "DEEPSEEK_API_KEY",
    "price_input": "2",
    "price_output": "8",
    "currency": "CNY",
    "max_in_flight": "64",
    "timeout_seconds": "120",
    "max_tokens": "4096",
}


def test_an_endpoint_is_added_and_listed(admin: User) -> None:
    response = post(admin, "endpoint-new", **FORM)
    endpoint = Endpoint.objects.get()
    assert response["Location"] == reverse("runs:endpoint", args=[endpoint.pk])
    assert (endpoint.max_in_flight, endpoint.price_output) == (64, 8)
    text = page(admin, "endpoints")
    assert "deepseek-chat" in text
    assert "DEEPSEEK_API_KEY" in text
    assert AuditEntry.objects.get(tag="endpoint.saved").actor == admin


def test_the_key_itself_is_on_no_page(admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-sentinel-1b2c")
    post(admin, "endpoint-new", **FORM)
    endpoint = Endpoint.objects.get()
    for name, args in [("endpoints", ()), ("endpoint", (endpoint.pk,)), ("new", ())]:
        assert "sk-sentinel" not in page(admin, name, *args)


def test_an_edited_address_wants_the_variable_again(admin: User) -> None:
    post(admin, "endpoint-new", **FORM)
    endpoint = Endpoint.objects.get()
    form = page(admin, "endpoint", endpoint.pk)
    assert 'value="DEEPSEEK_API_KEY"' not in form, "it is not kept by accident"
    moved = {**FORM, "base_url": "http://127.0.0.1:9000/v1", "key_variable": ""}
    response = post(admin, "endpoint", endpoint.pk, **moved)
    assert response.status_code == 400
    assert "Enter the API key or the name of its variable again" in response.text
    assert "http://127.0.0.1:9000/v1" in response.text, "what was typed stays"
    endpoint.refresh_from_db()
    assert endpoint.base_url == "http://127.0.0.1:8000/v1"
    same = {**FORM, "key_variable": "", "note": "kept"}
    assert post(admin, "endpoint", endpoint.pk, **same).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.key_variable, endpoint.note) == ("DEEPSEEK_API_KEY", "kept")
    assert post(admin, "endpoint", endpoint.pk, **{**same, "no_key": "on"}).status_code == 302
    endpoint.refresh_from_db()
    assert endpoint.key_variable == ""


def test_two_who_edit_an_endpoint_see_what_the_other_changed(admin: User) -> None:
    """Both opened the form; the second to save would put the old price back."""
    post(admin, "endpoint-new", **FORM)
    endpoint = Endpoint.objects.get()
    opened = logged_in(admin).get(reverse("runs:endpoint", args=[endpoint.pk])).context["form"]
    form = {**FORM, "key_variable": "", "seen": opened["seen"].value()}
    first = post(admin, "endpoint", endpoint.pk, **{**form, "price_output": "80"})
    assert first.status_code == 302
    late = post(admin, "endpoint", endpoint.pk, **{**form, "note": "slow"})
    assert late.status_code == 400
    assert "Somebody has saved this endpoint since you opened this page" in late.text
    assert 'value="slow"' in late.text, "what was typed stays"
    endpoint.refresh_from_db()
    assert (endpoint.price_output, endpoint.note) == (80, "")
    seen = late.context["form"]["seen"].value()
    again = post(admin, "endpoint", endpoint.pk, **{**form, "note": "slow", "seen": seen})
    assert again.status_code == 302
    changed = [
        one.detail["changed"]
        for one in AuditEntry.objects.filter(tag="endpoint.saved").order_by("pk")
    ]
    assert changed[1] == {"price_output": ["8.000000", "80.000000"]}
    assert changed[2] == {"price_output": ["80.000000", "8.000000"], "note": ["", "slow"]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_url": "http://169.254.169.254/latest"}, "private address"),
        ({"base_url": "https://api.exam\tple.com/v1"}, "space or special character"),
        ({"key_variable": "sk-aa11bb22"}, "Enter the environment variable"),
        ({"price_input": "-1"}, "greater than or equal to 0"),
        ({"currency": "yuan"}, "valid value"),
        ({"model": ""}, "required"),
    ],
)
def test_a_bad_endpoint_is_not_saved(admin: User, changes: dict[str, str], words: str) -> None:
    response = post(admin, "endpoint-new", **{**FORM, **changes})
    assert response.status_code == 400
    assert words in response.text
    assert not Endpoint.objects.exists()


def test_the_test_button_says_what_happened(admin: User, endpoint: Endpoint) -> None:
    client = logged_in(admin)
    address = reverse("runs:endpoint-check", args=[endpoint.pk])
    assert "The endpoint works: scripted-demo replied." in client.post(address, follow=True).text
    with ScriptedServer(faults=script_from([{"fault": "not_found"}])) as other:
        Endpoint.objects.update(base_url=other.base_url)
        assert "There is no model scripted-demo" in client.post(address, follow=True).text


# ---- the admin site ----


def test_operators_look_at_evidence_and_change_nothing(admin: User, run: Run) -> None:
    work_on_run(run.pk)
    client = logged_in(admin)
    for model in (Run, Job, Attempt, Response, Endpoint):
        name = model._meta.model_name
        row = model.objects.first()
        listed = client.get(reverse(f"admin:evaluations_{name}_changelist"))
        assert listed.status_code == 200
        one = client.get(reverse(f"admin:evaluations_{name}_change", args=[row.pk]))
        assert one.status_code == 200
        assert 'name="_save"' not in one.text
        delete = reverse(f"admin:evaluations_{name}_delete", args=[row.pk])
        assert client.post(delete, {"post": "yes"}).status_code == 403
        assert client.get(reverse(f"admin:evaluations_{name}_add")).status_code == 403


def test_costly_figures_of_a_large_run_are_kept_while_its_state_is_the_same(
    admin: User, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_on_run(run.pk)
    monkeypatch.setattr(kept_figures, "MANY_JOBS", 3)
    before = page(admin, "run", run.pk)
    assert "77.0 s" not in before
    Attempt.objects.filter(job__run=run).update(seconds=77.0, cost=Decimal("25.67"))
    shown = page(admin, "run", run.pk)
    assert "77.0 s" not in shown, "the median is computed later"
    assert "77.01" in shown, "3 x 25.67 are in the counts"
    Run.objects.filter(pk=run.pk).update(status="stopped")
    assert "77.0 s" in page(admin, "run", run.pk)
    Attempt.objects.filter(job__run=run).update(seconds=88.0)
    kept_figures.keep_figures(Run.objects.get(pk=run.pk))
    assert "88.0 s" in page(admin, "run", run.pk), "a worker computes it for the pages"
    monkeypatch.setattr(kept_figures, "MANY_JOBS", 4)
    Attempt.objects.filter(job__run=run).update(seconds=66.0)
    assert "66.0 s" in page(admin, "run", run.pk), "that of a small run is computed each time"
