"""What makes a statement about letters uncertain: supposition, doubt, and what is said behind it.

All patterns are matched on plain text in a window of bounded length beside the letters, with
bounded quantifiers.
"""

from __future__ import annotations

import re

# The verdict on the statement of an option is not the answer: the question may ask for the
# wrong one. "A项说法正确，不符合题意；B项说法错误，符合题意".
_ASKED = re.compile(
    r"(?:[,(]|但)\s?(?:但是?|却|而|正好?|恰好?|才|且|就|故|因此|所以|因而|应当?|该?[此选本]?项|则){0,3}\s?"
    r"(?:(?P<no>不(?:符|合|符合)(?:题[意干目]|要求)(?:要求)?|与题[意干目](?:要求)?(?:不符|不合|无关|不一致)"
    r"|不(?:应该?|能|可|予)?[入当]?选|不是(?:本题的?)?(?:正确)?答案"
    r"|(?:题目|本题)[^,。]{0,4}[问求选]的[并也]?不是[^,。]{0,4}|应?(?:予以|被)?排除)"
    r"|(?P<yes>符合(?:题[意干目]|要求)(?:的?要求)?|与题[意干目](?:要求)?(?:相符|相合|符合|一致)|[入当应可]选"
    r"|[是为](?:本题的?)?(?:正确)?答案))的?(?=\s?[,。;.!)\n]|\s?\Z)"
    r"|(?i:[,;]\s?(?:and |but |so |hence |thus |therefore )?(?:it|this|that) is "
    r"(?:(?P<not>not )|(?P<the>))(?:the |our )?(?:\w{4,9} )?(?:answer|exception|choice)"
    r"(?=\s?[,.;!)\n]|\s?\Z))"
)
# The question is said to ask for the wrong options.
WRONG_IS_ASKED = re.compile(
    r"(?:题目|[本该此]题|题干|要求|下列|(?<!所)以下|哪|[让问]的?是|选(?!项)出?)[^,。;\nA-G]{0,16}"
    r"(?:错误?|有误|不(?:正确|恰当|当|合适|合理|妥|成立|属于|符合)[^,。;\nA-G]{0,8})"
    r"(?:的|选项|答案|说法|叙述|表述|一项)"
    r"|选非|反选"
    r"|\b(?:need|want|choose|select|pick|find) (?:the|all) (?:wrong|incorrect|false)"
    r" (?:one|option|statement)"
    r"|\b(?:asks?|asked|asking|looking) (?:us )?(?:for|to|which)\b[^.\n]{0,40}"
    r"\b(?:wrong|incorrect|false|not|except|exception|least)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"\s?[.:、]?[^。.;!\n\x1e]*+")
# A letter after this wording is supposed, or examined, to be right.
_SUPPOSED_LEFT = re.compile(
    r"(?:(?:如果|假[如设定使]|设想|倘若|若|要是|要使|要想|除非|是否|即[使便]|只要|无论|不管)[^,。;:\n]{0,8}"
    r"|\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|provided|were|had|in case)\b"
    r"(?:(?!\bthen\b)[^,.;:\n]){0,24})\Z",
    re.IGNORECASE,
)
# "至少AB正确": the set may have more letters. "不是B就是C": one of two.
_UNSURE_LEFT = re.compile(
    r"(?:(?:至少|起码|起初|最初|一开始|原本|(?<![可所])以为|有人|试[选着取])[^,。;\n]{0,6}"
    r"|\bat least\s(?:\w{1,8}\s)?"
    r"|\b(?:at first|initially|originally|(?:i|we) used to|(?:i|we|he|she|they) thought"
    r"|some (?:\w{1,10} )?(?:argue|say|think|claim)|let(?:'s| us) (?:say|try|test))\b[^,.;\n]{0,24}"
    r"|(?:不是|非|要么是?)\s?[(]?[A-G][)]?\s?(?:选?项)?\s?,?\s?(?:就是|即是?|便是|要么是?)\s?)\Z",
    re.IGNORECASE,
)
_UNSURE_RIGHT = re.compile(
    r"\s{0,2}[(]?(?:选项|项)?的?[^,。;:()【\nA-G]{0,8}"
    r"(?<!没)(?:存疑|有待|待定|有疑[问义]|有争议|(?:有|存在)问题(?!吗)|不(?:太|是?很|能)?确定|不一定|未必|可疑|拿不准|不好说)"
    r"|\s{0,2}(?:选项|项)?的?正确(?:性|率|的?(?:可能|概率|几率))"
    r"|[^\S\n]{0,2}(?:[-–—~]{1,2}|至|到|to\b|through\b)\s{0,2}[A-G](?=\s?(?:[.。,;:)\n\x1e都均全项]|\Z))"
    r"|\s{0,2},?\s?(?:或者?|还是)是?(?:其[他它余]|别的|另|以上|都不)"
    r"|(?i:\s{0,2},?\s?or (?:maybe |perhaps |possibly )?"
    r"(?:something|some|another|one of|the other|none|neither|else)\b)"
    r"|[^,。;:\n]{0,20}(?:时|下|时候|条件|前提)才(?:能|会|可)?[是为]?(?:正确|成立|对)"
    r"|(?i:\s{0,2}(?:is|are|was|seems|must be"
    r"|(?:would|could|might|can|may)(?: \w{1,8})? (?:be|have been))\b"
    r"(?:(?!\b(?:because|since|as|that|which)\b)[^.,;:\n]){0,50}?"
    r"\b(?:if|unless|provided|only when|only for|questionable|doubtful|debatable|uncertain"
    r"|nearly|almost|part(?:ly|ially)?|half)\b)"
    r"|\s{0,2}(?:选项|项)?的?(?:说法|表述)?(?:只有?|仅|是)?(?:一?部分|不完?全|半)(?:正确|准确|符合|[对错])"
    # The writer, or another one, disagrees: "老师说选A，但我不同意", "她错了".
    r"|\s{0,2}[,;。.]\s?(?:但是?|不过|然而|可是|(?i:but|however),?\s)?\s?"
    r"(?:我们?[^,。;\nA-G]{0,6}(?:不同意|不认同|反对|不[太很]?确定)"
    r"|(?:[他她]们?|[这此](?:个|种)?(?:答案|选择|回答)?)(?:[也都是]|显然|明显|其实)?(?:错误?|不对|不正确)[的了]?"
    r"(?=\s?[,。;\n]|\Z)"
    r"|(?i:i (?:\w{1,8} )?(?:disagree|doubt|am not sure|am unsure)\b"
    r"|(?:this|that|it|he|she|they) (?:is|was|are|were) (?:wrong|incorrect|false|mistaken)"
    r"(?=\s?[,.;\n]|\Z)))"
)
# "A看似正确，实则不然": a verdict that its sentence withdraws.
_BUT_NOT = re.compile(
    r"[^。.;\nA-G]{0,40}?(?:但|其实|实则|实际|然而|不过|(?i:\bbut\b|\bhowever\b))"
    r"(?:(?!其[余他它]|(?i:\bothers?\b|\brest\b))[^。.;\nA-G]){0,24}?"
    r"(?:不|错|(?<!并)未|(?i:\bnot\b|n't|\bwrong\b|\botherwise\b|\bfails?\b|\bfalse\b))"
)
# "A good approach is": an article, unless a verb or a joining word follows.
_ARTICLE_RIGHT = re.compile(
    r"\s(?!(?:is|are|was|were|be|must|would|should|could|can|cannot|may|might|will|has|had|have|do"
    r"|did|also|only|still|never|just|best|then|which|who|that|and|or|nor|but|because|since|as|if"
    r"|when|while|for|by|in|on|to|with|from|correct|incorrect|right|wrong|true|false|out|not|too|both"
    r"|alone|can't|won't|[a-z]{0,16}(?:ly|s|n't))\b)[a-z]"
)
# Behind an answer: a turn against its own letters, or a hint at more of them.
_TURN_BEHIND = re.compile(
    r"[\s,;。.]{0,4}(?:但是?|不过|然而|其中的?|只是|可是"
    r"|(?i:but|however|although|though|of which)\b)"
    r"|\s{0,2}\((?=\s{0,2}\Z)"
)
_MORE_BEHIND = re.compile(
    r"[\s,;。.(]{0,4}(?:(?:可能|也许|或许|大概|说不定)(?:[还也])?(?:[有是选]|包括|应?选)?"
    r"|(?i:(?:and |or )?(?:maybe|perhaps|possibly)(?: also| even)?(?: options?| choices?)?))\s{0,2}"
    r"(?:选项)?[(]?"
)
# "Answer: A. No wait, C": a correction without a wording of its own.
_CORRECTED = re.compile(
    r"[^\n]{0,40}?(?:不对?[,:]|更正[,:]|(?i:\b(?:wait|sorry|correction|erratum)[,:]))\s{0,2}"
    r"(?i:no,?\s)?[(]?"
)
# So far behind an answer, in characters, it is corrected.
_REACH = 60
_SENTENCE_END = re.compile(r"[。!\n\x1e]|\.(?:\s|\Z)")
_MAYBE_GAP = re.compile(r"[\s,;。.(]{0,4}(?:但是?|不过|而|(?i:but|and|option)\s)?")
_MAYBE_RIGHT = re.compile(
    r"\s?(?:选项|项)?\s?(?:存疑|待定|不(?:太|很)?确定|拿不准|不好说|(?:可能|也许|或许)也?(?:对|正确)"
    r"|(?i:(?:may|might|could) (?:also )?be (?:correct|right|true)"
    r"|is (?:also )?(?:possible|uncertain|doubtful|unclear)))"
)
# "B比A更合适": what is said behind A is said of B.
_SAID_OF = r"(?:选?项)?的?(?:说法|表述|叙述|描述|观点|内容|解释|概括|理解|答案)?"
_THAN = (
    r"(?:更|要|则|还是|明显|显然|似乎|可能|应该?)?"
    r"(?:相比于?|相较于?|相对于?|比起|比较|比之|较之|较于|比|较)(?:选择?)?"
)
_COMPARED = re.compile(rf"\s?{_SAID_OF}\s?{_THAN}\s?(?:选项\s?|[(\[])?")
_COMPARED_LEFT = re.compile(
    rf"(?<![A-Za-z])[A-G][)\]]?\s?{_SAID_OF}\s?(?:并?不|没有|未必)?{_THAN}\s?\Z"
)
_REMOVED = re.compile(r"\s{0,2}(?:选?项)?[^,。;\nA-G]{0,6}(?:排除|剔除|去掉|删去|舍去|划掉)")


def asked_for(text: str, end: int, following: int) -> bool | None:
    """Return whether the sentence says that the letters that end at *end* are asked for.

    None if it does not say so before *following*, the start of the next letters.
    """
    sentence = _SENTENCE.match(text, end, following + 1)
    found = _ASKED.search(text, end, sentence.end() if sentence else end)
    return None if found is None else not (found["no"] or found["not"])


def is_supposed(left: str) -> bool:
    """Return whether what follows *left* is a supposition, or is being examined."""
    return bool(_SUPPOSED_LEFT.search(left))


def is_unsure(left: str, right: str) -> bool:
    """Return whether the words beside the letters leave open whether they are the answer."""
    return bool(_UNSURE_RIGHT.match(right) or _UNSURE_LEFT.search(left))


def is_withdrawn(right: str) -> bool:
    """Return whether the sentence withdraws its verdict: "A seems right, but it is not"."""
    return bool(_BUT_NOT.match(right))


def is_article(word: str, right: str) -> bool:
    """Return whether *word* before *right* may be the English article "A"."""
    return word == "A" and bool(_ARTICLE_RIGHT.match(right))


def is_compared_with(text: str, end: int, start: int) -> bool:
    """Return whether letters that end at *end* are compared with those that begin at *start*."""
    return bool(_COMPARED.fullmatch(text, end, start))


def is_standard(left: str) -> bool:
    """Return whether what follows *left* is what a letter before it is compared with."""
    return bool(_COMPARED_LEFT.search(left))


def removes(text: str, gap_start: int, start: int, end: int, *, rejected: bool) -> bool:
    """Return whether letters from *start* to *end* are withdrawn from the answer before them.

    *rejected*: they are called wrong. *gap_start* is the end of the answer.
    """
    turn = start - gap_start < _REACH and _TURN_BEHIND.match(text, gap_start, start + 1)
    if not turn or _SENTENCE_END.search(text, turn.end(), start):
        return False
    return rejected or bool(_REMOVED.match(text, end))


def may_add(text: str, gap_start: int, start: int, end: int) -> bool:
    """Return whether the letters from *start* to *end* may belong to the answer before them.

    Or replace it. *gap_start* is the end of the answer.
    """
    if _MORE_BEHIND.fullmatch(text, gap_start, start):
        return True
    if _MAYBE_GAP.fullmatch(text, gap_start, start):
        return may_be_right(text, end)
    return start - gap_start < _REACH and bool(_CORRECTED.fullmatch(text, gap_start, start))


def may_be_right(text: str, end: int) -> bool:
    """Return whether the letters that end at *end* are said to be right perhaps."""
    return bool(_MAYBE_RIGHT.match(text, end))
