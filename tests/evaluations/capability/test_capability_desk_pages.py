"""The reviewer's desk: an answer without its model, saved by a form, back by undo."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.capability.services.capability_review import close_review
from evaluations.capability.services.review_slots import claim_next
from evaluations.models import CapabilityJudgement, CapabilityReview, DeskSettings, ReviewSlot
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.review_world import called, items_of, later, review_of, say, wrong_answers

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def review(teacher: User, other_teacher: User) -> CapabilityReview:
    return review_of(wrong_answers(2), [teacher, other_teacher], reviewers_each=2)


def start(client: Client, review: CapabilityReview) -> ReviewSlot:
    """From the review to its first answer."""
    page = client.post(reverse("reviewing:next", args=[review.public_id]))
    item = page["Location"].strip("/").rpartition("/")[2]
    return ReviewSlot.objects.select_related("item").get(item__public_id=item, holder__isnull=False)


def form_of(page: str) -> dict[str, str]:
    """The hidden fields of the panel."""
    panel = page[page.index('id="judgement"') :]
    return dict(
        re.findall(r'<input type="hidden" name="(answer|key|version)" value="([^"]*)"', panel)
    )


def sent(client: Client, slot: ReviewSlot, **fields: Any) -> dict[str, Any]:
    page = client.get(reverse("reviewing:desk", args=[slot.item.public_id])).text
    values = {"understanding": "1", "knowledge": "0", "reasoning": "0", "calculation": "na"}
    return form_of(page) | values | {"seconds": "30", "note": ""} | fields


def save(client: Client, slot: ReviewSlot, data: dict[str, Any], **headers: str) -> Any:
    where = reverse("reviewing:save", args=[slot.item.public_id])
    return client.post(where, data, headers=headers)


def test_the_first_page_leads_to_an_answer(review: CapabilityReview, teacher: User) -> None:
    client = logged_in(teacher)
    assert "0 / 2 judged" in client.get(reverse("reviewing:home")).text
    assert (
        "A wrong answer is ready"
        in client.get(reverse("reviewing:review", args=[review.public_id])).text
    )
    slot = start(client, review)
    page = client.get(reverse("reviewing:desk", args=[slot.item.public_id])).text
    assert slot.item.question.current.stem.splitlines()[0] in page
    assert "【答案】B" in page
    assert "0 of 6 points" in page
    assert 'name="calculation"' in page
    for hidden in ("canary", str(slot.item.response.public_id), f"run {slot.item.response.run_id}"):
        assert hidden not in page


def test_a_form_saves_and_shows_the_next(review: CapabilityReview, teacher: User) -> None:
    client = logged_in(teacher)
    slot = start(client, review)
    data = sent(client, slot, weaknesses=["formulas", "multi_hop"], note="sign\r\nlost")
    page = save(client, slot, data, **HTMX)
    assert page.status_code == 200
    assert "1 / 2 judged" in page.text
    row = CapabilityJudgement.objects.get()
    assert (row.reviewer, row.slot, row.version, row.seconds) == (teacher, slot, 1, 30)
    assert (row.understanding, row.knowledge, row.reasoning, row.calculation) == (1, 0, 0, None)
    assert (row.weaknesses, row.note) == (["formulas", "multi_hop"], "sign\nlost")
    again = save(client, slot, data)
    assert again.status_code == 302
    assert CapabilityJudgement.objects.count() == 1


def test_what_is_missing_is_said_and_what_was_typed_stays(
    review: CapabilityReview, teacher: User
) -> None:
    client = logged_in(teacher)
    slot = start(client, review)
    data = sent(client, slot, note="half done")
    del data["reasoning"]
    page = save(client, slot, data)
    assert page.status_code == 400
    assert "Set every dimension to 1, 0 or" in page.text
    assert "half done" in page.text
    assert re.search(r'name="understanding" value="1" checked', page.text)
    other = save(client, slot, sent(client, slot, answer="00000000-0000-4000-8000-000000000007"))
    assert "out of date" in other.text
    assert not CapabilityJudgement.objects.exists()


def test_an_old_page_shows_both_and_saving_it_again_is_a_version(
    review: CapabilityReview, teacher: User
) -> None:
    client = logged_in(teacher)
    slot = start(client, review)
    old = sent(client, slot)
    save(client, slot, old | {"note": "stored"})
    page = save(client, slot, old | {"note": "typed later"}, **HTMX)
    assert page.status_code == 409
    assert "in another window" in page.text
    assert "Saved (version 1):" in page.text
    assert "stored" in page.text
    assert "typed later" in page.text
    fresh = form_of(page.text)
    assert (fresh["version"], fresh["key"] != old["key"]) == ("1", True)
    save(client, slot, old | fresh | {"note": "typed later"})
    assert list(slot.judgements.values_list("version", "note")) == [
        (1, "stored"),
        (2, "typed later"),
    ]


def test_undo_shows_the_last_own_judgement_to_be_changed(
    review: CapabilityReview, teacher: User, other_teacher: User
) -> None:
    client = logged_in(teacher)
    first = start(client, review)
    save(client, first, sent(client, first, note="mine"))
    say(items_of(review)[0], other_teacher, note="canary of the other")
    second = start(client, review)
    back = client.post(
        reverse("reviewing:undo", args=[review.public_id]),
        {"answer": str(second.item.public_id)},
        headers=HTMX,
    )
    assert "You judged this response at" in back.text
    assert "mine" in back.text
    assert "canary" not in back.text
    assert form_of(back.text)["version"] == "1"
    where = reverse("reviewing:undo", args=[review.public_id])
    none = client.post(where, {"answer": str(first.item.public_id)}, headers=HTMX)
    assert none.status_code == 409
    assert "no earlier verdict" in none.text


def test_a_skipped_answer_gives_way_to_the_next(review: CapabilityReview, teacher: User) -> None:
    client = logged_in(teacher)
    first = start(client, review)
    where = reverse("reviewing:skip", args=[first.item.public_id])
    skipped = client.post(where, headers=HTMX)
    assert str(first.item.public_id) not in skipped["HX-Push-Url"]
    assert client.post(where).status_code == 404  # it is nobody's now


def test_the_end_of_the_queue_says_why(teacher: User, other_teacher: User) -> None:
    review = review_of(wrong_answers(2), [teacher, other_teacher])
    client = logged_in(teacher)
    mine = start(client, review)
    theirs = claim_next(other_teacher, review, now=timezone.now())
    assert theirs is not None
    page = save(client, mine, sent(client, mine), **HTMX)
    assert "Waiting for other teachers" in page.text
    done = logged_in(other_teacher)
    last = save(done, theirs, sent(done, theirs), **HTMX)
    assert "All done" in last.text


@pytest.mark.parametrize("who", ["other_teacher", "third_teacher"])
def test_others_answers_are_not_there(
    who: str, review: CapabilityReview, teacher: User, request: pytest.FixtureRequest
) -> None:
    slot = start(logged_in(teacher), review)
    client = logged_in(request.getfixturevalue(who))
    for name in ("desk", "save", "skip"):
        where = reverse(f"reviewing:{name}", args=[slot.item.public_id])
        answer = client.get(where) if name == "desk" else client.post(where)
        assert answer.status_code == 404, where
    outside = logged_in(request.getfixturevalue("third_teacher"))
    assert outside.get(reverse("reviewing:review", args=[review.public_id])).status_code == 404
    assert outside.get(reverse("reviewing:home")).context["reviews"] == []


def test_a_closed_review_is_gone_from_the_desk(
    review: CapabilityReview, teacher: User, lead: User
) -> None:
    client = logged_in(teacher)
    slot = start(client, review)
    data = sent(client, slot)
    close_review(review, acting_user=lead, now=later(5))
    refused = save(client, slot, data)
    assert (refused.status_code, "The review was closed." in refused.text) == (409, True)
    assert not CapabilityJudgement.objects.exists()
    assert client.get(reverse("reviewing:desk", args=[slot.item.public_id])).status_code == 404
    assert client.get(reverse("reviewing:home")).context["reviews"] == []


def test_a_task_without_calculation_shows_three_dimensions(teacher: User) -> None:
    review = review_of(wrong_answers(1), [teacher])
    called("lsat-lr", items_of(review)[0].question.task)
    client = logged_in(teacher)
    slot = start(client, review)
    page = client.get(reverse("reviewing:desk", args=[slot.item.public_id])).text
    assert 'name="reasoning"' in page
    assert 'name="calculation"' not in page
    assert 'value="calculation"' not in page
    data = {k: v for k, v in sent(client, slot).items() if k != "calculation"}
    save(client, slot, data)
    assert CapabilityJudgement.objects.get().calculation is None


def test_who_wants_no_keys_gets_none(review: CapabilityReview, teacher: User) -> None:
    DeskSettings.objects.create(user=teacher, shortcuts=False)
    client = logged_in(teacher)
    slot = start(client, review)
    page = client.get(reverse("reviewing:desk", args=[slot.item.public_id])).text
    assert 'data-shortcuts="off"' in page
    assert 'data-key="v"' not in page
    assert 'data-key="1"' not in page
