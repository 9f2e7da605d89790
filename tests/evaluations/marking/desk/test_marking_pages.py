"""The marking desk for the whole cast: who gets in, and what happens with and without htmx."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import models
from django.test import Client
from django.urls import reverse

from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound, Slot
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    held_slot,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 3, marking_notes="Half marks for *half* answers.")


@pytest.fixture
def answer(made: MarkingRound, teacher: User) -> BlindAnswer:
    """The response that *teacher* has at hand."""
    slot = Slot.objects.filter(planned=teacher).order_by("order")[0]
    return held_slot(slot.answer, teacher).answer


def address(name: str, thing: BlindAnswer | MarkingRound) -> str:
    return reverse(f"marking:{name}", args=[thing.public_id])


def form_of(page: str) -> dict[str, Any]:
    """The hidden fields of the marks form, as a browser would send them."""
    form = page[page.index('id="marks"') :]
    return {
        name: re.search(rf'name="{name}" value="([^"]*)"', form).group(1)  # type: ignore[union-attr]
        for name in ("answer", "key", "version", "rubric")
    }


def filled(page: str, *points: str, **fields: Any) -> dict[str, Any]:
    given = {f"point-{number}": value for number, value in enumerate(points, start=1)}
    return form_of(page) | given | {"comment": "", "seconds": "30"} | fields


GETS = ["home", "round", "desk"]
POSTS = ["next", "undo", "revise", "save", "skip", "draft"]
OF_ROUND = {"round", "next", "undo"}


def everything(made: MarkingRound, answer: BlindAnswer) -> list[tuple[str, str]]:
    addresses = [("get", reverse("marking:home"))]
    for name in [*GETS[1:], *POSTS]:
        method = "get" if name in GETS else "post"
        addresses.append((method, address(name, made if name in OF_ROUND else answer)))
    return addresses


@pytest.mark.parametrize("who", ["admin", "curator", "lead", "outsider"])
def test_only_teachers_mark(
    who: str, made: MarkingRound, answer: BlindAnswer, request: pytest.FixtureRequest
) -> None:
    client = logged_in(request.getfixturevalue(who))
    for method, where in everything(made, answer):
        assert getattr(client, method)(where).status_code == 403, where
    assert Mark.objects.count() == 0


def test_who_is_not_logged_in_is_sent_to_the_login(
    client: Client, made: MarkingRound, answer: BlindAnswer
) -> None:
    for method, where in everything(made, answer):
        response = getattr(client, method)(where)
        assert (response.status_code, response["Location"][:7]) == (302, "/login/")
        assert getattr(client, method)(where, headers=HTMX).status_code == 401


def test_what_is_not_ones_own_is_not_there(
    made: MarkingRound, answer: BlindAnswer, other_teacher: User, third_teacher: User
) -> None:
    other = logged_in(other_teacher)
    for method, where in everything(made, answer)[2:]:
        if "rounds" not in where:
            assert getattr(other, method)(where).status_code == 404, where
    third = logged_in(third_teacher)
    for method, where in everything(made, answer)[1:]:
        assert getattr(third, method)(where).status_code == 404, where


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_other_methods_are_refused(
    method: str, made: MarkingRound, answer: BlindAnswer, teacher: User
) -> None:
    client = logged_in(teacher)
    for _, where in everything(made, answer):
        assert getattr(client, method)(where).status_code == 405, where


def test_what_changes_something_takes_no_get(
    made: MarkingRound, answer: BlindAnswer, teacher: User
) -> None:
    client = logged_in(teacher)
    for method, where in everything(made, answer):
        if method == "post":
            assert client.get(where).status_code == 405, where


def test_home_shows_own_rounds_with_own_counts(made: MarkingRound, teacher: User) -> None:
    close_round(
        small_round([teacher], name="Old round", scheme=Scheme.SINGLE), acting_user=None, now=NOW
    )
    page = logged_in(teacher).get(reverse("marking:home")).text
    assert "Round 4" in page
    assert "0 / 3 marked" in page
    opened, finished = page.split("1 finished round")
    assert "Old round" not in opened
    assert "Old round" in finished


def test_without_a_round_home_says_so(teacher: User) -> None:
    assert "Nothing to mark" in logged_in(teacher).get(reverse("marking:home")).text


def test_the_next_response_is_claimed_by_a_post(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    response = client.post(address("next", made))
    slot = Slot.objects.get(holder=teacher)
    assert (response.status_code, response["Location"]) == (302, address("desk", slot.answer))
    page = client.get(response["Location"]).text
    assert slot.answer.alias in page
    assert "names the law" in page
    assert "Half marks for *half* answers." in page
    assert 'name="point-3" value="5.5"' in page


def test_the_desk_gets_values_and_never_a_model(answer: BlindAnswer, teacher: User) -> None:
    response = logged_in(teacher).get(address("desk", answer))
    for layer in response.context:
        for values in layer.dicts:
            models_in_it = {k for k, v in values.items() if isinstance(v, models.Model)}
            assert models_in_it <= {"user"}


def test_saving_without_a_script_leads_to_the_next_response(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    sent = filled(page, "3", "1.5", "0", comment="why", flags=["cut_off"])
    response = client.post(address("save", answer), sent)
    mark = Mark.objects.get()
    assert (str(mark.total), mark.comment, mark.flags) == ("4.50", "why", ["cut_off"])
    assert mark.seconds == 30
    following = Slot.objects.get(holder=teacher, marked=False)
    assert response["Location"] == address("desk", following.answer)


def test_saving_by_htmx_answers_with_the_next_response_and_its_address(
    answer: BlindAnswer, teacher: User
) -> None:
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    response = client.post(address("save", answer), filled(page, "3", "3", "6"), headers=HTMX)
    following = Slot.objects.get(holder=teacher, marked=False).answer
    assert response.status_code == 200
    assert response["HX-Push-Url"] == address("desk", following)
    assert response.text.lstrip().startswith('<div class="desk" id="desk"')
    assert following.alias in response.text
    assert answer.alias not in response.text
    assert "1 / 3 marked" in response.text
    assert 'hx-swap-oob="true"' in response.text


def test_save_and_next_takes_few_queries_however_many_wait(
    teacher: User, other_teacher: User, django_assert_max_num_queries: Any
) -> None:
    for responses in (3, 12):
        made = small_round([teacher, other_teacher], responses)
        held = held_slot(
            Slot.objects.filter(planned=teacher, answer__round=made)[0].answer, teacher
        )
        client = logged_in(teacher)
        page = client.get(address("desk", held.answer)).text
        sent = filled(page, "3", "3", "6")
        with django_assert_max_num_queries(26):
            assert client.post(address("save", held.answer), sent, headers=HTMX).status_code == 200


def test_a_double_click_is_one_mark_and_the_same_answer(answer: BlindAnswer, teacher: User) -> None:
    client = logged_in(teacher)
    sent = filled(client.get(address("desk", answer)).text, "3", "3", "6")
    answers = [client.post(address("save", answer), sent, headers=HTMX) for _ in range(2)]
    assert [response.status_code for response in answers] == [200, 200]
    assert answers[0]["HX-Push-Url"] == answers[1]["HX-Push-Url"]
    assert Mark.objects.count() == 1


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (("3", "", "6"), "Scoring point 2 has no mark yet."),
        (("3", "x", "6"), "A mark must be a number such as 3 or 2.5."),
        (("3", "NaN", "6"), "A mark must be a number such as 3 or 2.5."),
        (("9", "3", "0"), "Scoring point 1: 9 is above its maximum of 3."),
        (("3", "0.3", "0"), "Scoring point 2: 0.3 is not a multiple of 0.5."),
    ],
)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_mark_that_does_not_fit_loses_nothing(
    points: tuple[str, ...],
    said: str,
    headers: dict[str, str],
    answer: BlindAnswer,
    teacher: User,
) -> None:
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    sent = filled(page, *points, comment="a long comment")
    response = client.post(address("save", answer), sent, headers=headers)
    assert response.status_code == 400
    assert said in response.text
    assert Mark.objects.count() == 0
    if not headers:
        assert "a long comment" in response.text
        assert 'value="6" checked' in response.text or points[2] != "6"


def test_a_page_whose_address_and_content_differ_is_refused(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    other = next(one for one in answers_of(made) if one != answer)
    sent = filled(client.get(address("desk", answer)).text, "3", "3", "6", answer=other.public_id)
    assert client.post(address("save", answer), sent, headers=HTMX).status_code == 400
    assert Mark.objects.count() == 0


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_second_window_sees_both_marks_and_decides(
    headers: dict[str, str], answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    MarkingRound.objects.filter(pk=made.pk).update(window_minutes=15)
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    client.post(address("save", answer), filled(page, "1", "1", "1", comment="first window"))
    sent = filled(page, "2", "2", "2", comment="second window")
    response = client.post(address("save", answer), sent, headers=headers)
    assert response.status_code == 409
    rows = re.findall(
        r"<tr[^>]*><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", response.text
    )
    assert rows[:2] == [("Total", "3", "6"), ("Comment", "first window", "second window")]
    assert rows[3:] == [(f"Point {number}", "1", "2") for number in (1, 2, 3)]
    assert form_of(response.text)["version"] == "1"
    again = client.post(address("save", answer), filled(response.text, "2", "2", "2"))
    assert again.status_code == 302
    assert list(Mark.objects.filter(stale=False).values_list("total", flat=True)) == [3, 6]


@pytest.mark.parametrize(
    ("total", "saved"),
    [
        ("7.5", "7.50"),
        ("8.", "8.50"),
        (".", "0.50"),
        ("8,", "8.50"),
        ("8。", "8.50"),
        ("7，5", "7.50"),
    ],
)
def test_without_a_rubric_one_total_is_given(
    total: str, saved: str, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], question=subjective_question(rubric=()))
    answer = held_slot(answers_of(made)[0], teacher).answer
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    assert 'name="total"' in page
    sent = form_of(page) | {"total": total}
    client.post(address("draft", answer), sent | {"sequence": "1"}, headers=HTMX)
    assert Decimal(Draft.objects.get().content["total"]) == Decimal(saved)
    assert client.post(address("save", answer), sent).status_code == 302
    assert str(Mark.objects.get().total) == saved


def test_undo_leads_back_to_the_last_mark_and_a_change_is_a_new_version(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    MarkingRound.objects.filter(pk=made.pk).update(window_minutes=15)
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    after = client.post(address("save", answer), filled(page, "1", "1", "1"), headers=HTMX)
    at_hand = Slot.objects.get(holder=teacher, marked=False).answer
    sent = {"answer": form_of(after.text)["answer"]}
    back = client.post(address("undo", made), sent, headers=HTMX)
    assert back["HX-Push-Url"] == address("desk", answer)
    assert "You marked this response at" in back.text
    client.post(address("save", answer), filled(back.text, "2", "1", "1"))
    assert [mark.version for mark in Mark.objects.order_by("version")] == [1, 2]
    assert Slot.objects.get(holder=teacher, marked=False).answer == at_hand


def test_undo_says_when_there_is_nothing_or_it_is_too_late(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    nothing = client.post(address("undo", made), headers=HTMX)
    assert (nothing.status_code, "no earlier mark" in nothing.text) == (409, True)
    give(answer, teacher, ["1", "1", "1"])
    counted = client.post(address("undo", made), headers=HTMX)
    assert (counted.status_code, "is over" in counted.text) == (409, True)


def test_skip_gives_the_response_free_and_shows_another(answer: BlindAnswer, teacher: User) -> None:
    response = logged_in(teacher).post(address("skip", answer), headers=HTMX)
    following = Slot.objects.get(holder=teacher)
    assert following.answer != answer
    assert response["HX-Push-Url"] == address("desk", following.answer)


def test_a_draft_comes_back_into_the_form(answer: BlindAnswer, teacher: User) -> None:
    client = logged_in(teacher)
    sent = {
        "sequence": "5",
        "point-1": "3",
        "point-2": "1.",
        "comment": "half way",
        "flags": ["repeats"],
    }
    assert re.fullmatch(r"\d\d:\d\d:\d\d", client.post(address("draft", answer), sent).text)
    page = client.get(address("desk", answer)).text
    assert "half way" in page
    assert 'name="point-1" value="3" checked' in page
    assert 'value="repeats" checked' in page
    assert 'data-draft-sequence="5"' in page


def test_a_draft_that_is_not_kept_is_not_said_to_be_saved(
    answer: BlindAnswer, teacher: User
) -> None:
    """The clock of another browser is ahead; the page sends again with a higher number."""
    client, sent = logged_in(teacher), {"comment": "typed later"}
    for sequence, status in ((2_000, 200), (1_000, 409), (2_001, 200)):
        response = client.post(address("draft", answer), sent | {"sequence": str(sequence)})
        assert response.status_code == status
        if status == 409:
            assert response.text == "2000"
        sent["comment"] += "!"
    assert Draft.objects.get().content["comment"] == "typed later!!"


def test_a_late_draft_after_the_save_is_refused(answer: BlindAnswer, teacher: User) -> None:
    give(answer, teacher, ["1", "1", "1"])
    client = logged_in(teacher)
    late = client.post(address("draft", answer), {"sequence": "9"}, headers=HTMX)
    assert late.status_code == 409
    assert Draft.objects.count() == 0
    for sequence in ("", "-1", "x", str(2**70)):
        assert client.post(address("draft", answer), {"sequence": sequence}).status_code == 400


def test_a_closed_round_is_gone_but_a_save_keeps_the_marks(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    page = client.get(address("desk", answer)).text
    close_round(made, acting_user=None, now=NOW)
    assert client.get(address("desk", answer)).status_code == 404
    assert client.get(address("round", made)).status_code == 404
    response = client.post(address("save", answer), filled(page, "1", "1", "1"), headers=HTMX)
    assert response.status_code == 409
    assert "kept as a draft" in response.text
    assert Draft.objects.get().content["points"] == ["1", "1", "1"]


def test_the_end_of_the_queue_says_why(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    for answer in answers_of(made):
        give(answer, teacher, ["1", "1", "1"])
    response = client.post(address("next", made), headers=HTMX)
    assert response["HX-Push-Url"] == address("round", made)
    assert "All done" in response.text
    assert "3 / 3 marked" in response.text
    assert "All done" in client.get(address("round", made)).text


def test_nothing_of_the_desk_is_cached(answer: BlindAnswer, teacher: User) -> None:
    response = logged_in(teacher).get(address("desk", answer))
    assert "no-store" in response["Cache-Control"]
    assert not response.has_header("ETag")
    assert not response.has_header("Last-Modified")
