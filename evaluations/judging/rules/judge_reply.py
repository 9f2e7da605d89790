"""Read the total in the grading text of a judge.

Nothing is clamped, defaulted or guessed: a reply without exactly one clear total from 0 to the full
marks has no total, and a status with the reason. A missing total is never 0.

The total is the number that directly follows 【总分】 (the format of the judge prompt of
GAOKAO-Bench). Replies without that tag are read by their wording ("总分：8分", "Total: 8/10",
"得分：八分"), the most explicit wording first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from evaluations.judging.rules.written_marks import FULL_WIDTH, WrittenMark, read_mark
from evaluations.statistics.outcomes import JudgeStatus

STEPS_DO_NOT_ADD_UP = "steps_do_not_add_up"
TOTAL_REPEATED = "total_repeated"
READ_FROM_WORDING = "read_from_wording"
HIDDEN_TEXT = "hidden_text"  # of the response, not of the reply
OTHER_MODEL = "other_model"  # the reply names another model than was asked


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """The result of reading a reply; ``total`` is None unless ``status`` is ``scored``."""

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
    """Read the total (0 to *full*) in *reply*.

    A reply that did not end by itself (*finish_reason* is not ``stop``) is not read, because a
    total that was cut from 15 to 1 would look complete.
    """
    if finish_reason == "content_filter":
        return JudgeReading(None, JudgeStatus.REFUSED, (), ())
    if finish_reason != "stop":
        return JudgeReading(None, JudgeStatus.TRUNCATED, (), ())
    # Without the reasoning and strong emphasis, and with digits in half width.
    after_reasoning = reply.rpartition("</think>")[2].partition("<think>")[0]
    text = _STRONG_EMPHASIS.sub("", after_reasoning).translate(FULL_WIDTH).replace("’", "'")
    if not text.strip():
        return JudgeReading(None, JudgeStatus.EMPTY, (), ())
    flags: tuple[str, ...] = ()
    if marks := _marks_after(_TAG, text):
        if len(marks) > 1:
            flags = (TOTAL_REPEATED,)
    else:
        strong, weak = (_marks_after(wording, text) for wording in _WORDINGS)
        marks, flags = strong or weak, (READ_FROM_WORDING,)
    if not marks:
        status = JudgeStatus.REFUSED if _REFUSAL.search(text) else JudgeStatus.NO_TOTAL
        return JudgeReading(None, status, (), ())
    marks = [_unless_full_marks(text, mark, full) for mark in marks]
    totals = tuple(mark.value for mark in marks if mark.value is not None)
    status = _status(marks, totals, flags, full)
    if status is not JudgeStatus.SCORED:
        return JudgeReading(None, status, (), totals)
    steps = [read_mark(text, match.end()) for match in _STEP.finditer(text)]
    values = [step.value for step in steps if step is not None and step.value is not None]
    if values and len(values) == len(steps) and sum(values) != totals[0]:
        flags += (STEPS_DO_NOT_ADD_UP,)
    return JudgeReading(totals[0], status, flags, totals)


def _marks_after(cue: re.Pattern[str], text: str) -> list[WrittenMark]:
    """Return the marks that follow *cue* in *text*."""
    marks = (read_mark(text, match.end()) for match in cue.finditer(text))
    return [mark for mark in marks if mark is not None]


def _unless_full_marks(text: str, mark: WrittenMark, full: Decimal) -> WrittenMark:
    """Return *mark*, without its value if it is *full* and the marks got or lost follow."""
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
    """Return why *marks* are not one valid total, or ``scored``."""
    from_wording = READ_FROM_WORDING in flags
    # Without a tag, two equal marks may be two steps, not one total.
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


def read_reply_case(case: Mapping[str, Any]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the expected ``score``, ``status`` and ``flag`` of *case*, and those that were read.

    ``reply`` is the text and ``full`` the full marks. If the expected flag was read, only that one
    is returned; otherwise all flags are, or None for none.
    """
    finish_reason = case.get("finish_reason", "stop")
    reading = read_judge_reply(case["reply"], Decimal(case["full"]), finish_reason=finish_reason)
    expected = {key: _as_json(case[key]) for key in ("score", "status", "flag") if key in case}
    flag = case.get("flag")
    got = {
        "score": _as_json(reading.total),
        "status": str(reading.status),
        "flag": flag if flag in reading.flags else ", ".join(reading.flags) or None,
    }
    return expected, got


def _as_json(value: object) -> object:
    """Return numbers as floats, so that 7.5 equals a total of 7.50."""
    return float(value) if isinstance(value, Decimal | int) else value
