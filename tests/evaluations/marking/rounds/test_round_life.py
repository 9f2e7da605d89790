"""A started round: paused and resumed, more time, more teachers, marking notes, and its checks."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from evaluations.facts.looks import record_view
from evaluations.marking.desk.selectors.desk import own_progress
from evaluations.marking.desk.selectors.queue import EmptyReason, why_empty
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.slots import claim_next, skip, take
from evaluations.marking.monitoring.services.monitoring import pause_teacher
from evaluations.marking.rounds.selectors.kept_drafts import kept_drafts
from evaluations.marking.rounds.selectors.marking_notes import notes_for_judge, versions_of
from evaluations.marking.rounds.selectors.rounds import (
    answers_by_state,
    round_list,
    round_progress,
    teacher_loads,
)
from evaluations.marking.rounds.services import rounds
from evaluations.marking.rounds.services.marking_notes import write_marking_notes
from evaluations.marking.rounds.services.rounds import (
    add_teachers,
    close_round,
    pause_round,
    resume_round,
    set_deadline,
)
from evaluations.marking.rules.queue_places import APART
from evaluations.marking.services import finalizing
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import (
    BlindAnswer,
    Draft,
    FinalMark,
    LanguageModel,
    Mark,
    MarkingRound,
    SeedAnswer,
    Slot,
)
from evaluations.models.vocabulary import AnswerRole, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    later,
    responses_to,
    round_over,
    slot_of,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
POINTS = ["3", "2", "6"]


def saved(slot: Slot, teacher: User) -> Mark:
    """The mark of *teacher* for what they hold."""
    points = tuple(Decimal(value) for value in POINTS)
    given: dict[str, Any] = {"key": uuid.uuid4(), "based_on_version": 0, "points": points}
    return save_mark(slot, teacher, now=later(1), **given).mark


# ---- pausing ----


def test_a_paused_round_gives_nothing_out_and_keeps_what_is_typed(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 3)
    slot = claimed(teacher, made)
    pause_round(made, acting_user=lead)
    assert why_empty(teacher, made, NOW).reason == EmptyReason.ROUND_PAUSED
    assert claim_next(teacher, round=made, now=NOW) is None
    with pytest.raises(Conflict, match=r"paused\. Your marks are kept as a draft") as refused:
        saved(slot, teacher)
    assert refused.value.code == "round_paused"
    assert Draft.objects.get(slot=slot).content["points"] == POINTS
    assert [draft.teacher for draft in kept_drafts(made)] == ["tao"]
    resume_round(made, acting_user=lead)
    assert claimed(teacher, made) == slot, "what was at hand comes back first"
    assert saved(slot, teacher).total == Decimal(11)
    tags = AuditEntry.objects.filter(actor=lead).order_by("id").values_list("tag", flat=True)
    assert list(tags) == ["round.paused", "round.resumed"]


@pytest.mark.parametrize(
    ("status", "action", "said"),
    [
        (RoundStatus.PAUSED, pause_round, "already paused"),
        (RoundStatus.PLANNED, pause_round, "has not started yet"),
        (RoundStatus.CLOSED, pause_round, "already closed"),
        (RoundStatus.OPEN, resume_round, "already started"),
        (RoundStatus.CLOSED, resume_round, "already closed"),
    ],
)
def test_what_does_not_fit_the_state_of_a_round_is_refused_in_a_sentence(
    status: str, action: Any, said: str, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher])
    MarkingRound.objects.filter(pk=made.pk).update(status=status)
    with pytest.raises(Conflict, match=said):
        action(made, acting_user=None)
    made.refresh_from_db()
    assert made.status == status


def test_a_save_after_the_end_is_refused_and_its_draft_shown_to_the_lead(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 2)
    slot = claimed(teacher, made)
    close_round(made, acting_user=None, now=NOW)
    with pytest.raises(Conflict, match=r"closed\. Your marks are kept") as refused:
        saved(slot, teacher)
    assert (refused.value.status, refused.value.code) == (409, "round_closed")
    (kept,) = kept_drafts(made)
    assert (kept.teacher, kept.alias, kept.points) == ("tao", slot.answer.alias, tuple(POINTS))
    assert not Mark.objects.exists()


def test_a_change_that_is_sent_after_the_end_is_shown_to_the_lead(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 2, window_minutes=15)
    slot = claimed(teacher, made)
    saved(slot, teacher)
    close_round(made, acting_user=None, now=later(2))
    points = tuple(Decimal(value) for value in ("1", "1", "1"))
    given: dict[str, Any] = {"key": uuid.uuid4(), "based_on_version": 1, "points": points}
    with pytest.raises(Conflict, match=r"closed\. Your marks are kept"):
        save_mark(slot, teacher, comment="too generous", now=later(3), **given)
    page = logged_in(lead).get(reverse("rounds:round", args=[made.public_id])).text
    drafts = page.partition('id="drafts-title"')[2].partition("</section>")[0]
    for shown in (slot.answer.alias, "1 · 1 · 1", "too generous", "Change of a saved mark"):
        assert shown in drafts
    Draft.objects.update(content={"comment": "of an older mark", "version": 0})
    assert kept_drafts(made) == []


# ---- time and teachers ----


def test_a_response_that_cannot_be_finalized_stops_no_other(
    teacher: User,
    other_teacher: User,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It has one mark more than its scheme; its closed round says that it has no final mark."""
    monkeypatch.setattr(finalizing.logger, "handlers", [])
    people = [teacher, other_teacher]
    made, next_round = (
        small_round(people, n, scheme=Scheme.SINGLE, window_minutes=15) for n in (2, 1)
    )
    odd, sound, last = [*answers_of(made), *answers_of(next_round)]
    for answer in (odd, sound, last):
        give(answer, answer.slots.get().planned, ["3", "3", "6"])
    (other,) = {*people} - {odd.slots.get().holder}
    Slot.objects.create(answer=odd, kind=SlotKind.SECOND, planned=other)
    give(odd, other, ["3", "3", "6"])
    finalizing.finalize_all_due(later(60))
    assert {one.pk for one in BlindAnswer.objects.filter(final=None)} == {odd.pk}
    assert f"the blind answer {odd.pk} cannot be finalized" in caplog.text
    close_round(made, acting_user=None, now=later(61))
    assert made.status == RoundStatus.CLOSED
    assert AuditEntry.objects.get(tag="round.finalized").detail == {"unsettled": 1}


def test_a_deadline_is_set_moved_and_taken_away(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher])
    for deadline in (NOW + timedelta(days=1), NOW + timedelta(days=2), None):
        set_deadline(made, deadline, acting_user=None, now=NOW)
        assert made.deadline == deadline
    with pytest.raises(BadInput, match="already passed"):
        set_deadline(made, NOW, acting_user=None, now=NOW)
    details = [entry.detail for entry in AuditEntry.objects.filter(tag="round.deadline")]
    assert {"before": "2026-09-02T10:00:00+00:00", "after": "2026-09-03T10:00:00+00:00"} in details
    close_round(made, acting_user=None, now=NOW)
    with pytest.raises(Conflict, match="already closed"):
        set_deadline(made, NOW + timedelta(days=1), acting_user=None, now=NOW)


def test_a_deadline_that_passed_closes_nothing(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 1)
    set_deadline(made, NOW + timedelta(minutes=1), acting_user=None, now=NOW)
    assert claimed(teacher, made, later(60))


def test_a_teacher_who_comes_later_shares_what_nobody_holds(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """12 responses, 24 marks; 2 are given and one is at hand: a third of 10 and of 11 moves."""
    made = small_round([teacher, other_teacher], 12, scheme=Scheme.MEAN)
    for _ in range(2):
        saved(claimed(teacher, made), teacher)
    at_hand = claimed(other_teacher, made)
    assert add_teachers(made, [third_teacher], acting_user=lead) == 6
    theirs = Slot.objects.filter(planned=third_teacher)
    assert theirs.count() == 6
    assert not theirs.filter(pk=at_hand.pk).exists()
    assert theirs.values("answer").distinct().count() == 6, "never both marks of one response"
    places = [place * APART for place in range(1, 7)]
    assert sorted(theirs.values_list("order", flat=True)) == places
    entry = AuditEntry.objects.get(tag="round.teachers")
    assert entry.detail == {"added": ["yan"], "responses": 6}
    assert claimed(third_teacher, made).planned == third_teacher


def test_who_comes_later_gets_seeds_and_repeats_too(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    made = round_over(
        responses_to(subjective_question(), 50), [teacher, other_teacher], scheme=Scheme.MEAN
    )
    MarkingRound.objects.filter(pk=made.pk).update(repeat_share=Decimal("0.02"))
    made.refresh_from_db()
    seed = answers_of(made)[0]
    seed.slots.all().delete()
    BlindAnswer.objects.filter(pk=seed.pk).update(role=AnswerRole.SEED)
    SeedAnswer.objects.create(answer=seed, total=Decimal(9), author=lead)
    # 98 marks are left; a third of them is 32, and 2 % of 32 is 0.64.
    assert add_teachers(made, [third_teacher], acting_user=lead) == 32
    kinds = Slot.objects.filter(planned=third_teacher).values_list("kind", flat=True)
    assert list(kinds).count(SlotKind.SEED.value) == 1
    assert list(kinds).count(SlotKind.REPEAT.value) == 1


@pytest.mark.parametrize("who", ["nobody", "curator", "teacher"])
def test_who_cannot_be_added(who: str, teacher: User, other_teacher: User, curator: User) -> None:
    made = small_round([teacher, other_teacher])
    people = {"nobody": [], "curator": [curator], "teacher": [teacher]}[who]
    said = {
        "nobody": "at least one",
        "curator": "is not allowed to mark",
        "teacher": "tao is already in this round",
    }
    with pytest.raises(BadInput, match=said[who]):
        add_teachers(made, people, acting_user=None)
    close_round(made, acting_user=None, now=NOW)


# ---- checks in the queue ----


@pytest.fixture
def checked(teacher: User, other_teacher: User, lead: User) -> MarkingRound:
    """Thirteen responses, a seed answer and one repeat for each of two teachers."""
    made = small_round([teacher, other_teacher], 13, scheme=Scheme.MEAN)
    seed = answers_of(made)[0]
    seed.slots.all().delete()
    BlindAnswer.objects.filter(pk=seed.pk).update(role=AnswerRole.SEED)
    SeedAnswer.objects.create(answer=seed, total=Decimal(9), points=POINTS, author=lead)
    for person in (teacher, other_teacher):
        Slot.objects.create(answer=seed, kind=SlotKind.SEED, planned=person, order=3)
        first = Slot.objects.filter(planned=person).order_by("order").earliest("order").answer
        again = BlindAnswer.objects.create(
            round=made, response=first.response, question=first.question,
            revision=first.revision, rubric=first.rubric, role=AnswerRole.REPEAT,
            repeat_of=first, alias=f"R-0{person.pk}00", full_marks=first.full_marks,
            tolerance=first.tolerance,
        )  # fmt: skip
        Slot.objects.create(answer=again, kind=SlotKind.REPEAT, planned=person, order=11)
    return made


def queue_of(teacher: User, made: MarkingRound) -> list[str]:
    """The kinds of everything that *teacher* gets and marks, in order."""
    kinds = []
    while slot := claim_next(teacher, round=made, now=NOW):
        kinds.append(slot.kind)
        saved(slot, teacher)
    return kinds


def test_a_teacher_meets_their_checks_and_nobody_elses(
    checked: MarkingRound, teacher: User
) -> None:
    assert own_progress(teacher, checked).total == 14
    kinds = queue_of(teacher, checked)
    assert (kinds.count("seed"), kinds.count("repeat"), len(kinds)) == (1, 1, 14)
    assert own_progress(teacher, checked).total == own_progress(teacher, checked).marked == 14
    others = Slot.objects.exclude(planned=teacher).filter(kind__in=["seed", "repeat"])
    assert others.count() == 2
    assert not others.filter(marked=True).exists()
    for slot in others:
        assert not take(slot.pk, teacher, until=later(30), now=NOW), "not even by its key"


def test_a_repeat_opens_only_when_its_first_was_marked_by_the_same_teacher(
    checked: MarkingRound, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    repeat = Slot.objects.get(kind=SlotKind.REPEAT, planned=teacher)
    first = Slot.objects.get(answer=repeat.answer.repeat_of, planned=teacher)
    Slot.objects.filter(pk=first.pk).update(holder=third_teacher, marked=True)
    theirs = first.answer.slots.filter(planned=other_teacher)
    theirs.update(holder=other_teacher, marked=True)  # or this teacher could help out there
    assert "repeat" not in queue_of(teacher, checked)
    progress = own_progress(teacher, checked)
    assert progress.marked == progress.total, "what cannot come is not counted"


def test_a_repeat_does_not_follow_its_first_when_that_was_skipped(
    checked: MarkingRound, teacher: User
) -> None:
    repeat = Slot.objects.get(kind=SlotKind.REPEAT, planned=teacher)
    first = claimed(teacher, checked)
    assert first.answer == repeat.answer.repeat_of
    skip(first, teacher, now=NOW)
    got = []
    while slot := claim_next(teacher, round=checked, now=NOW):
        got.append(slot)
        saved(slot, teacher)
    assert got[-2] == first, "only when nothing else is left"
    assert got[-1] == repeat


def test_marks_of_checks_count_for_no_response(
    checked: MarkingRound, teacher: User, other_teacher: User
) -> None:
    queue_of(teacher, checked)
    queue_of(other_teacher, checked)
    finalize_due(checked, now=later(60))
    seed = checked.answers.get(role=AnswerRole.SEED)
    assert seed.slots.filter(marked=True).count() == 2
    repeats = checked.answers.filter(role=AnswerRole.REPEAT)
    assert not FinalMark.objects.filter(answer__in=[seed, *repeats]).exists()
    assert set(answers_by_state(checked).values_list("role", flat=True)) == {"answer"}
    progress = round_progress(checked)
    assert (progress.responses, progress.final, progress.marks) == (12, 12, 24)
    row = round_list().get()
    assert (row.responses, row.final) == (12, 12)
    for load in teacher_loads(checked):
        assert (load.planned, load.marked) == (12, 12)
        assert (load.seeds.planned, load.seeds.marked) == (1, 1)
        assert (load.repeats.planned, load.repeats.marked) == (1, 1)


def test_a_check_can_be_revised_like_any_mark(checked: MarkingRound, teacher: User) -> None:
    MarkingRound.objects.filter(pk=checked.pk).update(window_minutes=15)
    seed = Slot.objects.get(kind=SlotKind.SEED, planned=teacher)
    assert take(seed.pk, teacher, until=later(30), now=NOW)
    saved(seed, teacher)
    seed.refresh_from_db()
    again = save_mark(
        seed, teacher, key=uuid.uuid4(), based_on_version=1, points=(Decimal(1),) * 3, now=later(2)
    )
    assert (again.mark.version, again.mark.total) == (2, Decimal(3))


# ---- point tolerance ----


def test_opposite_errors_go_to_the_lead_where_points_must_agree(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 2, point_tolerance=Decimal(1))
    one, other = answers_of(made)
    for answer, second in ((one, ["1", "3", "6"]), (other, ["2", "3", "5"])):
        give(answer, teacher, ["3", "1", "6"] if answer == one else ["3", "2", "5"])
        give(answer, other_teacher, second)
    one.refresh_from_db()
    other.refresh_from_db()
    assert one.final is None, "10 and 10, but two points are 2 apart"
    assert slot_of(one, SlotKind.ARBITRATION)
    assert other.final is not None
    assert other.final.value == Decimal(10)


# ---- marking notes ----


def test_marking_notes_have_versions_and_the_newest_is_at_the_desk(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 1, marking_notes="Half marks.")
    assert write_marking_notes(made, "Full marks.", to_judge=False, seen=1, acting_user=lead)
    assert write_marking_notes(made, "Full marks.", to_judge=True, seen=2, acting_user=lead) is None
    rows = [(one.number, one.text, one.author) for one in versions_of(made)]
    assert rows == [(2, "Full marks.", lead), (1, "Half marks.", None)]
    assert claimed(teacher, made).answer.round.marking_notes == "Full marks."
    assert (made.notes_to_judge, AuditEntry.objects.filter(tag="round.ruled").count()) == (
        True,
        2,
    )
    with pytest.raises(Conflict, match="Somebody else"):
        write_marking_notes(made, "Mine.", to_judge=True, seen=1, acting_user=lead)
    close_round(made, acting_user=None, now=NOW)
    with pytest.raises(Conflict, match="closed"):
        write_marking_notes(made, "Too late.", to_judge=True, seen=2, acting_user=lead)


def test_no_text_of_a_lead_tells_teachers_a_model(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Of any model here, unnamed: a lead who marks in the round learns nothing by trying names."""
    made = small_round([teacher, other_teacher], 1, marking_notes="Half.")
    LanguageModel.objects.create(name="makers/spark-4-0314")
    sentence = "Teachers can read this text, and it contains the name of a model. Leave it out."
    for name in ("canary-gpt-7f3a", "Spark 4"):
        text = f"All by {name}."
        with pytest.raises(BadInput) as noted:
            write_marking_notes(made, text, to_judge=False, seen=1, acting_user=lead)
        with pytest.raises(BadInput) as paused:
            pause_teacher(made, teacher, reason=text, acting_user=lead, now=NOW)
        with pytest.raises(BadInput) as planned:
            small_round([teacher, other_teacher], 1, name="Other", marking_notes=text)
        said = {(str(one.value), one.value.code) for one in (noted, paused, planned)}
        assert said == {(sentence, "names_model")}
    MarkingRound.objects.filter(pk=made.pk).update(marking_notes="By Spark 4.")
    write_marking_notes(made, "By Spark 4.", to_judge=True, seen=1, acting_user=lead)
    made.refresh_from_db()
    assert made.notes_to_judge, "of an older text the judge can still be told"


def test_a_judge_is_told_only_where_the_round_says_so(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 1, marking_notes="Half marks.")
    (answer,) = answers_of(made)
    now = made.notes_versions.get().created_at
    assert notes_for_judge(answer.response, now) is None
    MarkingRound.objects.filter(pk=made.pk).update(notes_to_judge=True)
    assert notes_for_judge(answer.response, now) == made.notes_versions.get()
    assert notes_for_judge(answer.response, now - timedelta(seconds=1)) is None
    elsewhere = responses_to(answer.question, 1)[0]
    assert notes_for_judge(elsewhere, now) is None
    MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.PLANNED)
    assert notes_for_judge(answer.response, now) is None


def test_who_looks_while_they_are_added_is_refused(
    teacher: User,
    other_teacher: User,
    third_teacher: User,
    lead: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To share out takes a while, in which a page of marks is still open to them."""
    made = small_round([teacher, other_teacher], 4)
    real = rounds.share_out

    def looking(*args: Any, **options: Any) -> int:
        record_view(made, acting_user=third_teacher, page="response")
        return real(*args, **options)

    monkeypatch.setattr(rounds, "share_out", looking)
    with pytest.raises(BadInput, match="has looked at responses or marks"):
        add_teachers(made, [third_teacher], acting_user=lead)
    assert not made.pool.filter(teacher=third_teacher).exists()
