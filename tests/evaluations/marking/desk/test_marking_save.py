"""Saving a mark: what is stored, what is refused, what is kept beside it."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from evaluations.marking.desk.services.drafts import save_draft
from evaluations.marking.desk.services.mark_rows import GivenMark, write_mark
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.marking.services.reopening import reopen_slots
from evaluations.models import Draft, FinalMark, Mark, MarkingRound, PointMark
from evaluations.models.vocabulary import Flag, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.models import ScoringPoint
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    held_slot,
    later,
    planned_pair,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db


def test_a_mark_keeps_the_points_and_their_wording_of_that_day(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher])
    (answer,) = answers_of(made)
    mark = give(
        answer,
        teacher,
        ["3", "1.5", "0"],
        comment=" why ",
        flags=(Flag.CUT_OFF, Flag.REPEATS),
        seconds=41,
    )
    ScoringPoint.objects.update(text="reworded later")
    assert (mark.total, mark.full, mark.version, mark.comment) == (Decimal("4.5"), 12, 1, "why")
    assert (mark.flags, mark.seconds, mark.rubric) == (["cut_off", "repeats"], 41, answer.rubric)
    assert list(PointMark.objects.values_list("wording", "points", "full")) == [
        ("names the law", Decimal(3), Decimal(3)),
        ("sets up the equation", Decimal("1.5"), Decimal(3)),
        ("solves it", Decimal(0), Decimal(6)),
    ]
    slot = mark.slot
    slot.refresh_from_db()
    assert (slot.marked, slot.lease_until, slot.holder) == (True, None, teacher)
    entry = AuditEntry.objects.get(tag="mark.saved")
    assert (entry.actor, entry.detail["total"]) == (teacher, "4.5")


def test_without_a_rubric_there_is_one_total(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], question=subjective_question(rubric=()))
    (answer,) = answers_of(made)
    mark = give(answer, teacher, "7.5")
    assert (mark.total, mark.points.count()) == (Decimal("7.5"), 0)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (["3", "3"], "Scoring points: 3. Marked: 2."),
        ([], "Scoring points: 3. Marked: 0."),
        (["4", "3", "6"], "Scoring point 1: 4 is above its maximum of 3."),
        (["3", "3", "99"], "Scoring point 3: 99 is above its maximum of 6."),
        (["4", "3", "0"], "Scoring point 1: 4 is above its maximum of 3."),
        (["3", "-0.5", "6"], "Scoring point 2: -0.5 is below 0."),
        (["3", "3", "0.25"], "Scoring point 3: 0.25 is not a multiple of 0.5."),
        (["3", "NaN", "6"], "Scoring point 2 has no number."),
        (["3", "sNaN", "6"], "Scoring point 2 has no number."),
        (["3", "3", "Infinity"], "Scoring point 3 has no number."),
        (["3", "3", "1E+400"], "is above its maximum of 6."),
    ],
)
def test_a_mark_that_does_not_fit_is_refused_and_never_bent(
    points: list[str], said: str, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher])
    (answer,) = answers_of(made)
    with pytest.raises(BadInput) as refused:
        give(answer, teacher, points)
    assert said in str(refused.value)
    assert Mark.objects.count() == 0
    assert not held_slot(answer, teacher).marked


@pytest.mark.parametrize(
    ("total", "said"),
    [
        ("12.5", "above the full marks"),
        ("-1", "below 0"),
        ("7.3", "not a multiple of 0.5"),
        ("NaN", "not a number"),
    ],
)
def test_a_total_that_does_not_fit_is_refused(
    total: str, said: str, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], question=subjective_question(rubric=()))
    with pytest.raises(BadInput, match=said):
        give(answers_of(made)[0], teacher, total)
    assert Mark.objects.count() == 0


def test_a_total_beside_points_must_be_their_sum(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    with pytest.raises(BadInput, match="differs from the sum of the scoring points, 3"):
        give(answer, teacher, ["1", "1", "1"], total=Decimal(4))


@pytest.mark.parametrize(
    ("seconds", "stored"), [(0, 0), (41, 41), (None, None), (-1, None), (10**9, None)]
)
def test_seconds_that_cannot_be_true_are_unknown(
    seconds: int | None, stored: int | None, teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    assert give(answer, teacher, ["1", "1", "1"], seconds=seconds).seconds == stored


def test_the_same_request_twice_is_one_mark(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    slot, key = held_slot(answer, teacher), uuid.uuid4()
    points = (Decimal(1), Decimal(1), Decimal(1))
    saved = [
        save_mark(slot, teacher, key=key, based_on_version=0, points=points, now=NOW)
        for _ in range(2)
    ]
    assert [answer.repeated for answer in saved] == [False, True]
    assert saved[0].mark == saved[1].mark
    assert Mark.objects.count() == AuditEntry.objects.filter(tag="mark.saved").count() == 1


def test_the_repeated_request_is_answered_also_when_it_finalized_the_response(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    give(answer, other_teacher, ["1", "1", "1"])
    key = uuid.uuid4()
    first = give(answer, teacher, ["1", "1", "1"], key=key)
    close_round(answer.round, acting_user=None, now=NOW)
    assert give(answer, teacher, ["1", "1", "1"], key=key) == first
    assert FinalMark.objects.count() == 1


def test_a_revision_is_a_new_version_and_the_old_one_stays(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    give(answer, teacher, ["1", "1", "1"])
    give(answer, teacher, ["2", "1", "1"], based_on_version=1)
    versions = Mark.objects.order_by("version").values_list("version", "total", "stale")
    assert list(versions) == [(1, 3, False), (2, 4, False)]
    assert AuditEntry.objects.filter(tag="mark.revised").count() == 1


def test_a_stale_page_overwrites_nothing_and_both_marks_are_shown(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    give(answer, teacher, ["1", "1", "1"], comment="first tab")
    with pytest.raises(Conflict) as refused:
        give(answer, teacher, ["2", "2", "2"], comment="second tab")
    details: dict[str, Any] = dict(refused.value.details)
    assert refused.value.code == "stale_version"
    assert (details["stored"]["total"], details["stored"]["comment"]) == ("3", "first tab")
    assert (details["sent"]["points"], details["sent"]["comment"]) == (
        ["2", "2", "2"],
        "second tab",
    )
    assert list(Mark.objects.values_list("total", "stale")) == [(3, False), (6, True)]
    assert AuditEntry.objects.filter(tag="mark.stale").count() == 1


def test_other_content_under_a_used_key_is_kept_as_stale_once(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    key = uuid.uuid4()
    give(answer, teacher, ["1", "1", "1"], key=key)
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            give(answer, teacher, ["2", "2", "2"], key=key)
        assert refused.value.code == "stale_version"
    assert Mark.objects.filter(stale=False).count() == Mark.objects.filter(stale=True).count() == 1


def test_an_earlier_mark_that_an_old_page_sends_again_is_no_repeated_save(
    teacher: User, other_teacher: User
) -> None:
    """Two windows that show no mark have one key: 3 was saved in one, then changed to 4 there."""
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    key = uuid.uuid4()
    give(answer, teacher, ["1", "1", "1"], key=key)
    counts = give(answer, teacher, ["2", "1", "1"], based_on_version=1)
    for _ in range(2):
        with pytest.raises(Conflict, match="Both are kept") as refused:
            give(answer, teacher, ["1", "1", "1"], key=key)
        details: dict[str, Any] = dict(refused.value.details)
        assert (details["stored"]["total"], details["sent"]["total"]) == ("4", "3")
    marks = Mark.objects.order_by("pk").values_list("version", "total", "stale")
    assert list(marks) == [(1, 3, False), (2, 4, False), (2, 3, True)]
    assert give(answer, teacher, ["2", "1", "1"], key=key) == counts, "what counts is saved"


def test_a_request_with_a_key_of_its_own_is_the_same_whatever_was_saved_since(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    key = uuid.uuid4()
    first = give(answer, teacher, ["1", "1", "1"], key=key, own_key=True)
    give(answer, teacher, ["2", "1", "1"], based_on_version=1)
    assert give(answer, teacher, ["1", "1", "1"], key=key, own_key=True) == first
    assert Mark.objects.count() == 2


def test_a_mark_that_was_returned_is_not_saved_again_by_the_page_that_gave_it(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    mark = give(answer, teacher, ["1", "1", "1"])
    slot = held_slot(answer, teacher)
    with transaction.atomic():
        reopen_slots([slot], {slot.pk: teacher.pk}, now=later(2))
    with pytest.raises(Conflict, match="has returned this response") as refused:
        give(answer, teacher, ["1", "1", "1"], key=mark.key)
    assert (refused.value.code, refused.value.details["stored"]) == ("stale_version", None)
    assert list(Mark.objects.order_by("pk").values_list("stale", flat=True)) == [False, True]
    assert give(answer, teacher, ["1", "1", "1"]).own_version == 1


@pytest.mark.parametrize("by_lead", [True, False])
def test_a_save_from_an_older_page_is_kept_beside_a_mark_that_can_only_be_read(
    by_lead: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    """One that a lead entered from a sheet, or the own one where nothing is revised."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    give(answer, teacher, ["1", "0", "0"], from_sheet=by_lead, entered_by=lead if by_lead else None)
    said = f"{lead} has entered a mark for you" if by_lead else "time for changing it is over"
    key = uuid.uuid4()
    for _ in range(2):
        with pytest.raises(Conflict, match=said) as refused:
            give(answer, teacher, ["3", "3", "3"], comment="my own", key=key)
        details: dict[str, Any] = dict(refused.value.details)
        assert refused.value.code == "settled"
        assert (details["stored"]["total"], details["sent"]["total"]) == ("1", "9")
    marks = Mark.objects.order_by("pk").values_list("total", "comment", "stale", "entered_by")
    by = lead.pk if by_lead else None
    assert list(marks) == [(1, "", False, by), (9, "my own", True, None)]
    entry = AuditEntry.objects.get(tag="mark.stale")
    assert (entry.actor, entry.detail["total"]) == (teacher, "9")


def test_a_stale_page_leaves_the_key_of_the_present_one_to_it(
    teacher: User, other_teacher: User
) -> None:
    """A response whose mark was returned has the key of the change page from before, version 0."""
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    give(answer, teacher, ["1", "1", "1"])
    key = uuid.uuid4()
    slot = held_slot(answer, teacher)
    with transaction.atomic():
        reopen_slots([slot], {slot.pk: teacher.pk}, now=later(2))
    for _ in range(2):  # the change page that was open before, and the same request again
        with pytest.raises(Conflict) as refused:
            give(answer, teacher, ["2", "2", "2"], key=key, based_on_version=1)
        assert refused.value.code == "stale_version"
    stale = Mark.objects.get(stale=True)
    saved = give(answer, teacher, ["2", "2", "2"], key=key)
    assert (saved.stale, saved.own_version, saved.key) == (False, 1, key)
    assert give(answer, teacher, ["2", "2", "2"], key=key) == saved
    with pytest.raises(Conflict):  # the page from before once more, now with the version that is
        give(answer, teacher, ["3", "3", "3"], key=key, based_on_version=1)
    assert Mark.objects.filter(stale=True).count() == 2
    assert stale.key != key


def test_a_response_whose_key_a_stale_mark_has_can_be_marked(
    teacher: User, other_teacher: User
) -> None:
    """As stale marks had it in earlier versions. Its own key does not give away its slot."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    key, values = uuid.uuid4(), [Decimal(1)] * 3
    slot = held_slot(answer, teacher)
    write_mark(slot, teacher, GivenMark(tuple(values)), version=0, stale=True, key=key)
    saved = give(answer, teacher, ["1", "1", "1"], key=key)
    assert (saved.stale, saved.version) == (False, 1)
    assert give(answer, teacher, ["1", "1", "1"], key=key) == saved
    names = [f(number) for number in range(slot.pk + 1) for f in (str, "slot {}".format, repr)]
    assert saved.key not in {uuid.uuid5(key, name) for name in names}


def test_anothers_key_is_refused(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    key = give(answer, teacher, ["1", "1", "1"]).key
    with pytest.raises(BadInput, match="new submission id"):
        give(answer, other_teacher, ["1", "1", "1"], key=key)


def test_who_does_not_hold_the_response_finds_nothing(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    slot = held_slot(answer, teacher)
    for person in (other_teacher, third_teacher):
        with pytest.raises(NotFound):
            save_mark(
                slot,
                person,
                key=uuid.uuid4(),
                based_on_version=0,
                points=(Decimal(1),) * 3,
                now=NOW,
            )
    assert Mark.objects.count() == 0


def test_a_mark_is_not_revised_after_its_window(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    give(answer, teacher, ["1", "1", "1"], now=NOW)
    give(answer, teacher, ["1", "1", "2"], based_on_version=1, now=later(14))
    with pytest.raises(Conflict) as refused:  # a revision adds no time
        give(answer, teacher, ["3", "3", "6"], based_on_version=2, now=later(15))
    assert refused.value.code == "settled"


@pytest.mark.parametrize(("minutes", "told"), [(10, "Save them later"), (30, "Ask the lead")])
def test_who_changes_a_mark_in_a_pause_is_told_whether_its_time_is_over(
    minutes: int, told: str, teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    give(answer, teacher, ["1", "1", "1"], now=NOW)
    MarkingRound.objects.update(status=RoundStatus.PAUSED)
    with pytest.raises(Conflict, match=told):
        give(answer, teacher, ["2", "2", "2"], based_on_version=1, now=later(minutes))
    assert Draft.objects.get().content["version"] == 1


def test_a_closed_round_keeps_the_marks_as_a_draft(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    slot = held_slot(answer, teacher)
    save_draft(slot, teacher, sequence=8, content={"comment": "older"}, now=NOW)
    close_round(answer.round, acting_user=None, now=NOW)
    with pytest.raises(Conflict) as refused:
        give(answer, teacher, ["1", "1", "1"], comment="typed")
    assert refused.value.code == "round_closed"
    draft = Draft.objects.get(slot=slot)
    assert (draft.sequence, draft.content["comment"]) == (9, "typed")
    assert draft.content["points"] == ["1", "1", "1"]


# Two teachers of a 12-point item; the tolerance is 1 point, and a difference of 1 passes.
@pytest.mark.parametrize(
    ("scheme", "first", "second", "value", "rule", "opened"),
    [
        (Scheme.MEAN, ["3", "3", "6"], ["0", "0", "0"], "6", "mean of two", None),
        (Scheme.MEAN, ["3", "3", "5.5"], ["0", "0", "0"], "5.75", "mean of two", None),
        (Scheme.TWO_AND_LEAD, ["3", "3", "6"], ["3", "3", "5"], "11.5", "mean of two", None),
        (Scheme.TWO_AND_LEAD, ["3", "3", "6"], ["3", "3", "4.5"], None, "", "arbitration"),
        (Scheme.THREE_AND_LEAD, ["3", "3", "6"], ["3", "3", "4.5"], None, "", "third"),
    ],
)
def test_what_two_marks_lead_to(
    scheme: Scheme,
    first: list[str],
    second: list[str],
    value: str | None,
    rule: str,
    opened: str | None,
    teacher: User,
    other_teacher: User,
    third_teacher: User,
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher, third_teacher], scheme=scheme))
    one, two = planned_pair(answer)
    marks = [give(answer, one, first), give(answer, two, second)]
    if value is None:
        assert not answer.finals.exists()
        assert set(answer.slots.values_list("kind", flat=True)) == {"first", "second", opened}
        return
    final = answer.finals.get()
    assert (final.value, final.full, final.rule) == (Decimal(value), 12, rule)
    assert [source.mark for source in final.sources.order_by("place")] == marks


# First 12, second 6, tolerance 1: what a third mark makes of it.
@pytest.mark.parametrize(
    ("third", "value", "rule", "used"),
    [
        (["3", "3", "5"], "11.5", "mean of closest pair (1 and 3)", [0, 2]),
        (["3", "3", "1"], "6.5", "mean of closest pair (2 and 3)", [1, 2]),
        (["3", "3", "3"], None, "", []),
    ],
)
def test_what_a_third_mark_leads_to(
    third: list[str],
    value: str | None,
    rule: str,
    used: list[int],
    teacher: User,
    other_teacher: User,
    third_teacher: User,
) -> None:
    people = [teacher, other_teacher, third_teacher]
    (answer,) = answers_of(small_round(people, scheme=Scheme.THREE_AND_LEAD))
    one, two = planned_pair(answer)
    marks = [give(answer, one, ["3", "3", "6"]), give(answer, two, ["3", "3", "0"])]
    (three,) = [person for person in people if person not in (one, two)]
    answer.slots.filter(kind=SlotKind.THIRD).update(planned=three)
    marks.append(give(answer, three, third))
    if value is None:
        assert answer.slots.filter(kind=SlotKind.ARBITRATION, marked=False).exists()
        return
    final = answer.finals.get()
    assert (final.value, final.rule) == (Decimal(value), rule)
    assert [source.mark for source in final.sources.order_by("place")] == [
        marks[place] for place in used
    ]


def test_one_teacher_is_enough_where_the_scheme_says_so(teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher], scheme=Scheme.SINGLE))
    give(answer, teacher, ["1", "1", "1"])
    assert answer.finals.get().rule == "single mark"
