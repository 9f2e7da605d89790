"""The pages of checks: what waits, one response without its key, saving by form and by htmx."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.models import AnswerCheck, CheckSample, Response
from evaluations.reading.services.answer_checks import draw_sample
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user, sync_roles
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.evaluations.check_world import (
    BRACKETED,
    MEANT,
    SEVERAL,
    TAGGED,
    WORDLESS,
    answers,
    check,
    read_by_model,
)
from tests.evaluations.review_world import review_of
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def item(response: Response, query: str = "") -> str:
    return reverse("checks:item", args=[response.public_id]) + query


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found
    return found[1]


def save(client: Client, response: Response, query: str = "", **sent: Any) -> Any:
    """What the form of the page sends, with *sent* over it."""
    headers = sent.pop("headers", {})
    page = client.get(item(response, query)).text
    fields = {name: hidden(page, name) for name in ("seen", "key", "based_on")}
    return client.post(item(response, query), {**fields, **sent}, headers=headers)


# ---- the desk ----


def test_the_desk_shows_the_evidence_and_neither_key_nor_model(curator: User) -> None:
    (response,) = answers(MEANT, analysis="the secret analysis", reference_answer="the secret")
    read_by_model(response, model="canary-reader")
    page = logged_in(curator).get(item(response)).text
    assert "<mark" in page
    assert re.search(r"<mark[^>]*>the second one</mark>", page)
    assert "Extracted by a model" in page
    assert "C. three" in page, "the options stand beside it"
    for hidden_fact in ("canary", "secret", "Answer key", "Key</"):
        assert hidden_fact not in page
    radios = re.findall(r'<input type="radio" name="answer-1" value="(\w)"( checked)?>', page)
    assert radios == [("A", ""), ("B", " checked"), ("C", ""), ("D", "")]
    assert 'value="read" checked' in page


def test_one_press_confirms_and_the_next_response_comes(curator: User) -> None:
    one, other = answers(BRACKETED, BRACKETED)
    answer = save(logged_in(curator), one, **{"outcome": "read", "answer-1": "C"})
    assert answer.status_code == 302
    assert answer["Location"] == item(other)
    made = AnswerCheck.objects.get()
    assert (made.checker, made.answers) == (curator, ["C"])
    assert (made.confirmed, made.source) == (True, "low")


def test_htmx_gets_the_next_desk_alone_and_its_address(curator: User) -> None:
    one, other = answers(SEVERAL, SEVERAL)
    sent = {"outcome": "read", "answer-1": "B", "headers": HTMX}
    answer = save(logged_in(curator), one, "?source=ambiguous", **sent)
    assert answer.status_code == 200
    assert answer["HX-Push-Url"] == item(other, "?source=ambiguous")
    assert answer.text.lstrip().startswith('<div class="desk"')
    assert 'hx-swap-oob="true"' in answer.text
    assert "<html" not in answer.text
    assert AnswerCheck.objects.get().answers == ["B"]


def test_after_the_last_one_the_overview_comes(curator: User) -> None:
    (one,) = answers(SEVERAL)
    client = logged_in(curator)
    sent = {"outcome": "ambiguous", "headers": HTMX}
    assert save(client, one, **sent)["HX-Redirect"] == reverse("checks:overview")
    assert AnswerCheck.objects.get().confirmed
    answer = client.get(reverse("checks:next"))
    assert answer["Location"] == reverse("checks:overview")


def test_no_answer_sets_and_several_sub_questions_by_form(curator: User) -> None:
    none, several, chosen = answers(SEVERAL, SEVERAL, SEVERAL)
    for response, kind, key in (
        (several, QuestionType.SEVERAL_QUESTIONS, ["A", "B"]),
        (chosen, QuestionType.MULTIPLE_CHOICE, ["AB"]),
    ):
        response.revision.question_type, response.revision.answer_key = kind, key
        response.revision.save()
    client = logged_in(curator)
    page = client.get(item(chosen)).text
    assert 'type="checkbox" name="answer-1" value="A"' in page
    save(client, chosen, **{"outcome": "read", "answer-1": ["C", "A"]})
    save(client, several, **{"outcome": "read", "answer-1": "D", "answer-2": ""})
    save(client, none, **{"outcome": "no_answer", "answer-1": "A"})
    made = dict(AnswerCheck.objects.values_list("response", "answers"))
    assert made == {chosen.pk: ["AC"], several.pk: ["D", None], none.pk: [None]}


def test_an_exact_answer_is_text(curator: User) -> None:
    one, other = answers(SEVERAL, SEVERAL)
    for response in (one, other):
        response.revision.question_type, response.revision.letters = QuestionType.EXACT_ANSWER, ""
        response.revision.save()
        read = {"answers": ["x =\n 3 \\cm"], "spans": [[0, 4]], "outcome": "read"}
        response.extractions.filter(policy="strict").update(confidence=0.5, **read)
    client = logged_in(curator)
    page = client.get(item(one)).text
    assert 'type="text" name="answer-1" value="x =\n 3 \\cm"' in page
    save(client, one, **{"outcome": "read", "answer-1": "x = 3 \\cm"})
    save(client, other, **{"outcome": "read", "answer-1": " x =  4 <b> "})
    made = list(AnswerCheck.objects.order_by("pk").values_list("answers", "confirmed"))
    assert made == [(["x =\n 3 \\cm"], True), (["x = 4 <b>"], False)]
    assert save(client, other, **{"outcome": "read", "answer-1": " "}).status_code == 400


def test_what_cannot_be_saved_stays_in_the_form(curator: User) -> None:
    (one,) = answers(SEVERAL)
    client = logged_in(curator)
    answer = save(client, one, **{"outcome": "read"})
    assert answer.status_code == 400
    assert "Enter an answer that this question allows." in answer.text
    assert 'value="read" checked' in answer.text
    quiet = save(client, one, outcome="read", headers=HTMX)
    assert quiet.status_code == 400
    assert 'id="desk"' not in quiet.text, "htmx leaves the page as it is"
    for sent in ({"seen": "e999999"}, {"seen": "x"}, {"key": "no"}, {"outcome": "maybe"}):
        given = {"outcome": "read", "answer-1": "A", **sent}
        assert save(client, one, **given).status_code == 400
    assert not AnswerCheck.objects.exists()


def test_an_old_page_or_the_reading_of_another_response_saves_nothing(curator: User) -> None:
    one, other = answers(SEVERAL, SEVERAL)
    client = logged_in(curator)
    seen = f"e{other.extractions.get(policy='strict').pk}"
    answer = save(client, one, **{"outcome": "read", "answer-1": "A", "seen": seen})
    assert (answer.status_code, "out of date" in answer.text) == (400, True)
    page = client.get(item(one)).text
    old = {name: hidden(page, name) for name in ("seen", "key", "based_on")}
    save(client, one, **{"outcome": "read", "answer-1": "A"})
    sent = {**old, "key": str(uuid.uuid4()), "outcome": "read", "answer-1": "B"}
    answer = client.post(item(one), sent)
    assert answer.status_code == 409
    assert "another window" in answer.text
    assert hidden(answer.text, "based_on") == "1", "sent again it follows the newer one"
    assert AnswerCheck.objects.count() == 1


def test_back_leads_to_the_last_own_check_with_what_was_said(curator: User) -> None:
    one, other = answers(SEVERAL, SEVERAL)
    client = logged_in(curator)
    undo = reverse("checks:undo")
    assert client.post(undo).status_code == 409
    check(one, curator, "A")
    answer = client.post(undo, {"response": str(other.public_id)})
    assert answer["Location"] == item(one)
    page = client.post(undo, {"response": "no id"}, headers=HTMX).text
    assert "Your decision" in page
    assert 'value="A" checked' in page
    assert hidden(page, "based_on") == "1"
    save(client, one, **{"outcome": "read", "answer-1": "D"})
    newest = AnswerCheck.objects.latest("pk")
    assert (newest.number, newest.answers, newest.source) == (2, ["D"], "sample")


def test_skipping_goes_on_and_comes_round(curator: User) -> None:
    one, other = answers(SEVERAL, SEVERAL)
    client = logged_in(curator)
    address = reverse("checks:next") + "?source=ambiguous&after="
    assert client.get(f"{address}{one.pk}")["Location"] == item(other, "?source=ambiguous")
    assert client.get(f"{address}{other.pk}")["Location"] == item(one, "?source=ambiguous")
    assert client.get(f"{address}x").status_code == 302


def test_what_others_said_is_not_on_the_page(curator: User, lead: User) -> None:
    (one,) = answers(TAGGED)
    before = logged_in(lead).get(item(one)).text
    check(one, curator, "D")
    after = logged_in(lead).get(item(one)).text
    assert without_tokens(before) == without_tokens(after)


def without_tokens(page: str) -> str:
    """*page* but for what is new in each: tokens of forms, and how much waits."""
    page = re.sub(r"[A-Za-z0-9]{64}", "", page)
    page = re.sub(r'name="key" value="[^"]*"', "", page)
    return re.sub(r'<span class="context-note" id="progress">.*?</span>', "", page)


def test_hostile_text_is_text_and_what_leaves_a_response_open_is_marked(curator: User) -> None:
    hostile, open_ = answers("<script>alert(1)</script> <b onclick=x>B</b> \u202e", "【答案】B，D")
    page = logged_in(curator).get(item(hostile)).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    [marked] = re.findall(r"<mark[^>]*>([^<]*)</mark>", logged_in(curator).get(item(open_)).text)
    assert "B，D" in marked


def test_a_response_without_a_reading_is_none(curator: User) -> None:
    (one,) = answers(SEVERAL)
    Response.objects.filter(pk=one.pk).update(
        strict_score=None, published_score=None, rule_reading=None
    )
    one.scores.all().delete()
    one.extractions.all().delete()
    assert logged_in(curator).get(item(one)).status_code == 404


# ---- the overview ----


def test_the_overview_counts_what_waits_and_who_read(curator: User, lead: User) -> None:
    plain, meant, *_others = answers(TAGGED, MEANT, SEVERAL, BRACKETED, WORDLESS)
    read_by_model(meant)
    check(plain, lead, "B")
    answer = logged_in(lead).post(reverse("checks:cases"))
    assert "attachment" in answer["Content-Disposition"]
    (case,) = json.loads(answer.content)
    assert (case["output"], case["expect"]) == (TAGGED, {"answer": ["B"]})
    page = logged_in(curator).get(reverse("checks:overview")).text
    assert "Check 4 responses" in page
    assert "1 correction is kept as a test case; the current rules extract 0" in page
    cells = re.findall(r'<td class="number">([^<]+)</td>', page)
    assert cells[:8] == [
        *("5", "1 (20.0 %)", "0 (0.0 %)", "1 (20.0 %)", "1 (20.0 %)", "2 (40.0 %)", "1", "1")
    ]
    other = answers(SEVERAL)[0].run
    narrow = logged_in(curator).get(reverse("checks:overview") + f"?run={other.pk}").text
    assert "Check 1 response " in narrow


def test_a_response_that_waits_for_two_reasons_is_counted_once(curator: User, lead: User) -> None:
    run = answers(TAGGED, BRACKETED, BRACKETED)[0].run
    draw_sample(run, 3, acting_user=lead)
    page = logged_in(curator).get(reverse("checks:overview")).text
    # The sample has all three; two of them wait for their weak wording too.
    assert re.findall(r'<span class="push">(\d+)</span>', page)[2:4] == ["2", "3"]
    assert "Check 3 responses" in page


def test_the_overview_of_a_run_says_what_is_of_all_runs(curator: User, lead: User) -> None:
    differing, corrected = answers(TAGGED)[0], answers(TAGGED)[0]
    check(differing, curator, "A")
    check(differing, lead, "B")
    check(corrected, lead, "B")
    client = logged_in(make_user(Role.CURATOR, "zheng"))
    overview, listed = reverse("checks:overview"), reverse("checks:differences")
    heading = "<h2>Corrections</h2>"
    everything = client.get(overview).text
    assert "1 response with conflicting checks" in everything
    assert f"{heading}</div>" in everything
    own = client.get(f"{overview}?run={differing.run_id}").text
    assert f'href="{listed}?run={differing.run_id}"' in own
    other = client.get(f"{overview}?run={corrected.run_id}").text
    assert "with conflicting checks" not in other
    assert f'{heading}<span class="sheet-note">All runs</span>' in other
    assert (
        item(differing, "?source=differ&amp;run=")
        in client.get(f"{listed}?run={differing.run_id}").text
    )
    assert item(differing) not in client.get(f"{listed}?run={corrected.run_id}").text


def test_who_may_start_runs_can_let_a_model_read_what_is_left(admin: User, lead: User) -> None:
    run = answers(TAGGED, SEVERAL, WORDLESS)[0].run
    address = reverse("checks:read", args=[run.pk])
    for page in (reverse("checks:overview"), reverse("runs:run", args=[run.pk])):
        assert address in logged_in(admin).get(page).text
        assert "Extract 2 missing answers with a model" in logged_in(admin).get(page).text
        assert address not in logged_in(lead).get(page).text


def test_a_sample_is_drawn_on_the_page_with_its_seed(lead: User) -> None:
    run = answers(*[TAGGED] * 5)[0].run
    client = logged_in(lead)
    sent = {"run": run.pk, "size": 3, "random_seed": 11}
    answer = client.post(reverse("checks:sample"), sent, follow=True)
    assert "3 responses were sampled from 5 with random seed 11." in answer.text
    assert CheckSample.objects.get().created_by == lead
    assert '<td class="number">11</td>' in answer.text
    assert client.post(reverse("checks:sample"), {**sent, "size": 0}).status_code == 400
    assert client.post(reverse("checks:sample"), {**sent, "run": 0}).status_code == 400


def test_a_form_that_is_sent_again_draws_one_sample(lead: User) -> None:
    run = answers(*[TAGGED] * 5)[0].run
    client = logged_in(lead)
    page = client.get(reverse("checks:overview"))
    key = str(page.context["form"]["key"].value())
    assert f'name="key" value="{key}"' in page.text
    for _twice in range(2):
        sent = {"run": run.pk, "size": 5, "key": key}
        answer = client.post(reverse("checks:sample"), sent, follow=True)
        assert "5 responses were sampled from 5" in answer.text
    assert CheckSample.objects.count() == 1


def test_differences_name_who_said_what(curator: User, lead: User) -> None:
    (one,) = answers(TAGGED)
    check(one, curator, "A")
    check(one, lead, outcome="no_answer")
    third = make_user(Role.CURATOR, "zheng")
    page = logged_in(third).get(reverse("checks:differences")).text
    assert re.search(r"<dt>chen</dt><dd>A ", page)
    assert re.search(r"<dt>lin</dt><dd>No answer ", page)
    assert item(one, "?source=differ") in page
    overview = logged_in(third).get(reverse("checks:overview")).text
    assert "1 response with conflicting checks" in overview


def test_who_reviews_just_now_sees_no_models(db: None) -> None:
    sync_roles()
    roles = [Role.LEAD, Role.TEACHER]
    both = ensure_user("zheng", roles=roles, display_name="zheng", password=PASSWORD)
    answers(TAGGED, SEVERAL)
    assert "canary" in logged_in(both).get(reverse("checks:overview")).text
    review_of(answers(TAGGED)[0].run, [both])
    refused = logged_in(both).get(reverse("checks:overview"))
    assert refused.status_code == 403
    assert "canary" not in refused.text
