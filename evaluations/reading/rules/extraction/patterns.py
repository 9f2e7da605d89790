"""The wordings that make a letter an answer, or reject it.

All patterns are matched on plain text (see source_text), in a window of bounded
length beside one letter, with bounded quantifiers, so every search is fast. "Left"
patterns end where the letter begins; "right" patterns begin where it ends.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

LEFT_WINDOW = 48
RIGHT_WINDOW = 80


class Cue(NamedTuple):
    """A left wording that commits to the letter after it.

    A ``weak`` one ("so C", "应该是C") counts only if the letter ends its phrase; one with
    a ``right`` only if that wording follows ("只有C符合").
    """

    name: str
    pattern: re.Pattern[str]
    weak: bool = False
    right: re.Pattern[str] | None = None


@lru_cache(maxsize=512)
def for_letters(pattern: str, letters: str, flags: int = 0) -> re.Pattern[str]:
    """Compile *pattern* for an item: LETTERS is replaced by *letters*, SMALL by lower case."""
    own = pattern.replace("LETTERS", re.escape(letters)).replace(
        "SMALL", re.escape(letters.lower())
    )
    return re.compile(own, flags)


def _left(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})\Z", re.IGNORECASE)


def _right(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ZH_FILL = (
    r"\s{0,2}(?:应该?|应当|当然|显然|只能|只有|必然|必定|肯定|一定|很可能|最有?可能|可能|或许|也许|大概"
    r"|因此|所以|就|便|即|则|故|也|都|均|还|既|不仅|同时|确实|仍然?|依然|最终|最后|可以?|会|我认为|我觉得"
    r"|分别|依次|无疑|本题|是|为|选择?|填|在于|如下|:|=>?|→|->|-|—)"
)
_EN_FILL = (
    r"\s{0,2}(?:therefore|thus|then|hence|so|clearly|definitely|certainly|indeed|also|simply|really"
    r"|(?:most )?(?:likely|probably)|actually|obviously|only|now|both|not only|here|the|options?"
    r"|choices?|letters?|(?:to|for) (?:(?:this|the) )?(?:question|problem|item)?(?: \d{1,3})?"
    r"|either|would|should|must|will|can|could|might|may|has to|have to|be|is|are|was|'s|as follows"
    r"|:|=>?|→|->|-|—|,|\")"
)
_EN_IS = r"\s{0,2}(?:is|are|was|be|'s|:|=|→|->|[-–—](?:\s|\Z))"

CUES = (
    Cue("zh.answer", _left(rf"答案[】\]\"'}}]{{0,2}}(?:{_ZH_FILL}){{0,6}}\s{{0,4}}")),
    Cue(
        "zh.reply",
        _left(
            r"(?:回答|作答|我的选择|结论|答|(?<![一-龥])最终"
            r"|(?:修改|更改|更正|改正|修订|修正|订正)之?后)\s{0,2}(?:是|为)?\s?:\s{0,4}"
        ),
    ),
    Cue(
        "zh.choose",
        _left(
            rf"(?:选择|选取|选出|选定|选中|勾选|选填|选|填写?)(?:的|了|出)?(?:{_ZH_FILL}|答案|第[一二三四五六七]个){{0,4}}\s{{0,3}}"
        ),
    ),
    Cue(
        "zh.the_one",
        _left(
            r"不?(?:正确|错误|有误|无误|不当|恰当|合适|合理|不妥|成立|最佳|最好|属于[^,。;\n]{0,8}"
            r"|(?:符合|满足|没有|能)[^,。;\n]{0,10})(?:的(?:一?项|选项|说法|叙述|表述|描述|一组|一句|句子)?"
            rf"|选项|说法)\s{{0,2}}(?:是|为|有|:)(?:{_ZH_FILL}){{0,3}}\s{{0,3}}"
        ),
    ),
    Cue(
        "zh.only",
        _left(r"(?:只有(?<!不是只有)(?<!并非只有)(?<!是否只有)|唯有|仅有)\s{0,2}"),
        right=_right(
            r"\s{0,2}(?:的?(?:说法|表述|叙述|描述|观点|结论|内容))?\s{0,2}(?:才|最|是|完全|能|可以?){0,2}"
            r"(?:符合|正确|对的?(?=[,。;\s]|\Z)|成立|满足|恰当|合适|合理|准确|贴切)(?!时|的?[情前条])"
        ),
    ),
    Cue(
        "zh.result",
        _left(
            r"(?:\A|[\n.。;,!:】>])\s{0,3}(?:最终|最后|综合|本题|所以|因此)?的?(?:答题|作答|选择|判断|推理|分析)?结果"
            r"\s{0,2}(?:[应即]?[是为]\s{0,2}:?|:)\s{0,3}"
        ),
        weak=True,
    ),
    Cue(
        "zh.corrected",
        _left(
            r"(?:更正|改为|改成|改选|修正|订正|纠正|勘误)"
            r"(?:应?[为是]|:\s?(?:应?[为是])?)?\s{0,3}"
        ),
    ),
    Cue("zh.is_one", _left(r"的(?:一?项|选项|一组|一句)?是\s{0,2}"), weak=True),
    Cue(
        "zh.is",
        _left(
            r"(?:而|就|便|只能|必定|肯定|一定|显然|可能|应该?|应当|必然|大概|也许|或许|还|才|[,;。:\n]\s?)(?:是|为)\s{0,2}"
        ),
        weak=True,
    ),
    Cue(
        "zh.think",
        _left(
            r"(?:认为|觉得|判断|推断|猜测?|确定|可知|倾向于?|结论)"
            rf"(?:{_ZH_FILL}){{0,3}}\s{{0,3}}"
        ),
        weak=True,
    ),
    Cue(
        "zh.therefore",
        _left(
            r"(?:故|因此|所以|综上(?:所述|可知|分析)?|总之|于是|由此可[知见]|即|只?剩下)"
            r"\s{0,2}[,:]?\s{0,3}(?:应?[是为])?\s{0,2}"
        ),
        weak=True,
    ),
    Cue(
        "en.answer",
        _left(
            rf"(?<![A-Za-z])(?:answers?|ans)[\"'}}\]】)]{{0,2}}(?:{_EN_FILL}){{0,4}}{_EN_IS}(?:{_EN_FILL}){{0,5}}\s{{0,4}}"
            r"|(?:\A|\n)\s{0,3}(?:final |correct |my )?(?:answers?|ans\.?)\s{0,3}"
            r"|(?:\A|[\n;.(])\s{0,3}(?:final|corrected|correction|erratum|revised|updated)\s{0,2}:\s{0,3}"
        ),
    ),
    Cue(
        "en.correct",
        _left(
            r"\b(?:correct|right|best|true|appropriate|final|most suitable)"
            r"(?: answer| option| choice| one| statement| response| letter){0,2}"
            rf"(?:{_EN_FILL}){{0,4}}{_EN_IS}(?:{_EN_FILL}){{0,4}}\s{{0,4}}"
        ),
    ),
    Cue(
        "en.choose",
        _left(
            r"\b(?:choos(?:e|ing)|chose|select(?:ed|ing)?|pick(?:ed|ing)?|go(?:ing)? (?:with|for)"
            r"|opt(?:ed)? for|settle on|vote for|my (?:choice|pick|guess)|lean(?:ing)? towards?)\b"
            rf"(?:{_EN_FILL}){{0,4}}\s{{0,4}}"
        ),
    ),
    Cue(
        "en.is",
        _left(
            r"\b(?:it|this|that|which|conclusion|choice|option|solution|selection|result)"
            rf"(?:{_EN_FILL}){{0,2}}{_EN_IS}(?:{_EN_FILL}){{0,3}}\s{{0,3}}"
        ),
        weak=True,
    ),
    Cue(
        "en.therefore",
        _left(
            r"\b(?:therefore|thus|hence|so|consequently|accordingly|finally|in conclusion|overall"
            r"|ultimately|in summary|leaves(?: us)?(?: with)?|leaving|conclude|guess|think|believe"
            r"|say|must be|should be|would be|has to be|but(?: rather)?(?: instead)?)"
            rf"(?:{_EN_FILL}){{0,4}}\s{{0,3}}"
        ),
        weak=True,
    ),
)

# The text after the letters calls them the answer ("A是正确答案", "B is the best choice").
_THE_ANSWER = _right(
    r"\s{0,2}(?:才|就|应该?|应当|便|即|无疑|显然|确实|的确){0,2}(?:是|为)(?:[本此该这]道?题|题目|问题|最终|唯一|我们)?的?"
    r"(?:(?:最(?:佳|好|优|合适|恰当)|正确|标准|唯一|最终|参考|合适|恰当)的?){0,2}(?:答案|正确选择)"
    r"\s{0,2}(?:[。,;.!)\n\x1e]|\Z|因为|由于)"
    r"|\s{0,2}(?:is|would be|must be|should be|has to be)"
    r"(?: (?:therefore|thus|hence|clearly|definitely|indeed|most likely|probably))? (?:the|our|my)"
    r"(?: (?:only|single|most \w{4,12}))?"
    r"(?: (?:(?:correct|right|best|final|proper) (?:answer|choice|option)|answer))"
    r"\s{0,2}(?:(?:to|for) (?:this|the) (?:question|problem|item)\s{0,2})?"
    r"(?:[,;.!:)\n\x1e]|\Z|because\b|since\b|as\b)"
)
THE_ANSWER = Cue("the_answer", _left(r"(?!)"), right=_THE_ANSWER)
# Not a commitment: the text says that the option is what the question asks for, or is not.
ASKED = Cue("asked", _left(r"(?!)"))
# An opinion of others, a question or an appearance: "误以为A", "why A", "A may seem".
NOT_MEANT_LEFT = _left(
    r"(?:误[以认]?为|看[似来像]|似乎|貌似|是否|并非|不认为|有人|同学们?|学生|考生|若|如果|假[如设]|要使|除非|为什么|为何)[^,。;\n]{0,8}"
    r"|\b(?:if|whether|unless|why|may|might|could|some|many|students?|readers?|people|seems?|would)\b[^,.;\n]{0,24}"
)

# Cues that give an answer.
ANSWERING = frozenset(
    {"zh.answer", "zh.reply", "zh.choose", "en.answer", "en.choose", "en.correct"}
)
# What says which options are right; "正确的是" also where the question asks for the wrong ones.
NAMING = ANSWERING | {"zh.the_one"}
# In the wording of a commitment or right before it: it names the options that are wrong.
AGAINST = re.compile(
    r"(?<!没有)(?<!无)错|(?<!没有)(?<!无)(?<!错)(?<!勘)误|不(?:正确|恰当|当|合适|合理|妥|成立|属于|符合|满足|能)"
    r"|\b(?:wrong|incorrect|false|not|except|least)\b",
    re.IGNORECASE,
)
AGAINST_WINDOW = 12
# What follows is the answer after all.
CONCLUDED = re.compile(
    r"所以|因此|故|综上|那么|应选|但|然而|不过"
    r"|\b(?:so|therefore|thus|hence|then|but|however)\b",
    re.IGNORECASE,
)
# Between an answer and the list of the wrong options right behind it.
ADJACENT = re.compile(r"[\s。.,;]{0,4}")

_ASCII_CUES = tuple(cue for cue in CUES if cue.name.startswith("en."))
_HAN_CUES = tuple(cue for cue in CUES if cue.name.startswith("zh."))
_ASCII_LETTER = re.compile(r"[A-Za-z]")


def cues_for(left: str) -> tuple[Cue, ...]:
    """Return the ``CUES`` that can match *left*: a Chinese wording contains Chinese characters."""
    if left.isascii():
        return _ASCII_CUES
    return CUES if _ASCII_LETTER.search(left) else _HAN_CUES


# The letter after this wording is ruled out.
_NEGATED_LEFT_ZH = _left(
    r"(?:不(?:会|能|可能|应[该当]?|该|可|再|太可能)?|没有?|未|(?<![分特差])别|勿|并?非|绝非|无法)\s?(?:是|选择?|为|填|等于|属于)\s{0,2}"
    r"|(?:误|错|漏|易|多|备)选(?:择|了)?\s{0,2}"
    r"|(?:排除|除去?|除了|剔除|去掉|舍去|否定|淘汰|而非|并非|不同于|区别于)[^\S\n]{0,2}"
)
_LONGEST_NEGATED_ZH = 12
_NEGATED_LEFT_EN = _left(
    r"(?:\bnot|n't|\bnever|\bneither|\bnone of|\bnor|\bexcept(?: for)?|\brather than"
    r"|\binstead of|\bunlike|\b(?:anything|all|everything) but|\bfar from"
    r"|\b(?:eliminat|exclud|reject|dismiss|discard)(?:e|es|ed|ing|s)?"
    r"|\brul(?:e|es|ed|ing) out|\bcannot|\bother than)"
    r"(?:\s(?:possibly|really|actually|simply|just|be|the|both|either|options?|choices?|choose|select"
    r"|pick|go with|answers?|letters?|to|for)){0,3}\s{0,2}"
)
# Every wording of ``_NEGATED_LEFT_EN`` has one of these.
_NEGATIONS_EN = (
    *("not", "n't", "never", "neither", "none of", "nor", "except", "rather", "instead", "unlike"),
    *("eliminat", "exclud", "reject", "dismiss", "discard", "rul", "other", "thing but", "all but"),
    "far from",
)


def negated_left(left: str) -> bool:
    """Return whether *left* rules out the letter after it: "不是", "rather than"."""
    if not left.isascii() and _NEGATED_LEFT_ZH.search(
        left, max(0, len(left) - _LONGEST_NEGATED_ZH)
    ):
        return True
    if not _ASCII_LETTER.search(left):
        return False
    lower = left.lower()
    return any(word in lower for word in _NEGATIONS_EN) and bool(_NEGATED_LEFT_EN.search(left))


# The same before a cue: "不能" before "选A", "would not" before "choose A".
NEGATED_CUE = _left(
    r"(?:不(?:会|能|可能|应[该当]?|该|可|再|要)?|没有?|未|(?<![分特差])别|勿|并?非|误|错|漏|易|多|备|无法"
    r"|(?:无需|无须|不必|不用|不需要?)更?)\s?"
    r"|(?:\bnot|n't|\bnever|\bcannot|\bneither)\s(?:\w{2,12}\s)?"
)
CONDITIONAL_CUE = _left(
    r"(?:如果|假[如设定使]|倘若|要是|若)[^,。;:\n]{0,8}"
    r"|\b(?:if|suppos(?:e|ing)|assum(?:e|ing)|unless)\b(?![^,.;:\n]{0,16}\b(?:then|so)\b)[^,.;:\n]{0,16}"
)
ALTERNATIVE_CUE = _left(
    r"或者?(?:是|说)?\s{0,2}|\bor\s{0,2}(?:maybe |perhaps |possibly )?(?:the |it )?"
)
HEDGE = re.compile(
    r"可能|也许|或许|大概|\b(?:might|may|maybe|perhaps|possibly|could)\b", re.IGNORECASE
)
# "从A、B、C、D中选": a list of the options, not of the answer.
ENUMERATED_LEFT = _left(
    r"从|在|比较|对比|\b(?:from|between|among|compare|comparing)\s(?:options? )?"
)
ENUMERATED_RIGHT = _right(r"\s{0,2}(?:这?[两三四五六七2-7]个?选?项)?\s{0,2}(?:之?中|里)")

QUESTION_RIGHT = _right(r"\s{0,2}(?:吗|么|呢)?\s?\?|\s{0,2}吗")
CONDITION_RIGHT = _right(r"\s{0,2}(?:的话|则|的同学|的考生|的人)")
BOUNDARY_RIGHT = _right(
    rf"\s{{0,3}}(?:\Z|,(?!\s?[A-Z](?![A-Za-z]))|[.。;:!)\]}}】\"'\n{chr(0x1E)}(]|吧|因为|由于|because\b|since\b|as\b)"
)
# "选择B细胞": the letter belongs to a noun.
NOUN_RIGHT = _right(
    r"(?:细胞|淋巴|点(?![评拨])|球|线|族|型|类(?!似)|组(?!成)|处(?!理)|地|区(?![别分])|图(?!中)|段|层|管|瓶|车"
    r"|物质|国|城|村|树|轨|星|极|端|面(?!对)|圆|灯|电"
    r"|基因|染色|元素|原子|离子|气体|溶液|试管|装置|曲线|阶段|时刻|通道|公司|企业|-?level|-?cell)"
)
_ZH_SAID = (
    r"\s{0,2}(?:这个?|那个?)?(?:[两三四2-4]个?)?(?:选项|[项者]|答案)?"
    r"\s{0,2}的?(?:说法|表述|叙述|描述|观点|结论|内容)?"
)
_ZH_VERDICT = (
    rf"{_ZH_SAID}\s{{0,2}}:?\s{{0,2}}"
    r"(?:是|为|也|都|均|皆|全|就|显然|明显|其实|完全|并|肯定|一定|项){0,3}"
)
# "答案：AC" and then the line "错误选项：BD", which is about other letters.
_NEXT_LIST = (
    r"(?!\s{0,2}(?<=\n)\s{0,2}(?:错误|有误|不正确|不恰当|不妥|不当|不成立|排除|wrong|incorrect|false)"
    r"的?\s?(?:选项|一?项|说法|叙述|表述|答案|(?:options?|choices?|answers?|ones?)\b)?\s?"
    r"(?:分别|依次)?(?:[是为有:]|(?:is|are)\b))"
)
REJECTED_RIGHT = _right(
    rf"{_NEXT_LIST}{_ZH_VERDICT}(?:错|误(?!差)|有误|不对|不正确|不符|不成立|不合|不能(?:选|是|[作成]?为|算)|不会[是为]|[并绝决]非|[绝决]不|不选(?!\s?[A-G])|不是|不可"
    r"|不恰当|不妥|不当|被?排除|可以?排除|×|✗|✘|❌)"
    r"|[ ]{0,2}:?[ ]{0,2}(?:(?:is|are|was|were|seems?|looks?"
    r"|(?:would|could|should|will|must|can|may|might)(?: \w{1,12})? be)(?: \w{1,12}){0,2} "
    r"(?:not|incorrect|wrong|false|invalid|inaccurate|irrelevant|unlikely|impossible|out|hardly"
    r"|scarcely|never|far from|anything but|mistaken?|errors?|trap)\b"
    r"|(?:can|could|would|should|will|may|might) (?:not|never|hardly|scarcely)(?: \w{1,12})? be\b"
    r"|isn't|aren't|can't be|cannot be|does(?:n't| not)|do(?:n't| not)"
    r"|can be (?:eliminated|ruled out|excluded|rejected)|contradicts|fails"
    r"|(?:incorrect|wrong|false)\b)"
)
REJECTED_CLAUSE = re.compile(
    r"错|有误|不对|不正确|不符|不成立|不合|不恰当|不妥|不当|不选|排除|无关|×|✗|✘|❌"
    r"|(?:不(?:完全|太|够|一定|尽|全|都)|未必)(?:都|完全)?(?:正确|准确|恰当|对|合适|合理|成立|严谨)"
    r"|\bnot\b|n't|\b(?:incorrect|wrong|false|invalid)\b",
    re.IGNORECASE,
)
# Faults of an option; it need not be the wrong answer, because the question may ask for
# the option with the fault.
FAULTED_CLAUSE = re.compile(
    "|".join(
        rf"{fault}(?<!没有{fault})(?<!未{fault})(?!正确)"
        for fault in (
            *("说法绝对", "表述绝对", "叙述绝对", "过于绝对", "太绝对", "太过绝对", "过分绝对"),
            *("绝对化", "偷换概念", "无中生有", "以偏概全", "张冠李戴", "曲解", "断章取义"),
            "因果倒置",
            *("于文无据", "夸大其词", "夸大其辞"),
        )
    )
)
AFFIRMED_CLAUSE = re.compile(
    r"(?:正确|恰当|合理|成立|当选|最佳|最好|合适|贴切|准确|(?<![相绝反针])对|是答案)(?:的|了|答案|选项|一项){0,2}\s{0,2}\Z"
    r"|符合(?:题意|题干|要求|题目|文意|史实|原文)[^,。]{0,4}\Z|\A\s{0,2}(?:[√✓✔✅](?!\s?[0-9(])|(?:[全都均皆]选|is)\s{0,2}\Z)"
    r"|\b(?:is|are|seems?|must be|would be|looks?)(?: (?!less\b)\w{1,12}){0,3} "
    r"(?:correct|right|true|best|accurate|valid|answers?|choice|one|option)\b|\b(?:correct|right|true)\s{0,2}\Z"
    r"|\A\s{0,2}(?:the )?(?:correct|right|best) (?:answer|choice|option|one)\s{0,2}\Z",
    re.IGNORECASE,
)

# "得出以下结论：A. ...": a list of conclusions may follow, not the answer.
LISTED_CUE = _left(
    r"(?:以下|下列|如下|下面|这样|这些|几[个点条])的?(?:[一二两三四几]?[个点条种])?|\bfollowing\s"
)
LABEL_RIGHT = _right(r"\s{0,2}(?:[.、:)]\s{0,3}[^\s.,;!]|[^\s.,;!)\n\x1e])")

_REFUSALS_ZH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:作为|我是)(?:一个|一名|一款)?\s?(?:人工智能|AI|大?语言模型|大模型|智能助手)[^。\n]{0,30}"
        r"(?:无法|不能|没有|还没|尚未|不会|难以)",
        r"(?:抱歉|对不起|不好意思)[^。\n]{0,20}(?:无法|不能|不会|没有办法|没法|不便)",
        r"我(?:暂时|目前)?(?:无法|不能|没法|不便|拒绝)(?:回答|作答|提供|协助|完成|解答|帮助|处理)",
        r"(?:无法|不能|拒绝)(?:回答|作答|解答)",
    )
)
_REFUSAL_EN = re.compile(
    r"\b(?:sorry|apologi[sz]e)\b[^.\n]{0,40}\b(?:can't|cannot|unable|not able|won't|don't)\b"
    r"|\bi(?: can't| cannot| can not| won't| will not|(?: a|')m (?:unable|not able) to)"
    r"(?: \w{1,12})? (?:help|assist|answer|provide|comply|fulfil|solve|determine|complete|view|see"
    r"|process|access|respond|support|engage|discuss|continue|choose|give|do)\b"
    r"|\bi (?:must|have to) decline\b"
    r"|\bas an? (?:ai|(?:large )?language model)\b[^.\n]{0,40}"
    r"\b(?:can't|cannot|unable|not able|don't)\b",
    re.IGNORECASE,
)
# Every refusal contains one of these words; searching for them first is faster.
_UNWILLING_ZH = ("无法", "不能", "没有", "还没", "尚未", "不会", "难以", "没法", "不便", "拒绝")
_UNWILLING_EN = (
    *("can't", "cannot", "can not", "unable", "not able", "won't", "will not", "don't", "decline"),
)


def refuses(text: str) -> bool:
    """Return whether *text* declines to answer, in Chinese or English. Linear in its length."""
    lower = text.lower()
    if any(word in lower for word in _UNWILLING_EN) and _REFUSAL_EN.search(text):
        return True
    if text.isascii() or not any(word in text for word in _UNWILLING_ZH):
        return False
    return any(pattern.search(text) for pattern in _REFUSALS_ZH)
