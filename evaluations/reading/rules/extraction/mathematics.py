"""The final answer of a mathematical output, as it is written there.

The most explicit wording wins and the last one of it: a box or a marked field,
"the answer is ...", an output that is nothing but its answer, what the last
sentence concludes, and at the end the last formula. A number that merely
stands somewhere is no answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluations.reading.rules.extraction import answer_texts as found_in
from evaluations.reading.rules.extraction.answer_texts import Passage

_CONFIDENCE = {
    "boxed": 1.0,
    "tag": 1.0,
    "answer_is": 0.9,
    "whole": 0.95,
    "conclusion": 0.7,
    "equals": 0.7,
    "lone_line": 0.7,
    "last_formula": 0.5,
}
_WORDING = 3
_MOST_BARE = 300
_LEAD = re.compile(
    r"[\s:=,;。、\x1e*}]*(?:(?:that|it is|it['’]s|about|approximately|约为?|大约|分别为?|应?为|是"
    r"|等于|因此|所以|故|从而|综上|[可解求即]?得到?|即|选|so|thus|hence|therefore"
    r"|(?:we|i) (?:get|got|have|find)|it follows that"
    r"|(?:一共|总共|共)(?:有|需要?)?(?=\s{0,2}[\d$\\-]))"
    r"(?![A-Za-z])[\s:,]*|(?:equal to|simply|just|therefore|thus|hence|exactly)\s+){0,3}"
    r"|[\s:=,;。、\x1e*}]*",
    re.IGNORECASE,
)
# Said once more in another way, or withdrawn: what comes after it counts.
_RETRACTED = re.compile(r"(?<![A-Za-z])(?:[Nn]o,? wait|[Ww]ait,? no)(?![A-Za-z])[,:.!]?")
_AGAIN = re.compile(rf".*(?:[,;]\s{{0,2}}[也亦]?即[为是]?|{_RETRACTED.pattern})", re.DOTALL)
_TRAIL = re.compile(r"(?:[\s,;:。、!！?？\x1e*]|(?<![.])\.)+\Z")
_THOUSANDS = re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+)(\.\d+)?")
_LETTERS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}(?![A-Za-z{])")
_ALLOWED = re.compile(
    r"(?:sin|cos|tan|cot|sec|csc|arc\w+|ln|log|exp|sqrt|and|percent|degrees?|square|cubic|per"
    r"|[kcmd]?m?met(?:er|re)s?|centimet(?:er|re)s?|inch(?:es)?|feet|foot|dollars?|cents?|units?|or"
    r"|hours?|minutes?|seconds?|days?|miles?|yards?|pounds?|grams?|kilograms?|lit(?:er|re)s?|mph)",
    re.IGNORECASE,
)
_WORDS_IN_FORMULA = re.compile(
    r"\\(?:text|mbox|mathrm|textcircled|operatorname|begin|end)\s?\{[^{}]*\}"
)
_SEPARATORS = re.compile(r"(?:[\s;,、]|and|or|和|或者?|与)*")
_COUNTED = re.compile(
    r"-?\d[\d,]{0,20}(?:\.\d{1,20})?\s?(?:[种个人次条件名本张元秒天岁颗块支辆对组]|平方米|厘米|米|分钟|小时)(?!的|\d)"
)
_COUNTED_WORD = re.compile(r"\s{0,4}-?\d[\d,.]{0,20}\s[A-Za-z]{3,20}\s{0,4}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_NAME = re.compile(r"[A-Za-z\u4e00-\u9fff]")
_STATES = re.compile(r"[\u4e00-\u9fff\s][为是]|等于|得到|[解可]得")
# "这个数是 12": a sentence of its own as the answer.
_SAID = re.compile(r"[\s*,:]{0,4}[\u4e00-\u9fff]{1,12}(?:等于|[是为])[\s:]{0,3}(?=[\d$\\(\[√-])")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CHINESE_PROSE = re.compile(r"[\u4e00-\u9fff]{5,}")
_SIGNS = re.compile(r"[\d\\=^√π∞①-⑳<>≤≥∅]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_FORMULA_ALONE = re.compile(
    r"\$\$?([^$]+)\$\$?|\\\(((?:(?!\\\)).)+)\\\)|\\\[((?:(?!\\\]).)+)\\\]", re.S
)
_BETWEEN_BOXES = re.compile(
    r"[\s$,;、.]{0,6}(?:and|or|和|或者?|与|及)?[\s$,;、]{0,4}(?:[a-z]\s?=\s?)?"
)
_UNSURE = re.compile(
    r"不知道|不清楚|不确定|不会做|\bi (?:do not|don't|dont) know\b|\bno idea\b|\bnot sure\b", re.I
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer's text, where it stands in the text that was read, and how it was found."""

    text: str
    start: int
    end: int
    pattern: str
    closed: bool = False

    @property
    def confidence(self) -> float:
        """How explicit the wording is, 0 to 1."""
        return _CONFIDENCE.get(self.pattern, 0.5)


def read_mathematics(text: str, start: int = 0, end: int | None = None) -> Answer | None:
    """The one answer between *start* and *end* of *text*, or None where it gives none."""
    part = text[start : len(text) if end is None else end]
    answer = _explicit(part) or _worded(part)
    return answer and _moved(answer, start)


def _moved(answer: Answer, by: int) -> Answer:
    start, end = answer.start + by, answer.end + by
    return Answer(answer.text, start, end, answer.pattern, answer.closed)


def _explicit(text: str) -> Answer | None:
    """The last box or field; a box inside a field is the answer of the field."""
    boxed, fields = found_in.boxes(text), found_in.fields(text)
    if boxed and (not fields or boxed[-1].start > fields[-1].start):
        return _boxes_together(text, boxed)
    for field in reversed(fields):
        answer = _of_field(text, field)
        if answer:
            return answer
    return _boxes_together(text, boxed) if boxed else None


def _boxes_together(text: str, boxed: list[Passage]) -> Answer | None:
    r"""The last box, or the boxes of one list: "\boxed{3} or \boxed{5}"."""
    first = last = boxed[-1]
    texts = [text[last.start : last.end]]
    for box in reversed(boxed[:-1]):
        between = text[box.end + 1 : first.start].rpartition("\\")[0]
        if not between.strip(" $") or not _BETWEEN_BOXES.fullmatch(between):
            break
        texts.insert(0, text[box.start : box.end])
        first = box
    return answer_of(", ".join(texts), first.start, last.end, "boxed", closed=True)


def _of_field(text: str, field: Passage) -> Answer | None:
    content = text[field.start : field.end]
    worded = _last_phrase(content)
    if worded:
        return Answer(worded.text, worded.start + field.start, worded.end + field.start, "tag")
    end = field.end if field.closed else field.start + _first_paragraph(content)
    stated = _stated(text, field.start, end)
    if stated:
        return Answer(stated.text, stated.start, stated.end, "tag", field.closed)
    answer = answer_of(text[field.start : end], field.start, end, "tag", closed=field.closed)
    if answer and (len(answer.text) <= _MOST_BARE and not _is_reasoning(answer.text)):
        return answer
    inner = _worded(content)
    return inner and Answer(
        inner.text, inner.start + field.start, inner.end + field.start, "tag", field.closed
    )


def _stated(text: str, start: int, end: int) -> Answer | None:
    """What a Chinese sentence in a field states: "the largest value is 5"."""
    content = text[start:end]
    if not _STATES.search(content):
        return None
    answer = _concluded(content)
    return answer and _moved(answer, start)


def _first_paragraph(content: str) -> int:
    """The end of the first line that has content."""
    lead = len(content) - len(content.lstrip())
    stop = content.find("\n", lead)
    return len(content) if stop < 0 else stop


def _is_reasoning(text: str) -> bool:
    """True for a derivation: several sentences, or "because" in it."""
    return bool(
        re.search(r"。.|因为|所以|由题|\b(?:because|since|therefore|we have)\b|\.\s+[A-Z]", text)
    )


def _worded(text: str) -> Answer | None:
    return (
        _last_phrase(text)
        or _concluded(text)
        or _whole(text)
        or _lone_line(text)
        or _last_formula(text)
    )


def _last_phrase(text: str) -> Answer | None:
    passages = found_in.phrases(text)[-_WORDING * 4 :]
    if passages and _RETRACTED.search(text, passages[-1].end):
        return None
    for passage in reversed(passages):
        answer = _narrowed(text, passage, prose=True)
        if answer and not found_in.begins_anew(answer.text):
            return answer
    return None


def _whole(text: str) -> Answer | None:
    """An output of one line that is nothing but mathematics, or a few words."""
    line = text.strip()
    if not line or len(line) > _MOST_BARE or "\n" in line or _UNSURE.search(line):
        return None
    if "\\boxed" in line:
        return None
    few_words = len(line) <= 40 and len(line.split()) <= 3 and not re.search(r"[。?!.]", line)
    listed = ";" in line and not re.search(r"[。!?]", line)
    if not (is_mathematical(line) or few_words or listed):
        return None
    start = text.find(line)
    return answer_of(line, start, start + len(line), "whole")


def _concluded(text: str) -> Answer | None:
    for passage in found_in.conclusions(text):
        answer = _narrowed(text, passage, prose=False)
        if answer:
            return answer
    return None


def _lone_line(text: str) -> Answer | None:
    line = text.rstrip().rpartition("\n")[2]
    start = len(text.rstrip()) - len(line)
    if not line.strip() or len(line) > _MOST_BARE or not is_mathematical(line):
        return None
    return answer_of(line, start, start + len(line), "lone_line")


def _last_formula(text: str) -> Answer | None:
    start, end = found_in.last_sentence(text)
    inside = found_in.formulas(text, start, end)
    return _passage(text, inside[-1]) if inside else None


def _passage(text: str, passage: Passage) -> Answer | None:
    content = text[passage.start : passage.end]
    return answer_of(content, passage.start, passage.end, passage.pattern)


def _narrowed(text: str, passage: Passage, *, prose: bool) -> Answer | None:
    """The passage where it is mathematics, its last formula, or (*prose*) its few words."""
    answer = _passage(text, passage)
    if answer is None or _UNSURE.search(answer.text):
        return None
    said = _SAID.match(text, passage.start, passage.end)
    if said and is_mathematical(text[said.end() : passage.end]):
        return _passage(text, Passage(said.end(), passage.end, False, passage.pattern))
    if is_mathematical(answer.text):
        return answer
    inside = found_in.formulas(text, passage.start, passage.end)
    if inside:
        if _only_formulas(text, passage):
            return answer
        place = inside[-1]
        return answer_of(text[place.start : place.end], place.start, place.end, passage.pattern)
    counted = _COUNTED.match(answer.text)
    if counted:
        stop = answer.start + counted.end()
        return Answer(_bare(counted[0]), answer.start, stop, answer.pattern)
    if prose and (len(answer.text.split()) <= 4 or _CHINESE.search(answer.text)):
        return answer if len(answer.text) <= _MOST_BARE else None
    return None


def _only_formulas(text: str, passage: Passage) -> bool:
    """True where nothing but separators stands between the formulas."""
    spans = found_in.formula_spans(text, passage.start, passage.end)
    edges = zip(
        [passage.start, *(end for _, end in spans)],
        [*(start for start, _ in spans), passage.end],
        strict=True,
    )
    return all(_SEPARATORS.fullmatch(text, *edge) for edge in edges)


def is_mathematical(text: str) -> bool:
    """True for formulas, numbers with units, and lists of them; False for prose."""
    if "\\boxed" in text:
        return False  # a box that was never closed
    if _COUNTED_WORD.fullmatch(text):
        return True
    bare = _WORDS_IN_FORMULA.sub("1", text)
    words = [match[0] for match in _LETTERS.finditer(bare)]
    prose = [word for word in words if not _ALLOWED.fullmatch(word)]
    return bool(_SIGNS.search(text)) and not prose and not _CHINESE_PROSE.search(bare)


def answer_of(
    content: str, start: int, end: int, pattern: str, *, closed: bool = False
) -> Answer | None:
    """*content* without what does not belong to it; None where nothing is left."""
    again = _AGAIN.match(content)
    skipped = again.end() if again and is_mathematical(content[again.end() :]) else 0
    lead = _LEAD.match(content, skipped)
    skipped = lead.end() if lead else skipped
    if content[skipped:].startswith("."):
        skipped += 0 if content[skipped + 1 : skipped + 2].isdigit() else 1
    tail = _TRAIL.search(content, skipped)
    kept = content[skipped : tail.start() if tail else len(content)]
    if not re.search(r"\w|[①-⑳∅√π∞]", kept):
        return None
    last = skipped + len(kept)
    whole = end - start == len(content)
    place = (start + skipped, start + last) if whole else (start, end)
    return Answer(_bare(kept), *place, pattern, closed)


def _bare(text: str) -> str:
    """Without the dollars around a single formula, and a number without its thousands."""
    text = text.strip()
    alone = _FORMULA_ALONE.fullmatch(text)
    if alone:
        text = next(group for group in alone.groups() if group is not None).strip()
        text = _TRAIL.sub("", text)
    box = re.fullmatch(r"\\f?boxed\{(.*)\}", text, re.S)
    text = box[1] if box else text
    text = _last_side(text)
    number = _THOUSANDS.fullmatch(text)
    return number[0].replace(",", "") if number else text


def _last_side(text: str) -> str:
    r"""What a chain ends with: 5 of "S = 2+3 = 5" and 10 of "\binom52 = 10"; an equation stays."""
    first, *others = text.split("=")
    names = _NAME.search(_COMMAND.sub("", first))
    if not others or (names and len(others) < 2) or re.search(r"[<>,;{[]", others[-1][:1]):
        return text
    last = others[-1].strip()
    single = last and not re.search(r"[,;或]|(?<![A-Za-z])(?:or|and)(?![A-Za-z])", text)
    return last if single and first.strip() else text
