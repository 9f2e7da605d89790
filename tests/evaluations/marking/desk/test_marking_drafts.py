"""Drafts: the newest wins, in any order of arrival, and never after a saved mark."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluations.marking.desk.forms.marks import panel
from evaluations.marking.desk.selectors.desk import desk_item
from evaluations.marking.desk.selectors.desk_home import home_rounds
from evaluations.marking.desk.services.drafts import clean, discard_change, save_draft, write_draft
from evaluations.marking.desk.services.marking import finish_revising
from evaluations.marking.services.reopening import reopen_slots
from evaluations.models import Draft, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.refusals import Conflict
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


def test_an_older_draft_that_comes_late_is_ignored(teacher: User, other_teacher: User) -> None:
    slot = held_slot(answers_of(small_round([teacher, other_teacher]))[0], teacher)
    kept = [
        save_draft(slot, teacher, sequence=number, content={"comment": str(number)}, now=NOW)
        for number in (1, 3, 2, 3, 4)
    ]
    assert kept == [None, None, 3, 3, None]
    assert Draft.objects.get().content["comment"] == "4"


def test_what_a_page_sends_while_it_closes_is_kept_whatever_its_number(
    teacher: User, other_teacher: User
) -> None:
    """A browser whose clock is ahead drafted before; the page cannot send its own again."""
    slot = held_slot(answers_of(small_round([teacher, other_teacher]))[0], teacher)
    desk, client = f"/marking/responses/{slot.answer.public_id}/", logged_in(teacher)

    def sent(comment: str, sequence: int, leaving: str = "") -> str:
        typed = {"comment": comment, "sequence": str(sequence), "leaving": leaving}
        answered = client.post(f"{desk}draft/", typed)
        return answered.text if answered.status_code == 409 else str(answered.status_code)

    assert sent("by the clock ahead", 2_000) == "200"
    assert sent("typed last", 1_000, "yes") == "2001", "a page that stays counts on from it"
    assert sent("on its way before", 999) == "2001"
    assert "typed last" in client.get(desk).text
    assert sent("typed later", 3_000, "yes") == "200"
    assert "typed later" in client.get(desk).text


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.lists(st.integers(1, 40), min_size=2, max_size=5))
def test_the_highest_sequence_wins_in_any_order(
    order: list[int], teacher: User, other_teacher: User
) -> None:
    """Shuffled, with gaps and repeated: of equal numbers the first counts."""
    slot = Slot.objects.first() or held_slot(
        answers_of(small_round([teacher, other_teacher]))[0], teacher
    )
    Draft.objects.all().delete()
    for place, number in enumerate(order):
        write_draft(slot, teacher, number, {"comment": f"{number}, sent as {place}"})
    stored = Draft.objects.get(slot=slot)
    newest = max(order)
    assert stored.sequence == newest
    assert stored.content["comment"] == f"{newest}, sent as {order.index(newest)}"


def test_a_draft_after_the_saved_mark_is_refused(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    slot = held_slot(answer, teacher)
    save_draft(slot, teacher, sequence=1, content={}, now=NOW)
    give(answer, teacher, ["1", "1", "1"], known_draft=1)
    with pytest.raises(Conflict, match="already marked"):
        save_draft(slot, teacher, sequence=2, content={}, now=NOW)
    assert Draft.objects.count() == 0
    slot.refresh_from_db()
    save_draft(slot, teacher, sequence=3, content={}, based_on_version=1, now=NOW)
    assert desk_item(slot, teacher).drafted_at
    give(answer, teacher, ["2", "1", "1"], based_on_version=1)
    with pytest.raises(Conflict, match="already marked"):
        save_draft(slot, teacher, sequence=4, content={}, based_on_version=1, now=NOW)


def test_what_is_typed_after_a_save_whose_answer_was_lost_changes_that_mark(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    slot, browser = held_slot(answer, teacher), logged_in(teacher)
    desk = f"/marking/responses/{answer.public_id}/"
    key = str(panel(desk_item(slot, teacher), teacher.public_id).key)
    page = {"answer": str(answer.public_id), "key": key, "version": "0"}
    sent = {**page, "point-1": "1", "point-2": "1", "point-3": "1"}
    typed = {**sent, "sequence": "5", "comment": "and more"}
    browser.post(f"{desk}save/", sent, headers={"HX-Request": "true"})
    saved = Mark.objects.get()
    late = browser.post(f"{desk}draft/", typed)
    assert (late.status_code, Draft.objects.count()) == (409, 0)  # sent before the save, perhaps
    other = {**typed, "unconfirmed": "yes", "key": str(uuid4())}
    assert browser.post(f"{desk}draft/", other).status_code == 409
    assert browser.post(f"{desk}draft/", {**typed, "unconfirmed": "yes"}).status_code == 200
    slot.refresh_from_db()
    shown = desk_item(slot, teacher)
    assert (shown.given.comment, shown.drafted_at is not None) == ("and more", True)
    assert (shown.version, Mark.objects.get()) == (1, saved)


def test_what_stands_in_a_window_beside_a_mark_saved_in_another_is_the_draft_of_a_change(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    slot = held_slot(answer, teacher)
    typed = {"points": ["3", "1", "1"], "comment": "in the second window"}
    for version, points in ((0, ["1", "1", "1"]), (1, ["2", "1", "1"])):
        give(answer, teacher, points, based_on_version=version)
        slot.refresh_from_db()
        with pytest.raises(Conflict):
            save_draft(slot, teacher, sequence=5, content=typed, based_on_version=version, now=NOW)
        assert Draft.objects.count() == 0, "it may have been sent before the save"
        save_draft(
            slot, teacher, sequence=5, content=typed, based_on_version=version, beside=True, now=NOW
        )
        shown = desk_item(slot, teacher)
        assert (shown.given.comment, shown.version) == ("in the second window", version + 1)
        assert shown.saved
        assert shown.saved.points == tuple(points)
        Draft.objects.all().delete()


def test_a_change_is_drafted_also_when_it_can_no_longer_be_saved(
    teacher: User, other_teacher: User
) -> None:
    """Keeping a draft tells nothing of the other mark; a draft of an older version is not shown."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    for person in (teacher, other_teacher):
        give(answer, person, ["1", "1", "1"])
    slot = held_slot(answer, teacher)
    content = {"points": ["3", "1", "1"], "comment": "late"}
    save_draft(slot, teacher, sequence=1, content=content, based_on_version=1, now=NOW)
    shown = desk_item(slot, teacher)
    assert (shown.given.comment, shown.saved and shown.saved.points) == ("late", ("1", "1", "1"))
    Draft.objects.update(content={**content, "version": 7})
    assert desk_item(slot, teacher).given == shown.saved
    discard_change(slot, teacher, up_to=0)
    assert Draft.objects.count() == 1, "a page that shows no draft discards none of another browser"
    discard_change(slot, teacher, up_to=1)
    assert Draft.objects.count() == 0


def test_the_home_counts_the_drafts_that_can_still_be_saved(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 2, window_minutes=15)
    marked, new = answers_of(made)
    give(marked, teacher, ["1", "1", "1"])
    for answer, version in ((marked, 1), (new, 0)):
        slot = held_slot(answer, teacher)
        typed = {"content": {"comment": "typed"}, "based_on_version": version}
        save_draft(slot, teacher, sequence=1, **typed, now=NOW)
    assert [one.drafts for one in home_rounds(teacher, NOW)] == [2]
    finish_revising(teacher, made, now=NOW)
    assert [one.drafts for one in home_rounds(teacher, NOW)] == [1]


def test_keep_saved_mark_discards_no_draft_that_the_page_does_not_know(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], window_minutes=15)
    (answer,) = answers_of(made)
    give(answer, teacher, ["1", "1", "1"])
    slot, client = held_slot(answer, teacher), logged_in(teacher)
    desk = f"/marking/responses/{answer.public_id}/?change"

    def kept_by(page: str) -> int:
        form = page.partition('id="keep"')[2].partition("</form>")[0]
        sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        assert sent.pop("csrfmiddlewaretoken")
        client.post(f"/marking/rounds/{made.public_id}/next/", sent)
        return Draft.objects.count()

    before = client.get(desk).text
    given = {"content": {"comment": "typed elsewhere"}, "based_on_version": 1, "now": NOW}
    assert save_draft(slot, teacher, sequence=2**40, **given) is None
    assert kept_by(before) == 1
    assert kept_by(client.get(desk).text) == 0


def test_a_draft_for_what_somebody_else_holds_is_refused(
    teacher: User, other_teacher: User
) -> None:
    slot = held_slot(answers_of(small_round([teacher, other_teacher]))[0], teacher)
    with pytest.raises(Conflict):
        save_draft(slot, other_teacher, sequence=1, content={}, now=NOW)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"points": "no list", "flags": 3, "total": None, "comment": None, "role": "admin"},
        {"points": ["\x00"], "total": "1\x00", "comment": "a\x00b", "flags": ["\x00"]},
        {"points": ["1", None, 2.5, "x" * 999], "flags": ["cut_off"] * 999, "comment": "y" * 99999},
    ],
)
def test_a_draft_keeps_the_known_parts_at_bounded_length(content: dict[str, object]) -> None:
    kept = clean(content)
    assert set(kept) == {"points", "total", "comment", "flags", "version", "rubric"}
    assert len(str(kept)) < 15_000
    assert "\\x00" not in repr(kept)


def test_a_line_end_counts_once(teacher: User, other_teacher: User) -> None:
    """As in the field: browsers send two characters, and the end of a long comment was cut off."""
    slot = held_slot(answers_of(small_round([teacher, other_teacher]))[0], teacher)
    desk, client = f"/marking/responses/{slot.answer.public_id}/", logged_in(teacher)
    lines = ["x" * 9] * 1_000
    typed = {"comment": "\r\n".join(lines), "sequence": "1"}
    assert client.post(f"{desk}draft/", typed).status_code == 200
    assert Draft.objects.get().content["comment"] == "\n".join(lines)
    sent = _filled(client.get(desk).text, "1", "\r\n".join(lines))
    client.post(f"{desk}save/", sent)
    assert Mark.objects.get().comment == "\n".join(lines)


def test_the_last_sequence_leaves_room_for_the_next(teacher: User, other_teacher: User) -> None:
    """A draft with the largest number of its column left none for a mark kept in a pause: 500."""
    made = small_round([teacher, other_teacher], question=subjective_question(()))
    (answer,) = answers_of(made)
    held_slot(answer, teacher)
    client, where = logged_in(teacher), f"/marking/responses/{answer.public_id}/"
    sent = {"answer": str(answer.public_id), "key": str(answer.public_id), "version": "0"}
    for sequence, status in ((2**63 - 1, 400), (2**53 - 1, 200)):
        typed = sent | {"sequence": str(sequence), "total": "2"}
        assert client.post(f"{where}draft/", typed).status_code == status
    MarkingRound.objects.update(status=RoundStatus.PAUSED)
    assert client.post(f"{where}save/", sent | {"total": "7"}).status_code == 409
    assert Draft.objects.get().content["total"] == "7"


@pytest.mark.parametrize("status", [RoundStatus.OPEN, RoundStatus.PAUSED, RoundStatus.CLOSED])
@pytest.mark.parametrize("returned", [False, True])
def test_a_save_from_an_older_page_leaves_the_draft_of_another_one(
    returned: bool, status: RoundStatus, teacher: User, other_teacher: User
) -> None:
    """The older page shows no mark yet, or the mark that was returned since."""
    made = small_round([teacher, other_teacher], window_minutes=15)
    (answer,) = answers_of(made)
    slot, client = held_slot(answer, teacher), logged_in(teacher)
    desk = f"/marking/responses/{answer.public_id}/"
    older = _filled(client.get(desk).text, "1", "saved")
    assert client.post(f"{desk}save/", older).status_code == 302
    if returned:
        older = _filled(client.get(f"{desk}?change").text, "1", "saved")
        with transaction.atomic():
            reopen_slots([slot], {slot.pk: teacher.pk}, now=timezone.now())
        client.post(f"/marking/rounds/{made.public_id}/next/")
    typed = _filled(client.get(f"{desk}?change").text, "2", "typed in another browser")
    drafted = client.post(f"{desk}draft/", typed | {"sequence": "1000"})
    assert drafted.status_code == 200
    MarkingRound.objects.update(status=status)
    sent = older | {"point-1": "3", "comment": "sent from the older page"}
    answered = client.post(f"{desk}save/", sent)
    assert answered.status_code == 409
    assert "kept as a draft" not in answered.text
    kept = {mark.comment: mark.stale for mark in Mark.objects.all()}
    if status == RoundStatus.CLOSED:
        assert "marks were not saved" in answered.text
        assert kept == {"saved": False}
    else:
        said = "has returned this response for re-marking, and" if returned else "Both are kept"
        assert said in answered.text
        assert "sent from the older page" in answered.text
        assert kept == {"saved": False, "sent from the older page": True}
    MarkingRound.objects.update(status=RoundStatus.OPEN)
    assert "typed in another browser" in client.get(desk).text


def test_keep_saved_mark_on_an_older_page_discards_no_draft_of_another_browser(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], window_minutes=15)
    (answer,) = answers_of(made)
    held_slot(answer, teacher)
    client, desk = logged_in(teacher), f"/marking/responses/{answer.public_id}/"
    older = _filled(client.get(desk).text, "1", "saved")
    client.post(f"{desk}save/", older)
    typed = _filled(client.get(f"{desk}?change").text, "2", "typed in another browser")
    client.post(f"{desk}draft/", typed | {"sequence": "1000"})
    both = client.post(f"{desk}save/", older | {"comment": "sent from the older page"}).text
    assert 'form="keep">Keep saved mark' in both
    form = both.partition('id="keep"')[2].partition("</form>")[0]
    kept = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    client.post(f"/marking/rounds/{made.public_id}/next/", kept)
    assert "typed in another browser" in client.get(desk).text


@pytest.mark.parametrize("changes", [False, True])
def test_a_save_leaves_the_draft_of_another_browser(
    changes: bool, teacher: User, other_teacher: User
) -> None:
    """It is the draft of a change from then on, and the page that shows it ends it."""
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    held_slot(answer, teacher)
    client, desk = logged_in(teacher), f"/marking/responses/{answer.public_id}/"
    if changes:
        client.post(f"{desk}save/", _filled(client.get(desk).text, "0", ""))
    page = client.get(f"{desk}?change").text
    typed = _filled(page, "2", "typed in another browser")
    client.post(f"{desk}draft/", typed | {"sequence": "1000"})
    assert client.post(f"{desk}save/", _filled(page, "1", "saved")).status_code == 302
    shown = client.get(desk).text
    assert "typed in another browser" in shown
    assert "Below is your draft of a change" in shown
    assert Mark.objects.order_by("-version")[0].comment == "saved"
    assert client.post(f"{desk}save/", _filled(shown, "2", "both")).status_code == 302
    assert Draft.objects.count() == 0


def test_a_mark_that_a_lead_enters_leaves_what_its_teacher_typed_at_the_desk(
    teacher: User, other_teacher: User, lead: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    slot, client = held_slot(answer, teacher), logged_in(teacher)
    desk = f"/marking/responses/{answer.public_id}/"
    typed = _filled(client.get(desk).text, "2", "typed at the desk")
    client.post(f"{desk}draft/", typed | {"sequence": "1000"})
    give(answer, slot.holder, ["1", "1", "1"], from_sheet=True, entered_by=lead)
    shown = client.get(desk).text
    assert "Your draft of a change was not saved (total: 6)." in shown
    assert "typed at the desk" in shown


@pytest.mark.parametrize("to", ["the same", "another"])
def test_what_was_typed_for_a_returned_mark_is_shown_with_the_next_one(
    to: str, teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(made := small_round([teacher, other_teacher], window_minutes=15))
    slot, client = held_slot(answer, teacher), logged_in(teacher)
    desk = f"/marking/responses/{answer.public_id}/"
    client.post(f"{desk}save/", _filled(client.get(desk).text, "1", "saved"))
    typed = _filled(client.get(f"{desk}?change").text, "2", "typed before the return")
    client.post(f"{desk}draft/", typed | {"sequence": "1000"})
    again = teacher if to == "the same" else other_teacher
    with transaction.atomic():
        reopen_slots([slot], {slot.pk: again.pk}, now=timezone.now())
    client = logged_in(again)
    client.post(f"/marking/rounds/{made.public_id}/next/")
    shown = client.get(desk).text
    assert ("typed before the return" in shown) == (again == teacher)
    client.post(f"{desk}save/", _filled(shown, "3", "at last"))
    assert Mark.objects.latest("pk").comment == "at last"
    assert not Draft.objects.filter(teacher=again).exists()


def _filled(page: str, points: str, comment: str) -> dict[str, str]:
    """The marks form of *page* as a browser sends it, with so many *points* for each."""
    form = page.partition('id="marks"')[2].partition("</form>")[0]
    sent = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    sent |= {f"point-{number}": points for number in (1, 2, 3)}
    return sent | {"comment": comment, "seconds": "30"}
