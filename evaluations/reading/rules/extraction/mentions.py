"""The mentions of option letters in an output, each with its stance.

A mention is one letter or one list of letters: committed to, affirmed, rejected,
faulted or only named.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import count, islice

from evaluations.reading.rules.extraction import doubts
from evaluations.reading.rules.extraction import patterns as p
from evaluations.reading.rules.extraction.letter_lists import Lettering, letter_lists
from evaluations.reading.rules.extraction.source_text import FIELD_END

# Only the last mentions of an output are read: they decide, and more than this are noise.
MOST_MENTIONS = 400

# "C: correct", "C (wrong)"; after "C." only a bare verdict, because an option's text may follow.
_CLAUSE_OPENING = re.compile(
    r"\A\s{0,2}(?:[:(]|[.、](?=\s{0,2}(?:(?:in)?correct|right|wrong|true|false|正确|错误?|不?对)"
    r"\s{0,2}(?:[.,;:。\n]|\Z)))\s{0,2}",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s{0,2}\([^()\n]{0,40}\)")
_CLAUSE_END = re.compile(
    rf"[,，。;；.!\n{FIELD_END}()]|【(?:解析|分析|详解|点评|解答|解释|理由|考点|思路|说明|答案)"
)

# Wordings that add a letter to the answer, and that negate this in the same sentence.
_ALSO = re.compile(
    r"\s{0,2}(?:同样|也|亦|(?:is|are) also\b|(?:is|are) \w{4,8},? (?:too|as well)\b)"
)
_BUT = re.compile(r"[^。!\n]{0,40}?(?:但|不过|然而|无关|\bbut\b|\bhowever\b)", re.IGNORECASE)
# The cues that "conclusion" belongs to.
_LISTING = frozenset({"zh.reply", "en.is", "en.correct"})


class Stance(StrEnum):
    """How the text around a mention treats it."""

    COMMITTED = "committed"
    AFFIRMED = "affirmed"
    REJECTED = "rejected"
    FAULTED = "faulted"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Mention:
    """Letters in order of appearance, their places, and their stance.

    ``places`` has the place of each letter. ``cue`` is the name of the wording that
    commits to them and ``cue_start`` its start (without one, the start of the
    mention); a ``weak`` cue is less explicit. ``undecided``: the letters are
    alternatives ("A or C"), or doubted. ``is_small``: small letters, maybe an article
    or a variable. ``open_ended``: more letters may belong to the list.
    """

    letters: tuple[str, ...]
    places: tuple[int, ...]
    start: int
    end: int
    stance: Stance
    cue: str
    cue_start: int
    weak: bool
    undecided: bool
    is_small: bool
    open_ended: bool


@dataclass(frozen=True, slots=True)
class _Verdict:
    stance: Stance
    cue: p.Cue | None = None
    length: int = 0
    alternative: bool = False


class Mentions:
    """The last ``MOST_MENTIONS`` mentions of a text, computed when they are needed.

    Most answers are in the last mention.
    """

    def __init__(self, text: str, letters: str) -> None:
        self._text = text
        self._coming = islice(letter_lists(text, letters), MOST_MENTIONS)
        # From the end of the text, each with the start of the next one in capital letters.
        self._found: list[tuple[list[Lettering], bool, int]] = []
        self._following = len(text)
        self._made: dict[int, Mention] = {}

    def __iter__(self) -> Iterator[Mention]:
        """Iterate over the mentions in order of the text."""
        return iter([self._mention(index) for index in self._from_the_end()][::-1])

    def first(self) -> Mention | None:
        """Return the first mention of the text."""
        last = deque(self._from_the_end(), maxlen=1)
        return self._mention(last[0]) if last else None

    def capitals(self) -> list[Mention]:
        """Return the mentions in capital letters, in order."""
        indices = [index for index in self._from_the_end() if not self._found[index][1]]
        return [self._mention(index) for index in reversed(indices)]

    def commitments_from_the_end(self, of_letters: int | None = None) -> Iterator[Mention]:
        """Yield the mentions that are committed to (of so many letters), the last one first."""
        for index in self._from_the_end():
            found, is_small, _following = self._found[index]
            if of_letters not in (None, sum(len(one.letters) for one in found)):
                continue
            # Small letters are committed to only if they end their phrase.
            end = found[-1].end
            right = _without_aside(self._text[end : end + p.RIGHT_WINDOW])
            if is_small and not p.BOUNDARY_RIGHT.match(right):
                continue
            if self._mention(index).stance is Stance.COMMITTED:
                yield self._mention(index)

    def _from_the_end(self) -> Iterator[int]:
        """Yield the indices of ``_found``, and fill it as needed."""
        for index in count():
            if index == len(self._found):
                found = next(self._coming, None)
                if found is None:
                    return
                is_small = any(one.letters.islower() for one in found)
                self._found.append((found, is_small, self._following))
                self._following = self._following if is_small else found[0].start
            yield index

    def _mention(self, index: int) -> Mention:
        if index not in self._made:
            found, is_small, following = self._found[index]
            said = found[-1].end
            after, after_is_small, beyond = self._found[index - 1] if index else ([], True, 0)
            if not after_is_small and doubts.is_compared_with(self._text, said, after[0].start):
                said, following = after[-1].end, beyond
            self._made[index] = _mention(self._text, found, (said, following), is_small)
        return self._made[index]


@lru_cache(maxsize=32)
def find_mentions(text: str, letters: str) -> Mentions:
    """Return the mentions of *letters* in *text* (the last ``MOST_MENTIONS``)."""
    return Mentions(text, letters)


def named_before(text: str, last: Mention, earlier: Sequence[Mention]) -> Mention | None:
    """Return what names other letters as right before *last* names the wrong ones.

    Alone, "错误的选项是C" answers a question for the wrong one; so it does behind "所以", and where
    the text says that the wrong one is asked for.
    """
    if not is_against(text, last):
        return None
    others = (m for m in earlier if m.cue in p.NAMING and not is_against(text, m))
    named = next(others, None)
    if named is None or set(named.letters) & set(last.letters):
        return None
    concluded = p.CONCLUDED.search(text, named.end, last.cue_start)
    return None if concluded or doubts.WRONG_IS_ASKED.search(text, 0, last.cue_start) else named


def is_answer_beside(text: str, named: Mention, last: Mention) -> bool:
    """Return whether *named* gives the answer, and *last* names the wrong options right behind."""
    gap = p.ADJACENT.match(text, named.end)
    beside = gap is not None and gap.end() >= wording_start(text, last)
    return named.cue in p.ANSWERING and beside


def changed_behind(text: str, last: Mention, letters: str) -> bool:
    """Return whether what is said behind the answer *last* leaves open which letters it has."""
    mentions = find_mentions(text, letters).capitals()
    behind = (mention for mention in mentions if mention.start >= last.end)
    return any(_adds_or_removes(text, last, mention) for mention in behind)


def _adds_or_removes(text: str, last: Mention, mention: Mention) -> bool:
    if doubts.may_add(text, last.end, mention.start, mention.end):
        return True
    if set(mention.letters) <= set(last.letters):
        rejected = mention.stance is Stance.REJECTED
        return doubts.removes(text, last.end, mention.start, mention.end, rejected=rejected)
    return is_also_right(text, mention)


def is_also_right(text: str, mention: Mention) -> bool:
    """Return whether *mention* is called right as well: "C也正确"."""
    return bool(
        mention.stance is Stance.AFFIRMED
        and _ALSO.match(text, mention.end)
        and not _BUT.match(text, mention.end)
    )


def is_against(text: str, mention: Mention) -> bool:
    """Return whether a commitment names the options that are wrong: "错误的是B"."""
    return bool(p.AGAINST.search(text, wording_start(text, mention), mention.start))


def wording_start(text: str, mention: Mention) -> int:
    """Return where the wording of *mention* begins, with the words right before: "The wrong"."""
    begin = max(mention.cue_start - p.AGAINST_WINDOW, 0)
    ends = (text.rfind(sign, begin, mention.cue_start) for sign in "。.,;\n")
    return max(begin, max(ends) + 1)


def _mention(text: str, found: list[Lettering], said: tuple[int, int], is_small: bool) -> Mention:
    """Return the mention *found*; what is said of it is in the text of the span *said*."""
    start, end = found[0].start, found[-1].end
    behind, following = said
    compared = behind > end
    left = text[max(0, start - p.LEFT_WINDOW) : start]
    # "C错误，排除" ends its line and does not exclude the D of the next.
    left += "\n" if "\n" in text[start : found[0].core] else ""
    right = _without_aside(text[behind : behind + p.RIGHT_WINDOW])
    if doubts.is_article(text[start:end], right):
        clause = ""
    else:
        clause = _clause(text[behind : min(behind + p.RIGHT_WINDOW, following)])
    verdict = _verdict(left=left, right=right, clause=clause, is_small=is_small)
    if verdict.cue is None and not is_small:
        asked = doubts.asked_for(text, behind, min(behind + p.RIGHT_WINDOW, following))
        if asked is not None and not (p.negated_left(left) or doubts.is_supposed(left)):
            verdict = _Verdict(Stance.AFFIRMED if asked else Stance.REJECTED, p.ASKED)
    unsure = verdict.stance is not Stance.REJECTED and (
        doubts.is_unsure(left, right)
        or doubts.is_unsure("", text[end : end + p.RIGHT_WINDOW])
        or (verdict.stance is Stance.AFFIRMED and doubts.is_withdrawn(right))
        or (compared and bool(_BUT.match(right)))
    )
    return Mention(
        letters=tuple("".join(lettering.letters for lettering in found).upper()),
        places=tuple(part.core + index for part in found for index in range(len(part.letters))),
        start=start,
        end=end,
        stance=verdict.stance,
        cue=verdict.cue.name if verdict.cue else "",
        cue_start=start - verdict.length,
        weak=bool(verdict.cue and verdict.cue.weak),
        undecided=(
            unsure or verdict.alternative or any(lettering.either_or for lettering in found)
        ),
        is_small=is_small,
        # "B比A更合适" says nothing of C, and not that A is wrong.
        open_ended=found[-1].open_ended or (compared and verdict.stance is Stance.AFFIRMED),
    )


def _verdict(*, left: str, right: str, clause: str, is_small: bool) -> _Verdict:
    if doubts.is_standard(left):
        return _Verdict(Stance.NAMED)
    if p.negated_left(left) or p.REJECTED_RIGHT.match(right):
        return _Verdict(Stance.REJECTED)
    # A question, a condition, or a list of the options to choose from.
    if (
        p.QUESTION_RIGHT.match(right)
        or p.CONDITION_RIGHT.match(right)
        or p.ENUMERATED_RIGHT.match(right)
        or p.ENUMERATED_LEFT.search(left)
    ):
        return _Verdict(Stance.NAMED)
    committed = _commitment(left, right, is_small)
    if committed:
        return committed
    if not is_small and p.THE_ANSWER.right and p.THE_ANSWER.right.match(right):
        if not p.NOT_MEANT_LEFT.search(left) and not p.CONDITIONAL_CUE.search(left):
            return _Verdict(Stance.COMMITTED, p.THE_ANSWER)
        return _Verdict(Stance.NAMED)
    if p.REJECTED_CLAUSE.search(clause):
        return _Verdict(Stance.REJECTED)
    if is_small:
        return _Verdict(Stance.NAMED)
    if p.FAULTED_CLAUSE.search(clause):
        return _Verdict(Stance.FAULTED)
    right_one = p.AFFIRMED_CLAUSE.search(clause) and not doubts.is_supposed(left)
    return _Verdict(Stance.AFFIRMED if right_one else Stance.NAMED)


def _commitment(left: str, right: str, is_small: bool) -> _Verdict | None:
    """Return the verdict by a wording right before the letters, None without one.

    Small letters and weak wordings count only if the letter ends its phrase.
    """
    if p.NOUN_RIGHT.match(right):
        return None
    at_boundary = bool(p.BOUNDARY_RIGHT.match(right))
    for cue in p.cues_for(left):
        match = cue.pattern.search(left) if at_boundary or not (cue.weak or is_small) else None
        if match is None or (cue.right and not cue.right.match(right)):
            continue
        before = left[: match.start()]
        # "不，是B": a negation before a comma does not negate the text after it.
        if match[0][0] not in ",;。:\n" and p.NEGATED_CUE.search(before):
            return _Verdict(Stance.REJECTED)
        if p.CONDITIONAL_CUE.search(before):
            return _Verdict(Stance.NAMED)
        listed = cue.name in _LISTING and p.LISTED_CUE.search(before)
        alternative = bool(p.ALTERNATIVE_CUE.search(before)) or bool(
            listed and p.LABEL_RIGHT.match(right)
        )
        return _Verdict(Stance.COMMITTED, cue, len(match[0]), alternative)
    return None


def _without_aside(right: str) -> str:
    """Return the text after the letters without a remark in brackets: "选项A（①②）错误"."""
    aside = _ASIDE.match(right)
    return right[aside.end() :] if aside else right


def _clause(right: str) -> str:
    """Return the clause right after the letters, in brackets or not."""
    aside = _ASIDE.match(right)
    inside = _first_clause(aside[0]) if aside else ""
    if p.REJECTED_CLAUSE.search(inside) or p.AFFIRMED_CLAUSE.search(inside):
        return inside
    return _first_clause(_without_aside(right))


def _first_clause(right: str) -> str:
    return _CLAUSE_END.split(_CLAUSE_OPENING.sub("", right), maxsplit=1)[0]
