"""The prompt of a judge: the item, its key and rubric, and the fenced response.

A response may contain instructions to the judge. So it is placed between two fences with a random
token, the instruction says that the text between them is data, and no text is used as a format
string. Invisible characters are removed and TeX that hides words is taken away, so that the judge
reads what a teacher sees (the stored response keeps both). In the question and the key, which are
imported too, headings like ours are written in other brackets. The words are those of a prompt set
(``judge_prompt_sets``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluations.judging.rules.judge_condition import ReplyForm
from evaluations.judging.rules.judge_prompt_sets import CHINESE_FENCE, GRADEAPP_SET
from evaluations.judging.rules.judge_reply import JudgeReading
from evaluations.runs.rules.fence import visible
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.common.hidden_tex import visible_tex
from questions.rules.rubric import PointGroup, RubricLines
from questions.rules.vocabulary import Language

Message = dict[str, str]

# Of a reply that could not be read, so much is shown to the judge again.
MOST_REPEATED = 2000


@dataclass(frozen=True)
class Unread:
    """A reply that could not be read, and why."""

    reply: str
    reading: JudgeReading


def judge_messages(
    *,
    subject: str,
    question: str,
    analysis: str,
    answer_key: str,
    full_marks: Decimal,
    response_text: str,
    rubric: RubricLines | None = None,
    marking_notes: str = "",
    language: Language = Language.CHINESE,
    fence: str,
    prompts: Mapping[str, Any] = GRADEAPP_SET,
    task: str = "",
    form: ReplyForm = ReplyForm.TAGGED,
    unread: Unread | None = None,
) -> list[Message]:
    """Return the system and user message for one response; zero-shot.

    ``rubric`` is listed point by point, each group below its limit; in JSON its points have the
    numbers by which the judge names them. An empty text has no heading. ``task`` is the slug of the
    task, for sets with an instruction for each. With ``unread`` the reply before and what is wrong
    with it follow. ``fence`` is a random token of at least 8 letters and digits. Raises ValueError
    if the fence is too short or is contained in the response.
    """
    if len(fence) < 8 or not fence.isalnum():
        raise ValueError("a fence has at least 8 letters and digits")
    shown = visible(visible_tex(response_text))
    if fence in shown:
        raise ValueError("the fence stands in the response; take another")
    chinese = language is Language.CHINESE
    instruction = _instruction(prompts, task, "zh" if chinese else "en", form)
    # Only the subject and the fence, which are ours, are filled in.
    head = instruction.replace("{subject}", subject).replace("{fence}", f"<{fence}>")
    labels = prompts["labels"]["zh" if chinese else "en"]
    points = "\n".join(_rubric_lines(rubric or RubricLines(), chinese, numbered=form.is_json))
    texts = {
        "question": question,
        "answer_key": answer_key,
        "analysis": analysis,
        "rubric": points,
        "notes": marking_notes,
        "full_marks": _number(full_marks),
    }
    neutral = _neutral(labels.values())
    parts = [
        f"【{labels[part]}】\n{neutral(texts[part]).strip()}"
        for part in prompts["order"]
        if texts[part].strip()
    ]
    parts.append(f"【{labels['response']}】\n<{fence}>\n{shown.strip()}\n<{fence}>")
    messages = [
        {"role": "system", "content": head},
        {"role": "user", "content": "\n\n".join(parts)},
    ]
    return messages if unread is None else [*messages, *_asked_again(unread, full_marks, chinese)]


def _instruction(prompts: Mapping[str, Any], task: str, language: str, form: ReplyForm) -> str:
    """Return the instruction of *prompts* for *task*."""
    by_task: str | None = prompts["by_task"].get(task)
    if by_task is not None and not form.is_json:
        return by_task.rstrip() + "\n" + CHINESE_FENCE.strip()
    text: str = prompts["instructions"][language]["json" if form.is_json else "tagged"]
    return text


def _neutral(labels: Any) -> Any:
    """Return a function that writes headings like *labels* in a text in other brackets."""
    names = "|".join(re.escape(label) for label in labels)
    heading = re.compile(rf"【\s?({names}|总\s?分|得\s?分)\s?】")
    return lambda text: heading.sub(r"〔\1〕", visible(text))


CHINESE_FAULTS: Mapping[str, str] = {
    JudgeStatus.OVER_FULL_MARKS: "总分 {totals} 超过了本题满分 {full} 分",
    JudgeStatus.BELOW_ZERO: "总分 {totals} 低于 0 分",
    JudgeStatus.SEVERAL_TOTALS: "给出了不止一个总分（{totals}）",
    JudgeStatus.UNCLEAR_TOTAL: "总分不是一个明确的数字",
    JudgeStatus.WRONG_DENOMINATOR: "总分所依据的满分不是 {full} 分",
    JudgeStatus.POINTS_DIFFER: "各点得分之和 {sum} 不等于总分 {total}",
    JudgeStatus.POINTS_UNCLEAR: "各点得分与评分细则的编号不对应（{points}）",
    JudgeStatus.EMPTY: "回复为空",
    JudgeStatus.TRUNCATED: "回复过长，被截断",
}
ENGLISH_FAULTS: Mapping[str, str] = {
    JudgeStatus.OVER_FULL_MARKS: "the total {totals} is above the full marks of {full}",
    JudgeStatus.BELOW_ZERO: "the total {totals} is below 0",
    JudgeStatus.SEVERAL_TOTALS: "it gives more than one total ({totals})",
    JudgeStatus.UNCLEAR_TOTAL: "the total is not one clear number",
    JudgeStatus.WRONG_DENOMINATOR: "the total is not out of {full}",
    JudgeStatus.POINTS_DIFFER: "the points come to {sum}, but the total is {total}",
    JudgeStatus.POINTS_UNCLEAR: "the points are not those of the rubric ({points})",
    JudgeStatus.EMPTY: "it is empty",
    JudgeStatus.TRUNCATED: "it was too long and was cut off",
}


def _asked_again(unread: Unread, full: Decimal, chinese: bool) -> list[Message]:
    """Return the turns that show the judge its reply, name the fault and ask for another."""
    reading, faults = unread.reading, CHINESE_FAULTS if chinese else ENGLISH_FAULTS
    default = "没有给出总分" if chinese else "it gives no total"
    details = reading.details
    places = [f"{name}: {value}" for name, value in details.items() if name not in ("json", "sum")]
    said = {
        "totals": ", ".join(details.get("totals", [])) or "–",
        "full": _number(full),
        "sum": details.get("sum", ""),
        "total": details.get("total", ""),
        "points": "; ".join(places),
    }
    fault = faults.get(reading.status, default).format(**said)
    again = (
        f"上面的回复无法采用：{fault}。请重新判分，简要说明理由，并严格按照规定的格式输出。"
        if chinese
        else f"That reply cannot be used: {fault}. Mark the response again, give short reasons, "
        "and keep strictly to the form."
    )
    cut = reading.status == JudgeStatus.TRUNCATED or not unread.reply.strip()
    before = [] if cut else [{"role": "assistant", "content": unread.reply[:MOST_REPEATED]}]
    return [*before, {"role": "user", "content": again}]


def _rubric_lines(rubric: RubricLines, chinese: bool, *, numbered: bool) -> Iterator[str]:
    """Yield a line for each scoring point; the points of a group follow the line of its limit."""
    listed: set[int] = set()
    names = {
        id(point): f"{place}. " if numbered else "" for place, point in enumerate(rubric.points, 1)
    }
    for point in rubric.points:
        if point.group is None:
            yield f"- {names[id(point)]}{point.text} ({_number(point.points)})"
        elif point.group not in listed:
            listed.add(point.group)
            yield _group_line(rubric.groups[point.group - 1], chinese)
            members = [one for one in rubric.points if one.group == point.group]
            yield from (
                f"  - {names[id(one)]}{one.text} ({_number(one.points)})" for one in members
            )


def _group_line(group: PointGroup, chinese: bool) -> str:
    """Return the text of a group, and its limit in a sentence."""
    cap = _number(group.cap)
    if group.alternatives:
        limit = (
            f"以下是可以互相替代的答法，只计得分最高的一种，最多 {cap} 分："
            if chinese
            else f"alternatives, of which only the best one counts, {cap} points at most:"
        )
    elif group.choose is not None:
        limit = (
            f"以下各点只计得分最高的 {group.choose} 点，合计最多 {cap} 分，超出的不给分："
            if chinese
            else f"only the best {group.choose} of these count, {cap} points at most together:"
        )
    else:
        limit = (
            f"以下各点合计最多 {cap} 分，超出的不给分："
            if chinese
            else f"together these give {cap} points at most, nothing beyond:"
        )
    return f"- {group.text.strip()} {limit}" if group.text.strip() else f"- {limit}"


def _number(value: Decimal) -> str:
    """Return a mark without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
