"""Letters that open an answer: after a number, before their reasons, before their option."""

from __future__ import annotations

import re

from evaluations.reading.rules.extraction.mentions import find_mentions
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText

# A number of its own before an answer: "21. B".
OWN_NUMBER = re.compile(
    r"\s{0,4}(?:第\s?)?\(?(?P<number>\d{1,3})\)?\s?(?:小?题)?\s?[.、:)]?(?=\s|[A-Za-z(])"
)
# "21. B 【解析】...": the answer, and then a field with the reasons for it.
_BEFORE_ANALYSIS = re.compile(
    r"\s{0,4}(?:(?:第\s?)?\(?\d{1,3}\)?\s?(?:小?题)?\s?[.、:)]?(?=\s|[A-Za-z(])\s{0,2})?"
    r"[(\[\"]?(?P<letters>[A-G](?:[、,\s]{0,2}[A-G]){0,6})[)\]\"]?(?:选?项)?[.、:,。;]?\s{0,3}"
    r"[【\[](?:解析|分析|详解|点评|解答|解释|理由|考点|思路|说明)"
)
# "36. D look after": the letter with the few words of its option; "A" may be an article.
_WITH_WORDS = re.compile(
    r"\s{0,3}[(\[]?(?P<letter>[A-G])[)\]]?[ ]{1,3}"
    r"(?P<words>[a-z][a-z'’-]{0,20}(?:[ ][a-z'’-]{1,20}){0,4})"
    r"\s{0,2}[.。;,]?[ ]{0,3}(?=[\n\x1e]|\Z)"
)
# Words that make a sentence of it, or a noun with the letter ("B cells", "C major").
_NO_OPTION = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|can|cannot|could|will|would|should|must|may"
    r"|might|and|or|nor|not|no|than|with|because|so|but|if|that|which|who|seems?|says?|means?|shows?"
    r"|cells?|major|minor|level|grade|class|type|vitamins?|team|group|wrong|right|correct|incorrect"
    r"|true|false)\b"
)


def before_analysis(source: SourceText, letters: str) -> Reading | None:
    """The letters that stand before a field with the reasons for them ("21. B 【解析】...").

    Undecided where the reasons end with other letters.
    """
    match = _BEFORE_ANALYSIS.match(source.text)
    if match is None:
        return None
    places = [place for place in range(*match.span("letters")) if source.text[place].isalpha()]
    names = tuple(source.text[place] for place in places)
    if not set(names) <= set(letters):
        return None
    last = next(find_mentions(source.text, letters).commitments_from_the_end(), None)
    undecided = last is not None and not last.weak and set(last.letters) != set(names)
    return Reading(
        names,
        source.span(*match.span("letters")),
        "leading",
        "before_analysis",
        0.8,
        undecided,
        tuple(source.span(place, place + 1) for place in places),
    )


def with_words(source: SourceText, letters: str, *, article: bool = False) -> Reading | None:
    """The letter before the words of its option ("D look after"), where the text names no other.

    *article*: read "A look after" as well, because what stands beside it is written so.
    """
    match = _WITH_WORDS.match(source.text)
    if match is None or match["letter"] not in letters or _NO_OPTION.search(match["words"]):
        return None
    if match["letter"] == "A" and not article:
        return None
    place = match.start("letter")
    if any(mention.start > place for mention in find_mentions(source.text, letters)):
        return None
    span = source.span(place, match.end("words"))
    return Reading((match["letter"],), span, "leading", "with_words", 0.6)
