"""Responses taken away on sheets: held, not at the desk, given back, read once only."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from evaluations.marking.desk.selectors.queue import EmptyReason, has_work, why_empty
from evaluations.marking.desk.services.drafts import save_draft
from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.desk.services.slots import claim_next
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.marking.services.finalizing import finalize_due
from evaluations.marking.sheets.rules.sheet_rows import FilledRow
from evaluations.marking.sheets.selectors import sheet_lines, slots_on, states_of
from evaluations.marking.sheets.services.marking_sheets import return_sheet
from evaluations.marking.sheets.services.sheet_reading import (
    RowState,
    check_rows,
    hold_rows,
    rows_of_file,
    save_rows,
)
from evaluations.models import BlindAnswer, FinalMark, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import Flag, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, Refusal
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    later,
    small_round,
    subjective_question,
)
from tests.evaluations.sheet_world import DAY, taken
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Four responses of 12 points; each teacher marks all of them."""
    return small_round([teacher, other_teacher], 4)


def row(sheet, answer: BlindAnswer, *points: str, line: int = 2, **fields) -> FilledRow:  # type: ignore[no-untyped-def]
    cells = {"version": "0", "total": "", "comment": "", "flags": ""}
    cells |= {"sheet": str(sheet.public_id), "response": str(answer.public_id)}
    return FilledRow(line=line, points=points, **(cells | fields))


def on(sheet) -> list[BlindAnswer]:  # type: ignore[no-untyped-def]
    return [slot.answer for slot in slots_on(sheet, NOW).select_related("answer__round")]


def states(checked) -> list[RowState]:  # type: ignore[no-untyped-def]
    return [one.state for one in checked]


# ---- taking away ----


def test_a_sheet_holds_the_next_of_the_queue_and_the_desk_goes_on_after_them(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    sheet = taken(made, teacher, 3)
    assert (sheet.responses, slots_on(sheet, NOW).count()) == (3, 3)
    assert sheet.held_until.astimezone().date() in (DAY, DAY + timedelta(days=1))
    at_desk = claim_next(teacher, round=made, now=later(5))
    assert at_desk is not None
    assert at_desk.answer not in on(sheet)
    Slot.objects.filter(pk=at_desk.pk).update(marked=True)
    assert not has_work(teacher, made, later(6)), "what is on a sheet is not at the desk"
    theirs = claim_next(other_teacher, round=made, now=later(7))
    assert theirs is not None, "the other mark of each response is as free as before"
    empty = why_empty(teacher, made, later(6))
    assert (empty.reason, empty.until) == (EmptyReason.ON_SHEET, sheet.held_until)
    entry = AuditEntry.objects.get(tag="sheet.taken")
    assert (entry.actor, entry.detail["responses"]) == (teacher, 3)


def test_a_draft_at_the_desk_takes_no_response_off_its_sheet(
    made: MarkingRound, teacher: User
) -> None:
    """A lease that outlasts the sheet lengthened what was on it, and another sheet was given."""
    MarkingRound.objects.update(lease_minutes=14 * 1440, sheet_responses=3)
    made.refresh_from_db()
    sheet = taken(made, teacher, 3)
    slots = list(slots_on(sheet, NOW).select_related("answer__round", "answer__rubric"))
    for slot in slots:
        save_draft(slot, teacher, sequence=1, content={"comment": "so far"}, now=NOW)
    assert slots_on(sheet, NOW).count() == 3
    with pytest.raises(Refusal):
        taken(made, teacher, 1)
    after = sheet.held_until + timedelta(minutes=1)
    save_draft(slots[0], teacher, sequence=2, content={"comment": "later"}, now=after)
    assert Slot.objects.get(pk=slots[0].pk).lease_until > after + timedelta(days=13)


def test_two_sheets_of_one_day_are_two(made: MarkingRound, teacher: User) -> None:
    first, second = taken(made, teacher, 1), taken(made, teacher, 2)
    assert (len(on(first)), len(on(second))) == (1, 2)
    assert not set(on(first)) & set(on(second))


def test_a_sheet_ends_by_itself(made: MarkingRound, teacher: User, other_teacher: User) -> None:
    """A round of one mark each: after the last day whoever comes first gets what was held."""
    single = small_round([teacher, other_teacher], 2, scheme=Scheme.SINGLE)
    sheet = taken(single, teacher, 2)
    assert claim_next(other_teacher, round=single, now=later(60 * 24)) is None
    late = sheet.held_until + timedelta(seconds=1)
    rows = [row(sheet, answer, "3", "3", "6") for answer in on(sheet)]
    assert not sheet_lines(sheet, late), "which responses others take would show the checks"
    assert [one.left for one in states_of([sheet], late)] == [None]
    assert return_sheet(sheet, acting_user=teacher, now=late) == 0
    assert has_work(teacher, single, late)
    gone = claim_next(other_teacher, round=single, now=late)
    assert gone is not None
    hold_rows(sheet, rows, now=late)
    checked = check_rows(sheet, rows, now=late)
    states = {one.slot.answer_id if one.slot else gone.answer_id: one.state for one in checked}
    assert states.pop(gone.answer_id) == RowState.BAD
    ((kept, state),) = states.items()
    assert state == RowState.NEW
    assert claim_next(other_teacher, round=single, now=late) == gone, "the other is held anew"
    assert Slot.objects.get(answer=kept, holder=teacher).lease_until > late


def test_a_draft_at_the_desk_does_not_shorten_the_hold(made: MarkingRound, teacher: User) -> None:
    sheet = taken(made, teacher, 1)
    slot = slots_on(sheet, NOW).select_related("answer__round").get()
    save_draft(slot, teacher, sequence=1, content={"comment": "x"}, now=later(1))
    assert slots_on(sheet, NOW).count() == 1


def test_what_is_given_back_is_in_the_queue_again(made: MarkingRound, teacher: User) -> None:
    sheet = taken(made, teacher, 4)
    save_rows(sheet, [row(sheet, on(sheet)[0], "3", "3", "6")], acting_user=teacher, now=NOW)
    assert return_sheet(sheet, acting_user=teacher, now=later(1)) == 3
    assert slots_on(sheet, NOW).count() == 0
    assert has_work(teacher, made, later(2))
    assert Mark.objects.count() == 1
    assert return_sheet(sheet, acting_user=teacher, now=later(2)) == 0


def test_sheets_taken_at_the_same_time_are_told_apart(made: MarkingRound, teacher: User) -> None:
    """Between them a request that finds nothing, which leaves no sheet."""
    sheets = [taken(made, teacher, 1), taken(made, teacher, 3)]
    with pytest.raises(Conflict, match="no responses to download"):
        taken(made, teacher, 1)
    assert return_sheet(sheets[1], acting_user=teacher, now=NOW) == 3
    sheets.append(taken(made, teacher, 1))
    assert [len(on(sheet)) for sheet in sheets] == [1, 0, 1]
    assert len({sheet.held_until for sheet in sheets}) == 3


def test_nobody_holds_more_than_30_responses_at_once(teacher: User, other_teacher: User) -> None:
    """Hoarding: sheet after sheet, until they come back or their time ends."""
    made = small_round([teacher, other_teacher], 40)
    sheets = [taken(made, teacher, 20), taken(made, teacher, 10)]
    with pytest.raises(Conflict, match="holds 30 responses"):
        taken(made, teacher, 1)
    return_sheet(sheets[1], acting_user=teacher, now=later(1))
    assert len(on(taken(made, teacher, 10))) == 10
    after = {"until": DAY + timedelta(days=7), "now": NOW + timedelta(days=8)}
    assert len(on(taken(made, teacher, 30, **after))) == 30


@pytest.mark.parametrize(
    ("responses", "until", "said"),
    [
        (0, DAY, "1 to 30"),
        (31, DAY, "1 to 30"),
        (5, date(2026, 8, 31), "between today"),
        (5, date(2026, 9, 9), "7 days"),
    ],
)
def test_what_cannot_be_taken(
    responses: int, until: date, said: str, made: MarkingRound, teacher: User
) -> None:
    with pytest.raises(BadInput, match=said):
        taken(made, teacher, responses, until=until)
    assert not made.sheets.exists()


def test_who_cannot_take(made: MarkingRound, teacher: User, third_teacher: User) -> None:
    with pytest.raises(BadInput, match="is not a teacher of this round"):
        taken(made, third_teacher)
    made.pool.filter(teacher=teacher).update(paused=True)
    with pytest.raises(Conflict, match="paused"):
        taken(made, teacher)
    made.pool.update(paused=False)
    taken(made, teacher, 4)
    with pytest.raises(Conflict, match="no responses to download"):
        taken(made, teacher)
    close_round(made, acting_user=None, now=NOW)
    with pytest.raises(Conflict, match="not open"):
        taken(made, teacher)
    assert made.sheets.count() == 1


def test_a_sheet_takes_third_marks_as_the_desk_does(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    (answer,) = answers_of(small_round(people, scheme=Scheme.THREE_AND_LEAD))
    first, second = (slot.planned for slot in answer.slots.order_by("kind"))
    assert first
    assert second
    give(answer, first, ["3", "3", "6"])
    give(answer, second, ["0", "0", "0"])
    (third,) = set(people) - {first, second}
    sheet = taken(answer.round, third)
    assert slots_on(sheet, NOW).get().kind == SlotKind.THIRD
    save_rows(sheet, [row(sheet, answer, "3", "2", "6")], acting_user=third, now=NOW)
    finalize_due(answer.round, now=NOW)
    assert answer.finals.get().rule == "mean of closest pair (1 and 3)"


# ---- reading back ----


def test_rows_are_checked_and_saved_once_only(made: MarkingRound, teacher: User) -> None:
    sheet = taken(made, teacher)
    one, two, three, four = on(sheet)
    rows = [
        row(sheet, one, "3", "2.5", "6", comment="'=good", flags="Cut off, 拒答"),
        row(sheet, two, "3", "3", "6", total="12", line=3),
        row(sheet, three, "", "", "", line=4),
        row(sheet, four, "4", "0", "0", line=5),
    ]
    assert states(check_rows(sheet, rows, now=later(2))) == ["new", "new", "empty", "bad"]
    assert not Mark.objects.exists()
    done = save_rows(sheet, rows, acting_user=teacher, now=later(1))
    assert states(done) == ["saved", "saved", "empty", "bad"]
    assert done[3].sentence == "Scoring point 1: 4 is above its maximum of 3."
    mark = Mark.objects.get(slot__answer=one)
    assert (mark.total, mark.comment, mark.flags) == (
        Decimal("11.5"),
        "=good",
        [Flag.CUT_OFF.value, Flag.REFUSES.value],
    )
    again = save_rows(sheet, rows, acting_user=teacher, now=later(2))
    assert states(again) == ["same", "same", "empty", "bad"]
    assert Mark.objects.count() == 2
    assert AuditEntry.objects.filter(tag="sheet.read").count() == 2
    assert [line.item.alias for line in sheet_lines(sheet, NOW)] == [three.alias, four.alias]


def with_window(made: MarkingRound) -> None:
    """Let saved marks be revised for 15 minutes from now on."""
    MarkingRound.objects.filter(pk=made.pk).update(window_minutes=15)


def test_guesses_of_a_lead_who_marks_first_say_nothing_of_a_returned_mark(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Its teacher will perhaps give it again, and it may come to the lead then."""
    question = subjective_question(())
    made = small_round([teacher, other_teacher], question=question, arbiter_marks_first=True)
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    given = row(sheet, answer, total="7.5")
    save_rows(sheet, [given], acting_user=teacher, now=later(1))
    choice = ReturnChoice(aliases=[answer.alias])
    return_marks(made, teacher, choice, to_others=False, acting_user=lead, now=later(2))
    assert claim_next(teacher, round=made, now=later(3)) is not None
    said = []
    for guess in (given, row(sheet, answer, total="3")):
        (read,) = check_rows(sheet, [guess], acting_user=lead, now=later(4))
        said.append((read.state, read.sentence))
    assert said[0] == said[1]
    (own,) = check_rows(sheet, [given], now=later(4))
    assert "returned for re-marking" in own.sentence


def test_a_mark_of_a_sheet_is_not_changed_by_another_copy(
    made: MarkingRound, other_teacher: User, teacher: User
) -> None:
    """The same whether the partner has marked or not: an uploaded mark has no window."""
    sheet = taken(made, teacher)
    answer = on(sheet)[0]
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=teacher, now=later(1))
    said = []
    for _ in range(2):
        new = [row(sheet, answer, "3", "3", "5", version=version) for version in ("0", "1")]
        rows = [*check_rows(sheet, new, now=later(2))[:1], *check_rows(sheet, new[1:], now=NOW)]
        said.append([(one.state, one.sentence) for one in rows])
        if not FinalMark.objects.exists():
            give(answer, other_teacher, ["3", "3", "6"])
    assert said[0] == said[1]
    assert all("is over" in sentence for _state, sentence in said[0])


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({"comment": "all there"}, "comment"),
        ({"flags": "Cut off"}, "flags"),
        ({"comment": "all there", "flags": "Cut off"}, "notes"),
        ({"comment": "short", "flags": ""}, "same"),
    ],
)
def test_a_row_says_when_only_comment_or_flags_change(
    changed: dict[str, str], state: str, made: MarkingRound, teacher: User
) -> None:
    sheet = taken(made, teacher)
    answer = on(sheet)[0]
    with_window(made)
    give(answer, teacher, ["3", "3", "6"], comment="short")
    given = {"comment": "short", "version": "1"} | changed
    again = [row(sheet, answer, "3", "3", "6", **given)]
    (checked,) = check_rows(sheet, again, now=later(2))
    assert checked.state == state
    (done,) = save_rows(sheet, again, acting_user=teacher, now=later(2))
    assert (done.state, Mark.objects.count()) == (("same", 1) if state == "same" else ("saved", 2))


def test_a_mark_of_the_desk_is_not_written_over(made: MarkingRound, teacher: User) -> None:
    sheet = taken(made, teacher)
    answer = on(sheet)[0]
    with_window(made)
    give(answer, teacher, ["1", "1", "1"])
    (checked,) = check_rows(sheet, [row(sheet, answer, "3", "3", "6")], now=later(2))
    assert (checked.state, "since the sheet was created" in checked.sentence) == ("bad", True)
    (same,) = check_rows(sheet, [row(sheet, answer, "1", "1", "1")], now=later(2))
    assert same.state == "same"
    (named,) = check_rows(sheet, [row(sheet, answer, "3", "3", "6", version="1")], now=later(2))
    assert named.state == "change", "a row that names the newest version knows it"


def test_each_row_says_what_is_wrong_in_one_sentence(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    sheet, theirs = taken(made, teacher, 3), taken(made, other_teacher, 1)
    one, two, three = on(sheet)
    free = next(answer for answer in answers_of(made) if answer not in (one, two, three))
    rows = [
        row(theirs, one, "3", "3", "6"),
        row(sheet, one, "3", "3", "6", response="no-such-id", line=3),
        row(sheet, free, "3", "3", "6", line=4),
        row(sheet, one, "3", "3", "6", line=5),
        row(sheet, one, "3", "3", "6", line=6),
        row(sheet, two, "3", "3", "6", total="11", line=7),
        row(sheet, three, "3", "2.25", "6", line=8),
        row(sheet, three, "3", "", "6", line=9),
    ]
    said = [checked.sentence for checked in check_rows(sheet, rows, now=later(2))]
    assert said == [
        "This row belongs to another marking sheet.",
        "There is no such response, or it is no longer assigned to you.",
        "There is no such response, or it is no longer assigned to you.",
        "",
        "Row 5 already contains this response.",
        "The total 11 differs from the sum of the scoring points, 12.",
        "Scoring point 2: 2.25 is not a multiple of 0.5.",
        "Row 8 already contains this response.",
    ]


def test_a_row_that_names_another_response_than_its_id_is_not_taken(
    made: MarkingRound, teacher: User
) -> None:
    """As after sorting the columns that one works in, and not those of the ids."""
    sheet = taken(made, teacher, 2)
    one, two = on(sheet)
    title = "Response,Total,Id of the response,Id of the sheet,Version,Point 1,Point 2,Point 3"
    lines = [
        f"{name},,{one.public_id},{sheet.public_id},0,3,3,6"
        for name in (two.alias, one.alias.lower(), "")
    ]
    rows = [row for line in lines for row in rows_of_file(f"{title}\n{line}\n".encode())]
    sentences = [check_rows(sheet, [row], now=later(2))[0].sentence for row in rows]
    assert sentences == [
        f"This row is called {two.alias}, but its id is that of {one.alias}. Some of its columns "
        "may have been sorted or moved without the others.",
        "",
        "",
    ]


def test_full_width_digits_are_refused_with_the_digits_that_are_taken(
    made: MarkingRound, teacher: User
) -> None:
    """Chinese input methods type them."""
    sheet = taken(made, teacher, 2)
    one, two = on(sheet)
    rows = [row(sheet, one, "3", "３", "6"), row(sheet, two, "3", "3", "6", total="１２", line=3)]
    said = [checked.sentence for checked in check_rows(sheet, rows, now=later(2))]
    assert said == [
        "Scoring point 2: “３” is not a number such as 2.5, with the digits 0 to 9.",
        "The total “１２” is not a number such as 2.5, with the digits 0 to 9.",
    ]


def test_points_of_the_old_rubric_are_not_taken_from_a_sheet(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """A file without the code of its rubric is one from before files had it."""
    question = subjective_question()
    made = small_round([teacher, other_teacher], question=question)
    sheet, (answer,) = taken(made, teacher), answers_of(made)
    old = rubric_code(answer)
    make_rubric(question, (("only the number", "6"), ("unit", "3"), ("drawing", "3")))
    use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=later(5))
    after = taken(made, teacher, now=later(7))
    new = rubric_code(BlindAnswer.objects.get())
    for one, code, state in (
        (sheet, old, RowState.BAD),
        (sheet, "", RowState.BAD),
        (after, old, RowState.BAD),
        (after, "", RowState.NEW),
        (after, new, RowState.NEW),
    ):
        rows = [row(one, answer, "3", "3", "3", rubric=code)]
        checked = check_rows(one, rows, now=later(8))
        assert states(checked) == [state]
        assert checked[0].sentence.startswith("The rubric has changed") == (state == RowState.BAD)
    assert states(save_rows(after, rows, acting_user=teacher, now=later(8))) == [RowState.SAVED]


def test_a_returned_mark_is_not_saved_again_from_its_sheet(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    sheet = taken(made, teacher)
    answer = on(sheet)[0]
    rows = [row(sheet, answer, "3", "3", "6")]
    save_rows(sheet, rows, acting_user=teacher, now=later(2))
    choice = ReturnChoice(aliases=[answer.alias])
    return_marks(made, teacher, choice, to_others=False, acting_user=lead, now=later(3))
    assert claim_next(teacher, round=made, now=later(30)) is not None
    (checked,) = check_rows(sheet, rows, now=later(31))
    said = "This mark was returned for re-marking. Mark the response at the marking desk."
    assert (checked.state, checked.sentence) == (RowState.BAD, said)


@pytest.mark.parametrize("by_lead", [False, True])
@pytest.mark.parametrize("status", [RoundStatus.PAUSED, RoundStatus.CLOSED])
def test_no_row_replaces_what_its_teacher_typed_while_the_round_is_not_open(
    status: RoundStatus, by_lead: bool, made: MarkingRound, teacher: User, lead: User
) -> None:
    sheet = taken(made, teacher)
    slot = slots_on(sheet, NOW).select_related("answer__round")[0]
    typed = {"content": {"points": ["1", "2", "6"], "comment": "typed"}, "now": later(1)}
    save_draft(slot, teacher, sequence=1, **typed)
    MarkingRound.objects.update(status=status)
    rows = [row(sheet, slot.answer, "3", "3", "5")]
    given = {"acting_user": lead if by_lead else teacher, "now": later(2)}
    (done,) = save_rows(sheet, rows, **given)  # the round was open when the sheet was read
    assert (done.state, "Keep your file" in done.sentence) == (RowState.BAD, True)
    sheet.round.refresh_from_db()
    with pytest.raises(Conflict, match="Keep your file"):
        save_rows(sheet, rows, **given)
    assert not Mark.objects.exists()
    kept = slot.drafts.get()
    assert (kept.content["points"], kept.content["comment"]) == (["1", "2", "6"], "typed")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0old", b"PK\x03\x04no"])
def test_a_file_that_is_no_sheet_is_one_sentence(content: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        rows_of_file(content)
    assert str(refused.value).endswith(".")
