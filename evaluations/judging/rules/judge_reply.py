"""Reads the total out of a judge model's grading text, or says why there is none.

Nothing is clamped, defaulted or guessed: a reply without exactly one clear
total within 0 and full marks has no total, and a status that says why. The
caller may ask again; a missing total is never 0.

The total is the number that directly follows 【总分】 (the format of
GAOKAO-Bench's judge prompt). Replies without that tag are read by their
wording ("总分：8分", "Total: 8/10", "得分：八分"), the most explicit wording
first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from evaluations.judging.rules.written_marks import FULL_WIDTH, WrittenMark, read_mark

JUDGE_READER_VERSION = "judge-reply-2"

STEPS_DO_NOT_ADD_UP = "steps_do_not_add_up"
TOTAL_REPEATED = "total_repeated"
READ_FROM_WORDING = "read_from_wording"


class JudgeStatus(StrEnum):
    """Whether a reply gives a total, and if not, why."""

    SCORED = "scored"
    OVER_FULL_MARKS = "over_full_marks"
    BELOW_ZERO = "below_zero"
    SEVERAL_TOTALS = "several_totals"
    UNCLEAR_TOTAL = "unclear_total"
    WRONG_DENOMINATOR = "wrong_denominator"
    NO_TOTAL = "no_total"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """``total`` is None unless ``status`` is ``scored``; ``totals_found`` in order of the text."""

    total: Decimal | None
    status: str
    flags: tuple[str, ...]
    totals_found: tuple[Decimal, ...]


_BLANK = r"[\s*_`]{0,4}"
# "共5分", "合计：5分", "共得5分"; "共5处" and "共5小题" count something else than points.
_IN_ALL = (
    r"(?:(?:一共|总共|共计|合计|总计|总得|共得|实得|最终|共|计|得|为|是)(?:得分|得|为|是|计)?"
    rf"{_BLANK}[:=]?{_BLANK}"
    r"(?!\s?[0-9零〇一二两三四五六七八九十百]{1,6}\s?(?:小?题|处|个|步|空|项|次|道|问)))?"
)
_TAG = re.compile(rf"[【\[]{_BLANK}总\s?分{_BLANK}[】\]]{_BLANK}[:=]?{_BLANK}{_IN_ALL}")
_STEP = re.compile(rf"[【\[]{_BLANK}得\s?分{_BLANK}[】\]]{_BLANK}[:=]?{_BLANK}")
_IS = rf"{_BLANK}(?:应为|应是|为|是|is|of|[:=])?{_BLANK}"
_WORDINGS = (
    re.compile(
        rf"(?:总分|总得分|最终得分|最后得分|合计得分|总计得分){_IS}{_IN_ALL}"
        r"|\b(?:total|final|overall)(?: (?:score|marks?|points|grade))?(?: awarded| given)?"
        rf"{_IS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<!【)(?:得分|评分|给分){_IS}|\b(?:score|marks?|grade){_IS}"
        r"|\bI (?:would )?(?:give|award)(?: (?:this answer|the answer|the student|this|it))? ",
        re.IGNORECASE,
    ),
)
_REFUSAL = re.compile(
    r"抱歉|对不起|无法(?:评分|判分|批改|打分|提供|协助)"
    r"|I(?:'m| am) (?:sorry|unable|not able)|I (?:can't|cannot|won't)",
    re.IGNORECASE,
)
# "共10分，得5分": the first number is what the item is worth, not what the answer got.
_THEN_GOT = re.compile(
    r"\s?(?:分|points?|marks?)?[\s*_`]{0,4}[,，;；、(（]\s{0,2}"
    r"(?:[本此该]题|[该本]?(?:学生|考生)|[该考]生|其中|答案)?\s?"
    r"(?:(?:实际|最终)?(?:得分|实得|应得|可得|获得|得|获)|(?P<lost>扣除|扣分|扣去|扣))"
    r"(?:了|到|为|是)?\s?[:：]?",
)
_STRONG_EMPHASIS = re.compile(r"\*{2,}")


def read_judge_reply(reply: str, full: Decimal, *, finish_reason: str = "stop") -> JudgeReading:
    """Read the total (0 to *full*) that *reply* gives.

    A reply that did not end by itself (*finish_reason* is not ``stop``) is not
    read even when it looks complete: a total cut from 15 to 1 looks the same.
    """
    if finish_reason == "content_filter":
        return _without_total(JudgeStatus.REFUSED)
    if finish_reason != "stop":
        return _without_total(JudgeStatus.TRUNCATED)
    text = _said(reply)
    if not text.strip():
        return _without_total(JudgeStatus.EMPTY)
    marks, flags = _stated_totals(text)
    if not marks:
        return _without_total(
            JudgeStatus.REFUSED if _REFUSAL.search(text) else JudgeStatus.NO_TOTAL
        )
    return _judged(text, marks, flags, full)


def _without_total(status: JudgeStatus) -> JudgeReading:
    return JudgeReading(None, status, (), ())


def _said(reply: str) -> str:
    """The reply without its reasoning block and strong emphasis, digits in half width."""
    after_reasoning = reply.rpartition("</think>")[2].partition("<think>")[0]
    return _STRONG_EMPHASIS.sub("", after_reasoning).translate(FULL_WIDTH).replace("’", "'")


def _stated_totals(text: str) -> tuple[list[WrittenMark], tuple[str, ...]]:
    """The marks of the most explicit wording that gives any, with what to note about it."""
    tagged = _marks_after(_TAG, text)
    if tagged:
        return tagged, (TOTAL_REPEATED,) if len(tagged) > 1 else ()
    strong, weak = (_marks_after(wording, text) for wording in _WORDINGS)
    return strong or weak, (READ_FROM_WORDING,)


def _marks_after(cue: re.Pattern[str], text: str) -> list[WrittenMark]:
    found = (read_mark(text, match.end()) for match in cue.finditer(text))
    return [mark for mark in found if mark is not None]


def _judged(
    text: str, marks: list[WrittenMark], flags: tuple[str, ...], full: Decimal
) -> JudgeReading:
    marks = [_taken_back(text, mark, full) for mark in marks]
    totals = tuple(mark.value for mark in marks if mark.value is not None)
    status = _status(marks, totals, flags, full)
    if status is not JudgeStatus.SCORED:
        return JudgeReading(None, status, (), totals)
    if not _steps_add_up(text, totals[0]):
        flags += (STEPS_DO_NOT_ADD_UP,)
    return JudgeReading(totals[0], status, flags, totals)


def _taken_back(text: str, mark: WrittenMark, full: Decimal) -> WrittenMark:
    """Return *mark* without its value where it is *full* and what was got or lost follows."""
    then = _THEN_GOT.match(text, mark.end) if mark.value == full else None
    following = read_mark(text, then.end()) if then else None
    if then is None or following is None:
        return mark
    consistent = following.value == (0 if then["lost"] else full)
    return mark if consistent else replace(mark, value=None)


def _status(
    marks: list[WrittenMark],
    totals: tuple[Decimal, ...],
    flags: tuple[str, ...],
    full: Decimal,
) -> JudgeStatus:
    """Why these marks do not make one total, or ``scored``."""
    from_wording = READ_FROM_WORDING in flags
    # Without a tag, equal marks may be two steps of 2 points, not one total of 2.
    if len(set(totals)) > 1 or (from_wording and len(marks) > 1):
        return JudgeStatus.SEVERAL_TOTALS
    if len(totals) < len(marks):
        return JudgeStatus.UNCLEAR_TOTAL
    if totals[0] < 0:
        return JudgeStatus.BELOW_ZERO
    if totals[0] > full:
        return JudgeStatus.OVER_FULL_MARKS
    if any(mark.out_of not in (None, full) for mark in marks):
        return JudgeStatus.WRONG_DENOMINATOR
    return JudgeStatus.SCORED


def _steps_add_up(text: str, total: Decimal) -> bool:
    """False only where every 【得分】 gives a number and their sum is another one."""
    steps = [read_mark(text, match.end()) for match in _STEP.finditer(text)]
    values = [step.value for step in steps if step is not None and step.value is not None]
    return not values or len(values) < len(steps) or sum(values) == total
