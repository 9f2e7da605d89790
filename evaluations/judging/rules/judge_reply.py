"""Read the total in the grading text of a judge.

Nothing is clamped, defaulted or guessed: a reply without exactly one clear total from 0 to the full
marks has no total, and a status with the reason. A missing total is never 0.

The total is the number that directly follows 【总分】 (the format of the judge prompt of
GAOKAO-Bench). Replies without that tag are read by their wording ("总分：8分", "Total: 8/10",
"得分：八分"), the most explicit wording first. A reply that is a JSON object is read by its keys
(``json_reply``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from evaluations.judging.rules.json_reply import JsonReading, read_json_reply
from evaluations.judging.rules.written_marks import FULL_WIDTH, WrittenMark, read_mark
from evaluations.statistics.outcomes import JudgeStatus
from questions.rules.rubric import RubricLines

STEPS_DO_NOT_ADD_UP = "steps_do_not_add_up"
TOTAL_REPEATED = "total_repeated"
READ_FROM_WORDING = "read_from_wording"
HIDDEN_TEXT = "hidden_text"  # of the response, not of the reply
INSTRUCTIONS = "instructions"  # of the response: it seems to speak to the marker
OTHER_MODEL = "other_model"  # the reply names another model than was asked


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """The result of reading a reply; ``total`` is None unless ``status`` is ``scored``.

    ``details`` names what a status or a flag is about, as JSON: ``points``, ``sum`` and ``total``
    of points that do not add up, ``missing``, ``unknown``, ``twice`` or ``out_of_range`` scoring
    points, ``missing_quotes``, the ``totals`` of a reply without a possible one, and ``json``, why
    an object cannot be read.
    """

    total: Decimal | None
    status: str
    flags: tuple[str, ...]
    totals_found: tuple[Decimal, ...]
    details: dict[str, Any] = field(default_factory=dict)


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
# The number of a question, not a mark: "14题", "14. ".
_QUESTION = re.compile(r"\s{0,4}[0-9]{1,3}(?:\s?题|[.、]\s)(?:\s?(?:得分|得))?\s?[:：]?")
_LONGEST_LIST = 4000
_STRONG_EMPHASIS = re.compile(r"\*{2,}")


def read_judge_reply(
    reply: str,
    full: Decimal,
    *,
    finish_reason: str = "stop",
    rubric: RubricLines | None = None,
    response: str | None = None,
) -> JudgeReading:
    """Read the total (0 to *full*) in *reply*.

    *rubric* and *response* are given if the judge was asked for JSON with points for each scoring
    point and quotes (``read_json_reply``). A reply that did not end by itself (*finish_reason* is
    not ``stop``) is not read, because a total that was cut from 15 to 1 would look complete.
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
    said = read_json_reply(after_reasoning, rubric=rubric, response=response)
    if said is not None:
        return _from_json(said, full)
    if rubric is not None and rubric.points:
        return JudgeReading(None, JudgeStatus.NO_TOTAL, (), ())
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
        return JudgeReading(None, status, (), totals, _named(totals))
    values = _steps(text)
    details: dict[str, Any] = {}
    # A step that states the sum of the others is no further step.
    expected = (totals[0], 2 * totals[0]) if totals[0] in values else (totals[0],)
    if values and sum(values) not in expected:
        flags += (STEPS_DO_NOT_ADD_UP,)
        points = [f"{value:f}" for value in values]
        details = {"points": points, "sum": f"{sum(values):f}", "total": f"{totals[0]:f}"}
    return JudgeReading(totals[0], status, flags, totals, details)


def _steps(text: str) -> list[Decimal]:
    """Return the marks of the steps; [] if there are none or one of them is not clear.

    What follows a 【得分】 is one mark, or a list with one for each number of a question
    ("14题：0分"; "14. 0分").
    """
    values: list[Decimal] = []
    for match in _STEP.finditer(text):
        if _QUESTION.match(text, match.end()):
            until = text.find("【", match.end())
            listed = text[match.end() : until if until >= 0 else len(text)][:_LONGEST_LIST]
            numbers = list(_QUESTION.finditer(listed))
            marks = [read_mark(listed, one.end()) for one in numbers]
        else:
            marks = [read_mark(text, match.end())]
        clear = [mark.value for mark in marks if mark is not None and mark.value is not None]
        if len(clear) < len(marks):
            return []
        values += clear
    return values


def _from_json(said: JsonReading, full: Decimal) -> JudgeReading:
    """Return the reading of a JSON reply; a second total beside the object makes it unclear."""
    rest = _STRONG_EMPHASIS.sub("", said.rest).translate(FULL_WIDTH)
    beside = any(_marks_after(cue, rest) for cue in (_TAG, *_WORDINGS))
    status = said.status
    if status == JudgeStatus.SCORED and said.total is not None:
        if beside:
            status = JudgeStatus.SEVERAL_TOTALS
        elif said.total < 0:
            status = JudgeStatus.BELOW_ZERO
        elif said.total > full:
            status = JudgeStatus.OVER_FULL_MARKS
    if status != JudgeStatus.SCORED:
        return JudgeReading(None, status, (), said.totals, said.details or _named(said.totals))
    return JudgeReading(said.total, status, said.flags, said.totals, said.details)


def _named(totals: tuple[Decimal, ...]) -> dict[str, Any]:
    """Return the details that name *totals*; {} for none."""
    return {"totals": [f"{total:f}" for total in totals]} if totals else {}


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
