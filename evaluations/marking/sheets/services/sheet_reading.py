"""Reading a filled sheet back: every row checked as at the desk, good rows saved once only."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.marking.desk.selectors.desk import WHOLE
from evaluations.marking.desk.selectors.queue import passed
from evaluations.marking.desk.services.mark_rows import (
    GivenMark,
    check_given,
    frozen_rubric,
    same_content,
)
from evaluations.marking.desk.services.marking import (
    check_revisable,
    not_open_for_sheets,
    refuse_given_by_teacher,
    save_mark,
    second_entry,
)
from evaluations.marking.desk.services.same_rubric import check_rubric, rubric_code
from evaluations.marking.desk.services.slots import renew
from evaluations.marking.sheets.rules.sheet_reader import SheetFault, read_sheet
from evaluations.marking.sheets.rules.sheet_rows import (
    CellError,
    FilledRow,
    SheetColumn,
    read_row,
)
from evaluations.marking.sheets.services.sheet_sentences import CELL_SENTENCES, FILE_SENTENCES
from evaluations.models import Mark, MarkingSheet, Slot
from evaluations.models.vocabulary import Flag, RoundStatus
from gradeapp.accounts.markers import check_may_mark
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.named import Named
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput, Conflict, Refusal
from gradeapp.common.submission_keys import submission_key

# A sheet of a thousand long responses has some 15 MB: the texts are in it.
MOST_BYTES = 32 * 2**20


class RowState(Named):
    """What saving a row would do, or did."""

    NEW = "new", "New", "新评分"
    CHANGE = "change", "Changes your mark", "修改评分"
    COMMENT = "comment", "Changes your comment", "修改评语"
    FLAGS = "flags", "Changes your flags", "修改标记"
    NOTES = "notes", "Changes your comment and flags", "修改评语和标记"
    SAME = "same", "Already saved", "已保存"
    EMPTY = "empty", "Not filled in", "未填写"
    BAD = "bad", "Not accepted", "未接受"
    SAVED = "saved", "Saved", "已存"


CHANGES = frozenset({RowState.CHANGE, RowState.COMMENT, RowState.FLAGS, RowState.NOTES})


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """One row with what it comes to: the marks as read, or a *sentence* that says what is wrong."""

    line: int
    alias: str
    state: RowState
    total: Decimal | None = None
    before: Decimal | None = None
    sentence: str = ""
    slot: Slot | None = None
    given: GivenMark | None = None
    based_on: int = 0
    rubric: str = ""

    @property
    def can_be_saved(self) -> bool:
        """Saving it makes a mark."""
        return self.state is RowState.NEW or self.state in CHANGES


def rows_of_file(content: bytes) -> list[FilledRow]:
    """The rows of an uploaded sheet. Raises BadInput with one sentence for a file that is none."""
    if len(content) > MOST_BYTES:
        raise BadInput(str(FILE_SENTENCES["too_large"]), code="too_large")
    try:
        return read_sheet(content)
    except SheetFault as fault:
        sentence = str(FILE_SENTENCES[fault.code]) % _in_words(fault.params)
        raise BadInput(sentence, code=fault.code) from fault


def _in_words(params: Mapping[str, str | int]) -> dict[str, str | int]:
    """What a sentence of a fault needs, with missing columns by the names that a reader sees."""
    codes = str(params.get("missing", "")).split(", ")
    language = get_language() or "en"
    names = [SheetColumn(code).label(language) for code in codes if code]
    return {**params, "missing": ", ".join(names)}


def check_open(sheet: MarkingSheet) -> None:
    """Raise Conflict if the round of *sheet* is not open, BadInput if its teacher may not mark."""
    if sheet.round.status != RoundStatus.OPEN:
        raise not_open_for_sheets()
    check_may_mark(sheet.teacher)


def hold_rows(sheet: MarkingSheet, rows: Sequence[FilledRow], *, now: datetime) -> None:
    """Hold for the sheet's teacher what of *rows* is still theirs, as at the desk, to be saved.

    A sheet that has ended holds nothing; what is asked for is held anew, as at the desk.
    """
    for slot in _slots(sheet, rows, now).values():
        if not slot.marked and slot.lease_until is not None and slot.lease_until <= now:
            renew(slot, sheet.teacher, now=now)


def check_rows(
    sheet: MarkingSheet,
    rows: Sequence[FilledRow],
    *,
    now: datetime,
    acting_user: User | None = None,
) -> list[CheckedRow]:
    """What each of *rows* would do to the marks of the sheet's teacher; nothing is changed.

    *acting_user* is who reads the answer: the teacher (None), or a lead.

    Asked of a row are, in this order: this sheet, a response that the teacher
    holds or marked, no second row for it, no mark that a lead must not see yet, no other name in
    its first column, cells that can be read, a mark that fits, that no newer mark stands against
    it, and that a lead has entered no other mark of the response.
    """
    slots = _slots(sheet, rows, now)
    marks = _current_marks([slot.pk for slot in slots.values()])
    unseen = _unseen(sheet, slots.values(), acting_user)
    second = _second(sheet, slots.values(), acting_user)
    checked, lines = [], dict[str, int]()
    for row in rows:
        slot = slots.get(row.response.lower())
        try:
            if row.sheet.lower() != str(sheet.public_id):
                raise BadInput(_("This row belongs to another marking sheet."))
            if slot is None:
                raise BadInput(_("There is no such response, or it is no longer assigned to you."))
            if (first := lines.setdefault(row.response.lower(), row.line)) != row.line:
                raise BadInput(_("Row %(line)s already contains this response.") % {"line": first})
            if slot.pk in unseen:
                raise Conflict(
                    _(
                        "This response is already marked. In this round leads mark before they "
                        "see other marks, so only the teacher can change the mark."
                    )
                )
            for_other = acting_user not in (None, sheet.teacher)
            done = _checked(sheet, row, slot, marks.get(slot.pk), now, for_other=for_other)
            if done.can_be_saved and slot.pk in second:
                raise second_entry()
            checked.append(done)
        except Refusal as refusal:
            alias = slot.answer.alias if slot else ""
            checked.append(CheckedRow(row.line, alias, RowState.BAD, sentence=str(refusal)))
    return checked


def save_rows(
    sheet: MarkingSheet, rows: Sequence[FilledRow], *, acting_user: User, now: datetime
) -> list[CheckedRow]:
    """Save the good ones of *rows*, each whole and by itself; what became of every row.

    The key of a mark follows from sheet, response and content, so that a row that
    is sent again is the same mark. *acting_user* is the teacher, or the lead who
    types in for them. Raises Conflict while the round is not open (no drafts are kept then), and
    BadInput if the teacher may not mark any more.
    """
    check_open(sheet)
    done = [
        _saved(sheet, row, row.slot, row.given, acting_user, now)
        if row.can_be_saved and row.slot and row.given
        else row
        for row in check_rows(sheet, rows, acting_user=acting_user, now=now)
    ]
    saved = sum(row.state is RowState.SAVED for row in done)
    bad = sum(row.state is RowState.BAD for row in done)
    record(Tag.SHEET_READ, sheet, actor=acting_user, rows=len(rows), saved=saved, bad=bad)
    return done


def mark_key(sheet: MarkingSheet, slot: Slot, given: GivenMark) -> uuid.UUID:
    """The idempotency key of a mark that comes from a sheet."""
    said = given.as_draft() | {
        "points": [plain(value) for value in given.points],
        "total": "" if given.total is None or given.points else plain(given.total),
    }
    return submission_key(sheet.public_id, slot.answer.public_id, said)


def _saved(
    sheet: MarkingSheet,
    row: CheckedRow,
    slot: Slot,
    given: GivenMark,
    acting_user: User,
    now: datetime,
) -> CheckedRow:
    try:
        save_mark(
            slot,
            sheet.teacher,
            key=mark_key(sheet, slot, given),
            based_on_version=row.based_on,
            points=given.points,
            total=given.total,
            comment=given.comment,
            flags=given.flags,
            rubric=row.rubric,
            from_sheet=True,
            entered_by=acting_user,
            now=now,
        )
    except Refusal as refusal:
        return CheckedRow(row.line, row.alias, RowState.BAD, sentence=str(refusal))
    return CheckedRow(row.line, row.alias, RowState.SAVED, row.total, row.before)


def _checked(
    sheet: MarkingSheet,
    row: FilledRow,
    slot: Slot,
    current: Mark | None,
    now: datetime,
    *,
    for_other: bool,
) -> CheckedRow:
    """A row of a response that the teacher holds or marked. Raises Refusal."""
    if row.is_empty:
        return CheckedRow(row.line, slot.answer.alias, RowState.EMPTY)
    _check_alias(row, slot)
    check_rubric(slot.answer, row.rubric, since=sheet.created_at)
    rubric = rubric_code(slot.answer)
    given = _given(row, slot)
    total = given.under(frozen_rubric(slot.answer))
    before = current.total if current else None
    done = CheckedRow(row.line, slot.answer.alias, RowState.SAME, total, before)
    if current is not None and same_content(current, given):
        return done
    if for_other:
        refuse_given_by_teacher(current)
    if Mark.objects.filter(key=mark_key(sheet, slot, given)).exists():
        if current is None:
            raise Conflict(
                _("This mark was returned for re-marking. Mark the response at the marking desk.")
            )
        raise Conflict(_("This was saved before. Your newer mark counts."))
    if current is not None:
        check_revisable(slot, now)
    newest = current.own_version if current else 0
    if row.version != str(newest):
        raise Conflict(
            _(
                "You have changed this mark since the sheet was created. "
                "Change it at the marking desk."
            )
        )
    state = _change(current, given) if current else RowState.NEW
    return replace(done, state=state, slot=slot, given=given, based_on=newest, rubric=rubric)


def _check_alias(row: FilledRow, slot: Slot) -> None:
    """Raise BadInput if *row* names another response than its id, as after sorting some columns."""
    alias = slot.answer.alias
    if row.alias and row.alias.casefold() != alias.casefold():
        sentence = _(
            "This row is called %(name)s, but its id is that of %(alias)s. Some of its columns may "
            "have been sorted or moved without the others."
        )
        raise BadInput(sentence % {"name": row.alias[:40], "alias": alias})


def _change(current: Mark, given: GivenMark) -> RowState:
    """What of the *current* mark would be another: its points, or only what is said beside them."""
    flags = tuple(Flag(flag) for flag in current.flags)
    if not same_content(current, replace(given, comment=current.comment, flags=flags)):
        return RowState.CHANGE
    if given.flags == flags:
        return RowState.COMMENT
    return RowState.FLAGS if given.comment == current.comment else RowState.NOTES


def _given(row: FilledRow, slot: Slot) -> GivenMark:
    """The row as the desk would send it. Raises BadInput for what does not fit."""
    rubric = frozen_rubric(slot.answer)
    try:
        read = read_row(row, len(rubric.points), _known_flags())
    except CellError as error:
        sentence = str(CELL_SENTENCES[error.code]) % error.params
        raise BadInput(sentence, code=error.code.value) from error
    flags = tuple(Flag(flag) for flag in read.flags)
    check_given(slot.answer, GivenMark(read.points, read.total, read.comment, flags))
    return GivenMark(read.points, None if read.points else read.total, read.comment, flags)


def _known_flags() -> dict[str, str]:
    """Every word that stands for a flag."""
    return {
        word.casefold(): flag.value
        for flag in Flag
        for word in (flag.value, flag.english, flag.chinese)
    }


def _slots(sheet: MarkingSheet, rows: Sequence[FilledRow], now: datetime) -> dict[str, Slot]:
    """What the sheet's teacher holds or has marked in its round, of the responses in *rows*."""
    named = {public_id for row in rows if (public_id := _as_uuid(row.response))}
    slots = Slot.objects.filter(
        Q(marked=True) | ~passed(now),
        answer__round=sheet.round,
        holder=sheet.teacher,
        answer__public_id__in=named,
    )
    found = slots.select_related("answer__round", *WHOLE).prefetch_related("answer__rubric__points")
    return {str(slot.answer.public_id): slot for slot in found}


def _current_marks(slots: Sequence[int]) -> dict[int, Mark]:
    """The version that counts of each of *slots*, with its points."""
    counting = Mark.objects.counting().filter(slot__in=slots)
    marks = counting.select_related("entered_by").prefetch_related("points")
    return {mark.slot_id: mark for mark in marks.order_by("version")}


def _unseen(sheet: MarkingSheet, slots: Iterable[Slot], acting_user: User | None) -> set[int]:
    """Those of *slots* with marks that *acting_user*, a lead, must not see yet.

    Not what they entered themselves. What a row would change of such a mark would tell it, and so
    would "already saved", of a returned one too.
    """
    if acting_user in (None, sheet.teacher) or not sheet.round.arbiter_marks_first:
        return set()
    marks = Mark.objects.filter(marks_wait_for_the_lead("slot__answer__"), slot__in=list(slots))
    entered = Q(entered_by=acting_user, entered_by__isnull=False)
    return set(marks.exclude(entered).values_list("slot_id", flat=True))


def _second(sheet: MarkingSheet, slots: Iterable[Slot], acting_user: User | None) -> set[int]:
    """Those of *slots* whose response has a mark that *acting_user*, a lead, entered for another.

    They may enter no second one (``refuse_second_entry``).
    """
    if acting_user in (None, sheet.teacher):
        return set()
    by_answer = {slot.answer_id: slot.pk for slot in slots}
    entered = Mark.objects.filter(entered_by=acting_user, slot__answer__in=by_answer)
    others = entered.exclude(slot__in=by_answer.values())
    return {by_answer[pk] for pk in others.values_list("slot__answer_id", flat=True)}


def _as_uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
